# SPDX-License-Identifier: Apache-2.0
"""The models of both blocks over one memory, wired as in tb_queue_pairs, and the transport that stands between them."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

from models.cq_engine import Cq, Event
from models.kernel import Component, Fifo, Kernel, Sink
from models.memory import LINE, Memory, Windows
from models.protocol import CQE, WQE, CqCtx, CqIn, SqCtx, SqWr
from models.sq import Sq
from tb.cq.rig import EventSink
from tb.producers.bus import Transport
from tb.producers.loop import FIRST, Ready, Setting
from tb.producers.machine import Machine
from tb.producers.queue import Queue
from tb.producers.ring import RingCq
from tb.queue_pairs.oracle import JoinOracle

M16 = 0xFFFF
LINES = 32768  # of each window of tb_queue_pairs
WINDOWS = Windows(host_bytes=LINES * LINE, gpu_bytes=LINES * LINE)
FROM_CQ = 1 << 9  # ID bit of the completion queues' reads
INBOUND = (WQE.READ, WQE.ATOMIC_CS, WQE.ATOMIC_FA)  # the transport writes their data to memory


class Later(Component):
    """Calls at given cycles, those of a cycle in the order in which they were asked for."""

    def __init__(self, kernel: Kernel, name: str) -> None:
        super().__init__(kernel, name)
        self._calls: list[tuple[int, int, Callable[..., None], tuple[Any, ...]]] = []
        self._count = 0

    def at(self, cycle: int, what: Callable[..., None], *args: Any) -> None:
        """``what(cycle, *args)`` at ``cycle``."""
        self._count += 1
        heapq.heappush(self._calls, (cycle, self._count, what, args))
        self.wake(cycle)

    def tick(self, now: int) -> None:
        """What is due."""
        while self._calls and self._calls[0][0] <= now:
            _, _, what, args = heapq.heappop(self._calls)
            what(now, *args)


class _Merge(Component):
    """One read port for both: the completion queues' first."""

    def __init__(self, kernel: Kernel, sq: Sq, cq: Cq, memory: Memory, ready: Callable[[int], bool]) -> None:
        super().__init__(kernel, "ar")
        self._ports: tuple[tuple[Fifo[Any], int], ...] = ((cq.ar, FROM_CQ), (sq.ar, 0))
        self._memory, self._ready = memory, ready
        cq.ar.consumer = sq.ar.consumer = self

    def tick(self, now: int) -> None:
        """One address a cycle."""
        waiting = [(f, bit) for f, bit in self._ports if f.head(now) is not None]
        if not waiting:
            return
        if self._ready(now):
            fifo, bit = waiting[0]
            read = fifo.pop(now)
            self._memory.ar(now, read.id | bit, read.addr, 1)
        if len(waiting) > 1 or not self._ready(now):
            self.wake(now + 1)


class Joined:
    """Wires between ``sq``, ``cq`` and ``memory``; ``ready``: patterns by port of the bench. ``heard`` (cycle, event)
    of each event taken, ``written`` (cycle in which it is visible, address, 64 bytes) of each entry. ``events``: the
    sink of m_ev."""

    def __init__(
        self, kernel: Kernel, sq: Sq, cq: Cq, memory: Memory, ready: Ready,
        heard: Callable[[int, Event], None] = lambda *_: None,
        written: Callable[[int, int, bytes], None] = lambda *_: None,
    ) -> None:  # fmt: skip
        self._memory, self._sq, self._cq, self._written = memory, sq, cq, written
        self._told = 0
        later = Later(kernel, "arms")
        _Merge(kernel, sq, cq, memory, ready("mem_ar"))
        Sink(kernel, "aw", cq.aw, ready("mem_aw"))
        Sink(kernel, "w", cq.w, ready("mem_w"))
        Sink(kernel, "b", memory.b, cq.b_ready)
        Sink(kernel, "r", memory.r)
        self.events = EventSink(kernel, cq.ev, ready("m_ev"), heard)
        cq.aw.on_pop = self._aw
        cq.w.on_pop = self._w
        memory.b.on_pop = lambda now, resp: cq.b(now, resp.resp)
        memory.r.on_pop = self._r
        sq.on_arm = lambda at, page, data: later.at(at, cq.arm, page, int.from_bytes(data, "big"))

    def _aw(self, now: int, write: Any) -> None:
        self._memory.aw(now, 0, write.addr, 1)
        self._tell()

    def _w(self, now: int, write: Any) -> None:
        self._memory.w(now, write.data)
        self._tell()

    def _tell(self) -> None:
        for _, visible, addr, _, data in self._memory.w_log[self._told :]:
            self._written(visible, addr, data)
        self._told = len(self._memory.w_log)

    def _r(self, now: int, beat: Any) -> None:
        if beat.id & FROM_CQ:
            self._cq.r(now, beat.id ^ FROM_CQ, beat.data, beat.resp)
        else:
            self._sq.r(now, beat.id, beat.data, beat.resp)


