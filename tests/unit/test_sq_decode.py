# SPDX-License-Identifier: Apache-2.0
"""Decoder of the send queues: every opcode against bytes written down from the published layouts, and what is refused.

Layouts: rdma-core providers/mlx5, mlx5_wqe_ctrl_seg, _raddr_seg, _atomic_seg, _data_seg, _inl_data_seg.
"""

from __future__ import annotations

import ctypes
import random

import pytest

from models import sq_decode, sq_wqe
from models.protocol import CQE_SYN, WQE, SqWr

QPN = 0x123456
INDEX = 0xFFFE
CTRL = "00 fffe {op:02x} 123456{ds:02x} 00 0000 {fm:02x} {imm}"
RADDR = "1122334455667788 a1a2a3a4 00000000"
SGE0 = "00001000 b1b2b3b4 00000000c0ffee00"
SGE1 = "00000000 b5b6b7b8 00000000deadbe00"  # 2^31 bytes
SGE2 = "00000003 00000000 ffffffffffffffff"
ATOMIC = "0102030405060708 090a0b0c0d0e0f10"
RESULT = "00000008 c1c2c3c4 00000000abcdef00"
REMOTE = {"raddr": 0x1122334455667788, "rkey": 0xA1A2A3A4}
FIRST = {"lkey": 0xB1B2B3B4, "laddr": 0xC0FFEE00}


