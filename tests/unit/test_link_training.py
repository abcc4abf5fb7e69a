# SPDX-License-Identifier: Apache-2.0
"""Bring-up, refusals and their reasons, retraining and restarts: cycles worked out by hand from docs/link.md."""

from __future__ import annotations

import pytest

from models.link_volume import PhyErrors
from models.spec import spec
from tests.unit.link_kit import CABLE, FIRST, FLIGHT, SMALL, TX_OUT, VERDICT, end, frames_of, good, lost, payload, run

OFF, INIT, UP, RETRAIN = range(4)
R = 50  # cycles without signal
SPACING, INTERVAL = spec().cycles("link.ctl_spacing"), spec().cycles("link.init_interval")
LIMIT = spec().integer("link.retrain_max")
NO_ANSWER, NO_PROGRESS, FAR_RESTART, SEQUENCE = 8, 16, 32, 64


def cold(**fields: int):
    """An end that has to be brought up."""
    return end(**{"preset": 0, "retrain": R, "init_timeout": 1000, **SMALL, **fields})


def test_bring_up_to_the_cycle():
    frames = [payload(100, n) for n in range(5)]
    o = run(cold(), frames, cycles=1000, at=[400 + n for n in range(5)])
    init = R  # OFF in cycles 0 to R-1
    accepted = init + FLIGHT + 2
    echo = accepted  # due then, SPACING after the INIT has long passed
    on = echo + FLIGHT + 2
    for x in (o.a, o.b):
        assert x.state == [(0, OFF), (init, INIT), (on + 1, UP)]
        assert x.up == [(0, 0), (accepted, 1)]
        assert x.reason == [(0, 0)]
        assert x.vector("credits")[:2] == [(0, 0), (accepted, 16 * x.config.cfg.cells)]
        assert x.sig == [(0, 0), (init + 1 + x.config.cfg.phy_tx + 3, 1)]
        kinds = [(int(r["leaves"]), int(r["word"]) >> 8 & 0xFF) for r in x.ctl][:4]
        # the second INIT is on its way before the echo is there, and is echoed too
        second = init + INTERVAL
        again = second + FLIGHT + 2
        assert kinds[:3] == [(init, 3), (echo, 4), (second, 3)]
        assert (again, 4) in kinds
    assert good(o.b) == frames


def test_frames_wait_or_go_before_the_link_is_up():
    """Up=0: thrown away, one beat a cycle; up without tx_on: they wait."""
    frames = [payload(64, n) for n in range(30)]
    at = [1 + 6 * n for n in range(30)]
    o = run(cold(), frames, cycles=1000, at=at)
    accepted = R + FLIGHT + 2
    on = accepted + FLIGHT + 2
    thrown = sum(1 for c in at if c + 1 < accepted)
    assert o.a.events(16) == [c + 2 for c in at[:thrown]]
    assert good(o.b) == frames[thrown:]
    assert o.a.tx["leaves"][0] == on


def test_drained_and_enable_are_waited_for():
    never = [(0, 0), (300, 1)]
    o = run(cold(), [], cycles=900, stim_a={"drained": never}, stim_b={"enable": [(0, 0), (200, 1)]})
    assert o.a.state[1] == (301, INIT)
    assert o.b.state[1] == (201, INIT)
    assert o.a.state[-1][1] == o.b.state[-1][1] == UP


@pytest.mark.parametrize(
    ("ours", "theirs", "lanes", "reason"),
    [
        ({"roce": 1}, {}, (1, 1), 1), ({}, {"kp4": 1}, (1, 1), 2), ({}, {}, (2, 3), 4),
        ({"kp4": 1, "roce": 1}, {}, (1, 2), 7),
    ],
)  # fmt: skip
def test_refusals(ours, theirs, lanes, reason):
    delays = {"preset": 0, "retrain": R, "init_timeout": 300, **SMALL}
    a, b = (end(n, **{**delays, **x}) for n, x in zip(lanes, (ours, theirs), strict=True))
    o = run(a, [], b=b, cycles=2000)
    first = R + FLIGHT + 1
    for x in (o.a, o.b):
        assert x.events(19)[0] == first + 1
        assert x.reason[:3] == [(0, 0), (first + 1, reason), (R + 300, reason | NO_ANSWER)]
        assert x.state[:4] == [(0, OFF), (R, INIT), (R + 300, OFF), (2 * R + 300, INIT)]
        assert x.up == [(0, 0)]


