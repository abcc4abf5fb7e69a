# SPDX-License-Identifier: Apache-2.0
"""State of the send queues (docs/sq.md, C1 to C4): the table's entries, the queues' registers, the counters.

Indexes are 16 bits and count 64-byte blocks. Attributes hold what a register holds before the cycle, until the
stage that writes it is evaluated; the order of the stages is that of ``Sq.tick`` (models/sq.py).
"""

from __future__ import annotations

from models.protocol import SqCtx

M16 = 0xFFFF
M64 = (1 << 64) - 1
# places of the counters
DOORBELLS, BLUEFLAME, REFUSED, TORN, FETCHED, DISCARDED, RECORD_BEHIND, HALTED = range(8)


def dist(a: int, b: int) -> int:
    """Blocks from index ``a`` on to index ``b``, modulo 2^16."""
    return (b - a) & M16


class Counts:
    """The eight counters (32 bits each in the design; here they do not wrap) and whether one moved in this cycle."""

    __slots__ = ("moved", "values")

    def __init__(self) -> None:
        self.values = [0] * 8
        self.moved = False

    def add(self, which: int) -> None:
        """One more of ``which``."""
        self.values[which] += 1
        self.moved = True


class Queue:
    """One entry of the table and the registers of its queue (C1, C3); ``part`` holds the blocks of an unfinished WQE.

    ``skip``: blocks of a WQE that is too long and still come. ``begun``, ``done``: turns.
    """

    __slots__ = (
        "base", "begun", "busy", "ctx", "dbr", "done", "err", "fresh", "hint", "mask", "more", "need", "part", "pub",
        "qpn", "queued", "recpend", "req", "ring", "rung", "skip", "taken", "weight",
    )  # fmt: skip

    def __init__(self) -> None:
        self.load(SqCtx())

    def load(self, ctx: SqCtx) -> None:
        """C1: the entry is written, everything else forgotten."""
        self.ctx = ctx
        self.qpn = ctx.qpn
        self.weight = ctx.weight or 1
        self.base = ctx.sq_base
        self.ring = 1 << ctx.sq_log
        self.mask = self.ring - 1
        self.dbr = ctx.dbr_addr
        self.taken = self.pub = self.req = self.hint = ctx.pi0
        self.rung = self.queued = self.recpend = self.more = self.busy = self.fresh = self.err = False
        self.begun = self.done = 0
        self.part: list[bytes] = []
        self.need = self.skip = 0

    def idle(self) -> bool:
        """C2: the entry may be written."""
        return not self.busy or (self.err and not self.queued and self.begun == self.done)
