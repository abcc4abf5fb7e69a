# SPDX-License-Identifier: Apache-2.0
"""The events that the bench of the switch's registers plays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models.register_file import Key
from models.switch_csr import COUNTERS, DROPS
from tb.common.beats import Records, StreamFormat

COLUMNS = ("port_up", "live", "s_beat", "s_last", "m_beat", "m_last", "drop", "lost", "mc_lost", "ecn")
"""Inputs of a port, the first lowest in the bench's vector; ``drop`` has four bits, the others one."""
_COUNTS = {"s_last": "FRAMES_IN", "s_beat": "BEATS_IN", "m_last": "FRAMES_OUT", "m_beat": "BEATS_OUT",
           "lost": "LOST", "mc_lost": "MC_LOST", "ecn": "ECN_MARKED"}  # fmt: skip


@dataclass
class Events:
    """Levels of every port's inputs: ``values[cycle, port, column]``; the last row stays. Row 0 is all zero."""

    values: npt.NDArray[np.uint8]

    @staticmethod
    def none(cycles: int, ports: int) -> Events:
        """Nothing happens for ``cycles``."""
        return Events(np.zeros((cycles, ports, len(COLUMNS)), np.uint8))

    def column(self, name: str) -> npt.NDArray[np.uint8]:
        """(cycles, ports) of one input, to be read or filled."""
        return self.values[:, :, COLUMNS.index(name)]

    def records(self) -> Records:
        """Play file: one record for each cycle in which the vector changes."""
        ports = self.values.shape[1]
        fmt = events_format(ports)
        changes = np.flatnonzero(np.any(self.values[1:] != self.values[:-1], axis=(1, 2))) + 1
        out = fmt.empty(len(changes))
        out["cycle"] = changes
        out["flags"] = 1
        out["keep"] = 0xFF
        for i, row in enumerate(changes.tolist()):
            out["data"][i] = np.frombuffer(self._vector(row).to_bytes(fmt.data_bytes, "little"), np.uint8)
        return out

    def _vector(self, row: int) -> int:
        total, low = 0, 0
        for column, name in enumerate(COLUMNS):
            width = 4 if name == "drop" else 1
            for value in self.values[row, :, column].tolist():
                total |= value << low
                low += width
        return total

    def counted(self) -> dict[Key, list[int]]:
        """Cycles of each counter's events. Raises ValueError when one would go on for ever."""
        if self.values[-1, :, 2:].any():
            raise ValueError("the last row of events must be quiet")
        found: dict[Key, list[int]] = {}
        for port in range(self.values.shape[1]):
            for name, counter in _COUNTS.items():
                found[counter, port] = np.flatnonzero(self.column(name)[:, port]).tolist()
            codes = self.column("drop")[:, port]
            for code, counter in enumerate(DROPS, 1):
                found[counter, port] = np.flatnonzero(codes == code).tolist()
        assert {k for k, _ in found} == set(COUNTERS)
        return found

    def levels(self) -> dict[int, list[tuple[int, int, int]]]:
        """``(cycle, link, live)`` of each port at each change."""
        found = {}
        for port in range(self.values.shape[1]):
            both = self.values[:, port, :2]
            changes = [0, *(np.flatnonzero(np.any(both[1:] != both[:-1], axis=1)) + 1).tolist()]
            found[port] = [(c, int(both[c, 0]), int(both[c, 1])) for c in changes]
        return found


def events_format(ports: int) -> StreamFormat:
    """Layout of ``events.play``."""
    bits = ports * (len(COLUMNS) + 3)
    return StreamFormat(data_bytes=(bits + 31) // 32 * 4)
