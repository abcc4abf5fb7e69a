# SPDX-License-Identifier: Apache-2.0
"""A frame taken apart for coverage: from its bytes alone, and why one is no frame of its format."""

from __future__ import annotations

from dataclasses import dataclass

from models.spec import spec

IMM = frozenset((0x03, 0x05, 0x09, 0x0B))
RETH = frozenset((0x06, 0x0A, 0x0B, 0x0C))
AETH = frozenset((0x0D, 0x0F, 0x10, 0x11, 0x12))
BYTES = {"reth": 16, "imm": 4, "aeth": 4}
MAX_BYTES = spec().integer("frame.max_beats") * 64
MAX_MTU = spec().integer("frame.max_mtu")


@dataclass(frozen=True)
class Seen:
    """Fields of a good frame; those of the other format are 0. ``end``: where its ICRC ends."""

    roce: bool
    size: int
    end: int
    opcode: int
    pad: int
    length: int
    psn: int
    fecn: int
    becn: int
    vl: int = 0
    tos: int = 0
    ttl: int = 0
    carries: str = ""


def carries(opcode: int) -> tuple[str, ...]:
    """Extended headers that an opcode of the slice has, in their order."""
    return tuple(n for n, ops in (("reth", RETH), ("imm", IMM), ("aeth", AETH)) if opcode in ops)


def checksum_carries(header: bytes) -> str:
    """How often the sum of an IPv4 header's words carries around, or that its checksum is 0."""
    words = [int.from_bytes(header[i : i + 2], "big") for i in range(0, 20, 2)]
    total = sum(words) - words[5]
    once = (total & 0xFFFF) + (total >> 16)
    if (once & 0xFFFF) + (once >> 16) == 0xFFFF:
        return "zero"
    return "two" if once >> 16 else "one" if total >> 16 else "none"


def dissect(frame: bytes, roce: bool) -> Seen:
    """The fields of a frame that is right in its format."""
    at = 42 if roce else 8
    opcode, flags, bits = frame[at], frame[at + 1], frame[at + 4]
    end = 14 + int.from_bytes(frame[16:18], "big") if roce else len(frame) - 2
    pad = flags >> 4 & 3
    head = at + 12 + sum(BYTES[n] for n in carries(opcode))
    psn = int.from_bytes(frame[at + 9 : at + 12], "big")
    common = (roce, len(frame), end, opcode, pad, end - 4 - pad - head, psn, bits >> 7, bits >> 6 & 1)
    if not roce:
        return Seen(*common, vl=frame[0] >> 4)
    return Seen(*common, tos=frame[15], ttl=frame[22], carries=checksum_carries(frame[14:34]))


def why_dropped(frame: bytes, roce: bool) -> tuple[str, ...]:
    """Every reason that speaks against the format of a frame, as rtl/wire/README.md lists them."""
    at = 42 if roce else 8
    if len(frame) < at + 12:
        return ("no room for its headers",)
    found = []
    if roce:
        ip, udp = int.from_bytes(frame[16:18], "big"), int.from_bytes(frame[38:40], "big")
        end, trailer = 14 + ip, 4
        found += ["EtherType"] * (frame[12:14] != b"\x08\0") + ["IP version or header"] * (frame[14] != 0x45)
        found += ["protocol"] * (frame[23] != 17) + ["UDP port"] * (frame[36:38] != (4791).to_bytes(2, "big"))
        found += ["UDP length"] * (udp + 20 != ip) + ["IP length"] * (ip % 4 != 0)
        allowed = {end + 4, max(end, 60) + 4}
    else:
        end, trailer = 4 * ((frame[4] & 7) << 8 | frame[5]), 2
        found += ["LVer"] * (frame[0] & 0xF != 0) + ["LNH"] * (frame[1] & 3 != 2)
        allowed = {end + 2}
    found += ["TVer"] * (frame[at + 1] & 0xF != 0)
    if len(frame) not in allowed:
        found.append("longer than it says" if len(frame) > end + trailer else "shorter than it says")
    head = at + 12 + sum(BYTES[n] for n in carries(frame[at]))
    payload = end - 4 - (frame[at + 1] >> 4 & 3) - head
    found += ["no room for its headers"] * (payload < 0) + ["payload above 4096"] * (payload > MAX_MTU)
    return (*found, *["more than 66 beats"] * (len(frame) > MAX_BYTES))
