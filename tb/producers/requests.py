# SPDX-License-Identifier: Apache-2.0
"""Requests that producers post: the WQE in mlx5 layout for an index, and the work request that is to come of it.

``expected`` is put together from what was asked for, not by decoding the WQE. WQEs are whole 64-byte blocks.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from random import Random

from models import wqe
from models.protocol import WQE, SqWr

IBGDA_INLINE = 12  # bytes of inline data that NVSHMEM puts into a WRITE's one block
LKEY_RESERVED = 0x100


@dataclass(frozen=True)
class Request:
    """``pointers``: (bytes, local key, address); ``inline``: data in the WQE, None without; ``meant``: what was asked
    for, when a proxy may have got it wrong; ``beyond``: blocks that its poster publishes too many."""

    opcode: int
    raddr: int = 0
    rkey: int = 0
    pointers: tuple[tuple[int, int, int], ...] = ()
    inline: bytes | None = None
    imm: int = 0
    swap_add: int = 0
    compare: int = 0
    signaled: bool = True
    meant: Request | None = None
    beyond: int = 0

    @property
    def _body(self) -> bytes:
        atomic = self.opcode in (WQE.ATOMIC_CS, WQE.ATOMIC_FA)
        out = b""
        if self.opcode in (WQE.WRITE, WQE.WRITE_IMM, WQE.READ) or atomic:
            out += wqe.remote(self.raddr, self.rkey)
        if atomic:
            out += struct.pack(">QQ", self.swap_add, self.compare)
        for size, key, addr in self.pointers:
            out += wqe.pointer(size, key, addr)
        if self.inline is not None:
            out += wqe.inline_segment(self.inline)
        return out

    @property
    def ds(self) -> int:
        """Size in 16-byte units."""
        return 1 + len(self._body) // wqe.UNIT

    @property
    def blocks(self) -> int:
        """Size in 64-byte blocks."""
        return wqe.block_count(self.ds)

    def raw(self, index: int, qpn: int) -> bytes:
        """The WQE at ``index`` of queue ``qpn``."""
        flags = wqe.CE_ALWAYS if self.signaled else 0
        out = wqe.control(index, self.opcode, qpn, self.ds, flags, self.imm) + self._body
        return out + bytes(-len(out) % wqe.BLOCK)

    def expected(self, index: int, qpn: int) -> tuple[SqWr, bytes]:
        """Work request and the bytes of its beats."""
        if self.meant is not None:
            return self.meant.expected(index, qpn)
        wr = SqWr(
            qpn=qpn, opcode=self.opcode, wqe_index=index & 0xFFFF, blocks=self.blocks, ce=2 if self.signaled else 0,
            is_inline=int(self.inline is not None), sges=len(self.pointers), imm=self.imm, raddr=self.raddr,
            rkey=self.rkey, swap_add=self.swap_add, compare=self.compare,
        )  # fmt: skip
        if self.inline is not None:
            wr.length = len(self.inline)
            return wr, self.inline
        wr.length = sum(size for size, _, _ in self.pointers)
        if not self.pointers:
            return wr, b""
        _, wr.lkey, wr.laddr = self.pointers[0]
        return wr, b"" if len(self.pointers) == 1 else b"".join(wqe.pointer(*p) for p in self.pointers)


def _pointer(rng: Random, size: int | None = None) -> tuple[int, int, int]:
    key = rng.randrange(LKEY_RESERVED + 1, 1 << 32)
    return rng.randrange(1, 1 << 20) if size is None else size, key, rng.randrange(1 << 64)


def gpu_request(rng: Random, signaled: bool = True, raddr: int | None = None) -> Request:
    """One block, as a GPU library posts them: WRITE of a few inline bytes or of a buffer, READ, atomic."""
    remote = rng.randrange(1 << 64) if raddr is None else raddr
    key = rng.randrange(1 << 32)
    kind = rng.randrange(5)
    if kind < 2:
        data = rng.randbytes(rng.choice((4, 8, IBGDA_INLINE)))
        return Request(WQE.WRITE, remote, key, inline=data, signaled=signaled)
    if kind < 4:
        return Request(rng.choice((WQE.WRITE, WQE.READ)), remote, key, (_pointer(rng),), signaled=signaled)
    swap, compare = rng.randrange(1 << 64), rng.randrange(1 << 64)
    opcode = rng.choice((WQE.ATOMIC_FA, WQE.ATOMIC_CS))
    return Request(opcode, remote, key, (_pointer(rng, 8),), swap_add=swap, compare=compare, signaled=signaled)


def cpu_request(rng: Random, blocks: int | None = None, raddr: int | None = None) -> Request:
    """1 to 4 blocks: SEND and WRITE, with and without immediate, inline; sometimes a list of pointers."""
    opcode = rng.choice((WQE.WRITE, WQE.WRITE_IMM, WQE.SEND, WQE.SEND_IMM)) if raddr is None else WQE.WRITE
    imm = rng.randrange(1 << 32) if opcode in wqe.IMMEDIATES else 0
    remote, key = 0, 0
    if opcode in wqe.WRITES:
        remote, key = rng.randrange(1 << 64) if raddr is None else raddr, rng.randrange(1 << 32)
    if blocks is None and rng.random() < 0.2:
        pointers = tuple(_pointer(rng) for _ in range(rng.randrange(1, 5)))
        return Request(opcode, remote, key, pointers, imm=imm)
    size = rng.randrange(1, 5) if blocks is None else blocks
    most = size * wqe.BLOCK - wqe.UNIT * (2 if opcode in wqe.WRITES else 1) - 4
    least = max(0, most - wqe.BLOCK + 1)
    return Request(opcode, remote, key, inline=rng.randbytes(rng.randrange(least, most + 1)), imm=imm)
