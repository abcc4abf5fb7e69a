# SPDX-License-Identifier: Apache-2.0
"""A phase's records read once for checks and coverage: frames by a sum over their bytes, sets, events, levels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from models.protocol import LinkCfg
from models.spec import spec
from tb.common.beats import Records, byte_mask
from tb.common.observe import Ints, cycles, spans
from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords
from tb.link.frames import lanes_of
from tb.link.shape import ENDS, FAR, Shape

EVENTS = (
    "frame sent", "frame received", "segment sent", "replay", "time-out", "progress", "nack received", "nack sent",
    "duplicate", "bad segment", "gap", "fcs", "long", "underrun", "pfc sent", "pfc received", "discarded", "retrain",
    "down", "refused",
)  # fmt: skip
REASONS = ("profile", "fec", "lanes", "no answer", "no progress", "far restart", "sequence", "replay limit")
STATES = ("off", "init", "up", "retrain")
KINDS = {1: "ack", 2: "nack", 3: "init", 4: "echo", 16: "cf"}
OFF, INIT, UP, RETRAIN = range(4)
Words = npt.NDArray[np.uint64]
_MIX = np.random.default_rng(20).integers(1 << 62, size=4096, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


@dataclass(frozen=True)
class Frames:
    """Whole frames of a stream, in order: first and last beat, bytes, a sum over bytes and length, tuser, lane."""

    first: Ints
    last: Ints
    size: Ints
    sum: Words
    user: npt.NDArray[np.bool_]
    lane: Ints


def frames(records: Records, shape: Shape, roce: int, lanes: int) -> Frames:
    """Frames of recorded beats."""
    first, last = spans(records)
    if not len(last):
        none = np.zeros(0, np.int64)
        return Frames(none, none, none, none.astype(np.uint64), none.astype(np.bool_), none)
    used = records[: int(last[-1]) + 1]
    mask = byte_mask(used, shape.axis)
    count = mask.sum(axis=1).astype(np.int64)
    words = np.ascontiguousarray(used["data"] * mask).view("<u8")
    place = np.arange(len(used)) - np.repeat(first, last - first + 1)
    beat = (words * _MIX[: words.shape[1]]).sum(axis=1, dtype=np.uint64) ^ count.astype(np.uint64)
    beat *= _MIX[64 + place % 4000]
    sums = np.add.reduceat(beat, first)
    size = np.add.reduceat(count, first)
    return Frames(first, last, size, sums, used["side"][last][:, 0] != 0, lanes_of(records, first, roce, lanes))


def parts(rows: Records, kind: str) -> Ints:
    """(events, parts) of a recorded vector, cut into parts of one type."""
    count = rows.dtype["value"].itemsize // np.dtype(kind).itemsize
    found: Ints = np.frombuffer(rows["value"].tobytes(), kind).reshape(len(rows), count).astype(np.int64)
    return found


@dataclass(frozen=True)
class End:
    """What one end did."""

    x: str
    cfg: LinkCfg
    lanes: int
    s: Records
    m: Records
    tx: Records
    sent: Frames
    got: Frames
    rows: dict[str, Records]

    @cached_property
    def ctl(self) -> tuple[Ints, Ints, Ints]:
        """Control sets at tx: (cycle, place, set)."""
        value = self.rows["ctl"]["value"].astype(np.uint64)
        sets = (value[:, 0] | value[:, 1] << np.uint64(32)).astype(np.int64)
        return cycles(self.rows["ctl"]), (value[:, 2] & np.uint64(0x1FF)).astype(np.int64), sets

    @cached_property
    def kinds(self) -> Ints:
        """D1 of each control set."""
        found: Ints = self.ctl[2] >> 8 & 0xFF
        return found

    @cached_property
    def numbers(self) -> Ints:
        """Number that each control set carries (those with one)."""
        d = self.ctl[2]
        found: Ints = (d >> 16 & 0xFF) << 12 | (d >> 24 & 0xFF) << 4 | d >> 36 & 0xF
        return found

    def event(self, name: str) -> Ints:
        """Cycles of an event, by its name in :data:`EVENTS`."""
        rows = self.rows["ev"]
        at: Ints = cycles(rows)[rows["value"] >> EVENTS.index(name) & 1 != 0]
        return at

    @cached_property
    def lost(self) -> int:
        """Segments of unknown fate, over all downs."""
        return int((self.rows["ev"]["value"] >> len(EVENTS)).sum())

    @cached_property
    def state(self) -> tuple[Ints, Ints]:
        """(cycle, state) of each change."""
        return cycles(self.rows["state"]), self.rows["state"]["value"].astype(np.int64)

    def last(self, name: str) -> Any:
        """Last value of a level."""
        return self.rows[name]["value"][-1]

    @cached_property
    def credits(self) -> Ints:
        """(changes, lanes) credits."""
        return parts(self.rows["credits"], "<u2")[:, : self.lanes]

    @cached_property
    def freed(self) -> Ints:
        """(events, lanes) cells freed."""
        return parts(self.rows["free"], "u1")[:, : self.lanes]

    @cached_property
    def leaves(self) -> Ints:
        """Cycle in which each beat of tx left the serialiser."""
        return cycles(self.tx) - spec().cycles("latency.link.tx_out") - self.cfg.phy_tx

    @cached_property
    def ctl_leaves(self) -> Ints:
        """Cycle in which each control set left."""
        return self.ctl[0] - spec().cycles("latency.link.tx_out") - self.cfg.phy_tx

    @cached_property
    def tx_side(self) -> tuple[Ints, Ints, Ints, Ints]:
        """(first, place, CRC, header) of each beat at tx."""
        side = np.ascontiguousarray(self.tx["side"]).view("<u4").astype(np.int64)
        return side[:, 2] >> 9 & 1, side[:, 2] & 0x1FF, side[:, 1], side[:, 0]

    @cached_property
    def fill(self) -> Ints:
        """Valid bytes of each beat at tx."""
        found: Ints = np.unpackbits(self.tx["keep"], axis=1).sum(axis=1).astype(np.int64)
        return found


@dataclass(frozen=True)
class Trace:
    """Both ends of a phase."""

    shape: Shape
    ends: dict[str, End]

    def ways(self) -> list[tuple[End, End]]:
        """(sender, receiver) of both directions."""
        return [(self.ends[x], self.ends[FAR[x]]) for x in ENDS]


RECORDS = ("ctl", "sig", "free", "over", "credit", "pausing", "credits", "up", "state", "reason", "ev", "fec")


def trace(ctx: RunContext, phase: PhaseRecords) -> Trace:
    """Read a phase's records; kept in ``info``."""
    info = phase.item.info
    if "trace" not in info:
        s = Shape.of(ctx)
        ends = {}
        for x in ENDS:
            cfg: LinkCfg = info["link"][x]
            rows = {name: phase.rows[f"{x}_{name}.evt"] for name in RECORDS}
            beats = {k: phase.beats[f"{x}_{k}"] for k in ("s", "m", "tx")}
            whole = {k: frames(beats[k], s, cfg.roce, s.lanes(x)) for k in ("s", "m")}
            ends[x] = End(x, cfg, s.lanes(x), beats["s"], beats["m"], beats["tx"], whole["s"], whole["m"], rows)
        info["trace"] = Trace(s, ends)
    found: Trace = info["trace"]
    return found


@numba.njit(cache=True)
def match(sent: Words, got: Words) -> Ints:
    """Index of the sent frame that each received one is, taken in order; -1: none behind the one before."""
    out = np.full(len(got), -1, np.int64)
    at = 0
    for k in range(len(got)):
        i = at
        while i < len(sent) and sent[i] != got[k]:
            i += 1
        if i < len(sent):
            out[k] = i
            at = i + 1
    return out
