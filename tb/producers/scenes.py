# SPDX-License-Identifier: Apache-2.0
"""Scenes: queues with their memory, and threads on them. Everything is drawn from a seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from models.kernel import Kernel
from models.memory import MemoryTiming, Windows, WindowTiming
from tb.producers import cpu, gpu
from tb.producers.loop import Device, Outcome, Setting, run
from tb.producers.machine import Core, Gpu, Machine
from tb.producers.queue import Queue
from tb.producers.requests import Request, cpu_request

WINDOWS = Windows(host_bytes=1 << 20, gpu_bytes=1 << 20)
MAILBOXES = 0xC0000  # in the host window


@dataclass(frozen=True)
class Scene:
    """Threads and queues.

    - GPU: ``blocks`` blocks of ``threads`` threads, ``messages`` posts each in the order of ``style``, block k on queue
      k modulo ``gpu_queues``; a doorbell at each border of ``batch`` blocks; ``host``: these queues are in host memory.
    - CPU: ``cores`` cores, ``doorbells`` posts each of ``lists`` requests of ``cpu_blocks`` blocks (0: any), on
      ``cpu_queues`` further queues; ``blueflame``: share of stores that carry the WQE, ``split``: of lines in pieces.
    - Proxy: ``askers`` GPU threads with ``asks`` requests each, served by one core with one more queue.
    - ``again``: times that a further thread or core rings the doorbell of each queue that is not the proxy's.
    - ``log``: rings of 2^log blocks. ``haste`` divides every cost, ``stay`` multiplies the time in buffers, one step in
      ``stalls`` is late. ``read``: memory read latency and jitter; ``path``, ``complete``, ``limit``, ``ready``: of
      :class:`Setting`. ``missing``: steps left out (gpu.GPU_STEPS, cpu.CPU_STEPS).
    """

    blocks: int = 2
    threads: int = 8
    messages: int = 3
    style: gpu.Style = gpu.NVSHMEM
    gpu_queues: int = 1
    cores: int = 0
    doorbells: int = 6
    cpu_queues: int = 1
    cpu_blocks: tuple[int, ...] = (0, 1, 2, 3, 4)
    lists: tuple[int, ...] = (1, 1, 1, 2, 3)
    askers: int = 0
    asks: int = 4
    again: int = 0
    log: int = 4
    batch: int = 4
    host: bool = False
    haste: float = 8.0
    stay: float = 1.0
    stalls: int | None = None
    read: tuple[int, int] = (30, 30)
    path: int = 10
    complete: int = 100
    limit: int = 60_000
    blueflame: float = 0.7
    split: float = 0.5
    missing: frozenset[str] = frozenset()
    ready: dict[str, tuple[bool, ...]] = field(default_factory=dict)


def make_queues(scene: Scene, rng: Random, entries: int, pages: int) -> list[Queue]:
    """The queues, GPU's first, each with an entry of its own; first indexes near the 16-bit wrap or at 0."""
    total = scene.gpu_queues + (scene.cpu_queues if scene.cores else 0) + bool(scene.askers)
    numbers = rng.sample(range(entries), total)
    used_pages = rng.sample(range(pages), min(total, pages))
    queues = []
    for i, number in enumerate(numbers):
        window = WINDOWS.host_base if scene.host or i >= scene.gpu_queues else WINDOWS.gpu_base
        size = 64 << scene.log
        first = rng.choice((0, (1 << 16) - rng.randrange(1, 2 << scene.log)))
        first += (rng.randrange(3) << 16) * (first > 0)
        queues.append(
            Queue(
                qpn=rng.randrange(1 << 24 - entries.bit_length() + 1) * entries + number,
                page=used_pages[i % len(used_pages)],
                base=window + 0x10000 + i * max(size, 0x1000),
                log=scene.log,
                record=window + 0x1000 + 64 * i + 8 * rng.randrange(8),
                cqe=window + 0x8000 + 64 * i,
                first=first,
                weight=rng.choice((0, 1, 4, 16)),
                batch=scene.batch,
            )
        )
    return queues


