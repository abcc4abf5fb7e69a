# SPDX-License-Identifier: Apache-2.0
"""A phase put together: queues, completions, software that is run against the model to lay out what it does in time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from models.cq_engine import Event
from models.kernel import Component
from models.memory import MemoryTiming, Poke, WindowTiming
from models.protocol import CQE, CqCtx, CqIn
from tb.common.axi import poke_file, timing_file
from tb.common.phase import stalls
from tb.common.timed import one_a_cycle, timed
from tb.common.uvm import PhaseItem
from tb.cq.consumer import LINE, M16, M24, RingReader
from tb.cq.ports import ARM, CTX, DONE, GPU_BASE, IN
from tb.cq.rig import Rig, Stimulus

Rng = np.random.Generator
RECORDS = 0x400  # where the doorbell records are; the line 0 is nobody's
RINGS = 0x8000
KINDS = (CQE.REQ, CQE.RESP_WR_IMM, CQE.RESP_SEND, CQE.RESP_SEND_IMM, CQE.REQ_ERR, CQE.RESP_ERR)
PORTS = ("mem_aw", "mem_w", "mem_ar", "m_ev")
NO_WINDOW = 0x7F00_0000


@dataclass
class Software:
    """How a queue's software behaves. ``gap``: cycles between two polls; ``most``: entries a poll; ``every``: entries
    between two record updates; ``late``: cycles to the update; ``arms``: 0 polls, 1 sleeps for any event, 2 for
    solicited ones; ``stops``: entries after which it dies."""

    gap: tuple[int, int] = (5, 30)
    most: int = 8
    every: int = 1
    late: tuple[int, int] = (1, 4)
    arms: int = 0
    stops: int | None = None


@dataclass
class Plan:
    """What the software of a queue did: polls (cycle, entries so far), records written (cycle, index)."""

    ctx: CqCtx
    software: Software
    polls: list[tuple[int, int]] = field(default_factory=list)
    records: list[tuple[int, int]] = field(default_factory=list)
    got: list[bytes] = field(default_factory=list)


class Consumer(Component):
    """The software of one queue, inside a rig."""

    def __init__(self, rig: Rig, scenario: Scenario, plan: Plan, want: int, end: int) -> None:
        super().__init__(rig.kernel, f"consumer {plan.ctx.cqn}")
        self._rig, self._scenario, self._plan, self._want, self._end = rig, scenario, plan, want, end
        c = plan.ctx
        self._reader = RingReader(c.base, c.log, c.pi0)
        self._reader.got = plan.got
        self._told = c.pi0
        self._sleeps = False
        self._sure = False
        self._poll = 0
        self._next(max(cycle for cycle, _, _ in scenario.s.ctxs) + 3)

    def _next(self, cycle: int) -> None:
        self._poll = cycle
        self.wake(cycle)

    def heard(self, now: int) -> None:
        """An event of the queue."""
        if self._sleeps:
            self._sleeps = False
            self._next(now + int(self._scenario.rng.integers(1, 20)))

    def tick(self, now: int) -> None:
        """Poll; write the record; arm; sleep or come back."""
        if now != self._poll:
            return
        s, rng = self._plan.software, self._scenario.rng
        limit = s.most if s.stops is None else min(s.most, s.stops - len(self._plan.got))
        n = self._reader.poll(lambda addr: self._rig.memory.peek(now, addr), limit)
        self._plan.polls.append((now, len(self._plan.got)))
        ci = self._reader.ci
        if ci != self._told and ((ci - self._told) & M24 >= s.every or not n):
            at = now + int(rng.integers(*s.late))
            self._scenario.record(self._plan.ctx, at, ci, self._rig)
            self._plan.records.append((at, ci))
            self._told = ci
        dead = s.stops is not None and len(self._plan.got) >= s.stops
        if dead or len(self._plan.got) == self._want or now > self._end:
            return
        if n or not s.arms:
            self._sure = False
            self._next(now + int(rng.integers(*s.gap)))
        elif not self._sure:  # arm, then look once more: an entry may have come in between
            self._sure = True
            at = self._scenario.free_arm(now + 1)
            self._scenario.arm_from(self._rig, at, self._plan.ctx, ci, s.arms == 2)
            self._next(at + int(rng.integers(1, 9)))
        else:
            self._sure = False
            self._sleeps = True


class _Later(Component):
    """Calls made at given cycles."""

    def __init__(self, rig: Rig) -> None:
        super().__init__(rig.kernel, "later")
        self._calls: dict[int, tuple[int, int]] = {}
        self._cq = rig.cq

    def arm(self, at: int, page: int, data: int) -> None:
        """An arm at a cycle to come."""
        self._calls[at] = (page, data)
        self.wake(at)

    def tick(self, now: int) -> None:
        """What is due."""
        if now in self._calls:
            self._cq.arm(now, *self._calls.pop(now))


class Scenario:
    """Builder of a phase. ``write``, ``read``: cycles to a response and jitter; ``stall``: lowest share of ready cycles
    of the patterns, None: always ready."""

    def __init__(
        self, rng: Rng, *, queues: int = 64, write: tuple[int, int] = (3, 0), read: tuple[int, int] = (10, 0),
        done0: int | None = None, stall: float | None = None,
    ) -> None:  # fmt: skip
        self.rng = rng
        self.at = 4
        self._ring_at = RINGS
        host = WindowTiming(
            wr_visible=max(1, write[0] // 2),
            wr_resp=write[0],
            wr_jitter=write[1],
            rd_latency=read[0],
            rd_jitter=read[1],
        )
        start = int(rng.integers(1 << 16)) if done0 is None else done0
        seed = int(rng.integers(1, 1 << 32))
        self.s = Stimulus(
            queues=queues, timing=MemoryTiming(host=host, gpu=host, seed=seed), done0=start,
        )  # fmt: skip
        if stall is not None:
            self.s.ready = {p: stalls(rng, stall) for p in PORTS}
        self.issued = start  # DMA write bursts so far
        self.acked = start
        self.plans: dict[int, Plan] = {}
        self._arm_at: set[int] = set()
        self._later: _Later | None = None
        self.final: dict[str, int] = {}

    # -- queues -------------------------------------------------------------------------------------------------

    def queue(self, entry: int, software: Software | None = None, **fields: int) -> CqCtx:
        """Set entry ``entry`` up; fields of CqCtx that are not given are random or near a wrap."""
        rng = self.rng
        log = fields.pop("log", int(rng.integers(0, 8)))
        lines = 1 if fields.get("collapsed") else 1 << min(log, 12)
        if log == 22:
            base = GPU_BASE - (1 << 28) + self._ring_at
            lines = 64
        else:
            base = self._ring_at
        self._ring_at += lines * LINE
        c = CqCtx(
            enable=1, cqn=entry + self.s.queues * int(rng.integers((1 << 24) // self.s.queues)),
            page=int(rng.integers(1 << 12)), base=base, log=log, dbr_addr=RECORDS + 8 * entry,
            pi0=near_wrap(rng, log), events=1,
        )  # fmt: skip
        c = replace(c, **fields)
        self.s.ctxs.append((self.at, entry, c))
        self.at += 1
        self.plans[entry] = Plan(c, software or Software())
        record = bytearray(self.s.image.get(c.dbr_addr & -LINE, bytes(LINE)))
        at = c.dbr_addr % LINE
        record[at : at + 4] = c.pi0.to_bytes(4, "big")
        if c.dbr_addr < NO_WINDOW:
            self.s.image[c.dbr_addr & -LINE] = bytes(record)
        return c

    def record(self, c: CqCtx, at: int, ci: int, rig: Rig | None = None, noise: int = 0) -> None:
        """Software writes a doorbell record; ``noise`` in the bits above the index."""
        off = c.dbr_addr % LINE
        word = (noise << 24 | ci).to_bytes(4, "big")
        poke = Poke(at, c.dbr_addr & -LINE, 0xF << off, bytes(off) + word + bytes(LINE - 4 - off))
        self.s.pokes.append(poke)
        if rig is not None:
            rig.memory.poke(poke)

    # -- completions --------------------------------------------------------------------------------------------

    def data(self, bursts: int = 1, after: int = 20) -> None:
        """DMA writes whose B come ``after`` cycles from now (in order)."""
        self.issued = (self.issued + bursts) & M16
        last = self.s.done[-1][0] if self.s.done else 0
        self.s.done.append((max(self.at + after, last + 1), self.issued))

    def complete(self, c: CqCtx, **fields: int) -> CqIn:
        """A completion with random fields, at the present cycle."""
        rng = self.rng
        op = fields.pop("opcode", int(rng.choice(KINDS)))
        error = op in (CQE.REQ_ERR, CQE.RESP_ERR)
        x = CqIn(
            cqn=c.cqn, qpn=int(rng.integers(1 << 24)), opcode=op,
            send_opcode=int(rng.integers(32)) if op in (CQE.REQ, CQE.REQ_ERR) else 0,
            wqe_counter=int(rng.integers(1 << 16)), byte_cnt=int(rng.integers(1 << 32)),
            imm=int(rng.integers(1 << 32)), se=int(rng.random() < 0.3),
            syndrome=int(rng.integers(1, 256)) if error else 0, vendor=int(rng.integers(256)) if error else 0,
            barrier=self.issued,
        )  # fmt: skip
        x = replace(x, **fields)
        self.s.completions.append((self.at, x))
        return x

    def arm(self, c: CqCtx, ci: int, so: bool = False, page: int | None = None, at: int | None = None) -> None:
        """An arm at the present cycle or the first free one."""
        at = self.free_arm(self.at if at is None else at)
        self.s.arms.append((at, c.page if page is None else page, self.arm_word(c, ci, so)))

    def arm_word(self, c: CqCtx, ci: int, so: bool) -> int:
        """{arm word, cqn} with a random sequence number."""
        return int(self.rng.integers(4)) << 60 | int(so) << 56 | (ci & M24) << 32 | c.cqn

    def free_arm(self, at: int) -> int:
        """The first cycle from ``at`` on without an arm beside it (E2, rule of use); it is taken."""
        at = max(1, at)
        while self._arm_at & {at - 1, at, at + 1}:
            at += 1
        self._arm_at.add(at)
        return at

    def arm_from(self, rig: Rig, at: int, c: CqCtx, ci: int, so: bool) -> None:
        """A consumer's arm."""
        data = self.arm_word(c, ci, so)
        self.s.arms.append((at, c.page, data))
        if self._later is not None:
            self._later.arm(at, c.page, data)

    # -- the phase ----------------------------------------------------------------------------------------------

    def offered(self, entry: int) -> list[CqIn]:
        """Completions of a queue, in order."""
        c = self.plans[entry].ctx
        return [x for _, x in self.s.completions if x.cqn == c.cqn]

    def fill_image(self) -> None:
        """Fresh entries: op_own 0xf0 in a ring, all ones in a collapsed queue (NVSHMEM)."""
        fresh = bytes(LINE - 1) + b"\xf0"
        for entry, plan in self.plans.items():
            c = plan.ctx
            if c.base >= NO_WINDOW:
                continue
            if c.collapsed:
                self.s.image[c.base] = b"\xff" * LINE
                continue
            for i in range(min(len(self.offered(entry)) + 1, 1 << c.log)):
                self.s.image[c.base + ((c.pi0 + i) & ((1 << c.log) - 1)) * LINE] = fresh

    def consume(self, *entries: int, end: int = 1500) -> None:
        """Run the software of these queues (all rings that look at an index, when none is named) against the model."""
        chosen = entries or tuple(e for e, p in self.plans.items() if not p.ctx.collapsed and p.ctx.base < NO_WINDOW)
        by_cqn: dict[int, Consumer] = {}

        def heard(now: int, event: Event) -> None:
            if not event.error and event.cqn in by_cqn:
                by_cqn[event.cqn].heard(now)

        self.fill_image()
        self._sort()
        pokes, arms = list(self.s.pokes), list(self.s.arms)
        self.s.pokes, self.s.arms = pokes, arms
        rig = Rig(replace(self.s, pokes=list(pokes), arms=list(arms)), heard)
        self._later = _Later(rig)
        last = max((c for c, _ in self.s.completions), default=0) + end
        for e in chosen:
            plan = self.plans[e]
            by_cqn[plan.ctx.cqn] = Consumer(rig, self, plan, len(self.offered(e)), last)
        rig.run(400_000)
        self._later = None

    def _sort(self) -> None:
        self.s.arms.sort(key=lambda a: a[0])
        self.s.done = [(c, v) for c, v in one_a_cycle(self.s.done)]

    def item(self, name: str, *, quiet: int = 400, checked: bool = True) -> PhaseItem:
        """The stimulus. ``checked``: the software's account is held against what the design wrote."""
        self.fill_image()
        self._sort()
        s = self.s
        item = PhaseItem(name)
        item.plays["cq"] = _records(IN, [(c, x.pack()) for c, x in s.completions])
        item.plays["ctx"] = _records(CTX, [(c, e << CqCtx.width() | x.pack()) for c, e, x in s.ctxs])
        item.plays["arm"] = _records(ARM, [(c, p << 64 | d) for c, p, d in s.arms])
        item.plays["done"] = timed(DONE, s.done)
        item.cfg = {"done0": s.done0}
        item.ready = dict(s.ready)
        item.images["mem"] = s.image
        item.files = timing_file("mem", s.timing) | poke_file("mem", s.pokes)
        item.info = {"stimulus": s, "plans": self.plans, "final": self.final, "checked": checked}
        item.quiet = quiet
        return item


def near_wrap(rng: Rng, log: int) -> int:
    """An index shortly before 2^24, before a pass over the ring ends, or anywhere."""
    few = int(rng.integers(0, 12))
    kind = int(rng.integers(3))
    if kind == 0:
        return (1 << 24) - 1 - few
    if kind == 1:
        return ((int(rng.integers(1, 1 << (24 - log))) << log) - 1 - few) & M24
    return int(rng.integers(1 << 24))


def _records(fmt, rows):  # type: ignore[no-untyped-def]
    out = fmt.empty(len(rows))
    for i, (cycle, side) in enumerate(rows):
        out["cycle"][i] = cycle
        out["side"][i] = np.frombuffer(side.to_bytes(fmt.side_bytes, "little"), np.uint8)
    out["flags"] = 1
    return out
