# SPDX-License-Identifier: Apache-2.0
"""Threads of a GPU and cores of a CPU on one weak memory (tb/producers/memory.py): a component of the models' kernel.

Every step (tb/producers/steps.py) acts in the cycle in which it is yielded; its value is sent back when its cost has
passed. What reaches the memory of the device or a UAR is told to ``on_write`` of ``system`` and to ``on_uar``. After
``deadline`` no thread goes on; what is in the buffers still leaves.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from random import Random
from typing import Any

from models.kernel import Component, Kernel
from tb.producers.costs import Costs
from tb.producers.memory import Buffer, Combining, System
from tb.producers.steps import Atomic, Fence, Flush, Load, Name, Program, Spend, Store

GPU_BASE = 1 << 32  # host memory is below (models.memory.Windows)
UAR_BASE = 1 << 48  # the bench's address of the device's first UAR page
LINES = 4  # write-combining buffers of a core


class Thread:
    """A running program."""

    def __init__(self, name: str, program: Program, buffer: Buffer, agent: Gpu | Core) -> None:
        self.name, self.program, self.buffer, self.agent = name, program, buffer, agent
        self.done: int | None = None  # cycle at which it ended


class Gpu:
    """All threads of one GPU: a private buffer for each, and one for all of them on the way out. ``haste``, ``spread``,
    ``stalls``: of :class:`Costs`; ``stay`` multiplies the time in buffers; ``reach``: cycles from leaving to being
    visible in host memory, part of a system fence; the GPU's own threads do not see the store meanwhile;
    ``fence``: the figure that such a fence costs."""

    def __init__(
        self, machine: Machine, haste: float = 1.0, spread: bool = True, stay: float = 1.0, stalls: int | None = None,
        reach: int = 0, fence: str = "system_fence",
    ) -> None:  # fmt: skip
        self.machine = machine
        self._reach = reach
        self._fence = fence
        self.costs = Costs("gpu", machine.rng, haste, spread, stalls)
        self._drain = max(1, round(stay * self.costs.mean("drain")))
        self.out = Buffer(machine.rng, machine.at, max(1, round(stay * self.costs.mean("outbound"))), self._leave)

    def start(self, now: int, name: str, program: Program) -> Thread:
        """A thread begins at ``now``."""
        machine = self.machine
        buffer = Buffer(machine.rng, machine.at, self._drain, self.out.put)
        return machine.start(now, Thread(name, program, buffer, self))

    def fence(self, now: int, thread: Thread, system: bool) -> int:
        """Cost of the fence."""
        cost = self.costs.draw(self._fence if system else "device_fence")
        thread.buffer.hurry(now, now + (max(1, cost - self._reach) if system else cost), onward=system)
        if system:
            self.out.hurry(now, now + max(1, cost - self._reach))
        return cost

    def store(self, now: int, thread: Thread, step: Store) -> int:
        """Cost of the store."""
        thread.buffer.put(now, step.addr, step.data)
        return self.costs.draw("store")

    def load(self, thread: Thread, step: Load) -> tuple[bytearray, int]:
        """Bytes and cost."""
        data = self.machine.system.read(step.addr, step.size)
        self.out.overlay(step.addr, data)
        thread.buffer.overlay(step.addr, data)
        return data, self.costs.draw("load")

    def flush(self, now: int) -> int:
        """A GPU has no write-combining buffers."""
        return 1

    def _leave(self, now: int, addr: int, data: bytes, by: int | None) -> None:
        if self._reach and addr < GPU_BASE:
            self.machine.at(now + self._reach, self._reached, (addr, data))
        else:
            self.machine.arrive(now, addr, data, "gpu")

    def _reached(self, now: int, store: tuple[int, bytes]) -> None:
        self.machine.arrive(now, *store, "gpu")


class Core:
    """One core of a CPU: a store buffer, and write-combining buffers for the UAR."""

    def __init__(
        self, machine: Machine, haste: float = 1.0, spread: bool = True, stay: float = 1.0, stalls: int | None = None,
        split: float = 0.5,
    ) -> None:  # fmt: skip
        self.machine = machine
        self.costs = Costs("cpu", machine.rng, haste, spread, stalls)
        self._drain = max(1, round(stay * self.costs.mean("drain")))
        longest = max(1, round(stay * self.costs.mean("combine")))
        self.combining = Combining(machine.rng, machine.at, longest, LINES, split, machine.arrive_line)

    def start(self, now: int, name: str, program: Program) -> Thread:
        """The core's program begins at ``now``."""
        machine = self.machine
        buffer = Buffer(machine.rng, machine.at, self._drain, self._leave)
        return machine.start(now, Thread(name, program, buffer, self))

    def fence(self, now: int, thread: Thread, system: bool) -> int:
        """Cost of the fence; write-combining buffers are not its matter."""
        cost = self.costs.draw("fence")
        thread.buffer.hurry(now, now + cost)
        return cost

    def store(self, now: int, thread: Thread, step: Store) -> int:
        """Cost of the store."""
        if step.addr >= UAR_BASE:
            self.combining.put(now, step.addr, step.data)
        else:
            thread.buffer.put(now, step.addr, step.data)
        return self.costs.draw("store")

    def load(self, thread: Thread, step: Load) -> tuple[bytearray, int]:
        """Bytes and cost."""
        data = self.machine.system.read(step.addr, step.size)
        thread.buffer.overlay(step.addr, data)
        return data, self.costs.draw("load")

    def flush(self, now: int) -> int:
        """Cost of emptying the write-combining buffers."""
        cost = self.costs.draw("flush")
        self.combining.flush(now, now + cost)
        return cost

    def _leave(self, now: int, addr: int, data: bytes, by: int | None) -> None:
        self.machine.arrive(now, addr, data, "cpu")


