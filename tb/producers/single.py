# SPDX-License-Identifier: Apache-2.0
"""One request over an idle host: posted by a GPU thread itself, and by a CPU proxy that it asks. Costs are the figures.

:func:`by_gpu` and :func:`by_proxy` run it on a model; :func:`gpu_sum` and :func:`proxy_sum` add the figures up. What is
not fixed: when the proxy's poll looks at the mailbox, and when in its flush the write-combining buffer leaves. The
way of a store to the device and to host memory is that of ``host.<host>`` in spec/fabric.toml.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from models.kernel import Kernel
from models.memory import MemoryTiming, WindowTiming
from models.protocol import WQE
from models.spec import spec
from tb.producers import cpu, gpu
from tb.producers.loop import Device, Outcome, Setting, run
from tb.producers.machine import Core, Gpu, Machine
from tb.producers.queue import Queue
from tb.producers.requests import Request
from tb.producers.scenes import MAILBOXES, WINDOWS

REQUEST = Request(WQE.WRITE, 0x1234, 0x77, inline=b"eight by")
LONG = 20.0  # times the figure: nothing leaves a CPU's buffers by itself
SOON = 1e-9  # nothing stays in a GPU's


@dataclass(frozen=True)
class Host:
    """``name``: pcie or d2d."""

    name: str

    def cycles(self, what: str) -> int:
        """A figure of the host."""
        return spec().cycles(f"host.{self.name}.{what}")

    def timing(self) -> MemoryTiming:
        """Delays of the device's reads."""
        host = WindowTiming(rd_latency=self.cycles("read_rtt"))
        return MemoryTiming(host, WindowTiming(rd_latency=self.cycles("gpu_read_rtt")))

    @property
    def fence(self) -> str:
        """Name of the figure of a GPU's fence for the whole system."""
        return "system_fence" if self.name == "pcie" else f"system_fence_{self.name}"

    @property
    def reach(self) -> int:
        """A GPU's store to host memory: one way, and until it is visible."""
        return self.cycles("oneway") + self.cycles("visible")


def _run(
    host: Host, place: int, start: Callable[[Machine, int, Random, Queue], None], device: Callable[[Kernel], Device],
    entries: int, pages: int,
) -> Outcome:  # fmt: skip
    queue = Queue(entries // 2, pages // 2, place + 0x10000, 6, place + 0x1000, place + 0x8000)
    setting = Setting(timing=host.timing(), windows=WINDOWS, path=host.cycles("oneway"), complete=1)
    return run(1, [queue], setting, lambda machine, first, rng: start(machine, first, rng, queue), device, entries)


def by_gpu(
    host: Host, device: Callable[[Kernel], Device], style: gpu.Style, entries: int = 256, pages: int = 64
) -> tuple[int, Outcome]:
    """(cycle at which the thread begins, outcome); the queue is in GPU memory."""
    began: list[int] = []

    def start(machine: Machine, first: int, _: Random, queue: Queue) -> None:
        began.append(first)
        job = gpu.Job(queue, [[REQUEST]], style)
        Gpu(machine, spread=False, stay=SOON, reach=host.reach, fence=host.fence).start(
            first, "thread", gpu.thread(job)
        )

    outcome = _run(host, WINDOWS.gpu_base, start, device, entries, pages)
    return began[0], outcome


def by_proxy(
    host: Host, device: Callable[[Kernel], Device], entries: int = 256, pages: int = 64, warm: int = 0
) -> tuple[int, Outcome]:
    """(cycle at which the thread begins, outcome); the queue is in host memory, the core posts by BlueFlame and has
    polled for ``warm`` cycles before."""
    began: list[int] = []

    def start(machine: Machine, first: int, rng: Random, queue: Queue) -> None:
        began.append(first + warm)
        box = cpu.Mailbox(MAILBOXES, MAILBOXES + 64)
        asking = cpu.asking_thread(box, [REQUEST.raddr], frozenset(), lambda *_: None)
        Gpu(machine, spread=False, stay=SOON, reach=host.reach, fence=host.fence).start(first + warm, "asker", asking)
        job = cpu.CpuJob(queue, [], blueflame=1.0)
        core = Core(machine, spread=False, stay=LONG, split=0.0)
        core.start(first, "proxy", cpu.proxy(job, [box], 1, rng, lambda *_: REQUEST))

    outcome = _run(host, 0, start, device, entries, pages)
    return began[0], outcome


def _gpu(what: str) -> int:
    return spec().cycles(f"producers.gpu.{what}")


def _cpu(what: str) -> int:
    return spec().cycles(f"producers.cpu.{what}")


LEAVE = 2  # cycles of a store through both empty buffers of a GPU


def gpu_sum(host: Host, style: gpu.Style, device: int) -> int:
    """Begin to decoded work request; ``device``: from the doorbell's store to that, memory included."""
    wqe = 16 * REQUEST.ds // style.piece * _gpu("store")
    reserve_and_write = _gpu("think") + _gpu("atomic") + wqe + _gpu("device_fence")
    publish = (1 if style.every else 2) * _gpu("atomic")  # compare-and-swap; NVSHMEM's look at the reserve head
    ring = 2 * _gpu("atomic") + 2 * _gpu(host.fence) + _gpu("store")  # lock, maximum, barriers, record
    return reserve_and_write + publish + ring + LEAVE + host.cycles("oneway") + device


def proxy_sum(host: Host, device: int) -> tuple[int, int]:
    """Begin to decoded work request, least and most; ``device``: from the BlueFlame store to that."""
    ask = _gpu("think") + _gpu("store") + _gpu(host.fence) + LEAVE + host.reach
    notice = 2 * _cpu("load")  # mailbox: number, request
    room = 2 * _cpu("atomic") + _cpu("load") + _cpu("atomic")  # lock, head; completion entry; head
    write = REQUEST.blocks * 8 * _cpu("store") + _cpu("fence") + _cpu("store") + _cpu("fence")
    store = REQUEST.blocks * 8 * _cpu("store")
    least = ask + notice + room + write + store + host.cycles("oneway") + device
    return least, least + _cpu("load") + _cpu("atomic") + _cpu("poll") + _cpu("flush")
