# SPDX-License-Identifier: Apache-2.0
"""Buffers and rings of rdma on both sides of a multiple of 2^32, where an address carries into its upper half."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from models.protocol import WQE
from tb.common.uvm import PhaseItem, PhaseSequence
from tb.rdma import oracle
from tb.rdma.scene import GPU_BYTES, GPU_KEY, HOST_DATA, HOST_KEY, REGIONS, Receive, Scene

EDGES = (5 << 32, 1 << 56)  # the second one carries through 24 bits of the upper half
BELOW = 0x1_0000  # bytes of the GPU window before the edge
WHAT = ("source", "write", "send", "send completions", "receive completions", "receives")
RING = 4  # log2 of the entries of a ring, each of which is used once


class AddressCarry(PhaseSequence):
    """One thing that lies on both sides of the edge, at each edge."""

    phases = len(WHAT) * len(EDGES)

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """``WHAT[index // 2]`` at ``EDGES[index % 2]``."""
        what, edge = WHAT[index // len(EDGES)], EDGES[index % len(EDGES)]
        s = Scene(f"{what.replace(' ', '_')}{index % len(EDGES)}", far=edge - BELOW)
        s.cfg.pmtu = 2
        s.regions = [replace(m, base=s.far) if m.key == GPU_KEY else m for m in REGIONS]
        s.info["check"] = oracle.all_good
        match what:
            case "source":
                self.sources(s, edge, rng)
            case "write" | "send":
                self.targets(s, edge, rng, send=what == "send")
            case "send completions":
                s.cfg.scq_base, s.cfg.scq_log = edge - 64 * int(rng.integers(3, 13)), RING
                s.cfg.scq_pi0 = 0xFFFFF0 + int(rng.integers(16))
                for i in range(1 << RING):
                    s.wr(bytes([i]) * 8, cycle=1 + 20 * i)
                    s.ack(i, cycle=300 + 20 * i)
            case _:
                self.receives(s, edge, rng, ring=what == "receives")
        return s.item()

    @staticmethod
    def ranges(edge: int, mtu: int, rng: np.random.Generator) -> list[tuple[int, int]]:
        """(address, size): the edge within a packet and between two, at several packets; up to it, and from it on."""
        starts = [mtu // 2, mtu, mtu + 1, 2 * mtu, 2 * mtu + 63, 3 * mtu - 1, 64, 1]
        starts += [int(x) for x in rng.integers(1, 4 * mtu, 4)]
        crossing = [(edge - n, n + int(rng.integers(1, 3 * mtu))) for n in starts]
        return [*crossing, (edge - 100, 100), (edge, 700)]

    def sources(self, s: Scene, edge: int, rng: np.random.Generator) -> None:
        """Requests read across the edge."""
        s.image[s.far] = rng.bytes(2 * BELOW)
        packets = 0
        for i, (at, size) in enumerate(self.ranges(edge, s.mtu, rng)):
            s.wr(size, laddr=at, lkey=GPU_KEY, opcode=(WQE.WRITE, WQE.SEND)[i % 2], cycle=1 + 10 * i)
            packets += -(-size // s.mtu)
        s.ack(packets - 1, cycle=3000)

    def targets(self, s: Scene, edge: int, rng: np.random.Generator, *, send: bool) -> None:
        """WRITEs, or SENDs into receive buffers, across the edge."""
        ranges = self.ranges(edge, s.mtu, rng)
        s.receives = [Receive(at, size, GPU_KEY) for at, size in ranges] if send else []
        psn = 0
        for i, (at, size) in enumerate(ranges):
            kind = "SEND" if send else "WRITE"
            psn = s.message(kind, psn, rng.bytes(size), va=at, rkey=GPU_KEY, cycle=200 * i + 1)

    def receives(self, s: Scene, edge: int, rng: np.random.Generator, *, ring: bool) -> None:
        """The receive ring, or else the ring of its completions, on both sides of the edge."""
        s.cfg.rcq_log = s.cfg.rq_log = RING
        if ring:
            s.cfg.rq_base = edge - 64 * int(rng.integers(1, 4))
        else:
            s.cfg.rcq_base = edge - 64 * int(rng.integers(3, 13))
            s.cfg.rcq_pi0 = 0xFFFFF0 + int(rng.integers(16))
        count = 1 << RING
        s.receives = [Receive(HOST_DATA + 0x100 * i, 0x100, HOST_KEY) for i in range(count)]
        psn = 0
        for i in range(count):
            psn = s.message("SEND", psn, rng.bytes(1 + i), cycle=1 + 100 * i)


assert 2 * BELOW <= GPU_BYTES
