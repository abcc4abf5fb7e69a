# SPDX-License-Identifier: Apache-2.0
"""Golden model of the send queues' block: stores in, reads and decoded work requests out, each at its cycle.

Rules and latency table: docs/sq.md (rule names C, S, B, A, T, D, V, W there). Sizes: ``sq``, ``wqe``, ``uar`` in
spec/fabric.toml; every step of ``latency.sq`` is one cycle. Cycle by cycle while something moves, asleep otherwise.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from models.kernel import Beat, Component, Fifo, Kernel
from models.protocol import SqCtx
from models.spec import spec
from models.sq_decode import Decoder, Work
from models.sq_queue import BLUEFLAME, DOORBELLS, M16, REFUSED, Counts, Queue
from models.sq_return import Returns
from models.sq_store import ARM, ARM_AT, BAD, BF, DB, NEVER, Piece, Response, Store, hint_of
from models.sq_turn import RING, Places, Read, Turns
from models.wqe import block_count

OKAY, SLVERR = 0, 2
COUNT_DELAY = 2  # C4


class Sq(Component):
    """Feed with :meth:`ctx`, :meth:`aw`, :meth:`w`, :meth:`r` at those transfers' cycles; pull ``b``, ``ar``, ``wr``.

    ``wr`` carries :class:`Beat` with an :class:`SqWr` as side band; ``ar`` reads whose ID is their place in the
    reorder ring, answered by :meth:`r` in any order. ``aw_ready`` and ``w_ready`` are the ready signals. ``arms``
    lists (cycle, page, 8 bytes) of each cycle with ``arm_valid``, ``on_arm`` is told of each; ``changes`` (cycle,
    counters) at each change, counters in the order of ``COUNTERS``. ``idles``: (cycle, value) at each change of
    ``ctx_idle``, for the entries that :meth:`watch` names. ``qps``, ``pages``, ``tags``: powers of two. Inputs of a
    cycle may be given before or after its tick.
    """

    COUNTERS = ("doorbells", "blueflame", "refused", "torn", "fetched", "discarded", "record_behind", "halted")

    def __init__(self, kernel: Kernel, name: str, qps: int = 256, pages: int = 64, tags: int = 512) -> None:
        super().__init__(kernel, name)
        for what, value in (("qps", qps), ("pages", pages), ("tags", tags)):
            if value < 2 or value & value - 1:
                raise ValueError(f"{name}: {what} is {value}; allowed: powers of two from 2 on")
        figures = spec()
        for step in figures.section("latency.sq"):
            if figures.cycles(f"latency.sq.{step}") != 1:
                raise ValueError(f"{name}: latency.sq.{step} is not 1 cycle, which the rules are made of")
        self._pages = pages
        self.b: Fifo[Response] = Fifo(1, figures.integer("sq.b_fifo"), f"{name}.b")
        self.ar: Fifo[Read] = Fifo(1, figures.integer("sq.ar_fifo"), f"{name}.ar")
        wr_depth = figures.integer("sq.wr_fifo")
        self.wr: Fifo[Beat] = Fifo(1, wr_depth, f"{name}.wr")
        self.b.producer = self.ar.producer = self.wr.producer = self
        self._table = [Queue() for _ in range(qps)]
        self._writes: deque[tuple[int, int, SqCtx]] = deque()
        self._counts = Counts()
        self._store = Store(self._table, self._counts, self.b)
        self._decoder = Decoder(self.wr, wr_depth)
        places = Places(tags)
        self._turns = Turns(places, self.ar)
        self._returns = Returns(places, self._decoder, self._turns, self._counts)
        self._burst_bad = False
        self._asks = False
        self._hint = 0
        self.arms: list[tuple[int, int, bytes]] = []
        self.on_arm: Callable[[int, int, bytes], None] = lambda *_: None
        self.changes: list[tuple[int, tuple[int, ...]]] = [(0, (0,) * len(self.COUNTERS))]
        self.idles: list[tuple[int, bool]] = [(0, True)]
        self._watched: deque[tuple[int, int | None]] = deque()  # cycle from which on ctx_addr is this entry
        self._eye: Queue | None = None
        self._ticked = -1
        self._next = -1  # latest cycle asked for; asked for once
        self._alarm = -1  # cycle at which a slot's time is over, asked for once

    # -- inputs ---------------------------------------------------------------------------------

    def ctx(self, now: int, entry: int, ctx: SqCtx) -> None:
        """``ctx_we`` at ``now`` (C1). Raises ValueError, at the latest in the next tick, when C2 is broken."""
        if not 0 <= entry < len(self._table):
            raise ValueError(f"{self.name}: entry {entry}; allowed: 0..{len(self._table) - 1}")
        self._writes.append((now, entry, ctx))

    def watch(self, changes: list[tuple[int, int | None]]) -> None:
        """``ctx_addr`` while nothing is written: (cycle, entry), each from its cycle on; for :attr:`idles` (C5). None:
        nobody looks, which counts as idle."""
        for cycle, entry in changes:
            self._watched.append((cycle, entry))
            super().wake(cycle)

    def aw_ready(self, now: int) -> bool:
        """Value of ``s_uar_awready`` at ``now``."""
        return self._store.aw_ready(now)

    def w_ready(self, now: int) -> bool:
        """Value of ``s_uar_wready`` at ``now``."""
        return self._store.w_ready(now)

    def aw(self, now: int, ident: int, addr: int, beats: int = 1) -> None:
        """AW transfer: ``addr`` is {page, offset}; ``beats`` is not looked at, the last W beat ends a burst."""
        if not self._store.aw_ready(now):
            raise ValueError(f"{self.name}: AW at {now} while not ready")
        if not 0 <= addr < self._pages << 12:
            raise ValueError(f"{self.name}: address {addr:#x} at {now}; there are {self._pages} pages")
        self._store.aw(now, ident, addr)
        self.wake(now + 1)

    def w(self, now: int, data: bytes, strb: int, last: bool) -> None:
        """W transfer: 64 bytes, 64 strobes."""
        if not self._store.w_ready(now):
            raise ValueError(f"{self.name}: W at {now} while not ready")
        self._store.w(now, data, strb, last)
        self.wake(now + 1)

    def r(self, now: int, ident: int, data: bytes, resp: int = OKAY) -> None:
        """R transfer: 64 bytes for place ``ident``, and RRESP."""
        if self._returns.r(now, ident, data, resp):
            self.wake(now + 1)

    def wake(self, cycle: int, idle: bool = False) -> None:
        """As :meth:`Component.wake`; the same cycle is asked for once."""
        if cycle != self._next:
            self._next = cycle
            super().wake(cycle, idle)

    # -- one cycle ------------------------------------------------------------------------------

    def tick(self, now: int) -> None:
        """Stages in an order in which each reads its registers as they were before the cycle.

        The decoder frees its registers; P3 decides from the flags; turns sample and hand over; D3 settles, D2
        judges and gathers; T5 and P3 write last, then P2 to P0.
        """
        if now == self._ticked:
            return
        self._ticked = now
        while self._writes and self._writes[0][0] < now:
            self._write()
        if self._watched or self._eye is not None:
            self._look(now)
        did = self._decoder.step(now)
        piece = self._store.p3
        rings: Queue | None = None
        answered = False
        if piece is not None:
            answered = piece.owed and piece.last
            rings = self._ring(now, piece)
        if self._turns.step(now):
            did = True
        if self._returns.step(now, rings):
            did = True
        self._turns.end(rings)
        if rings is not None:
            self._rung(rings)
        if self._store.step(now, answered):
            did = True
        if self._counts.moved:
            self._counts.moved = False
            self.changes.append((now + COUNT_DELAY, tuple(self._counts.values)))
        if did:
            self.wake(now + 1)
        elif self._store.due < NEVER and self._store.due != self._alarm:
            self._alarm = self._store.due
            super().wake(max(self._alarm, now + 1))

    def _look(self, now: int) -> None:
        """C5."""
        while self._watched and self._watched[0][0] <= now:
            entry = self._watched.popleft()[1]
            self._eye = None if entry is None else self._table[entry]
        idle = self._eye is None or self._eye.idle()
        if idle != self.idles[-1][1]:
            self.idles.append((now + 1, idle))

    def _write(self) -> None:
        cycle, entry, ctx = self._writes.popleft()
        queue = self._table[entry]
        if not queue.idle():
            raise ValueError(f"{self.name}: entry {entry} written at {cycle} while its queue is not idle (C2)")
        queue.load(ctx)

    def _ring(self, now: int, piece: Piece) -> Queue | None:
        """P3 (B2 to B4) but for B4's writes; returns the queue that is rung."""
        kind = piece.kind
        rings: Queue | None = None
        bad = kind == BAD
        if kind >= DB:
            queue, ctx = self._store.p3_queue, self._store.p3_ctx
            bad = not ctx.enable or ctx.qpn != piece.qpn or ctx.page != piece.page or queue.err
            if bad:
                pass
            elif kind == BF and not queue.busy and piece.start == queue.taken and self._decoder.direct is None:
                queue.taken = queue.taken + block_count(piece.ds) & M16
                self._decoder.put_direct(Work(piece.qpn, piece.start, piece.data))
                self._counts.add(BLUEFLAME)
            else:
                rings = queue
                self._asks = not (queue.queued or queue.recpend)
                hint = hint_of(piece)
                self._hint = hint if not queue.rung or hint - queue.hint & M16 < 0x8000 else queue.hint
                self._counts.add(DOORBELLS)
        elif kind == ARM:
            self.arms.append((now + 1, piece.page, piece.data[ARM_AT : ARM_AT + 8]))
            self.on_arm(*self.arms[-1])
        if bad:
            self._counts.add(REFUSED)
        if piece.owed:
            self._burst_bad |= bad
            if piece.last:
                self.b.push(now, Response(piece.ident, SLVERR if self._burst_bad else OKAY))
                self._burst_bad = False
        return rings

    def _rung(self, queue: Queue) -> None:
        """B4's writes: ``_hint`` and ``_asks`` (push it) come from the registers as the cycle began."""
        queue.hint = self._hint
        queue.rung = True
        if not queue.busy:
            queue.busy = queue.fresh = True
        if self._asks:
            queue.queued = True
            self._turns.push(RING, queue)
