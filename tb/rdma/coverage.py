# SPDX-License-Identifier: Apache-2.0
"""Functional coverage of rdma and of two of it joined: what the ports showed, by test point.

Samples: coverage_samples.py and coverage_errors.py, from views of the records (coverage_view.py). Left out because
it cannot be run: a window of 2^23 - 1 PSNs outstanding (point psn_window_limit).
"""

from __future__ import annotations

from collections.abc import Sequence

from models.protocol import CQE, CQE_SYN, OP
from models.wqe import KNOWN
from tb.common.coverage import Bin, Cover, Coverage, Cross, Group, each
from tb.rdma import coverage_errors as errors
from tb.rdma import coverage_samples as samples

M24 = (1 << 24) - 1
KINDS = ("WRITE", "WRITE_IMM", "SEND", "SEND_IMM")
OPCODES = [OP(i).name for i in range(OP.SEND_FIRST, OP.WRITE_ONLY_IMM + 1)]
LENGTHS = ("0", "1", "below", "PMTU-1", "PMTU", "PMTU+1", "two packets", "many packets")
FULL_SIZES = ("PMTU+1", "two packets", "many packets")
MTUS = (256, 512, 1024, 2048, 4096)
OFFSETS = ("0", "1", "inside", "63")
PAGES = ("within", "up to", "across")


def yes_no(yes: str, no: str) -> list[Bin]:
    """Bins of a boolean."""
    return [Bin(yes, True), Bin(no, False)]


def near(top: int, *points: str) -> list[Bin]:
    """Bins of a counter about its wrap."""
    return [Bin("last before the wrap", top, points), Bin("zero", 0, points), Bin("elsewhere", range(1, top), points)]


def at(*names: str) -> list[Bin]:
    """Bins of names."""
    return each(*names)


REQUEST = Group(
    "request",
    samples.requests,
    [
        Cover("kind", at(*KINDS), points=("segmentation", "smoke")),
        Cover("pmtu", each(*MTUS), points=("segmentation",)),
        Cover("length", at(*LENGTHS), points=("segmentation",)),
        Cross("kind_pmtu_length", ("kind", "pmtu", "length"), points=("segmentation",)),
        Cover("solicited", yes_no("solicited", "not"), points=("segmentation",)),
        Cross("kind_solicited", ("kind", "solicited"), points=("segmentation",),
              never=[("WRITE", "solicited")], why="a WRITE without immediate carries no solicited event (9.2.3)"),
        Cover("signaled", yes_no("signalled", "not"), points=("segmentation",)),
        Cover("source", at("inline", "host", "GPU"), points=("source_alignment",)),
        Cover("offset", at(*OFFSETS), points=("source_alignment",)),
        Cover("page", at(*PAGES), points=("source_alignment",)),
        Cover("spacing", yes_no("back to back", "with gaps"), points=("source_alignment",)),
        Cross("source_offset_page", ("source", "offset", "page"), points=("source_alignment",),
              never=[("inline", None, None)], why="inline data has no address"),
        Cross("offset_spacing", ("offset", "spacing"), points=("source_alignment",)),
    ],
)  # fmt: skip

SENT = Group(
    "sent",
    samples.sent_packets,
    [
        Cover("opcode", at(*OPCODES), points=("segmentation",)),
        Cover("body", at("FIRST", "MIDDLE", "LAST", "ONLY"), points=("psn_wrap",)),
        Cover("psn", near(M24), points=("psn_wrap",)),
        Cross("body_psn", ("body", "psn"), points=("psn_wrap",)),
    ],
)

WORK = Group(
    "work",
    samples.works,
    [
        Cover("index", near(0xFFFF), points=("psn_wrap",)),
        Cover("nop", at("signalled", "not signalled"), points=("segmentation",)),
        Cover("accepted", [
            Bin("inside", "inside", ("keys", "smoke")), Bin("ends with the region", "ends with the region"),
            Bin("read-only region", "read-only region"), Bin("empty, any key", "empty, any key"),
        ], points=("keys",)),
        Cover("refused", [
            *at("key unknown", "one byte before", "one byte beyond", "wraps around"),
            Bin("above 2^31 bytes", "above 2^31 bytes", ("responses",)),
            Bin("malformed", "malformed", ("responses",)), Bin("unknown opcode", "unknown opcode", ("responses",)),
            Bin("memory failed", "memory failed", ("memory_faults",)),
        ], points=("keys",)),
    ],
)  # fmt: skip

