# SPDX-License-Identifier: Apache-2.0
"""Phases of the NIC's tests."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from models import wqe
from models.memory import MemoryTiming
from models.protocol import WQE
from tb.common.phase import stalls
from tb.common.uvm import PhaseItem, PhaseSequence
from tb.fabric import layout
from tb.fabric.experiment import Message, memory_timing
from tb.fabric.layout import Place
from tb.nic.faults import CASES
from tb.nic.scene import QUICK, Scene

TARGETS = 0x18_0000  # incoming data lie here, away from what the NIC itself sends
KINDS = (WQE.WRITE, WQE.WRITE_IMM, WQE.SEND, WQE.SEND_IMM)


class Smoke(PhaseSequence):
    """One message out (inline with the store, then from memory) and one in; natively, then in RoCE."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Format ``index``."""
        s = Scene(f"smoke{index}", roce=bool(index))
        s.messages = [
            Message(rng.bytes(40), 0x40, at=40, inline=True, blueflame=True),
            Message(rng.bytes(1500), 0x1000, WQE.SEND, at=80, source=0x333),
        ]
        s.arrives(Message(rng.bytes(1100), TARGETS + 5, at=10))
        s.arrives(Message(rng.bytes(77), TARGETS + 0x2000, WQE.SEND_IMM, at=11, imm=0xABCD))
        s.ack(s.own_packets() - 1, 900)
        return s.item()


