# SPDX-License-Identifier: Apache-2.0
"""What the two ends of a cable did: the core's logs as arrays with names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from models.link_config import LinkConfig
from models.link_state import (
    C_ECHO,
    C_INIT,
    CF,
    G_CREDIT,
    G_CREDITS,
    G_CTL,
    G_EV,
    G_FEC,
    G_FREE,
    G_PAUSE,
    G_REASON,
    G_SIG,
    G_STATE,
    G_UP,
    O_COUNT,
    O_FIRST,
    O_KIND,
    O_LAST,
    O_OFF,
    UP,
)  # fmt: skip

Array = npt.NDArray[Any]
TX = np.dtype([
    ("cycle", "<i8"), ("leaves", "<i8"), ("kind", "<i1"), ("ref", "<i8"), ("count", "<i4"), ("first", "?"),
    ("last", "?"), ("off", "<i4"), ("trailer", "<u8"),
])  # fmt: skip
"""A beat on the cable. ``cycle``: at ``tx``; ``leaves``: P4's *d*; ``kind``: 0 new, 1 again, 2 ending (S4), 3 PFC;
``count``: valid bytes; ``trailer``: 0 but with a native segment's last beat."""
CTL = np.dtype([("cycle", "<i8"), ("leaves", "<i8"), ("off", "<i4"), ("word", "<u8")])
"""A control set at ``tx``; D0 lowest."""
M = np.dtype([("cycle", "<i8"), ("ref", "<i8"), ("count", "<i4"), ("last", "?"), ("user", "?")])
"""A beat at ``m_axis``."""
LANE = np.dtype([("cycle", "<i8"), ("lane", "<i4"), ("value", "<i4")])
EV = np.dtype([("cycle", "<i8"), ("number", "<i4"), ("lost", "<i4")])
"""``cycle``: in which ``ev[number]`` is 1."""
FEC = np.dtype([("cycle", "<i8"), ("failed", "?"), ("corrected", "<i4")])


@dataclass
class EndOutcome:
    """One end. ``taken``: cycle at which each beat was accepted, -1: never. ``free``, ``credit``: the values that are
    not 0. ``credits``: changes, the first at cycle 0 (also of lanes that stay). ``pausing``, ``up``, ``state``,
    ``reason``, ``sig`` (at ``tx``): (cycle, value) of each change, the first at cycle 0. ``fec``: codewords in which
    something was wrong, at the cycle of ``cw_done``."""

    config: LinkConfig
    taken: Array
    tx: Array
    ctl: Array
    m: Array
    free: Array
    credit: Array
    credits: Array
    pausing: list[tuple[int, int]]
    up: list[tuple[int, int]]
    state: list[tuple[int, int]]
    reason: list[tuple[int, int]]
    sig: list[tuple[int, int]]
    ev: Array
    fec: Array
    _own: tuple[Array, int] = field(repr=False)
    _far: tuple[Array, int] = field(repr=False)
    _pool: Array = field(repr=False)

    def _bytes(self, rows: Array, beats: Array) -> Array:
        ref = rows["ref"]
        data = np.zeros((len(rows), self.config.beat), np.uint8)
        played, other = ref >= 0, ref <= -2
        data[played] = beats[ref[played]]
        data[other] = self._pool[-2 - ref[other]]
        return data

    def tx_data(self) -> Array:
        """Bytes of ``tx``: (n, bytes of a beat), zeros where not valid."""
        return self._bytes(self.tx, self._own[0])

    def m_data(self) -> Array:
        """Bytes of ``m``."""
        return self._bytes(self.m, self._far[0])

    def tx_beat(self) -> Array:
        """Number of the played beat of each of ``tx``, -1: none."""
        ref = self.tx["ref"]
        return np.where(ref >= 0, ref - self._own[1], -1)

    def m_beat(self) -> Array:
        """Number of the far end's played beat of each of ``m``, -1: none (B9's beat)."""
        ref = self.m["ref"]
        return np.where(ref >= 0, ref - self._far[1], -1)

    def events(self, number: int) -> list[int]:
        """Cycles in which ``ev[number]`` is 1."""
        cycles: list[int] = self.ev["cycle"][self.ev["number"] == number].tolist()
        return cycles

    def vector(self, name: str) -> list[tuple[int, int]]:
        """``free``, ``credit`` (each cycle in which it is not 0) or ``credits`` (changes, from cycle 0 on) as the whole
        port's value."""
        rows: Array = getattr(self, name)
        width, keeps = (16, True) if name == "credits" else (8, False)
        found: list[tuple[int, int]] = []
        word = 0
        for cycle, lane, value in rows.tolist():
            if not keeps and (not found or found[-1][0] != cycle):
                word = 0
            word = word & ~((1 << width) - 1 << width * lane) | value << width * lane
            if found and found[-1][0] == cycle:
                found.pop()
            if not keeps or not found or found[-1][1] != word:
                found.append((cycle, word))
        return found


