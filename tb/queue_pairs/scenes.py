# SPDX-License-Identifier: Apache-2.0
"""Scenes of the joined bench: send queues, their completion queues, producers and consumers. Drawn from a seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

from models.cq_engine import Cq
from models.kernel import Kernel
from models.memory import MemoryTiming, WindowTiming
from models.protocol import CqCtx
from models.sq import Sq
from tb.producers import cpu, gpu, ring
from tb.producers.loop import Outcome, Setting, run
from tb.producers.machine import Core, Gpu, Machine
from tb.producers.queue import Queue
from tb.producers.requests import Request, cpu_request, gpu_request
from tb.producers.ring import RingCq
from tb.producers.scenes import MAILBOXES
from tb.producers.steps import Atomic, Program, Spend
from tb.queue_pairs.join import INBOUND, WINDOWS, Completions
from tb.queue_pairs.oracle import Broken, broken
from tb.sq.wqes import FAULTS, RING_ONLY

RECORDS, CQ_RECORDS, SLOTS, RINGS, CQ_RINGS, LANDING = 0x1000, 0x3000, 0x8000, 0x10000, 0x60000, 0x100000
M16, M24 = 0xFFFF, 0xFFFFFF
# no WQE of one block can have these, and a GPU thread posts no others
CPU_ONLY = ("more than four blocks", "atomic too large")
CPU_BLOCKS = 8
STORM = 12  # arms of a core of a storm
SETTLE = 100  # cycles from a store's arrival until it was answered, and more


@dataclass(frozen=True)
class Scene:
    """Producers and queues.

    - GPU: ``gpu`` queues with a collapsed completion queue each, ``threads`` threads a queue with ``messages`` posts;
      ``host``: these are in host memory.
    - CPU: ``cores`` queues, a core each with ``doorbells`` posts; their completion rings are one each, one for two, or
      one for all (``sharing``). ``served``: a core of its own consumes them (with ``sleeps`` by events), one for each
      ring or (``together``) one for all; else posters poll. ``far``: the queues' memory is the GPU's; ``near``: all
      rings are armed by one page.
    - Proxy: ``askers`` GPU threads, served by a core with one more queue that polls a ring of its own.
    - ``broken``: so many queues have a malformed WQE; ``faults``: these, on as many queues.
    - ``strays``: arms by a foreign page; ``storm``: so many more cores arm the rings again and again.
    - ``halts``: so many cores end with a doorbell record that shows more than a ring ahead.
    - ``again``: cores whose queue ended in an error set its table entry up anew, for another queue, and post once more.
    - ``plain``: posts of one WRITE of one block that asks for its completion; ``timing``: of the memory, in place of
      ``read`` and ``write`` (cycles, jitter).
    - The rest: as in tb.producers.scenes. ``ready``: patterns by port of the bench.
    """

    gpu: int = 1
    threads: int = 6
    messages: int = 3
    host: bool = False
    cores: int = 2
    doorbells: int = 6
    lists: tuple[int, ...] = (1, 1, 1, 2, 3)
    sharing: str = "one"
    served: bool = True
    sleeps: bool = True
    together: bool = False
    far: bool = False
    near: bool = False
    askers: int = 0
    asks: int = 3
    broken: int = 0
    faults: tuple[str, ...] = ()
    strays: int = 0
    storm: int = 0
    halts: int = 0
    again: bool = False
    plain: bool = False
    timing: MemoryTiming | None = None
    split: float = 0.5
    log: int = 4
    blueflame: float = 0.5
    haste: float = 8.0
    stay: float = 1.0
    stalls: int | None = None
    read: tuple[int, int] = (30, 30)
    write: tuple[int, int] = (10, 10)
    path: int = 10
    complete: int = 100
    limit: int = 40_000
    cq_room: int = 0  # so many times smaller a completion ring than it has to be, as log2
    missing: frozenset[str] = frozenset()
    ready: dict[str, tuple[bool, ...]] = field(default_factory=dict)


@dataclass
class Played:
    """A run: its outcome, what completed it, the completion queues. ``planted``: fault by qpn ("record" of those that
    halt)."""

    scene: Scene
    outcome: Outcome
    completions: Completions
    ctxs: list[CqCtx]
    planted: dict[int, str]
    shape: Shape

    @property
    def landed(self) -> list[tuple[int, int, int, int, bytes]]:
        """As the judgement wants it."""
        return [tuple(x) for x in self.completions.transport.landed]  # type: ignore[misc]


@dataclass(frozen=True)
class Shape:
    """Sizes of the design."""

    qps: int = 64
    pages: int = 64
    cqs: int = 64
    tags: int = 512

    def sq(self, kernel: Kernel) -> Sq:
        """The send queues' model."""
        return Sq(kernel, "sq", self.qps, self.pages, self.tags)

    def cq(self, kernel: Kernel) -> Cq:
        """The completion queues' model."""
        return Cq(kernel, "cq", self.cqs)


