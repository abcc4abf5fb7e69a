# SPDX-License-Identifier: Apache-2.0
"""Functional coverage of the link: sizes, credits, sets, replays, errors and states, each bin with its test point."""

from __future__ import annotations

from models.spec import spec
from tb.common.coverage import Bin, Cover, Coverage, Cross, Group, each
from tb.common.observe import nothing
from tb.link import coverage_events as events
from tb.link.sequences_corners import CORNERS
from tb.link.sequences_faults import ALONE, INSIDE
from tb.link.sequences_quiet import CASES
from tb.link.sequences_strange import STRANGE
from tb.link.sequences_volume import BURSTS, SWEEP
from tb.link.shape import FECS, PROFILES

MANY = 1 << 40
NO_YES = [Bin("no", False), Bin("yes", True)]
SPACING, INTERVAL = spec().cycles("link.ctl_spacing"), spec().cycles("link.credit_update_interval")
REFRESH = spec().cycles("link.refresh")
LARGEST = spec().integer("frame.max_beats") * 64
MAX_BEATS = spec().integer("frame.max_beats")
CORNER_POINTS = {
    "own_credits": "own_credits", "own_pauses": "own_credits", "many_beats": "many_beats",
    "great_debts": "lanes",
}  # fmt: skip
STRANGE_POINTS = {
    "foreign_sets": "foreign_sets", "foreign_sets_roce": "foreign_sets", "near_pauses": "near_pauses",
    "cut_frames": "cut_frames", "stalled_retrains": "stalled_retrains",
}  # fmt: skip
OUTPUTS = ("up", "state", "reason", "s_ready", "m_valid", "credits", "m_credit", "m_pause", "ev", "busy")
MOVES = (
    "off to init", "init to up", "up to retrain", "retrain to init", "init to off", "up to off", "retrain to off",
    "init to retrain",
)  # fmt: skip

FRAME = Group(
    "frame",
    events.frames,
    [
        Cover("size", [Bin("1", 1), Bin("2 to 63", range(2, 64)), Bin("64", 64), Bin("65", 65),
                       Bin("to 255", range(66, 256)), Bin("a segment", 256), Bin("to 4095", range(257, 4096)),
                       Bin("4096", 4096),
                       Bin("the largest", LARGEST), Bin("longer", range(LARGEST + 1, MANY), ("bad_frames",))],
              points=("random",)),
        Cover("tail", [Bin("1", 1), Bin("some", range(2, 64)), Bin("full", (64, 128))], points=("random",)),
        Cover("segments", [Bin("1", 1), Bin("2", 2), Bin("3 to 16", range(3, 17)), Bin("17", 17)],
              points=("segments",)),
        Cover("beats_in_last_segment", each(1, 2, 3, 4), points=("segments",)),
        Cover("lanes", each(1, 2, 4, 8, 16), points=("lanes",)),
        Cover("lane", each(*range(8)), points=("lanes",)),
        Cover("width", each(512, 1024), points=("wide",)),
        Cover("profile", each(*PROFILES), points=("random",)),
        Cover("fec", each(*FECS), points=("delays",)),
        Cover("cable", each("2 m", "10 m", "20 m", "50 m", "1 cycle", "255 cycles"), points=("delays",)),
        Cover("poison", NO_YES, points=("poison",)),
        Cover("holes", NO_YES, points=("holes",)),
        Cover("waited", [Bin("nothing", "nothing", ("delays",)),
                         Bin("pace", ("pace", "a pause or pace"), ("line_rate",)),
                         Bin("credits", "credits", ("starvation",))]),
        Cross("profile_by_width", ("profile", "width"), points=("wide",)),
        Cross("size_by_profile", ("size", "profile"), points=("random",),
              never=[("1", "roce"), ("2 to 63", "roce"), ("longer", "native")],
              why="an Ethernet frame has 64 bytes at least; a native core sends no frame beyond the largest"),
        Cross("fec_by_cable", ("fec", "cable"), points=("delays",), never=[("kp4", "1 cycle"), ("kp4", "255 cycles")],
              why="the extremes are for the delay lines, which know no FEC"),
    ],
)  # fmt: skip

