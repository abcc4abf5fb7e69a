# SPDX-License-Identifier: Apache-2.0
"""Where a row begins in the flat arrays of the switch's model: its number times the width, known when compiled.

An array of several dimensions would have its widths looked up and multiplied at every access.
"""

from __future__ import annotations

from typing import Any

from models.jit import inlined
from models.switch_jit import ZERO, known
from models.switch_state import MOST, NF, NL, NP, NQ, Shape

_LANES = 8
_SETS = (NF // 2).bit_length() - 1


@inlined
def words(c: Shape) -> int:
    """Words of a set."""
    return len(c.sets)


@inlined
def upper(c: Shape, word: Any) -> Any:
    """The second word of a set, which is empty where there is none."""
    return word if len(c.sets) > 1 else ZERO


@inlined
def lanes(c: Shape) -> int:
    """Lanes; one is known when compiled."""
    return 1 if len(c.several) == 1 else c.lanes


@inlined
def ahead(c: Shape) -> bool:
    """Whether frames are worked on as a whole."""
    return len(c.whole) > 1


@inlined
def lane(p: int, v: int) -> int:
    """Row of ``il`` or ``ol``."""
    return (p * _LANES + v) * NL


@inlined
def cell(p: int, v: int) -> int:
    """Set in ``row`` or ``col``."""
    return (p * _LANES + v) * 2


@inlined
def queue(c: Shape, i: int, q: int) -> int:
    """Row of ``q``."""
    return known(i * c.queues + q) * NQ


@inlined
def piped(stage: int, i: int) -> int:
    """Row of ``pipe``."""
    return (stage * MOST + i) * NP


@inlined
def ports_of(slot: int) -> int:
    """Set in ``fset`` of the frame whose row of ``frm`` begins at ``slot``."""
    return slot >> _SETS
