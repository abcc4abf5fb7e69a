# SPDX-License-Identifier: Apache-2.0
"""The core's log, sorted: events of one kind and port side by side, in order of cycles."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from models.switch_jit import compiled
from models.switch_state import K_FREE, K_OUT, K_TAKE, NK

Array = npt.NDArray[Any]


@compiled
def _count(log: Array, ports: int, counts: Array) -> None:
    """How many events of a kind and port there are: row kind * ports + port."""
    for n in range(len(log)):
        kind = log[n, 1]
        port = log[n, 2] & 0xFF if kind in (K_OUT, K_TAKE) else log[n, 2]
        counts[kind * ports + port] += 1


@compiled
def _place(log: Array, ports: int, at: Array, cycle: Array, value: Array, more: Array) -> None:
    """Every event to its place; ``at``: the next free one of each kind and port. Cells that come free in one cycle are
    one event, two bits a lane."""
    for n in range(len(log)):
        kind = log[n, 1]
        port = log[n, 2] & 0xFF if kind in (K_OUT, K_TAKE) else log[n, 2]
        k = kind * ports + port
        to = at[k]
        if kind == K_FREE:
            if to > 0 and value[to - 1] > 0 and more[to - 1] == k and cycle[to - 1] == log[n, 0]:
                value[to - 1] += 1 << 2 * log[n, 3]
                continue
            value[to] = 1 << 2 * log[n, 3]
            more[to] = k
        else:
            value[to] = log[n, 3]
            more[to] = log[n, 2]
        cycle[to] = log[n, 0]
        at[k] = to + 1


class Events:
    """Sorted events of a log in parts: ``of(kind, port)`` gives (cycles, values, third column)."""

    def __init__(self, parts: list[Array], ports: int) -> None:
        counts = np.zeros(NK * ports, np.int64)
        for part in parts:
            _count(part, ports, counts)
        ends = np.cumsum(counts)
        self._ports = ports
        self._from: list[int] = (ends - counts).tolist()
        to = ends - counts
        total = int(ends[-1])
        self._rows = [np.zeros(total, np.int64) for _ in range(3)]
        for part in parts:
            _place(part, ports, to, *self._rows)
        self._to: list[int] = to.tolist()

    def all(self, kind: int) -> tuple[Array, Array, Array]:
        """Events of a kind at all ports, in order of cycles."""
        parts = [self.of(kind, port) for port in range(self._ports)]
        rows = [np.concatenate(column) for column in zip(*parts, strict=True)]
        order = np.argsort(rows[0], kind="stable")
        return rows[0][order], rows[1][order], rows[2][order]

    def of(self, kind: int, port: int) -> tuple[Array, Array, Array]:
        """Events of a kind at a port."""
        k = kind * self._ports + port
        span = slice(self._from[k], self._to[k])
        cycle, value, more = self._rows
        return cycle[span], value[span], more[span]
