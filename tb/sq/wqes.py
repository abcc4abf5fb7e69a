# SPDX-License-Identifier: Apache-2.0
"""WQEs that producers write, each with the work request that it stands for: put together from what was asked for.

Nothing here decodes: ``wr`` and ``payload`` say what must come out, whatever the model thinks of the bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from models import wqe
from models.protocol import CQE_SYN, WQE, SqWr

M16 = 0xFFFF
SENDS = (WQE.SEND, WQE.SEND_IMM, WQE.SEND_INVAL)
WRITES = (WQE.WRITE, WQE.WRITE_IMM)
ATOMICS = (WQE.ATOMIC_CS, WQE.ATOMIC_FA)
WITH_IMM = (WQE.SEND_IMM, WQE.SEND_INVAL, WQE.WRITE_IMM)
INLINES = (*SENDS, *WRITES)
UNITS = 16  # of the largest WQE
NO_KEY = 0x100
LONGEST = 1 << 31
INLINE = 1 << 31
UNKNOWN = (0x02, 0x0C, 0x0E, 0x14, 0x15, 0x1B, 0x23, 0x25, 0x2F, 0x88, 0x90, 0xFF)


class Posted(NamedTuple):
    """A WQE (whole blocks), the work request it stands for, the bytes of that one's beats; what is wrong with it."""

    raw: bytes
    wr: SqWr
    payload: bytes
    kind: str = ""

    @property
    def blocks(self) -> int:
        """64-byte blocks in the ring."""
        return len(self.raw) // 64


def max_inline(op: int) -> int:
    """Most bytes of inline data."""
    return 16 * (UNITS - (2 if op in WRITES else 1)) - 4


def max_sges(op: int) -> int:
    """Most data pointers."""
    return UNITS - (1 if op in SENDS else 2)


def _key(rng: np.random.Generator) -> int:
    key = int(rng.choice([0, 0xFFFFFFFF, int(rng.integers(1 << 32))]))
    return 0x1FF if key == NO_KEY else key


def _u64(rng: np.random.Generator) -> int:
    return int(rng.integers(1 << 63)) * 2 + int(rng.integers(2))


def _lengths(rng: np.random.Generator, n: int) -> list[int]:
    """Byte counts of ``n`` pointers; their sum is 2^31 at most, often just that."""
    if n == 1:
        return [int(rng.choice([1, 8, 64, 4096, LONGEST, int(rng.integers(1, LONGEST))]))]
    top = LONGEST // n
    counts = [int(rng.integers(1, top)) for _ in range(n)]
    if rng.random() < 0.2:
        counts[-1] = LONGEST - sum(counts[:-1])
        if counts[-1] == LONGEST:
            counts[-1] -= 1
    return counts


def pointers(counts: list[int], keys: list[int], addrs: list[int]) -> bytes:
    """Data pointers; a count of 2^31 is written as 0."""
    rows = zip(counts, keys, addrs, strict=True)
    return b"".join(struct.pack(">IIQ", c & (LONGEST - 1), k, a) for c, k, a in rows)


def whole(rng: np.random.Generator, wr: SqWr, index: int, body: bytes, ds: int | None = None) -> bytes:
    """Control segment before ``body``, rubbish where nothing is looked at, up to whole blocks."""
    units = 1 + len(body) // 16 if ds is None else ds
    head = struct.pack(">II", (index & M16) << 8 | wr.opcode, wr.qpn << 8 | units)
    flags = wr.fence << 5 | wr.ce << 2 | wr.se << 1
    imm = wr.imm if wr.opcode in WITH_IMM else int(rng.integers(1 << 32))
    raw = head + rng.bytes(3) + bytes([flags]) + struct.pack(">I", imm) + body
    size = 64 * wqe.block_count(units)
    return raw[:size] + rng.bytes(size - len(raw[:size]))


