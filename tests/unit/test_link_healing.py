# SPDX-License-Identifier: Apache-2.0
"""Links that must not stay silent, go down or run on without reason: what a quiet end shows and traffic does not."""

from __future__ import annotations

import pytest

from models.link_volume import PhyErrors
from models.spec import spec
from tests.unit.link_kit import CABLE, end, good, lost, payload, run

ACK, NACK = 1, 2
PROGRESS, DOWN = 5, 18


def sets(x, kind: int) -> list[int]:
    """Cycles in which an end's control sets of a kind pass the errors."""
    return [int(r["cycle"]) + CABLE for r in x.ctl if int(r["word"]) >> 8 & 0xFF == kind]


@pytest.mark.parametrize("limit", [8, 255])
def test_a_lost_nack_heals_though_nothing_new_is_sent(limit):
    """The ACK of a lone segment is lost, its replay damaged, the NACK of that lost: the receiver is in SILENT and knows
    every number that comes. The refresh of its ACK ends that; without it 255 replays were for ever."""
    c, frames = end(replay_max=limit), [payload(64)]
    first = sets(run(c, frames, cycles=10_000).b, ACK)[0]
    o = run(c, frames, cycles=10_000, stim_a={"errors": lost([first])})
    again = int(o.a.tx["cycle"][1]) + CABLE
    spoilt = {"errors": PhyErrors(faults=[(again, 3)])}
    o = run(c, frames, cycles=10_000, stim_a={"errors": lost([first])}, stim_b=spoilt)
    nack = sets(o.b, NACK)[0]
    o = run(c, frames, cycles=30_000, stim_a={"errors": lost([first, nack])}, stim_b=spoilt)
    assert good(o.b) == frames
    assert len(o.a.events(PROGRESS)) == 1
    late = o.a.events(PROGRESS)[0] - first
    assert late < 2 * spec().cycles("link.refresh")
    assert not o.a.events(DOWN) and not o.b.events(DOWN)


@pytest.mark.parametrize("one_way", [True, False])
def test_a_healthy_link_trains_as_often_as_it_likes(one_way):
    """Retrains are failures only where something waits: an end that sends nothing never makes progress."""
    frames = [payload(1500, n) for n in range(200)] if one_way else []
    at = [1 + 1000 * n for n in range(200)] if one_way else 1
    ask = [x for k in range(6) for x in ((20_000 + 30_000 * k, 1), (20_001 + 30_000 * k, 0))]
    o = run(end(), frames, cycles=230_000, at=at, stim_a={"retrain_req": ask})
    assert good(o.b) == frames
    assert not o.a.events(DOWN) and not o.b.events(DOWN)


@pytest.mark.parametrize("after", [0, 60, 100, 200])
def test_a_pause_is_said_again_after_a_retrain(after):
    """An XOFF that a retrain swallows: it comes again as soon as the link is up, not with the next refresh."""
    frames = [payload(1024, n, roce=True) for n in range(1500)]
    o = run(
        end(roce=1), frames, cycles=12_000, stim_b={"s_pause": [(3000, 1)]},
        stim_a={"retrain_req": [(3000 + after, 1), (3001 + after, 0)]},
    )  # fmt: skip
    up = [cycle for cycle, state in o.a.state if state == 2][-1]
    paused = [cycle for cycle, lanes in o.a.pausing if lanes and cycle >= up]
    assert paused and paused[0] - up < 400