WAY = Group(
    "direction",
    events.directions,
    [
        Cover("phy", each("shortest", "longest", "between"), points=("delays",)),
        Cover("core", each("one by one", "all at once"), points=("credits",)),
        Cover("preset", [Bin("exchange", False, ("bring_up",)), Bin("preset", True, ("random",))]),
        Cover(
            "lowest",
            [Bin("0", 0), Bin("below a frame", range(1, MAX_BEATS)), Bin("enough", range(MAX_BEATS, MANY))],
            points=("starvation",),
        ),
        Cover("number", each("wraps", "does not"), points=("wraps",)),
        Cover("cells", each("wrap", "do not"), points=("wraps",)),
        Cover(
            "most_freed",
            [Bin("1", 1), Bin("some", range(2, 66)), Bin("a frame and more", range(66, 255)), Bin("255", 255)],
            points=("credits",),
        ),
        Cover("pauses", [Bin("none", 0), Bin("some", range(1, MANY))], points=("pauses",)),
        Cover("refreshes", NO_YES, points=("pauses",)),
        Cover("profile", each(*PROFILES), points=("random",)),
        Cross("core_by_profile", ("core", "profile"), points=("credits",)),
        Cover("gate", [Bin("the core's own count", False), Bin("the link's", True)], points=("own_credits",)),
        Cross("gate_by_profile", ("gate", "profile"), points=("own_credits",)),
    ],
)

SET = Group(
    "set",
    events.sets,
    [
        Cover("kind", [Bin("ack", "ack", ("acks",)), Bin("nack", "nack", ("replay",)),
                       Bin("init", "init", ("bring_up",)), Bin("echo", "echo", ("bring_up",)),
                       Bin("cf", "cf", ("credits",))]),
        Cover("place", each("with a beat", "inside a segment", "between"), points=("control_sets",)),
        Cover("gap", [Bin("the spacing", SPACING), Bin("below the interval", range(SPACING + 1, INTERVAL)),
                      Bin("the interval", INTERVAL), Bin("later", range(INTERVAL + 1, REFRESH - 100)),
                      Bin("a refresh", range(REFRESH - 100, REFRESH + 100))], points=("control_sets",)),
        Cover("channels", each("one", "two"), points=("lanes",)),
        Cross("kind_by_place", ("kind", "place"), points=("control_sets",),
              never=[("init", "with a beat"), ("init", "inside a segment")],
              why="beats leave when INITs no longer do"),
    ],
)  # fmt: skip

REPLAY = Group(
    "replay",
    events.replays,
    [
        Cover("why", each("nack", "time-out", "resume"), points=("replay",)),
        Cover(
            "segments", [Bin("1", 1), Bin("2 to 16", range(2, 17)), Bin("more", range(17, MANY))], points=("replay",)
        ),
        Cover("wraps", NO_YES, points=("wraps", "nested")),
        Cover("acked", NO_YES, points=("nested",)),
        Cover("again", NO_YES, points=("nested",)),
        Cover("retrain", NO_YES, points=("nested",)),
        Cover("bad", NO_YES, points=("nested",)),
        Cross("why_by_wraps", ("why", "wraps"), points=("wraps", "nested")),
        Cross("acked_by_bad", ("acked", "bad"), points=("nested",)),
    ],
)

