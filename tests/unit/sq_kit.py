# SPDX-License-Identifier: Apache-2.0
"""A rig for the send queues' model: stores at chosen cycles, a memory with chosen delays, sinks."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from typing import Any

from models import wqe
from models.kernel import Component, Kernel, Sink
from models.protocol import SqCtx
from models.sq import Sq

QPN, PAGE = 0x42, 3
BASE, DBR = 0x10000, 0x20018
BF = 0x800
LATENCY = 100
ALL = (1 << 64) - 1
ZERO = bytes(64)


def strobes(first: int, count: int) -> int:
    """Strobes of ``count`` bytes from byte ``first`` on."""
    return (1 << count) - 1 << first


class SlowMemory(Component):
    """Answers each read ``latency(n, addr)`` cycles after its AR (n: which read), one R a cycle, in any order.

    Data is what the lines hold at the cycle of R; ``bad`` addresses answer with an error.
    """

    def __init__(self, kernel: Kernel, sq: Sq, lines: dict[int, bytes], latency: Callable[[int, int], int]) -> None:
        super().__init__(kernel, "memory")
        self.sq, self.lines, self.latency = sq, lines, latency
        self.bad: set[int] = set()
        self.pokes: list[tuple[int, int, bytes]] = []
        self._due: list[tuple[int, int, int, int]] = []
        self._count = 0
        self.returned: list[tuple[int, int]] = []

    def read(self, now: int, ident: int, addr: int) -> None:
        heapq.heappush(self._due, (now + self.latency(self._count, addr), self._count, ident, addr))
        self._count += 1
        self.wake(max(now + 1, self._due[0][0]))

    def poke(self, cycle: int, addr: int, data: bytes) -> None:
        """``data`` at ``addr`` (inside a line) from ``cycle`` on."""
        self.pokes.append((cycle, addr, data))
        self.pokes.sort(key=lambda p: p[0])

    def tick(self, now: int) -> None:
        while self.pokes and self.pokes[0][0] <= now:
            _, addr, data = self.pokes.pop(0)
            at = addr & 63
            line = self.lines.get(addr - at, ZERO)
            self.lines[addr - at] = line[:at] + data + line[at + len(data) :]
        if self._due and self._due[0][0] <= now and (not self.returned or self.returned[-1][0] < now):
            _, _, ident, addr = heapq.heappop(self._due)
            self.sq.r(now, ident, self.lines.get(addr, ZERO), 2 if addr in self.bad else 0)
            self.returned.append((now, addr))
        if self._due:
            self.wake(max(now + 1, self._due[0][0]))


class Driver(Component):
    """Gives stores to the model: each AW and W not before its cycle, in order, when ready."""

    def __init__(self, kernel: Kernel, sq: Sq, aws: list[tuple[int, int, int]], ws: list[Any]) -> None:
        super().__init__(kernel, "driver")
        self.sq, self.aws, self.ws = sq, aws, ws
        self.taken_w: list[int] = []
        self.taken_aw: list[int] = []
        self._go()

    def _go(self) -> None:
        at = [q[0][0] for q in (self.aws, self.ws) if q]
        if at:
            self.wake(max(self.kernel.now + 1, min(at)) if self.kernel.now else min(at))

    def tick(self, now: int) -> None:
        if self.aws and self.aws[0][0] <= now and self.sq.aw_ready(now):
            _, ident, addr = self.aws.pop(0)
            self.sq.aw(now, ident, addr)
            self.taken_aw.append(now)
        if self.ws and self.ws[0][0] <= now and self.sq.w_ready(now):
            self.sq.w(now, *self.ws.pop(0)[1:])
            self.taken_w.append(now)
        self._go()


class Rig:
    """Model, memory and sinks. Everything is queued first; :meth:`run` runs and returns (cycle, SqWr, data) each."""

    def __init__(
        self, image: Mapping[int, bytes] | None = None, *, qps: int = 16, tags: int = 64,
        latency: int | Callable[[int, int], int] = LATENCY, ar: Callable[[int], bool] = lambda _: True,
        b: Callable[[int], bool] = lambda _: True, wr: Callable[[int], bool] = lambda _: True,
    ) -> None:  # fmt: skip
        self.kernel = Kernel()
        self.sq = Sq(self.kernel, "sq", qps=qps, pages=8, tags=tags)
        delay = (lambda _n, _a: latency) if isinstance(latency, int) else latency
        self.lines: dict[int, bytes] = {}
        for addr, data in (image or {}).items():
            self.put(addr, data)
        self.memory = SlowMemory(self.kernel, self.sq, self.lines, delay)
        self.sq.ar.on_pop = lambda now, read: self.memory.read(now, read.id, read.addr)
        self.ar = Sink(self.kernel, "ar", self.sq.ar, ar)
        self.b = Sink(self.kernel, "b", self.sq.b, b)
        self.wr = Sink(self.kernel, "wr", self.sq.wr, wr)
        self.aws: list[tuple[int, int, int]] = []
        self.ws: list[Any] = []
        self.driver: Driver | None = None

    def put(self, addr: int, data: bytes) -> None:
        at = addr & 63
        for line in range(addr - at, addr + len(data), 64):
            old = self.lines.get(line, ZERO)
            lo, hi = max(line, addr), min(line + 64, addr + len(data))
            self.lines[line] = old[: lo - line] + data[lo - addr : hi - addr] + old[hi - line :]

    def ctx(self, qpn: int = QPN, cycle: int = 0, **fields: int) -> SqCtx:
        known = {"enable": 1, "page": PAGE, "weight": 8, "sq_base": BASE, "sq_log": 4, "dbr_addr": DBR, "pi0": 0}
        ctx = SqCtx(qpn=qpn, **{**known, **fields})
        self.sq.ctx(cycle, qpn % 16, ctx)
        return ctx

    def beats(
        self, cycle: int, beats: list[tuple[bytes, int]], offset: int = BF, page: int = PAGE, ident: int = 3
    ) -> int:
        """A burst: beat *i* (data, strobes) at ``cycle`` + i; AW with the first. Returns the last beat's cycle."""
        self.aws.append((cycle, ident, page << 12 | offset))
        for i, (data, strb) in enumerate(beats):
            self.ws.append((cycle + i, data.ljust(64, b"\0"), strb, i == len(beats) - 1))
        return cycle + len(beats) - 1

    def store(self, cycle: int, data: bytes, offset: int = BF, page: int = PAGE, ident: int = 3) -> int:
        """All of ``data``, in whole lines but for the last."""
        parts = [data[i : i + 64] for i in range(0, len(data), 64)]
        return self.beats(cycle, [(p, strobes(0, len(p))) for p in parts], offset, page, ident)

    def piece(self, cycle: int, data: bytes, first: int, count: int, half: int = 0, page: int = PAGE) -> int:
        """``count`` bytes of a WQE ``data`` from byte ``first`` on, inside one line, to ``half``."""
        line = first // 64
        whole = data[64 * line : 64 * line + 64]
        return self.beats(cycle, [(whole, strobes(first % 64, count))], BF + 256 * half + 64 * line, page)

    def run(self, limit: int = 100_000):
        self.driver = Driver(self.kernel, self.sq, self.aws, self.ws)
        self.kernel.run(limit)
        return [(cycle, beat.side, beat.data) for cycle, beat in self.wr.taken]

    def counts(self) -> dict[str, int]:
        """Counters that are not 0 at the end."""
        final = dict(zip(Sq.COUNTERS, self.sq.changes[-1][1], strict=True))
        return {name: value for name, value in final.items() if value}

    def reads(self) -> list[tuple[int, int]]:
        return [(cycle, read.addr) for cycle, read in self.ar.taken]


def record(send: int) -> dict[int, bytes]:
    """The doorbell record at DBR."""
    return {DBR: wqe.record(send)}
