# SPDX-License-Identifier: Apache-2.0
"""Golden model of the doorbell block: stores in, reads and work requests out, each at its cycle.

Rules S, F, G, W, E are those of rtl/doorbell/README.md; latencies come from ``latency.doorbell``, sizes from
``doorbell`` and ``wqe`` in spec/fabric.toml. Indexes count 64-byte WQE blocks modulo 2^16.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import NamedTuple

from models import wqe
from models.kernel import Beat, Component, Fifo, Kernel
from models.protocol import DoorbellCfg, Wr
from models.spec import spec

M16 = 0xFFFF
FIRST8 = 0xFF
FULL = (1 << 64) - 1
OKAY, SLVERR = 0, 2


class Read(NamedTuple):
    """One AR transfer: ``beats`` of 64 bytes from byte address ``addr``."""

    id: int
    addr: int
    beats: int


class Response(NamedTuple):
    """One B transfer."""

    id: int
    resp: int


class Store(NamedTuple):
    """A collected store: its address, write ID and beats (64 bytes, strobes)."""

    id: int
    addr: int
    beats: tuple[tuple[bytes, int], ...]


class _Work(NamedTuple):
    """A whole WQE, or the queue's own error (``data`` None)."""

    start: int
    data: bytes | None


@dataclass
class _State:
    """What a register stage of the fetch holds: read as it was before the cycle, written for the next."""

    taken: int
    returned: int
    published: int
    ask: int
    limit: int
    rung: bool = False
    hint: int = 0
    record_busy: bool = False
    record_hint: int = 0
    record_after: int = 0
    in_flight: int = 0
    held: int = 0
    drain: bool = False
    stop: bool = False


