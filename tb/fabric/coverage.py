# SPDX-License-Identifier: Apache-2.0
"""Functional coverage of the fabric: messages by path, format, host and way of posting, by test point.

Samples: coverage_samples.py.
"""

from __future__ import annotations

from models.protocol import OP
from tb.common.coverage import Bin, Cover, Coverage, Cross, Group, each
from tb.fabric import coverage_samples as samples

PROFILES = ("native", "RoCE")
HOSTS = ("pcie", "d2d")
KINDS = ("WRITE", "WRITE_IMM", "SEND", "SEND_IMM")
MODES = ("inline, BlueFlame", "inline, doorbell", "fetched, host", "fetched, GPU")
SIZES = ("0", "1", "below", "PMTU", "PMTU+1", "two packets", "many packets")
OPCODES = [OP(i).name for i in range(OP.SEND_FIRST, OP.WRITE_ONLY_IMM + 1)] + ["ACKNOWLEDGE"]
WAYS = ("a to b", "b to a")

MESSAGE = Group(
    "message",
    samples.messages,
    [
        Cover("path", each(*samples.PATHS), points=("topologies",)),
        Cover("profile", each(*PROFILES), points=("topologies",)),
        Cover("host", each(*HOSTS), points=("both_ways",)),
        Cover("kind", each(*KINDS), points=("both_ways",)),
        Cover("way", each(*WAYS), points=("both_ways",)),
        Cover("mode", each(*MODES), points=("both_ways",)),
        Cover("size", each(*SIZES), points=("both_ways",)),
        Cover("packets", [Bin("one packet", False), Bin("several packets", True)], points=("both_ways",)),
        Cover("target", each("host", "gpu"), points=("both_ways",)),
        Cover("offset", each("0", "1", "inside", "63"), points=("both_ways",)),
        Cover("pmtu", each(256, 512, 1024, 2048, 4096), points=("both_ways",)),
        Cross("path_kind_way", ("path", "kind", "way"), points=("topologies",)),
        Cross("path_profile_way", ("path", "profile", "way"), points=("topologies",)),
        Cross("path_host_mode", ("path", "host", "mode"), points=("topologies",)),
        Cross("path_packets_profile", ("path", "packets", "profile"), points=("topologies",)),
        Cross("kind_way_packets", ("kind", "way", "packets"), points=("both_ways",)),
        Cross("kind_mode", ("kind", "mode"), points=("both_ways",)),
        Cross("mode_target", ("mode", "target"), points=("both_ways",)),
    ],
)

FRAME = Group(
    "frame",
    samples.frames,
    [
        Cover("profile", each(*PROFILES), points=("outsiders",)),
        Cover("way", each(*WAYS), points=("outsiders",)),
        Cover("pad", each(0, 1, 2, 3), points=("outsiders",)),
        Cover("opcode", each(*OPCODES), points=("outsiders",)),
        Cover("tshark", each(*PROFILES), points=("outsiders",)),
        Cross("profile_opcode", ("profile", "opcode"), points=("outsiders",)),
        Cross("profile_way_pad", ("profile", "way", "pad"), points=("outsiders",)),
        Cover("at_once", [Bin("with a frame the other way", True), Bin("alone", False)], points=("both_ways",)),
        Cross("profile_way_at_once", ("profile", "way", "at_once"), points=("both_ways",)),
    ],
)

LATENCY = Group(
    "latency",
    samples.latency,
    [
        Cover("path", [Bin("direct", "direct", ("end_to_end",)), *each(*samples.PATHS[1:])],
              points=("hop", "end_to_end")),
        Cover("profile", each(*PROFILES), points=("hop", "end_to_end")),
        Cover("host", each(*HOSTS), points=("end_to_end",)),
        Cover("mode", each("inline", "fetched"), points=("end_to_end",)),
        Cover("bytes", each(8, 64), points=("end_to_end",)),
        Cover("in_time", [Bin("below the target", True)], points=("end_to_end",)),
        Cross("path_profile", ("path", "profile"), points=("hop",),
              never=[("direct", None)], why="no switch lies between the NICs"),
        Cross("row", ("path", "profile", "host", "mode", "bytes"), points=("end_to_end",)),
        Cross("claim", ("path", "host", "mode", "in_time"), points=("end_to_end",), never=[
            (None, "pcie", "fetched", None), ("three hops", "d2d", "fetched", None)],
              why="no claim is made for memory round trips over PCIe, nor for both round trips and three hops"),
    ],
)  # fmt: skip

MOE = Group(
    "moe",
    samples.moe,
    [
        Cover("profile", each(*PROFILES), points=("moe",)),
        Cover("signaled", [Bin("signalled", True), Bin("not", False)], points=("moe",)),
        Cover("bell", [Bin("rings", True), Bin("waits for its token's last", False)], points=("moe",)),
        Cover("memory", each("gpu to gpu"), points=("moe",)),
        Cover("packets", [Bin("FIRST, LAST", lambda bodies: bodies == ["FIRST", "LAST"])], points=("moe",)),
        Cover("whole", [Bin("every message", True)], points=("moe",)),
        Cover("completed", [Bin("every completion", True)], points=("moe",)),
        Cover("dense", [Bin("frames back to back", True)], points=("moe",)),
        Cross("profile_whole", ("profile", "whole"), points=("moe",)),
        Cross("profile_completed", ("profile", "completed"), points=("moe",)),
        Cross("profile_signaled", ("profile", "signaled"), points=("moe",)),
    ],
)

PHASE = Group(
    "phase",
    samples.phases,
    [
        Cover("ring", each("host", "GPU"), points=("both_ways",)),
        Cover("host", each(*HOSTS), points=("both_ways",)),
        Cross("ring_host", ("ring", "host"), points=("both_ways",)),
        Cover("wrapped", each("PSN", "MSN", "WQE index", "completion ring"), points=("both_ways",)),
        Cover("end", each("a", "b"), points=("both_ways",)),
        Cross("wrapped_end", ("wrapped", "end"), points=("both_ways",)),
    ],
)

LOST = Group(
    "lost",
    samples.lost,
    [
        Cover("where", each("NIC, fcs", "NIC, format", "NIC, icrc"), points=("dropped",)),
        Cover("astray", each("leaf, port without a link", "spine, port without a link", "leaf, no entry"),
              points=("no_way",), field="where"),
        Cover("held", [Bin("more than queues and credits hold", True)], points=("no_way",)),
        Cover("kept", each("pauses", "credits"), points=("converge",)),
        Cover("damaged", each("native, sent again", "RoCE, dropped"), points=("bit_errors",)),
    ],
)  # fmt: skip

COMPARE = Group(
    "compare",
    samples.compared,
    [
        Cover("profile", each(*PROFILES), points=("compare",)),
        Cover("mode", each("inline", "fetched"), points=("compare",)),
        Cross("profile_mode", ("profile", "mode"), points=("compare",)),
    ],
)

COVERAGE = Coverage("fabric", [MESSAGE, FRAME, LATENCY, MOE, PHASE, LOST, COMPARE])
