# SPDX-License-Identifier: Apache-2.0
"""Sizes of the link under test, from the run's parameters, and the delays of PHYs and cables from spec."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from models.spec import spec
from tb.common.beats import StreamFormat
from tb.common.run import RunContext

ENDS = ("a", "b")
FAR = {"a": "b", "b": "a"}
FECS = ("llfec", "kp4")
PROFILES = ("native", "roce")
TX_SIDE = 74  # first, place, trailer
CTL_BITS = 74  # valid, place, the set
EV_BITS = 31  # segments lost, events
FEC_BITS = 6  # failed, symbols corrected


@dataclass(frozen=True)
class Shape:
    """Parameters of the bench."""

    data_w: int
    lanes_a: int
    lanes_b: int

    @staticmethod
    def of(ctx: RunContext) -> Shape:
        """The design of a run."""
        lanes = ctx.param("LANES", 1)
        return Shape(ctx.param("DATA_W", 512), lanes, ctx.param("LANES_B", lanes))

    def lanes(self, end: str) -> int:
        """Virtual lanes of an end."""
        return self.lanes_a if end == "a" else self.lanes_b

    @property
    def bb(self) -> int:
        """Bytes of a beat."""
        return self.data_w // 8

    @property
    def rate(self) -> int:
        """Bytes of the wire in a cycle."""
        return spec().integer("link.rate_bytes") * self.data_w // 512

    @property
    def segment(self) -> int:
        """Beats of a whole segment."""
        return spec().integer("link.segment_bytes") // self.bb

    @property
    def max_beats(self) -> int:
        """Beats of a largest frame."""
        return -(-spec().integer("frame.max_beats") * 64 // self.bb)

    @property
    def largest(self) -> int:
        """Bytes of a largest frame."""
        return spec().integer("frame.max_beats") * 64

    @property
    def axis(self) -> StreamFormat:
        """Frames; the side band is tuser."""
        return StreamFormat(data_bytes=self.bb)

    @property
    def tx(self) -> StreamFormat:
        """Beats on the cable; the side band is {first, place, trailer}."""
        return StreamFormat(data_bytes=self.bb, side_bits=TX_SIDE)


def phy_cycles(fec: str) -> tuple[int, int]:
    """Cycles of the transmit and of the receive side of a PHY."""
    period = float(spec().value("clock.period_ns"))
    parts = (("tx_cdc", "tx_pcs", "tx_serdes"), ("rx_serdes", "rx_pcs", "rx_fec", "rx_cdc"))
    tx, rx = (ceil(sum(float(spec().value(f"phy.{fec}.{p}")) for p in side) / period) for side in parts)
    return tx, rx


def cable_cycles(metres: float) -> int:
    """Cycles of one direction of a fibre."""
    return max(1, ceil(metres * float(spec().value("cable.ns_per_m_fibre")) / float(spec().value("clock.period_ns"))))