class Doorbell(Component):
    """Feed with :meth:`aw`, :meth:`w` and :meth:`r` at the cycles of those transfers; pull ``b``, ``ar``, ``wr``.

    ``wr`` carries :class:`Beat` with a :class:`Wr` as side band. ``r`` takes beats in the order of the
    reads (one ID). ``aw_ready`` and ``w_ready`` are the ready signals. ``changes`` lists (cycle, counters)
    at each change, counters in the order of ``COUNTERS``.
    """

    COUNTERS = ("halted", "doorbells", "blueflame", "fetched", "refused", "record_behind")

    def __init__(self, kernel: Kernel, name: str, cfg: DoorbellCfg) -> None:
        super().__init__(kernel, name)
        figures = spec()
        self.cfg = cfg
        self._blocks_max = figures.integer("doorbell.fetch_blocks")
        self._ar_depth = figures.integer("doorbell.ar_fifo")
        self._b_depth = figures.integer("doorbell.b_fifo")
        self._wr_depth = figures.integer("doorbell.wr_fifo")
        bf, size = figures.integer("uar.bf_offset"), figures.integer("uar.bf_reg_size")
        self._halves = (bf, bf + size // 2)
        late = {n: figures.cycles(f"latency.doorbell.{n}") for n in figures.section("latency.doorbell")}
        self.b: Fifo[Response] = Fifo(late["respond"], self._b_depth, f"{name}.b")
        self.ar: Fifo[Read] = Fifo(late["issue"], self._ar_depth, f"{name}.ar")
        self.wr: Fifo[Beat] = Fifo(late["emit"], self._wr_depth, f"{name}.wr")
        self._store_delay, self._ring_delay, self._judge_delay = late["store"], late["ring"], late["judge"]
        self.b.producer = self.ar.producer = self.wr.producer = self
        # inner stages: this component is producer and consumer
        self._blocks: Fifo[bytes] = Fifo(late["block"], self._blocks_max, f"{name}.blocks")
        self._work: Fifo[_Work] = Fifo(late["load"], 1, f"{name}.work")
        self._out: Fifo[list[Beat]] = Fifo(late["decode"], 1, f"{name}.out")
        self._blocks.producer = self._blocks.consumer = self
        self._work.producer = self._work.consumer = self
        self._out.producer = self._out.consumer = self
        self._aw: tuple[int, int] | None = None
        self._aw_free = 0
        self._w: list[tuple[bytes, int]] = []
        self._w_whole = False
        self._w_free = 0
        self._collected = -1
        self._rings: deque[tuple[int, int]] = deque()  # first cycle in effect, hint
        self._returns: deque[tuple[int, bytes, bool]] = deque()  # cycle of judgement, data, error
        c = cfg.ci0
        self._s = _State(c, c, c, c, c)
        self._partial: list[bytes] = []
        self._partial_index = 0
        self._partial_blocks = 0
        self._skip = 0
        self._fatal_done = False
        self._counts = dict.fromkeys(self.COUNTERS, 0)
        self.changes: list[tuple[int, tuple[int, ...]]] = [(0, (0,) * len(self.COUNTERS))]
        self._ticked = -1

    # -- inputs ---------------------------------------------------------------------------------

    def aw_ready(self, now: int) -> bool:
        """Value of ``s_uar_awready`` at ``now``."""
        return self._aw is None and now >= self._aw_free

    def w_ready(self, now: int) -> bool:
        """Value of ``s_uar_wready`` at ``now``."""
        return not self._w_whole and now >= self._w_free

    def aw(self, now: int, ident: int, addr: int, beats: int = 1) -> None:
        """AW transfer: ``addr`` is the offset in the page; ``beats`` is not looked at, the last W beat ends a store."""
        if not self.aw_ready(now):
            raise ValueError(f"{self.name}: AW at {now} while not ready")
        self._aw = (ident, addr)
        self._collect(now)

    def w(self, now: int, data: bytes, strb: int, last: bool) -> None:
        """W transfer: 64 bytes."""
        if not self.w_ready(now):
            raise ValueError(f"{self.name}: W at {now} while not ready")
        self._w.append((data, strb))
        self._w_whole = last
        self._collect(now)

    def _collect(self, now: int) -> None:
        if self._aw is not None and self._w_whole:
            self._collected = now + self._store_delay
            self.wake(self._collected)

    def r(self, now: int, data: bytes, resp: int = OKAY) -> None:
        """R transfer: 64 bytes and RRESP."""
        at = now + self._judge_delay
        self._returns.append((at, data, resp >= SLVERR))
        self.wake(at)

    # -- one cycle ------------------------------------------------------------------------------

    def tick(self, now: int) -> None:
        """Every stage looks at the registers as they were before this cycle (``old``); downstream first."""
        if now == self._ticked:
            return
        self._ticked = now
        new = self._s
        if self._rings and self._rings[0][0] <= now:
            new = self._merge(new, self._rings.popleft()[1])
        old, self._s = new, replace(new)
        counts = dict(self._counts)
        self._emit(now)
        self._decode(now)
        self._gather(now, old)
        self._judge(now, old)
        self._classify(now, old)
        self._counts["halted"] = int(self._s.stop)
        if counts != self._counts:
            self.changes.append((now + 1, tuple(self._counts.values())))
        if self._s != old or self._rings:
            self.wake(now + 1)

    @staticmethod
    def _merge(s: _State, hint: int) -> _State:
        """F1: doorbells merge into one; the furthest hint stays."""
        if not s.rung or (hint - s.hint) & M16 < 0x8000:
            s.hint = hint
        s.rung = True
        return s

    def _emit(self, now: int) -> None:
        """E1, E2: a beat a cycle while the output FIFO has room."""
        beats = self._out.head(now)
        if beats is None:
            return
        if self.wr.reserved(now) < self._wr_depth:
            self.wr.push(now, beats.pop(0))
            if not beats:
                self._out.pop(now)
            self.wake(now + 1)

    def _decode(self, now: int) -> None:
        """W1 to W6."""
        work = self._work.head(now)
        if work is None or len(self._out):
            return
        self._work.pop(now)
        if work.data is None:
            wr, payload = wqe.refused(0, work.start), b""
        else:
            wr, payload = wqe.decode(work.data, work.start, self.cfg.qpn)
        self._out.push(now, beats_of(wr, payload))

    def _gather(self, now: int, old: _State) -> None:
        """G1 to G4."""
        block = self._blocks.head(now)
        free = not len(self._work)
        new = self._s
        if block is not None and (self._skip or free):
            self._blocks.pop(now)
            new.taken = (new.taken + 1) & M16
            new.held -= 1
            self._counts["fetched"] += 1
            if self._skip:
                self._skip -= 1
            else:
                self._add_block(now, block, old.taken)
            self.wake(now + 1)
        elif old.stop and not self._fatal_done and old.taken == old.published and free:
            self._fatal_done = True
            index = self._partial_index if self._partial else old.taken
            self._partial = []
            self._work.push(now, _Work(index, None))

    def _add_block(self, now: int, block: bytes, index: int) -> None:
        if not self._partial:
            self._partial_index = index
            self._partial_blocks = wqe.block_count(wqe.Head(block).ds)
            if self._partial_blocks > wqe.MAX_BLOCKS:
                self._skip = self._partial_blocks - 1
                self._partial_blocks = 1
        self._partial.append(block)
        if len(self._partial) == self._partial_blocks:
            self._work.push(now, _Work(self._partial_index, b"".join(self._partial)))
            self._partial = []

    def _judge(self, now: int, old: _State) -> None:
        """F4 to F8: what returned; then the reads of this cycle."""
        new = self._s
        may_ask = self.ar.reserved(now) < self._ar_depth and not old.drain
        block_back = False
        if self._returns and self._returns[0][0] == now:
            _, data, error = self._returns.popleft()
            if old.record_busy and old.record_after == 0:
                self._judge_record(old, data, error)
                may_ask = False
            else:
                block_back = True
                new.in_flight -= 1
                new.record_after = max(0, old.record_after - 1)
                if old.returned == old.published:
                    new.held -= 1
                elif error:
                    new.held -= 1
                    new.published = new.limit = old.returned
                    new.drain = new.stop = True
                    may_ask = False
                else:
                    self._blocks.push(now, data)
                    new.returned = (old.returned + 1) & M16
        if old.drain and old.in_flight == 0:
            new.drain = False
            new.ask = old.published
        if may_ask:
            self._ask(now, old, block_back)

    def _judge_record(self, old: _State, data: bytes, error: bool) -> None:
        new = self._s
        new.record_busy = False
        record = wqe.record_send(data, self.cfg.dbr_addr)
        far = self._ahead(old, record)
        size = 1 << self.cfg.sq_log
        bad = error or (far > size and (old.published - record) & M16 > size)
        if not old.stop and not bad:
            if self._ahead(old, old.published) < far <= size:
                new.published = record
            if 0 < (old.record_hint - record) & M16 < 0x8000:
                self._counts["record_behind"] += 1
        new.stop |= bad
        new.limit = new.published
        new.drain = self._ahead(old, old.ask) > self._ahead(old, new.published)

    @staticmethod
    def _ahead(old: _State, index: int) -> int:
        """Blocks from the next one to take to ``index``."""
        return (index - old.taken) & M16

    def _ask(self, now: int, old: _State, block_back: bool) -> None:
        """F2, F3: the record first, else the next block below the limit."""
        new = self._s
        if old.rung and not old.record_busy and not old.stop:
            new.rung = False
            new.record_busy = True
            new.record_hint = old.hint
            new.record_after = old.in_flight - block_back
            ahead = self._ahead(old, old.hint)
            if self._ahead(old, old.published) < ahead <= 1 << self.cfg.sq_log:
                new.limit = old.hint
            self.ar.push(now, Read(0, self.cfg.dbr_addr & ~63, 1))
        elif old.ask != old.limit and old.held < self._blocks_max:
            new.ask = (old.ask + 1) & M16
            new.in_flight += 1
            new.held += 1
            slot = old.ask & ((1 << self.cfg.sq_log) - 1)
            self.ar.push(now, Read(0, self.cfg.sq_base + slot * wqe.BLOCK, 1))

    def _classify(self, now: int, old: _State) -> None:
        """S1 to S6, G5."""
        if self._aw is None or not self._w_whole or now < self._collected:
            return
        if self.b.reserved(now) >= self._b_depth:
            return
        (ident, addr), beats = self._aw, self._w
        self._aw, self._w, self._w_whole = None, [], False
        self._aw_free = self._w_free = now + 1
        head = wqe.Head(beats[0][0])
        accept = (
            self.cfg.enable and not old.stop and addr in self._halves and beats[0][1] & FIRST8 == FIRST8
            and len(beats) <= wqe.MAX_BLOCKS and head.qpn == self.cfg.qpn
        )  # fmt: skip
        self.b.push(now, Response(ident, OKAY if accept else SLVERR))
        if not accept:
            self._counts["refused"] += 1
            return
        whole = all(strb == FULL for _, strb in beats) and head.ds and head.blocks == len(beats)
        if whole and self._straight(old, head):
            new = self._s
            for field in ("taken", "returned", "published", "ask", "limit"):
                setattr(new, field, (getattr(old, field) + head.blocks) & M16)
            self._work.push(now, _Work(old.taken, b"".join(data for data, _ in beats)))
            self._counts["blueflame"] += 1
        else:
            self._counts["doorbells"] += 1
            self._rings.append((now + self._ring_delay, (head.index + head.blocks) & M16))

    def _straight(self, old: _State, head: wqe.Head) -> bool:
        """G5: nothing pending or in flight, and the WQE is the next one. Stages further on may be busy."""
        idle = not (old.rung or old.record_busy or old.held or old.drain or old.stop) and old.ask == old.published
        return bool(
            idle and head.index == old.taken and not self._work.reserved(self.kernel.now)
            and not self._partial and not self._skip
        )  # fmt: skip


def beats_of(wr: Wr, payload: bytes) -> list[Beat]:
    """Beats of a work request: the payload in 64-byte pieces, one empty beat when there is none."""
    pieces = [payload[i : i + 64] for i in range(0, len(payload), 64)] or [b""]
    return [Beat(p, i == len(pieces) - 1, wr) for i, p in enumerate(pieces)]
