# SPDX-License-Identifier: Apache-2.0
"""Outsiders that the frames are held against: scapy's dissectors and its ICRC.

scapy knows BTH, AETH and the RoCEv2 ICRC; RETH and ImmDt are defined here. Native frames are put behind
an LRH of their own. Nothing in here uses the models.
"""

from __future__ import annotations

import binascii
from typing import Any

from scapy.contrib.roce import AETH, BTH
from scapy.fields import BitField, IntField, LongField, ShortField, XByteField
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

from tb.common.beats import StreamFormat, frames_from_beats

AXIS = StreamFormat()
IMM = (0x03, 0x05, 0x09, 0x0B)
RETH_OPS = (0x06, 0x0A, 0x0B, 0x0C)
AETH_OPS = (0x0D, 0x0F, 0x10, 0x11, 0x12)


class LRH(Packet):
    """Local route header (InfiniBand vol. 1, ch. 7)."""

    name = "LRH"
    fields_desc = [
        BitField("vl", 0, 4), BitField("lver", 0, 4), BitField("sl", 0, 4), BitField("resv2", 0, 2),
        BitField("lnh", 2, 2), ShortField("dlid", 0), BitField("resv5", 0, 5), BitField("pktlen", 0, 11),
        ShortField("slid", 0),
    ]  # fmt: skip


class RETH(Packet):
    """RDMA extended transport header (ch. 9)."""

    name = "RETH"
    fields_desc = [LongField("va", 0), IntField("rkey", 0), IntField("dmalen", 0)]


class ImmDt(Packet):
    """Immediate data (ch. 9)."""

    name = "ImmDt"
    fields_desc = [IntField("imm", 0)]


class Aeth(Packet):
    """ACK extended transport header (ch. 9), for frames that scapy's own binding does not reach."""

    name = "AETH"
    fields_desc = [XByteField("syndrome", 0), BitField("msn", 0, 24)]


def _seed_native(frame: bytes) -> int:
    masked = bytearray(frame)
    masked[0] |= 0xF0
    masked[12] = 0xFF
    return binascii.crc32(bytes(masked))


def vcrc_forward(data: bytes) -> bytes:
    """VCRC by plain polynomial division, most significant bit first on reversed bytes."""
    reg = 0xFFFF
    for byte in data:
        reg ^= int(f"{byte:08b}"[::-1], 2) << 8
        for _ in range(8):
            reg = (reg << 1) ^ (0x1100B if reg & 0x8000 else 0)
    reg ^= 0xFFFF
    value = int(f"{reg:016b}"[::-1], 2)
    return value.to_bytes(2, "little")


def extended(body: bytes) -> list[Packet]:
    """BTH and the extended headers in front of ``body``, as scapy layers; the rest as Raw."""
    bth = BTH(body[:12] + bytes(4))  # its last field is the ICRC
    layers: list[Packet] = [bth]
    at = 12
    if bth.opcode in RETH_OPS:
        layers.append(RETH(body[at : at + 16]))
        at += 16
    if bth.opcode in AETH_OPS:
        layers.append(Aeth(body[at : at + 4]))
        at += 4
    if bth.opcode in IMM:
        layers.append(ImmDt(body[at : at + 4]))
        at += 4
    layers.append(Raw(body[at:]))
    return layers


def scapy_icrc(packet: bytes) -> bytes:
    """ICRC that scapy computes for a RoCEv2 packet, MAC addresses to ICRC (whose value does not matter)."""
    dissected = Ether(packet)
    dissected[BTH].icrc = None
    return bytes(dissected)[-4:]


def check_roce(frame: bytes) -> str:
    """Complaint about a RoCEv2 frame, empty when there is none."""
    head = Ether(frame[:42])
    if not (head.haslayer(UDP) and head[UDP].dport == 4791):
        return "scapy finds no UDP to port 4791"
    end = 14 + head[IP].len
    ip = head[IP].copy()
    del ip.chksum
    if IP(bytes(ip)).chksum != head[IP].chksum:
        return f"IPv4 checksum {head[IP].chksum:#x} is wrong"
    if head[UDP].len != head[IP].len - 20:
        return "UDP and IPv4 lengths disagree"
    if scapy_icrc(frame[:end]) != frame[end - 4 : end]:
        return f"ICRC {frame[end - 4 : end].hex()}, scapy computes {scapy_icrc(frame[:end]).hex()}"
    if binascii.crc32(frame[:-4]).to_bytes(4, "little") != frame[-4:]:
        return "FCS is wrong"
    if len(frame) != max(end, 60) + 4 or frame[end:-4].strip(b"\0"):
        return "padding behind the ICRC is wrong"
    return _check_pad(extended(frame[42 : end - 4]))


def check_native(frame: bytes) -> str:
    """Complaint about a native frame, empty when there is none."""
    lrh = LRH(frame[:8])
    if (lrh.lver, lrh.lnh) != (0, 2) or 4 * lrh.pktlen + 2 != len(frame):
        return f"LRH is wrong: {lrh!r}"
    if _seed_native(frame[:-6]).to_bytes(4, "little") != frame[-6:-2]:
        return "ICRC is wrong"
    if vcrc_forward(frame[:-2]) != frame[-2:]:
        return "VCRC is wrong"
    return _check_pad(extended(frame[8:-6]))


def _check_pad(layers: list[Packet]) -> str:
    bth, payload = layers[0], bytes(layers[-1])
    if len(payload) % 4 or len(payload) < bth.padcount:
        return f"{len(payload)} bytes of payload and pad with PadCnt {bth.padcount}"
    if bth.padcount and payload[-bth.padcount :].strip(b"\0"):
        return "pad is not zero"
    return ""


def complaints(ctx: Any, phase: Any) -> list[str]:
    """What the outsiders say of every frame that ``wire_tx`` sent in a phase."""
    roce = bool(phase.item.info["roce"])
    out = []
    for i, frame in enumerate(frames_from_beats(phase.beats["m_axis"], AXIS)):
        if wrong := (check_roce if roce else check_native)(frame.data):
            out.append(f"frame {i} of {len(frame.data)} bytes: {wrong}")
    return out[:5]


__all__ = ["AETH", "LRH", "RETH", "ImmDt", "check_native", "check_roce", "complaints", "scapy_icrc", "vcrc_forward"]
