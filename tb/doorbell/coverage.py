# SPDX-License-Identifier: Apache-2.0
"""Functional coverage of the doorbell: what the ports showed, by test point.

Samples: coverage_samples.py, from a view of the records (coverage_view.py).
"""

from __future__ import annotations

from functools import partial

from models import wqe
from models.protocol import WQE
from tb.common.coverage import Bin, Cover, Coverage, Cross, Group, each
from tb.doorbell import coverage_samples as samples

OPCODES = [w.name for w in wqe.KNOWN]
PAYLOADS = ("no data", "pointer", "2^31 bytes", *(f"inline, {n} beats" for n in range(5)))
PLACES = ("within", "up to the end", "across")
SIZES = wqe.max_inline(WQE.SEND) + 1


def contains(member: int, values: set[int]) -> bool:
    """A bin of one member of a sample that is a set."""
    return member in values


STORE = Group(
    "store",
    samples.stores,
    [
        Cover("form", [
            *each("CPU", "GPU", points=("forms",)), Bin("whole WQE", "whole WQE", ("blueflame",)),
            *each("torn", "whole beats, other size", points=("refused_stores",)),
        ]),
        Cover("half", [Bin("first", 0), Bin("second", 1)], points=("forms", "blueflame")),
        Cover("outcome", [
            Bin("doorbells", "doorbells", ("forms",)), Bin("blueflame", "blueflame", ("blueflame",)),
            Bin("refused", "refused", ("refused_stores",)),
        ]),
        Cover("order", each("together", "AW first", "W first"), points=("random_producers",)),
        Cover("pace", [Bin("at full pace", True), Bin("later", False)], points=("blueflame",)),
        Cover("blocks", each(1, 2, 3, 4), points=("blueflame",)),
        Cover("accepted", each("doorbells", "blueflame"), points=("blueflame",), field="outcome"),
        Cross("form_half", ("form", "half"), points=("forms",)),
        Cross("blocks_half_accepted", ("blocks", "half", "accepted"), points=("blueflame",)),
        Cross("form_order", ("form", "order"), points=("random_producers",)),
        Cover("refused", each("disabled", "halted", "offset", "first 8 bytes", "too many beats", "other queue"),
              points=("refused_stores",)),
        Cover("torn", each("first 8 bytes only", "later bytes missing"), points=("refused_stores",)),
    ],
)  # fmt: skip

WORK = Group(
    "work",
    samples.works,
    [
        Cover("source", each("BlueFlame", "ring"), points=("forms", "blueflame")),
        Cover("opcode", each(*OPCODES), points=("forms",)),
        Cover("rung", [*each("BlueFlame", "late BlueFlame", points=("blueflame",)), *each("CPU", "GPU")],
              points=("forms",)),
        Cross("opcode_rung", ("opcode", "rung"), points=("forms",)),
        Cover("payload", each(*PAYLOADS), points=("inline_sizes",)),
        Cross("opcode_payload", ("opcode", "payload"), points=("inline_sizes",),
              never=[("NOP", p) for p in PAYLOADS[1:]], why="a NOP carries nothing"),
        Cross("source_payload", ("source", "payload"), points=("inline_sizes",)),
        Cover("signaled", each(0, 1), points=("forms",)),
        Cover("se", each(0, 1), points=("forms",)),
        Cover("waited", [Bin("between its beats", True)], points=("inline_sizes", "random_producers")),
        Cover("blocks", each(1, 2, 3, 4), points=("ring_wrap", "blueflame")),
        Cross("source_blocks", ("source", "blocks"), points=("blueflame",)),
        Cover("log", each(*range(1, 16)), points=("ring_wrap",)),
        Cover("ring", each(*PLACES), points=("ring_wrap",)),
        Cover("index", each(*PLACES), points=("ring_wrap",)),
        Cross("log_ring", ("log", "ring"), points=("ring_wrap",)),
        Cross("blocks_ring", ("blocks", "ring"), points=("ring_wrap",),
              never=[("1", "across")], why="one block crosses nothing"),
        Cross("blocks_index", ("blocks", "index"), points=("ring_wrap",),
              never=[("1", "across")], why="one block crosses nothing"),
        Cross("source_ring", ("source", "ring"), points=("ring_wrap",)),
    ],
)  # fmt: skip