class _Offer(Component):
    """s_cq: completions in order, each when there is room. ``taken``: (cycle, completion)."""

    def __init__(self, kernel: Kernel, cq: Cq) -> None:
        super().__init__(kernel, "s_cq")
        self._cq = cq
        self._items: deque[CqIn] = deque()
        self.taken: list[tuple[int, CqIn]] = []

    def put(self, now: int, item: CqIn) -> None:
        """Offered from ``now`` on."""
        self._items.append(item)
        self.wake(now)

    def tick(self, now: int) -> None:
        """The head, if there is room."""
        if self._items and self._cq.ready(now) and (not self.taken or self.taken[-1][0] < now):
            self.taken.append((now, self._items.popleft()))
            self._cq.put(*self.taken[-1])
        if self._items:
            self.wake(now + 1)


class Landed(NamedTuple):
    """Data that the transport wrote for a work request: visible from ``cycle`` on."""

    qpn: int
    counter: int
    cycle: int
    addr: int
    data: bytes


class ToCq(Transport):
    """Gives completions to the completion queues' model. What READ and atomics bring is written before: a DMA write
    burst each, whose response raises ``dma_done``."""

    def __init__(self, machine: Machine, queues: list[Queue], oracle: JoinOracle, rng: Random, longest: int) -> None:
        super().__init__(machine, queues, oracle, rng, longest)
        self._draw = rng
        self.landed: list[Landed] = []
        self.done0 = self._issued = -rng.randrange(1, 8) & M16
        self.done: list[tuple[int, int]] = []  # (cycle, dma_done from it on)
        self._homes: dict[int, int] = {}
        self._offer: _Offer | None = None
        self._cq: Cq | None = None

    def attach(self, kernel: Kernel, cq: Cq, homes: dict[int, int]) -> _Offer:
        """``homes``: completion queue number by queue pair number."""
        self._cq, self._homes = cq, homes
        self._offer = _Offer(kernel, cq)
        cq.done(0, self.done0)
        return self._offer

    def take(self, now: int, beat: Any) -> None:
        """One beat of a work request."""
        super().take(now, beat)
        wr = beat.side
        if beat.last and not wr.error and wr.qpn not in self._dead and wr.opcode in INBOUND and wr.sges == 1:
            self._issued = (self._issued + 1) & M16
            visible = now + 1 + self._draw.randrange(60)
            last = self.done[-1][0] if self.done else 0
            back = max(last + 1, visible + 1 + self._draw.randrange(60))
            self.done.append((back, self._issued))
            self._machine.at(visible, self._land, wr)
            self._machine.at(back, self._acknowledge, self._issued)

    def _land(self, now: int, wr: SqWr) -> None:
        data = (wr.qpn << 16 | wr.wqe_index).to_bytes(8, "big")
        self.landed.append(Landed(wr.qpn, wr.wqe_index, now, wr.laddr, data))
        self._machine.system.write(now, wr.laddr, data)

    def _acknowledge(self, now: int, count: int) -> None:
        assert self._cq is not None
        self._cq.done(now, count)

    def _complete(self, now: int, wr: Any) -> None:
        assert self._offer is not None
        what = CqIn(
            cqn=self._homes[wr.qpn], qpn=wr.qpn, opcode=CQE.REQ_ERR if wr.error else CQE.REQ, send_opcode=wr.opcode,
            wqe_counter=wr.wqe_index, byte_cnt=wr.length & 0xFFFFFFFF, syndrome=wr.error, se=wr.se,
            barrier=self._issued,
        )  # fmt: skip
        self._offer.put(now, what)