def test_retrain_keeps_everything():
    """Asked for in the middle of a large frame, with segments on the way: all comes, once and in order."""
    frames = [payload(4096, n) for n in range(12)]
    a = end(retrain=R, **SMALL)
    o = run(a, frames, frames[:4], cycles=4000, stim_a={"retrain_req": [(300, 1), (301, 0)]})
    assert good(o.b) == frames
    assert good(o.a) == frames[:4]
    down = 301
    far = down + 1 + FLIGHT + 1  # sig falls a cycle after the state, seen, RETRAIN
    assert o.a.state[:3] == [(0, UP), (down, RETRAIN), (down + R, INIT)]
    assert o.b.state[:3] == [(0, UP), (far, RETRAIN), (far + R, INIT)]
    assert o.a.up == o.b.up == [(0, 1)]
    assert o.a.events(17) == [down]
    assert o.b.events(17) == [far]
    quiet = (o.a.tx["leaves"] >= down) & (o.a.tx["leaves"] < down + R)
    assert not quiet.any()
    assert len(o.a.events(3)) == 1
    assert o.a.reason == [(0, 0)]


@pytest.mark.parametrize("cut", [1, 10, 200])
def test_a_cut_is_survived(cut):
    frames = [payload(1500, n) for n in range(30)]
    errors = PhyErrors(cuts=[(400, 1), (400 + cut, 0)])
    o = run(end(retrain=R, **SMALL), frames, frames, cycles=6000, stim_a={"errors": errors})
    assert good(o.a) == good(o.b) == frames
    assert o.a.state[1] == (400 + 7 + 1, RETRAIN)
    assert len(o.a.events(17)) == len(o.b.events(17)) == 1


def test_retrain_in_roce_throws_the_open_frame_away():
    frames = [payload(4096, n, roce=True) for n in range(3)]
    o = run(end(roce=1, retrain=R, **SMALL), frames, cycles=3000, stim_a={"retrain_req": [(20, 1), (21, 0)]})
    assert good(o.b) == frames[1:]
    assert len(o.a.events(16)) == 1
    assert o.b.events(11) == []  # forgotten, not broken


def test_far_restart():
    """One end is switched off and on: the other one's session is void, both begin afresh."""
    frames = [payload(400, n) for n in range(8)]
    more = {"enable": [(500, 0), (510, 1)]}
    at = [1 + 3 * n for n in range(4)] + [2000] * 4
    o = run(end(retrain=R, init_timeout=3000, **SMALL), frames, cycles=4000, at=at, stim_b=more)
    assert o.b.state[:4] == [(0, UP), (501, OFF), (501 + R, INIT), o.b.state[3]]
    seen = 501 + 1 + FLIGHT + 1
    fresh = 501 + R + FLIGHT + 2
    assert o.a.state[:4] == [(0, UP), (seen, RETRAIN), (seen + R, INIT), (o.a.state[3][0], OFF)]
    # b's INIT comes while a still trains: a later one is judged
    assert o.a.state[3][0] == fresh + INTERVAL
    assert o.a.reason[:2] == [(0, 0), (o.a.state[3][0], FAR_RESTART)]
    assert o.a.reason[-1][1] == 0
    assert o.a.state[-1][1] == o.b.state[-1][1] == UP
    assert good(o.b) == frames
    assert [int(r["lost"]) for r in o.a.ev if r["number"] == 18] == [0]


def test_down_in_the_middle_of_a_frame_ends_it():
    """What the core had of a frame is ended by a poisoned byte; the sender's rest is thrown away."""
    frames = [payload(4096, n) for n in range(2)]
    o = run(end(retrain=R, **SMALL), frames, cycles=3000, stim_b={"enable": [(80, 0), (90, 1)]})
    got, rest = frames_of(o.b)
    assert rest == b""
    assert o.b.up[:2] == [(0, 1), (81, 0)]
    poisoned = got[0]
    assert poisoned[1]
    assert poisoned[0][-1:] == b"\0"
    assert frames[0].startswith(poisoned[0][:-1])
    assert int(o.b.m["cycle"][o.b.m["last"]][0]) == 82
    assert all(not user and f in frames for f, user in got[1:])
    lost = [int(r["lost"]) for r in o.a.ev if r["number"] == 18]
    assert len(lost) == 1
    assert lost[0] > 0


