# SPDX-License-Identifier: Apache-2.0
"""Retry: every frame exactly once and in order whatever is lost, by an oracle that knows no rule; and replays, to the
cycle, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from models.link_volume import EndStimulus, LinkStimulus, PhyErrors, simulate_link
from models.spec import spec
from tests.unit.link_kit import (
    CABLE,
    FIRST,
    FLIGHT,
    M20,
    RX,
    SMALL,
    TX_OUT,
    VERDICT,
    end,
    frames_of,
    good,
    lost,
    payload,
    run,
)  # fmt: skip

TO_ERRORS = TX_OUT + 5 + CABLE  # from leaving to the errors, with SMALL


def numbers(x) -> list[int]:
    """Numbers of the segments that left, as their trailers say."""
    return [int(t) & M20 for t in x.tx["trailer"][x.tx["last"]]]


def kinds(x, kind: int) -> list[tuple[int, int]]:
    """(cycle of leaving, number) of an end's control sets of a kind."""
    found = []
    for row in x.ctl:
        d = int(row["word"]).to_bytes(8, "little")
        if d[1] == kind:
            found.append((int(row["leaves"]), d[2] << 12 | d[3] << 4 | d[4] >> 4))
    return found


@pytest.mark.parametrize("seed", range(24))
def test_exactly_once_in_order(seed):
    rng = np.random.default_rng(seed)
    data_w = 512 if seed % 3 else 1024
    lanes = int(rng.choice([1, 2, 16]))
    a = end(
        lanes=lanes, data_w=data_w, gate=int(rng.integers(2)), cells=int(rng.choice([8, 32])),
        phy_tx=int(rng.integers(1, 60)), phy_rx=int(rng.integers(1, 60)), replay_max=255,
        replay_timeout=int(rng.choice([400, 1000])), init_seq=int(rng.choice([0, M20 - 20, 77])),
        cnt_init=int(rng.choice([0, 32_760])),
    )  # fmt: skip
    stims, frames = [], []
    cycles = 40_000
    for _ in range(2):
        size = int(rng.choice([70, 600, 4224]))
        frames.append([rng.bytes(int(rng.integers(1, size + 1))) for _ in range(int(rng.integers(20, 150)))])
        until = 20_000  # then nothing is lost any more, and all must come
        hit = np.flatnonzero(rng.random(until) < rng.choice([0.002, 0.03]))
        faults = [(int(c), int(rng.integers(1, 4))) for c in hit]
        if seed % 4 == 0:  # nothing passes for a while
            faults = [f for f in faults if not 3000 <= f[0] < 3300] + [(c, 1) for c in range(3000, 3300)]
        errors = PhyErrors(seed=int(rng.integers(1 << 62)), faults=sorted(f for f in faults if f[0] > 0))
        stims.append({"errors": errors, "go": (rng.random(50) < 0.8).astype(int).tolist()})
    at, at_b = (sorted(rng.integers(1, 15_000, len(f)).tolist()) for f in frames)
    o = run(
        a, *frames, cycles=cycles, cable=int(rng.integers(1, 60)), at=at, at_b=at_b, stim_a=stims[0], stim_b=stims[1]
    )
    for x, y, sent in ((o.a, o.b, frames[0]), (o.b, o.a, frames[1])):
        got, rest = frames_of(y)
        assert rest == b""
        assert [f for f, _ in got] == sent
        assert not any(user for _, user in got)
        assert x.state == [(0, 2)]
        assert len(x.events(0)) == len(sent) == len(y.events(1))
    assert len(o.a.events(3)) + len(o.b.events(3)) > 0