ARRIVAL = Group(
    "arrival",
    samples.arrivals,
    [
        Cover("kind", at(*KINDS), points=("destination_alignment", "smoke")),
        Cover("pmtu", each(*MTUS), points=("destination_alignment",)),
        Cover("length", at(*LENGTHS), points=("destination_alignment",)),
        Cross("kind_pmtu_length", ("kind", "pmtu", "length"), points=("destination_alignment",)),
        Cover("window", at("host", "GPU"), points=("destination_alignment",)),
        Cover("offset", at(*OFFSETS), points=("destination_alignment",)),
        Cover("page", at(*PAGES), points=("destination_alignment",)),
        Cross("window_offset_page", ("window", "offset", "page"), points=("destination_alignment",)),
        Cross("kind_offset", ("kind", "offset"), points=("destination_alignment",)),
        Cover("ackreq", yes_no("AckReq", "none"), points=("answers",)),
        Cover("solicited", yes_no("solicited", "not"), points=("data_before_completion",)),
        Cover("spacing", yes_no("back to back", "one packet or gaps"), points=("destination_alignment",)),
        Cover("receive", at("full", "room left"), points=("destination_alignment",)),
        Cover("border", at("ends with the region", "empty, any key"), points=("keys",)),
    ],
)  # fmt: skip

AHEAD = [
    Bin("expected", 0, ("psn_wrap",)),
    Bin("one ahead", 1, ("gaps",)),
    Bin("more ahead", range(2, 1 << 22), ("gaps",)),
    Bin("2^23 - 1 ahead", (1 << 23) - 1, ("psn_half",)),
    Bin("2^23 away", -(1 << 23), ("psn_half",)),
    Bin("one back", -1, ("duplicates",)),
    Bin("more back", range(-(1 << 22), -1), ("duplicates",)),
]

INCOMING = Group(
    "incoming",
    samples.incoming,
    [
        Cover("opcode", at(*OPCODES), points=("destination_alignment",)),
        Cover("body", at("FIRST", "MIDDLE", "LAST", "ONLY"), points=("psn_wrap",)),
        Cover("psn", near(M24), points=("psn_wrap",)),
        Cross("body_psn", ("body", "psn"), points=("psn_wrap",)),
        Cover("ahead", AHEAD),
        Cover("old", at("SEND", "SEND, no AckReq", "WRITE", "WRITE, no AckReq", "WRITE, wrong key", "READ", "other"),
              points=("duplicates",)),
        Cover("outsider", at(
            "transport class", "queue pair 0", "other queue pair", "partition 0", "other partition",
            "two limited members", "source", "destination"), points=("admission",)),
        Cover("partition", at("limited member", "own partition"), points=("admission",)),
        Cover("stalled", yes_no("with gaps", "dense"), points=("destination_alignment",)),
    ],
)  # fmt: skip

ANSWER = Group(
    "answer",
    samples.answers,
    [
        Cover("syndrome", [
            Bin("ACK", "ACK", ("answers", "smoke")), Bin("NAK 60", "NAK 60", ("gaps",)),
            Bin("NAK 61", "NAK 61", ("invalid_requests",)), Bin("NAK 62", "NAK 62", ("keys",)),
            Bin("NAK 63", "NAK 63", ("memory_faults",)), Bin("RNR", "RNR", ("receiver_not_ready",)),
        ]),
        Cover("psn", near(M24), points=("psn_wrap",)),
        Cover("msn", near(M24), points=("psn_wrap",)),
        Cover("speaks_for", [
            Bin("nothing new", 0, ("duplicates",)), Bin("one message", 1, ("answers",)),
            Bin("several messages", range(2, 1 << 23), ("answers",)),
        ]),
        Cover("place", at("inside a message of ours"), points=("answers",)),
        Cover("behind", at("NAK 60", "RNR"), points=("answers",)),
        Cover("nak_again", yes_no("again", "for the first time"), points=("gaps", "receiver_not_ready")),
        Cover("silence", [Bin("NAK 60", "NAK 60", ("gaps",)), Bin("RNR", "RNR", ("receiver_not_ready",))]),
        Cover("repaired", [Bin("NAK 60", "NAK 60", ("gaps",)), Bin("RNR", "RNR", ("receiver_not_ready",))]),
    ],
)  # fmt: skip

