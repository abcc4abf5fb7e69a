# SPDX-License-Identifier: Apache-2.0
"""Single rules of docs/switch.md on the golden model, each with cycles that were worked out by hand from the page.

T is the latency through an empty switch, 15 cycles: a beat that enters at *c* is decided at *c* + 5, its frame may be
asked for from *c* + 6, its first beat is taken at *c* + 7 and is at the output at *c* + 15.

One list, in the order of the page, so that a rule without a case shows: that is why the file is long.
"""

from __future__ import annotations

import binascii
import itertools

import numpy as np
import pytest

from models.kernel import Stuck
from models.switch_config import SwitchConfig
from models.switch_header import headers
from models.switch_state import (
    ABORTED_CODE,
    CUT,
    FLOW,
    H_INFO,
    LONG,
    MALFORMED,
    NO_WAY,
    OVERFLOW,
    SHORT,
    UNKNOWN,
)  # fmt: skip
from models.switch_volume import Outcome, Stimulus, simulate
from tb.common.beats import Frame, Records, StreamFormat, beats_from_frames

T = 15
UP = (1 << 8) - 1


def frame(dest: int, beats: int, lane: int = 0, stated: int = 0, tag: int = 0, qp: int = 0) -> bytes:
    """A native frame of whole 64-byte beats; ``stated`` beats in its header when they differ."""
    words = (64 * (stated or beats) - 2) // 4
    head = (
        bytes([lane << 4, 2]) + (dest & 0xFFFF).to_bytes(2, "big") + bytes([dest >> 16 << 3 | words >> 8, words & 255])
    )
    head += tag.to_bytes(2, "big") + bytes(5) + qp.to_bytes(3, "big")
    return head + bytes(64 * beats - len(head))


def played(*frames: tuple[int, bytes]) -> Records:
    """Play records of one input from (earliest cycle, frame)."""
    return beats_from_frames([Frame(data, cycle) for cycle, data in frames], StreamFormat())


def go(inputs: dict[int, list[tuple[int, bytes]]] | dict[int, Records], ports: int = 8, groups=(), **more) -> Outcome:
    """Destination d has group d: port d alone, unless ``groups`` (number, mode, set) says otherwise."""
    stimulus = {k: more.pop(k) for k in list(more) if k in Stimulus.__dataclass_fields__}
    given = [inputs.get(i, []) for i in range(ports)]
    beats = [b if isinstance(b, np.ndarray) else played(*b) for b in given]
    table = [(n, n, 1, n) for n in range(32)]
    sets = {n: (0, 1 << n if n < ports else 0) for n in range(32)} | {n: (mode, set_) for n, mode, set_ in groups}
    stimulus.setdefault("table", table)
    return simulate(
        SwitchConfig(ports, **more),
        Stimulus(beats, groups=[(n, n, mode, set_) for n, (mode, set_) in sets.items()], **stimulus),
    )


def only_at(output: int, *bits: int) -> list[np.ndarray | None]:
    """A pattern for one output of eight; the others take every cycle."""
    return [np.array(bits, bool) if o == output else None for o in range(8)]


def left(outcome: Outcome, output: int) -> list[int]:
    """Cycles of the beats that left an output."""
    return [int(c) for c in outcome.out[output]["cycle"]]


def events(rows: np.ndarray) -> list[tuple[int, int]]:
    """(cycle, value) pairs."""
    return [(int(c), int(v)) for c, v in rows.tolist()]


# --- time through an empty switch ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("i", "o"), list(itertools.product(range(4), range(4))))
@pytest.mark.parametrize("alloc", range(6))
def test_zero_load(i, o, alloc):
    outcome = go({i: [(50, frame(o, 3))]}, ports=4, alloc=alloc)
    assert outcome.taken[i].tolist() == [50, 51, 52]
    assert left(outcome, o) == [50 + T, 51 + T, 52 + T]
    assert events(outcome.free[i]) == [(58, 1), (59, 1), (60, 1)]  # taken at 57, given back a cycle later
    assert outcome.live == [(0, 0), (1, 15)]


