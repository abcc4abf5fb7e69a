# SPDX-License-Identifier: Apache-2.0
"""Functional coverage of the switch: sizes, lanes, allocators, occupancy and events, each bin with its test point."""

from __future__ import annotations

from tb.common.coverage import Bin, Cover, Coverage, Cross, Group, each
from tb.common.observe import nothing
from tb.switch import coverage_events as events
from tb.switch.coverage_frames import PROFILES, frames
from tb.switch.coverage_pair import pair

MANY = 1 << 30
OUTPUTS = ("s_ready", "m_valid", "free_cells", "s_pause", "drop", "mc_lost", "lost", "ecn", "live")
STORE = each("cut through", "store and forward")
NO_YES = [Bin("no", False), Bin("yes", True)]
DROPS = ("malformed", "unknown", "long", "overflow", "no way", "cut", "short", "aborted")
POINT_OF = {
    "malformed": "malformed", "unknown": "unknown", "long": "too_long", "overflow": "pfc_headroom",
    "no way": "port_down", "cut": "lying", "short": "lying", "aborted": "port_down",
}  # fmt: skip

FRAME = Group(
    "frame",
    frames,
    [
        Cover("ports", [Bin("2", 2), Bin("3 to 6", range(3, 7)), Bin("8", 8), Bin("16", 16), Bin("80", 80)],
              points=("parameters",)),
        Cover("lanes", each(*range(1, 9)), points=("parameters",)),
        Cover("width", each(512, 1024), points=("wide",)),
        Cover("alloc", each("round robin", "iSLIP 1", "iSLIP 2", "iSLIP 3", "iSLIP 4", "wavefront"),
              points=("allocators",)),
        Cover("store", STORE, points=("saf",)),
        Cover("profile", each(*PROFILES), points=("random",)),
        Cover("credit", each("free", "by credit"), points=("credits",)),
        Cover("gate", each("none", "credits"), points=("credits",)),
        Cover("source", each(*range(8)), points=("random",)),
        Cover("output", each(*range(8)), points=("random",)),
        Cover("beats", [Bin("1", 1), Bin("2", 2), Bin("3 to 8", range(3, 9)), Bin("more", range(9, MANY))],
              points=("random",)),
        Cover("largest", [Bin("the largest", 0), Bin("a beat less", -1)], points=("too_long",)),
        Cover("lane", each(*range(8)), points=("lanes",)),
        Cover("mode", [*each("alone", "by flow", "sprayed", "adaptive"), Bin("multicast", "multicast", ("multicast",))],
              points=("groups",)),
        Cover("waited", [Bin("alone", 0, ("zero_load",)), Bin("up to 30", range(1, 31)),
                         Bin("up to 300", range(31, 301)), Bin("longer", range(301, MANY))], points=("random",)),
        Cover("contenders", [Bin("1", 1), Bin("2", 2), Bin("3 or more", range(3, 80)), Bin("all", "all")],
              points=("fairness",)),
        Cover("sink", [Bin("flows", False), Bin("stalls", True)], points=("held_match",)),
        Cover("holes", [Bin("dense", False), Bin("holes", True)], points=("held_match",)),
        Cover("damaged", NO_YES, points=("lying",)),
        Cover("tail", [Bin("a byte to three", range(1, 4)), Bin("several", range(4, 64)), Bin("full", (64, 128))],
              points=("ecn",)),
        Cover("idle", [Bin("none", 0, ("full_rate",)), Bin("some", range(1, MANY), ("random",))]),
        # Sizes x lanes x allocator x occupancy x events. `make test` reaches every bin of several lanes, and with iSLIP
        # those of one lane (tight); one lane with round robin or wavefront is the nightly shapes' (rr, wavefront).
        Cover("size", [Bin("1 beat", 1), Bin("2 to 4", range(2, 5)), Bin("more", range(5, MANY))], points=("random",)),
        Cover("lane_of", each("the only one", "of several"), points=("lanes",)),
        Cover("allocator", each("round robin", "iSLIP", "wavefront"), points=("allocators",)),
        Cover("occupancy", [Bin("below a largest frame", False), Bin("above", True)], points=("full_buffers",)),
        Cover("event", each("none", "far end", "a port"), points=("port_down", "held_match")),
        Cross("size_by_lane_by_allocator_by_occupancy_by_event",
              ("size", "lane_of", "allocator", "occupancy", "event"), points=("random", "parameters")),
        Cross("alloc_by_contenders", ("alloc", "contenders"), points=("allocators", "fairness")),
        Cross("beats_by_lanes", ("beats", "lanes"), points=("random", "lanes")),
        Cross("beats_by_profile", ("beats", "profile"), points=("random",)),
        Cross("beats_by_alloc", ("beats", "alloc"), points=("allocators",)),
        Cross("beats_by_store", ("beats", "store"), points=("saf",)),
        Cross("beats_by_width", ("beats", "width"), points=("wide",)),
        Cross("mode_by_waited", ("mode", "waited"), points=("groups", "multicast"), never=[("multicast", "alone")],
              why="a multicast frame is picked before it is matched"),
        Cross("mode_by_profile", ("mode", "profile"), points=("groups",)),
        Cross("mode_by_store", ("mode", "store"), points=("groups", "saf")),
        Cross("holes_by_sink_by_contenders", ("holes", "sink", "contenders"), points=("held_match",)),
        Cross("credit_by_lanes", ("credit", "lanes"), points=("credits",)),
        Cross("credit_by_gate", ("credit", "gate"), points=("credits",)),
        Cross("waited_by_alloc", ("waited", "alloc"), points=("allocators",)),
        Cross("damaged_by_profile", ("damaged", "profile"), points=("lying",)),
    ],
)  # fmt: skip