class Completions:
    """What loop.run completes requests with. ``ctxs``: (entry, table entry) of each completion queue; ``homes``:
    completion queue number by queue pair number; ``rings``: those that CPUs consume; ``ready``: patterns of mem_aw,
    mem_w and m_ev. Afterwards: ``offer.taken``, ``transport``, ``cq`` and the rest of what happened."""

    def __init__(
        self, ctxs: list[tuple[int, CqCtx]], homes: dict[int, int], rings: list[RingCq],
        model: Callable[[Kernel], Cq], ready: dict[str, Any],
    ) -> None:  # fmt: skip
        self.homes, self.rings, self.ready = homes, rings, ready
        self.ctxs = [(FIRST + i, entry, ctx) for i, (entry, ctx) in enumerate(ctxs)]
        self._model = model
        self.image: dict[int, bytes] = {}
        fresh = bytes(LINE - 1) + b"\xf0"
        for ring in rings:
            self.image |= {ring.slot(i): fresh for i in range(1 << ring.log)}
            at = ring.record % LINE
            line = bytearray(self.image.get(ring.record - at, bytes(LINE)))
            line[at : at + 4] = ring.first.to_bytes(4, "big")
            self.image[ring.record - at] = bytes(line)
        self.errors: list[tuple[int, int]] = []  # error events: (cycle, cqn)
        self.renewed: list[tuple[int, int, SqCtx]] = []  # entries of the send queues' table written in the run

    def connect(
        self, machine: Machine, memory: Memory, sq: Sq, queues: list[Queue], setting: Setting, ready: Ready, seed: int
    ) -> tuple[JoinOracle, ToCq]:
        """Wire everything between ``sq``, ``memory``, producers and transport."""
        kernel = machine.kernel
        self.sq, self.memory, self._machine = sq, memory, machine
        self.cq = self._model(kernel)
        self.oracle = JoinOracle(queues)
        self.transport = ToCq(machine, queues, self.oracle, Random(seed ^ 0x5EED), setting.complete)
        self.offer = self.transport.attach(kernel, self.cq, self.homes)

        def heard(now: int, event: Event) -> None:
            if event.error:
                self.errors.append((now, event.cqn))
                self.oracle.broken_queue(now, event.cqn)
                return
            name = ("cq", event.cqn, "event")
            machine.variables[name] = machine.variables.get(name, 0) + 1

        def port(name: str) -> Callable[[int], bool]:
            pattern = self.ready.get(name)
            if name == "mem_ar":
                return ready("ar")
            return (lambda _: True) if pattern is None else (lambda c: bool(pattern[c % len(pattern)]))

        def written(visible: int, addr: int, data: bytes) -> None:
            machine.at(visible, lambda _, what: machine.system.see(*what), (addr, data))

        self.joined = Joined(kernel, sq, self.cq, memory, port, heard, written)
        for cycle, entry, ctx in self.ctxs:
            machine.at(cycle, lambda now, what: self.cq.ctx(now, *what), (entry, ctx))
        return self.oracle, self.transport

    def watch(self, entry: int) -> None:
        """``ctx_addr`` of the send queues is ``entry`` from now on (docs/sq.md, C5)."""
        now = self._machine.kernel.now
        self._since = now
        self.sq.watch([(now + 1, entry)])

    @property
    def idle(self) -> bool:
        """``ctx_idle``, once it speaks of the entry that is watched."""
        now = self._machine.kernel.now
        return now > self._since + 2 and next(v for c, v in reversed(self.sq.idles) if c <= now)

    def set_up(self, entry: int, ctx: SqCtx) -> None:
        """Entry ``entry`` of the send queues' table is written in the next cycle."""
        now = self._machine.kernel.now
        self.renewed.append((now + 1, entry, ctx))
        self._machine.at(now + 1, lambda cycle, what: self.sq.ctx(cycle, *what), (entry, ctx))
