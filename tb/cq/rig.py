# SPDX-License-Identifier: Apache-2.0
"""Model, memory and players of a phase, closed: what the bench's predictor runs and what plans the consumers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from models.cq_engine import Cq, Event, Write
from models.kernel import Beat, Fifo, Kernel, Player, Sink
from models.memory import Memory, MemoryTiming, Poke
from models.protocol import CqCtx, CqIn
from tb.common.phase import ready_at
from tb.common.source import StreamSource
from tb.cq.ports import WINDOWS


@dataclass
class Stimulus:
    """Inputs of a phase. ``ctxs``: (cycle, entry, CqCtx); ``completions``: (earliest cycle, CqIn); ``arms``: (cycle,
    page, {arm word, cqn}); ``done``: (cycle, dma_done), ``done0`` before; ``ready``: patterns
    by port."""

    queues: int = 64
    ctxs: list[tuple[int, int, CqCtx]] = field(default_factory=list)
    completions: list[tuple[int, CqIn]] = field(default_factory=list)
    arms: list[tuple[int, int, int]] = field(default_factory=list)
    done: list[tuple[int, int]] = field(default_factory=list)
    done0: int = 0
    pokes: list[Poke] = field(default_factory=list)
    image: dict[int, bytes] = field(default_factory=dict)
    timing: MemoryTiming = field(default_factory=MemoryTiming)
    ready: Mapping[str, Any] = field(default_factory=dict)


class EventSink(Sink[Event]):
    """Tells ``heard`` (cycle, event) of each event taken."""

    def __init__(
        self, kernel: Kernel, fifo: Fifo[Event], ready: Callable[[int], bool], heard: Callable[[int, Event], None]
    ) -> None:
        super().__init__(kernel, "m_ev", fifo, ready)
        self._heard = heard

    def tick(self, now: int) -> None:
        """Take the head, if ready."""
        before = len(self.taken)
        super().tick(now)
        for cycle, event in self.taken[before:]:
            self._heard(cycle, event)


class Rig:
    """The block's model between its players and its memory."""

    def __init__(self, s: Stimulus, heard: Callable[[int, Event], None] = lambda _now, _event: None) -> None:
        self.kernel = kernel = Kernel()
        self.cq = cq = Cq(kernel, "cq", s.queues)
        self.memory = memory = Memory(kernel, "mem", s.timing, WINDOWS, s.image, s.pokes, any_order=True)
        cq.done(0, s.done0)

        def ready(name: str) -> Callable[[int], bool]:
            found: Callable[[int], bool] = ready_at(s.ready.get(name))
            return found

        Player(kernel, "ctx", [(c, (e, x)) for c, e, x in s.ctxs], lambda now, x: cq.ctx(now, *x))
        Player(kernel, "done", s.done, cq.done)
        Player(kernel, "arm", [(c, (p, d)) for c, p, d in s.arms], lambda now, x: cq.arm(now, *x))
        items = [(c, Beat(b"", True, x)) for c, x in s.completions]
        self.source = StreamSource(kernel, "cq", items, cq.ready, lambda now, beat: cq.put(now, beat.side))
        self._aw: Sink[Write] = Sink(kernel, "aw", cq.aw, ready("mem_aw"))
        self._w: Sink[Write] = Sink(kernel, "w", cq.w, ready("mem_w"))
        self._ar = Sink(kernel, "ar", cq.ar, ready("mem_ar"))
        self.ev = EventSink(kernel, cq.ev, ready("m_ev"), heard)
        self._b = Sink(kernel, "b", memory.b, cq.b_ready)
        self._r = Sink(kernel, "r", memory.r)
        cq.aw.on_pop = lambda now, w: memory.aw(now, 0, w.addr, 1)
        cq.w.on_pop = lambda now, w: memory.w(now, w.data)
        cq.ar.on_pop = lambda now, read: memory.ar(now, read.id, read.addr, read.beats)
        memory.b.on_pop = lambda now, resp: cq.b(now, resp.resp)
        memory.r.on_pop = lambda now, beat: cq.r(now, beat.id, beat.data, beat.resp)

    def run(self, limit: int) -> None:
        """To the end of everything."""
        self.kernel.run(limit)
