# SPDX-License-Identifier: Apache-2.0
"""What the compiled core of the switch's model is made with: the decorators, sets of ports as bits, cached code.

A set of ports is a row of 64-bit words. Compiled code is kept under ``build/cache/numba`` (or ``NUMBA_CACHE_DIR``) in a
folder named after the contents of all files that it is made of: numba by itself looks at one file only, and would
run old code after a change in another one. The path of the tree does not count, so copies of it share the code.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core import caching
from numba.extending import intrinsic

_HERE = Path(__file__).resolve()
_PYTHON = {f"switch_{part}.py" for part in ("volume", "check", "ecn", "traffic", "csr", "regs")}
"""Files of the switch's model of which nothing is compiled."""


def _contents() -> str:
    """Hash of the files that make up the core."""
    sum_ = hashlib.sha256()
    for path in sorted(p for p in _HERE.parent.glob("switch_*.py") if p.name not in _PYTHON):
        sum_.update(path.name.encode() + b"\0" + path.read_bytes())
    return sum_.hexdigest()[:20]


class ByContents(caching._CacheLocator):  # type: ignore[misc]  # numba has no types: the base class is Any to mypy
    """Where numba keeps a function: see the module's head."""

    stamp = _contents()
    base = Path(os.environ.get("NUMBA_CACHE_DIR") or _HERE.parents[1] / "build" / "cache" / "numba")

    def __init__(self, line: int) -> None:
        self._line = line

    @classmethod
    def from_function(cls, py_func: Any, _py_file: str) -> ByContents:
        """The locator of a function; numba's interface."""
        self = cls(py_func.__code__.co_firstlineno)
        self.ensure_cache_path()
        return self

    def get_cache_path(self) -> str:
        """Folder."""
        return str(self.base / self.stamp)

    def get_source_stamp(self) -> str:
        """What makes old code useless."""
        return self.stamp

    def get_disambiguator(self) -> str:
        """Tells functions of one name apart."""
        return str(self._line)


_FLAGS: dict[str, Any] = {"error_model": "numpy", "_nrt": False}
"""Divisions by zero are not looked for, and arrays are not counted: the core makes and frees none, and a count for each
access to an array of the state would cost fifty times what the access does."""


def compiled(function: Any) -> Any:
    """A function that Python calls: compiled at its first call, kept for later processes. One of several processes that
    need it at the same time compiles it, the others wait."""
    before = numba.config.CACHE_LOCATOR_CLASSES
    numba.config.CACHE_LOCATOR_CLASSES = f"{__name__}.{ByContents.__name__}"
    try:
        core = numba.njit(cache=True, no_cfunc_wrapper=True, **_FLAGS)(function)
    finally:
        numba.config.CACHE_LOCATOR_CLASSES = before
    known: set[bool] = set()

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        if not known:
            with (ByContents.base / ByContents.stamp / "lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                core.compile(tuple(numba.typeof(a) for a in args))
            known.add(True)
        return core(*args)

    return call


inlined = numba.njit(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **_FLAGS)
"""A part of a compiled function: no call is left of it, since handing over the state costs more than most parts do."""

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
def first_from(low: Any, high: Any, start: int) -> int:
    """The first member at or after ``start``, around from 127 to 0. The set, in two words, is not empty."""
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
