# SPDX-License-Identifier: Apache-2.0
"""The events that the bench of the switch's registers plays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models.register_file import Key
from models.switch_csr import COUNTERS, DROPS
from tb.common.beats import Records, StreamFormat

_COUNTS = {"s_last": "FRAMES_IN", "s_beat": "BEATS_IN", "m_last": "FRAMES_OUT", "m_beat": "BEATS_OUT",
           "lost": "LOST", "mc_lost": "MC_LOST", "ecn": "ECN_MARKED", "s_pause": "PAUSING", "m_pause": "PAUSED",
           "m_wait": "WAITED"}  # fmt: skip


def columns(lanes: int) -> dict[str, int]:
    """Inputs of a port with their bits, the first lowest in the bench's vector, each for all ports before the next."""
    ones = dict.fromkeys(("port_up", "live", "s_beat", "s_last", "m_beat", "m_last"), 1)
    events = {"drop": 4, "lost": 1, "mc_lost": 1, "ecn": 1, "s_pause": lanes, "m_pause": lanes, "m_wait": 1}
    return ones | events | {"in_use": 16} | {f"credit{v}": 16 for v in range(lanes)}


@dataclass
class Events:
    """Levels of every port's inputs: ``values[cycle, port, column]``; the last row stays. Row 0 is all zero."""

    values: npt.NDArray[np.uint16]
    lanes: int

    @staticmethod
    def none(cycles: int, ports: int, lanes: int) -> Events:
        """Nothing happens for ``cycles``."""
        return Events(np.zeros((cycles, ports, len(columns(lanes))), np.uint16), lanes)

    def column(self, name: str) -> npt.NDArray[np.uint16]:
        """(cycles, ports) of one input, to be read or filled."""
        return self.values[:, :, list(columns(self.lanes)).index(name)]

    def records(self) -> Records:
        """Play file: one record for each cycle in which the vector changes."""
        ports = self.values.shape[1]
        fmt = events_format(ports, self.lanes)
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
        for column, width in enumerate(columns(self.lanes).values()):
            for value in self.values[row, :, column].tolist():
                total |= value << low
                low += width
        return total

    def counted(self) -> dict[Key, list[int]]:
        """Cycles of each counter's events. Raises ValueError when one would go on for ever."""
        if any(self.column(name)[-1].any() for name in (*_COUNTS, "drop")):
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
            found[port] = [(c, int(both[c, 0]), int(both[c, 1])) for c in _changes(both)]
        return found

    def in_use(self) -> dict[int, list[tuple[int, int]]]:
        """``(cycle, cells)`` of each port at each change."""
        cells = self.column("in_use")
        return {p: [(c, int(cells[c, p])) for c in _changes(cells[:, p, None])] for p in range(cells.shape[1])}

    def credits(self) -> dict[tuple[int, int], list[tuple[int, int]]]:
        """``(cycle, credits)`` of each port and lane at each change."""
        found = {}
        for v in range(self.lanes):
            cells = self.column(f"credit{v}")
            for p in range(cells.shape[1]):
                found[p, v] = [(c, int(cells[c, p])) for c in _changes(cells[:, p, None])]
        return found


def _changes(rows: npt.NDArray[np.uint16]) -> list[int]:
    """0, and each row that is not as the one before."""
    return [0, *(np.flatnonzero(np.any(rows[1:] != rows[:-1], axis=1)) + 1).tolist()]


def events_format(ports: int, lanes: int) -> StreamFormat:
    """Layout of ``events.play``."""
    bits = ports * sum(columns(lanes).values())
    return StreamFormat(data_bytes=(bits + 31) // 32 * 4)
