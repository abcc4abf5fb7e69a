# SPDX-License-Identifier: Apache-2.0
"""Stimulus of rdma without errors: every kind of message by length and alignment, and random traffic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from models.memory import MemoryTiming, WindowTiming
from models.protocol import OP, SYN, WQE
from models.spec import spec
from tb.common.phase import stalls
from tb.common.uvm import PhaseItem, PhaseRecords, PhaseSequence
from tb.rdma import faults, oracle, requester_faults, responder_faults
from tb.rdma.scene import (
    GPU_DATA,
    GPU_KEY,
    HOLE_KEY,
    HOST_DATA,
    HOST_KEY,
    READ_KEY,
    Receive,
    Scene,
    pattern,
)  # fmt: skip

SOURCE = 0x4_0000  # offset of what is read, in both data regions; below it is what is written
KINDS = (WQE.WRITE, WQE.WRITE_IMM, WQE.SEND, WQE.SEND_IMM)
MTUS = (256, 512, 1024, 2048, 4096)


def place(rng: np.random.Generator, size: int, low: int, room: int) -> tuple[int, int]:
    """(address, key) of ``size`` bytes in one of the data regions, ``low`` above its base, often near 4 KiB."""
    base, key = ((HOST_DATA, HOST_KEY), (GPU_DATA, GPU_KEY))[int(rng.integers(2))]
    at = int(rng.integers(0, room - size))
    if rng.random() < 0.5 and room > 8192 + size:
        at = max(0, min(room - size, (at & -4096) + int(rng.integers(-130, 130))))
    if rng.random() < 0.2:
        at &= -64
    return base + low + at, key


def page_edges(base: int) -> list[tuple[int, int]]:
    """(address, size): ranges within a 4 KiB page, up to its end and across it, from each kind of offset in a line."""
    out = []
    for i, offset in enumerate((0, 1, 17, 63)):
        end = base + 4096 * (i + 1)
        start = end - 128 + offset
        out += [(start, end - start - 5), (start, end - start), (start, end - start + 100)]
    return out


def random_timing(rng: np.random.Generator, most: int = 200) -> MemoryTiming:
    """Delays of 1 to ``most`` cycles."""
    w = [
        WindowTiming(*(int(v) for v in rng.integers(1, most, 3)), *(int(v) for v in rng.integers(0, 12, 2)))
        for _ in range(2)
    ]
    return MemoryTiming(w[0], w[1], seed=int(rng.integers(1, 1 << 32)))


def sizes(mtu: int) -> list[int]:
    """Lengths around every edge."""
    return [0, 1, 2, 63, 64, 65, mtu - 1, mtu, mtu + 1, 2 * mtu - 1, 2 * mtu, 2 * mtu + 1, 3 * mtu + 17]


class Smoke(PhaseSequence):
    """A few messages each way."""

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Inline and fetched requests, WRITE and SEND from the peer, acknowledgements."""
        s = Scene("smoke")
        s.image[HOST_DATA + SOURCE] = pattern(20_000)
        s.wr(b"12345678")
        s.wr(3000, laddr=HOST_DATA + SOURCE + 13, opcode=WQE.WRITE_IMM, imm=0xA1B2C3D4)
        s.wr(64, opcode=WQE.SEND, laddr=HOST_DATA + SOURCE)
        s.receives = [Receive(HOST_DATA + 0x1003, 5000), Receive(HOST_DATA + 0x3000, 100)]
        at = s.message("WRITE", 0, pattern(2500, 1), va=HOST_DATA + 0x4FF9)
        at = s.message("SEND", at, pattern(1500, 2))
        s.message("WRITE", at, pattern(8, 3), va=HOST_DATA + 0x6000, imm=0x11223344)
        s.ack(4, cycle=400)
        s.info["check"] = oracle.all_good
        return s.item()


