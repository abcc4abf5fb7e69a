# SPDX-License-Identifier: Apache-2.0
"""Frames of a dead port behind a stream without a gap: rules Q3, Q5, E1, E3, F10, F11 and O1 of docs/switch.md, with
cycles that were worked out by hand from the page.

Output 1 is paused, so that frames for it wait; its pin falls at 100, so they are stranded from 101 on, and with W = 64
wait is 64 at 165 and late is 1 at 166. Group 1 has no other port: a frame moved at *t* is decided at *t* + 4 as `no
way`, which `drop` shows at *t* + 5.
"""

from __future__ import annotations

from models.switch_state import ABORTED_CODE, NO_WAY
from models.switch_volume import Outcome
from tests.unit.test_switch_rules import UP, events, frame, go, left

HOLD = [(0, 2)]
DEAD = [(0, UP), (100, UP & ~2)]


def stream(at: int, end: int, gaps: tuple[int, ...] = ()) -> list[tuple[int, bytes]]:
    """Frames of two beats for output 2, one behind the other from ``at`` up to ``end``; nothing is played at ``gaps``,
    at which a frame would begin."""
    found = []
    while at < end:
        at += at in gaps
        found.append((at, frame(2, 2)))
        at += 2
    return found


def late(*spans: int) -> list[tuple[int, int]]:
    """What ``late`` is when input 0 alone is late, from the first cycle to before the second, and so on."""
    return [(0, 0), *((cycle, 1 - n % 2) for n, cycle in enumerate(spans))]


def moved(outcome: Outcome) -> list[int]:
    """Cycles at which frames of input 0 were moved."""
    return [cycle - 5 for cycle, code in events(outcome.drop[0]) if code == NO_WAY]


def run(frames: list[tuple[int, bytes]], **more) -> Outcome:
    """Input 0 alone."""
    return go({0: frames}, **{"pause": HOLD, "port_up": DEAD, **more})


# --- when a frame may move (Q3) --------------------------------------------------------------------------------------


def test_the_queue_of_which_a_frame_begins_is_not_stranded():
    """Two frames for output 1, no pause from 99 on: match at 100, first beat at 101, when live is 0. The second frame's
    queue is stranded from 102 on."""
    assert moved(run([(20, frame(1, 2))] * 2, pause=[(0, 2), (99, 0)])) == [102]


def test_another_lane_of_that_output_is_stranded():
    """As above, with a frame of lane 1 beside them, paused for ever: it moves at 101."""
    frames = [(20, frame(1, 2))] * 2 + [(20, frame(1, 1, lane=1))]
    outcome = run(frames, lanes=2, pause=[(0, 0b11 << 2), (99, 0b10 << 2)])
    assert moved(outcome) == [101, 102]


def test_a_frame_that_begins_elsewhere_stops_no_move():
    """The frame for output 2 is matched at 100 and its first beat taken at 101, when the other one moves."""
    outcome = run([(20, frame(1, 1)), (20, frame(2, 1))], pause=[(0, 6), (99, 2)])
    assert left(outcome, 2) == [109]
    assert moved(outcome) == [101]


# --- who is late (Q5), with tready -----------------------------------------------------------------------------------


def test_a_stream_without_a_gap_is_stopped_and_all_frames_move():
    """tready is 0 from 166 on, so nothing enters at 166, and frames move at 167, 168, 169: W + 2 cycles after 101 the
    first one. At 170 none is stranded, late is 0 at 171."""
    outcome = run([(20, frame(1, 2))] * 3 + stream(26, 400))
    assert outcome.late == late(166, 171)
    assert moved(outcome) == [167, 168, 169]
    assert outcome.taken[0].tolist()[:147] == [*range(20, 166), 171]
    assert events(outcome.free[0])[-1][1] == 1


def test_a_gap_in_time_is_enough():
    """Nothing enters at 163: the frame moves at 164, and nobody is late."""
    outcome = run([(20, frame(1, 1)), *stream(21, 400, gaps=(163,))])
    assert moved(outcome) == [164]
    assert outcome.late == late()


def test_a_gap_in_the_last_cycle_comes_too_late():
    """Nothing enters at 164: the frame moves at 165, when wait is 64, so late is 1 at 166, for nothing."""
    outcome = run([(20, frame(1, 2)), *stream(22, 400, gaps=(164,))])
    assert moved(outcome) == [165]
    assert outcome.late == late(166, 167)
    assert [c for c in range(150, 180) if c not in outcome.taken[0].tolist()] == [164, 166]


