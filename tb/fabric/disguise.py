# SPDX-License-Identifier: Apache-2.0
"""RoCEv2 frames that a native receiver takes for native ones, up to the check that is to drop them.

Within the fabric no frame is ever damaged, so a NIC drops only what its peer makes in another format. Mostly the
VCRC says so. A VCRC is an affine function of the payload: of 32 free payload bits 16 are chosen so that the frame
ends in its own VCRC. With MAC addresses that read as an LRH and a BTH the frame also has a native length, and
only its ICRC is wrong.
"""

from __future__ import annotations

from dataclasses import replace

from models.crc import vcrc
from models.protocol import OP, WQE, Hdr
from models.wire import build_frame
from tb.fabric import layout
from tb.fabric.experiment import Message
from tb.fabric.layout import Side

FREE = 32  # payload bits that may be changed, from the first byte on
LENGTH = 32  # payload bytes of the frame whose native length is right


def sides() -> tuple[Side, Side]:
    """A and B with MAC addresses that read as a native header: LVer 0, LNH 2, the length of a frame with ``LENGTH``
    bytes of payload; SEND_ONLY, TVer 0. Both are unicast addresses."""
    words = (len(_frame(layout.A, layout.B, bytes(LENGTH))) - 2) // 4
    return (
        replace(layout.A, mac=OP.SEND_ONLY << 24),
        replace(layout.B, mac=0x0002 << 32 | layout.B.lid << 16 | words),
    )


def _frame(a: Side, b: Side, payload: bytes, psn: int = 0) -> bytes:
    """Frame of a SEND of one packet from ``a`` to ``b`` as the ``psn``-th of its direction."""
    c = layout.rdma_cfg(a, b, roce=True)
    h = Hdr(
        src=c.src, dst=c.dst, opcode=int(OP.SEND_ONLY), pkey=c.pkey, dest_qp=c.dest_qpn, ackreq=1,
        psn=c.sq_psn + psn & 0xFFFFFF, len=len(payload),
    )  # fmt: skip
    return build_frame(h, payload, layout.wire_cfg(a, b, roce=True))


def _wrong(frame: bytes) -> int:
    """What the frame's last two bytes differ by from its VCRC; 0: right."""
    return int.from_bytes(vcrc(frame[:-2]), "big") ^ int.from_bytes(frame[-2:], "big")


def disguised(a: Side, b: Side, payload: bytes, psn: int) -> bytes:
    """``payload`` (4 bytes or more) with some of its first 32 bits changed: its frame ends in its VCRC."""

    def wrong(change: int) -> int:
        data = int.from_bytes(payload[:4], "big") ^ change
        return _wrong(_frame(a, b, data.to_bytes(4, "big") + payload[4:], psn))

    offset = wrong(0)
    basis: dict[int, tuple[int, int]] = {}  # highest bit -> (difference of the VCRC, bits that make it)
    for bit in range(FREE):
        difference, bits = wrong(1 << bit) ^ offset, 1 << bit
        while difference and difference.bit_length() in basis:
            other = basis[difference.bit_length()]
            difference, bits = difference ^ other[0], bits ^ other[1]
        if difference:
            basis[difference.bit_length()] = (difference, bits)
    left, change = offset, 0
    while left:
        difference, bits = basis[left.bit_length()]
        left, change = left ^ difference, change ^ bits
    assert wrong(change) == 0
    return (int.from_bytes(payload[:4], "big") ^ change).to_bytes(4, "big") + payload[4:]


def messages(a: Side, b: Side, random: bytes) -> list[Message]:
    """SENDs of one packet each, from 3 x 64 ``random`` bytes: a wrong VCRC, a right one with another length than
    the LRH's, and a wrong ICRC alone."""
    parts = [
        random[:LENGTH],
        disguised(a, b, random[64 : 64 + LENGTH + 8], 1),
        disguised(a, b, random[128 : 128 + LENGTH], 2),
    ]
    return [
        Message(data, 0x1000 * i, WQE.SEND, 600 + 300 * i, inline=True, blueflame=True, signaled=False)
        for i, data in enumerate(parts)
    ]  # fmt: skip
