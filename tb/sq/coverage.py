# SPDX-License-Identifier: Apache-2.0
"""Functional coverage of the send queues: what the ports showed, by test point.

Samples: coverage_samples.py, from a view of the records (coverage_view.py).
"""

from __future__ import annotations

from functools import partial

from models.protocol import CQE_SYN, WQE
from tb.common.coverage import Bin, Cover, Coverage, Cross, Group, each
from tb.sq import coverage_samples as samples
from tb.sq.coverage_producers import PRODUCERS
from tb.sq.wqes import FAULTS, INLINES, RING_ONLY, max_inline

OPCODES = [w.name for w in WQE]
INLINE_OPS = {w.name for w in INLINES}
INLINE_BEATS = [f"inline, {n} beats" for n in range(5)]
PAYLOADS = ["no data", "one pointer", "pointers", *INLINE_BEATS]
PLACES = ("within", "up to the end", "across")
ATOMICS = ("ATOMIC_CS", "ATOMIC_FA")
SIZES = max_inline(WQE.SEND) + 1
MANY = 1 << 30


def contains(member: int, values: set[int]) -> bool:
    """A bin of one member of a sample that is a set."""
    return member in values


def never_carried() -> list[tuple[str | None, ...]]:
    """Opcodes with payloads that they cannot have."""
    found: list[tuple[str | None, ...]] = [("NOP", p) for p in PAYLOADS[1:]]
    found += [(op, p) for op in ("READ", *ATOMICS) for p in INLINE_BEATS]
    return found + [(op, p) for op in ATOMICS for p in ("no data", "pointers")]


STORE = Group(
    "store",
    samples.stores,
    [
        Cover("form", [
            *each("CPU", "GPU", "doorbell with more", points=("forms",)),
            *each("whole block", "head and more", points=("blueflame",)), *each("part", "nothing", points=("parts",)),
            *each("arm", points=("arm",)), *each("no register", "head in pieces", points=("refused",)),
        ]),
        Cover("half", each(*range(8)), points=("blueflame", "forms")),
        Cover("bytes", each(16, 32, 48, 64), points=("parts",)),
        Cover("gap", [Bin("back to back", 1), Bin("soon", range(2, 58)), Bin("about the time-out", range(58, 72)),
                      Bin("too late", range(72, MANY))], points=("torn",)),
        Cover("order", each("together", "AW first", "W first"), points=("random",)),
        Cover("arms", [Bin("back to back", True)], points=("arm",)),
        Cover("pace", [Bin("a beat a cycle", True), Bin("later", False)], points=("rate",)),
        Cover("beats", [*each(1, 2, 3, 4), Bin("more", range(5, 257))], points=("blueflame", "refused")),
        Cover("answer", [Bin("OKAY", 0), Bin("SLVERR", 2)], points=("refused",)),
        Cross("form_half", ("form", "half"), points=("forms", "parts"),
              never=[("arm", None), ("no register", None)], why="they are in no half"),
        Cross("form_answer", ("form", "answer"), points=("refused",),
              never=[("head in pieces", "OKAY"), ("no register", "OKAY"), ("arm", "SLVERR")],
              why="these are refused always, and an arm that ends a burst is all of it"),
    ],
)  # fmt: skip