def test_a_move_begins_the_wait_anew():
    """Nothing enters at 130: one of three moves at 131, wait is 0 at 132 and 64 at 196, late 1 at 197."""
    outcome = run([(20, frame(1, 2))] * 3 + stream(26, 400, gaps=(130,)))
    assert moved(outcome) == [131, 198, 199]
    assert outcome.late == late(197, 201)


def test_a_port_that_comes_back_ends_it():
    """The pin rises at 165, so live is 1 at 166: late for that cycle, and nothing moves. Ok at 301, with no pause."""
    outcome = run([(20, frame(1, 1)), *stream(21, 400)], port_up=[*DEAD, (165, UP)], pause=[(0, 2), (300, 0)])
    assert outcome.late == late(166, 167)
    assert moved(outcome) == []
    # asked for from 301 on, when the input is free: a frame of the stream ends every other cycle
    assert len(outcome.out[1]) == 1


def test_the_wait_of_one_death_is_not_that_of_the_next():
    """Back from 131 to 150: wait is 0 from 132 to 151, 64 at 215."""
    outcome = run([(20, frame(1, 2)), *stream(22, 400)], port_up=[*DEAD, (130, UP), (150, UP & ~2)])
    assert outcome.late == late(216, 219)
    assert moved(outcome) == [217]


def test_others_are_not_late():
    """Two inputs have streams, input 5 alone has a frame for the dead port."""
    outcome = go({0: stream(20, 300), 5: [(20, frame(1, 2)), *((c, frame(3, 2)) for c in range(22, 300, 2))]},
                 pause=HOLD, port_up=DEAD)  # fmt: skip
    assert outcome.late == [(0, 0), (166, 1 << 5), (169, 0)]
    assert outcome.taken[0].tolist() == list(range(20, 20 + len(outcome.taken[0])))


def test_an_abort_beat_waits_for_tready():
    """E3: input 0 dies too, at 166, inside a frame whose first beat entered at 165. Late until 170: the abort beat
    enters at 171 and is decided at 176."""
    port_up = [*DEAD, (165, UP & ~3)]
    outcome = run([(20, frame(1, 2))] * 3 + stream(27, 300), port_up=port_up)
    assert moved(outcome) == [167, 168, 169]
    assert events(outcome.drop[0])[-1] == (177, ABORTED_CODE)


# --- late by credits (F10) -------------------------------------------------------------------------------------------

CREDITS = {"credit_en": True, "credit_init": 100, "gate": True, "max_beats": 2}


def test_no_credits_are_said_while_late():
    """Six cells are stranded, and the stream has nine on their way: 18 of the gate's 32 are left up to 167, as those of
    165 come back there. From then on one less a cycle: a first beat passes with 2 of them, at 182, not at 184.

    So 184 is idle, frames move at 185, 186, 187, and late is 0 at 189. Owed then: cells taken from 166 to 188, 23. At
    189 and 190 the last of the stream are taken, from 191 to 196 the three frames to discard; the gate sees 4 cells at
    191, so the stream's next beats are taken from 198 on. 3 a cycle are said from 189 to 199: all 33.
    """
    outcome = run([(20, frame(1, 2))] * 3 + stream(26, 400), cells=32, **CREDITS)
    assert outcome.late == late(166, 189)
    assert moved(outcome) == [185, 186, 187]
    assert outcome.taken[0].tolist()[:166] == [*range(20, 184), 191, 192]
    said = [(c, n) for c, n in events(outcome.free[0]) if 160 <= c <= 202]
    assert said == [*((c, 1) for c in range(160, 167)), *((c, 3) for c in range(190, 201)), (201, 1), (202, 1)]
    # given back all the while
    assert [c for c, _ in events(outcome.given[0]) if 160 <= c <= 200] == [*range(160, 198), 199, 200]


def test_no_more_is_owed_than_a_lane_has():
    """F10: a far end that sends without credit, here up to 240. Sixteen cells a lane: at 182 one more would be owed, so
    one a cycle is said from then on. The frame moves at 242, late is 0 at 244. Owed then 16; the last of the stream is
    taken at 247, the frame at 248: 21 cells, 3 a cycle from 244 to 250."""
    frames = [(20, frame(1, 1)), *stream(21, 241)]
    outcome = run(frames, cells=16, **{**CREDITS, "gate": False})
    assert outcome.late == late(166, 244)
    assert moved(outcome) == [242]
    said = [(c, n) for c, n in events(outcome.free[0]) if c >= 160]
    once = [*range(160, 167), *range(183, 245)]
    assert said == [*((c, 1) for c in once), *((c, 3) for c in range(245, 252))]


