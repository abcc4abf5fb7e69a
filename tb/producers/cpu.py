# SPDX-License-Identifier: Apache-2.0
"""Programs of CPU cores: a producer of its own, and a proxy that posts what GPU threads ask for.

Order under the lock (rdma-core providers/mlx5): WQEs; barrier; doorbell record; barrier; BlueFlame copy of one WQE, or
the 8 bytes; flush of the write-combining buffers; the other half next time. ``missing`` names the steps that are
taken out for a litmus run (:data:`CPU_STEPS`).

Proxy: a GPU thread writes its request (a remote address) and then, as a release, a number into its mailbox in host
memory; a core polls the mailboxes, posts, and acknowledges the number when the request is completed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from models import wqe
from tb.producers.queue import INVALID, M16, Queue
from tb.producers.requests import Request, cpu_request
from tb.producers.ring import poll
from tb.producers.steps import Atomic, Fence, Flush, Load, Program, Spend, Store

CPU_STEPS = {
    "cpu_lock": "the lock around index, record and doorbell",
    "cpu_record_barrier": "barrier before the doorbell record",
    "cpu_doorbell_barrier": "barrier before the doorbell or BlueFlame copy",
    "cpu_unlock": "release before the lock is given back",
    "flush": "flush of the write-combining buffers after a doorbell or BlueFlame copy",
    "halves": "taking the other half each time",
    "release": "release of the proxy's mailbox number",
}
HALF = 256
REGISTERS = 4  # BlueFlame registers of a page


@dataclass
class CpuJob:
    """What a core posts by itself. ``blueflame``: share of doorbells that carry the WQE; ``register``: 0..3."""

    queue: Queue
    requests: list[list[Request]]  # each list is posted with one doorbell
    blueflame: float = 0.7
    register: int = 0
    piece: int = 8
    missing: frozenset[str] = frozenset()


def random_cpu_job(
    rng: Random, queue: Queue, doorbells: int, missing: frozenset[str], blueflame: float = 0.7,
    blocks: tuple[int, ...] = (0, 1, 2, 3, 4), lists: tuple[int, ...] = (1, 1, 1, 2, 3),
) -> CpuJob:  # fmt: skip
    """``doorbells`` posts of as many requests as one of ``lists``, of ``blocks`` blocks (0: any kind)."""
    posts = [[cpu_request(rng, rng.choice(blocks) or None) for _ in range(rng.choice(lists))] for _ in range(doorbells)]
    return CpuJob(queue, posts, blueflame, rng.randrange(REGISTERS), missing=missing)


def core(job: CpuJob, rng: Random) -> Program:
    """The whole program of a core that posts its own requests."""
    end = job.queue.first
    for requests in job.requests:
        yield Spend("think")
        end = yield from post(job, requests, rng)
    return (yield from drained(job, end))


def post(job: CpuJob, requests: list[Request], rng: Random) -> Program:
    """Post ``requests`` with one doorbell; gives the index behind them."""
    queue, missing = job.queue, job.missing
    lock = queue.name("lock")
    if "cpu_lock" not in missing:
        while (yield Atomic("cas", lock, 1, 0)) != 0:
            yield Spend("poll")
    index = (yield Atomic("get", queue.name("head"))) or queue.first
    need = sum(r.blocks for r in requests)
    while index + need - (yield from consumed(job)) > queue.ring:
        if (yield Atomic("get", queue.name("error"))):
            yield Atomic("set", lock, 0)
            return index
        yield Spend("poll")
    raw = b""
    for request in requests:
        raw = queue.post(index, request)
        queue.outstanding.append(index)
        for at in range(0, len(raw), job.piece):
            yield Store(queue.slot(index + at // 64) + at % 64, raw[at : at + job.piece])
        index += request.blocks
    if "cpu_record_barrier" not in missing:
        yield Fence()
    published = index + sum(r.beyond for r in requests)
    yield Store(queue.record + 4, (published & M16).to_bytes(4, "big"))
    if "cpu_doorbell_barrier" not in missing:
        yield Fence()
    half = queue.uar(0x800 + 2 * HALF * job.register + HALF * (queue.turns & 1))
    whole = len(requests) == 1 and rng.random() < job.blueflame
    for at in range(0, len(raw) if whole else 8, 8):
        yield Store(half + at, raw[at : at + 8])
    if "flush" not in missing:
        yield Flush()
    if "halves" not in missing:
        queue.turns += 1
    yield Atomic("set", queue.name("head"), index)
    if "cpu_lock" not in missing:
        if "cpu_unlock" not in missing:
            yield Fence()
        yield Atomic("set", lock, 0)
    return index


def consumed(job: CpuJob) -> Program:
    """Index below which everything is completed, by the collapsed completion entry or by the entries of a ring."""
    queue, outstanding = job.queue, job.queue.outstanding
    if queue.cq is not None:
        if not queue.cq.served:
            yield from poll(queue.cq, job.missing)
    else:
        word = yield Load(queue.cqe + 60, 4)
        counter, opcode = word >> 16, word >> 4 & 15
        if opcode not in (0, INVALID):
            yield Atomic("set", queue.name("error"), opcode)
        queue.completed(counter)
    return outstanding[0] if outstanding else (yield Atomic("get", queue.name("head"))) or queue.first


def drained(job: CpuJob, end: int) -> Program:
    """Wait until everything below ``end`` is completed, or the queue is in error."""
    while (yield from consumed(job)) < end and not (yield Atomic("get", job.queue.name("error"))):
        yield Spend("poll")
    return end


@dataclass
class Mailbox:
    """One GPU thread's line in host memory: remote address at 0, number at 8; the core's answer is at ``answer``."""

    base: int
    answer: int
    count: int = 0  # what the core has seen


def asking_thread(
    mailbox: Mailbox, addresses: list[int], missing: frozenset[str], seen: Callable[[int, int], None]
) -> Program:
    """A GPU thread: each of ``addresses`` in turn, waiting for its answer. ``seen`` (number, cycle) is told when it
    begins."""
    for number, raddr in enumerate(addresses, 1):
        seen(number, (yield Spend("think")))
        yield Store(mailbox.base, raddr.to_bytes(8, "big"))
        if "release" not in missing:
            yield Fence()
        yield Store(mailbox.base + 8, number.to_bytes(4, "big"))
        while (yield Load(mailbox.answer, 4)) != number:
            yield Spend("poll")
    return 0


def proxy(
    job: CpuJob, mailboxes: list[Mailbox], total: int, rng: Random, wanted: Callable[[Mailbox, int, int], Request]
) -> Program:
    """A core that serves ``mailboxes`` until ``total`` requests are completed. ``wanted`` (mailbox, number, remote
    address that was read) gives the request to post."""
    served: deque[tuple[int, Mailbox, int]] = deque()
    done = 0
    while done < total:
        for mailbox in mailboxes:
            number = yield Load(mailbox.base + 8, 4)
            if number == mailbox.count:
                continue
            mailbox.count = number
            raddr = yield Load(mailbox.base, 8)
            end = yield from post(job, [wanted(mailbox, number, raddr)], rng)
            served.append((end, mailbox, number))
        if served:
            consumer = yield from consumed(job)
            while served and served[0][0] <= consumer:
                _, mailbox, number = served.popleft()
                done += 1
                yield Store(mailbox.answer, number.to_bytes(4, "big"))
        if (yield Atomic("get", job.queue.name("error"))):
            return done
        yield Spend("poll")
    return done


def again(queue: Queue, times: int, register: int) -> Program:
    """A core that rings the doorbell again and again, with the index that the record shows (gpu.again)."""
    for _ in range(times):
        yield Spend("poll")
        index = yield Load(queue.record + 4, 4)
        yield Store(queue.uar(0x800 + 2 * HALF * register), wqe.gpu_doorbell(index, queue.qpn))
        yield Flush()
    return 0
