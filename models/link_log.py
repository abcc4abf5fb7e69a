# SPDX-License-Identifier: Apache-2.0
"""What the link's core notes: events, levels that changed, what left, beats that the core gets."""

from __future__ import annotations

from typing import Any

from models.jit import inlined
from models.link_state import (
    G_EV,
    N_LOG,
    N_M,
    N_OUT,
    O_COUNT,
    O_FIRST,
    O_KIND,
    O_LAST,
    O_OFF,
    P_QUIET,
)  # fmt: skip


@inlined
def note(s: Any, i: int, cycle: int, kind: int, a: int, b: int) -> None:
    """A row of the log."""
    if s.p[i, P_QUIET] >> kind & 1 == 0:
        n = s.n[i, N_LOG]
        s.log[i, n, 0] = cycle
        s.log[i, n, 1] = kind
        s.log[i, n, 2] = a
        s.log[i, n, 3] = b
        s.n[i, N_LOG] = n + 1


@inlined
def event(s: Any, i: int, t: int, number: int, more: int) -> None:
    """Event ``number`` of cycle ``t``: ev shows it a cycle later."""
    note(s, i, t + 1, G_EV, number, more)


@inlined
def note_out(s: Any, i: int, t: int, ref: int, count: int, flags: int, kind: int, off: int, trailer: int) -> None:
    """A beat leaves; ``trailer``: header and CRC << 31."""
    n = s.n[i, N_OUT]
    s.out[i, n, 0] = t
    s.out[i, n, 1] = ref
    s.out[i, n, 2] = count << O_COUNT | flags << O_FIRST | kind << O_KIND | off << O_OFF
    s.out[i, n, 3] = trailer
    s.n[i, N_OUT] = n + 1


@inlined
def note_m(s: Any, i: int, cycle: int, ref: int, count: int, last: int, user: int) -> None:
    """A beat at ``m_axis``."""
    n = s.n[i, N_M]
    s.m[i, n, 0] = cycle
    s.m[i, n, 1] = ref
    s.m[i, n, 2] = count << O_COUNT | user << O_FIRST | last << O_LAST
    s.n[i, N_M] = n + 1