REFUSAL = Group(
    "refusal",
    errors.refusals,
    [
        Cover("invalid", at(
            "READ", "ATOMIC", "invalidate", "reserved opcode", "WRITE not allowed", "begins inside a message",
            "goes on without a message", "SEND and WRITE mixed", "FIRST or MIDDLE shorter than the PMTU",
            "FIRST or MIDDLE longer than the PMTU", "empty LAST", "LAST or ONLY longer than the PMTU",
            "DMA length above 2^31", "SEND beyond its WQE", "bytes above the DMA length",
            "bytes below the DMA length"), points=("invalid_requests",)),
        Cover("inside", at("FIRST", "MIDDLE", "LAST", "ONLY"), points=("invalid_requests",)),
        Cover("access", at("key unknown", "no entry valid", "right missing", "one byte before", "one byte beyond",
                           "wraps around", "first packet would fit"), points=("keys",)),
        Cover("not_ready", at("SEND_ONLY", "SEND_ONLY_IMM", "SEND_FIRST", "WRITE_LAST_IMM", "WRITE_ONLY_IMM"),
              points=("receiver_not_ready",)),
        Cover("operation", [
            *each("receive key unknown", "receive right missing", "receive region too short", points=("keys",)),
            *each("receive queue unreadable", "record beyond the ring", "payload write failed",
                  points=("memory_faults",)),
        ]),
    ],
)  # fmt: skip


def syndromes(points: Sequence[str], *codes: CQE_SYN) -> list[Bin]:
    """Bins of completion syndromes."""
    return each(*(c.name for c in codes), points=points)


COMPLETION = Group(
    "completion",
    samples.completions,
    [
        Cover("queue", at("send", "receive"), points=("psn_wrap",)),
        Cover("owner", each(0, 1), points=("psn_wrap",)),
        Cover("producer", at("ring", "2^24"), points=("psn_wrap",)),
        Cover("wqe", near(0xFFFF), points=("psn_wrap",)),
        Cross("queue_owner", ("queue", "owner"), points=("psn_wrap",)),
        Cross("queue_producer", ("queue", "producer"), points=("psn_wrap",)),
        Cross("queue_wqe", ("queue", "wqe"), points=("psn_wrap",)),
        Cover("done", [Bin(k.name, k.value) for k in KNOWN], points=("responses",)),
        Cover("send_error", [
            *syndromes(("responses",), CQE_SYN.REM_INV_REQ, CQE_SYN.REM_ACCESS, CQE_SYN.REM_OP, CQE_SYN.RNR_EXC,
                       CQE_SYN.BAD_RESP, CQE_SYN.LOC_QP_OP, CQE_SYN.LOC_LEN),
            *syndromes(("responses", "timer"), CQE_SYN.RETRY_EXC), *syndromes(("keys",), CQE_SYN.LOC_PROT),
            *syndromes(("flush",), CQE_SYN.WR_FLUSH),
        ]),
        Cover("receive_error", [
            *syndromes(("invalid_requests",), CQE_SYN.LOC_LEN, CQE_SYN.REM_INV_REQ),
            *syndromes(("memory_faults",), CQE_SYN.LOC_QP_OP), *syndromes(("keys",), CQE_SYN.LOC_PROT),
            *syndromes(("flush",), CQE_SYN.WR_FLUSH),
        ]),
        Cover("flushed", at("receive", "send, signalled", "send, not signalled"), points=("flush",)),
        Cover("received", [Bin(CQE(c).name, int(c)) for c in (CQE.RESP_SEND, CQE.RESP_SEND_IMM, CQE.RESP_WR_IMM)],
              points=("data_before_completion",)),
        Cover("se", yes_no("solicited", "not"), points=("data_before_completion",)),
        Cover("bytes", at("0", "some"), points=("data_before_completion",)),
        Cover("wait", [Bin("memory answers soon", range(1, 20)), Bin("late", range(20, 100)),
                       Bin("very late", range(100, 1000))], points=("data_before_completion",)),
        Cross("received_wait", ("received", "wait"), points=("data_before_completion",)),
    ],
)  # fmt: skip

RESPONSE = Group(
    "response",
    samples.responses,
    [
        Cover("place", at("oldest", "between", "newest", "old", "not sent yet"), points=("responses",)),
        Cover("syndrome", at("ACK", "RNR", "NAK 60", "NAK 61", "NAK 62", "NAK 63", "NAK reserved", "type 010",
                             "type 1xx", "READ or ATOMIC"), points=("responses",)),
        Cover("outstanding", [Bin("one", 1), Bin("up to 7", range(2, 8)), Bin("up to 63", range(8, 64)),
                              Bin("64 and more", range(64, 1 << 23))], points=("responses",)),
        Cover("acknowledged", at("oldest", "between", "newest"), points=("responses",)),
    ],
)  # fmt: skip

