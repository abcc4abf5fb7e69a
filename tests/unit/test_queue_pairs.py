# SPDX-License-Identifier: Apache-2.0
"""The joined bench on the golden models: scenes without a fault, litmus runs of the consumers, and an oracle that sees
what is planted into memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from models import cqe
from models.cq_engine import Cq
from models.kernel import Kernel
from models.protocol import CQE
from tb.producers.ring import RING_STEPS
from tb.queue_pairs.litmus import HARMLESS, LITMUS, ForwardArms, Litmus, find, hangs
from tb.queue_pairs.names import SCENES
from tb.queue_pairs.oracle import judge
from tb.queue_pairs.scenes import DEFAULT, Played, Scene, play
from tb.sq.wqes import FAULTS

Writes = list[tuple[int, int, bytes]]


def forward(kernel: Kernel) -> Cq:
    return ForwardArms(kernel, "cq", DEFAULT.cqs)


def written(played: Played) -> Writes:
    return [(visible, addr, data) for _, visible, addr, _, data in played.completions.memory.w_log]


def judged(played: Played, writes: Writes | None = None) -> list[str]:
    works = [wr for _, wr, _ in played.outcome.frames]
    halts = {w.qpn: w.wqe_index for w in works if w.error and played.planted.get(w.qpn) == "record"}
    done = played.completions
    found = written(played) if writes is None else writes
    return judge(played.outcome.queues, done.homes, played.ctxs, found, played.landed, halts)


@pytest.mark.parametrize("name", SCENES)
def test_scenes_are_without_fault(name: str) -> None:
    for seed in range(4):
        played = play(SCENES[name], seed)
        assert not played.outcome.faults, (seed, played.outcome.faults[0])
        assert not judged(played), seed
        assert set(played.completions.oracle.ended) == set(played.planted)


@pytest.mark.parametrize("litmus", LITMUS + HARMLESS, ids=lambda x: x.name)
def test_with_the_step_no_fault(litmus: Litmus) -> None:
    for seed in range(8):
        assert not play(litmus.scene, seed).outcome.faults, seed


def test_every_step_has_a_run() -> None:
    assert {x.step for x in LITMUS + HARMLESS} == set(RING_STEPS)


@pytest.mark.parametrize("litmus", LITMUS, ids=lambda x: x.name)
def test_without_the_step_the_fault_is_seen(litmus: Litmus) -> None:
    assert find(litmus), f"no fault in {litmus.seeds} seeds; due: {litmus.why}"


def test_the_second_poll_is_what_arms_that_do_not_look_back_need() -> None:
    (litmus,) = HARMLESS
    assert find(litmus), "nobody would have slept for ever"
    assert not any(hangs(litmus.scene, seed, DEFAULT, forward) for seed in range(40))


@pytest.mark.parametrize("fault", FAULTS)
def test_each_malformed_wqe_ends_in_its_error(fault: str) -> None:
    played = play(Scene(gpu=0, cores=2, doorbells=2, sharing="all", faults=(fault,)), 5)
    assert not played.outcome.faults
    assert not judged(played)
    entries = [d for _, _, d in written(played) if d[63] >> 4 == CQE.REQ_ERR]
    assert [d[55] for d in entries] == [FAULTS[fault][1]]


def errors_last(writes: Writes) -> int:
    return next(i for i, (_, _, data) in enumerate(writes) if data[63] >> 4 == CQE.REQ_ERR)


def dropped(writes: Writes) -> Writes:
    return writes[:-1]


def syndrome_lost(writes: Writes) -> Writes:
    at = errors_last(writes)
    visible, addr, data = writes[at]
    return [*writes[:at], (visible, addr, data[:55] + b"\0" + data[56:]), *writes[at + 1 :]]


def error_lost(writes: Writes) -> Writes:
    at = errors_last(writes)
    visible, addr, data = writes[at]
    return [*writes[:at], (visible, addr, data[:55] + b"\0" + data[56:63] + bytes([data[63] & 15])), *writes[at + 1 :]]


def twice(writes: Writes) -> Writes:
    visible, addr, data = writes[-1]
    return [*writes, (visible + 1, addr + 64, data)]


def swapped(writes: Writes) -> Writes:
    (a, b, x), (c, d, y) = writes[:2]
    owner = x[63] & 1, y[63] & 1
    new = y[:63] + bytes([y[63] & 0xFE | owner[0]]), x[:63] + bytes([x[63] & 0xFE | owner[1]])
    return [(a, b, new[0]), (c, d, new[1]), *writes[2:]]


def other_queue(writes: Writes) -> Writes:
    visible, addr, data = writes[0]
    return [(visible, addr, data[:57] + bytes([data[57] ^ 1]) + data[58:]), *writes[1:]]


def owner_wrong(writes: Writes) -> Writes:
    visible, addr, data = writes[-1]
    return [*writes[:-1], (visible, addr, data[:63] + bytes([data[63] ^ 1]))]


def too_early(writes: Writes) -> Writes:
    return [(0, addr, data) for _, addr, data in writes]


DAMAGE = (dropped, syndrome_lost, error_lost, twice, swapped, other_queue, owner_wrong, too_early)


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda d: d.__name__)
def test_the_oracle_sees_what_is_wrong_in_memory(damage: Callable[[Writes], Writes]) -> None:
    scene = Scene(gpu=0, cores=1, doorbells=14, lists=(1,), broken=0, faults=("too long",))
    seed = next(
        s for s in range(100) if (p := play(scene, s)).landed and errors_last(written(p)) > 6
    )  # fmt: skip
    played = play(scene, seed)
    assert not judged(played)
    assert judged(played, damage(written(played)))


def test_an_entry_in_another_completion_queue_is_seen() -> None:
    played = play(Scene(gpu=2, cores=0), 3)
    first, second = (c for c in played.ctxs)
    moved = [(v, second.base if a == first.base else a, d) for v, a, d in written(played)]
    assert any("due in" in line for line in judged(played, moved))


def test_arms_by_a_foreign_page_wake_nobody() -> None:
    played = play(replace(SCENES["one for all"], served=False, strays=6), 1)
    counts = dict(zip(Cq.COUNTERS, played.completions.cq.changes[-1][1], strict=True))
    assert counts["arm_refused"] == 6
    assert counts["events"] == 0


def test_an_entry_a_cycle_before_its_data_is_seen() -> None:
    scene = Scene(gpu=0, cores=1, doorbells=14, lists=(1,), broken=0)
    for seed in range(100):
        run = play(scene, seed)
        writes = written(run)
        seen = {(cqe.parse(d).qpn, cqe.parse(d).wqe_counter): i for i, (_, _, d) in enumerate(writes)}
        at = next(((seen[q, n], cycle) for q, n, cycle, _, _ in run.landed if (q, n) in seen), None)
        if at is not None:
            break
    assert at is not None
    entry, cycle = at
    for early in (0, 1):
        moved = list(writes)
        moved[entry] = (cycle - early, *writes[entry][1:])
        data = [line for line in judged(run, moved) if "data up to it" in line]
        assert bool(data) == bool(early)
