# SPDX-License-Identifier: Apache-2.0
"""Golden model of the completion queues: completions in, entries and events out, each at its cycle.

Rules T, I, X, L, W, E are those of docs/cq.md; stages and latencies come from ``latency.cq``, sizes from ``cq`` in
spec/fabric.toml. Indexes count entries modulo 2^24.

Evaluation: what C0 and E0 pick in cycle c rests on inputs of that cycle, so it is worked out in the tick of c + 1;
C2, C3 and E2 of a cycle rest on what was picked before and are worked out in the tick of that cycle. Longer than other
files: the stages share the state of a queue in every cycle.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from models import cqe
from models.cqe import Cqe
from models.doorbell import Read
from models.kernel import Component, Fifo, Kernel
from models.protocol import CQE, CqCtx, CqIn
from models.spec import spec

M16, M24 = 0xFFFF, 0xFFFFFF
HALF = 1 << 23
LINE = 64
ERRORS = 2  # BRESP and RRESP from here on


class Event(NamedTuple):
    """An event of queue ``cqn``: 0 completion, 1 the queue is in error."""

    cqn: int
    error: int


class Write(NamedTuple):
    """An entry of 64 bytes for byte address ``addr``."""

    addr: int
    data: bytes


@dataclass
class Queue:
    """State of a queue. ``waits``: places of the lot in the order of its completions."""

    ctx: CqCtx
    pi: int = 0
    ci: int = 0
    failed: bool = False
    waits: deque[int] = field(default_factory=deque)
    asked: bool = False  # an early read of its record is under way
    vis: int = 0
    last: int | None = None  # index of the last solicited entry
    armed: bool = False
    so: bool = False
    gap: int = 0  # dist(ci of the arm, vis)
    due: bool = False
    deadline: int = 0
    seen_live: bool = False  # as the scan sees it
    seen_deadline: int = 0
    error_bit: bool = False
    told: bool = False  # a completion event waits
    left: int | None = None  # cycle in which it left
    inside: int = 0  # completions not yet written or dropped, writes without B

    def __post_init__(self) -> None:
        self.pi = self.ci = self.vis = self.ctx.pi0

    def waiting(self, now: int) -> bool:
        """A completion event is in the FIFO in this cycle."""
        return self.told and (self.left is None or self.left >= now)

    @property
    def live(self) -> bool:
        """The scan has to look at its deadline."""
        return self.armed and self.due


class Op(NamedTuple):
    """What C0 picked. ``value``: consumer index of a RECORD, None when it could not be read; ``early``: its place is an
    early one."""

    kind: Literal["record", "retry", "entry"]
    what: CqIn
    place: int = 0
    with_record: bool = False
    value: int | None = None
    early: bool = False


class Arm(NamedTuple):
    """An arm as it is stored: page, {arm word, cqn}."""

    page: int
    data: int

    @property
    def cqn(self) -> int:
        """Queue."""
        return self.data & M24

    @property
    def ci(self) -> int:
        """Index from which on entries count."""
        return self.data >> 32 & M24

    @property
    def so(self) -> bool:
        """Solicited only."""
        return bool(self.data >> 56 & 1)


class _Sample(NamedTuple):
    queue: int
    error: bool
    live: bool
    deadline: int


class _Done(NamedTuple):
    queue: int
    solicited: bool
    bad: bool


_Event = Arm | _Sample | _Done


@dataclass
class _Place:
    what: CqIn
    again: bool = False
    with_record: bool = False


class Cq(Component):
    """Feed with :meth:`ctx`, :meth:`put`, :meth:`done`, :meth:`arm`, :meth:`b`, :meth:`r` at the cycles of those
    transfers; pull ``aw`` and ``w`` (Write), ``ar`` (Read), ``ev`` (Event). ``changes``: (cycle, counters) at each
    change, counters in the order of ``COUNTERS``. ``early``: another number of early
    places. Raises ValueError when a queue that is not idle is set up.
    """

    COUNTERS = ("written", "dropped", "refused", "records", "overruns", "bad_writes", "events", "arm_refused")

    def __init__(self, kernel: Kernel, name: str, queues: int = 64, early: int | None = None) -> None:
        super().__init__(kernel, name)
        figures = spec()
        late = {n: figures.cycles(f"latency.cq.{n}") for n in figures.section("latency.cq")}
        self._late = late
        self._size = queues
        self._in_depth = figures.integer("cq.in_fifo")
        self._places = figures.integer("cq.waiting")
        self._early: list[CqIn | None] = [None] * (figures.integer("cq.early") if early is None else early)
        self._out_depth = figures.integer("cq.out_fifo")
        self._b_depth = figures.integer("cq.b_fifo")
        self._writes = figures.integer("cq.writes")
        self.queues: dict[int, Queue] = {}
        reads = self._places + len(self._early)
        self.aw: Fifo[Write] = Fifo(late["form"], self._out_depth, f"{name}.aw")
        self.w: Fifo[Write] = Fifo(late["form"], self._out_depth, f"{name}.w")
        self.ar: Fifo[Read] = Fifo(late["index"], reads, f"{name}.ar")
        self.ev: Fifo[Event] = Fifo(late["event"], 2 * queues, f"{name}.ev")
        self.aw.producer = self.w.producer = self
        self.ev.on_pop = self._left
        # inputs; each FIFO's items with the cycle from which on they are at its head
        self._in: Fifo[CqIn] = Fifo(late["fifo"], self._in_depth, f"{name}.in")
        self._in.consumer = self
        self._records: Fifo[Op] = Fifo(late["record"] + late["fifo"], reads, f"{name}.records")
        self._records.consumer = self
        self._b: Fifo[bool] = Fifo(late["fifo"], self._b_depth, f"{name}.b")
        self._b.consumer = self
        self._done_at: list[tuple[int, int]] = [(0, 0)]
        self._arms: dict[int, Arm] = {}
        self._arms_of: deque[tuple[int, Arm]] = deque(maxlen=4)  # the last ones
        # stages
        self._h: CqIn | None = None
        self._h_since = 0
        self._h_acked = False
        self._visited = False  # the last pick of E0 that was no ARM
        self._stage: dict[int, Op] = {}  # cycle of C2 -> operation
        self._form: dict[int, tuple[CqIn, int]] = {}  # cycle of C3 -> completion, index
        self._decide: dict[int, _Event] = {}  # cycle of E2 -> what
        self._owed: deque[_Done] = deque()
        self._lot: list[_Place | None] = [None] * self._places
        self._scan = 0
        self._x1: _Sample | None = None
        self._sampled: _Sample | None = None
        self._issue: tuple[int, bool, bool, int | None] = (-1, False, False, None)  # cycle; room, places, place to try
        self._shown: deque[tuple[int, Queue, bool, int]] = deque()  # cycle of E2; what the scan sees later
        self._failing: list[Queue] = []  # put into error by C2 of this cycle
        self._ticked = -1
        self._counts = dict.fromkeys(self.COUNTERS, 0)
        self.changes: list[tuple[int, tuple[int, ...]]] = [(0, (0,) * len(self.COUNTERS))]

    # -- inputs -------------------------------------------------------------------------------------------------

    def ctx(self, now: int, entry: int, ctx: CqCtx) -> None:
        """Entry ``entry`` of the table is written (T1)."""
        self._advance(now)
        q = self.queues.get(entry)
        if q is not None and (q.inside or q.asked or q.error_bit or q.live or q.waiting(now)):
            raise ValueError(f"{self.name}: queue {entry} is set up at {now} and is not idle")
        if any(now - 2 <= c <= now and a.cqn % self._size == entry for c, a in self._arms_of):
            raise ValueError(f"{self.name}: queue {entry} is set up at {now} and armed just before")
        self.queues[entry] = Queue(ctx)

    def ready(self, now: int) -> bool:
        """Value of ``s_cq_tready`` at ``now``."""
        self._advance(now)
        return self._in.reserved(now) < self._in_depth

    def put(self, now: int, what: CqIn) -> None:
        """A completion is accepted."""
        if not self.ready(now):
            raise ValueError(f"{self.name}: completion at {now} while not ready")
        self._in.push(now, what)
        q = self._find(what.cqn)
        if q is not None:
            q.inside += 1

    def done(self, now: int, count: int) -> None:
        """``dma_done`` is ``count`` from this cycle on."""
        self._done_at.append((now, count))
        self._both(now)

    def arm(self, now: int, page: int, data: int) -> None:
        """``arm_valid`` in this cycle."""
        if self._arms_of and self._arms_of[-1][0] == now - 1:
            raise ValueError(f"{self.name}: arms at {now - 1} and {now}; allowed: never in two cycles in a row")
        self._arms[now] = Arm(page, data)
        self._arms_of.append((now, self._arms[now]))
        self._both(now)

    def b_ready(self, now: int) -> bool:
        """Value of ``m_axi_bready`` at ``now``."""
        self._advance(now)
        return self._b.reserved(now) < self._b_depth

    def b(self, now: int, resp: int = 0) -> None:
        """B transfer."""
        self._b.push(now, resp >= ERRORS)

    def r(self, now: int, ident: int, data: bytes, resp: int = 0) -> None:
        """R transfer: the line of the record that place ``ident`` asked for."""
        early = ident >= self._places
        place = self._lot[ident] if not early else None
        what = self._early[ident - self._places] if early else place.what if place is not None else None
        if what is None:
            raise ValueError(f"{self.name}: R for place {ident}, which is free")
        q = self.queues[what.cqn % self._size]
        at = q.ctx.dbr_addr % LINE
        value = None if resp >= ERRORS else int.from_bytes(data[at : at + 4], "big") & M24
        self._records.push(now, Op("record", what, ident % self._places, value=value, early=early))

    def _both(self, now: int) -> None:
        if self._ticked < now:
            self.wake(now)
        self.wake(now + 1)

    def _find(self, cqn: int) -> Queue | None:
        """The queue of ``cqn``, if it takes completions and arms."""
        q = self.queues.get(cqn % self._size)
        return q if q is not None and q.ctx.enable and q.ctx.cqn == cqn else None

    def _left(self, now: int, event: Event) -> None:
        if not event.error:
            self.queues[event.cqn % self._size].left = now

    # -- a cycle ------------------------------------------------------------------------------------------------

    def tick(self, now: int) -> None:
        """A cycle."""
        self._advance(now)

    def _advance(self, now: int) -> None:
        """Everything up to the registers of the next cycle that does not need inputs of ``now``."""
        if self._ticked >= now:
            return
        before, self._ticked = self._ticked, now
        counts = tuple(self._counts.values())
        alive = self._pick_event(now - 1)
        if before < now - 1:  # nothing was to be seen in between
            self._scan = (self._scan + now - 1 - max(before, 0)) % self._size
        alive |= self._pick(now - 1)
        self._look(now)
        alive |= self._form_one(now)
        op = self._stage.pop(now, None)
        if op is not None:
            self._index(now, op)
        what = self._decide.pop(now, None)
        if what is not None:
            self._event(now, what)
        while self._failing:
            self._fail(self._failing.pop())
        if counts != (new := tuple(self._counts.values())):
            self.changes.append((now + 1 + self._late["count"], new))
        if alive or op or what or self._stage or self._form or self._decide or self._busy(now):
            self.wake(now + 1)

    def _busy(self, now: int) -> bool:
        """Something may happen by itself."""
        return (
            self._x1 is not None
            or bool(self._shown)
            or self._sampled is not None
            or any(p is not None and p.again for p in self._lot)
            or any(q.live or q.error_bit for q in self.queues.values())
            or len(self._records) > 0
            or len(self._b) > 0
            or (self._h is None and len(self._in) > 0)
            or (self._h is not None and self._acks(now))
        )

    def _acks(self, at: int) -> bool:
        """I2, of what is in H: once acked it stays so."""
        if self._h is not None and not self._h_acked:
            for cycle, count in reversed(self._done_at):
                if cycle <= at and (count - self._h.barrier) & M16 < 1 << 15:
                    self._h_acked = True
                if cycle <= self._h_since:
                    break
        return self._h_acked

    # -- C0 -----------------------------------------------------------------------------------------------------

    def _look(self, now: int) -> None:
        """Registers of this cycle that C0 goes by, and the queue that X0 samples."""
        ahead = self._late["lookup"] + self._late["pick"] - 1  # C2 is at most so far away
        ops = [self._stage[c] for c in range(now, now + ahead + 1) if c in self._stage]
        moving = sum(o.kind != "record" for o in ops) + (now in self._form)
        entries = sum(o.kind == "entry" for o in ops)
        out = max(self.aw.reserved(now), self.w.reserved(now))
        room = out + moving < self._out_depth and len(self._owed) + moving < self._writes
        places = sum(p is not None for p in self._lot) + entries < self._places
        again = next((i for i, p in enumerate(self._lot) if p is not None and p.again), None)
        self._issue = (now, room, places, again)
        while self._shown and self._shown[0][0] < now - 1:
            _, of, live, deadline = self._shown.popleft()
            of.seen_live, of.seen_deadline = live, deadline
        q = self.queues.get(self._scan)
        seen = q is not None and (q.error_bit or q.seen_live)
        self._sampled = _Sample(self._scan, q.error_bit, q.seen_live, q.seen_deadline) if q and seen else None

    def _pick(self, at: int) -> bool:
        """C0 of cycle ``at`` (I3), and H."""
        cycle, room, places, again = self._issue
        if cycle != at:
            room, places, again = False, False, None
        taken = False
        op: Op | None = None
        if self._records.head(at) is not None:
            op = self._records.pop(at)
            if op.early:
                self._early[op.place] = None
            else:
                place = self._lot[op.place]
                assert place is not None
                place.again, place.with_record = True, True
        elif again is not None:
            if room:
                place = self._lot[again]
                assert place is not None
                place.again = False
                op = Op("retry", place.what, again, place.with_record)
        elif self._h is not None and room and places and self._acks(at):
            op, taken = Op("entry", self._h), True
        if op is not None:
            self._stage[at + self._late["pick"] + self._late["lookup"]] = op
        if taken:
            self._h = None
        loaded = self._h is None and self._in.head(at) is not None
        if loaded:
            self._h, self._h_since, self._h_acked = self._in.pop(at), at + 1, False
        return op is not None or loaded

    # -- C2, C3 -------------------------------------------------------------------------------------------------

    def _index(self, now: int, op: Op) -> None:
        """X1 to X6."""
        q = self._find(op.what.cqn)
        if q is None:
            self._counts["refused"] += 1
            return
        used = (q.pi - q.ci) & M24
        if op.kind == "record":
            if op.value is not None and (q.pi - op.value) & M24 <= used:
                q.ci = op.value
            if op.early:
                q.asked = False
            return
        retry = op.kind == "retry"
        full = not q.ctx.ignore_overrun and used >= 1 << q.ctx.log
        if q.failed:
            self._drop(q)
        elif q.waits and not retry:
            q.waits.append(self._park(op.what))
            return
        elif full and not (retry and op.with_record):
            place = op.place if retry else self._park(op.what)
            if not retry:
                q.waits.append(place)
            self.ar.push(now, Read(place, q.ctx.dbr_addr & -LINE, 1))
            self._counts["records"] += 1
            return
        elif full:
            self._drop(q)
            self._counts["overruns"] += 1
            self._failing.append(q)
        else:
            self._counts["written"] += 1
            self._form[now + self._late["index"]] = (op.what, q.pi)
            q.pi = (q.pi + 1) & M24
            self._ask_early(now, q, op.what)
        if retry:
            self._lot[op.place] = None
            q.waits.popleft()
            if q.waits:
                behind = self._lot[q.waits[0]]
                assert behind is not None
                behind.again, behind.with_record = True, False

    def _ask_early(self, now: int, q: Queue, what: CqIn) -> None:
        """X7."""
        ring = 1 << q.ctx.log
        used = (q.pi - q.ci) & M24
        if ring < 2 or q.ctx.ignore_overrun or 2 * used < ring or q.asked or None not in self._early:
            return
        place = self._early.index(None)
        self._early[place] = what
        q.asked = True
        self.ar.push(now, Read(self._places + place, q.ctx.dbr_addr & -LINE, 1))
        self._counts["records"] += 1

    def _drop(self, q: Queue) -> None:
        self._counts["dropped"] += 1
        q.inside -= 1

    @staticmethod
    def _fail(q: Queue) -> None:
        if not q.failed:
            q.failed = q.error_bit = True

    def _park(self, what: CqIn) -> int:
        place = self._lot.index(None)
        self._lot[place] = _Place(what)
        return place

    def _form_one(self, now: int) -> bool:
        """C3 (W1, W2)."""
        if now not in self._form:
            return False
        what, index = self._form.pop(now)
        number = what.cqn % self._size
        c = self.queues[number].ctx
        addr = c.base if c.collapsed else cqe.entry_address(c.base, c.log, index)
        entry = Cqe(
            opcode=what.opcode, qpn=what.qpn, wqe_counter=what.wqe_counter, owner=cqe.owner_bit(c.log, index),
            byte_cnt=what.byte_cnt, imm=what.imm, syndrome=what.syndrome, send_opcode=what.send_opcode, se=what.se,
            vendor=what.vendor,
        )  # fmt: skip
        write = Write(addr, entry.pack())
        self.aw.push(now, write)
        self.w.push(now, write)
        self._owed.append(_Done(number, bool(what.se) or what.opcode in (CQE.REQ_ERR, CQE.RESP_ERR), False))
        return True

    # -- E0, E2 -------------------------------------------------------------------------------------------------

    def _pick_event(self, at: int) -> bool:
        """E0 of cycle ``at`` (E2), and the scan (E3)."""
        arm = self._arms.pop(at, None)
        x = self._x1
        hit = x is not None and (x.error or (x.live and at >= x.deadline))
        waits = self._b.head(at) is not None
        what: _Event | None = None
        if arm is not None:
            what = arm
        elif hit and not (waits and self._visited):
            what, self._visited = x, True
        elif waits:
            self._visited = False
            what = self._owed.popleft()._replace(bad=self._b.pop(at))
        if what is not None:
            self._decide[at + self._late["pick"] + self._late["lookup"]] = what
        if not hit or what is x:
            self._x1, self._sampled = self._sampled, None
            if at >= 0:
                self._scan = (self._scan + 1) % self._size
        return what is not None

    def _event(self, now: int, what: _Event) -> None:
        """E4 to E8."""
        if isinstance(what, Arm):
            q = self._find(what.cqn)
            if q is None or q.ctx.page != what.page or not q.ctx.events:
                self._counts["arm_refused"] += 1
                return
            q.armed, q.so, q.gap = True, what.so, (q.vis - what.ci) & M24
            if q.so:
                q.due = q.last is not None and (q.last - what.ci) & M24 < HALF
            else:
                q.due = 0 < q.gap < HALF
            if q.due:
                q.deadline = now + q.ctx.mod_period
            self._fire(now, q)
        elif isinstance(what, _Done):
            q = self.queues[what.queue]
            q.inside -= 1
            self._see(now, q, what.solicited)
            if what.bad:
                self._counts["bad_writes"] += 1
                self._fail(q)
            self._fire(now, q)
        else:
            q = self.queues[what.queue]
            if q.error_bit:
                q.error_bit = False
                self.ev.push(now, Event(q.ctx.cqn, 1))
            elif q.live and now >= q.deadline:
                self._send(now, q)
        self._shown.append((now, q, q.live, q.deadline))

    @staticmethod
    def _see(now: int, q: Queue, solicited: bool) -> None:
        """E5: the entry of index *vis* is visible."""
        counts = q.armed and q.gap < HALF and (solicited or not q.so)
        if solicited:
            q.last = q.vis
        q.vis = (q.vis + 1) & M24
        if not solicited and q.last is not None and (q.vis - q.last) & M24 == HALF:
            q.last = None
        if q.gap != HALF - 1:
            q.gap = (q.gap + 1) & M24
        if counts and not q.due:
            q.due, q.deadline = True, now + q.ctx.mod_period

    def _fire(self, now: int, q: Queue) -> None:
        """E7 for an arm and a B."""
        if q.live and ((q.gap - q.ctx.mod_count) & M24 < HALF or not q.ctx.mod_period):
            self._send(now, q)

    def _send(self, now: int, q: Queue) -> None:
        """E8."""
        q.armed = q.due = False
        if not q.waiting(now):
            q.told, q.left = True, None
            self._counts["events"] += 1
            self.ev.push(now, Event(q.ctx.cqn, 0))