class Machine(Component):
    """Runs the threads. ``variables``: what atomics act on. ``on_uar`` (cycle, offset from ``UAR_BASE``, 64 bytes of
    the line, strobes, "gpu" or "cpu") is told of each store that leaves for the device."""

    def __init__(self, kernel: Kernel, seed: int, deadline: int = 1 << 60) -> None:
        super().__init__(kernel, "machine")
        self.rng = Random(seed)
        self.deadline = deadline
        self.system = System()
        self.variables: dict[Name, int] = {}
        self.threads: list[Thread] = []
        self.on_uar: Callable[[int, int, bytes, int, str], None] = lambda *_: None
        self._events: list[tuple[int, int, Callable[[int, Any], None], Any]] = []
        self._count = 0
        self._woken = -1

    def at(self, cycle: int, what: Callable[[int, Any], None], arg: Any) -> None:
        """``what(cycle, arg)`` at ``cycle``; now, when that is the present one."""
        self._count += 1
        heapq.heappush(self._events, (cycle, self._count, what, arg))
        if self._woken < 0 or cycle < self._woken:
            self._woken = cycle
            self.wake(cycle)

    def start(self, now: int, thread: Thread) -> Thread:
        """The first step of ``thread`` is at ``now``."""
        self.threads.append(thread)
        self.at(now, self._resume, (thread, None))
        return thread

    def arrive(self, now: int, addr: int, data: bytes, source: str) -> None:
        """A store is with everybody: in memory, or on its way to the device."""
        if addr < UAR_BASE:
            self.system.write(now, addr, data)
            return
        at = addr % 64
        line = (bytes(at) + data).ljust(64, b"\0")
        self.on_uar(now, addr - at - UAR_BASE, line, ((1 << len(data)) - 1) << at, source)

    def arrive_line(self, now: int, addr: int, data: bytes, strobes: int) -> None:
        """A write-combining buffer, or a piece of it, leaves for the device."""
        self.on_uar(now, addr - UAR_BASE, data, strobes, "cpu")

    def tick(self, now: int) -> None:
        self._woken = now
        while self._events and self._events[0][0] <= now:
            _, _, what, arg = heapq.heappop(self._events)
            what(now, arg)
        self._woken = -1
        if self._events:
            self._woken = self._events[0][0]
            self.wake(self._woken)

    def _resume(self, now: int, what: tuple[Thread, int | None]) -> None:
        thread, value = what
        if now > self.deadline:
            return
        try:
            step = next(thread.program) if value is None else thread.program.send(value)
        except StopIteration:
            thread.done = now
            return
        value, cost = 0, 0
        agent = thread.agent
        if isinstance(step, Store):
            cost = agent.store(now, thread, step)
        elif isinstance(step, Load):
            data, cost = agent.load(thread, step)
            value = int.from_bytes(data, "big")
        elif isinstance(step, Atomic):
            value, cost = self._atomic(step), agent.costs.draw("atomic")
        elif isinstance(step, Fence):
            cost = agent.fence(now, thread, step.system)
        elif isinstance(step, Flush):
            cost = agent.flush(now)
        elif isinstance(step, Spend):
            value, cost = now, agent.costs.draw(step.figure)
        self.at(now + cost, self._resume, (thread, value))

    def _atomic(self, step: Atomic) -> int:
        old = self.variables.get(step.name, 0)
        new = {
            "add": old + step.value,
            "max": max(old, step.value),
            "cas": step.value if old == step.expect else old,
            "set": step.value,
            "get": old,
        }[step.kind]
        self.variables[step.name] = new
        return old
