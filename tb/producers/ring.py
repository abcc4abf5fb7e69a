# SPDX-License-Identifier: Apache-2.0
"""Programs of CPU cores that consume completion rings: poll, doorbell record, arm, wait for the event.

Order (rdma-core providers/mlx5, cq.c): under the queue's lock, owner bit, then the entry, consumer index; after the
last one the doorbell record. To sleep: arm with the consumer index (doorbell record's second word, barrier, the 8 bytes
at the UAR page's offset 0x20, flush), poll once more (ibv_req_notify_cq: an entry may have come in between), wait for
the event. ``missing`` names the steps that are taken out for a litmus run (:data:`RING_STEPS`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tb.producers.machine import UAR_BASE
from tb.producers.queue import INVALID, PAGE, Queue
from tb.producers.steps import Atomic, Fence, Flush, Load, Program, Spend, Store

RING_STEPS = {
    "cq_record": "the doorbell record that tells the device what was consumed",
    "arm": "arming the queue again after its event",
    "arm_flush": "flush of the write-combining buffers after an arm",
    "second_poll": "polling once more between arm and wait",
    "arm_index": "the consumer index in the arm (the index of the next entry to be posted instead)",
}
M24 = 0xFFFFFF
ARM = 0x20  # offset of the arm register in a UAR page
MOST = 16  # entries a poll


@dataclass
class RingCq:
    """A completion queue of 2^``log`` entries at ``base`` and its software: ``first``: first index; ``served``: a core
    of its own consumes it, else whoever posts; ``ci``: consumer index, kept under the lock. ``seen``: events waited
    for; ``strange``: entries of queues that are not on it."""

    cqn: int
    page: int
    base: int
    log: int
    record: int
    first: int
    served: bool = False
    queues: dict[int, Queue] = field(default_factory=dict)
    ci: int = 0
    seen: int = 0
    arms: int = 0
    empty_after_arm: int = 0
    strange: int = 0

    def __post_init__(self) -> None:
        self.ci = self.first

    def name(self, what: str) -> tuple[str, int, str]:
        """Name of one of its variables: ``lock``, ``event``, ``ended``."""
        return ("cq", self.cqn, what)

    def slot(self, index: int) -> int:
        """Address of an entry."""
        return self.base + 64 * (index & (1 << self.log) - 1)


def poll(cq: RingCq, missing: frozenset[str] = frozenset()) -> Program:
    """Consume what is there; gives how many entries there were. Whoever waits for a completion sees it once the record
    is out."""
    while (yield Atomic("cas", cq.name("lock"), 1, 0)) != 0:
        yield Spend("poll")
    got: list[int] = []
    while len(got) < MOST:
        own = yield Load(cq.slot(cq.ci) + 63, 1)
        if own >> 4 == INVALID or own & 1 != cq.ci >> cq.log & 1:
            break
        got.append((yield Load(cq.slot(cq.ci) + 56, 8)))
        cq.ci = (cq.ci + 1) & M24
    if got and "cq_record" not in missing:
        yield Store(cq.record, cq.ci.to_bytes(4, "big"))
    yield Fence()
    for word in got:
        queue = cq.queues.get(word >> 32 & M24)
        if queue is None:
            cq.strange += 1
        elif (opcode := word >> 4 & 15) != 0:
            yield Atomic("set", queue.name("error"), opcode)
        else:
            queue.completed(word >> 16 & 0xFFFF)
    yield Atomic("set", cq.name("lock"), 0)
    return len(got)


def arm(cq: RingCq, missing: frozenset[str] = frozenset()) -> Program:
    """Ask for an event at the first entry from the consumer index on."""
    index = cq.ci
    if "arm_index" in missing:
        index += sum(len(q.outstanding) for q in cq.queues.values()) + 1
    word = (cq.arms & 3) << 28 | index & M24
    cq.arms += 1
    yield Store(cq.record + 4, word.to_bytes(4, "big"))
    yield Fence()
    yield Store(UAR_BASE + PAGE * cq.page + ARM, (word << 32 | cq.cqn).to_bytes(8, "big"))
    if "arm_flush" not in missing:
        yield Flush()
    return index


def consume(cqs: list[RingCq], posters: int, sleeps: bool, missing: frozenset[str] = frozenset()) -> Program:
    """A core that consumes ``cqs`` until ``posters`` threads have ended (variable ``ended`` of the first). ``sleeps``:
    it waits for events when there is nothing, else it polls on."""
    ended = cqs[0].name("ended")
    armed: set[int] = set()  # once
    while (yield Atomic("get", ended)) < posters:
        count = 0
        for cq in cqs:
            count += yield from poll(cq, missing)
        if count:
            continue
        yield Spend("poll")
        if not sleeps:
            continue
        for cq in cqs:
            if "arm" not in missing or cq.cqn not in armed:
                armed.add(cq.cqn)
                yield from arm(cq, missing)
        if "second_poll" not in missing:
            for cq in cqs:
                count += yield from poll(cq, missing)
            if count:
                continue
            for cq in cqs:
                cq.empty_after_arm += 1
        if (yield from wait(cqs, ended, posters)):
            break
    return 0


def wait(cqs: list[RingCq], ended: tuple[str, int, str], posters: int) -> Program:
    """Sleep until one of ``cqs`` has an event that was not waited for, or until nobody posts any more: 1 then."""
    while True:
        for cq in cqs:
            events = yield Atomic("get", cq.name("event"))
            if events > cq.seen:
                cq.seen = events
                return 0
        if (yield Atomic("get", ended)) >= posters:
            return 1
        yield Spend("poll")


def stray(cqs: list[RingCq], page: int, times: int) -> Program:
    """A core that arms ``cqs`` through a page that is not theirs."""
    for i in range(times):
        cq = cqs[i % len(cqs)]
        yield Spend("think")
        yield Store(UAR_BASE + PAGE * page + ARM, (cq.first << 32 | cq.cqn).to_bytes(8, "big"))
        yield Flush()
    return 0


def storm(cqs: list[RingCq], first: int, times: int) -> Program:
    """A core that arms ``cqs`` without waiting for anything: an arm too many costs its queue an event at most."""
    for i in range(first, first + times):
        yield from arm(cqs[i % len(cqs)])
    return 0