def test_retrains_without_progress_end():
    """A segment that never arrives, no replay allowed: after so many retrains the link gives up, says why, and comes
    up afresh. The far end, which has nothing to lose, counts none."""
    a = end(retrain=R, init_timeout=2000, replay_max=0, replay_timeout=400, **SMALL)
    gone = {"errors": lost([FIRST + TX_OUT + 5 + CABLE])}
    o = run(a, [payload(64)], cycles=6000, stim_b=gone)
    assert len(o.a.events(17)) == LIMIT
    down = [cycle for cycle, state in o.a.state if state == OFF]
    assert len(down) == 1
    assert next(reason for cycle, reason in o.a.reason if cycle == down[0]) & NO_PROGRESS
    assert o.a.state[-1][1] == o.b.state[-1][1] == UP
    assert o.a.reason[-1][1] == 0
    assert [int(r["lost"]) for r in o.a.ev if r["number"] == 18] == [1]


def test_progress_lets_it_retrain_for_ever():
    asks = [(400 * n + s, 1 - s) for n in range(1, LIMIT + 4) for s in range(2)]
    frames = [payload(64, n) for n in range(LIMIT + 4)]
    o = run(end(retrain=R, **SMALL), frames, frames, cycles=5000, at=[400 * n + 250 for n in range(LIMIT + 4)],
            stim_a={"retrain_req": asks})  # fmt: skip
    assert len(o.a.events(17)) == LIMIT + 3
    assert good(o.b) == good(o.a) == frames
    assert not o.a.events(18)


def test_sequence_that_cannot_be():
    """Ends that were told different numbers find out when they train anew."""
    a, b = (end(retrain=R, init_timeout=2000, init_seq=n, **SMALL) for n in (100, 5))
    o = run(a, [], b=b, cycles=3000, stim_a={"retrain_req": [(100, 1), (101, 0)]})
    assert any(r & SEQUENCE for _, r in o.b.reason)
    assert o.a.state[-1][1] == o.b.state[-1][1] == UP


def test_no_answer():
    o = run(cold(), [], cycles=2500, stim_b={"enable": [(0, 0)]})
    assert o.a.state[:4] == [(0, OFF), (R, INIT), (R + 1000, OFF), (2 * R + 1000, INIT)]
    assert o.a.reason == [(0, 0), (R + 1000, NO_ANSWER)]
    assert [int(r["leaves"]) for r in o.a.ctl][:3] == [R, R + INTERVAL, R + 2 * INTERVAL]


def test_sessions_count():
    """Each entry into INIT has a number of its own, modulo 8."""
    o = run(cold(init_timeout=100), [], cycles=3000, stim_b={"enable": [(0, 0)]})
    sessions = []
    for row in o.a.ctl:
        data = int(row["word"]) >> 40 & 0xFFFF
        if not sessions or sessions[-1] != data >> 12 & 7:
            sessions.append(data >> 12 & 7)
    assert sessions[:10] == [1, 2, 3, 4, 5, 6, 7, 0, 1, 2]


def test_first_acknowledgement_and_refresh():
    """Out of reset nothing is said until there is news, but for the refreshes."""
    refresh = spec().cycles("link.refresh")
    o = run(end(**SMALL), [], cycles=2 * refresh + 100)
    kinds = [(int(r["leaves"]), int(r["word"]) >> 8 & 0xFF) for r in o.a.ctl]
    assert kinds == [
        (refresh, 1), (refresh + SPACING, 0x10), (2 * refresh, 1), (2 * refresh + SPACING, 0x10)
    ]  # fmt: skip
    o = run(end(**SMALL), [payload(64)], cycles=300)
    assert int(o.b.ctl["leaves"][0]) == FIRST + FLIGHT + VERDICT + 1