DROP = Group(
    "drop",
    events.drops,
    [
        Cover("reason", [Bin(r, r, (POINT_OF[r],)) for r in DROPS]),
        Cover("profile", each(*PROFILES), points=("malformed",)),
        Cover("store", STORE, points=("saf",)),
        Cover("at_once", [Bin("1", 1), Bin("2", 2), Bin("3 or more", range(3, 80))], points=("malformed",)),
        Cover("width", each(512, 1024), points=("wide",)),
        Cross("reason_by_profile", ("reason", "profile"), points=("malformed", "unknown", "too_long", "lying")),
        Cross("reason_by_store", ("reason", "store"), points=("saf",)),
        Cross("reason_by_width", ("reason", "width"), points=("wide",)),
    ],
)

INPUT = Group(
    "input",
    events.inputs,
    [
        Cover("cells", [Bin("few", range(26)), Bin("half", range(26, 100)), Bin("full", 100)],
              points=("full_buffers",)),
        Cover("freed", [Bin("1", 1), Bin("2 at once", 2), Bin("3 at once: what was owed", 3, ("stranded",))],
              points=("malformed",)),
        Cover("lanes_freed", [Bin("1", 1), Bin("2 lanes at once", 2)], points=("lanes",)),
        Cover("pauses", [Bin("none", 0), Bin("1", 1), Bin("more", range(2, MANY))], points=("pauses",)),
        Cover("ends", [Bin("none", 0), Bin("1", 1), Bin("more", range(2, MANY))], points=("pauses",)),
        Cover("pfc", [Bin("back-pressure", False), Bin("pause", True)], points=("pauses",)),
        Cover("profile", each(*PROFILES), points=("full_buffers",)),
        Cross("cells_by_pfc", ("cells", "pfc"), points=("pauses",)),
        Cross("cells_by_profile", ("cells", "profile"), points=("full_buffers",)),
    ],
)  # fmt: skip

OUTPUT = Group(
    "output",
    events.outputs,
    [
        Cover("lost", [Bin("none", 0), Bin("frames", range(1, MANY))], points=("port_down",)),
        Cover("paused", [Bin("never", False), Bin("at times", True)], points=("pauses",)),
        Cover("marks", [Bin("none", 0), Bin("some", range(1, MANY))], points=("ecn",)),
        Cover("depth", [Bin("1", 1), Bin("2 to 4", range(2, 5)), Bin("more", range(5, MANY))], points=("ecn",)),
        Cover("mc_lost", [Bin("none", 0), Bin("frames", range(1, MANY))], points=("multicast_dead",)),
        Cross("marks_by_depth", ("marks", "depth"), points=("ecn",)),
    ],
)  # fmt: skip

PORT = Group(
    "port",
    events.ports,
    [
        Cover("event", each("falls", "comes back"), points=("port_down",)),
        Cover("output", each("in a frame", "between frames"), points=("port_down",)),
        Cover("input", each("in a frame", "between frames"), points=("port_down",)),
        Cover("store", STORE, points=("port_down", "saf")),
        Cover("down", [Bin("none", 0), Bin("1", 1), Bin("2 or more", range(2, 80))], points=("port_down",)),
        Cover("profile", each(*PROFILES), points=("port_down",)),
        Cross("event_by_output_by_input", ("event", "output", "input"), points=("port_down",)),
        Cross("event_by_down", ("event", "down"), points=("port_down",), never=[("falls", "none")],
              why="one is down when one falls"),
        Cross("event_by_profile", ("event", "profile"), points=("port_down",)),
        Cover("lanes", each(*range(1, 9)), points=("port_down", "parameters")),
        Cover("alloc", each("round robin", "iSLIP 1", "iSLIP 2", "iSLIP 3", "iSLIP 4", "wavefront"),
              points=("port_down", "parameters")),
        Cover("cells", [Bin("few", range(5)), Bin("some", range(5, 50)), Bin("half", range(50, 101))],
              points=("port_down", "full_buffers")),
        Cover("pfc", [Bin("back-pressure", False), Bin("pause", True)], points=("port_down", "pauses")),
        Cross("event_by_store", ("event", "store"), points=("port_down",)),
        Cross("event_by_lanes", ("event", "lanes"), points=("port_down",)),
        Cross("event_by_alloc", ("event", "alloc"), points=("port_down",)),
        Cross("event_by_cells", ("event", "cells"), points=("port_down",), never=[("comes back", "half")],
              why="a port comes back when its input holds nothing (O1), but for cells whose return is not seen yet"),
        Cross("event_by_pfc", ("event", "pfc"), points=("port_down",)),
    ],
)  # fmt: skip