def _start(rng: np.random.Generator, index: int, qpn: int, op: int) -> SqWr:
    wr = SqWr(qpn=qpn, opcode=op, wqe_index=index & M16)
    wr.fence, wr.ce, wr.se = int(rng.integers(8)), int(rng.integers(4)), int(rng.integers(2))
    if op in WITH_IMM:
        wr.imm = int(rng.integers(1 << 32))
    if op not in (*SENDS, WQE.NOP):
        wr.raddr, wr.rkey = _u64(rng), int(rng.integers(1 << 32))
    return wr


def _remote(rng: np.random.Generator, wr: SqWr) -> bytes:
    if wr.opcode in (*SENDS, WQE.NOP):
        return b""
    return struct.pack(">QI", wr.raddr, wr.rkey) + rng.bytes(4)


def good(
    rng: np.random.Generator, index: int, qpn: int, op: int | None = None, *, inline: int | None = None,
    sges: int | None = None, counts: list[int] | None = None, data: bytes | None = None,
) -> Posted:  # fmt: skip
    """A well-formed WQE with random fields: ``inline`` bytes of data, ``sges`` pointers, or a random kind."""
    op = int(rng.choice(list(WQE))) if op is None else int(op)
    wr = _start(rng, index, qpn, op)
    body, payload = _remote(rng, wr), b""
    if op in ATOMICS:
        wr.swap_add, wr.compare = _u64(rng), _u64(rng)
        wr.sges, wr.length, wr.lkey, wr.laddr = 1, 8, _key(rng), _u64(rng)
        body += struct.pack(">QQ", wr.swap_add, wr.compare) + pointers([8], [wr.lkey], [wr.laddr])
    elif op != WQE.NOP:
        if inline is None and sges is None and data is None:
            dice = rng.random()
            if op in INLINES and dice < 0.5:
                inline = int(rng.integers(max_inline(op) + 1))
            else:
                sges = 0 if dice < 0.55 else 1 if dice < 0.75 else int(rng.integers(2, max_sges(op) + 1))
        if inline is not None or data is not None:
            payload = data if data is not None else rng.bytes(inline or 0)
            wr.is_inline, wr.length = 1, len(payload)
            body += struct.pack(">I", INLINE | len(payload)) + payload
            body += rng.bytes(-len(body) % 16)
        elif sges:
            counts = counts or _lengths(rng, sges)
            keys, addrs = [_key(rng) for _ in counts], [_u64(rng) for _ in counts]
            wr.sges, wr.length, wr.lkey, wr.laddr = len(counts), sum(counts), keys[0], addrs[0]
            body += pointers(counts, keys, addrs)
            payload = pointers(counts, keys, addrs) if len(counts) > 1 else b""
    raw = whole(rng, wr, index, body)
    wr.blocks = len(raw) // 64
    return Posted(raw, wr, payload)


def of_blocks(rng: np.random.Generator, index: int, qpn: int, blocks: int) -> Posted:
    """A good WQE of 1..4 blocks."""
    if blocks == 1:
        op = int(rng.choice([WQE.NOP, WQE.READ, WQE.ATOMIC_CS, WQE.ATOMIC_FA, *INLINES]))
        if op in INLINES:
            return good(rng, index, qpn, op, inline=int(rng.integers(0, 29)))
        return good(rng, index, qpn, op, sges=int(rng.integers(0, 3)))
    op = int(rng.choice([WQE.READ, *INLINES]))
    used = 1 if op in SENDS else 2
    units = int(rng.integers(4 * blocks - 3, 4 * blocks + 1)) - used
    if op in INLINES and rng.random() < 0.6:
        return good(rng, index, qpn, op, inline=16 * units - 4 - int(rng.integers(16)))
    return good(rng, index, qpn, op, sges=units)


# -- malformed ------------------------------------------------------------------------------------


def _some(rng: np.random.Generator, index: int, qpn: int, *ops: int) -> Posted:
    return good(rng, index, qpn, int(rng.choice(ops or INLINES)), inline=int(rng.integers(0, 100)))


def _put(raw: bytes, at: int, new: bytes) -> bytes:
    return raw[:at] + new + raw[at + len(new) :]