def test_failing_codewords_and_bursts():
    """Errors as a PHY has them, one codeword in fifty failing: nothing is lost, nothing comes wrong."""
    thr = [(1 << 64) - 1] * 2 + [(1 << 64) // 50] * 8
    errors = [PhyErrors(seed=s, thr=thr, burst_thr=(1 << 64) // 500, burst_len=300) for s in (3, 4)]
    frames = [payload(4096, n) for n in range(100)]
    stims = [{"errors": e} for e in errors]
    o = run(end(replay_max=255), frames, frames, cycles=60_000, stim_a=stims[0], stim_b=stims[1])
    for x in (o.a, o.b):
        assert good(x) == frames
        assert len(x.events(9)) > 20
        failed = x.fec["failed"]
        assert 0.015 < failed.sum() / (60_000 * 50 / 320) < 0.04
        assert set(x.fec["corrected"][~failed].tolist()) <= set(range(1, 8))


def test_a_lost_segment_to_the_cycle():
    """Three segments of one beat; the second is lost. The third makes the gap, and all after the first comes again."""
    o = run(
        end(init_seq=M20, **SMALL), [payload(50, n) for n in range(3)], cycles=1000,
        stim_b={"errors": lost([FIRST + 1 + TO_ERRORS])},
    )  # fmt: skip
    leave = o.a.tx["leaves"].tolist()
    assert leave[0] == FIRST
    third = leave[2]
    gap = third + FLIGHT + VERDICT
    assert o.b.events(10) == [gap + 1]
    spacing = spec().cycles("link.ctl_spacing")
    ack = FIRST + FLIGHT + VERDICT + 1
    nack = max(gap + 1, ack + spacing)
    assert kinds(o.b, 1)[0] == (ack, M20)
    assert kinds(o.b, 2) == [(nack, M20)]
    judged = nack + FLIGHT + 1
    assert o.a.events(6) == [judged + 1]
    begin = judged + 1  # wanted
    assert o.a.events(3) == [begin + 1]
    assert leave[3] == begin + 2
    assert o.a.tx["kind"].tolist() == [0, 0, 0, 1, 1]
    assert numbers(o.a) == [M20, 0, 1, 0, 1]
    assert good(o.b) == [payload(50, n) for n in range(3)]
    assert int(o.b.m["cycle"][1]) == leave[3] + FLIGHT + RX


def test_a_lost_acknowledgement_is_made_up_by_the_next():
    o = run(
        end(**SMALL), [payload(50, n) for n in range(3)], cycles=3000, at=[1, 300, 600],
        stim_a={"errors": lost([FIRST + FLIGHT + VERDICT + 1 + TO_ERRORS])},
    )  # fmt: skip
    assert good(o.b) == [payload(50, n) for n in range(3)]
    assert o.a.events(3) == []
    assert len(o.a.events(5)) == 2  # the second acknowledges two


def test_duplicates_are_acknowledged_again():
    """The only acknowledgement is lost: time-out, replay, a duplicate, an acknowledgement of it."""
    a = end(replay_timeout=300, **SMALL)
    first = FIRST + FLIGHT + VERDICT + 1
    o = run(a, [payload(50)], cycles=2000, stim_a={"errors": lost([first + TO_ERRORS])})
    timeout = FIRST + 1 + 300
    assert o.a.events(4) == [timeout + 1]
    again = timeout + 1 + 2
    assert o.a.tx["leaves"].tolist() == [FIRST, again]
    verdict = again + FLIGHT + VERDICT
    assert o.b.events(8) == [verdict + 1]
    acks = [c for c, _ in kinds(o.b, 1)]
    assert acks == [first, verdict + 1]
    assert o.a.events(5) == [verdict + 1 + FLIGHT + 1 + 1]
    assert len(o.b.m) == 1


def test_replay_limit_to_the_cycle():
    """Nothing arrives: replays at each time-out, then a retrain, then no answer."""
    timeout, limit, retrain, patience = 200, 2, 50, 400
    a = end(replay_timeout=timeout, replay_max=limit, retrain=retrain, init_timeout=patience, **SMALL)
    o = run(a, [payload(64)], cycles=1450, stim_b={"errors": lost(range(1, 1450))})
    first = FIRST + 1 + timeout  # the timer is 0 in the cycle after the beat left
    # wanted a cycle later, begins, the beat two after, the timer runs from the cycle after it on
    expected = [first + n * (timeout + 4) for n in range(limit + 1)]
    assert o.a.events(4) == [c + 1 for c in expected]
    assert o.a.events(3) == [c + 2 for c in expected[:-1]]
    down = expected[-1] + 2  # the third begins not: RETRAIN
    init = down + retrain
    off = init + patience
    again = off + retrain
    assert o.a.events(17) == [down]
    assert o.a.reason[:3] == [(0, 0), (down, 128), (off, 128 | 8)]
    assert o.a.state[:5] == [(0, 2), (down, 3), (init, 1), (off, 0), (again, 1)]
    assert o.a.events(18) == [off]
    assert [int(r["lost"]) for r in o.a.ev if r["number"] == 18] == [1]


@pytest.mark.parametrize("limit", [1, 3])
def test_progress_clears_the_count(limit):
    """As many replays as one likes, as long as each brings one segment further: each is lost when it is new."""
    frames = [payload(50, n) for n in range(12)]
    a = end(replay_max=limit, replay_timeout=300, **SMALL)
    errors = lost([FIRST + 700 * n + TO_ERRORS for n in range(12)])
    o = run(a, frames, cycles=9000, stim_b={"errors": errors}, at=[1 + 700 * n for n in range(12)])
    assert good(o.b) == frames
    assert o.a.state == [(0, 2)]
    assert len(o.a.events(3)) == len(o.a.events(4)) == 12


def test_the_number_wraps():
    frames = [payload(50 + n, n) for n in range(40)]
    o = run(end(init_seq=M20 - 10, **SMALL), frames, cycles=4000, stim_b={"errors": lost([70, 80, 90])})
    assert good(o.b) == frames
    seen = numbers(o.a)
    assert M20 in seen
    assert 28 in seen
    assert all(n >= M20 - 10 or n <= 28 for n in seen)
    assert kinds(o.b, 1)[-1][1] == 28


def test_the_buffer_is_a_limit():
    """No acknowledgement comes: new frames stop when a largest one might not be recorded any more."""
    frames = [payload(4096, n) for n in range(30)]
    a = end(gate=0, replay_timeout=60_000, **SMALL)
    o = run(a, frames, cycles=4000, stim_a={"errors": lost(range(1, 4000))})
    room = spec().integer("link.replay_beats") - spec().integer("frame.max_beats")
    assert len(o.a.tx) == (room // 64 + 1) * 64


def test_poison_goes_through():
    """``user`` of a frame's last beat comes out with it, and with no other."""
    stim = EndStimulus.of_frames([payload(n, n) for n in (64, 300, 1000, 30)], 64)
    stim.user[:] = 1  # counts with the last beat only
    stim.user[np.flatnonzero(stim.last)[[0, 3]]] = 0
    o = simulate_link(end(**SMALL), end(**SMALL), CABLE, LinkStimulus(stim), 1000)
    assert [user for _, user in frames_of(o.b)[0]] == [False, True, True, False]


def test_an_undetected_loss_would_be_seen():
    """The oracle can fail: a frame left out, and one twice, are told."""
    frames = [payload(50, n) for n in range(4)]
    o = run(end(**SMALL), frames, cycles=500)
    assert good(o.b) == frames
    assert good(o.b) != frames[:2] + frames[3:]
    o = run(end(roce=1, **SMALL), frames := [payload(64, n, roce=True) for n in range(4)], cycles=500,
            stim_b={"errors": lost([FIRST + 84 // 50 + TO_ERRORS])})  # fmt: skip
    assert good(o.b) == [frames[0], *frames[2:]]  # no retry: one is lost


def test_a_segment_without_its_end_is_broken():
    """Its last beat is lost: the next segment's verdict is that something is broken, not that a number is missing."""
    frames = [payload(100, n) for n in range(3)]
    o = run(end(**SMALL), frames, cycles=1000, stim_b={"errors": lost([FIRST + 1 + TO_ERRORS])})
    assert o.a.tx["leaves"][1] == FIRST + 1
    assert o.b.events(9)[0] == int(o.a.tx["leaves"][3]) + FLIGHT + VERDICT + 1
    assert o.b.events(10) == []
    assert good(o.b) == frames
