# SPDX-License-Identifier: Apache-2.0
"""Producers, memory, device model and transport in one closed loop, and what to replay of it into the RTL's bench.

The run predicts: from a seed it gives every write that the producers and the transport make to memory (:class:`Poke`)
and every store that reaches the device, each with its cycle, the work requests handed on, and the oracle's faults. A
bench that plays pokes and stores at these cycles, with the same memory delays and ready patterns, sees the same run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

from models.kernel import Beat, Fifo, Kernel, Sink
from models.memory import LINE, Memory, MemoryTiming, Poke, Windows
from models.protocol import SqCtx, SqWr
from tb.producers.bus import Arrived, Path, Transport
from tb.producers.machine import Machine
from tb.producers.queue import Fault, Oracle, Queue, preset

FIRST = 16  # cycle of the first table entry; the threads start behind the last one
Ready = Callable[[str], Callable[[int], bool]]


class Device(Protocol):
    """Golden model of block sq (models/sq.py)."""

    b: Fifo[Any]
    ar: Fifo[Any]
    wr: Fifo[Beat]
    changes: list[tuple[int, tuple[int, ...]]]
    COUNTERS: Any

    def ctx(self, now: int, entry: int, ctx: SqCtx) -> None: ...
    def aw_ready(self, now: int) -> bool: ...
    def w_ready(self, now: int) -> bool: ...
    def aw(self, now: int, ident: int, addr: int, beats: int) -> None: ...
    def w(self, now: int, data: bytes, strb: int, last: bool) -> None: ...
    def r(self, now: int, ident: int, data: bytes, resp: int) -> None: ...


class Completer(Protocol):
    """Writes completions in the transport's place: the golden model of block cq (tb/queue_pairs/join.py)."""

    image: dict[int, bytes]

    def connect(
        self, machine: Machine, memory: Memory, sq: Any, queues: list[Queue], setting: Setting, ready: Ready, seed: int
    ) -> tuple[Oracle, Transport]:
        """Wire everything but the stores between ``sq``, ``memory`` and transport."""


@dataclass
class Setting:
    """What surrounds the producers. ``path``: cycles of a store's way to the device; ``complete``: longest time from a
    work request to its completion; ``limit``: cycles; ``ready``: patterns of m_wr, ar and b by name, bit c mod n."""

    timing: MemoryTiming = field(default_factory=MemoryTiming)
    windows: Windows = field(default_factory=Windows)
    any_order: bool = True
    path: int = 20
    complete: int = 200
    limit: int = 100_000
    stop_at_fault: bool = True
    ready: dict[str, Sequence[bool]] = field(default_factory=dict)


@dataclass
class Outcome:
    """A finished run. ``ctx``: (cycle, entry, table entry); ``image``: memory before it; ``counters``: at the end;
    ``threads``: how many; ``stuck``: those that never ended; ``stopped``: the run was ended at its first fault."""

    queues: list[Queue]
    ctx: list[tuple[int, int, SqCtx]]
    image: dict[int, bytes]
    pokes: list[Poke]
    stores: list[Arrived]
    frames: list[tuple[int, SqWr, bytes]]
    counters: dict[str, int]
    faults: list[Fault]
    last: int
    threads: int
    stuck: list[str]
    stopped: bool
    setting: Setting


def poke_of(now: int, addr: int, data: bytes) -> Poke:
    """The poke that makes a write of ``now`` visible to the device's reads that are answered after ``now``."""
    at = addr % LINE
    return Poke(now + 1, addr - at, ((1 << len(data)) - 1) << at, (bytes(at) + data).ljust(LINE, b"\0"))


def run(
    seed: int, queues: list[Queue], setting: Setting, start: Callable[[Machine, int, Random], None],
    device: Callable[[Kernel], Device], entries: int = 256, completer: Completer | None = None,
) -> Outcome:  # fmt: skip
    """One run. ``start`` (machine, first cycle, generator) starts the threads; ``device`` makes the model; without a
    ``completer`` the transport writes the collapsed entry of each queue itself."""
    kernel = Kernel()
    sq = device(kernel)
    image = {q.cqe: preset(q) for q in queues if q.cq is None}
    if completer is not None:
        image |= completer.image
    for queue in queues:
        at = queue.record % LINE
        image[queue.record - at] = (bytes(at + 4) + (queue.first & 0xFFFF).to_bytes(4, "big")).ljust(LINE, b"\0")
    memory = Memory(kernel, "mem", setting.timing, setting.windows, image, any_order=setting.any_order)
    machine = Machine(kernel, seed, setting.limit)
    path = Path(kernel, sq, setting.path)

    def ready(name: str) -> Callable[[int], bool]:
        pattern = setting.ready.get(name)
        return (lambda _: True) if pattern is None else (lambda c: bool(pattern[c % len(pattern)]))

    if completer is not None:
        oracle, transport = completer.connect(machine, memory, sq, queues, setting, ready, seed)
    else:
        oracle = Oracle(queues)
        transport = Transport(machine, queues, oracle, Random(seed ^ 0x5EED), setting.complete)
        Sink(kernel, "ar", sq.ar, ready("ar"))
        sq.ar.on_pop = lambda now, read: memory.ar(now, read.id, read.addr, 1)
        Sink(kernel, "r", memory.r)
        memory.r.on_pop = lambda now, beat: sq.r(now, beat.id, beat.data, beat.resp)
    machine.on_uar = path.leave
    pokes: list[Poke] = []
    for addr, data in image.items():
        machine.system.write(0, addr, data)
    for queue in queues:
        for what in ("resv", "ready", "prod", "cons"):
            machine.variables[queue.name(what)] = queue.first

    def stop() -> None:
        if oracle.faults and setting.stop_at_fault:
            machine.deadline = min(machine.deadline, kernel.now)

    def write(now: int, addr: int, data: bytes) -> None:
        pokes.append(poke_of(now, addr, data))
        memory.poke(pokes[-1])
        oracle.write(now, addr, data)
        stop()

    machine.system.on_write = write
    transport.on_fault = stop

    Sink(kernel, "b", sq.b, ready("b"))
    Sink(kernel, "wr", sq.wr, ready("wr"))
    sq.wr.on_pop = transport.take
    ctx = [(FIRST + i, q.qpn % entries, q.ctx()) for i, q in enumerate(q for q in queues if not q.later)]
    for cycle, entry, word in ctx:
        machine.at(cycle, lambda now, what: sq.ctx(now, *what), (entry, word))
    start(machine, FIRST + len(queues) + 8, Random(seed ^ 0xCAFE))
    last = kernel.run(4 * setting.limit)
    stopped = bool(oracle.faults) and setting.stop_at_fault
    stuck = [t.name for t in machine.threads if t.done is None]
    if not stopped:
        oracle.finish(last, stuck)
    counters = dict(zip(sq.COUNTERS, sq.changes[-1][1] if sq.changes else (0,) * len(sq.COUNTERS), strict=True))
    stores = path.taken
    return Outcome(
        queues, ctx, image, pokes, stores, transport.frames, counters, oracle.faults, last, len(machine.threads), stuck,
        stopped, setting,
    )  # fmt: skip
