# SPDX-License-Identifier: Apache-2.0
"""Frames of the NIC's bench: what the peer sends is put together by scapy, what the NIC sends is read by scapy."""

from __future__ import annotations

from scapy.layers.inet import IP
from scapy.layers.l2 import Ether

from models.protocol import Hdr
from tb.wire import foreign
from tb.wire.trusted import AETH_OPS, IMM, LRH, RETH_OPS, check_native, check_roce, extended, vcrc_forward


def assemble(h: Hdr, payload: bytes, roce: bool) -> bytes:
    """A good frame: LRH to VCRC, or destination MAC to FCS."""
    return foreign.assemble(h, payload, roce=roce, ip={"flags": 2, "ttl": 63})


def respoil(frame: bytes, roce: bool, at: int, flip: int) -> bytes:
    """``frame`` with bits of byte ``at`` flipped and its frame CRC right again."""
    changed = bytearray(frame)
    changed[at] ^= flip
    body = bytes(changed[: -4 if roce else -2])
    return foreign.with_fcs(body) if roce else body + vcrc_forward(body)


def icrc_at(frame: bytes, roce: bool) -> int:
    """Where the ICRC starts."""
    return 14 + int.from_bytes(frame[16:18], "big") - 4 if roce else len(frame) - 6


def complaint(frame: bytes, roce: bool) -> str:
    """What scapy has to say against a frame: headers, lengths, checksum, ICRC, frame CRC, pad."""
    return (check_roce if roce else check_native)(frame)


def dissect(frame: bytes, roce: bool) -> tuple[Hdr, bytes]:
    """Header fields and payload of a good frame, by scapy's layers."""
    if roce:
        ip = Ether(frame)[IP]
        src, dst = (int.from_bytes(bytes(map(int, a.split("."))), "big") for a in (ip.src, ip.dst))
        body = frame[42 : icrc_at(frame, roce)]
    else:
        lrh = LRH(frame[:8])
        src, dst = lrh.slid, lrh.dlid
        body = frame[8:-6]
    bth, *headers, rest = extended(body)
    h = Hdr(
        dst=dst, src=src, opcode=bth.opcode, se=bth.solicited, mig=bth.migreq, pkey=bth.pkey, fecn=bth.fecn,
        becn=bth.becn, dest_qp=bth.dqpn, ackreq=bth.ackreq, psn=bth.psn,
    )  # fmt: skip
    for layer in headers:
        for name in ("va", "rkey", "dmalen", "imm", "syndrome", "msn"):
            if name in layer.fields:
                setattr(h, name, layer.fields[name])
    assert len(headers) == (h.opcode in RETH_OPS) + (h.opcode in AETH_OPS) + (h.opcode in IMM)
    payload = bytes(rest)
    payload = payload[: len(payload) - bth.padcount]
    h.len = len(payload)
    return h, payload
