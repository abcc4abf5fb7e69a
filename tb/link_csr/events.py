# SPDX-License-Identifier: Apache-2.0
"""What the bench of a link's registers plays at them: the levels and events of a link and of its FEC."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models.link_csr import DOWN, EVENTS, SYMBOLS, LinkLevels
from models.register_file import Key
from tb.common.beats import Records, StreamFormat

COLUMNS = (
    ("state", 2), ("up", 1), ("reason", 8), ("ev", len(EVENTS)), ("lost", 11), ("fec_valid", 1), ("fec_symbols", 5),
    ("fec_failed", 1),
)  # fmt: skip
"""Inputs and their widths, the first lowest in the bench's vector; ``s_pause``, ``m_pause`` and ``credits`` follow."""
LEVELS = ("state", "up", "reason", "s_pause", "m_pause")


@dataclass
class LinkEvents:
    """``values[name]``: (cycles,) of each input, ``credits`` (cycles, lanes). Row 0 is all zero; the last row stays."""

    lanes: int
    values: dict[str, npt.NDArray[np.int64]]

    @staticmethod
    def none(cycles: int, lanes: int) -> LinkEvents:
        """Nothing happens for ``cycles``."""
        names = [name for name, _ in COLUMNS] + ["s_pause", "m_pause"]
        values = {name: np.zeros(cycles, np.int64) for name in names}
        return LinkEvents(lanes, values | {"credits": np.zeros((cycles, lanes), np.int64)})

    def happen(self, event: str, cycle: int, lost: int = 0) -> None:
        """Counter ``event`` of a link counts in ``cycle``; ``lost`` segments with it."""
        self.values["ev"][cycle] |= 1 << EVENTS.index(event)
        self.values["lost"][cycle] = lost

    def codeword(self, cycle: int, symbols: int, failed: int = 0) -> None:
        """A codeword in ``cycle``."""
        for name, value in (("fec_valid", 1), ("fec_symbols", symbols), ("fec_failed", failed)):
            self.values[name][cycle] = value

    def records(self) -> Records:
        """Play file: one record for each cycle in which the vector changes."""
        widths = [*COLUMNS, ("s_pause", self.lanes), ("m_pause", self.lanes)]
        bits = [_bits(self.values[name], width) for name, width in widths]
        bits += [_bits(self.values["credits"][:, lane], 16) for lane in range(self.lanes)]
        rows = np.concatenate(bits, axis=1)
        fmt = events_format(self.lanes)
        changes = np.flatnonzero(np.any(rows[1:] != rows[:-1], axis=1)) + 1
        out = fmt.empty(len(changes))
        out["cycle"] = changes
        out["flags"] = 1
        out["keep"] = 0xFF
        packed = np.packbits(rows[changes], axis=1, bitorder="little")
        out["data"][:] = 0
        out["data"][:, : packed.shape[1]] = packed
        return out

    def counted(self) -> dict[Key, list[int]]:
        """Cycles of each counter's events. Raises ValueError when one would go on for ever."""
        v = self.values
        if v["ev"][-1] or v["fec_valid"][-1]:
            raise ValueError("the last row of events must be quiet")
        found: dict[Key, list[int]] = {}
        for n, name in enumerate(EVENTS):
            found[name, 0] = np.flatnonzero(v["ev"] >> n & 1).tolist()
        lost = v["lost"] * (v["ev"] >> DOWN & 1)
        found["LOST_SEGMENTS", 0] = np.repeat(np.arange(len(lost)), lost).tolist()
        good = (v["fec_valid"] == 1) & (v["fec_failed"] == 0)
        found["FEC_FAILED", 0] = np.flatnonzero((v["fec_valid"] == 1) & (v["fec_failed"] == 1)).tolist()
        for n, name in enumerate(SYMBOLS):
            found[name, 0] = np.flatnonzero(good & (v["fec_symbols"] == n)).tolist()
        return found

    def levels(self) -> LinkLevels:
        """The rest, for the model."""
        v = self.values
        credits = [sum(int(c) << 16 * lane for lane, c in enumerate(row)) for row in v["credits"].tolist()]
        return LinkLevels(
            **{name: _changes(v[name].tolist()) for name in LEVELS},
            credits=_changes(credits),
            codewords={
                int(c): (int(v["fec_symbols"][c]), int(v["fec_failed"][c])) for c in np.flatnonzero(v["fec_valid"])
            },
        )


def _bits(column: npt.NDArray[np.int64], width: int) -> npt.NDArray[np.uint8]:
    return (column[:, None] >> np.arange(width) & 1).astype(np.uint8)


def _changes(values: list[int]) -> list[tuple[int, int]]:
    return [(c, v) for c, v in enumerate(values) if c == 0 or v != values[c - 1]]


def events_format(lanes: int) -> StreamFormat:
    """Layout of ``events.play``."""
    bits = sum(width for _, width in COLUMNS) + 18 * lanes
    return StreamFormat(data_bytes=(bits + 31) // 32 * 4)
