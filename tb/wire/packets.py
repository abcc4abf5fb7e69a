# SPDX-License-Identifier: Apache-2.0
"""Random packets and frames of the wire block."""

from __future__ import annotations

import numpy as np

from models.protocol import Hdr, WireCfg
from models.wire import AETH_OPCODES, IMM_OPCODES, RETH_OPCODES, build_frame
from tb.common.beats import Frame


def word(rng: np.random.Generator, bits: int) -> int:
    """A random field; in half the cases all ones or next to it, so that counters stand near their wrap."""
    if rng.random() < 0.5:
        return (1 << bits) - 1 - int(rng.integers(min(4, 1 << bits)))
    return int.from_bytes(rng.bytes(8), "little") & ((1 << bits) - 1)


def random_cfg(rng: np.random.Generator, roce: int) -> WireCfg:
    """A configuration of one format."""
    return WireCfg(
        roce=roce, vl=word(rng, 4), sl=word(rng, 4), smac=word(rng, 48), dmac=word(rng, 48), tos=word(rng, 8),
        ttl=word(rng, 8), udp_sport=word(rng, 16),
    )  # fmt: skip


def random_hdr(rng: np.random.Generator, opcode: int, length: int, roce: int) -> Hdr:
    """Random fields, those included that the opcode does not carry: they must not reach the frame."""
    h = Hdr(**{name: word(rng, width) for name, width in Hdr.WIDTHS})
    if not roce:
        h.src, h.dst = h.src & 0xFFFF, h.dst & 0xFFFF
    h.opcode, h.len = opcode, length
    return h


def packet(rng: np.random.Generator, opcode: int, length: int, roce: int, cycle: int = 0, gaps: object = 0) -> Frame:
    """A packet for ``s_pkt``."""
    return Frame(rng.bytes(length), cycle, random_hdr(rng, opcode, length, roce), gaps)  # type: ignore[arg-type]


def carried(h: Hdr) -> Hdr:
    """``h`` without what its opcode does not carry."""
    out = Hdr(**{name: getattr(h, name) for name, _ in Hdr.WIDTHS})
    if h.opcode not in RETH_OPCODES:
        out.va = out.rkey = out.dmalen = 0
    if h.opcode not in IMM_OPCODES:
        out.imm = 0
    if h.opcode not in AETH_OPCODES:
        out.syndrome = out.msn = 0
    return out


def wire_frame(rng: np.random.Generator, opcode: int, length: int, cfg: WireCfg) -> bytes:
    """A good frame with random fields."""
    payload = rng.bytes(length)
    return build_frame(carried(random_hdr(rng, opcode, length, cfg.roce)), payload, cfg)
