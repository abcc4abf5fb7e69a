# SPDX-License-Identifier: Apache-2.0
"""Outsiders that the frames are held against: scapy's dissectors and its ICRC, and tshark.

scapy knows BTH, AETH and the RoCEv2 ICRC; LRH, RETH and ImmDt are defined here. What a frame should
hold is not taken from models.wire in here.
"""

from __future__ import annotations

import binascii
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from scapy.contrib.roce import BTH
from scapy.fields import BitField, IntField, LongField, ShortField, XByteField
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

from models.protocol import Hdr
from models.spec import spec
from tb.common.beats import StreamFormat, frames_from_beats
from tb.common.pcap import ERF, ETHERNET, TSHARK_OPTIONS, write_pcap

ROOM = spec().integer("link.buffer_cells")
AXIS = StreamFormat()
PKT = StreamFormat(side_bits=Hdr.width())
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


def native_icrc(packet: bytes) -> bytes:
    """ICRC of a native packet, LRH to pad: virtual lane and BTH byte 4 count as ones."""
    masked = bytes((packet[0] | 0xF0,)) + packet[1:12] + b"\xff" + packet[13:]
    return binascii.crc32(masked).to_bytes(4, "little")


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
    if native_icrc(frame[:-6]) != frame[-6:-2]:
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


def dissected(frames: list[bytes], roce: bool, path: Path) -> list[str]:
    """:func:`read_back` of a capture of ``frames`` that is left at ``path``."""
    write_pcap(path, ETHERNET if roce else ERF, [(1000 * i, frame) for i, frame in enumerate(frames)])
    return read_back(path, frames, roce)


def read_back(path: Path, frames: list[bytes], roce: bool) -> list[str]:
    """What tshark says of the capture ``path`` of ``frames``: a complaint for each malformed one, or not RDMA.

    Raises FileNotFoundError when there is no tshark.
    """
    fields = ["-T", "fields", "-e", "frame.number", "-e", "infiniband.bth.opcode", "-e", "infiniband.bth.psn", "-e",
              "_ws.malformed", "-e", "_ws.expert.message"]  # fmt: skip
    command = ["tshark", "-n", "-r", str(path), *TSHARK_OPTIONS, *fields]
    text = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
    rows = [line.split("\t") for line in text.splitlines()]
    if len(rows) != len(frames):
        return [f"tshark reads {len(rows)} frames of {len(frames)}"]
    out = []
    at = 42 if roce else 8
    for (number, opcode, psn, malformed, message), frame in zip(rows, frames, strict=True):
        want = frame[at], int.from_bytes(frame[at + 9 : at + 12], "big")
        if malformed or message or not opcode or (int(opcode), int(psn)) != want:
            out.append(f"tshark, frame {number} of {path.name}: opcode {opcode} psn {psn} {malformed} {message}")
    return out


def delivered(phase: Any) -> list[str]:
    """``m_pkt`` against the fields and payloads that the frames were made of, when the item knows them."""
    want = phase.item.info.get("expected")
    if want is None:
        return []
    got = [(Hdr.unpack(f.side), f.data) for f in frames_from_beats(phase.beats["m_pkt"], PKT)]
    out = [f"{len(got)} packets delivered, {len(want)} frames crafted"] if len(got) != len(want) else []
    out += [f"packet {i}: {g}\n  crafted {w}" for i, (g, w) in enumerate(zip(got, want, strict=False)) if g != w]
    return out


def most_cells(phase: Any) -> int:
    """Most cells that were in ``wire_rx`` at a time: beats taken less those given back."""
    taken, freed = phase.beats["rx_axis"]["cycle"], phase.events["free_cells"]
    steps = np.zeros(int(max(taken.max(), freed["cycle"].max())) + 1, int)
    np.add.at(steps, taken, 1)
    np.subtract.at(steps, freed["cycle"], freed["value"].astype(int))
    return int(np.cumsum(steps).max())


def complaints(ctx: Any, phase: Any) -> list[str]:
    """What the outsiders say of every frame that ``wire_tx`` sent, and of what ``wire_rx`` made of theirs."""
    roce = bool(phase.item.info["roce"])
    frames = [frame.data for frame in frames_from_beats(phase.beats["m_axis"], AXIS)]
    out = delivered(phase)
    for i, frame in enumerate(frames):
        if wrong := (check_roce if roce else check_native)(frame):
            out.append(f"frame {i} of {len(frame)} bytes: {wrong}")
    if phase.item.info.get("tshark"):
        out += dissected(frames, roce, phase.folder.path / "m_axis.pcap")
    for name, count in phase.item.info.get("counts", {}).items():
        last = int(phase.events[name][-1]["value"])
        if last != count:
            out.append(f"counter {name} ends at {last}, {count} such frames were played")
    if phase.item.info.get("brim") and (most := most_cells(phase)) <= ROOM - 66:
        out.append(f"at most {most} cells were in the receive buffer, {ROOM} fit: nothing was filled")
    if phase.item.info.get("every_counter"):
        names = ("good", "drop_fcs", "drop_format", "drop_icrc")
        out += [f"counter {name} never moved: nothing was tried" for name in names if len(phase.events[name]) < 5]
    return out[:5]
