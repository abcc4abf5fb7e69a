# SPDX-License-Identifier: Apache-2.0
"""Frames that the project did not make: crafted with scapy, or captured from Linux Soft-RoCE."""

from __future__ import annotations

import binascii
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from scapy.contrib.roce import BTH
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

from models.protocol import Hdr
from tb.common.pcap import read_pcap
from tb.wire.trusted import AETH_OPS, IMM, LRH, RETH, RETH_OPS, Aeth, ImmDt, native_icrc, vcrc_forward

DATA = Path(__file__).resolve().parents[2] / "tests" / "data"
CAPTURES = ("softroce_write_bw.pcap", "softroce_mixed.pcap")


def crafted(rng: np.random.Generator, opcode: int, length: int, roce: bool) -> tuple[bytes, Hdr, bytes]:
    """A frame that scapy puts together, with the fields and the payload that went into it."""
    h = Hdr(
        src=int(rng.integers(1 << 32)) if roce else int(rng.integers(1 << 16)),
        dst=int(rng.integers(1 << 32)) if roce else int(rng.integers(1 << 16)),
        opcode=opcode, se=int(rng.integers(2)), mig=int(rng.integers(2)), pkey=int(rng.integers(1 << 16)),
        fecn=int(rng.integers(2)), becn=int(rng.integers(2)), dest_qp=int(rng.integers(1 << 24)),
        ackreq=int(rng.integers(2)), psn=int(rng.integers(1 << 24)), len=length,
    )  # fmt: skip
    payload = rng.bytes(length)
    if opcode in RETH_OPS:
        h.va, h.rkey, h.dmalen = int.from_bytes(rng.bytes(8)), int(rng.integers(1 << 32)), int(rng.integers(1 << 32))
    if opcode in AETH_OPS:
        h.syndrome, h.msn = int(rng.integers(256)), int(rng.integers(1 << 24))
    if opcode in IMM:
        h.imm = int(rng.integers(1 << 32))
    if roce:
        ip = {"id": int(rng.integers(1 << 16)), "tos": int(rng.integers(256)), "ttl": 7}
        return assemble(h, payload, roce=True, ip=ip, sport=int(rng.integers(1 << 16))), h, payload
    return assemble(h, payload, roce=False, lrh={"vl": int(rng.integers(16)), "sl": 3}), h, payload


def assemble(
    h: Hdr, payload: bytes, *, roce: bool, ip: Mapping[str, int] | None = None, sport: int = 0xC000,
    lrh: Mapping[str, int] | None = None,
) -> bytes:  # fmt: skip
    """The frame that scapy makes of these fields; ``ip``, ``lrh``: fields of those headers other than addresses."""
    pad = -len(payload) % 4
    bth = BTH(
        opcode=h.opcode, solicited=h.se, migreq=h.mig, padcount=pad, pkey=h.pkey, fecn=h.fecn, becn=h.becn,
        dqpn=h.dest_qp, ackreq=h.ackreq, psn=h.psn,
    )  # fmt: skip
    after: list[Packet] = []
    if h.opcode in RETH_OPS:
        after.append(RETH(va=h.va, rkey=h.rkey, dmalen=h.dmalen))
    if h.opcode in AETH_OPS:
        after.append(Aeth(syndrome=h.syndrome, msn=h.msn))
    if h.opcode in IMM:
        after.append(ImmDt(imm=h.imm))
    rest = b"".join(bytes(layer) for layer in after) + payload + bytes(pad)
    if roce:
        address = [".".join(map(str, a.to_bytes(4, "big"))) for a in (h.src, h.dst)]
        ether = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
        network = IP(src=address[0], dst=address[1], **(ip or {}))
        return with_fcs(bytes(ether / network / UDP(sport=sport, dport=4791) / bth / Raw(rest)))
    body = bytes(bth)[:12] + rest  # scapy's ICRC is RoCE's
    frame = bytes(LRH(dlid=h.dst, slid=h.src, pktlen=(8 + len(body) + 4) // 4, **(lrh or {}))) + body
    frame += native_icrc(frame)
    return frame + vcrc_forward(frame)


def with_fcs(frame: bytes) -> bytes:
    """An Ethernet frame padded to 60 bytes, with its FCS."""
    frame = frame.ljust(60, b"\0")
    return frame + binascii.crc32(frame).to_bytes(4, "little")


def captured() -> list[bytes]:
    """RoCEv2 frames of the captures in tests/data, FCS added (a host's capture has none)."""
    frames = []
    for name in CAPTURES:
        for _, data in read_pcap(DATA / name)[1]:
            packet = Ether(data)
            if packet.haslayer(UDP) and packet[UDP].dport == 4791:
                frames.append(with_fcs(data))
    return frames