def test_nothing_is_offered_before_cycle_1():
    assert left(go({0: [(0, frame(1, 1))]}), 1) == [1 + T]


def test_store_and_forward_waits_for_the_last_beat():
    outcome = go({0: [(50, frame(1, 4))]}, saf=True)
    assert left(outcome, 1) == [53 + T + n for n in range(4)]


def test_single_beats_follow_each_other_without_a_gap():
    """The pipe is full: 100 % of the line from one input to one output."""
    outcome = go({0: [(10, frame(1, 1)) for _ in range(200)]})
    assert left(outcome, 1) == [10 + T + n for n in range(200)]


def test_a_slow_sink_takes_by_its_pattern():
    ready = only_at(1, 1, 0, 0)
    assert left(go({0: [(10, frame(1, 4))]}, ready=ready), 1) == [27, 30, 33, 36]


def test_room_for_a_largest_frame_is_asked_before_a_match():
    """O4 with M = 2 and 8 beats of FIFO: no match while more than 5 are booked. The sink takes nothing before 99."""
    ready = only_at(1, *[0] * 99, 1)
    frames = [(10, frame(1, 2)) for _ in range(5)]
    outcome = go({0: frames}, ready=ready, max_beats=2, egress=8, max_cycles=100_000)
    # matches at 16, 18, 20, 22 see 0, 1, 3, 5 booked (a beat counts from the cycle after it was taken), then 8 are.
    # Beats leave at 99, 199, 299: booked is 5 at 300, match at 300, beats taken at 301 and 302
    assert [int(c) for c, _ in outcome.free[0].tolist()] == [18, 19, 20, 21, 22, 23, 24, 25, 302, 303]


# --- entrance and drops ----------------------------------------------------------------------------------------------


def drops(data: bytes, **more) -> list[tuple[int, int]]:
    """Drop events of a frame offered at 20 on input 2; a good frame behind it must come through."""
    outcome = go({2: [(20, data), (20, frame(1, 2))]}, **more)
    assert len(outcome.out[1]) >= 2
    assert outcome.out[1]["last"][-1]
    assert not outcome.out[1]["user"][-1]
    assert sum(v for _, v in events(outcome.free[2])) == len(data) // 64 + 2
    return events(outcome.drop[2])


def changed(data: bytes, **at: int) -> bytes:
    """``data`` with single bytes set: ``b1=3`` sets byte 1."""
    new = bytearray(data)
    for name, value in at.items():
        new[int(name[1:])] = value
    return bytes(new)


@pytest.mark.parametrize(
    "data",
    [
        changed(frame(1, 3), b0=1), changed(frame(1, 3), b1=1), changed(frame(1, 3), b0=0x10),
        changed(frame(1, 3), b4=0, b5=5), changed(frame(1, 3), b1=3, b4=0, b5=15),
    ],
)  # fmt: skip
def test_malformed_is_dropped_whole(data):
    assert drops(data) == [(20 + 5 + 1, MALFORMED)]


def test_lengths_at_the_edge_are_good():
    short = changed(frame(1, 1), b4=0, b5=6)
    assert go({2: [(20, short)]}).counters["malformed"] == 0
    assert go({2: [(20, changed(frame(1, 1), b1=3, b4=0, b5=16))]}).counters["malformed"] == 0


def test_long_unknown_and_no_way():
    assert drops(frame(1, 3), max_beats=2) == [(26, LONG)]
    assert drops(frame(1000, 3)) == [(26, UNKNOWN)]
    assert drops(frame(0x10001, 3)) == [(26, UNKNOWN)]
    assert drops(frame(9, 3)) == [(26, NO_WAY)]
    assert drops(frame(9, 3), groups=[(9, 3, 4)]) == [(26, NO_WAY)]  # multicast to the input itself


