# SPDX-License-Identifier: Apache-2.0
"""Goodput and latency of a cable as an architect asks for them, against arithmetic and the study's rule for retry."""

from __future__ import annotations

import pytest

from models.fec import cer, code, thresholds
from models.link_config import cable_cycles, phy_cycles
from models.link_study import measure
from models.link_volume import PhyErrors
from tests.unit.link_kit import CTL, OVERHEAD, RATE, RX, SLACK, TRAILER, TX_OUT, end


def test_goodput_without_errors():
    native = measure(end(), cycles=50_000)
    # sixteen trailers, two acknowledgements; credit updates as close as sets may follow one another
    assert 4096 / (4096 + 16 * TRAILER + 6 * CTL) - 0.003 < native.goodput < 4096 / (4096 + 16 * TRAILER + 2 * CTL)
    assert native.replays == native.bad == 0
    roce = measure(end(roce=1), cycles=50_000)
    assert roce.goodput == pytest.approx(4096 / (4096 + OVERHEAD), abs=2e-3)


def test_latency_of_a_small_frame():
    m = measure(end(), size=64, load=0.1, metres=10, cycles=20_000)
    tx, rx = phy_cycles("llfec")
    way = 1 + SLACK + TX_OUT + tx + cable_cycles(10) + rx + RX
    assert m.mean == pytest.approx(way, abs=0.05)


def test_retry_costs_what_go_back_n_costs():
    """A replay costs a round trip of the wire's time: what is lost is their number times that, within a third."""
    cycles = 1_000_000
    kept = measure(end(replay_max=255), cycles=100_000).goodput
    llfec = code("llfec")
    m = measure(end(replay_max=255), cycles=cycles, errors=PhyErrors(seed=7, thr=thresholds(llfec, 6e-4)))
    failed = cycles * float(cer(llfec, 6e-4)) * RATE / llfec.payload
    # a codeword lies in so many segments
    assert m.bad == pytest.approx(failed * (1 + llfec.payload / (256 + TRAILER)), rel=0.35)
    trip = 2 * (TX_OUT + 24 + cable_cycles(2) + 64) + 20
    lost = (kept - m.goodput) / kept
    assert lost == pytest.approx(m.replays * trip / cycles, rel=0.35)


def test_a_long_cable_needs_cells():
    """Goodput is cells over the round trip where that is less than the line's."""
    short, long = (measure(end(cells=n), metres=50, cycles=60_000) for n in (16, 60))
    assert long.goodput > 0.95
    assert short.goodput < 0.5