@dataclass
class LinkOutcome:
    """Both ends."""

    a: EndOutcome
    b: EndOutcome


def set_bytes(kind: Array, num: Array, data: Array) -> Array:
    """Control sets as words (docs/link.md, Units), from the core's log."""
    kind, num, data = (x.astype(np.uint64) for x in (kind, num, data))
    cf = kind == CF
    u = np.uint64

    def entry(channel: Array, count: Array, low: int) -> Any:
        first = channel << u(3) | count >> u(12)
        return first | (count >> u(4) & u(0xFF)) << u(8) | ((count & u(15)) << u(4) | u(low)) << u(16)

    one = entry(data >> u(35) & u(31), data >> u(20) & u(0x7FFF), 6)
    two = entry(data >> u(15) & u(31), data & u(0x7FFF), 0)
    number = num >> u(12) | (num >> u(4) & u(0xFF)) << u(8) | ((num & u(15)) << u(4) | u(6)) << u(16)
    more = np.where((kind == C_INIT) | (kind == C_ECHO), data, u(0))
    body = np.where(cf, one << u(16) | two << u(40), number << u(16) | more << u(40))
    words: Array = u(0x4B) | kind << u(8) | body
    return words


def _levels(log: Array, kind: int, first: int) -> list[tuple[int, int]]:
    """Changes of a level."""
    rows = log[log[:, 1] == kind]
    return [(0, first), *((int(c), int(v)) for c, v in rows[:, (0, 2)])]


def _lanes(log: Array, kind: int) -> Array:
    """Rows of a lane's value."""
    rows = log[log[:, 1] == kind]
    found = np.zeros(len(rows), LANE)
    found["cycle"], found["lane"], found["value"] = rows[:, 0], rows[:, 2], rows[:, 3]
    return found


def end_outcome(
    config: LinkConfig, tx_at: int, logs: list[Array], taken: Array, beats: tuple[tuple[Array, int], tuple[Array, int]],
    pool: Array,
) -> EndOutcome:  # fmt: skip
    """One end's logs (log, out, m), named. ``tx_at``: cycles from leaving to ``tx``; ``beats``: own and the far end's,
    with their first rows."""
    log, out, m = logs
    tx = np.zeros(len(out), TX)
    meta = out[:, 2]
    tx["leaves"], tx["cycle"], tx["ref"] = out[:, 0], out[:, 0] + tx_at, out[:, 1]
    for name, at, bits in (("count", O_COUNT, 8), ("first", O_FIRST, 1), ("last", O_LAST, 1), ("kind", O_KIND, 2)):
        tx[name] = meta >> at & (1 << bits) - 1
    tx["off"] = meta >> O_OFF
    if not config.cfg.roce:
        trailer = out[:, 3].astype(np.uint64)
        tx["trailer"] = trailer & np.uint64((1 << 31) - 1) | trailer >> np.uint64(31) << np.uint64(32)
    got = np.zeros(len(m), M)
    got["cycle"], got["ref"] = m[:, 0], m[:, 1]
    got["count"], got["user"], got["last"] = m[:, 2] & 0xFF, m[:, 2] >> O_FIRST & 1, m[:, 2] >> O_LAST & 1
    rows = log[log[:, 1] == G_CTL]
    ctl = np.zeros(len(rows), CTL)
    ctl["leaves"], ctl["cycle"], ctl["off"] = rows[:, 0], rows[:, 0] + tx_at, rows[:, 2] >> 8 & 0xFFF
    ctl["word"] = set_bytes(rows[:, 2] & 0xFF, rows[:, 2] >> 20, rows[:, 3])
    rows = log[log[:, 1] == G_EV]
    ev = np.zeros(len(rows), EV)
    ev["cycle"], ev["number"], ev["lost"] = rows[:, 0], rows[:, 2], rows[:, 3]
    rows = log[log[:, 1] == G_FEC]
    fec = np.zeros(len(rows), FEC)
    fec["cycle"], fec["failed"], fec["corrected"] = rows[:, 0], rows[:, 2], rows[:, 3]
    up = config.cfg.preset
    first = np.zeros(config.lanes, LANE)
    first["lane"], first["value"] = np.arange(config.lanes), 16 * config.cfg.cells * up
    return EndOutcome(
        config, taken, tx, ctl, got, _lanes(log, G_FREE), _lanes(log, G_CREDIT),
        np.concatenate([first, _lanes(log, G_CREDITS)]), _levels(log, G_PAUSE, 0), _levels(log, G_UP, up),
        _levels(log, G_STATE, UP * up), _levels(log, G_REASON, 0), _levels(log, G_SIG, 0), ev, fec, *beats, pool,
    )  # fmt: skip
