# SPDX-License-Identifier: Apache-2.0
"""Litmus runs on the golden model: with every step no fault, without one of them the fault that is due."""

from __future__ import annotations

from dataclasses import replace

import pytest

from models.kernel import Kernel
from models.sq import Sq
from tb.producers import gpu
from tb.producers.cpu import CPU_STEPS
from tb.producers.litmus import HARMLESS, LITMUS, Litmus, behind, find, outcomes, overtaken
from tb.producers.scenes import Scene, play

SEEDS = 6  # of each scene with all its steps


def device(kernel: Kernel) -> Sq:
    return Sq(kernel, "sq")


@pytest.mark.parametrize("litmus", LITMUS + HARMLESS, ids=lambda x: x.name)
def test_with_the_step_no_fault(litmus: Litmus) -> None:
    for seed, outcome in outcomes(litmus.scene, range(SEEDS), device):
        assert not outcome.faults, (seed, outcome.faults[0])
        assert outcome.frames


@pytest.mark.parametrize("litmus", LITMUS, ids=lambda x: x.name)
def test_without_the_step_the_fault_is_seen(litmus: Litmus) -> None:
    assert find(litmus, device), f"no fault in {litmus.seeds} seeds; due: {litmus.why}"


@pytest.mark.parametrize("litmus", HARMLESS, ids=lambda x: x.name)
def test_harmless_by_the_rules_of_the_device(litmus: Litmus) -> None:
    assert find(litmus, device), f"a fault, or no disorder, in {litmus.seeds} seeds; reason: {litmus.why}"
    for seed, outcome in outcomes(litmus.broken, range(litmus.seeds), device):
        assert not outcome.faults, (seed, outcome.faults[0])


@pytest.mark.parametrize("litmus", [x for x in HARMLESS if x.sign in (overtaken, behind)], ids=lambda x: x.name)
def test_the_disorder_comes_of_the_missing_step(litmus: Litmus) -> None:
    assert litmus.sign is not None
    assert not any(litmus.sign(o) for _, o in outcomes(litmus.scene, range(SEEDS), device))


@pytest.mark.parametrize("name", ["lock", "max"])
def test_d2_the_devices_index_never_moves_back(name: str) -> None:
    """Records and doorbells that go back lose requests until somebody rings again; nothing comes twice or stale."""
    litmus = next(x for x in LITMUS if x.name == name)
    kinds = set()
    for seed in range(30):
        outcome = play(litmus.broken, seed, device, stop_at_fault=False)
        kinds |= {f.kind for f in outcome.faults}
        assert not outcome.counters["halted"]
    assert "back" in kinds
    assert kinds <= {"back", "lost", "hung"}


def test_every_step_has_its_litmus() -> None:
    assert {x.step for x in LITMUS + HARMLESS} == set(gpu.GPU_STEPS) | set(CPU_STEPS)
    assert {x.step for x in HARMLESS} - {x.step for x in LITMUS} == {"unlock", "cpu_unlock", "halves"}


SCENES = {
    "one": Scene(blocks=1, threads=1, haste=1.0),
    "deepep": Scene(style=gpu.DEEPEP, log=6),
    "every_fourth": Scene(style=gpu.DEEPEP_FOURTH, messages=4, log=6),
    "host": Scene(style=gpu.Style(system=True), host=True),
    "queues": Scene(blocks=6, gpu_queues=3, messages=2),
    "smallest_ring": Scene(threads=4, log=2, batch=1, messages=4),
    "cores": Scene(blocks=0, cores=3, cpu_queues=2),
    "proxy": Scene(blocks=0, askers=6),
    "everybody": Scene(blocks=2, gpu_queues=2, cores=2, askers=3),
    "slow_transport": Scene(complete=2000),
    "stalls": Scene(ready={"wr": (True, False, False), "ar": (True, False)}),
}


@pytest.mark.parametrize("name", SCENES)
def test_scenes_without_a_fault(name: str) -> None:
    for seed in range(4):
        outcome = play(SCENES[name], seed, device)
        assert not outcome.faults, (seed, outcome.faults[0])


def test_1024_threads() -> None:
    scene = Scene(blocks=32, threads=32, messages=1, gpu_queues=16, log=6, batch=16)
    outcome = play(scene, 1, device)
    assert not outcome.faults
    assert len(outcome.frames) >= 1024


def test_a_seed_says_everything() -> None:
    scene = replace(SCENES["everybody"], messages=2)
    one, two, other = (play(scene, seed, device) for seed in (5, 5, 6))
    assert (one.pokes, one.stores, one.frames, one.counters) == (two.pokes, two.stores, two.frames, two.counters)
    assert one.stores != other.stores
