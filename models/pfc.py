# SPDX-License-Identifier: Apache-2.0
"""Headroom of a paused lane: cells that can still arrive after its buffer asked for a pause (IEEE 802.1Qbb).

In order: the pause frame waits for a largest frame that its own side has begun, is sent, crosses both PHYs and the
cable; the upstream port reacts; what its egress FIFO holds then still comes; so does what is on the cable and in the
PHYs; the link's receiver had stored most of a largest frame (RoCE: its FCS comes last) or of a segment (native) which
the buffer has not seen yet; and the switch itself takes some cycles from a beat to the pause. Until the upstream port
reacts it sends at the wire's rate. Bytes become cells at the worst packing: frames a byte longer than a whole number of
cells.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from models.spec import spec

PHYS = ("llfec", "kp4")
"""Sections of [phy] in spec/fabric.toml."""


def worst_cells(data: int, cell: int, overhead: int) -> int:
    """Most cells that ``data`` bytes of the wire (preamble, gap and FCS counted) can fill: whole frames and one more.

    A frame of k cells and one byte takes k + 1 cells; the shorter, the worse, but no frame is below ``pfc.min_frame``.
    A cell that is larger than a smallest frame is filled by one of them.
    """
    if data <= 0:
        return 0
    smallest = spec().integer("pfc.min_frame")
    # one frame that just needs k cells: bytes on the wire for k cells
    choices = []
    for k in range(1, 4):
        size = max(smallest, (k - 1) * cell + 1)
        if -(-size // cell) == k:
            choices.append((k, size + overhead))
    best = max(choices, key=lambda c: c[0] / c[1])
    full, rest = divmod(data, best[1])
    # the rest is the head of one more frame: it will fill all of its cells
    return full * best[0] + (best[0] if rest else 0)


@dataclass(frozen=True)
class Headroom:
    """Parts of a headroom. ``response``: cycles from the pause to the upstream port's last start, cable, PHYs and
    links both ways; ``arriving``: cells of that time; ``stored``: cells that the link's receiver holds when the pause
    is asked for; ``queued``: cells of the upstream egress FIFO and of its link's; ``pipeline``: of the switch.
    """

    response: int
    arriving: int
    stored: int
    queued: int
    pipeline: int

    @property
    def cells(self) -> int:
        """All of it."""
        return self.arriving + self.stored + self.queued + self.pipeline


def headroom(
    metres: float,
    *,
    phy: str = "llfec",
    roce: bool = True,
    cell: int = 64,
    egress: int | None = None,
    stored: int | None = None,
) -> Headroom:
    """Headroom of a lane behind a cable of ``metres``; ``egress``: beats of the upstream egress FIFO (default: spec);
    ``cell``: bytes of a beat, and with them the wire's rate (64: 400 Gb/s, 128: 800 Gb/s); ``stored``: cells that the
    link's receiver can hold back (default: a largest frame, docs/link.md F1, or native a segment; 0 without a link).
    ValueError for a cable or a PHY that there is not; whether it fits into a buffer :func:`thresholds` says.

    A stream of a beat a cycle brings at most a cell a cycle, however the frames are packed: where the wire's bytes
    could fill more, that bound holds.
    """
    figures = spec()
    if not 0 <= metres < math.inf:
        raise ValueError(f"metres is {metres}; allowed: from 0")
    if phy not in PHYS:
        raise ValueError(f"phy is {phy!r}; allowed: {', '.join(PHYS)} (spec/fabric.toml, [phy])")
    rate = figures.integer("link.rate_bytes") * cell // 64
    overhead = figures.integer("link.overhead_roce" if roce else "link.trailer_bytes")
    period = float(figures.value("clock.period_ns"))
    largest = figures.integer("frame.max_beats") * 64
    segment = figures.integer("link.segment_bytes")
    if stored is None:
        stored = -(-(largest if roce else segment) // cell)
    largest += overhead * (1 if roce else -(-largest // segment))
    stages = ("tx_cdc", "tx_pcs", "tx_serdes", "rx_serdes", "rx_pcs", "rx_fec", "rx_cdc")
    flight = sum(float(figures.value(f"phy.{phy}.{s}")) for s in stages)
    flight += metres * float(figures.value("cable.ns_per_m_fibre"))
    one_way = math.ceil(flight / period)
    sending = math.ceil((largest + spec().integer("pfc.pause_frame") + overhead) / rate)
    # both ends' links: the pause is seen a cycle late and leaves, the last beats leave, come out behind the check
    links = 1 + 2 * figures.cycles("latency.link.tx_out") + figures.cycles("latency.link.rx")
    response = sending + 2 * one_way + figures.cycles("pfc.reaction") + links
    arriving = min(response, worst_cells(response * rate, cell, overhead))
    queued = figures.integer("switch.egress_beats") if egress is None else egress
    queued += figures.integer("latency.link.fifo_beats")
    # decided `lookup` cycles after it entered, held a cycle later, paused one more; beats of those cycles are inside
    pipeline = figures.cycles("latency.switch.lookup") + 2
    return Headroom(response, arriving, stored, queued, pipeline)


def thresholds(quota: int, room: int) -> tuple[int, int]:
    """XOFF and XON, cells held, of a lane of ``quota`` cells that keeps ``room`` of them for what still arrives once it
    asked for a pause; XON is half of XOFF. ValueError when the headroom leaves no threshold."""
    if not 0 <= room < quota:
        raise ValueError(
            f"headroom is {room} cells; allowed: 0 to {quota - 1}, below the cells of a lane (cells / lanes,"
            f" {quota}; cells by default link.buffer_cells of spec/fabric.toml)"
        )
    xoff = quota - room
    return xoff, xoff // 2


def reach(quota: int, *, phy: str = "llfec", roce: bool = True, cell: int = 64, egress: int | None = None) -> int:
    """Longest cable in whole metres, up to 10 km, with a headroom below a lane of ``quota`` cells; -1: none."""
    low, high = -1, 10_000
    while low < high:
        middle = (low + high + 1) // 2
        if headroom(middle, phy=phy, roce=roce, cell=cell, egress=egress).cells < quota:
            low = middle
        else:
            high = middle - 1
    return low