def raw(op: int, *segments: str, fm: int = 0x08, imm: str = "0badf00d", ds: int | None = None) -> bytes:
    """Bytes of a WQE in whole blocks; ``ds`` counts the segments when not given."""
    body = bytes.fromhex("".join(segments))
    ds = 1 + -(-len(body) // 16) if ds is None else ds
    one = bytes.fromhex(CTRL.format(op=op, ds=ds, fm=fm, imm=imm)) + body
    blocks = max(1, -(-ds // 4), -(-len(one) // 64))
    return one.ljust(64 * blocks, b"\0")


def want(op: int, blocks: int = 1, **fields: int) -> SqWr:
    """The expected work request; completion mode "always" unless given."""
    return SqWr(**{"qpn": QPN, "opcode": op, "wqe_index": INDEX, "blocks": blocks, "ce": 2, **fields})


def inline(data: bytes) -> str:
    segment = (0x80000000 | len(data)).to_bytes(4, "big") + data
    return (segment + bytes(-len(segment) % 16)).hex()


TEXT = bytes(range(1, 76))  # 75 bytes: five units with the header, two beats
SGL = bytes.fromhex(SGE0 + SGE2 + SGE0 + SGE2 + SGE0)
GOOD = {
    "nop": (raw(0x00), want(0), b""),
    "send": (raw(0x0A, SGE0), want(0x0A, length=0x1000, sges=1, **FIRST), b""),
    "send nothing": (raw(0x0A), want(0x0A), b""),
    "send of 2^31 bytes": (raw(0x0A, SGE1), want(0x0A, length=1 << 31, sges=1, lkey=0xB5B6B7B8, laddr=0xDEADBE00), b""),
    "send inline": (raw(0x0A, inline(TEXT)), want(0x0A, 2, length=75, is_inline=1), TEXT),
    "send inline nothing": (raw(0x0A, inline(b"")), want(0x0A, is_inline=1), b""),
    "send of five pointers": (raw(0x0A, SGL.hex()), want(0x0A, 2, length=0x3006, sges=5, **FIRST), SGL),
    "send imm": (raw(0x0B, SGE0), want(0x0B, length=0x1000, sges=1, imm=0x0BADF00D, **FIRST), b""),
    "send inval": (raw(0x01, SGE0), want(0x01, length=0x1000, sges=1, imm=0x0BADF00D, **FIRST), b""),
    "write": (raw(0x08, RADDR, SGE0), want(0x08, length=0x1000, sges=1, **REMOTE, **FIRST), b""),
    "write nothing": (raw(0x08, RADDR), want(0x08, **REMOTE), b""),
    "write imm inline": (
        raw(0x09, RADDR, inline(b"abc")), want(0x09, length=3, is_inline=1, imm=0x0BADF00D, **REMOTE), b"abc",
    ),
    "write of two": (
        raw(0x08, RADDR, SGE0, SGE2), want(0x08, length=0x1003, sges=2, **REMOTE, **FIRST), bytes.fromhex(SGE0 + SGE2),
    ),
    "read": (raw(0x10, RADDR, SGE0), want(0x10, length=0x1000, sges=1, **REMOTE, **FIRST), b""),
    "read nothing": (raw(0x10, RADDR), want(0x10, **REMOTE), b""),
    "read into three": (
        raw(0x10, RADDR, SGE0, SGE2, SGE2), want(0x10, 2, length=0x1006, sges=3, **REMOTE, **FIRST),
        bytes.fromhex(SGE0 + SGE2 + SGE2),
    ),
    "compare and swap": (
        raw(0x11, RADDR, ATOMIC, RESULT),
        want(0x11, length=8, sges=1, lkey=0xC1C2C3C4, laddr=0xABCDEF00, **REMOTE,
             swap_add=0x0102030405060708, compare=0x090A0B0C0D0E0F10), b"",
    ),
    "fetch and add": (
        raw(0x12, RADDR, ATOMIC, RESULT, fm=0x82),
        want(0x12, length=8, sges=1, lkey=0xC1C2C3C4, laddr=0xABCDEF00, **REMOTE, fence=4, ce=0, se=1,
             swap_add=0x0102030405060708, compare=0x090A0B0C0D0E0F10), b"",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", GOOD)
def test_well_formed(kind):
    data, wr, payload = GOOD[kind]
    assert sq_decode.decode(data, INDEX, QPN) == (wr, payload)


RESERVED = "00000004 00000100 0000000000000000"
BIT = "80000004 00000001 0000000000000000"
ONE = "00000001 00000001 0000000000000000"
OP, LEN, PROT = CQE_SYN.LOC_QP_OP, CQE_SYN.LOC_LEN, CQE_SYN.LOC_PROT
MALFORMED = {
    "unknown opcode": (raw(0x0E, SGE0), OP),
    "masked atomic": (raw(0x14, RADDR, ATOMIC, RESULT), OP),
    "opcode 0xff": (raw(0xFF), OP),
    "nop with more": (raw(0x00, SGE0), OP),
    "ds 0": (raw(0x0A, ds=0), OP),
    "write without address": (raw(0x08), OP),
    "read without address": (raw(0x10), OP),
    "too many blocks": (raw(0x0A, SGE2 * 16), OP),
    "read with inline": (raw(0x10, RADDR, inline(b"abc")), OP),
    "atomic without pointer": (raw(0x11, RADDR, ATOMIC), OP),
    "atomic with two pointers": (raw(0x11, RADDR, ATOMIC, RESULT, RESULT), OP),
    "atomic of 4 bytes": (raw(0x12, RADDR, ATOMIC, "00000004 c1c2c3c4 00000000abcdef00"), OP),
    "atomic of 0 bytes": (raw(0x12, RADDR, ATOMIC, "00000000 c1c2c3c4 00000000abcdef00"), OP),
    "atomic with inline bit": (raw(0x12, RADDR, ATOMIC, "80000008 c1c2c3c4 00000000abcdef00"), OP),
    "atomic only with address": (raw(0x11, RADDR), OP),
    "inline one unit short": (raw(0x0A, inline(bytes(13)), ds=2), OP),
    "inline one unit long": (raw(0x0A, inline(bytes(12)), ds=3), OP),
    "inline far too long": (raw(0x0A, "fffffffc 00000000 0000000000000000"), OP),
    "inline after a pointer": (raw(0x0A, SGE0, BIT), OP),
    "inline before a pointer": (raw(0x0A, BIT, SGE0), OP),
    "sum above 2^31": (raw(0x0A, SGE1, ONE), LEN),
    "sum of halves": (raw(0x0A, "7fffffff 00000001 0000000000000000", ONE, ONE), LEN),
    "reserved key": (raw(0x0A, RESERVED), PROT),
    "reserved key second": (raw(0x08, RADDR, SGE0, RESERVED), PROT),
    "reserved key of an atomic": (raw(0x11, RADDR, ATOMIC, "00000008 00000100 00000000abcdef00"), PROT),
    "length before key": (raw(0x0A, SGE1, RESERVED), LEN),
    "opcode before length": (raw(0x0E, SGE1, RESERVED), OP),
    "inline bit before length and key": (raw(0x0A, SGE1, RESERVED, BIT), OP),
}


@pytest.mark.parametrize("kind", MALFORMED)
def test_malformed(kind):
    data, error = MALFORMED[kind]
    wr = SqWr(qpn=QPN, opcode=data[3], wqe_index=INDEX, error=error)
    assert sq_decode.decode(data, INDEX, QPN) == (wr, b"")


def test_index_and_queue_are_those_of_the_place():
    data = GOOD["send"][0]
    assert sq_decode.decode(data, 5, QPN)[0] == SqWr(qpn=QPN, opcode=0x0A, wqe_index=5, error=OP)
    assert sq_decode.decode(data, INDEX, 7)[0] == SqWr(qpn=7, opcode=0x0A, wqe_index=INDEX, error=OP)


def test_sum_of_just_2_31_is_allowed():
    data = raw(0x0A, "7fffffff 00000001 0000000000000000", ONE)
    assert sq_decode.decode(data, INDEX, QPN)[0].length == 1 << 31


def test_modifier_signature_and_reserved_are_not_looked_at():
    data = bytearray(GOOD["write"][0])
    data[0], data[8], data[9], data[10], data[7] = 9, 1, 2, 3, data[7] | 0xC0
    data[28:32] = b"abcd"
    assert sq_decode.decode(bytes(data), INDEX, QPN) == GOOD["write"][1:]


def test_beats():
    wr = SqWr()
    sizes = {0: [0], 1: [1], 64: [64], 65: [64, 1], 128: [64, 64], 236: [64, 64, 64, 44], 240: [64, 64, 64, 48]}
    for size, parts in sizes.items():
        beats = sq_decode.beats_of(wr, bytes(size))
        assert [len(b.data) for b in beats] == parts
        assert [b.last for b in beats] == [False] * (len(parts) - 1) + [True]


# -- builders -------------------------------------------------------------------------------------


def random_wqe(rng: random.Random, index: int, qpn: int) -> tuple[bytes, SqWr, bytes]:
    """A well-formed WQE of any opcode, built by models/sq_wqe.py, and what must come out."""
    op = rng.choice(list(WQE))
    fields = {"fence": rng.randrange(8), "ce": rng.randrange(4), "se": rng.randrange(2)}
    extra: dict[str, int] = {}
    sges: list[tuple[int, int, int]] = []
    payload = None
    if op in sq_wqe.WITH_REMOTE:
        extra |= {"raddr": rng.getrandbits(64), "rkey": rng.getrandbits(32)}
    if op in (WQE.SEND_IMM, WQE.WRITE_IMM, WQE.SEND_INVAL):
        extra |= {"imm": rng.getrandbits(32)}
    if op in sq_wqe.ATOMICS:
        extra |= {"swap_add": rng.getrandbits(64), "compare": rng.getrandbits(64)}
        sges = [(8, rng.getrandbits(32) | 1, rng.getrandbits(64))]
    elif sq_wqe.max_inline(op) >= 0 and rng.random() < 0.4:
        payload = rng.randbytes(rng.randrange(sq_wqe.max_inline(op) + 1))
    elif op != WQE.NOP:
        count = rng.randrange(sq_wqe.max_sges(op) + 1)
        sges = [(rng.randint(1, 1 << 27), rng.getrandbits(32) | 1, rng.getrandbits(64)) for _ in range(count)]
    raw_wqe = sq_wqe.build(op, index, qpn, sges=sges, inline=payload, **extra, **fields)
    out = SqWr(qpn=qpn, opcode=op, wqe_index=index, blocks=len(raw_wqe) // 64, **extra, **fields)
    out.sges = len(sges)
    out.length = sum(s[0] for s in sges) if payload is None else len(payload)
    out.is_inline = int(payload is not None)
    if sges:
        out.lkey, out.laddr = sges[0][1:]
    pointers = b"".join(n.to_bytes(4, "big") + k.to_bytes(4, "big") + a.to_bytes(8, "big") for n, k, a in sges)
    return raw_wqe, out, payload if payload is not None else pointers if len(sges) > 1 else b""


def test_what_is_built_comes_back():
    rng = random.Random(7)
    seen = set()
    for i in range(3000):
        data, wr, payload = random_wqe(rng, i & 0xFFFF, QPN)
        seen.add((wr.opcode, wr.is_inline, wr.blocks))
        assert sq_decode.decode(data, i & 0xFFFF, QPN) == (wr, payload)
    assert len(seen) > 25


def test_builders_refuse_what_has_no_encoding():
    with pytest.raises(ValueError, match="one pointer of 8 bytes"):
        sq_wqe.build(WQE.ATOMIC_FA, 0, QPN)
    with pytest.raises(ValueError, match="inline"):
        sq_wqe.build(WQE.READ, 0, QPN, inline=b"")
    with pytest.raises(ValueError, match="inline"):
        sq_wqe.build(WQE.SEND, 0, QPN, inline=bytes(237))
    with pytest.raises(ValueError, match=r"pointers; allowed: 0\.\.15"):
        sq_wqe.build(WQE.SEND, 0, QPN, sges=[(1, 1, 1)] * 16)
    with pytest.raises(ValueError, match="pointers; allowed"):
        sq_wqe.build(WQE.NOP, 0, QPN, sges=[(1, 1, 1)])


# -- the same bytes as C structures ------------------------------------------------------------------


class Ctrl(ctypes.BigEndianStructure):
    """struct mlx5_wqe_ctrl_seg."""

    _fields_ = [
        ("opmod_idx_opcode", ctypes.c_uint32), ("qpn_ds", ctypes.c_uint32), ("signature", ctypes.c_uint8),
        ("dci_stream_channel_id", ctypes.c_uint16), ("fm_ce_se", ctypes.c_uint8), ("imm", ctypes.c_uint32),
    ]  # fmt: skip
    _pack_ = 1


class Raddr(ctypes.BigEndianStructure):
    """struct mlx5_wqe_raddr_seg."""

    _fields_ = [("raddr", ctypes.c_uint64), ("rkey", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]


class Atomic(ctypes.BigEndianStructure):
    """struct mlx5_wqe_atomic_seg."""

    _fields_ = [("swap_add", ctypes.c_uint64), ("compare", ctypes.c_uint64)]


class Data(ctypes.BigEndianStructure):
    """struct mlx5_wqe_data_seg."""

    _fields_ = [("byte_count", ctypes.c_uint32), ("lkey", ctypes.c_uint32), ("addr", ctypes.c_uint64)]


def test_agrees_with_the_public_structures():
    assert [ctypes.sizeof(s) for s in (Ctrl, Raddr, Atomic, Data)] == [16] * 4
    rng = random.Random(3)
    for _ in range(200):
        ctrl = Ctrl(INDEX << 8 | WQE.ATOMIC_CS, QPN << 8 | 4, 0, 0, 4 << 5 | 2 << 2 | 2, 0)
        remote = Raddr(rng.getrandbits(64), rng.getrandbits(32), 0)
        atomic = Atomic(rng.getrandbits(64), rng.getrandbits(64))
        data = Data(8, rng.getrandbits(32) | 1, rng.getrandbits(64))
        made = b"".join(bytes(s) for s in (ctrl, remote, atomic, data))
        built = sq_wqe.build(
            WQE.ATOMIC_CS, INDEX, QPN, raddr=remote.raddr, rkey=remote.rkey, swap_add=atomic.swap_add,
            compare=atomic.compare, sges=[(8, data.lkey, data.addr)], fence=4, ce=2, se=1,
        )  # fmt: skip
        assert built == made
        wr, _ = sq_decode.decode(made, INDEX, QPN)
        assert (wr.raddr, wr.rkey, wr.swap_add, wr.compare) == (
            remote.raddr, remote.rkey, atomic.swap_add, atomic.compare,
        )  # fmt: skip
        assert (wr.lkey, wr.laddr, wr.fence, wr.ce, wr.se) == (data.lkey, data.addr, 4, 2, 1)