def test_lanes_are_said_each_by_itself():
    """The stream is in lane 1, lane 0 gives nothing while late: what is owed is said in lane 1."""
    frames = [(20, frame(1, 2))] * 3 + [(c, frame(2, 2, lane=1)) for c in range(26, 300, 2)]
    outcome = run(frames, cells=64, lanes=2, pause=[(0, 0b11 << 2)], **CREDITS)
    rise = outcome.late[2][0]
    said = events(outcome.free[0])
    assert [n for c, n in said if 167 <= c <= rise] == []
    assert dict(said)[rise + 1] == 3 << 2


def test_a_dead_input_says_what_it_owes_before_it_is_drained():
    """F10, O1: one cell is stranded at input 0, whose gate has 128; its own pin is 0 at 238 and 239, its live at 239.

    Owed at 239: cells of 166 to 238, 73. No longer held back: 3 a cycle. The last of the stream, of 238, is taken at
    245; the frame moves at 240, joins the discards at 244 and is taken at 246, so inside is 0 at 247. Owed is 57
    then, 0 at 266: live is 1 at 267.
    """
    port_up = [*DEAD, (238, UP & ~3), (240, UP & ~2)]
    outcome = run([(20, frame(1, 1)), *stream(21, 400)], cells=128, port_up=port_up, **CREDITS)
    assert outcome.late == late(166, 242)
    assert moved(outcome) == [240]
    assert outcome.live[-2:] == [(239, UP & ~3), (267, UP & ~2)]
    said = [(c, n) for c, n in events(outcome.free[0]) if 160 <= c <= 267]
    assert said == [*((c, 1) for c in range(160, 167)), *((c, 3) for c in range(240, 267))]


def test_what_is_owed_is_said_though_nothing_else_happens():
    """The same input without a gate, which stays dead and has no more to play: idle but for what it owes, up to 266."""
    frames = [(20, frame(1, 1)), *stream(21, 239)]
    outcome = run(frames, cells=128, port_up=[*DEAD, (238, UP & ~3)], **{**CREDITS, "gate": False})
    assert events(outcome.free[0])[-1] == (266, 3)
    assert sum(n for _, n in events(outcome.free[0])) == len(outcome.taken[0]) == 219


# --- late by pause (F11) ---------------------------------------------------------------------------------------------

PFC = {"pfc": True, "xoff": 20, "xon": 3}


def test_late_is_a_pause():
    """The far end goes on until 199, then stops: frames move at 201, 202, 203, late and s_pause are 0 at 205. Held are
    cells between the thresholds all the time, 6 of them at 205: what late began does not wait for xon."""
    outcome = run([(20, frame(1, 2))] * 3 + stream(26, 200) + stream(240, 260), **PFC)
    assert outcome.late == outcome.pause == late(166, 205)
    assert moved(outcome) == [201, 202, 203]
    assert outcome.taken[0].tolist()[:181] == [*range(20, 200), 240]


def test_a_pause_by_cells_stays():
    """xoff is 7: the six stranded cells and the stream's two keep the lane paused from the start, and until xon."""
    frames = [(20, frame(1, 2))] * 3 + stream(26, 200)
    outcome = run(frames, pfc=True, xoff=7, xon=3)
    assert outcome.late == late(166, 205)
    # held 6 from 31 on, the stream's beats add 1 or 2: 7 at 32, pause at 33; the moved frames are discarded from 206 on
    assert outcome.pause[1] == (33, 1)
    assert outcome.pause[2][0] > 205
    assert len(outcome.pause) == 3


def test_with_a_pause_credits_are_said_all_the_while():
    """F10: cfg_pfc and cfg_credit_en: the pause is what the configuration has."""
    outcome = run([(20, frame(1, 2))] * 3 + stream(26, 200), **PFC, **CREDITS, cells=128)
    assert outcome.late == late(166, 205)
    assert [c for c, n in events(outcome.free[0]) if 150 <= c <= 205 and n == 1] == list(range(150, 206))


def test_a_frame_that_arrives_moves_while_its_beats_wait():
    """Q3, Q5: the stream without a gap is the stranded frame itself, 100 beats from 90 on: moved at 167, its last 24
    beats enter from 169 on."""
    outcome = run([(90, frame(1, 100))], max_beats=100)
    assert outcome.late == late(166, 169)
    assert moved(outcome) == [167]
    assert outcome.taken[0].tolist() == [*range(90, 166), *range(169, 193)]
    assert sum(n for _, n in events(outcome.free[0])) == 100