class Requests(PhaseSequence):
    """Every kind, length around the edges and many alignments, read from memory or inline; one path MTU a phase."""

    phases = 5

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """60 requests; the acknowledgements come late and coalesced."""
        s = Scene(f"requests{MTUS[index]}")
        s.cfg.pmtu = index + 1
        for base in (HOST_DATA, GPU_DATA):
            s.image[base + SOURCE] = rng.bytes(0x2_0000)
        todo = [(k, n) for n in sizes(s.mtu) for k in KINDS]
        psn = 0
        for i, (kind, n) in enumerate(todo):
            addr, key = place(rng, n, SOURCE, 0x2_0000)
            given: dict[str, Any] = {"opcode": kind, "imm": int(rng.integers(1 << 32)), "se": int(rng.integers(2))}
            given |= {"raddr": int(rng.integers(1 << 63)), "rkey": int(rng.integers(1 << 32)), "cycle": 1 + i}
            given["signaled"] = int(i % 3 != 0)
            if n <= 220 and rng.random() < 0.5:
                s.wr(rng.bytes(n), **given)
            else:
                s.wr(n, laddr=addr, lkey=key, **given)
            psn += max(1, -(-n // s.mtu))
            if i % 13 == 0:
                s.wr(0, opcode=WQE.NOP, cycle=1 + i)
        for at, n in page_edges(HOST_DATA + SOURCE) + page_edges(GPU_DATA + SOURCE) if index == 3 else ():
            s.wr(n, laddr=at, lkey=GPU_KEY if at >= GPU_DATA else HOST_KEY, signaled=0, cycle=60)
            psn += 1
        for i in range(1, 5):
            s.ack(psn * i // 4 - 1, cycle=4000 + 700 * i + index % 2 * 6000)
        s.timing = random_timing(rng)
        if index % 2:
            s.ready = {"m_pkt": stalls(rng, 0.4), "mem_ar": stalls(rng, 0.4)}
        s.quiet = 1500
        s.cfg.scq_log = 7
        s.info["check"] = oracle.all_good
        return s.item()


class Arrivals(PhaseSequence):
    """The same for the responder: every kind and length, destinations at many alignments and 4 KiB edges."""

    phases = 5

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """52 messages, frames with gaps on some phases, the memory slow and stalling on others."""
        s = Scene(f"arrivals{MTUS[index]}")
        s.cfg.pmtu = index + 1
        s.timing = random_timing(rng)
        todo = [
            ("SEND" if k in oracle.SENDS else "WRITE", k in oracle.WITH_IMM, n) for n in sizes(s.mtu) for k in KINDS
        ]
        for kind, imm, n in todo:
            if kind == "SEND" or imm:
                addr, key = place(rng, n, 0, SOURCE)
                s.receives.append(Receive(addr, n + int(rng.integers(0, 3)), key))
        s.cfg.rq_log = 6
        psn = 0
        for i, (kind, imm, n) in enumerate(todo):
            va, rkey = place(rng, n, 0, SOURCE)
            psn = s.message(
                kind, psn, rng.bytes(n), cycle=1 + 3 * i, gaps=int(rng.integers(0, 1 + index)), va=va, rkey=rkey,
                imm=int(rng.integers(1 << 32)) if imm else None, se=int(rng.integers(2)),
                ackreq=bool(rng.random() < 0.7),
            )  # fmt: skip
        for at, n in page_edges(HOST_DATA) + page_edges(GPU_DATA) if index == 3 else ():
            psn = s.message("WRITE", psn, rng.bytes(n), cycle=200, va=at, rkey=GPU_KEY if at >= GPU_DATA else HOST_KEY)
        s.cfg.rcq_log = 7
        if index % 2 == 0:
            s.ready = {name: stalls(rng) for name in ("m_pkt", "mem_aw", "mem_w", "mem_ar")}
        s.info["check"] = oracle.all_good
        return s.item()


class RandomTraffic(PhaseSequence):
    """Both directions at random: gaps, stalls, delays, acknowledgements early, late, repeated, ghosts."""

    phases = 6

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Counters start just before their wraps."""
        s = Scene(f"random{index}")
        c = s.cfg
        c.pmtu = int(rng.integers(1, 4))
        c.sq_psn, c.rq_psn, c.msn0 = ((1 << 24) - int(v) for v in rng.integers(1, 40, 3))
        c.rq_ci0 = 0x10000 - int(rng.integers(1, 10))
        # before the index wraps, or before a pass over the ring ends: the owner bit alone changes
        wrap = (1 << 24, 64 * int(rng.integers(1, 1 << 18)))[index % 2]
        c.scq_pi0, c.rcq_pi0 = (wrap - int(v) for v in rng.integers(1, 12, 2))
        c.rq_log = c.scq_log = c.rcq_log = 6
        s.wqe_index = 0x10000 - int(rng.integers(1, 30))
        s.timing = random_timing(rng, (20, 200, 500)[index % 3])
        for base in (HOST_DATA, GPU_DATA):
            s.image[base + SOURCE] = rng.bytes(0x2_0000)
        psn, cycle = 0, 1
        for _ in range(40):
            n = self.size(rng, s.mtu)
            cycle += int(rng.integers(0, 60))
            given: dict[str, Any] = {"opcode": KINDS[int(rng.integers(4))], "imm": int(rng.integers(1 << 32))}
            given |= {"se": int(rng.integers(2)), "signaled": int(rng.integers(2)), "cycle": cycle}
            if rng.random() < 0.1:
                s.wr(0, opcode=WQE.NOP, cycle=cycle, signaled=given["signaled"])
            elif n <= 220 and rng.random() < 0.6:
                s.wr(rng.bytes(n), **given)
                psn += 1
            else:
                addr, key = place(rng, n, SOURCE, 0x2_0000)
                s.wr(n, laddr=addr, lkey=key, **given)
                psn += max(1, -(-n // s.mtu))
        self.peer(s, rng, psn)
        s.ready = {n: stalls(rng, 0.3) for n in ("m_pkt", "mem_aw", "mem_w", "mem_ar") if rng.random() < 0.7}
        s.quiet = 2500
        s.info["check"] = oracle.all_good
        return s.item()

    @staticmethod
    def size(rng: np.random.Generator, mtu: int) -> int:
        """A length: small, around an edge, or any."""
        if rng.random() < 0.4:
            return int(rng.integers(0, 130))
        if rng.random() < 0.5:
            edges = sizes(mtu)
            return edges[int(rng.integers(len(edges)))]
        return int(rng.integers(0, 5 * mtu))

    def peer(self, s: Scene, rng: np.random.Generator, sent: int) -> None:
        """What the peer sends: its messages, with acknowledgements between them."""
        plan = []
        for _ in range(40):
            send, imm = bool(rng.integers(2)), bool(rng.random() < 0.3)
            n = self.size(rng, s.mtu)
            plan.append((send, imm, n))
            if send or imm:
                addr, key = place(rng, n, 0, SOURCE)
                s.receives.append(Receive(addr, n + int(rng.integers(0, 2)), key))
        psn, cycle = 0, 1
        for send, imm, n in plan:
            va, rkey = place(rng, n, 0, SOURCE)
            cycle += int(rng.integers(0, 120))
            first = psn
            psn = s.message(
                "SEND" if send else "WRITE", psn, rng.bytes(n), cycle=cycle, gaps=int(rng.integers(0, 3)), va=va,
                rkey=rkey, imm=int(rng.integers(1 << 32)) if imm else None, ackreq=bool(rng.random() < 0.6),
            )  # fmt: skip
            if rng.random() < 0.2:  # the peer sends it again: acknowledged, not executed
                s.message("SEND" if send else "WRITE", first, bytes(n), cycle=cycle, va=va, rkey=rkey, expected=False)
            if rng.random() < 0.4:  # ahead of what was sent, or not: some are ghosts
                s.ack(int(rng.integers(-3, sent + 5)), cycle=cycle)
            if rng.random() < 0.1:
                s.ack(int(rng.integers(-9, 0)), syndrome=SYN.NAK_ACCESS, cycle=cycle)
        s.ack(sent - 1, cycle=max(11_000, cycle))


class RequesterErrors(PhaseSequence):
    """One phase for each directed case."""

    modules = (requester_faults, responder_faults)  # importing them fills the lists
    cases = faults.REQUESTER
    phases = len(cases)

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """The case."""
        return list(self.cases.values())[index]().item()


class ResponderErrors(RequesterErrors):
    """The responder's cases."""

    cases = faults.RESPONDER
    phases = len(cases)


class Latency(PhaseSequence):
    """The README's latency table, read off the records without the model: one thing at a time, nothing waiting."""

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """A request from memory, an inline one, a WRITE and a SEND from the peer, an acknowledgement."""
        s = Scene("latency")
        s.image[HOST_DATA + SOURCE] = pattern(256)
        s.receives = [Receive(HOST_DATA, 64)]
        s.wr(64, laddr=HOST_DATA + SOURCE, cycle=10)
        s.wr(b"inline", cycle=210, signaled=0)
        s.message("WRITE", 0, pattern(64, 1), va=HOST_DATA + 512, cycle=410)
        s.message("SEND", 1, pattern(64, 2), cycle=610)
        s.ack(0, cycle=810)
        s.ack(1, cycle=1010)
        s.info |= {"check": self.check, "latency_rows": self.rows}
        return s.item()

    @staticmethod
    def rows(phase: PhaseRecords) -> list[tuple[str, int, int, int]]:
        """(what, cycle of the one transfer, of the other, sum of its parts in ``latency.rdma``)."""
        late = {n: spec().cycles(f"latency.rdma.{n}") for n in spec().section("latency.rdma")}
        out, ar, aw = phase.beats["m_pkt"]["cycle"], phase.rows["mem_ar.rec"], phase.rows["mem_aw.rec"]
        w, r, b = phase.rows["mem_w.rec"]["cycle"], phase.rows["mem_r.rec"]["cycle"], phase.rows["mem_b.rec"]
        wr, pkt = phase.beats["s_wr"]["cycle"], phase.beats["s_pkt"]["cycle"]
        packet = late["intake"] + late["segment"] + late["packet"]
        decided = late["receive"] + late["check"]
        rows = [
            ("request from memory to its read", wr[0], ar["cycle"][0], packet + late["address"]),
            ("read data to packet", r[0], out[0], late["flush"] + late["whole"] + late["emit"]),
            ("inline request to packet", wr[1], out[1], packet + late["emit"]),
            ("WRITE to write address", pkt[0], aw["cycle"][0], decided + late["decide"] + late["write"]),
            ("WRITE to write data", pkt[0], w[0], decided + late["decide"] + late["write"] + 1),
            ("write response to ACK", b["cycle"][0], out[2], late["retire"] + late["answer"] + late["emit"]),
            ("SEND to the receive queue's read", pkt[1], ar["cycle"][1], decided + late["address"]),
            ("write response to completion", b["cycle"][1], aw["cycle"][2], 1 + 2 * late["complete"] + late["write"]),
            ("ACK to completion", pkt[2], aw["cycle"][3], decided + 1 + 2 * late["complete"] + late["write"]),
        ]
        return [(what, int(a), int(b), n) for what, a, b, n in rows]

    @classmethod
    def check(cls, phase: PhaseRecords) -> list[str]:
        """Distances between recorded transfers against the table."""
        return [f"{what}: {b - a} cycles, wanted {n}" for what, a, b, n in cls.rows(phase) if b - a != n]


class RandomFaults(PhaseSequence):
    """Short phases of packets and requests of which some are wrong in a random way; only the model judges."""

    phases = 24

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Half of the phases go on for long because few packets are wrong."""
        s = Scene(f"faults{index}")
        c = s.cfg
        c.pmtu = int(rng.integers(1, 4))
        c.sq_psn, c.rq_psn = ((1 << 24) - int(v) for v in rng.integers(1, 12, 2))
        c.ack_timeout = int(rng.random() < 0.2)
        s.timing = random_timing(rng, (8, 60, 250)[index % 3])
        s.image[HOST_DATA + SOURCE] = rng.bytes(0x8000)
        keys = (HOST_KEY, GPU_KEY, READ_KEY, HOLE_KEY, 0xBAD)
        wrong = (0.03, 0.2)[index % 2]

        def key(good: int) -> int:
            return good if rng.random() > wrong else keys[int(rng.integers(5))]

        for _ in range(int(rng.integers(0, 9))):
            addr, good = place(rng, 3000, 0, SOURCE)
            s.receives.append(Receive(addr, int(rng.integers(0, 3000)), key(good)))
        psn = 0
        for i in range(25):
            op = KINDS[int(rng.integers(4))] if rng.random() > wrong / 4 else int(rng.integers(0x30))
            n = RandomTraffic.size(rng, s.mtu) if rng.random() > wrong / 4 else int(rng.integers(1 << 31, 1 << 32))
            given: dict[str, Any] = {"opcode": op, "signaled": int(rng.integers(2)), "cycle": 1 + 40 * i}
            if n < 200:
                s.wr(rng.bytes(n), **given)
            else:
                s.wr(n, laddr=HOST_DATA + SOURCE + int(rng.integers(0, 9000)), lkey=key(HOST_KEY), **given)
            psn += max(1, -(-n // s.mtu)) if n < 1 << 31 else 0
        at, cycle, left = 0, 1, 0
        for _ in range(60):
            cycle += int(rng.integers(0, 80))
            if rng.random() < 0.25:
                codes = (SYN.RNR | 3, SYN.NAK_PSN, SYN.NAK_INVALID, SYN.NAK_ACCESS, SYN.NAK_OP, 0x45, 0x6F, 0x9F)
                code = SYN.ACK_NO_CREDIT if rng.random() > wrong / 4 else codes[int(rng.integers(8))]
                s.ack(int(rng.integers(-2, max(1, psn))), int(code), cycle=cycle)
                continue
            left = self.arrive(s, rng, key, wrong, at, left, cycle)
            at += int(rng.random() > wrong)
        s.ready = {n: stalls(rng, 0.3) for n in ("m_pkt", "mem_aw", "mem_w", "mem_ar") if rng.random() < 0.5}
        s.quiet = 9000 if c.ack_timeout else 1500
        return s.item()

    @staticmethod
    def arrive(
        s: Scene, rng: np.random.Generator, key: Callable[[int], int], wrong: float, at: int, left: int, cycle: int
    ) -> int:
        """A packet that mostly fits what came before; returns what is left of a WRITE's length."""
        addr, good = place(rng, 4 * s.mtu, 0, SOURCE)
        if left > 0:
            last = left <= s.mtu
            op = OP.WRITE_LAST if last else OP.WRITE_MIDDLE
            n, left = min(left, s.mtu), max(0, left - s.mtu)
            fields: dict[str, int] = {}
        else:
            n = RandomTraffic.size(rng, s.mtu) % (3 * s.mtu)
            send = n <= s.mtu and rng.random() < 0.4
            op = OP.SEND_ONLY if send else OP.WRITE_ONLY if n <= s.mtu else OP.WRITE_FIRST
            if n <= s.mtu and rng.random() < 0.2:
                op = OP(op + 1)
            fields = {} if send else {"va": addr, "rkey": key(good), "dmalen": n, "imm": 7}
            n, left = min(n, s.mtu), max(0, n - s.mtu)
        code = int(op)
        if rng.random() < wrong / 3:
            code = int(rng.integers(0x20))
        if rng.random() < wrong / 3:
            n = int(rng.integers(0, 4097))
        if rng.random() < wrong / 3:
            fields["dest_qp"] = int(rng.integers(4))
        psn = at if rng.random() > wrong else at + int(rng.integers(-4, 5))
        given = {"ackreq": int(rng.random() < 0.6), "se": int(rng.integers(2)), "cycle": cycle} | fields
        if OP.READ_RESP_FIRST <= code <= OP.ATOMIC_ACK:
            given["syndrome"] = int(SYN.ACK_NO_CREDIT)
        s.packet(code, psn, rng.bytes(n), **given)
        return left
