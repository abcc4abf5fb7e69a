# SPDX-License-Identifier: Apache-2.0
"""The core's logs, sorted: events of one kind and port side by side, beats by output, in order of cycles."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from models.switch_jit import compiled
from models.switch_state import (
    GONE_LANE,
    META_BEAT,
    META_INPUT,
    META_LAST,
    META_MARKED,
    META_USER,
    NK,
)  # fmt: skip

Array = npt.NDArray[Any]
EVENT = np.dtype([("cycle", "<i8"), ("value", "<i8")])
OUT = np.dtype([("cycle", "<i8"), ("input", "<i4"), ("beat", "<i8"), ("last", "?"), ("user", "?"), ("marked", "?")])
"""A beat that left: ``beat`` counts the played beats of ``input``, -1 is an abort beat; ``user`` as ``m_axis_tuser``
(with the last beat only); ``marked`` on every beat of a frame that the ECN stage changes."""


class Events:
    """Sorted events of a log in parts: ``of(kind, port)`` gives (cycles, values)."""

    def __init__(self, parts: list[Array], ports: int) -> None:
        rows = np.concatenate(parts)
        where = rows[:, 1] * ports + rows[:, 2]
        order = np.lexsort((rows[:, 0], where))
        self._ports = ports
        self._cycle, self._value = rows[order, 0], rows[order, 3]
        self._from: list[int] = np.searchsorted(where[order], np.arange(NK * ports + 1)).tolist()

    def all(self, kind: int) -> tuple[Array, Array, Array]:
        """(cycles, values, ports) of the events of a kind, in order of cycles."""
        first, *ends = self._from[kind * self._ports : (kind + 1) * self._ports + 1]
        port = np.repeat(np.arange(self._ports), np.diff([first, *ends]))
        cycle, value = self._cycle[first : ends[-1]], self._value[first : ends[-1]]
        order = np.argsort(cycle, kind="stable")
        return cycle[order], value[order], port[order]

    def of(self, kind: int, port: int) -> tuple[Array, Array]:
        """Events of a kind at a port."""
        k = kind * self._ports + port
        span = slice(self._from[k], self._from[k + 1])
        return self._cycle[span], self._value[span]

    def by_port(self, kind: int, ports: int) -> list[Array]:
        """Events of a kind, by port."""
        return [events(*self.of(kind, p)) for p in range(ports)]

    def vector(self, kind: int) -> list[tuple[int, int]]:
        """Changes of single bits as changes of the whole vector."""
        changes = [(0, 0)]
        for cycle, value, n in zip(*(column.tolist() for column in self.all(kind)), strict=True):
            word = changes[-1][1] & ~(1 << n) | value << n
            if changes[-1][0] == cycle:
                changes.pop()
            changes.append((cycle, word))
        return changes


def events(cycle: Array, value: Array) -> Array:
    """Records of both."""
    found = np.empty(len(cycle), EVENT)
    found["cycle"], found["value"] = cycle, value
    return found


def freed(gone: Array, cycle: Array, lane: Array) -> Array:
    """Events of ``free_cells`` of an input, two bits a lane: ``gone`` of its beats, and those of its abort beats."""
    cells = np.concatenate([gone[gone != 0], cycle << GONE_LANE | lane])
    cells.sort()
    at = cells >> GONE_LANE
    first = np.flatnonzero(np.diff(at, prepend=-1))
    cells = 1 << 2 * (cells & (1 << GONE_LANE) - 1)
    return events(at[first], np.add.reduceat(cells, first) if len(first) else cells)


@compiled
def _place(left: Array, off: Array, at: Array, rows: Array) -> None:
    """Every beat to its place among ``rows``; ``at``: the next free one of each output."""
    for n in range(len(left)):
        word = left[n, 1]
        o = word & 0xFF
        row = rows[at[o]]
        at[o] += 1
        i = word >> META_INPUT & 0xFF
        beat = word >> META_BEAT
        row.cycle = left[n, 0]
        row.input = i
        row.beat = beat - off[i] if beat >= 0 else beat
        row.last = (word >> META_LAST & 1) != 0
        row.user = (word >> META_USER & 1) != 0
        row.marked = (word >> META_MARKED & 1) != 0


def departures(parts: list[Array], counts: Array, off: Array) -> list[Array]:
    """Beats that left each output; ``counts``: how many of each, ``off``: first beat of each input."""
    ends = np.cumsum(counts)
    rows = np.empty(int(ends[-1]), OUT)
    at = ends - counts
    for part in parts:
        _place(part, off, at, rows)
    return [rows[end - count : end] for end, count in zip(ends.tolist(), counts.tolist(), strict=True)]