WORK = Group(
    "work",
    samples.works,
    [
        Cover("source", each("BlueFlame", "ring"), points=("forms", "blueflame")),
        Cover("opcode", each(*OPCODES), points=("opcodes",)),
        Cover("payload", each(*PAYLOADS), points=("opcodes",)),
        Cover("sges", each(*range(16)), points=("opcodes",)),
        Cover("blocks", each(1, 2, 3, 4), points=("blueflame", "wraps")),
        Cover("fence", each(*range(8)), points=("opcodes",)),
        Cover("ce", each(*range(4)), points=("opcodes",)),
        Cover("se", each(0, 1), points=("opcodes",)),
        Cover("longest", [Bin("2^31 bytes", True)], points=("opcodes",)),
        Cover("memory", each("host", "GPU"), points=("memories",)),
        Cover("waited", [Bin("between its beats", True)], points=("random",)),
        Cover("log", each(*range(16)), points=("wraps",)),
        Cover("ring", each(*PLACES), points=("wraps",)),
        Cover("index", each(*PLACES), points=("wraps",)),
        Cross("opcode_source", ("opcode", "source"), points=("opcodes",)),
        Cross("opcode_payload", ("opcode", "payload"), points=("opcodes",), never=never_carried(),
              why="a NOP carries nothing, READ and atomics nothing inline, an atomic has just one pointer"),
        Cross("blocks_source", ("blocks", "source"), points=("blueflame",)),
        Cross("source_memory", ("source", "memory"), points=("memories",)),
        Cross("log_ring", ("log", "ring"), points=("wraps",), never=[("0", "within"), ("0", "across")],
              why="a ring of one block is always full"),
        Cross("blocks_ring", ("blocks", "ring"), points=("wraps",), never=[("1", "across")],
              why="one block crosses nothing"),
        Cross("blocks_index", ("blocks", "index"), points=("wraps",), never=[("1", "across")],
              why="one block crosses nothing"),
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

FAULT = Group(
    "fault",
    samples.faults,
    [
        Cover("fault", each(*FAULTS), points=("malformed",)),
        Cover("source", each("BlueFlame", "ring"), points=("malformed",)),
        Cover("error", [Bin(e.name, int(e)) for e in (CQE_SYN.LOC_LEN, CQE_SYN.LOC_QP_OP, CQE_SYN.LOC_PROT)],
              points=("malformed",)),
        Cross("fault_source", ("fault", "source"), points=("malformed",), never=[(f, "BlueFlame") for f in RING_ONLY],
              why="a store with these is a doorbell, another queue's or another index's"),
        Cover("behind", [Bin("a good one", True)], points=("malformed",)),
        Cover("stale", each("seen", "never, with the fence"), points=("fence",)),
    ],
)  # fmt: skip

READ = Group(
    "read",
    samples.reads,
    [
        Cover("kind", each("record", "block"), points=("memories",)),
        Cover("memory", each("host", "GPU"), points=("memories",)),
        Cover("border", [Bin("behind a border of 4 MiB", True)], points=("wraps",)),
        Cover("bad", [Bin("answered with an error", True)], points=("halts",)),
        Cover("overtaken", [Bin("in order", False), Bin("overtaken", True)], points=("any_order",)),
        Cover("latency", [Bin("up to 20", range(1, 21)), Bin("up to 60", range(21, 61)),
                          Bin("longer", range(61, MANY))], points=("any_order",)),
        Cross("kind_memory", ("kind", "memory"), points=("memories",)),
        Cross("kind_overtaken", ("kind", "overtaken"), points=("any_order",)),
        Cross("kind_bad", ("kind", "bad"), points=("halts",)),
    ],
)  # fmt: skip

TURN = Group(
    "turn",
    samples.turns,
    [
        Cover("turn", each("record only", "less", "to the weight"), points=("turns",)),
        Cover("weight", [*each(0, 1, 255), Bin("some", range(2, 255))], points=("turns",)),
        Cover("wrap", [Bin("over the ring's end", True)], points=("turns", "wraps")),
        Cover("with_record", [Bin("record and blocks at once", True)], points=("turns",)),
        Cross("turn_weight", ("turn", "weight"), points=("turns",),
              never=[("less", "0"), ("less", "1")], why="a block is their weight"),
    ],
)  # fmt: skip

RECORD = Group(
    "record",
    samples.records,
    [
        Cover("merged", [Bin("one doorbell", 1), Bin("two", 2), Bin("more", range(3, MANY))], points=("merge",)),
        Cover("during", [Bin("nothing rung during the read", 0), Bin("one", 1), Bin("more", range(2, MANY))],
              points=("merge",)),
        Cover("record", [*each("the same", "further", points=("merge",)), *each("older", points=("old_index",))]),
        Cover("full", [Bin("a full ring", True)], points=("halts",)),
        Cover("inside", each("1 of 2", "1 of 3", "2 of 3", "1 of 4", "2 of 4", "3 of 4", "too large"),
              points=("published_in_parts",)),
    ],
)  # fmt: skip

PHASE = Group(
    "phase",
    samples.phases,
    [
        Cover("stalled", each("m_wr", "mem_ar", "uar_b"), points=("random",)),
        Cover("near", each("2^16", "2^15"), points=("random", "wraps")),
        Cover("counted", [
            *each("doorbells", points=("forms",)), *each("blueflame", points=("blueflame",)),
            *each("refused", points=("refused",)), *each("torn", points=("torn",)),
            *each("fetched", points=("forms",)), *each("discarded", "record_behind", points=("behind",)),
            *each("halted", points=("halts",)),
        ]),
        Cover("torn", each(*(f"torn{i}" for i in (0, 1, 2, 4, 5)), "more halves than slots"), points=("torn",)),
        Cover("halted", each(*(f"errors{i}" for i in range(1, 12))), points=("halts",)),
        Cover("arms", [Bin("some", range(1, MANY))], points=("arm",)),
        Cover("random_counted", each("doorbells", "blueflame", "torn", "fetched"), points=("random",)),
        Cover("torture_counted", each("doorbells", "blueflame", "refused", "torn", "fetched", "discarded",
                                      "record_behind", "halted"), points=("torture",)),
        Cover("queues", [Bin("one", 1), Bin("some", range(2, 64)), Bin("256", 256)], points=("turns",)),
        Cover("tags", each("all in use", "free"), points=("any_order",)),
    ],
)  # fmt: skip

COVERAGE = Coverage("sq", [STORE, WORK, INLINE, FAULT, READ, TURN, RECORD, PHASE, PRODUCERS])