DEFAULT = Shape()


class _Maker:
    """Puts a scene together."""

    completions: Completions

    def __init__(self, scene: Scene, shape: Shape, rng: Random) -> None:
        self.scene, self.shape, self.rng = scene, shape, rng
        total = scene.gpu + scene.cores + bool(scene.askers)
        numbers = rng.sample(range(shape.qps), total)
        pages = rng.sample(range(shape.pages), min(total, shape.pages))
        self.queues = [self._queue(i, numbers[i], pages[i % len(pages)]) for i in range(total)]
        self.homes: dict[int, int] = {}
        self.ctxs: list[tuple[int, CqCtx]] = []
        self.rings: list[RingCq] = []
        self._entries = rng.sample(range(shape.cqs), total)
        for queue in self.queues[: scene.gpu]:
            self._collapsed(queue)
        size = {"one": 1, "pairs": 2, "all": max(1, scene.cores)}[scene.sharing]
        cpu_queues = self.cpu_queues
        for i in range(0, len(cpu_queues), size):
            self._ring(cpu_queues[i : i + size], scene.served)
        if scene.askers:
            self._ring(self.queues[-1:], False)
        cores = cpu_queues[len(cpu_queues) - scene.halts :]
        self.halting = {q.qpn for q in cores}
        whole = scene.gpu + scene.cores - scene.halts
        victims = rng.sample(self.queues[:whole], min(len(scene.faults) or scene.broken, whole))
        given = scene.faults or [self._fault(q) for q in victims]
        self.planted = {q.qpn: fault for q, fault in zip(victims, given, strict=False)}
        self.proxy_queue = self.queues[-1]
        self.successors = {q.qpn: self._successor(q) for q in cpu_queues if scene.again and q.qpn in self._ending}
        self._landing = 0
        self._asked = False

    @property
    def cpu_queues(self) -> list[Queue]:
        """Queues of the cores."""
        return self.queues[self.scene.gpu : self.scene.gpu + self.scene.cores]

    @property
    def _ending(self) -> set[int]:
        """Queues that end in an error."""
        return self.halting | set(self.planted)

    def _successor(self, old: Queue) -> Queue:
        """The next queue with the same table entry and completion queue."""
        new = self._queue(len(self.queues), old.qpn % self.shape.qps, old.page)
        while new.qpn == old.qpn:
            new.qpn = (new.qpn + self.shape.qps) & M24
        assert old.cq is not None
        new.later, new.cq = True, old.cq
        old.cq.queues[new.qpn] = new
        self.homes[new.qpn] = old.cq.cqn
        self.queues.append(new)
        return new

    def _window(self, index: int) -> int:
        on_gpu = not self.scene.host if index < self.scene.gpu else self.scene.far
        return WINDOWS.gpu_base if on_gpu else WINDOWS.host_base

    def _queue(self, i: int, number: int, page: int) -> Queue:
        rng, scene, shape, window = self.rng, self.scene, self.shape, self._window(i)
        first = rng.choice((0, (1 << 16) - rng.randrange(1, 2 << scene.log)))
        first += (rng.randrange(3) << 16) * (first > 0)
        return Queue(
            qpn=rng.randrange((1 << 24) // shape.qps) * shape.qps + number, page=page,
            base=window + RINGS + 0x1000 * i, log=scene.log, record=window + RECORDS + 64 * i + 8 * rng.randrange(8),
            cqe=window + SLOTS + 64 * i, first=first, weight=rng.choice((0, 1, 4, 16)),
        )  # fmt: skip

    def _number(self) -> tuple[int, int]:
        entry = self._entries[len(self.ctxs)]
        return entry, self.rng.randrange((1 << 24) // self.shape.cqs) * self.shape.cqs + entry

    def _first(self, log: int) -> int:
        """An index near 2^24 or the end of a pass."""
        rng, few = self.rng, self.rng.randrange(1, 8)
        return rng.choice((-few, (rng.randrange(1, 1 << 24 - log) << log) - few, 0)) & M24

    def _collapsed(self, queue: Queue) -> None:
        entry, cqn = self._number()
        log = self.rng.randrange(4, 16)
        ctx = CqCtx(
            enable=1, cqn=cqn, page=queue.page, base=queue.cqe, log=log, collapsed=1, ignore_overrun=1,
            pi0=self._first(log),
        )  # fmt: skip
        self.ctxs.append((entry, ctx))
        self.homes[queue.qpn] = cqn

    def _ring(self, queues: list[Queue], served: bool) -> None:
        i, (entry, cqn) = len(self.ctxs), self._number()
        window = self._window(self.scene.gpu)
        log = max(0, (sum(q.ring for q in queues) - 1).bit_length() - self.scene.cq_room)
        cq = RingCq(
            cqn, (self.cpu_queues if self.scene.near else queues)[0].page, window + CQ_RINGS + 0x2000 * i, log,
            window + CQ_RECORDS + 64 * i + 8 * self.rng.randrange(8), self._first(log), served,
            {q.qpn: q for q in queues},
        )  # fmt: skip
        ctx = CqCtx(
            enable=1, cqn=cqn, page=cq.page, base=cq.base, log=log, dbr_addr=cq.record, pi0=cq.first,
            mod_count=self.rng.choice((0, 1, 1, 3)), mod_period=self.rng.choice((0, 50, 400)), events=1,
        )  # fmt: skip
        self.ctxs.append((entry, ctx))
        self.rings.append(cq)
        for queue in queues:
            queue.cq = cq
            self.homes[queue.qpn] = cqn

    def _fault(self, queue: Queue) -> str:
        return self.rng.choice([f for f in FAULTS if queue.cq is not None or f not in CPU_ONLY])

    # -- requests -----------------------------------------------------------------------------------------------

    def placed(self, queue: Queue, request: Request) -> Request:
        """READs and atomics get a line of their own for what they bring."""
        if request.opcode not in INBOUND or len(request.pointers) != 1:
            return request
        self._landing += 1
        window = WINDOWS.gpu_base if queue.base >= WINDOWS.gpu_base else WINDOWS.host_base
        (size, key, _), = request.pointers  # fmt: skip
        return replace(request, pointers=((size, key, window + LANDING + 64 * self._landing),))

    def gpu_jobs(self, queue: Queue) -> list[gpu.Job]:
        """A job a thread; one of them may hold the malformed WQE."""
        scene, rng = self.scene, self.rng
        style = gpu.Style(system=scene.host)
        jobs = [gpu.random_job(rng, queue, scene.messages, style, scene.missing) for _ in range(scene.threads)]
        for job in jobs:
            job.batches = [[self.placed(queue, r) for r in batch] for batch in job.batches]
        if queue.qpn in self.planted:
            batch = rng.choice(rng.choice(jobs).batches)
            batch[rng.randrange(len(batch))] = self._broken(queue, 1)
        return jobs

    def cpu_job(self, queue: Queue) -> cpu.CpuJob:
        """Posts of a core: of a list the last request asks for its completion, the others may."""
        scene, rng = self.scene, self.rng
        if scene.plain:
            posts = [[cpu_request(rng, 1, raddr=rng.randrange(1 << 64))] for _ in range(scene.doorbells)]
            return cpu.CpuJob(queue, posts, scene.blueflame)
        job = cpu.random_cpu_job(rng, queue, scene.doorbells, scene.missing, scene.blueflame, lists=scene.lists)
        if scene.log < 4:
            job = cpu.random_cpu_job(rng, queue, scene.doorbells, scene.missing, scene.blueflame, (1, 2), (1, 2))
        for i, requests in enumerate(job.requests):
            if rng.random() < 0.3:
                requests[-1] = gpu_request(rng)
            told = [replace(r, signaled=rng.random() < 0.5) for r in requests[:-1]] + requests[-1:]
            job.requests[i] = [self.placed(queue, r) for r in told]
        if queue.qpn in self.planted:
            at = rng.randrange(len(job.requests))
            bad = self._broken(queue, min(CPU_BLOCKS, queue.ring // 2))
            # what cannot be in a store is followed by another one, whose head is the doorbell
            job.requests[at] = [bad, cpu_request(rng, 1)] if bad.fault in RING_ONLY else [bad]
        if queue.qpn in self.halting:  # two WQEs, so that no store carries one
            job.requests.append([cpu_request(rng, 1), replace(cpu_request(rng, 1), beyond=queue.ring + 1)])
        return job

    def _broken(self, queue: Queue, most: int) -> Broken:
        self._asked = not self._asked
        return broken(self.rng.randrange(1 << 30), self.planted[queue.qpn], most, self._asked)

    # -- threads ------------------------------------------------------------------------------------------------

    def start(self, machine: Machine, first: int, rng: Random) -> None:
        """All threads."""
        scene = self.scene
        whole = Gpu(machine, scene.haste, stay=scene.stay, stalls=scene.stalls)
        for queue in self.queues[: scene.gpu]:
            begin = first + rng.randrange(40)
            for lane, job in enumerate(self.gpu_jobs(queue)):
                whole.start(begin + lane // 32, f"queue {queue.qpn:#x} thread {lane}", gpu.thread(job))
        served = [r for r in self.rings if r.served]
        for queue in self.cpu_queues:
            assert queue.cq is not None
            told = served[0] if scene.together and queue.cq.served else queue.cq
            jobs = [self.cpu_job(q) for q in (queue, self.successors.get(queue.qpn)) if q is not None]
            program = self._poster(jobs, told, Random(rng.random()))
            self._core(machine).start(first + rng.randrange(40), f"core of {queue.qpn:#x}", program)
        groups = [served] if scene.together else [[r] for r in served]
        for group in groups if served else []:
            posters = sum(not q.later for r in group for q in r.queues.values())
            program = ring.consume(group, posters, scene.sleeps, scene.missing)
            self._core(machine).start(first, f"consumer of {group[0].cqn:#x}", program)
        if scene.strays and self.rings:
            used = {r.page for r in self.rings}
            page = rng.choice([p for p in range(self.shape.pages) if p not in used])
            self._core(machine).start(first + 20, "stray", ring.stray(self.rings, page, scene.strays))
        for number in range(scene.storm):
            self._core(machine).start(first + number, "storm", ring.storm(self.rings, number, STORM))
        if scene.askers:
            self._proxy(machine, first, whole)

    def _poster(self, jobs: list[cpu.CpuJob], told: RingCq, rng: Random) -> Program:
        """A core that says when it has ended; between two jobs it sets the table entry up anew."""
        for i, job in enumerate(jobs):
            if i:
                yield from self._set_up(job.queue)
            yield from cpu.core(job, rng)
        yield Atomic("add", told.name("ended"), 1)
        return 0

    def _set_up(self, queue: Queue) -> Program:
        """Wait until no store is on its way and ``ctx_idle`` is 1 for the entry; write it."""
        entry = queue.qpn % self.shape.qps
        while (yield Atomic("cas", ("driver",), 1, 0)) != 0:
            yield Spend("poll")
        begin = now = yield Spend("poll")
        while now < begin + self.scene.path + SETTLE:
            now = yield Spend("poll")
        self.completions.watch(entry)
        while not self.completions.idle:
            yield Spend("poll")
        self.completions.set_up(entry, queue.ctx())
        yield Spend("poll")
        yield Spend("poll")
        yield Atomic("set", ("driver",), 0)
        return 0

    def _core(self, machine: Machine) -> Core:
        scene = self.scene
        return Core(machine, scene.haste, not scene.plain, scene.stay, scene.stalls, scene.split)

    def _proxy(self, machine: Machine, first: int, whole: Gpu) -> None:
        scene, rng = self.scene, self.rng
        job = cpu.CpuJob(self.proxy_queue, [], scene.blueflame, missing=scene.missing)
        boxes = [cpu.Mailbox(MAILBOXES + 128 * i, MAILBOXES + 128 * i + 64) for i in range(scene.askers)]
        for number, box in enumerate(boxes):
            asked = [rng.randrange(1 << 64) for _ in range(scene.asks)]
            program = cpu.asking_thread(box, asked, scene.missing, lambda *_: None)
            whole.start(first + rng.randrange(40), f"asker {number}", program)
        draw = Random(rng.random())

        def wanted(_box: cpu.Mailbox, _number: int, raddr: int) -> Request:
            return cpu_request(draw, blocks=1, raddr=raddr)

        program = cpu.proxy(job, boxes, scene.askers * scene.asks, Random(rng.random()), wanted)
        self._core(machine).start(first, "proxy", program)


def play(
    scene: Scene, seed: int, shape: Shape = DEFAULT, model: Callable[[Kernel], Cq] | None = None
) -> Played:  # fmt: skip
    """Run ``scene`` once; ``model``: another model of the completion queues."""
    rng = Random(seed)
    made = _Maker(scene, shape, rng)
    window = WindowTiming(
        rd_latency=scene.read[0], rd_jitter=scene.read[1], wr_visible=max(1, scene.write[0] // 2),
        wr_resp=scene.write[0], wr_jitter=scene.write[1],
    )  # fmt: skip
    timing = scene.timing or MemoryTiming(window, window, seed=rng.randrange(1, 1 << 32))
    ports = {"m_wr": "wr", "mem_ar": "ar", "uar_b": "b"}
    setting = Setting(
        timing=timing, windows=WINDOWS, path=scene.path,
        complete=scene.complete, limit=scene.limit,
        ready={ports[p]: bits for p, bits in scene.ready.items() if p in ports},
    )  # fmt: skip
    made.completions = completions = Completions(
        made.ctxs, made.homes, made.rings, model or shape.cq, {p: b for p, b in scene.ready.items() if p not in ports}
    )
    outcome = run(seed, made.queues, setting, made.start, shape.sq, shape.qps, completions)
    outcome.ctx.extend(completions.renewed)
    planted = made.planted | dict.fromkeys(made.halting, "record")
    return Played(scene, outcome, completions, [c for _, c in made.ctxs], planted, shape)
