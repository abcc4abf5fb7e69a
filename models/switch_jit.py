# SPDX-License-Identifier: Apache-2.0
"""What the compiled core of the switch's model is made with: its decorator, and sets of ports as bits.

A set of ports is a row of 64-bit words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from models import jit
from models.jit import inlined

_PYTHON = {f"switch_{part}.py" for part in ("volume", "check", "ecn", "traffic", "csr", "regs")}
"""Files of the switch's model of which nothing is compiled."""


class ByContents(jit.ByContents):
    """Where numba keeps a function of the switch."""

    stamp = jit.contents(p for p in jit.HERE.parent.glob("switch_*.py") if p.name not in _PYTHON)


compiled = jit.compiler(ByContents)

ONE = np.uint64(1)
ZERO = np.uint64(0)


@intrinsic
def ctz(_context: Any, word: Any) -> Any:
    """Number of the lowest bit set of a 64-bit word that is not 0."""

    def codegen(_ctx: Any, builder: Any, _signature: Any, args: Any) -> Any:
        from llvmlite import ir

        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), codegen


@intrinsic
def ones(_context: Any, word: Any) -> Any:
    """Number of bits set of a 64-bit word."""

    def codegen(_ctx: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@inlined
def bit(n: int) -> Any:
    """The bit of ``n`` in its word."""
    return ONE << np.uint64(n & 63)


@inlined
def known(n: int) -> int:
    """``n``, which is not negative: no index made of it is looked at for counting from an array's end."""
    return n & 0x7FFFFFFF


@inlined
def lowest(word: Any, w: int) -> int:
    """The lowest member in word ``w`` of a set, which is not 0."""
    return w * 64 + ctz(word) & 127


@inlined
def has(words: Any, at: int, n: int) -> bool:
    """Whether ``n`` is in the set whose words begin at ``at``."""
    return (words[at + (n >> 6)] >> np.uint64(n & 63)) & ONE != ZERO


@inlined
def empty(words: Any, at: int) -> bool:
    """Whether the set whose words begin at ``at`` has no member."""
    return words[at] | words[at + 1] == ZERO


@inlined
def first_from(words: int, low: Any, high: Any, start: int) -> int:
    """The first member at or after ``start``, around from the end to 0. The set, in ``words`` words, is not empty."""
    if words == 1:
        k = np.uint64(start & 63)
        return start + ctz(low >> k | low << (np.uint64(64) - k & np.uint64(63))) & 63
    if start < 64:
        rest = low >> np.uint64(start)
        if rest != ZERO:
            return start + ctz(rest)
        if high != ZERO:
            return 64 + ctz(high)
        return ctz(low)
    rest = high >> np.uint64(start - 64)
    if rest != ZERO:
        return start + ctz(rest)
    if low != ZERO:
        return ctz(low)
    return 64 + ctz(high)


@inlined
def nth(low: Any, high: Any, rank: int) -> int:
    """The ``rank``-th member, lowest first; there are more than ``rank``."""
    base = 0
    word = low
    count = ones(low)
    if rank >= count:
        rank -= count
        base = 64
        word = high
    for _ in range(rank):
        word &= word - ONE
    return base + ctz(word)