class Crafted(PhaseSequence):
    """Every kind of message both ways, lengths around pads and beats; by scapy and tshark, both formats."""

    phases = 2
    lengths = (0, 1, 2, 3, 4, 61, 64, 65, 130, 1024, 1027, 2050)

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Format ``index``."""
        s = Scene(f"crafted{index}", roce=bool(index))
        at = 40
        for i, size in enumerate(self.lengths):
            op = KINDS[(i + index) % 4]
            source, target = i * 0x1000 + i, TARGETS + i * 0x1000 + 3 * i
            where = Place.GPU if i % 3 == 0 else Place.HOST
            m = Message(
                rng.bytes(size), target, op, at, source, where, where, inline=size < 100 and i % 2 == 0,
                blueflame=i in (0, 2),
                imm=int(rng.integers(1 << 32)),
            )  # fmt: skip
            s.messages.append(m)
            s.arrives(replace(m, op=KINDS[(i + 1) % 4], payload=rng.bytes(size)))
            at += 60 + size // 20
        s.ack(s.own_packets() - 1, at + 600)
        s.info["tshark"] = True
        return s.item()


def slow(rng: np.random.Generator) -> MemoryTiming:
    """Delays of a host path, or short ones, with jitter."""
    timing = memory_timing(str(rng.choice(["pcie", "d2d"]))) if rng.random() < 0.5 else QUICK
    jitter = {"rd_jitter": int(rng.integers(0, 60)), "wr_jitter": int(rng.integers(0, 60))}
    seed = int(rng.integers(1, 1 << 31))
    return replace(timing, host=replace(timing.host, **jitter), gpu=replace(timing.gpu, **jitter), seed=seed)


class RandomTraffic(PhaseSequence):
    """The host posts and the peer sends at once, any kind, size, alignment; counters near their wraps."""

    phases = 4
    count = 8
    budget = 3000
    corners = True

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Phase ``index``; odd ones are RoCE."""
        back = [int(x) for x in rng.integers(0, 9, 7)]
        me = replace(
            layout.A, psn=0xFFFFFF - back[0], msn=0xFFFFFF - back[1], send_index=0xFFFF - back[2],
            recv_index=0xFFFF - back[3], cq_index=0xFFFFFF - back[4], send_log=int(rng.integers(5, 8)), recv_log=4,
            cq_log=5, gpu_ring=bool(rng.random() < 0.3),
        )  # fmt: skip
        peer = replace(layout.B, psn=0xFFFFFF - back[5])
        s = Scene(f"random{index}", bool(index % 2), (1, 2, 4, 5)[index % 4], me, peer, slow(rng))
        if index % 4 >= 2:
            s.ready = {channel: stalls(rng, 0.2) for channel in ("ar", "aw", "w")}
        at = {True: 60, False: 20}
        used = {True: 0, False: TARGETS}
        sent = 0
        for i in range(2 * self.count):
            own = i % 2 == 0
            m = self.message(rng, at[own], used[own])
            if self.corners and i // 2 < len(KINDS):
                m = self.corner(rng, m, i // 2, s.mtu, index)
            used[own] = (m.source if own else m.target) + len(m.payload)
            at[own] += int(rng.integers(1, 400))
            if own:
                s.messages.append(replace(m, ring_bell=m.ring_bell or i == 2 * self.count - 2))
                # an answer to what has not left yet is a ghost and changes nothing
                sent = s.own_packets()
                s.ack(sent - 1, m.at + int(rng.integers(200, 3000)))
            else:
                s.arrives(m)
        s.ack(sent - 1, max(at.values()) + (6000 if s.timing.host.rd_latency > 100 else 2500))
        return s.item()

    def message(self, rng: np.random.Generator, at: int, used: int) -> Message:
        """A message whose data lie behind byte ``used``."""
        op = int(rng.choice(KINDS))
        kind = rng.integers(3)
        size = int(
            rng.integers(0, 65) if kind == 0 else rng.choice([0, 1, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025])
            if kind == 1 else rng.integers(0, self.budget)
        )  # fmt: skip
        offset = used + int(rng.integers(0, 64))
        return Message(
            rng.bytes(size), offset, op, at, offset, Place.GPU if rng.random() < 0.4 else Place.HOST,
            Place.GPU if rng.random() < 0.5 else Place.HOST, bool(size <= wqe.max_inline(op) and rng.random() < 0.5),
            bool(rng.random() < 0.4), bool(rng.random() < 0.8), bool(rng.random() < 0.7), int(rng.integers(1 << 32)),
        )  # fmt: skip

    @staticmethod
    def corner(rng: np.random.Generator, m: Message, which: int, mtu: int, index: int) -> Message:
        """``m`` as one of each kind: around the path MTU, from the ends of a line, fetched behind a BlueFlame store."""
        size, shift = ((mtu - 1, 1), (2 * mtu + 1, 63), (2 * mtu + 1, 0), (mtu + 1, 63))[which]
        offset = (m.source + 63 & -64) + shift
        place = Place.GPU if index & 2 else Place.HOST
        return replace(
            m, payload=rng.bytes(size), op=KINDS[which], source=offset, target=offset, place=place, inline=False,
            blueflame=(which + index) % 2 == 1, ring_bell=True,
        )  # fmt: skip


class SharedPort(PhaseSequence):
    """More WQEs than the doorbell holds (16 blocks) and their payload: both want the slow read port, for long.

    With no more WQEs than that they are fetched before the first payload read waits, and the two never meet.
    """

    phases = 2
    count, first = 40, 8  # WQEs, and those behind the first doorbell
    gap = 170  # from the first doorbell to the second: payload is being read then

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Format ``index``."""
        s = Scene(f"shared_port{index}", bool(index), pmtu=1)
        # The merge is full for six cycles, then for five: a pointer that turns in them stands elsewhere behind the
        # five. Holes of an even number alone would hide it.
        s.ready = {"ar": [True, *[False] * 6, True, *[False] * 5]}
        for i in range(self.count):
            at = 60 + (i >= self.first) * self.gap
            bell = i in (self.first - 1, self.count - 1)
            size = int(rng.integers(300, 700))
            s.messages.append(Message(rng.bytes(size), 0x1000 * i, at=at, source=0x1000 * i + i, ring_bell=bell))
        for i in range(12):  # the receive queue's reads come between those of the payload
            s.arrives(Message(rng.bytes(40), TARGETS + 0x100 * i, WQE.SEND, at=200 + 90 * i))
        s.ack(s.own_packets() - 1, 3000)
        return s.item()


class FewMessages(RandomTraffic):
    """The same, smaller: what Icarus can run in reasonable time."""

    phases = 2
    count = 5
    budget = 1500
    corners = False


class Errors(PhaseSequence):
    """Every case of tb/nic/faults.py, natively and in RoCE by turns; what the wire finds, in both."""

    cases = [*((c, i % 2 == 1) for i, c in enumerate(CASES)), *((c, i % 2 == 0) for i, c in enumerate(CASES[:4]))]
    phases = len(cases)

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Case ``index``."""
        make, roce = self.cases[index]
        return make(roce).item()
