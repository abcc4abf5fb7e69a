# SPDX-License-Identifier: Apache-2.0
"""Decorators of the link's compiled core: those of ``switch_jit``, with cached code named after the link's files."""

from __future__ import annotations

import fcntl
import functools
import hashlib
from pathlib import Path
from typing import Any

import numba

from models import switch_jit
from models.switch_jit import inlined

__all__ = ["compiled", "inlined"]

_HERE = Path(__file__).resolve()
_PYTHON = {"link_volume.py", "link_config.py", "link_outcome.py", "link_study.py"}
"""Files of the link's model of which nothing is compiled."""


def _contents() -> str:
    """Hash of the files that make up the core."""
    files = {p for p in _HERE.parent.glob("link_*.py") if p.name not in _PYTHON}
    sum_ = hashlib.sha256()
    for path in sorted(files | {_HERE.parent / "phy_errors.py", _HERE.parent / "switch_jit.py"}):
        sum_.update(path.name.encode() + b"\0" + path.read_bytes())
    return "link_" + sum_.hexdigest()[:20]


class ByContents(switch_jit.ByContents):
    """Where numba keeps a function of the link."""

    stamp = _contents()


def compiled(function: Any) -> Any:
    """A function that Python calls: compiled at its first call, kept for later processes; one of several that need it
    at the same time compiles it, the others wait."""
    before = numba.config.CACHE_LOCATOR_CLASSES
    numba.config.CACHE_LOCATOR_CLASSES = f"{__name__}.{ByContents.__name__}"
    try:
        core = numba.njit(cache=True, no_cfunc_wrapper=True, error_model="numpy", _nrt=False)(function)
    finally:
        numba.config.CACHE_LOCATOR_CLASSES = before
    known: set[Any] = set()

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        if not known:
            with (ByContents.base / ByContents.stamp / "lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                core.compile(tuple(numba.typeof(a) for a in args))
            known.add(True)
        return core(*args)

    return call
