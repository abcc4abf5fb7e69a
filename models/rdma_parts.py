# SPDX-License-Identifier: Apache-2.0
"""What the parts of the rdma model share: registers, the error state, answers waiting, key check, items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from models.kernel import Component
from models.protocol import SYN, Mr
from models.spec import spec

T = TypeVar("T")
M24 = 0xFFFFFF
HALF = 1 << 23
BEAT = 64
PAGE = 4096
MAX_MESSAGE = 1 << 31


def figure(name: str) -> int:
    """``rdma.<name>`` or, with ``latency.`` in front, ``latency.rdma.<name>``."""
    head, _, tail = name.partition(".")
    return spec().cycles(f"latency.rdma.{tail}") if head == "latency" else spec().integer(f"rdma.{name}")


class Reg(Generic[T]):
    """A register: what is set at *c* is seen from *c* + 1 on. ``changes`` lists (cycle seen, value)."""

    def __init__(self, value: T) -> None:
        self._old = self._new = value
        self._at = -1
        self.changes: list[tuple[int, T]] = [(0, value)]
        self.watchers: list[Component] = []

    def get(self, now: int) -> T:
        """Value at ``now``, before the cycle's own events."""
        return self._new if now > self._at else self._old

    def set(self, now: int, value: T) -> None:
        """Value from ``now`` + 1 on; a later set in the same cycle wins."""
        if self._at != now:
            self._old, self._at = self._new, now
        if value == self._new:
            return
        self._new = value
        if self.changes[-1][0] == now + 1:
            self.changes.pop()
        if not self.changes or self.changes[-1][1] != value:
            self.changes.append((now + 1, value))
        for component in self.watchers:
            component.wake(now + 1)


class Answer(NamedTuple):
    """An acknowledge packet waiting to leave."""

    syndrome: int
    psn: int
    msn: int

    @property
    def is_nak(self) -> bool:
        """A NAK of any kind."""
        return self.syndrome != SYN.ACK_NO_CREDIT


class Answers:
    """Two places for acknowledge packets: an ACK that waits is replaced by the answer behind it (which speaks
    for it too, InfiniBand vol. 1, 9.7.5.1.2), a NAK is not. Taken and given in one cycle: taken first."""

    def __init__(self) -> None:
        self._places: list[Answer] = []
        self._taken = False
        self._given: Answer | None = None
        self._at = -1
        self.consumer: Component | None = None

    def _settle(self, now: int) -> None:
        if self._at >= now:
            return
        if self._taken:
            self._places.pop(0)
        if self._given is not None:
            if self._places and not self._places[0].is_nak:
                self._places[0] = self._given
            elif len(self._places) == 2:
                self._places[1] = self._given
            else:
                self._places.append(self._given)
        self._taken, self._given, self._at = False, None, now

    def head(self, now: int) -> Answer | None:
        """The answer that leaves next."""
        self._settle(now)
        return self._places[0] if self._places else None

    def take(self, now: int) -> Answer:
        """Take it."""
        self._settle(now)
        self._taken = True
        if self.consumer is not None:
            self.consumer.wake(now + 1)
        return self._places[0]

    def give(self, now: int, answer: Answer) -> None:
        """Put one in, offered from ``now`` + 1 on."""
        self._settle(now)
        self._given = answer
        if self.consumer is not None:
            self.consumer.wake(now + 1)


def key_ok(regions: Sequence[Mr], key: int, addr: int, length: int, right: str = "") -> bool:
    """InfiniBand vol. 1, 10.6: key known, right given, addr .. addr + length - 1 inside the region."""
    for m in regions:
        if m.valid and m.key == key:
            allowed = not right or bool(getattr(m, right))
            size = m.length if allowed else 0
            return m.base <= addr and addr - m.base + length <= size
    return False


class Write(NamedTuple):
    """One AW transfer."""

    id: int
    addr: int
    beats: int


class WriteBeat(NamedTuple):
    """One W transfer: 64 bytes (zero where not written), strobes, last."""

    data: bytes
    strb: int
    last: bool


class Work(NamedTuple):
    """A checked work request; ``status`` is the syndrome of a refused one."""

    wr: Any
    status: int


class Entry(NamedTuple):
    """A WQE not yet completed. ``last`` is the PSN of its last packet, counted on without wrap; None: no packet."""

    opcode: int
    wqe: int
    signaled: bool
    last: int | None
    status: int


class Packet(NamedTuple):
    """A packet to send. ``psn`` is counted on without wrap; ``entry`` is its WQE's number."""

    opcode: int
    se: int
    ackreq: int
    psn: int
    va: int
    rkey: int
    dmalen: int
    imm: int
    size: int
    fetched: bool
    entry: int


class Fetch(NamedTuple):
    """A packet's read: first byte and bytes."""

    addr: int
    size: int


class Payload(NamedTuple):
    """What is to be done with a received packet's beats: written at ``addr``, or dropped (None)."""

    addr: int | None
    size: int


class Retired(NamedTuple):
    """What is left to do for a received packet. ``bursts``: write responses to wait for; ``wqe``: receive WQE
    it fills; ``answer``: (syndrome, psn) or None; ``cqe``: receive completion due."""

    bursts: int = 0
    answer: tuple[int, int] | None = None
    psn: int = 0
    ends: bool = False
    wqe: int | None = None
    cqe: Completion | None = None


class Completion(NamedTuple):
    """A completion to write."""

    op: int
    wqe: int
    syn: int = 0
    byte_cnt: int = 0
    imm: int = 0
    se: int = 0
    sop: int = 0


def beats_of(size: int) -> int:
    """64-byte beats of ``size`` bytes."""
    return -(-size // BEAT)


def lines_of(addr: int, size: int) -> int:
    """64-byte lines that ``size`` bytes at ``addr`` touch."""
    return beats_of(addr % BEAT + size)


def bursts_of(addr: int, size: int) -> list[tuple[int, int]]:
    """(address, beats) of the bursts for ``size`` bytes at ``addr``: whole lines, none across 4 KiB."""
    first, count = addr & -BEAT, lines_of(addr, size)
    room = (PAGE - first % PAGE) // BEAT
    if count <= room:
        return [(first, count)]
    return [(first, room), (first + room * BEAT, count - room)]
