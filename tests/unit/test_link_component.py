# SPDX-License-Identifier: Apache-2.0
"""The link as a component of the event kernel against the same core over a whole stimulus; what idle links cost."""

from __future__ import annotations

import numpy as np
import pytest

from models.kernel import Beat, Component, Fifo, Kernel
from models.link import Link, connect
from models.link_volume import EndStimulus, LinkStimulus, simulate_link
from models.spec import spec
from tests.unit.link_kit import FIRST, FLIGHT, RX, SMALL, end, payload

CABLE = 20


class Core(Component):
    """Takes every beat and frees its cell in the next cycle but one, as the bench's core does at once."""

    def __init__(self, kernel: Kernel, link: Link) -> None:
        super().__init__(kernel, f"{link.name}.core")
        self.link = link
        self.got: list[tuple[int, Beat]] = []
        self.ticks = 0
        link.rx.consumer = self

    def tick(self, now: int) -> None:
        while self.link.rx.head(now) is not None:
            self.got.append((now, self.link.rx.pop(now)))
            self.link.free(now + 2, 1)


class Counted(Link):
    """Counts how often it is evaluated."""

    ticks = 0

    def tick(self, now: int) -> None:
        """As a link's."""
        self.ticks += 1
        super().tick(now)


def source(stim: EndStimulus) -> Fifo[Beat]:
    """What the bench's player offers."""
    fifo: Fifo[Beat] = Fifo(1)
    visible = 1
    for data, count, last, cycle in zip(stim.data, stim.count, stim.last, stim.cycle, strict=True):
        visible = max(visible, int(cycle))
        fifo.push(0, Beat(data[:count].tobytes(), bool(last)), visible - 1)
    return fifo


def ends(stims: list[EndStimulus], **fields: int) -> tuple[Kernel, list[Counted], list[Core]]:
    """Both ends with their cores, sources attached."""
    kernel = Kernel()
    links = [Counted(kernel, n, cfg=end(**fields).cfg) for n in "ab"]
    connect(links[0], links[1], CABLE)
    for link, stim in zip(links, stims, strict=True):
        link.trace = True
        link.attach(source(stim))
    return kernel, links, [Core(kernel, link) for link in links]


@pytest.mark.parametrize("roce", [0, 1])
@pytest.mark.parametrize("preset", [0, 1])
@pytest.mark.parametrize("seed", range(4))
def test_same_as_over_a_whole_stimulus(roce, preset, seed):
    rng = np.random.default_rng([seed, roce, preset])
    fields = {
        "roce": roce, "preset": preset, "retrain": 200, "phy_tx": int(rng.integers(1, 30)),
        "phy_rx": int(rng.integers(1, 60)), "gate": int(rng.integers(2)), "cells": int(rng.choice([8, 32])),
    }  # fmt: skip
    stims = []
    for which in range(2):
        sizes = rng.choice([64, 65, 300, 2000, 4224], 120)
        gaps = rng.choice([0, 50, 500, 6000], 120, p=[0.6, 0.2, 0.15, 0.05])
        frames = [payload(int(n), which * 1000 + k, bool(roce)) for k, n in enumerate(sizes)]
        stims.append(EndStimulus.of_frames(frames, 64, (1 + np.cumsum(gaps)).tolist()))
    asks = [(9000, 1), (9001, 0)] if preset else []
    pauses = [(100, 1), (2000, 0), (20_000, 1), (50_000, 0), (99_000, 0)]
    stims[0].s_pause, stims[0].retrain_req = pauses, asks
    cycles = 150_000
    want = simulate_link(end(**fields), end(**fields), CABLE, LinkStimulus(*stims), cycles)
    kernel, links, cores = ends(stims, **fields)
    for cycle, value in pauses:
        links[0].pause(cycle, value)
    for cycle, value in asks:
        if value:
            links[0].retrain(cycle)
    last = kernel.run(cycles)
    for link, core, x in zip(links, cores, (want.a, want.b), strict=True):
        assert [c for c, _ in link.accepted] == x.taken.tolist()
        data = x.m_data()
        assert [(c, b.data, b.last) for c, b in core.got] == [
            (int(r["cycle"]), data[n, : r["count"]].tobytes(), bool(r["last"])) for n, r in enumerate(x.m)
        ]
        assert [c - link.tx_out for c, _ in link.mac_tx] == [c for c in x.tx["leaves"].tolist() if c <= last]
        # what is said again on a quiet link may not have been evaluated at the very end
        sets = x.ctl["leaves"].tolist()
        settled = last - spec().cycles("link.refresh")
        assert [c for c, *_ in link.sent_ctl if c <= settled] == [c for c in sets if c <= settled]
        ours = sorted((c, n) for c, n in link.events if c <= settled)
        assert ours == sorted((int(r["cycle"]), int(r["number"])) for r in x.ev if r["cycle"] <= settled)


def test_an_idle_link_costs_nothing():
    stim = EndStimulus.of_frames([payload(64), payload(64, 1)], 64, [1, 1_000_000])
    kernel, links, cores = ends([stim, EndStimulus()], **SMALL)
    assert kernel.run() < 1_001_000
    assert [c for c, _ in cores[1].got] == [FIRST + FLIGHT + RX, 1_000_000 + FIRST - 1 + FLIGHT + RX]
    # two refreshes an interval, their arrivals, and what the frames cost
    intervals = 1_000_000 // spec().cycles("link.refresh")
    assert sum(link.ticks for link in links) < 12 * intervals + 100


def test_a_run_ends_when_there_is_no_news():
    kernel, _, cores = ends([EndStimulus.of_frames([payload(300)]), EndStimulus()], **SMALL)
    last = kernel.run()
    assert len(cores[1].got) == 5
    assert last < 1000


def test_credits_and_pauses_are_told_in_time():
    stim = EndStimulus.of_frames([payload(64)])
    kernel, links, _ = ends([stim, EndStimulus()], **SMALL)
    told: list[tuple[int, int, int]] = []
    links[0].on_credit = lambda cycle, lane, cells: told.append((cycle, lane, cells))
    kernel.run()
    want = simulate_link(end(**SMALL), end(**SMALL), CABLE, LinkStimulus(stim), 1000)
    # the core here frees a cycle later than the bench's
    assert [(c - 0, v, n) for c, v, n in told] == want.a.credit.tolist()

    kernel, links, _ = ends([EndStimulus(), EndStimulus()], roce=1, **SMALL)
    seen: list[tuple[int, int]] = []
    links[1].on_pause = lambda cycle, lanes: seen.append((cycle, lanes))
    links[0].pause(50, 1)
    links[0].pause(500, 0)
    kernel.run()
    quiet = simulate_link(
        end(roce=1, **SMALL), end(roce=1, **SMALL), CABLE,
        LinkStimulus(EndStimulus(s_pause=[(50, 1), (500, 0)])), 1000,
    )  # fmt: skip
    assert seen == quiet.b.pausing[1:]
