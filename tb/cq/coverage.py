# SPDX-License-Identifier: Apache-2.0
"""Functional coverage of the completion queues: what the ports showed, by test point. Samples: coverage_samples.py."""

from __future__ import annotations

from models.cq_engine import Cq
from tb.common.coverage import Bin, Cover, Coverage, Cross, Group, each
from tb.cq import coverage_samples as samples
from tb.cq.scenario import KINDS

LOGS = (*range(16), 22)

ENTRY = Group(
    "entry",
    samples.entries,
    [
        Cover("opcode", each(*(k.name for k in KINDS)), points=("entries",)),
        Cover("se", each(0, 1), points=("entries",)),
        Cover("form", [Bin("ring", "ring", ("depths",)), Bin("collapsed", "collapsed", ("collapsed",))]),
        Cover("looks", each("checked", "ignored"), points=("collapsed", "depths")),
        Cover("owner", each(0, 1), points=("depths", "collapsed")),
        Cover("log", each(*LOGS), points=("depths", "collapsed")),
        Cover("place", each("only", "first", "last", "within"), points=("depths",)),
        Cover("index", each("first", "last", "within"), points=("depths",)),
        Cross("form_owner", ("form", "owner"), points=("depths", "collapsed")),
        Cross("form_looks", ("form", "looks"), points=("bounded_collapsed", "depths")),
        Cross("form_log", ("form", "log"), points=("depths", "collapsed"), never=[
            *(("ring", str(n)) for n in (13, 14, 15)), ("collapsed", "22")],
              why="such a ring does not fit the bench's memory; a collapsed queue's depth is 2^15 at most"),
        Cross("form_index", ("form", "index"), points=("depths", "collapsed")),
        Cross("opcode_form", ("opcode", "form"), points=("entries", "random_queues")),
        Cover("waited", each("not at all", "a little", "long"), points=("barrier", "lot")),
        Cover("barrier", each("2^16", "elsewhere"), points=("barrier",)),
        Cross("waited_barrier", ("waited", "barrier"), points=("barrier",)),
        Cover("done", each("close", "2^15 beyond"), points=("acked",)),
    ],
)  # fmt: skip

RECORD = Group(
    "record",
    samples.records,
    [
        Cover("answer", each("good", "error"), points=("overrun",)),
        Cover("under_way", [Bin("one", 1), Bin("up to 4", range(2, 5)), Bin("up to 12", range(5, 13)),
                            Bin("the whole lot", range(13, 17))], points=("lot",)),
        Cover("early_under_way", [Bin("one", 1), Bin("up to 4", range(2, 5)), Bin("up to 15", range(5, 16)),
                                  Bin("all", 16)], points=("early",)),
        Cover("order", each("oldest", "overtook"), points=("lot",)),
        Cover("place", [Bin(str(i), i, ("early" if i >= 16 else "lot",)) for i in range(32)]),
        Cover("kind", [Bin("for one that waits", "lot", ("lot",)), Bin("early", "early", ("early",))]),
        Cross("kind_answer", ("kind", "answer"), points=("overrun",)),
        Cross("kind_order", ("kind", "order"), points=("lot", "early")),
    ],
)  # fmt: skip

QUEUE = Group(
    "queue",
    samples.queues,
    [
        Cover("end", [Bin("alive", "alive", ("depths", "random_queues")), Bin("overrun", "overrun", ("overrun",)),
                      Bin("a bad write", "a bad write", ("bad_writes",))]),
        Cover("software", each("polls", "sleeps", "sleeps for solicited"), points=("depths", "random_queues")),
        Cover("dies", [Bin("lives", False), Bin("dies", True)], points=("overrun",)),
        Cross("software_end", ("software", "end"), points=("random_queues",), never=[(None, "a bad write")],
              why="nobody reads a ring outside memory"),
    ],
)  # fmt: skip

ARM = Group(
    "arm",
    samples.arms,
    [
        Cover("refused", each("no queue", "page", "no events", "disabled"), points=("refused",)),
        Cover("so", each(0, 1), points=("events",)),
        Cover("where", each("at the next", "ahead", "just behind", "far behind"), points=("events",)),
        Cover("moderation", each("none", "no time", "time and count"), points=("moderation",)),
        Cross("so_where", ("so", "where"), points=("events",)),
        Cross("so_moderation", ("so", "moderation"), points=("moderation",)),
        Cross("where_moderation", ("where", "moderation"), points=("moderation",)),
    ],
)  # fmt: skip

EVENT = Group("event", samples.events, [Cover("kind", each("completion", "error"), points=("events", "overrun"))])

PHASE = Group(
    "phase",
    samples.phases,
    [
        Cover("stalled", each("mem_aw", "mem_w", "mem_ar", "m_ev"), points=("random_queues",)),
        Cover("full", each("the FIFO of completions"), points=("barrier", "lot")),
        Cover("pace", [Bin("a thousand entries, one a cycle", range(1000, 1 << 16))], points=("rate",)),
        Cover("writes", [Bin("up to 100", range(101)), Bin("hundreds", range(101, 505)), Bin("all", range(505, 600))],
              points=("rate",)),
        Cover("early", [Bin("thousands of entries less a cycle for each record", True)], points=("early",)),
        Cover("arms", [Bin("every other cycle, hundreds", range(300, 1000))], points=("storm",)),
        Cover("clock", [Bin("within a turn", False, ("events",)), Bin("wraps", True, ("clock_wrap",))]),
        Cover("counted", each(*Cq.COUNTERS), points=("random_queues", "bad_writes", "refused", "overrun", "storm")),
        Cover("queues", each(4, 64, 1024), points=("random_queues",)),
    ],
)  # fmt: skip

COVERAGE = Coverage("cq", [ENTRY, RECORD, QUEUE, ARM, EVENT, PHASE])
