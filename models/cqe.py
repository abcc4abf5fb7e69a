# SPDX-License-Identifier: Apache-2.0
"""mlx5 completion queue entries, 64 bytes (rdma-core providers/mlx5): forming, reading, ring addresses."""

from __future__ import annotations

from typing import NamedTuple

from models.protocol import CQE

SIZE = 64


class Cqe(NamedTuple):
    """Fields of an entry; ``owner`` is the owner bit. Of an error entry only syndrome, qpn, wqe_counter and
    send_opcode count."""

    opcode: int
    qpn: int
    wqe_counter: int
    owner: int
    byte_cnt: int = 0
    imm: int = 0
    syndrome: int = 0
    send_opcode: int = 0
    se: int = 0
    vendor: int = 0

    def pack(self) -> bytes:
        """The 64 bytes."""
        out = bytearray(SIZE)
        out[36:40] = self.imm.to_bytes(4, "big")
        out[44:48] = self.byte_cnt.to_bytes(4, "big")
        out[54] = self.vendor
        out[55] = self.syndrome
        out[56:60] = (self.send_opcode << 24 | self.qpn).to_bytes(4, "big")
        out[60:62] = self.wqe_counter.to_bytes(2, "big")
        out[63] = self.opcode << 4 | self.se << 1 | self.owner
        return bytes(out)

    @property
    def is_error(self) -> bool:
        """An error entry of either queue."""
        return self.opcode in (CQE.REQ_ERR, CQE.RESP_ERR)


def parse(raw: bytes) -> Cqe:
    """Fields of 64 bytes."""
    word = int.from_bytes(raw[56:60], "big")
    return Cqe(
        opcode=raw[63] >> 4, qpn=word & 0xFFFFFF, wqe_counter=int.from_bytes(raw[60:62], "big"), owner=raw[63] & 1,
        byte_cnt=int.from_bytes(raw[44:48], "big"), imm=int.from_bytes(raw[36:40], "big"),
        syndrome=raw[55], send_opcode=word >> 24, se=raw[63] >> 1 & 1,
        vendor=raw[54],
    )  # fmt: skip


def entry_address(base: int, log: int, index: int) -> int:
    """Address of the entry for producer index ``index`` in a ring of 2^``log`` entries."""
    return base + (index & ((1 << log) - 1)) * SIZE


def owner_bit(log: int, index: int) -> int:
    """Owner bit of the pass over the ring that producer index ``index`` belongs to."""
    return index >> log & 1