def _ds(raw: bytes, ds: int, rng: np.random.Generator) -> bytes:
    size = 64 * wqe.block_count(ds)
    raw = _put(raw, 7, bytes([ds]))[:size]
    return raw + rng.bytes(size - len(raw))


def _segment(op: int) -> int:
    """Byte at which the data segments begin."""
    return 16 if op in SENDS else 48 if op in ATOMICS else 32


def _opcode(rng: np.random.Generator, index: int, qpn: int) -> bytes:
    known = {int(w) for w in WQE}
    op = int(rng.choice(UNKNOWN)) if rng.random() < 0.5 else int(rng.integers(256))
    return _put(_some(rng, index, qpn).raw, 3, bytes([op if op not in known else 0x7F]))


def _wrong_index(rng: np.random.Generator, index: int, qpn: int) -> bytes:
    return good(rng, index ^ int(rng.choice([1 << int(rng.integers(16)), int(rng.integers(1, 1 << 16))])), qpn).raw


def _wrong_queue(rng: np.random.Generator, index: int, qpn: int) -> bytes:
    return good(rng, index, qpn ^ (1 << int(rng.integers(24)))).raw


def _too_small(rng: np.random.Generator, index: int, qpn: int) -> bytes:
    op = int(rng.choice([*WRITES, WQE.READ, *ATOMICS]))
    return _ds(good(rng, index, qpn, op).raw, int(rng.integers(1, 4)) if op in ATOMICS else 1, rng)


def _too_large(rng: np.random.Generator, index: int, qpn: int) -> bytes:
    return _ds(good(rng, index, qpn, int(rng.choice(ATOMICS))).raw, int(rng.integers(5, 17)), rng)


