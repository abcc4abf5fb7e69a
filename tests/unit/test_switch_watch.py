# SPDX-License-Identifier: Apache-2.0
"""Cells in use, credits and waiting beats, with cycles worked out by hand from docs/switch.md.

A beat that enters at *c* is inside from *c* + 1, decided at *c* + 5, taken at *c* + 7 alone, at the output 8 later.
"""

from __future__ import annotations

import numpy as np

from models.switch_config import SwitchConfig
from models.switch_volume import Stimulus, simulate
from models.switch_watch import Watched, watch
from tests.unit.test_switch_rules import UP, frame, only_at, played

DEAD = UP & ~1


def see(frames, ports: int = 8, **more) -> Watched:
    """Destination d is port d; ``frames``: of input 0, (earliest cycle, bytes)."""
    stimulus = {k: more.pop(k) for k in list(more) if k in Stimulus.__dataclass_fields__}
    config = SwitchConfig(ports, **more)
    given = Stimulus(
        beats=[played(*frames), *(played() for _ in range(ports - 1))],
        table=[(n, n, 1, n) for n in range(ports)],
        groups=[(n, n, 0, 1 << n) for n in range(ports)],
        **stimulus,
    )
    return watch(config, given, simulate(config, given, takes=True))


def test_cells_rise_behind_a_beat_and_fall_behind_its_taking():
    """Three beats enter at 20 to 22, are taken at 27 to 29."""
    assert see([(20, frame(1, 3))]).in_use[0] == [(0, 0), (21, 1), (22, 2), (23, 3), (28, 2), (29, 1), (30, 0)]


def test_a_dropped_beat_counts_until_its_decision():
    """No entry for 9: decided and dropped at 25."""
    assert see([(20, frame(9, 1))]).in_use[0] == [(0, 0), (21, 1), (26, 0)]


def test_an_abort_beat_counts():
    """Port 0 is dead from 22 on: beats of 20 and 21 entered, the abort beat enters at 22; taken at 27 to 29."""
    got = see([(20, frame(1, 4))], port_up=[(0, UP), (21, DEAD)])
    assert got.in_use[0] == [(0, 0), (21, 1), (22, 2), (23, 3), (28, 2), (29, 1), (30, 0)]


def test_an_abort_beat_that_waits_counts_from_then_on():
    """E3, Q5: six beats for output 1, dead from 101 on, then a stream for output 2, of which seven beats are inside.
    Late from 166 to 170, and input 0 dies at 166 in a frame's middle: its abort beat enters at 171, is taken at 177;
    the frames to discard from 178 on."""
    frames = [(20, frame(1, 2))] * 3 + [(c, frame(2, 2)) for c in range(27, 300, 2)]
    got = see(frames, pause=[(0, 2)], port_up=[(0, UP), (100, UP & ~2), (165, UP & ~3)])
    falls = [(167, 12), (168, 11), (169, 10), (170, 9), (171, 8), (173, 7), *((178 + n, 6 - n) for n in range(7))]
    assert [row for row in got.in_use[0] if row[0] > 40] == falls


def test_cells_that_are_not_said_are_not_in_use():
    """F10: the same stream with credits: late from 166 on, thirteen beats are inside as long as it goes on."""
    frames = [(20, frame(1, 2))] * 3 + [(c, frame(2, 2)) for c in range(26, 300, 2)]
    got = see(frames, pause=[(0, 2)], port_up=[(0, UP), (100, UP & ~2)], cells=32, max_beats=2, credit_en=True,
              credit_init=70, gate=True)  # fmt: skip
    assert [row for row in got.in_use[0] if 33 < row[0] < 187] == [(185, 12), (186, 11)]
    assert max(n for _, n in got.in_use[0]) == 13
    assert got.in_use[0][-1][1] == 0


def test_credits_fall_behind_a_taking_and_come_back():
    """Taken at 27 and 28, accepted at 35 and 36, given back a cycle later, seen the cycle after that."""
    got = see([(20, frame(1, 2))], credit_en=True, credit_init=70)
    assert got.credits[1, 0] == [(0, 70), (28, 69), (29, 68), (37, 69), (38, 70)]
    assert got.credits[2, 0] == [(0, 70)]


def test_credits_wait_for_the_far_end():
    """It gives back in cycles that are a multiple of 10 alone: both at 40."""
    ready = only_at(1, 1, *[0] * 9)
    got = see([(20, frame(1, 2))], credit_en=True, credit_init=70, credit_ready=ready)
    assert got.credits[1, 0] == [(0, 70), (28, 69), (29, 68), (41, 70)]


def test_credits_of_a_dead_port_start_anew():
    """Output 1 is dead from 31 on: what is on its way is lost, what the far end owes forgotten."""
    got = see([(20, frame(1, 2))], credit_en=True, credit_init=70, port_up=[(0, UP), (30, UP & ~2)])
    assert got.credits[1, 0] == [(0, 70), (28, 69), (29, 68), (32, 70)]
    assert got.waited[1] == []


def test_lanes_have_credits_of_their_own():
    got = see([(20, frame(1, 1, lane=1))], lanes=2, credit_en=True, credit_init=70)
    assert got.credits[1, 0] == [(0, 70)]
    assert got.credits[1, 1] == [(0, 70), (28, 69), (37, 70)]


def test_a_beat_waits_for_its_link():
    """There at 35 and 36, accepted at 40 and 50: it waits in between, each cycle counted once."""
    got = see([(20, frame(1, 2))], ready=only_at(1, 1, *[0] * 9))
    assert got.waited[1] == [*range(35, 40), *range(41, 50)]
    assert np.sum([len(x) for x in got.waited.values()]) == 14


def test_without_credits_the_register_shows_the_far_ends_cells():
    assert see([(20, frame(1, 2))], credit_init=5).credits[1, 0] == [(0, 5)]
