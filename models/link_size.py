# SPDX-License-Identifier: Apache-2.0
"""How many cells the receiver of a link has to have: for a sender with credits that is never to wait, and behind a
pause that was asked for. Derived from the rules of docs/link.md ("How large a buffer is"); both are reached.

``flight``: cycles from a beat's leaving the serialiser to its being behind the far PHY, the same both ways: ``tx_out``,
both PHYs, cable. ``cell``: bytes of a beat, and with them the wire's rate.
"""

from __future__ import annotations

from models.spec import spec


def flight(phy_tx: int, cable: int, phy_rx: int) -> int:
    """Cycles from leaving to behind the far PHY."""
    return spec().cycles("latency.link.tx_out") + phy_tx + cable + phy_rx


def largest(cell: int) -> int:
    """M: beats of a largest frame."""
    return -(-spec().integer("frame.max_beats") * 64 // cell)


def credit_cells(flight: int, cell: int = 64) -> int:
    """Cells of a lane with which a sender on whose frames nothing else waits is never kept by credits, whatever it
    sends, when the core frees what it gets in the next cycle."""
    s = spec()
    segment = s.integer("link.segment_bytes") // cell
    lag = s.cycles("latency.link.rx") + 2 * s.cycles("link.ctl_spacing") + segment + 1
    return largest(cell) + 2 * flight + lag


def pause_cells(flight: int, cell: int = 64) -> int:
    """Cells of a lane that can still come out at ``m_axis`` from the cycle in which ``s_pause`` rises on, before the
    pause holds the far end: the headroom of a buffer right behind the link."""
    s = spec()
    rate = s.integer("link.rate_bytes") * cell // 64
    wire = s.integer("frame.max_beats") * 64 + s.integer("link.overhead_roce")
    waits = (wire - 1) // rate + 1  # the pause's, for a largest frame that began in its cycle behind a byte too many
    window = waits + 2 * flight + s.cycles("latency.link.verdict") + s.cycles("latency.link.rx") - 1
    return 2 * largest(cell) + window