def _inline_long(rng: np.random.Generator, index: int, qpn: int) -> bytes:
    p = _some(rng, index, qpn)
    room = -(-(4 + p.wr.length) // 16) * 16 - 4
    n = room + int(rng.choice([1, 2, 16, 256, 1 << 16, 1 << 30]))
    return _put(p.raw, _segment(p.wr.opcode), struct.pack(">I", INLINE | n))


def _inline_short(rng: np.random.Generator, index: int, qpn: int) -> bytes:
    op = int(rng.choice(INLINES))
    p = good(rng, index, qpn, op, inline=int(rng.integers(13, 200)))
    room = -(-(4 + p.wr.length) // 16) * 16 - 4
    return _put(p.raw, _segment(op), struct.pack(">I", INLINE | int(rng.integers(0, room - 15))))


def _inline_read(rng: np.random.Generator, index: int, qpn: int) -> bytes:
    p = good(rng, index, qpn, WQE.READ, sges=int(rng.integers(1, 4)))
    return _put(p.raw, 32, struct.pack(">I", INLINE | int(rng.integers(0, 12))))


def _inline_atomic(rng: np.random.Generator, index: int, qpn: int) -> bytes:
    return _put(good(rng, index, qpn, int(rng.choice(ATOMICS))).raw, 48, struct.pack(">I", INLINE | 8))


def _inline_later(rng: np.random.Generator, index: int, qpn: int) -> bytes:
    op = int(rng.choice([WQE.READ, *INLINES]))
    n = int(rng.integers(2, max_sges(op) + 1))
    at = _segment(op) + 16 * int(rng.integers(1, n))
    return _put(good(rng, index, qpn, op, sges=n).raw, at, struct.pack(">I", INLINE | int(rng.integers(0, 12))))


def _atomic_size(rng: np.random.Generator, index: int, qpn: int) -> bytes:
    size = int(rng.choice([0, 1, 4, 7, 9, 16, 8 << 8, 8 | 1 << 30]))
    return _put(good(rng, index, qpn, int(rng.choice(ATOMICS))).raw, 48, struct.pack(">I", size))


def _too_long(rng: np.random.Generator, index: int, qpn: int) -> bytes:
    op = int(rng.choice([WQE.READ, *INLINES]))
    n = int(rng.integers(2, max_sges(op) + 1))
    counts = _lengths(rng, n)
    counts[int(rng.integers(n))] = LONGEST if rng.random() < 0.5 else LONGEST - 1
    if sum(counts) <= LONGEST:
        counts[0], counts[-1] = LONGEST - 1, 2
    if rng.random() < 0.2:
        counts = [LONGEST] * n
    return good(rng, index, qpn, op, sges=n, counts=counts).raw


def _just_too_long(rng: np.random.Generator, index: int, qpn: int) -> bytes:
    op = int(rng.choice([WQE.READ, *INLINES]))
    n = int(rng.integers(2, max_sges(op) + 1))
    counts = [int(rng.integers(2, LONGEST // n)) for _ in range(n - 1)]
    return good(rng, index, qpn, op, sges=n, counts=[*counts, LONGEST + 1 - sum(counts)]).raw


def _reserved_key(rng: np.random.Generator, index: int, qpn: int) -> bytes:
    op = int(rng.choice([WQE.READ, *INLINES, *ATOMICS]))
    n = 1 if op in ATOMICS else int(rng.integers(1, max_sges(op) + 1))
    at = _segment(op) + 16 * int(rng.integers(n)) + 4
    return _put(good(rng, index, qpn, op, sges=n).raw, at, struct.pack(">I", NO_KEY))


def _long_and_key(rng: np.random.Generator, index: int, qpn: int) -> bytes:
    raw = _too_long(rng, index, qpn)
    return _put(raw, _segment(raw[3]) + 4, struct.pack(">I", NO_KEY))


def _short_and_key(rng: np.random.Generator, index: int, qpn: int) -> bytes:
    p = good(rng, index, qpn, int(rng.choice(ATOMICS)))
    return _put(_put(p.raw, 52, struct.pack(">I", NO_KEY)), 48, struct.pack(">I", 4))


OP, LEN, PROT = CQE_SYN.LOC_QP_OP, CQE_SYN.LOC_LEN, CQE_SYN.LOC_PROT
# What can be wrong with a WQE: its bytes (whole blocks by its ds) and the syndrome that is due (W1 to W4).
FAULTS: dict[str, tuple[Callable[[np.random.Generator, int, int], bytes], int]] = {
    "opcode": (_opcode, OP),
    "index": (_wrong_index, OP),
    "queue": (_wrong_queue, OP),
    "ds zero": (lambda rng, i, q: _ds(_some(rng, i, q).raw, 0, rng), OP),
    "NOP with segments": (lambda rng, i, q: _ds(good(rng, i, q, WQE.NOP).raw, int(rng.integers(2, 17)), rng), OP),
    "ds too small": (_too_small, OP),
    "atomic too large": (_too_large, OP),
    "more than four blocks": (lambda rng, i, q: _ds(_some(rng, i, q).raw, int(rng.integers(17, 64)), rng), OP),
    "inline longer than ds": (_inline_long, OP),
    "inline shorter than ds": (_inline_short, OP),
    "inline in READ": (_inline_read, OP),
    "inline in atomic": (_inline_atomic, OP),
    "inline behind a pointer": (_inline_later, OP),
    "atomic size": (_atomic_size, OP),
    "too long": (_too_long, LEN),
    "one byte too long": (_just_too_long, LEN),
    "reserved key": (_reserved_key, PROT),
    "too long, reserved key": (_long_and_key, LEN),
    "atomic size, reserved key": (_short_and_key, OP),
}
# A store with one of these is another queue's, another index's, or a doorbell: they come from the ring only.
RING_ONLY = ("index", "queue", "ds zero", "more than four blocks")


def bad(rng: np.random.Generator, index: int, qpn: int, fault: str) -> Posted:
    """A malformed WQE."""
    make, error = FAULTS[fault]
    raw = make(rng, index, qpn)
    return Posted(raw, SqWr(qpn=qpn, opcode=raw[3], wqe_index=index & M16, error=error), b"", fault)
