# SPDX-License-Identifier: Apache-2.0
"""How many cells the receiver of a link has to have: for a sender with credits that is never to wait, and behind a
pause that was asked for. Derived from the rules of docs/link.md ("How large a buffer is"); both are reached.

``flight``: cycles from a beat's leaving the serialiser to its being behind the far PHY, the same both ways: ``tx_out``,
both PHYs, cable. ``cell``: bytes of a beat, and with them the wire's rate.
"""

from __future__ import annotations

from fractions import Fraction

from models.spec import spec


def flight(phy_tx: int, cable: int, phy_rx: int) -> int:
    """Cycles from leaving to behind the far PHY."""
    return spec().cycles("latency.link.tx_out") + phy_tx + cable + phy_rx


def largest(cell: int) -> int:
    """M: beats of a largest frame."""
    return -(-spec().integer("frame.max_beats") * 64 // cell)


def credit_cells(flight: int, cell: int = 64, lanes: int = 1) -> int:
    """Cells of a lane, one of ``lanes``, with which a sender on whose frames nothing else waits is never kept by
    credits, whatever it sends, when the core frees what it gets in the next cycle. With one or two lanes reached."""
    s = spec()
    segment = s.integer("link.segment_bytes") // cell
    spacing, update = s.cycles("link.ctl_spacing"), s.integer("link.credit_update_cells")
    # an ACK can fall due in the cycle of the CF's `update`-th cell, unless so many segments are an ACK's before that
    met = s.integer("link.ack_segments") * segment > update + segment + 4
    unsaid = max(2 * spacing, update + spacing + 1 if met else 0)
    return largest(cell) + 2 * flight + s.cycles("latency.link.rx") + segment + 1 + unsaid + _left_unsaid(lanes)


def _left_unsaid(lanes: int) -> int:
    """Cells that the others' can keep a lane from saying in a CF (docs/link.md, K5), and those of the three cycles that
    the choice takes."""
    if lanes <= 2:
        return 0
    share = sum((Fraction(1, k) for k in range(1, lanes - 1)), Fraction(0))
    return int(2 * spec().cycles("link.ctl_spacing") * share) + 3


def longest_cable() -> int:
    """Cycles of the longest cable that the figures of spec/fabric.toml are made for."""
    s = spec()
    return -(-int(s.integer("cable.longest_m") * s.value("cable.ns_per_m_fibre")) // int(s.value("clock.period_ns")))


def pause_cells(flight: int, cell: int = 64) -> int:
    """Cells of a lane that can still come out at ``m_axis`` from the cycle in which ``s_pause`` rises on, before the
    pause holds the far end: the headroom of a buffer right behind the link."""
    s = spec()
    rate = s.integer("link.rate_bytes") * cell // 64
    wire = s.integer("frame.max_beats") * 64 + s.integer("link.overhead_roce")
    waits = (wire - 1) // rate + 1  # the pause's, for a largest frame that began in its cycle behind a byte too many
    window = waits + 2 * flight + s.cycles("latency.link.verdict") + s.cycles("latency.link.rx") - 1
    return 2 * largest(cell) + window
