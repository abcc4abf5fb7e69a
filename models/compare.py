# SPDX-License-Identifier: Apache-2.0
"""What `make compare` sends through both profiles: messages of a size, alone or as a stream. Sizes are bytes."""

from __future__ import annotations

from dataclasses import dataclass

from models import wqe
from models.protocol import WQE
from models.spec import spec

LOADS = ("alone", "half", "full")
LARGEST = 1 << 16  # bytes of a message
STREAM = 96 * 1024  # bytes of a stream, but not fewer messages than FEWEST nor more than MOST
FEWEST, MOST = 4, 48
HEADERS = 78  # bytes of a RoCE frame beside its payload: Ethernet 14, IPv4 20, UDP 8, BTH 12, RETH 16, ICRC 4, FCS 4


@dataclass(frozen=True)
class Case:
    """Messages of ``size`` bytes: one ``alone``, or a stream at about ``half`` or nearly ``full`` rate."""

    size: int
    load: str

    @property
    def name(self) -> str:
        """As it stands in the figures' names."""
        return f"{self.size}B_{self.load}"

    @property
    def messages(self) -> int:
        """How many are sent."""
        return 1 if self.load == "alone" else max(FEWEST, min(MOST, STREAM // self.size))

    @property
    def inline(self) -> bool:
        """The payload goes with the store; else the NIC fetches it and the WQE."""
        return self.size <= wqe.max_inline(WQE.WRITE)

    def interval(self, host: str) -> int:
        """Cycles from a message to the next. Full rate is that of the wire, or what a NIC takes where that is less; the
        same for both profiles: that of RoCE, whose frames are the larger ones."""
        s = spec()
        frames = -(-self.size // s.integer("frame.max_mtu"))
        wire = (self.size + frames * (HEADERS + s.integer("link.overhead_roce"))) / s.value("link.rate_bytes")
        fetch = s.cycles(f"host.{host}.read_rtt") / s.integer("doorbell.fetch_blocks")  # a block each, all under way
        nic = s.value("compare.nic_interval") if self.inline else fetch
        return round(max(wire, nic) / (s.value(f"compare.{self.load}_percent") / 100))


REFERENCE = Case(64, "alone")
"""The case against which a published hop is held: it is run whatever was chosen."""


def cases(sizes: str, loads: str) -> list[Case]:
    """Every size at every load, as the options have them (with commas); the reference first."""
    chosen = [Case(int(size), load) for size in sizes.split(",") for load in loads.split(",")]
    return [REFERENCE, *(c for c in chosen if c != REFERENCE)]