def test_destinations_wider_than_16_bits():
    outcome = go({0: [(20, frame(0x12C05, 1))]}, prefix=0x12C00 >> 10)
    assert left(outcome, 5) == [20 + T]


def test_cut_at_the_stated_length():
    """F9: need is 2, 5 beats come. The second goes as the last, damaged; code at its decision, 21 + 5."""
    outcome = go({2: [(20, frame(1, 5, stated=2))]})
    assert outcome.out[1][["cycle", "last", "user"]].tolist() == [(35, False, False), (36, True, True)]
    assert events(outcome.drop[2]) == [(27, CUT)]
    # beats 2 to 4 are dropped at 27 to 29, beats 0 and 1 taken at 27 and 28
    assert events(outcome.free[2]) == [(28, 2), (29, 2), (30, 1)]


def test_short_of_the_stated_length():
    outcome = go({2: [(20, frame(1, 2, stated=5))]})
    assert outcome.out[1][["cycle", "last", "user"]].tolist() == [(35, False, False), (36, True, True)]
    assert events(outcome.drop[2]) == [(27, SHORT)]


def test_damaged_frames_are_discarded_with_store_and_forward():
    outcome = go({2: [(20, frame(1, 2, stated=5)), (20, frame(1, 1))]}, saf=True)
    assert len(outcome.out[1]) == 1
    # joins the discard queue at 26, matched at 27, its beats taken at 28 and 29; then the good frame, matched at 29
    assert events(outcome.free[2]) == [(29, 1), (30, 1), (31, 1)]
    assert left(outcome, 1) == [30 + 8]


def test_a_full_input_stops_its_stream():
    """E1: 8 cells, nothing leaves before the sink takes something: the ninth beat waits for a cell."""
    ready = only_at(1, *[0] * 199, 1)
    frames = [(10, frame(1, 1)) for _ in range(20)]
    outcome = go({0: frames}, ready=ready, cells=8, max_beats=1, egress=4, max_cycles=100_000)
    # egress 4: matches while booked is 2 or less, at 16 to 19, beats taken at 17 to 20; the cell of 17 is free at 18
    taken = outcome.taken[0].tolist()
    assert taken[:12] == list(range(10, 22))
    # beats leave at 199 and 399: booked is 2 at 400, match at 400, taken at 401, seen at 402
    assert taken[12] == 402


def test_flow_hash_is_crc_hqx():
    data = np.random.default_rng(1).integers(256, size=(50, 64), dtype=np.uint8)
    data[::2, 1] |= 3  # with a GRH the QP is further on
    native = headers(SwitchConfig(seed=0x1D0F), data, np.full(50, 64))[:, H_INFO] & FLOW
    roce = headers(SwitchConfig(seed=0x1D0F, roce=True), data, np.full(50, 64))[:, H_INFO] & FLOW
    for row, at_native, at_roce in zip(data.tolist(), native, roce, strict=True):
        at = 53 if row[1] & 3 == 3 else 13
        key = [0, row[4] >> 3, *row[2:4], *row[6:8], *row[at : at + 3], 0, 0, 0]
        assert at_native == binascii.crc_hqx(bytes(key), 0x1D0F)
        assert at_roce == binascii.crc_hqx(bytes([*row[30:34], *row[26:30], *row[34:36], 0, 0]), 0x1D0F)


# --- choice of the way -----------------------------------------------------------------------------------------------


def ways(outcome: Outcome, ports: int = 8) -> list[int]:
    """Outputs of the frames of input 0 in the order in which they were sent."""
    rows = [(int(b), o) for o in range(ports) for b in outcome.out[o]["beat"][outcome.out[o]["input"] == 0]]
    return [o for _, o in sorted(rows)]


