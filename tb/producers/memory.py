# SPDX-License-Identifier: Apache-2.0
"""Weak memory: stores wait in buffers and leave them in any order.

Rules:

- A store goes into its thread's :class:`Buffer` and leaves it after a random time, whatever was stored before or after
  it: at most ``longest`` cycles, most of them within an eighth of that. Only stores that overlap keep their order.
- A GPU thread's store goes from there into the GPU's buffer, which all its threads see and nobody else does, and
  leaves it likewise. A CPU core has no such second buffer.
- A fence brings the leaving forward: all that is inside leaves within its time, still in any order.
- Stores that a core makes to a UAR go into :class:`Combining` buffers: 64-byte lines that are filled, and are emptied
  at any time, whole or in pieces of any order.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from models.spec import spec

LINE = 64
LINGER = spec().integer("producers.linger")
At = Callable[[int, Callable[[int, Any], None], Any], None]
Deliver = Callable[[int, int, bytes, int | None], None]


def _stay(rng: Random, longest: int) -> int:
    """Longest stay of one store."""
    return longest if 100 * rng.random() < LINGER else max(1, longest // 8)


def line_of(addr: int) -> int:
    """Address of the 64-byte line."""
    return addr & ~(LINE - 1)


class System:
    """Memory as everybody sees it. ``on_write`` (cycle, address, data) is told of each write."""

    def __init__(self) -> None:
        self._lines: dict[int, bytearray] = {}
        self.on_write: Callable[[int, int, bytes], None] = lambda *_: None

    def write(self, now: int, addr: int, data: bytes) -> None:
        """``data`` within one line, visible from ``now`` on."""
        self.see(addr, data)
        self.on_write(now, addr, data)

    def see(self, addr: int, data: bytes) -> None:
        """What the device itself wrote is visible from now on; nobody is told."""
        line = self._lines.setdefault(line_of(addr), bytearray(LINE))
        line[addr % LINE : addr % LINE + len(data)] = data

    def read(self, addr: int, size: int) -> bytearray:
        """Bytes within one line."""
        line = self._lines.get(line_of(addr))
        return bytearray(size) if line is None else line[addr % LINE : addr % LINE + size]


class _Entry:
    __slots__ = ("addr", "by", "data", "gone")

    def __init__(self, addr: int, data: bytes, by: int | None) -> None:
        self.addr, self.data, self.by = addr, data, by
        self.gone = False

    def overlaps(self, addr: int, size: int) -> bool:
        return self.addr < addr + size and addr < self.addr + len(self.data)


class Buffer:
    """Stores on their way. ``deliver`` (cycle, address, data, by) gets each as it leaves; ``by``: the cycle by which a
    fence wants it with everybody, None without one."""

    def __init__(self, rng: Random, at: At, longest: int, deliver: Deliver) -> None:
        self._rng, self._at, self._longest, self._deliver = rng, at, longest, deliver
        self._lines: dict[int, list[_Entry]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def put(self, now: int, addr: int, data: bytes, by: int | None = None) -> None:
        """A store enters."""
        if addr // LINE != (addr + len(data) - 1) // LINE:
            raise ValueError(f"store of {len(data)} bytes to {addr:#x}; allowed: within one line")
        entry = _Entry(addr, data, by)
        self._lines.setdefault(line_of(addr), []).append(entry)
        self._count += 1
        span = _stay(self._rng, self._longest) if by is None else max(1, by - now)
        self._at(now + (by is None) + self._rng.randrange(span), self._leave, entry)

    def hurry(self, now: int, by: int, onward: bool = False) -> None:
        """A fence: all that is inside leaves before ``by``; ``onward``: it is with everybody by then."""
        span = max(1, (by - now) // 2 if onward else by - now)
        for entries in self._lines.values():
            for entry in entries:
                if onward:
                    entry.by = by if entry.by is None else min(by, entry.by)
                self._at(now + self._rng.randrange(span), self._leave, entry)

    def overlay(self, addr: int, into: bytearray) -> None:
        """Put the stores inside over the bytes at ``addr``."""
        for entry in self._lines.get(line_of(addr), ()):
            if entry.overlaps(addr, len(into)):
                lo, hi = max(addr, entry.addr), min(addr + len(into), entry.addr + len(entry.data))
                into[lo - addr : hi - addr] = entry.data[lo - entry.addr : hi - entry.addr]

    def _leave(self, now: int, entry: _Entry) -> None:
        if entry.gone:
            return
        line = self._lines[line_of(entry.addr)]
        for older in line[: line.index(entry)]:
            if older.overlaps(entry.addr, len(entry.data)):
                self._take(now, line, older)
        self._take(now, line, entry)

    def _take(self, now: int, line: list[_Entry], entry: _Entry) -> None:
        line.remove(entry)
        if not line:
            del self._lines[line_of(entry.addr)]
        entry.gone = True
        self._count -= 1
        self._deliver(now, entry.addr, entry.data, entry.by)


class Combining:
    """Write-combining buffers of a core. ``deliver`` (cycle, line address, 64 bytes, strobes) gets what leaves;
    ``split``: share of the lines that leave in pieces."""

    def __init__(
        self, rng: Random, at: At, longest: int, lines: int, split: float,
        deliver: Callable[[int, int, bytes, int], None],
    ) -> None:  # fmt: skip
        self._rng, self._at, self._longest, self._deliver = rng, at, longest, deliver
        self._most, self._split = lines, split
        self._lines: dict[int, tuple[bytearray, list[int]]] = {}  # by address: data, [strobes]

    def __len__(self) -> int:
        return len(self._lines)

    def put(self, now: int, addr: int, data: bytes) -> None:
        """A store is merged into its line."""
        base = line_of(addr)
        if base not in self._lines:
            if len(self._lines) == self._most:
                self._empty(now, next(iter(self._lines)))
            self._lines[base] = (bytearray(LINE), [0])
            self._at(
                now + 1 + self._rng.randrange(_stay(self._rng, self._longest)), self._due, (base, self._lines[base])
            )
        line, strobes = self._lines[base]
        line[addr - base : addr - base + len(data)] = data
        strobes[0] |= ((1 << len(data)) - 1) << addr - base

    def flush(self, now: int, by: int) -> None:
        """All lines leave before ``by``, in any order."""
        for base, line in self._lines.items():
            self._at(now + self._rng.randrange(max(1, by - now)), self._due, (base, line))

    def _due(self, now: int, what: tuple[int, tuple[bytearray, list[int]]]) -> None:
        base, line = what
        if self._lines.get(base) is line:
            self._empty(now, base)

    def _empty(self, now: int, base: int) -> None:
        line, (strobes,) = self._lines.pop(base)
        piece = LINE if self._rng.random() >= self._split else self._rng.choice((8, 16, 32))
        parts = list(range(0, LINE, piece))
        self._rng.shuffle(parts)
        for at in parts:
            if mask := strobes & ((1 << piece) - 1) << at:
                self._deliver(now, base, bytes(line), mask)