PHASE = Group(
    "phase",
    errors.phases,
    [
        Cover("state", [Bin("RTS", "RTS"), Bin("RTR", "RTR"), Bin("INIT", "INIT"), Bin("ERR", "ERR", ("flush",))],
              points=("admission",)),
        Cover("dropped_in", at("error", "INIT", "RTR"), points=("admission",)),
        Cover("outstanding", [Bin("none", 0), Bin("up to 7", range(1, 8)), Bin("up to 63", range(8, 64)),
                              Bin("64 and more", range(64, 1 << 23))], points=("responses",)),
        Cover("memory", at("payload read", "receive queue read", "payload write", "completion write"),
              points=("memory_faults",)),
        Cover("timer", at("never, requests outstanding", "expired", "restarted by progress", "stopped",
                          "started again"), points=("timer",)),
        Cover("cause", at("reset", "requester", "responder", "payload not written", "completion not written"),
              points=("flush",)),
        Cover("queue", at("send", "receive"), points=("flush",)),
        Cover("flushed", [Bin("one", 1), Bin("several", range(2, 1 << 16))], points=("flush",)),
        Cross("cause_queue", ("cause", "queue"), points=("flush",)),
        Cross("queue_flushed", ("queue", "flushed"), points=("flush",)),
        Cover("random", at("failed", "held", "outsider", "response", "PSN", "work request", "answered NAK 60",
                           "answered NAK 61", "answered NAK 62", "answered NAK 63", "answered RNR"),
              points=("random_faults",)),
    ],
)  # fmt: skip

LINUX = Group(
    "linux",
    samples.linux,
    [
        # the captures have no SEND of several packets
        Cover("request", at("SEND_ONLY", "WRITE_FIRST", "WRITE_MIDDLE", "WRITE_LAST", "WRITE_ONLY"), points=("linux",)),
        Cover("answer", at("ACK", "NAK 60", "RNR"), points=("linux",)),
        Cover("loss", at("behind a gap", "repeated"), points=("linux",)),
    ],
)  # fmt: skip

PAIR = Group(
    "pair",
    samples.pairs,
    [
        Cover("way", at("a to b", "b to a"), points=("end_to_end",)),
        Cover("kind", at(*KINDS), points=("end_to_end",)),
        Cover("source", at("inline", "fetched"), points=("end_to_end",)),
        Cover("packets", yes_no("many packets", "one packet"), points=("end_to_end",)),
        Cross("way_kind_packets", ("way", "kind", "packets"), points=("end_to_end",)),
        Cross("way_kind_source", ("way", "kind", "source"), points=("end_to_end",)),
        Cover("rate", [Bin("50 bytes a cycle and more", lambda r: r >= 50)], points=("end_to_end", "source_alignment")),
        Cover("pmtu", each(1024, 4096), points=("end_to_end",)),
        Cover("shift", at("aligned", "unaligned"), points=("end_to_end", "source_alignment")),
        Cross("rate_pmtu_shift", ("rate", "pmtu", "shift"), points=("end_to_end", "source_alignment")),
    ],
)

LATENCY = Group(
    "latency",
    samples.latency,
    [Cover("row", at(
        "request from memory to its read", "read data to packet", "inline request to packet", "WRITE to write address",
        "WRITE to write data", "write response to ACK", "SEND to the receive queue's read",
        "write response to completion", "ACK to completion"), points=("latency",))],
)  # fmt: skip

ACROSS = at("within a packet", "between packets")
CARRY = Group(
    "carry",
    samples.carries,
    [
        Cover("source", ACROSS, points=("address_carry",)),
        Cover("write", ACROSS, points=("address_carry",)),
        Cover("send", ACROSS, points=("address_carry",)),
        Cover("ring", at("send completions", "receive completions", "receives"), points=("address_carry",)),
    ],
)

COVERAGE = Coverage(
    "rdma",
    [CARRY, REQUEST, SENT, WORK, ARRIVAL, INCOMING, ANSWER, REFUSAL, COMPLETION, RESPONSE, PHASE, LINUX, PAIR, LATENCY],
)
