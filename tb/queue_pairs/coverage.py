# SPDX-License-Identifier: Apache-2.0
"""Functional coverage of the joined queues: what memory and ports showed. Samples: coverage_samples.py."""

from __future__ import annotations

from models.protocol import CQE_SYN
from tb.common.coverage import Bin, Cover, Coverage, Cross, Group, each
from tb.queue_pairs import coverage_samples as samples
from tb.queue_pairs.litmus import HARMLESS, LITMUS
from tb.queue_pairs.names import CASES, SCENES
from tb.sq.wqes import FAULTS

MANY = 1 << 30
FORMS = ("collapsed", "ring")

ENTRY = Group(
    "entry",
    samples.entries,
    [
        Cover("form", each(*FORMS), points=("asked",)),
        Cover("memory", each("host", "GPU"), points=("asked",)),
        Cover("what", [*each("asked", points=("asked",)), *each("error, asked", points=("errors",)),
                       *each("error, not asked", points=("silence",))]),
        Cover("syndrome", [Bin(e.name, int(e)) for e in (CQE_SYN.LOC_LEN, CQE_SYN.LOC_QP_OP, CQE_SYN.LOC_PROT)],
              points=("errors",)),
        Cover("fault", [Bin(f, f) for f in FAULTS], points=("errors",)),
        Cover("halted", [Bin("a record beyond the ring", "record")], points=("halts",), field="fault"),
        Cover("way", each("BlueFlame", "fetched"), points=("asked",)),
        Cover("passed", [Bin("none that did not ask", 0), Bin("some that did not ask", range(1, MANY))],
              points=("asked",)),
        Cover("data", each("brings none", "brings some"), points=("data",)),
        Cover("waited", [Bin("data were on their way", True)], points=("data",)),
        Cover("send_index", [Bin("at 2^16", True)], points=("wraps",)),
        Cover("entry_index", [Bin("at 2^24", True)], points=("wraps",)),
        Cover("pass_end", [Bin("at the end of a pass", True)], points=("wraps",)),
        Cross("form_what", ("form", "what"), points=("errors", "silence")),
        Cross("form_memory", ("form", "memory"), points=("asked",)),
    ],
)  # fmt: skip

QUEUE = Group(
    "queue",
    samples.queues,
    [
        Cover("queues", [Bin("one", 1), Bin("two", 2), Bin("more", range(3, MANY))], points=("sharing",)),
        Cover("how", each("GPU threads", "by its posters", "by events"), points=("sharing",)),
        Cover("record", each("read early", "read when full"), points=("record",)),
        Cover("died", [Bin("one of one", "all"), Bin("some, others went on", "some")], points=("after_error",)),
        Cover("again", [Bin("behind a malformed request", "request"), Bin("behind a record beyond the ring", "record")],
              points=("again",)),
        Cover("behind", [Bin("requests behind an error", range(1, MANY))], points=("after_error",)),
    ],
)  # fmt: skip

ARM = Group(
    "arm",
    samples.arms,
    [
        Cover("came", each("fires at once", "fires later", "refused"), points=("events",)),
        Cover("behind", [Bin("two cycles behind another", 2)], points=("events",)),
        Cover("foreign", [Bin("by a foreign page", "refused")], points=("pages",), field="came"),
    ],
)  # fmt: skip

RUN = Group(
    "run",
    samples.runs,
    [
        Cover("shows", each(*SCENES), points=("sharing",)),
        Cover("left_out", [Bin(x.name, x.name) for x in LITMUS], points=("consumer_steps",), field="shows"),
        Cover("harmless", [Bin(x.name, x.name) for x in HARMLESS], points=("consumer_steps",), field="shows"),
        Cover("kept", [Bin("with every step", "kept")], points=("consumer_steps",), field="shows"),
        Cover("fault", each("hung", "overrun"), points=("consumer_steps",)),
        Cover("stalled", each("m_wr", "mem_ar", "uar_b", "mem_aw", "mem_w", "m_ev"), points=("sharing",)),
        Cover("case", each(*("_".join(c) for c in CASES)), points=("latency",)),
    ],
)  # fmt: skip

COVERAGE = Coverage("queue_pairs", [ENTRY, QUEUE, ARM, RUN])
