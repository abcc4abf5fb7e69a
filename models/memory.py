# SPDX-License-Identifier: Apache-2.0
"""Golden model of the memory behind a NIC's AXI4 port: host and GPU window, delays, in order or (reads) not.

Rules (those of the bench's memory, tb/hdl/axi_mem.sv):

- The W beats of a burst are paired with its AW one a cycle: a(i) = max(cycle of W, cycle of AW,
  a(i-1) + 1). A beat is visible from v = max(a + wr_visible, previous v + 1) on.
- B is offered at max(a of the last beat + wr_resp + jitter, previous B's transfer + 1).
- R beat i of a burst is offered at max(cycle of AR + rd_latency + jitter + i, previous R's transfer + 1) and
  shows what became visible before that cycle.
- ``any_order``: bursts of one beat only; each read has a due cycle of its own, cycle of AR + rd_latency + jitter, and
  whenever R is free the one with the smallest (due cycle, order of AR) is offered, in its due cycle at the soonest.
- An address in no window uses the host's delays, reads zeros, writes nothing, answers DECERR.
- ``pokes`` (another agent's writes) become visible at their cycle, before the port's own of that cycle.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from models.kernel import Component, Fifo, Kernel

LINE = 64
OKAY, DECERR = 0, 3
FULL = (1 << LINE) - 1
T = TypeVar("T")


@dataclass(frozen=True)
class WindowTiming:
    """Delays of one window, cycles, each 1 or more; jitters are the largest addition, 0 or more."""

    wr_visible: int = 1
    wr_resp: int = 1
    rd_latency: int = 1
    rd_jitter: int = 0
    wr_jitter: int = 0

    def __post_init__(self) -> None:
        for name in ("wr_visible", "wr_resp", "rd_latency"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; allowed: 1 or more cycles")


@dataclass(frozen=True)
class MemoryTiming:
    """Delays of both windows and the seed of the jitter (not 0)."""

    host: WindowTiming = field(default_factory=WindowTiming)
    gpu: WindowTiming = field(default_factory=WindowTiming)
    seed: int = 1


@dataclass(frozen=True)
class Windows:
    """Where the two memories are: byte address of the first byte, size in bytes (a multiple of 64)."""

    host_base: int = 0
    host_bytes: int = 16 << 20
    gpu_base: int = 1 << 32
    gpu_bytes: int = 16 << 20


class Poke(NamedTuple):
    """A line that another agent writes at ``cycle``: bytes of ``data`` (64) where ``strb`` has a bit."""

    cycle: int
    addr: int
    strb: int
    data: bytes


class ReadBeat(NamedTuple):
    """One R transfer."""

    id: int
    last: bool
    resp: int
    data: bytes


class Response(NamedTuple):
    """One B transfer."""

    id: int
    resp: int


class _Output(Fifo[T], Generic[T]):
    """The register of a response channel: holds one item; a pop lets the next one in."""

    def __init__(self, name: str) -> None:
        super().__init__(latency=1, depth=2, name=name)
        self.popped: Callable[[int, T], None] | None = None

    def pop(self, now: int) -> T:
        item = super().pop(now)
        if self.popped is not None:
            self.popped(now, item)
        return item


def _xorshift(s: int) -> int:
    s ^= s << 13 & 0xFFFFFFFF
    s ^= s >> 17
    return s ^ (s << 5 & 0xFFFFFFFF)


class Memory(Component):
    """Give it ``aw``, ``w``, ``ar`` at the cycles of those transfers; pull ``b`` and ``r`` as FIFOs.

    ``image``: ``{byte address: bytes}``. Logs, in order: ``aw_log`` and ``ar_log`` (cycle, id, addr,
    beats), ``w_log`` (cycle, visible, addr, strb, data), ``b_log`` (cycle, Response), ``r_log`` (cycle, ReadBeat).
    """

    def __init__(
        self, kernel: Kernel, name: str, timing: MemoryTiming, windows: Windows | None = None,
        image: Mapping[int, bytes] | None = None, pokes: Iterable[Poke] = (), any_order: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(kernel, name)
        self.timing = timing
        self.any_order = any_order
        self.windows = windows or Windows()
        self._lines: dict[int, bytes] = {}
        for addr, data in (image or {}).items():
            self._load(addr, data)
        self._pokes = deque(sorted(pokes, key=lambda p: p.cycle))
        self._commits: deque[tuple[int, int, int, bytes]] = deque()
        self._next_visible = 0
        self._aw: deque[tuple[int, int, int, int]] = deque()
        self._w: deque[tuple[int, bytes, int, bool]] = deque()
        self._beat = 0
        self._bad = False
        self._paired = -1
        self._rng_b = timing.seed
        self._rng_r = timing.seed ^ 0x9E3779B9
        self._b_queue: deque[tuple[int, Response]] = deque()
        self._r_queue: deque[tuple[int, int, int, bool]] = deque()  # own cycle, id, addr, last
        self._due: list[tuple[int, int, int, int]] = []  # heap: due cycle, order of AR, id, addr
        self.b: _Output[Response] = _Output(f"{name}.b")
        self.r: _Output[ReadBeat] = _Output(f"{name}.r")
        self.b.popped, self.r.popped = self._b_popped, self._r_popped
        self.aw_log: list[tuple[int, int, int, int]] = []
        self.ar_log: list[tuple[int, int, int, int]] = []
        self.w_log: list[tuple[int, int, int, int, bytes]] = []
        self.b_log: list[tuple[int, Response]] = []
        self.r_log: list[tuple[int, ReadBeat]] = []

    def aw(self, now: int, ident: int, addr: int, beats: int) -> None:
        """AW transfer at ``now``."""
        self.aw_log.append((now, ident, addr, beats))
        self._aw.append((now, ident, addr & ~(LINE - 1), beats))
        self._pair(now)

    def w(self, now: int, data: bytes, strb: int = FULL, last: bool = True) -> None:
        """W transfer at ``now``: 64 bytes."""
        self._w.append((now, data, strb, last))
        self._pair(now)

    def ar(self, now: int, ident: int, addr: int, beats: int) -> None:
        """AR transfer at ``now``."""
        self.ar_log.append((now, ident, addr, beats))
        delays = self._delays(addr)
        self._rng_r = _xorshift(self._rng_r)
        own = now + delays.rd_latency + self._rng_r % (delays.rd_jitter + 1)
        base = addr & ~(LINE - 1)
        if self.any_order:
            if beats != 1:
                raise ValueError(f"{self.name}: a read of {beats} beats at cycle {now}; allowed with any_order: 1")
            heapq.heappush(self._due, (own, len(self.ar_log), ident, base))
        for i in range(0 if self.any_order else beats):
            self._r_queue.append((own + i, ident, base + i * LINE, i == beats - 1))
        self._offer_r(now)

    def poke(self, poke: Poke) -> None:
        """Another agent will write: at a later cycle than the present one."""
        at = next((i for i, p in enumerate(self._pokes) if p.cycle > poke.cycle), len(self._pokes))
        self._pokes.insert(at, poke)

    def peek(self, now: int, addr: int) -> bytes:
        """The line of ``addr`` as it is in cycle ``now``, not before one that was looked at."""
        self._settle(now)
        return self._lines.get(addr & ~(LINE - 1), bytes(LINE))

    def read(self, addr: int, size: int) -> bytes:
        """Bytes as they are after every write so far has become visible."""
        self._settle(1 << 62)
        first = addr & ~(LINE - 1)
        blob = b"".join(self._lines.get(a, bytes(LINE)) for a in range(first, addr + size, LINE))
        return blob[addr - first : addr - first + size]

    def tick(self, now: int) -> None:
        """A response may be due."""
        self._offer_b(now)
        self._offer_r(now)

    def _in_gpu(self, addr: int) -> bool:
        return 0 <= addr - self.windows.gpu_base < self.windows.gpu_bytes

    def _mapped(self, addr: int) -> bool:
        return 0 <= addr - self.windows.host_base < self.windows.host_bytes or self._in_gpu(addr)

    def _delays(self, addr: int) -> WindowTiming:
        return self.timing.gpu if self._in_gpu(addr) else self.timing.host

    def _load(self, addr: int, data: bytes) -> None:
        for at in range(addr & ~(LINE - 1), addr + len(data), LINE):
            line = bytearray(self._lines.get(at, bytes(LINE)))
            lo, hi = max(at, addr), min(at + LINE, addr + len(data))
            line[lo - at : hi - at] = data[lo - addr : hi - addr]
            self._lines[at] = bytes(line)

    def _store(self, addr: int, strb: int, data: bytes) -> None:
        if not self._mapped(addr):
            return
        if strb == FULL:
            self._lines[addr] = data
            return
        line = bytearray(self._lines.get(addr, bytes(LINE)))
        for i in range(LINE):
            if strb >> i & 1:
                line[i] = data[i]
        self._lines[addr] = bytes(line)

    def _settle(self, now: int) -> None:
        """Everything visible at ``now``: by cycle, pokes first."""
        while True:
            poke = self._pokes[0].cycle if self._pokes else now + 1
            commit = self._commits[0][0] if self._commits else now + 1
            if min(poke, commit) > now:
                return
            if poke <= commit:
                p = self._pokes.popleft()
                self._store(p.addr & ~(LINE - 1), p.strb, p.data)
            else:
                _, addr, strb, data = self._commits.popleft()
                self._store(addr, strb, data)

    def _pair(self, now: int) -> None:
        while self._aw and self._w:
            aw_cycle, ident, base, beats = self._aw[0]
            w_cycle, data, strb, last = self._w.popleft()
            self._paired = at = max(w_cycle, aw_cycle, self._paired + 1)
            addr = base + self._beat * LINE
            delays = self._delays(addr)
            visible = max(at + delays.wr_visible, self._next_visible)
            self._next_visible = visible + 1
            self._bad |= not self._mapped(addr)
            self._commits.append((visible, addr, strb, data))
            self.w_log.append((w_cycle, visible, addr, strb, data))
            if last != (self._beat == beats - 1):
                raise ValueError(f"{self.name}: WLAST disagrees with the burst's {beats} beats at cycle {w_cycle}")
            self._beat += 1
            if last:
                self._rng_b = _xorshift(self._rng_b)
                own = at + delays.wr_resp + self._rng_b % (delays.wr_jitter + 1)
                self._b_queue.append((own, Response(ident, DECERR if self._bad else OKAY)))
                self._aw.popleft()
                self._beat, self._bad = 0, False
                self._offer_b(now)

    def _offer_b(self, now: int) -> None:
        if self._b_queue and not len(self.b):
            if self._b_queue[0][0] <= now + 1:
                self.b.push(now, self._b_queue.popleft()[1])
            else:
                self.wake(self._b_queue[0][0] - 1)

    def _offer_r(self, now: int) -> None:
        queue = self._due if self.any_order else self._r_queue
        if not queue or len(self.r):
            return
        if queue[0][0] > now + 1:
            self.wake(queue[0][0] - 1)
            return
        if self.any_order:
            _, _, ident, addr = heapq.heappop(self._due)
            last = True
        else:
            _, ident, addr, last = self._r_queue.popleft()
        self._settle(now)
        if self._mapped(addr):
            beat = ReadBeat(ident, last, OKAY, self._lines.get(addr, bytes(LINE)))
        else:
            beat = ReadBeat(ident, last, DECERR, bytes(LINE))
        self.r.push(now, beat)

    def _b_popped(self, now: int, item: Response) -> None:
        self.b_log.append((now, item))
        self._offer_b(now)

    def _r_popped(self, now: int, item: ReadBeat) -> None:
        self.r_log.append((now, item))
        self._offer_r(now)
