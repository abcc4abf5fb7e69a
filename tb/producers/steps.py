# SPDX-License-Identifier: Apache-2.0
"""What a producer's thread does: a program is a generator that yields steps and is sent the value of each.

Values are whole numbers, loaded bytes big-endian. :class:`Atomic` and :class:`Load` look at the memory in the cycle of
the step, the thread goes on when the step's cost has passed (tb/producers/machine.py).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple, TypeAlias

Name: TypeAlias = tuple[object, ...]


class Store(NamedTuple):
    """``data`` goes into the thread's own buffer, within one 64-byte line. Value: 0."""

    addr: int
    data: bytes


class Load(NamedTuple):
    """``size`` bytes within one line: own stores, else what is visible to the thread. Value: the bytes."""

    addr: int
    size: int


class Atomic(NamedTuple):
    """Acts on the variable ``name`` at once: ``add``, ``max``, ``cas`` (``expect`` to ``value``), ``set``, ``get``.
    Value: the old one."""

    kind: str
    name: Name
    value: int = 0
    expect: int = 0


class Fence(NamedTuple):
    """Earlier stores of the thread are out before it goes on: to the GPU's threads, or (``system``) to everybody,
    then also all stores that a GPU's threads see already. Value: 0."""

    system: bool = True


class Flush(NamedTuple):
    """The core's write-combining buffers are emptied. Value: 0."""


class Spend(NamedTuple):
    """Time by the name of its figure. Value: the cycle at which the step began."""

    figure: str


Step: TypeAlias = Store | Load | Atomic | Fence | Flush | Spend
Program: TypeAlias = Generator[Step, int, int]
