# SPDX-License-Identifier: Apache-2.0
"""Functional coverage of the NIC: what needs its blocks joined, by test point.

Samples: coverage_samples.py.
"""

from __future__ import annotations

from models.protocol import OP
from tb.common.coverage import Bin, Cover, Coverage, Cross, Group, each
from tb.nic import coverage_samples as samples

FORMATS = ("native", "RoCE")
KINDS = ("WRITE", "WRITE_IMM", "SEND", "SEND_IMM")
OPCODES = [OP(i).name for i in range(OP.SEND_FIRST, OP.WRITE_ONLY_IMM + 1)] + ["ACKNOWLEDGE"]
LENGTHS = ("0", "1", "below", "PMTU-1", "PMTU", "PMTU+1", "two packets", "many packets")
MTUS = (256, 512, 1024, 2048, 4096)
MANY = [Bin("one packet", False), Bin("several packets", True)]

FRAME = Group(
    "frame",
    samples.frames,
    [
        Cover("format", each(*FORMATS), points=("messages",)),
        Cover("verdict", [Bin("good", "good", ("messages",)), *each("icrc", "format", "fcs")], points=("bad_frames",)),
        Cross("format_verdict", ("format", "verdict"), points=("bad_frames",)),
        Cover("way", each("in", "out"), points=("messages",)),
        Cover("opcode", each(*OPCODES), points=("both_ways",)),
        Cross("format_way_opcode", ("format", "way", "opcode"), points=("both_ways",)),
        Cover("pad", each(0, 1, 2, 3), points=("outsiders",)),
        Cover("size", each("0", "up to 64", "up to 1024", "more"), points=("outsiders",)),
        Cross("format_way_pad", ("format", "way", "pad"), points=("outsiders",)),
        Cross("format_way_size", ("format", "way", "size"), points=("outsiders",)),
        Cover("at_once", [Bin("with a frame the other way", True), Bin("alone", False)], points=("both_ways",)),
        Cross("format_way_at_once", ("format", "way", "at_once"), points=("both_ways",)),
    ],
)

POSTED = Group(
    "posted",
    samples.posted,
    [
        Cover("format", each(*FORMATS), points=("messages",)),
        Cover("kind", each(*KINDS), points=("both_ways",)),
        Cover("way", each("BlueFlame", "doorbell"), points=("messages",)),
        Cover("data", each("inline", "host", "GPU"), points=("both_ways",)),
        Cover("packets", MANY, points=("both_ways",)),
        Cover("length", each(*LENGTHS), points=("both_ways",)),
        Cover("offset", each("0", "1", "inside", "63"), points=("both_ways",)),
        Cover("pmtu", each(*MTUS), points=("both_ways",)),
        Cross("format_way", ("format", "way"), points=("messages",)),
        Cross("kind_way_data", ("kind", "way", "data"), points=("both_ways",)),
        Cross("format_data_packets", ("format", "data", "packets"), points=("both_ways",),
              never=[(None, "inline", "several packets")], why="inline data are below every path MTU"),
    ],
)  # fmt: skip

ARRIVED = Group(
    "arrived",
    samples.arrived,
    [
        Cover("format", each(*FORMATS), points=("messages",)),
        Cover("kind", each(*KINDS), points=("both_ways",)),
        Cover("memory", each("host", "GPU"), points=("both_ways",)),
        Cover("packets", MANY, points=("both_ways",)),
        Cover("length", each(*LENGTHS), points=("both_ways",)),
        Cover("offset", each("0", "1", "inside", "63"), points=("both_ways",)),
        Cover("page", each("within", "across"), points=("both_ways",)),
        Cover("pmtu", each(*MTUS), points=("both_ways",)),
        Cross("format_kind_packets", ("format", "kind", "packets"), points=("both_ways",)),
        Cross("kind_memory", ("kind", "memory"), points=("both_ways",)),
    ],
)

ANSWER = Group(
    "answer",
    samples.answers,
    [
        Cover("format", each(*FORMATS), points=("refused_requests",)),
        Cover("syndrome", [Bin("ACK", "ACK", ("messages",)), *each("NAK 60", "NAK 61", "NAK 62", "RNR")],
              points=("refused_requests",)),
        Cover("refused", each("key unknown", "one byte beyond", "opcode", "length", "gap", "gap again", "duplicate",
                              "no receive WQE", "repeated, taken"), points=("refused_requests",)),
        Cover("stranger", each("other queue pair", "other partition", "source"), points=("refused_requests",)),
    ],
)  # fmt: skip

HOST = Group(
    "host",
    samples.host,
    [
        Cover("response", [Bin("OKAY", 0, ("messages",)), Bin("SLVERR", 2, ("bad_work",))]),
        Cover("refused", each("offset", "half a doorbell", "other queue", "halted"), points=("bad_work",)),
        Cover("queue", each("send", "receive"), points=("messages",)),
        Cover("error", [Bin("none", "none", ("messages",)),
                        *each("LOC_QP_OP", "LOC_PROT", "WR_FLUSH", "REM_ACCESS")], points=("bad_work",)),
        Cover("state", each("halted", "error"), points=("bad_work",)),
    ],
)  # fmt: skip

READ = Group(
    "read",
    samples.reads,
    [
        Cover("turn", each("0 then 0", "0 then 1", "1 then 0", "1 then 1", "1 then 2", "2 then 1", "2 then 2"),
              points=("shared_read_port",)),
        Cover("alternates", each("0 1 0", "1 0 1"), points=("shared_read_port",)),
        Cover("contended", [Bin("while the port stalls", "the port stalls")], points=("shared_read_port",)),
        Cover("stalled", [Bin("port stalls", True), Bin("port ready", False)], points=("shared_read_port",)),
    ],
)  # fmt: skip

CREDIT = Group(
    "credit",
    samples.credits,
    [
        Cover("buffers", [Bin("less than the buffer", lambda x: x < 1), Bin("more", lambda x: x >= 1),
                          Bin("many times", lambda x: x >= 2)], points=("credits",)),
        Cover("dropped", [Bin("dropped ones too", True), Bin("all taken", False)], points=("credits",)),
        Cover("round", [Bin("not once", lambda x: x < 1), Bin("once", lambda x: x >= 1)], points=("credits",),
              field="buffers"),
        Cross("round_dropped", ("round", "dropped"), points=("credits",)),
    ],
)  # fmt: skip

PHASE = Group(
    "phase",
    samples.phases,
    [
        Cover("memory", each("slow", "fast"), points=("both_ways",)),
        Cover("format", each(*FORMATS), points=("both_ways",)),
        Cover("stalled", [Bin("stalls", True), Bin("ready", False)], points=("both_ways",)),
        Cross("memory_format", ("memory", "format"), points=("both_ways",)),
        Cover("ring", each("host", "GPU"), points=("both_ways",)),
        Cover("wrapped", each("PSN sent", "PSN received", "MSN", "WQE index", "completion ring"),
              points=("both_ways",)),
        Cover("tshark", each(*FORMATS), points=("outsiders",)),
        Cover("linux_in", each("SEND_ONLY", "WRITE_FIRST", "WRITE_MIDDLE", "WRITE_LAST", "WRITE_ONLY", "wrong icrc"),
              points=("softroce",)),
        Cover("linux_out", each("ACK", "NAK 60", "RNR"), points=("softroce",)),
    ],
)  # fmt: skip

COVERAGE = Coverage("nic", [FRAME, POSTED, ARRIVED, ANSWER, HOST, READ, CREDIT, PHASE])