def play(
    scene: Scene, seed: int, device: Callable[[Kernel], Device], *, entries: int = 256, pages: int = 64,
    stop_at_fault: bool = True,
) -> Outcome:  # fmt: skip
    """Run ``scene`` once on ``device``."""
    rng = Random(seed)
    queues = make_queues(scene, rng, entries, pages)
    window = WindowTiming(rd_latency=scene.read[0], rd_jitter=scene.read[1])
    setting = Setting(
        timing=MemoryTiming(window, window, seed=rng.randrange(1, 1 << 32)), windows=WINDOWS, path=scene.path,
        complete=scene.complete, limit=scene.limit, stop_at_fault=stop_at_fault, ready=dict(scene.ready),
    )  # fmt: skip

    def start(machine: Machine, first: int, draw: Random) -> None:
        _start_gpu(scene, queues, machine, first, draw)
        _start_cores(scene, queues, machine, first, draw)
        _start_proxy(scene, queues, machine, first, draw)

    return run(seed, queues, setting, start, device, entries)


def _start_gpu(scene: Scene, queues: list[Queue], machine: Machine, first: int, rng: Random) -> None:
    whole = Gpu(machine, scene.haste, stay=scene.stay, stalls=scene.stalls)
    for block in range(scene.blocks):
        begin = first + rng.randrange(1 + 40 * scene.blocks)
        for lane in range(scene.threads):
            queue = queues[block % scene.gpu_queues]
            job = gpu.random_job(rng, queue, scene.messages, scene.style, scene.missing)
            whole.start(begin + lane // 32, f"block {block} thread {lane}", gpu.thread(job))
    for queue in queues[: scene.gpu_queues if scene.again and scene.blocks else 0]:
        whole.start(first, "bell", gpu.again(queue, scene.again))


def _start_cores(scene: Scene, queues: list[Queue], machine: Machine, first: int, rng: Random) -> None:
    for number in range(scene.cores):
        queue = queues[scene.gpu_queues + number % scene.cpu_queues]
        job = cpu.random_cpu_job(
            rng, queue, scene.doorbells, scene.missing, scene.blueflame, scene.cpu_blocks, scene.lists
        )
        core = Core(machine, scene.haste, stay=scene.stay, stalls=scene.stalls, split=scene.split)
        core.start(first + rng.randrange(40), f"core {number}", cpu.core(job, Random(rng.random())))
    for queue in queues[scene.gpu_queues : scene.gpu_queues + scene.cpu_queues if scene.again and scene.cores else 0]:
        core = Core(machine, scene.haste, stay=scene.stay, stalls=scene.stalls, split=scene.split)
        core.start(first, "bell", cpu.again(queue, scene.again, rng.randrange(cpu.REGISTERS)))


def _start_proxy(scene: Scene, queues: list[Queue], machine: Machine, first: int, rng: Random) -> None:
    if not scene.askers:
        return
    queue = queues[-1]
    job = cpu.CpuJob(queue, [], scene.blueflame, missing=scene.missing)
    boxes = [cpu.Mailbox(MAILBOXES + 128 * i, MAILBOXES + 128 * i + 64) for i in range(scene.askers)]
    asked = {box.base: [rng.randrange(1 << 64) for _ in range(scene.asks)] for box in boxes}
    whole = Gpu(machine, scene.haste, stay=scene.stay, stalls=scene.stalls)
    for number, box in enumerate(boxes):
        program = cpu.asking_thread(box, asked[box.base], scene.missing, lambda *_: None)
        whole.start(first + rng.randrange(40), f"asker {number}", program)
    draw = Random(rng.random())

    def wanted(box: cpu.Mailbox, number: int, raddr: int) -> Request:
        request = cpu_request(draw, blocks=1, raddr=raddr)
        meant = Request(**{**vars(request), "raddr": asked[box.base][number - 1]})
        return Request(**{**vars(request), "meant": meant})

    core = Core(machine, scene.haste, stay=scene.stay, stalls=scene.stalls, split=scene.split)
    core.start(first, "proxy", cpu.proxy(job, boxes, scene.askers * scene.asks, Random(rng.random()), wanted))