ERROR = Group(
    "error",
    events.errors,
    [
        Cover("event", [Bin("time-out", "time-out", ("replay",)), Bin("nack sent", "nack sent", ("replay",)),
                        Bin("duplicate", "duplicate", ("replay",)), Bin("bad segment", "bad segment", ("faults",)),
                        Bin("gap", "gap", ("faults",)), Bin("fcs", "fcs", ("bad_frames",)),
                        Bin("long", "long", ("bad_frames",)), Bin("underrun", "underrun", ("underrun",)),
                        Bin("discarded", "discarded", ("restart",)), Bin("retrain", "retrain", ("retrain",)),
                        Bin("down", "down", ("restart",)), Bin("refused", "refused", ("refusals",)),
                        Bin("pfc sent", "pfc sent", ("pauses",)), Bin("pfc received", "pfc received", ("pauses",))]),
        Cover("reason", [Bin("profile", "profile", ("refusals",)), Bin("fec", "fec", ("refusals",)),
                         Bin("lanes", "lanes", ("refusals",)), Bin("no answer", "no answer", ("bring_up",)),
                         Bin("no progress", "no progress", ("replay_limit",)),
                         Bin("far restart", "far restart", ("restart",)),
                         Bin("replay limit", "replay limit", ("replay_limit",))]),
        Cover("move", each(*MOVES), points=("restart",)),
        Cover("lost", [Bin("none", 0), Bin("some", range(1, MANY))], points=("restart",)),
        Cover("profile", each(*PROFILES), points=("restart",)),
        Cross("move_by_profile", ("move", "profile"), points=("restart",)),
    ],
)  # fmt: skip

FAULT = Group(
    "fault",
    events.faults,
    [
        Cover("script", [Bin(k, k, ("faults",)) for k in ALONE] +
              [Bin(k, k, ("nested",)) for k in INSIDE if k not in ALONE]),
        Cover("codeword", each("corrected", "failed"), points=("codes",)),
        Cover("corrected", [Bin("1", 1), Bin("2 to 6", range(2, 7)), Bin("7", 7), Bin("8 to 14", range(8, 15)),
                            Bin("15", 15)],
              points=("codes",)),
        Cover("fault", [Bin("lost", 1), Bin("again", 2), Bin("codeword", 3)], points=("faults",)),
        Cover("cut", [Bin("yes", True)], points=("faults",)),
        Cover("bursts", [Bin("yes", True)], points=("storm",)),
        Cover("rate", each("lost", "again"), points=("storm",)),
        Cover("fec", each(*FECS), points=("codes",)),
        Cover("profile", each(*PROFILES), points=("storm",)),
        Cross("codeword_by_fec", ("codeword", "fec"), points=("codes",)),
        Cross("fault_by_profile", ("fault", "profile"), points=("storm",)),
        Cross("rate_by_profile", ("rate", "profile"), points=("storm",)),
    ],
)  # fmt: skip

GOAL = Group(
    "shown",
    events.goals,
    [
        Cover("shown", [Bin("no hole", "no_hole", ("cut_through",)), Bin("the brim", "brim", ("negative_credits",)),
                        Bin("the record full", "record_full", ("record",)),
                        Bin("headroom", "headroom", ("headroom",)),
                        Bin("all headroom used", "headroom used", ("headroom",)),
                        Bin("a cell of headroom less", "headroom less", ("negative_headroom",)),
                        Bin("credits enough", "credits enough", ("buffer",)),
                        Bin("a credit less", "a credit less", ("negative_credits",)),
                        Bin("a credit more", "a credit more", ("negative_credits",))]),
        Cover("quiet", each(*CASES), points=("quiet",)),
        Cover("corner", [Bin(k, k, (CORNER_POINTS.get(k, "clocks"),)) for k in CORNERS]),
        Cover("strange", [Bin(k, k, (STRANGE_POINTS[k],)) for k in STRANGE]),
        Cover("room", [Bin("a cell and a byte", (65, 129)), Bin("smallest", (64, 128)), Bin("largest", LARGEST)],
              points=("headroom",)),
        Cover("metres", each(2, 50), points=("headroom",)),
        Cover("ratio", [Bin(f"{r:g}", r) for r in SWEEP], points=("ratios",)),
        Cover("burst", [Bin("retrain", 0), *each(*BURSTS)], points=("recovery",)),
        Cover("fec", each(*FECS), points=("recovery",)),
        Cross("ratio_by_fec", ("ratio", "fec"), points=("ratios",)),
        Cross("burst_by_fec", ("burst", "fec"), points=("recovery",)),
    ],
)  # fmt: skip

RESET = Group("reset", nothing, [Cover("known", each(*OUTPUTS), points=("known_after_reset",))])

COVERAGE = Coverage("link", [FRAME, WAY, SET, REPLAY, ERROR, FAULT, GOAL, RESET])