TABLE = Group(
    "table",
    events.tables,
    [
        Cover("entry", each("valid", "taken out"), points=("table_changes",)),
        Cover("mode", each(0, 1, 2, 3), points=("table_changes",)),
        Cover("members", [Bin("none", 0), Bin("1", 1), Bin("several", range(2, 81))], points=("table_changes",)),
        Cover("when", each("before", "meanwhile"), points=("table_changes",)),
        Cross("entry_by_when", ("entry", "when"), points=("table_changes",), never=[("taken out", "before")],
              why="an entry is taken out while frames for it arrive, or it would not be missed"),
    ],
)  # fmt: skip

FIGURE = Group(
    "figure",
    events.figures,
    [
        Cover("volume", [Bin("some", range(1, 10_000)), Bin("ten thousand a phase", range(10_000, MANY))],
              points=("volume",)),
        Cover("large", each(80), points=("eighty",)),
        Cover("headroom", each("enough", "a cell less"), points=("pfc_headroom",)),
        Cover("reroute", each(*PROFILES), points=("reroute",)),
        Cover("blocked_lane", each(0, 1), points=("blocked_lane",)),
        Cover("credit_lane", [Bin("0", 0), Bin("another", range(1, 8))], points=("lane_credits",)),
        Cover("credit_frame", [Bin("1 beat", 1), Bin("more", range(2, MANY))], points=("lane_credits",)),
        Cover("hot_spot", each("with", "without", "beside", "behind", "lane", "shared"), points=("hot_spot",)),
        Cover("zero_load", each(*PROFILES), points=("zero_load",)),
        Cover("full_rate", [Bin("one beat", range(1, 65)), Bin("two beats", range(65, 129)),
                            Bin("several", range(129, 2000)), Bin("large", range(2000, MANY))], points=("full_rate",)),
        Cover("corner", [Bin("exactly full", "exactly full", ("exactly_full",)),
                         Bin("abort full", "abort full", ("abort_full",)), Bin("blink", "blink", ("blink",)),
                         Bin("dips", "dips", ("dips",)),
                         Bin("marks beside multicast", "marks beside multicast", ("ecn",)),
                         *(Bin(f"given up, {x}", f"given up, {x}", ("given_up",))
                           for x in ("pause", "credits", "busy")),
                         Bin("volume mixed", "volume mixed", ("volume_mixed",)),
                         *(Bin(f"dead while late, {x}", f"dead while late, {x}", ("dead_while_late",))
                           for x in ("credits", "tready")),
                         *(Bin(f"turns behind {x}", f"turns behind {x}", ("turns",))
                           for x in ("malformed", "long", "unknown")),
                         *(Bin(f"fall in gap{x}", f"fall in gap{x}", ("fall_in_gap",)) for x in ("", ", set"))]),
        Cover("theory", each(50, 70, 80), points=("theory",)),
        Cover("late", each("tready", "credits", "pause"), points=("stranded",)),
        Cover("way", [*each("none", "spray", "flow", "set"), Bin("none, a queue being started", "start")],
              points=("stranded",)),
        Cross("late_by_way", ("late", "way"), points=("stranded",)),
        Cover("means", each("tready", "credits", "pause"), points=("never_late",)),
        Cover("not_late", [Bin("a gap in forty", "gaps"), Bin("nothing waits", "empty")], points=("never_late",)),
        Cross("means_by_not_late", ("means", "not_late"), points=("never_late",)),
        Cover("fair", each("round robin", "iSLIP", "wavefront"), points=("fairness",)),
    ],
)  # fmt: skip

RESET = Group("reset", nothing, [Cover("known", each(*OUTPUTS), points=("reset",))])

COVERAGE = Coverage("switch", [FRAME, DROP, INPUT, OUTPUT, PORT, TABLE, FIGURE, RESET])

PAIR = Group(
    "pair",
    pair,
    [
        Cover("least", each("too few for a frame"), points=("crossing",)),
        Cover("where", each("in a frame", "between frames"), points=("flaps",)),
        Cover("far_end", each("empty", "holds cells"), points=("flaps",)),
        Cover("dark", [Bin("2 to 5", range(2, 6)), Bin("longer", range(6, MANY))], points=("flaps",)),
        Cross("where_by_far_end", ("where", "far_end"), points=("flaps",)),
    ],
)

PAIR_COVERAGE = Coverage("switch_pair", [PAIR])
