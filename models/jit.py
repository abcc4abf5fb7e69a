# SPDX-License-Identifier: Apache-2.0
"""What the compiled cores of the models are made with: decorators, and code that is kept by contents.

Compiled code is kept under ``build/cache/numba`` (or ``NUMBA_CACHE_DIR``) in a folder named after the contents of all
files that a core is made of: numba by itself looks at one file only, and would run old code after a change in another
one. The path of the tree does not count, so copies of it share the code.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
from numba.core import caching, event

HERE = Path(__file__).resolve()
"""Files of a core are those beside this one."""


def contents(files: Iterable[Path]) -> str:
    """Hash of the files that make up a core, and of this one."""
    sum_ = hashlib.sha256()
    for path in sorted({*files, HERE}):
        sum_.update(path.name.encode() + b"\0" + path.read_bytes())
    return sum_.hexdigest()[:20]


class ByContents(caching._CacheLocator):  # type: ignore[misc]  # numba has no types: the base class is Any to mypy
    """Where numba keeps a function: see the module's head. A core has a subclass with its ``stamp``."""

    stamp = ""
    base = Path(os.environ.get("NUMBA_CACHE_DIR") or HERE.parents[1] / "build" / "cache" / "numba")

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


def compiler(locator: type[ByContents]) -> Callable[[Any], Any]:
    """The decorator of a core's functions that Python calls: compiled at the first call, and again for each ``kind`` of
    its first argument, where that has one; kept for later processes. One of several processes that need it at the same
    time compiles it, the others wait."""

    def compiled(function: Any) -> Any:
        before = numba.config.CACHE_LOCATOR_CLASSES
        numba.config.CACHE_LOCATOR_CLASSES = f"{locator.__module__}.{locator.__name__}"
        try:
            core = numba.njit(cache=True, no_cfunc_wrapper=True, **_FLAGS)(function)
        finally:
            numba.config.CACHE_LOCATOR_CLASSES = before
        known: set[Any] = set()

        @functools.wraps(function)
        def call(*args: Any) -> Any:
            kind = getattr(args[0], "kind", None)  # what else than the one type of a function's arguments there is
            if kind not in known:
                with (locator.base / locator.stamp / "lock").open("w") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX)
                    core.compile(tuple(numba.typeof(a) for a in args))
                known.add(kind)
            return core(*args)

        return call

    return compiled


class _Once(event.Listener):  # type: ignore[misc]  # as above
    """Says something when the first compilation begins."""

    def __init__(self, say: Callable[[], None]) -> None:
        self._say: Callable[[], None] | None = say

    def on_start(self, _event: Any) -> None:
        if self._say:
            self._say()
        self._say = None

    def on_end(self, _event: Any) -> None:
        pass


@contextmanager
def compiling(say: Callable[[], None]) -> Iterator[None]:
    """``say`` is called when something is compiled: not when all that is needed is kept from earlier processes."""
    with event.install_listener("numba:compile", _Once(say)):
        yield


inlined = numba.njit(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **_FLAGS)
"""A part of a compiled function: no call is left of it, since handing over the state costs more than most parts do."""
