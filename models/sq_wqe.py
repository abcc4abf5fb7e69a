# SPDX-License-Identifier: Apache-2.0
"""Builders of send queue entries for every opcode that block sq knows, in mlx5 layout (rdma-core providers/mlx5).

Segments of 16 bytes, all fields big-endian: control, [remote address], [atomic], then data pointers or one inline
segment. What stores and records look like (``doorbell``, ``gpu_doorbell``, ``record``) stands in models/wqe.py.
Values that have no encoding raise ValueError; what is malformed on purpose is made by patching the bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from models.protocol import WQE
from models.wqe import BLOCK, MAX_BLOCKS, UNIT, Head, control, inline_segment, pointer, remote

CE_ALWAYS = 2
ATOMIC_BYTES = 8
WITH_REMOTE = frozenset({WQE.WRITE, WQE.WRITE_IMM, WQE.READ, WQE.ATOMIC_CS, WQE.ATOMIC_FA})
ATOMICS = frozenset({WQE.ATOMIC_CS, WQE.ATOMIC_FA})


class Sge(NamedTuple):
    """A data pointer: ``length`` 1..2^31 bytes at ``laddr``."""

    length: int
    lkey: int
    laddr: int


def max_sges(opcode: int) -> int:
    """Most data pointers of a WQE of ``opcode``: 15 without a remote address, 14 with one, 1 of an atomic."""
    return 0 if opcode == WQE.NOP else 1 if opcode in ATOMICS else MAX_BLOCKS * BLOCK // UNIT - _fixed(opcode)


def max_inline(opcode: int) -> int:
    """Most bytes of inline data with ``opcode``; -1 where there is none at all."""
    if opcode in ATOMICS or opcode in (WQE.READ, WQE.NOP):
        return -1
    return MAX_BLOCKS * BLOCK - UNIT * _fixed(opcode) - 4


def _fixed(opcode: int) -> int:
    """Units ahead of the data."""
    return 1 + (opcode in WITH_REMOTE) + (opcode in ATOMICS)


def flags(fence: int = 0, ce: int = CE_ALWAYS, se: int = 0) -> int:
    """The fm_ce_se byte: fence mode 7:5, completion mode 3:2, solicited event 1."""
    return fence << 5 | ce << 2 | se << 1


def build(
    opcode: int, index: int, qpn: int, *, raddr: int = 0, rkey: int = 0, sges: Sequence[tuple[int, int, int]] = (),
    inline: bytes | None = None, imm: int = 0, swap_add: int = 0, compare: int = 0, fence: int = 0,
    ce: int = CE_ALWAYS, se: int = 0,
) -> bytes:  # fmt: skip
    """A whole WQE, zero up to whole blocks. ``sges``: (length, lkey, laddr) each; ``imm``: immediate or key."""
    body = remote(raddr, rkey) if opcode in WITH_REMOTE else b""
    if opcode in ATOMICS:
        body += struct.pack(">QQ", swap_add, compare)
        if [s[0] for s in sges] != [ATOMIC_BYTES]:
            raise ValueError(f"an atomic takes one pointer of {ATOMIC_BYTES} bytes, not {list(sges)}")
    if inline is not None:
        if sges or len(inline) > max_inline(opcode):
            raise ValueError(f"{len(inline)} inline bytes; allowed: 0..{max_inline(opcode)}, and no pointers")
        body += inline_segment(inline)
    if len(sges) > max_sges(opcode):
        raise ValueError(f"{len(sges)} pointers; allowed: 0..{max_sges(opcode)}")
    body += b"".join(pointer(*s) for s in sges)
    raw = control(index, opcode, qpn, 1 + len(body) // UNIT, flags(fence, ce, se), imm) + body
    return raw + bytes(-len(raw) % BLOCK)


def ring_image(wqes: Iterable[bytes], base: int, sq_log: int) -> dict[int, bytes]:
    """``{byte address: 64 bytes}`` of WQEs placed by their own index in a ring of 2^sq_log blocks at ``base``."""
    image: dict[int, bytes] = {}
    for raw in wqes:
        first = Head(raw).index
        for i in range(len(raw) // BLOCK):
            image[base + BLOCK * ((first + i) % (1 << sq_log))] = raw[BLOCK * i : BLOCK * (i + 1)]
    return image
