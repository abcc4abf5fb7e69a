# SPDX-License-Identifier: Apache-2.0
"""Programs of GPU threads that post to send queues by themselves, in the order of NVSHMEM and of DeepEP (IBGDA).

Steps: reserve, wait for room, write the WQE, fence, publish in order, decide to ring, lock, maximum of the producer
index, barrier, doorbell record, barrier, doorbell, unlock; at the end wait for the completions. DeepEP does not wait
for room (its ring is never full), rings always or for every fourth message and stores 16 bytes at a time; its two
release stores are a barrier and a store each here. ``missing`` names the steps that are taken out for a litmus run
(:data:`GPU_STEPS`).
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from models import wqe
from tb.producers.queue import GPU_REGISTER, INVALID, M16, Queue, pending, rebuilt
from tb.producers.requests import Request, gpu_request
from tb.producers.steps import Atomic, Fence, Load, Program, Spend, Store

GPU_STEPS = {
    "fence": "fence after the WQE's stores",
    "order": "publication in order (a maximum instead)",
    "lock": "the lock around record and doorbell",
    "max": "maximum of the producer index (stored as it is)",
    "record_barrier": "barrier before the doorbell record",
    "doorbell_barrier": "barrier before the doorbell",
    "unlock": "release before the lock is given back",
    "room": "waiting for room in the ring",
    "posted": "waiting for the producer index before the 16-bit comparison",
    "compare": "the 16-bit comparison (plain integers instead)",
}


@dataclass(frozen=True)
class Style:
    """Which library. ``piece``: bytes of a store; ``every``: messages of a thread to a doorbell, 0: NVSHMEM's rule;
    ``system``: the fence after the WQE is one for the whole system (queues in host memory), not for the GPU alone."""

    piece: int = 4
    room: bool = True
    every: int = 0
    system: bool = False


NVSHMEM = Style()
DEEPEP = Style(piece=16, room=False, every=1)
DEEPEP_FOURTH = Style(piece=16, room=False, every=4)


@dataclass
class Job:
    """One thread's work: ``batches`` of requests, each posted at once; ``errors`` collects syndromes that it saw."""

    queue: Queue
    batches: list[list[Request]]
    style: Style = NVSHMEM
    missing: frozenset[str] = frozenset()


def random_job(rng: Random, queue: Queue, messages: int, style: Style, missing: frozenset[str]) -> Job:
    """``messages`` batches, mostly of one request; only the last of a batch asks for its completion (NVSHMEM)."""
    batches = []
    for _ in range(messages):
        size = rng.choice((1, 1, 1, 2)) if style.room else 1
        batches.append([gpu_request(rng, signaled=i == size - 1) for i in range(size)])
    return Job(queue, batches, style, missing)


def thread(job: Job) -> Program:
    """The whole program of a thread."""
    target = job.queue.first
    for number, batch in enumerate(job.batches):
        yield Spend("think")
        target = yield from put(job, batch, number)
    return (yield from quiet(job, target))


def put(job: Job, batch: list[Request], number: int = 0) -> Program:
    """Post ``batch``, each request one block; gives the index behind it."""
    queue, style, missing = job.queue, job.style, job.missing
    count = len(batch)
    base = yield Atomic("add", queue.name("resv"), count)
    end = base + count
    if style.room and "room" not in missing and end - queue.ring > queue.first:
        yield from quiet(job, end - queue.ring)
    for i, request in enumerate(batch):
        raw = queue.post(base + i, request)
        for at in range(0, 16 * request.ds, style.piece):
            yield Store(queue.slot(base + i) + at, raw[at : at + style.piece])
    if "fence" not in missing:
        yield Fence(system=style.system)
    if "order" in missing:
        yield Atomic("max", queue.name("ready"), end)
    else:
        while (yield Atomic("cas", queue.name("ready"), end, base)) != base:
            yield Spend("poll")
    if style.every:
        ring = (number + 1) % style.every == 0 or number == len(job.batches) - 1
    else:
        reserved = yield Atomic("get", queue.name("resv"))
        ring = end == reserved or base // queue.batch != end // queue.batch or count >= queue.batch
    if ring:
        yield from post(job, end)
    return end


def post(job: Job, end: int) -> Program:
    """Doorbell record and doorbell for all blocks below ``end``."""
    queue, missing = job.queue, job.missing
    lock = queue.name("lock")
    if "lock" not in missing:
        while (yield Atomic("cas", lock, 1, 0)) != 0:
            yield Spend("poll")
    old = yield Atomic("set" if "max" in missing else "max", queue.name("prod"), end)
    if end > old or "max" in missing:
        if "record_barrier" not in missing:
            yield Fence()
        yield Store(queue.record + 4, (end & M16).to_bytes(4, "big"))
        if "doorbell_barrier" not in missing:
            yield Fence()
        yield Store(queue.uar(GPU_REGISTER), wqe.gpu_doorbell(end, queue.qpn))
    if "lock" not in missing:
        if "unlock" not in missing:
            yield Fence(system=False)
        yield Atomic("set", lock, 0)
    return end


def quiet(job: Job, target: int) -> Program:
    """Wait until all blocks below ``target`` are completed. Ends, with its syndrome, at an error completion."""
    queue, missing = job.queue, job.missing
    cons = queue.name("cons")
    if "posted" not in missing:
        while (yield Atomic("get", queue.name("prod"))) < target:
            if (yield Atomic("get", queue.name("error"))):
                return target
            yield Spend("poll")
    while (yield Atomic("get", cons)) < target:
        word = yield Load(queue.cqe + 60, 4)
        counter, opcode = word >> 16, word >> 4 & 15
        if opcode not in (0, INVALID):
            yield Atomic("set", queue.name("error"), opcode)
            return target
        done = counter + 1 >= target & M16 if "compare" in missing else not pending(target, counter, queue.ring)
        if done:
            yield Atomic("max", cons, target if "compare" in missing else rebuilt(target, counter))
            break
        yield Spend("poll")
    return target


def again(queue: Queue, times: int) -> Program:
    """A thread that rings the doorbell again and again, with the index that the record shows: legal at any time, and
    the device looks at the record at times that no poster chose."""
    for _ in range(times):
        yield Spend("poll")
        index = yield Load(queue.record + 4, 4)
        yield Store(queue.uar(GPU_REGISTER), wqe.gpu_doorbell(index, queue.qpn))
    return 0