def test_by_flow():
    """F3: the hash times the number of live candidates, upper 16 bits; one flow keeps its way."""
    frames = [(20, frame(9, 1, tag=n % 16, qp=n // 16)) for n in range(64)]
    found = ways(go({0: frames}, groups=[(9, 0, 0b10110010)], seed=77))
    members = [1, 4, 5, 7]
    expected = []
    for _, data in frames:
        key = bytes([0, 0]) + data[2:4] + data[6:8] + data[13:16] + bytes(3)
        expected.append(members[binascii.crc_hqx(key, 77) * 4 >> 16])
    assert found == expected
    assert set(found) == set(members)


def test_spraying_takes_turns():
    frames = [(20, frame(9, 1)) for _ in range(9)]
    assert ways(go({0: frames}, groups=[(9, 1, 0b10110010)])) == [1, 4, 5, 7, 1, 4, 5, 7, 1]


def test_spraying_stays_for_frames_that_are_dropped_early():
    bad = changed(frame(9, 1), b0=1)
    frames = [(20, frame(9, 1)), (20, bad), (20, frame(9, 1)), (20, frame(1000, 1)), (20, frame(9, 1))]
    assert ways(go({0: frames}, groups=[(9, 1, 0b10110010)])) == [1, 4, 5]


def test_adaptive_avoids_the_loaded_output():
    """F5: output 1 holds beats that its sink does not take; output 3 is empty, and gets every frame."""
    ready = only_at(1, *[0] * 499, 1)
    frames = [(200 + 20 * n, frame(9, 1)) for n in range(5)]
    outcome = go({5: [(20, frame(1, 8))], 0: frames}, groups=[(9, 2, 0b1010)], ready=ready)
    assert ways(outcome) == [3] * 5
    # a step of 16 beats does not see 8: turns again
    outcome = go({5: [(20, frame(1, 8))], 0: frames}, groups=[(9, 2, 0b1010)], ready=ready, adapt_shift=4)
    assert ways(outcome) == [1, 3, 1, 3, 1]


def test_adaptive_by_credits():
    """The frame of input 5 uses 8 of output 1's 100 credits; they come back at 199 only."""
    back = only_at(1, *[0] * 199, 1)
    frames = [(80, frame(9, 1)), (120, frame(9, 1)), (300, frame(9, 1))]
    inputs = {5: [(20, frame(1, 8))], 0: frames}
    outcome = go(inputs, groups=[(9, 2, 0b1010)], credit_ready=back, credit_en=True, credit_init=100)
    assert ways(outcome) == [3, 3, 1]


# --- matching --------------------------------------------------------------------------------------------------------


def test_lanes_of_a_pair_take_turns():
    """M3: two lanes wait from one input to one output; a frame each in turn."""
    frames = [(20, frame(1, 2, lane=0, tag=n)) for n in range(3)] + [(20, frame(1, 2, lane=1, tag=n)) for n in range(3)]
    hold = [(0, 0b11 << 2), (200, 0)]
    outcome = go({0: frames}, lanes=2, pause=hold)
    assert outcome.out[1]["beat"][::2].tolist() == [0, 6, 2, 8, 4, 10]


def test_a_pause_is_seen_a_cycle_later():
    """O4: the pin at t - 1 counts. Frame could be matched at 26: a pause shown from 25 on stops it, from 26 on not."""
    for since, first in ((25, 107), (26, 20 + T)):
        outcome = go({0: [(20, frame(1, 1))]}, pause=[(since, 2), (98, 0)])
        assert left(outcome, 1) == [first if since == 26 else 98 + 1 + 1 + 8]
    assert first == 35


def test_credits():
    """O4: M + 1 = 3 cells are wanted; 4 are there. Two frames of one beat use 2; the third waits until one is back."""
    back = only_at(1, *[0] * 99, 1)
    frames = [(20, frame(1, 1)) for _ in range(3)]
    outcome = go({0: frames}, max_beats=2, credit_en=True, credit_init=4, credit_ready=back)
    # matches at 26 and 27 (credit 4, then 4 - 0: the beat of 27 counts from 28 on), at 28 credit is 3, at 29 it is 2
    assert left(outcome, 1) == [35, 36, 37]
    frames.append((20, frame(1, 1)))
    outcome = go({0: frames}, max_beats=2, credit_en=True, credit_init=4, credit_ready=back)
    # the fourth: credits are back at 99, seen at 100, taken at 101
    assert left(outcome, 1) == [35, 36, 37, 109]


def test_gate():
    """A first beat passes with credit for a largest frame, M = 2; the gate starts at 4 cells."""
    frames = [(20, frame(1, 1)) for _ in range(4)]
    outcome = go({0: frames}, max_beats=2, cells=4, gate=True)
    # credit 4, 3, 2 at 20, 21, 22; 1 at 23. The first beat is taken at 27, in free_cells at 28, in the gate at 29
    assert outcome.taken[0].tolist() == [20, 21, 22, 29]


# --- multicast -------------------------------------------------------------------------------------------------------


def test_multicast_goes_to_all_at_once():
    """M8: seen at 26 and picked, matched at 28 at the earliest, beats taken at 29 and 30; the input is no member."""
    outcome = go({2: [(20, frame(9, 2))]}, groups=[(9, 3, 0b1110)])
    for o in (1, 3):
        assert left(outcome, o) == [37, 38]
    assert len(outcome.out[2]) == 0
    assert events(outcome.free[2]) == [(30, 1), (31, 1)]


def test_multicast_waits_for_the_slowest_branch_and_holds_the_others():
    """Output 3 is busy with a long frame; from 28 on outputs 1 and 3 are held, and a frame for 1 waits behind."""
    inputs = {2: [(20, frame(9, 1))], 4: [(15, frame(3, 30))], 5: [(22, frame(1, 1))]}
    outcome = go(inputs, groups=[(9, 3, 0b1010)])
    # the long frame is taken at 22 to 51; at 51 output 3 is free (O5): match at 51, taken at 52
    assert [(int(r["cycle"]), int(r["input"])) for r in outcome.out[3]][-1] == (52 + 8, 2)
    # the frame of input 5 may be asked for from 28 on, but output 1 is held; matched at 52, when the single beat leaves
    assert [(int(r["cycle"]), int(r["input"])) for r in outcome.out[1]] == [(60, 2), (61, 5)]


def test_one_multicast_frame_at_a_time():
    """Picked at 26 and matched at 28; the next pick is at 29, its match at 31."""
    outcome = go({2: [(20, frame(9, 1))], 5: [(20, frame(9, 1))]}, groups=[(9, 3, 0b1010)])
    assert [(int(r["cycle"]), int(r["input"])) for r in outcome.out[1]] == [(37, 2), (40, 5)]


def test_multicast_holds_nothing_while_a_branch_is_closed():
    """M8: output 3 is paused, frames for outputs 1 and 2 go on. Picked at 26, given up at 283, picked again at 540."""
    others = [(20, frame(1 + n % 2, 2)) for n in range(100)]
    outcome = go({0: [(20, frame(9, 2))], 4: others}, groups=[(9, 3, 0b1110)], pause=[(0, 1 << 3), (300, 0)])
    assert sorted(left(outcome, 1) + left(outcome, 2))[:200] == [20 + T + n for n in range(200)]
    assert left(outcome, 3) == [551, 552]


def test_a_multicast_pick_is_given_up():
    """M8: output 3 takes nothing until 2000: 120 beats are booked, no room. Picked at 406, held from 408 on, given up
    at 663: the frame for output 1, there since 506, is matched at 664. Picked again at 920, 1434, 1948, room 2059."""
    slow: list[np.ndarray | None] = [None] * 8
    slow[3] = np.arange(4000) >= 2000
    frames = [(20, frame(3, 60)), (20, frame(3, 60)), (400, frame(9, 1))]
    outcome = go({0: frames, 4: [(500, frame(1, 1))]}, groups=[(9, 3, 0b1010)], ready=slow)
    assert left(outcome, 1) == [673, 2068]
    assert left(outcome, 3)[-1] == 2120


def test_multicast_without_a_live_branch_is_lost():
    outcome = go({2: [(40, frame(9, 2))]}, groups=[(9, 3, 0b1010)], port_up=[(0, UP), (20, UP & ~0b1010)])
    # picked at 46, matched alone at 48: mc_lost at 49, beats taken at 49 and 50
    assert events(outcome.mc_lost[2]) == [(49, 1)]
    assert events(outcome.free[2]) == [(50, 1), (51, 1)]
    assert all(len(o) == 0 for o in outcome.out)


# --- ports that go down and up ---------------------------------------------------------------------------------------


def test_live_follows_the_pin():
    outcome = go({}, port_up=[(0, UP), (20, UP & ~2), (30, UP)])
    assert outcome.live == [(0, 0), (1, UP), (21, UP & ~2), (31, UP)]


def test_a_port_comes_back_when_nothing_is_booked():
    """O1: the sink of output 1 stands still with 3 beats booked when the port goes down; they empty themselves."""
    ready = only_at(1, *[0] * 999, 1)
    outcome = go({0: [(20, frame(1, 3))]}, ready=ready, port_up=[(0, UP), (60, UP & ~2), (61, UP)])
    # dead at 61: beats go at 61, 62, 63, the last one lost; booked is 0 at 64, so live at 65
    assert events(outcome.lost[1]) == [(63, 1)]
    assert outcome.live == [(0, 0), (1, UP), (61, UP & ~2), (65, UP)]
    assert len(outcome.out[1]) == 0


def test_queued_frames_move_off_a_dead_port():
    """Q3: the pin falls at 100, live at 101: the frame leaves its queue at 101, is decided at 105, asked for at 106,
    taken at 107 and at the other output at 115: 15 cycles after the pin."""
    hold = [(0, 2)]  # output 1 is paused, so the frame waits there
    outcome = go(
        {0: [(20, frame(9, 1, tag=5))]}, groups=[(9, 1, 0b1010)], pause=hold, port_up=[(0, UP), (100, UP & ~2)]
    )
    assert left(outcome, 3) == [115]
    assert events(outcome.free[0]) == [(108, 1)]


def test_moved_frames_go_one_a_cycle_but_not_behind_a_beat_that_entered():
    hold = [(0, 2)]
    inputs = {0: [(20, frame(9, 1))] * 3 + [(101, frame(2, 1))]}
    outcome = go(inputs, groups=[(9, 0, 0b0010)], pause=hold, port_up=[(0, UP), (100, UP & ~2)])
    # no other way: decided as `no way` at 105 and, since a beat entered at 101, at 107 and 108
    assert events(outcome.drop[0]) == [(106, NO_WAY), (108, NO_WAY), (109, NO_WAY)]
    assert outcome.counters["no way"] == 3
    # joined the discard queue at 105: matched at 106, taken at 107
    assert int(outcome.free[0]["cycle"][0]) == 108


def test_a_frame_that_still_arrives_is_moved():
    beats = played((20, frame(9, 4)))
    beats["cycle"] = [20, 21, 150, 151]
    outcome = go({0: beats}, groups=[(9, 1, 0b1010)], pause=[(0, 2)], port_up=[(0, UP), (100, UP & ~2)])
    assert left(outcome, 3) == [115, 116, 150 + 14, 151 + 14]
    assert outcome.out[3]["user"].tolist() == [False] * 4


def test_an_input_that_dies_aborts_its_frame():
    """E3: the pin falls at 22, live is 0 at 23: beats offered at 20 to 22 are in, those from 23 on are swallowed. The
    abort beat enters at 23 and is decided at 28; the next frame comes when the port is live again."""
    outcome = go({0: [(20, frame(1, 6)), (60, frame(1, 1))]}, port_up=[(0, UP), (22, UP & ~1), (40, UP)])
    assert outcome.taken[0].tolist() == [20, 21, 22, 23, 24, 25, 60]
    assert events(outcome.drop[0]) == [(29, ABORTED_CODE)]
    out = outcome.out[1]
    assert out[["cycle", "beat", "last", "user"]].tolist() == [
        (35, 0, False, False), (36, 1, False, False), (37, 2, False, False), (38, -1, True, True), (75, 6, True, False)
    ]  # fmt: skip
    data, keep = outcome.out_beats(1)
    assert keep[3].tolist() == [1, 0, 0, 0, 0, 0, 0, 0]
    assert not data[3].any()


def test_swallowing_goes_on_to_the_frames_end():
    """E2: the port is back at 27 in the middle of a stream's frame: the rest of it is swallowed too."""
    outcome = go({0: [(20, frame(1, 20)), (50, frame(1, 1))]}, port_up=[(0, UP), (22, UP & ~1), (25, UP)])
    assert outcome.out[1]["beat"].tolist() == [0, 1, 2, -1, 20]


def test_a_frame_aborted_in_a_gap_is_swallowed_to_its_end():
    """E2: the port is dead from 31 to 33, between two beats: what is left of the frame is not a frame of its own."""
    beats = np.concatenate((played((20, frame(1, 4))), played((80, frame(1, 1)))))
    beats["cycle"] = [20, 21, 60, 61, 80]
    outcome = go({0: beats}, port_up=[(0, UP), (30, UP & ~1), (33, UP)])
    assert events(outcome.drop[0]) == [(37, ABORTED_CODE)]
    assert outcome.out[1]["beat"].tolist() == [0, 1, -1, 4]


def test_a_port_comes_back_when_its_input_is_empty():
    """O1: port 0 may be used again at 40, but its frame waits for output 1, which is paused until 99."""
    outcome = go({0: [(20, frame(1, 1))]}, pause=[(0, 2), (99, 0)], port_up=[(0, UP), (30, UP & ~1), (40, UP)])
    # ok at 100, taken at 101: inside is 0 at 102, live at 103
    assert outcome.live == [(0, 0), (1, UP), (31, UP & ~1), (103, UP)]


def test_a_port_comes_back_when_the_abort_beat_is_gone():
    """O1: port 0 is dark for one cycle, between two beats of a frame, with nothing inside. Live is 0 at 31, where the
    abort beat enters; it is decided at 36 and taken at 37, so that inside is 0 at 38."""
    beats = np.concatenate((played((20, frame(1, 4))), played((80, frame(1, 1)))))
    beats["cycle"] = [20, 21, 60, 61, 80]
    outcome = go({0: beats}, port_up=[(0, UP), (30, UP & ~1), (31, UP)])
    assert outcome.live == [(0, 0), (1, UP), (31, UP & ~1), (39, UP)]
    assert events(outcome.free[0])[2] == (38, 1)


# --- flow control by pause -------------------------------------------------------------------------------------------


def test_pause_has_two_thresholds():
    """F11: 1 from 4 cells on, 0 again at 1. Output 1 is paused until 99, so frames of one beat pile up."""
    frames = [(20, frame(1, 1)) for _ in range(6)]
    outcome = go({0: frames}, pfc=True, xoff=4, xon=1, pause=[(0, 2), (99, 0)])
    # stored from 25 on, held 1 at 26 .. 4 at 29: pause at 30. First taken at 101: held 5 at 102 .. 1 at 106: 0 at 107
    assert outcome.pause == [(0, 0), (30, 1), (107, 0)]


def test_overflow_drops_whole():
    """F8: quota 8; two frames of 3 are held, one of 3 more is dropped for its stated length."""
    frames = [(20, frame(1, 3, tag=n)) for n in range(4)]
    outcome = go({0: frames}, pfc=True, xoff=9, xon=1, cells=8, max_beats=3, pause=[(0, 2), (99, 0)])
    # decided at 25, 28, 31, 34: 0, 3 and 6 held: the third and fourth find 2 cells
    assert events(outcome.drop[0]) == [(32, OVERFLOW), (35, OVERFLOW)]
    assert outcome.out[1]["beat"].tolist() == [0, 1, 2, 3, 4, 5]
    assert outcome.taken[0].tolist() == list(range(20, 32))


def test_a_switch_that_never_ends_says_what_it_holds():
    with pytest.raises(Stuck, match=r"busy at cycle 3000: input 0: 0 beats to play, 2 inside"):
        go({0: [(20, frame(1, 2))]}, pause=[(0, 2)], max_cycles=3000)


# --- more ports than bits in a word ----------------------------------------------------------------------------------


@pytest.mark.parametrize("alloc", range(6))
def test_zero_load_across_words(alloc):
    pairs = [(0, 79), (79, 0), (63, 64), (64, 63), (70, 70)]
    groups = [(n, 0, 1 << o) for n, (_, o) in enumerate(pairs)]
    outcome = go({i: [(50, frame(n, 2))] for n, (i, _) in enumerate(pairs)}, ports=80, alloc=alloc, groups=groups)
    for _, o in pairs:
        assert left(outcome, o) == [50 + T, 51 + T]


@pytest.mark.parametrize("alloc", [0, 1, 4])
def test_persistent_inputs_take_turns_across_words(alloc):
    inputs = {i: [(20, frame(3, 1)) for _ in range(4)] for i in (1, 62, 63, 64, 65, 79)}
    outcome = go(inputs, ports=80, alloc=alloc, groups=[(3, 0, 1 << 77)])
    assert outcome.out[77]["input"].tolist() == [1, 62, 63, 64, 65, 79] * 4
    assert left(outcome, 77) == list(range(20 + T, 20 + T + 24))


def test_ways_across_words():
    members = [2, 63, 64, 79]
    set_ = sum(1 << o for o in members)
    frames = [(20, frame(9, 1, tag=n, qp=7 * n)) for n in range(32)]
    assert ways(go({0: frames}, ports=80, groups=[(9, 1, set_)]), 80) == members * 8
    expected = []
    for _, data in frames:
        key = bytes([0, 0]) + data[2:4] + data[6:8] + data[13:16] + bytes(3)
        expected.append(members[binascii.crc_hqx(key, 0) * 4 >> 16])
    assert ways(go({0: frames}, ports=80, groups=[(9, 0, set_)]), 80) == expected
    outcome = go({64: [(20, frame(9, 2))]}, ports=80, groups=[(9, 3, set_)])
    assert [o for o in range(80) if len(outcome.out[o])] == [2, 63, 79]
    assert all(left(outcome, o) == [37, 38] for o in (2, 63, 79))


def test_moving_across_words():
    up = (1 << 80) - 1
    down = [(0, up), (100, up & ~(1 << 70))]
    for alternative in (1, 69, 71):  # spraying from 0 on takes the lower one first, which is paused until it dies or 98
        members = 1 << 70 | 1 << alternative
        hold = [(0, members), (98, 1 << 70)]
        outcome = go({66: [(20, frame(9, 1))]}, ports=80, groups=[(9, 1, members)], pause=hold, port_up=down)
        assert left(outcome, alternative) == [115 if alternative > 70 else 98 + 1 + 1 + 8]
    outcome = go({66: [(20, frame(9, 1))]}, ports=80, groups=[(9, 0, 1 << 70)], pause=[(0, 1 << 70)], port_up=down)
    assert events(outcome.drop[66]) == [(106, NO_WAY)]