FAULT = Group(
    "fault",
    samples.faults,
    [
        Cover("fault", each("index", "queue", "opcode", "ds zero", "NOP with segments", "ds too small",
                            "ds beyond four blocks", "inline longer than ds", "inline shorter than ds",
                            "several data segments"), points=("malformed",)),
        Cover("source", each("BlueFlame", "ring"), points=("malformed",)),
        Cross("fault_source", ("fault", "source"), points=("malformed",), never=[
            (f, "BlueFlame") for f in ("index", "queue", "ds zero", "ds beyond four blocks")],
              why="a store with these is a doorbell or refused, so the WQE comes from the ring"),
        Cover("behind", [Bin("a good one", True)], points=("malformed",)),
        Cover("stale", each("seen", "never, with the fence"), points=("fence",)),
    ],
)  # fmt: skip

PARTS = Group(
    "parts",
    samples.parts,
    [
        Cover("parts", each("at once", "in two", "in more", "too large, at once", "too large, in more"),
              points=("published_in_parts",)),
        Cover("into", [Bin("a BlueFlame store into it", True)], points=("published_in_parts",)),
    ],
)  # fmt: skip

INLINE = Group(
    "inline",
    samples.sizes,
    [
        Cover("size", [Bin(str(n), partial(contains, n)) for n in range(SIZES)], points=("inline_sizes",),
              field="sizes"),
        Cover("source", each("BlueFlame", "ring"), points=("inline_sizes",)),
        Cross("size_source", ("size", "source"), points=("inline_sizes",)),
    ],
)  # fmt: skip

RECORD = Group(
    "record",
    samples.timeline,
    [
        Cover("hint", [Bin("more", "more", ("merge",)), Bin("nothing new", "nothing new", ("merge",)),
                       Bin("old", "old", ("old_index",))]),
        Cover("merged", [Bin("one doorbell", 1), Bin("two", 2), Bin("more", range(3, 1 << 16))], points=("merge",)),
        Cover("during", [Bin("nothing rung during the read", 0), Bin("one", 1), Bin("more", range(2, 1 << 16))],
              points=("merge",)),
        Cross("merged_during", ("merged", "during"), points=("merge",)),
        Cover("latency", [Bin("up to 20", range(1, 21)), Bin("up to 60", range(21, 61)),
                          Bin("longer", range(61, 1 << 16))], points=("random_producers", "merge")),
        Cover("record", [
            *each("the same", "further", points=("merge",)), Bin("a full ring", "a full ring", ("beyond_ring",)),
            *each("older, not yet taken", "older, taken", points=("old_index",)),
            *each("one beyond the ring", "far beyond", "older than a ring", points=("beyond_ring",)),
        ]),
        Cover("record_behind", [Bin("never", 0), Bin("counted", range(1, 1 << 16))], points=("record_behind",)),
        Cover("stale_blocks", [Bin("none", 0), Bin("some read again", range(1, 1 << 16))], points=("record_behind",)),
        Cross("behind_stale", ("record_behind", "stale_blocks"), points=("record_behind",)),
    ],
)  # fmt: skip

HALT = Group(
    "halt",
    samples.halts,
    [
        Cover("why", each("record", "unreadable record", "unreadable block"), points=("beyond_ring",)),
        Cover("still_came", [Bin("nothing", 0), Bin("published WQEs", range(1, 1 << 16))], points=("beyond_ring",)),
        Cover("cut", [Bin("inside a WQE", True), Bin("between WQEs", False)], points=("beyond_ring",)),
        Cover("last", [Bin("LOC_QP_OP", 2)], points=("beyond_ring",)),
        Cover("refused", [Bin("stores refused", True)], points=("beyond_ring",)),
    ],
)  # fmt: skip

PHASE = Group(
    "phase",
    samples.phases,
    [
        Cover("stalled", each("m_wr", "mem_ar", "uar_b"), points=("random_producers",)),
        Cover("near", each("2^16", "2^15", "the ring's end"), points=("random_producers",)),
        Cover("log", each(4, 5, 6, 10, 15), points=("random_producers",)),
        Cover("random", each("BlueFlame", "late BlueFlame", "CPU", "GPU"), points=("random_producers",)),
        Cover("torture", each("halted", "alive", "blueflame", "doorbells", "refused", "record_behind", "malformed",
                              "overrun"), points=("torture",)),
        Cover("torture_log", each(*range(6)), points=("torture",)),
    ],
)  # fmt: skip

COVERAGE = Coverage("doorbell", [STORE, WORK, FAULT, PARTS, INLINE, RECORD, HALT, PHASE])
