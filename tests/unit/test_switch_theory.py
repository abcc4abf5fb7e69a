# SPDX-License-Identifier: Apache-2.0
"""The switch's model against what is known of crossbar schedulers from elsewhere (spec/crossbar.toml).

Frames of one beat, so that a slot is a cycle; outputs always ready; buffers that never fill. The figures are means of
long runs: runs here are as long as it takes to tell 10 % apart.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from models.spec import SPEC_DIR, Spec
from models.switch_config import ONE_FIFO, ROUND_ROBIN, WAVEFRONT, WRONG_POINTER, SwitchConfig
from models.switch_traffic import Frames, Measured, arrivals, jain, latency, measure, traffic

PORTS = 16
KNOWN = Spec(SPEC_DIR / "crossbar.toml", clock=False)
ALLOC = {"islip_1": 1, "islip_2": 2, "islip_4": 4, "wavefront": WAVEFRONT, "round_robin": ROUND_ROBIN}
NEAR = KNOWN.value("tolerance.percent") / 100
SLOTS = {50: 60_000, 70: 120_000, 80: 120_000, 90: 200_000, 95: 300_000}


def known(name: str) -> float:
    """A share in percent as a number up to 1."""
    return KNOWN.value(name) / 100


@cache
def offered(load: int, slots: int, seed: int = 1, pattern: str = "uniform", ports: int = PORTS) -> list[Frames]:
    """Traffic that several allocators see; ``load`` in percent."""
    return traffic(ports, pattern, load / 100, slots, seed)


def run(alloc: int, load: int, slots: int, pattern: str = "uniform", ports: int = PORTS, seed: int = 1) -> Measured:
    """The second half of a run counts for throughput."""
    config = SwitchConfig(ports, cells=1 << 15, max_beats=1, egress=128, alloc=alloc)
    return measure(config, offered(load, slots, seed, pattern, ports), (slots // 2, slots))


def test_the_generator_against_the_closed_form_of_output_queues():
    """Mean wait behind an output queue: (N - 1) / N x L / (2 (1 - L)); the queue is simulated here, by hand."""
    load = 80
    frames = offered(load, 150_000)
    queue = np.zeros(PORTS)
    order = np.argsort(np.concatenate([f.cycle for f in frames]), kind="stable")
    cycle = np.concatenate([f.cycle for f in frames])[order]
    output = np.concatenate([f.output for f in frames])[order]
    waits = np.empty(len(cycle))
    for n, (t, o) in enumerate(zip(cycle.tolist(), output.tolist(), strict=True)):
        leaves = max(t, queue[o])
        queue[o] = leaves + 1
        waits[n] = leaves - t
    share = load / 100
    assert waits.mean() == pytest.approx((PORTS - 1) / PORTS * share / (2 * (1 - share)), rel=0.03)


@pytest.mark.parametrize("name", ["islip_1", "islip_2", "islip_4", "wavefront"])
@pytest.mark.parametrize("load", sorted(SLOTS))
def test_mean_wait(name, load):
    slots = SLOTS[load] * (2 if (name, load) == ("islip_1", 95) else 1)  # waits of hundreds of slots change slowly
    waits = run(ALLOC[name], load, slots).after(slots // 10)
    assert waits.min() == 0  # nothing but the scheduler makes a frame wait
    assert waits.mean() == pytest.approx(KNOWN.value(f"wait.{name}.load_{load}"), rel=NEAR)


@pytest.mark.parametrize("name", ["round_robin", "islip_1", "islip_2", "islip_4", "wavefront"])
def test_saturation(name):
    throughput = run(ALLOC[name], 100, 250_000).throughput
    assert throughput >= known("saturation.required")
    if name in KNOWN.section("saturation"):
        assert throughput == pytest.approx(known(f"saturation.{name}"), abs=0.005)


@pytest.mark.parametrize(("ports", "name"), [(PORTS, "one_fifo"), (64, "one_fifo_limit")])
def test_one_fifo_an_input_saturates_far_lower(ports, name):
    assert run(ONE_FIFO, 100, 30_000, ports=ports).throughput == pytest.approx(known(f"saturation.{name}"), rel=0.015)


def test_grant_pointers_that_move_with_every_grant_fall():
    """Stable just below the known load; just above it the queues grow, the pointers run in step, and it falls."""
    limit = round(100 * known("saturation.wrong_pointer"))
    below = run(WRONG_POINTER, limit - 2, 60_000)
    above = run(WRONG_POINTER, limit + 2, 60_000)
    assert below.throughput == pytest.approx((limit - 2) / 100, rel=0.01)
    assert below.wait.mean() < 50
    assert above.throughput < known("saturation.wrong_pointer")
    assert above.wait.mean() > 1000
    assert run(1, limit + 2, 60_000).wait.mean() < 50  # the right rule does not notice


@pytest.mark.parametrize("name", ["islip_4", "wavefront"])
def test_two_diagonals(name):
    assert run(ALLOC[name], 100, 60_000, "diagonal").throughput == pytest.approx(known(f"diagonal.{name}"), rel=0.02)


def test_bursts():
    slots = 300_000
    frames = traffic(PORTS, "bursty", 0.8, slots, 1, burst=KNOWN.integer("bursty.mean"))
    config = SwitchConfig(PORTS, cells=1 << 15, max_beats=1, egress=128, alloc=4)
    waits = measure(config, frames, (0, slots)).after(slots // 10)
    assert waits.mean() == pytest.approx(KNOWN.value("bursty.islip_4"), rel=NEAR)


def test_inputs_are_served_alike_beyond_saturation():
    """Full load from all inputs to all outputs: what leaves comes from the inputs in equal shares."""
    slots = 40_000
    m = run(1, 100, slots)
    left = m.cycle + m.wait + latency()
    shares = np.bincount(m.input[(left > slots // 2) & (left < slots)], minlength=PORTS)
    assert jain(shares.astype(float)) > 0.9999


def test_arrivals_have_the_load_asked_for():
    rng = np.random.default_rng(1)
    for size in (1, 4, 66):
        cycles = arrivals(rng, 0.6, size, 400_000)
        assert len(cycles) * size / 400_000 == pytest.approx(0.6, rel=0.03)
        assert np.diff(cycles).min() >= size
