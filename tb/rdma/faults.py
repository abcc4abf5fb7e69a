# SPDX-License-Identifier: Apache-2.0
"""Directed cases of rdma's errors. Each gives its stimulus and what must be seen: acknowledge packets that leave
(syndrome, PSN offset to the first expected, completed messages), completions of both queues, state.

Rule numbers are those of rtl/rdma/README.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from models.cqe import Cqe
from models.memory import Poke
from models.protocol import CQE_SYN, OP, QP, SYN, WQE, Mr
from models.rdma_parts import M24
from tb.common.uvm import PhaseRecords
from tb.rdma import oracle
from tb.rdma.env import last_status
from tb.rdma.scene import (
    DEFAULT,
    HOLE,
    HOLE_KEY,
    HOST_BYTES,
    HOST_DATA,
    HOST_KEY,
    READ_KEY,
    RECORD,
    REGIONS,
    Receive,
    Scene,
    pattern,
)  # fmt: skip

ACK = int(SYN.ACK_NO_CREDIT)
RNR = SYN.RNR | DEFAULT.min_rnr
FLUSH = int(CQE_SYN.WR_FLUSH)
Case = Callable[[], Scene]
REQUESTER: dict[str, Case] = {}
RESPONDER: dict[str, Case] = {}


def case(group: dict[str, Case]) -> Callable[[Case], Case]:
    """Register a case in ``group``."""

    def register(make: Case) -> Case:
        group[make.__name__] = make
        return make

    return register


def expect(
    scene: Scene, *, answers: Sequence[tuple[int, int, int]] | None = (), sends: Sequence[tuple[int, int]] = (),
    receives: Sequence[tuple[int, int]] = (), sent: Sequence[tuple[int, int]] | None = None, error: bool = False,
    memory: dict[int, bytes] | None = None, counters: dict[str, int] | None = None, e_psn: int | None = None,
) -> Scene:  # fmt: skip
    """What must be seen.

    ``answers``: (syndrome, PSN offset, MSN offset). ``sends``: (WQE offset, syndrome). ``receives``: (WQE offset,
    syndrome). ``sent``: (opcode, PSN offset) of the request packets. None: not looked at.
    """

    def rule(phase: PhaseRecords) -> list[str]:
        c = scene.cfg
        first = scene.posted[0].wqe_index if scene.posted else 0
        seen: dict[str, Any] = {
            "send completions": [(i - first & 0xFFFF, s) for i, s in oracle.send_completions(phase, scene)],
            "receive completions": [
                (e.wqe_counter - c.rq_ci0 & 0xFFFF, syndrome(e)) for e in oracle.receive_completions(phase, scene)
            ],
            "error state": last_status(phase)["qp_state"] == QP.ERR,
        }
        want: dict[str, Any] = {
            "send completions": list(sends), "receive completions": list(receives), "error state": error,
        }  # fmt: skip
        if answers is not None:
            seen["answers"] = [(s, p - c.rq_psn & M24, m - c.msn0 & M24) for s, p, m in oracle.answers(phase)]
            want["answers"] = [(s, p & M24, m) for s, p, m in answers]
        if sent is not None:
            seen["requests sent"] = [(h.opcode, h.psn - c.sq_psn & M24) for h, _ in oracle.requests(phase)]
            want["requests sent"] = list(sent)
        if e_psn is not None:
            seen["PSN expected"] = last_status(phase)["e_psn"] - c.rq_psn & M24
            want["PSN expected"] = e_psn
        if counters:
            status = last_status(phase)
            seen |= {n: status[n] for n in counters}
            want |= counters
        if memory:
            read = oracle.reader(phase)
            seen |= {f"memory at {a:#x}": read(a, len(d)) for a, d in memory.items()}
            want |= {f"memory at {a:#x}": d for a, d in memory.items()}
        return [f"{n}: design {seen[n]}, wanted {want[n]}" for n in want if seen[n] != want[n]]

    scene.info["check"] = rule
    return scene


def syndrome(entry: Cqe) -> int:
    """Syndrome of an error entry, 0 of a good one."""
    return entry.syndrome if entry.is_error else 0


# ---- requester ------------------------------------------------------------------------------------


def _local(name: str, status: int, **fields: Any) -> Scene:
    """A good request, one that fails locally, two more: the first succeeds, the second says why, the rest flush."""
    s = Scene(name)
    s.image[HOST_DATA] = pattern(8192)
    s.wr(100, laddr=HOST_DATA, signaled=0)
    s.wr(0, opcode=WQE.NOP)
    s.wr(**({"data": 500} | fields))
    s.wr(b"after", signaled=0)
    s.wr(0, opcode=WQE.NOP, signaled=0)
    s.ack(0, cycle=600)
    sends = [(1, 0), (2, status), (3, FLUSH), (4, FLUSH)]
    return expect(s, sends=sends, sent=[(OP.WRITE_ONLY, 0)], error=True, counters={"cnt_cqes": 4})


@case(REQUESTER)
def local_key_unknown() -> Scene:
    """E01: L_Key in no entry."""
    return _local("local_key_unknown", CQE_SYN.LOC_PROT, lkey=0xDEAD)


@case(REQUESTER)
def local_one_byte_beyond() -> Scene:
    """K09: the region ends one byte before the data does."""
    return _local("local_one_byte_beyond", CQE_SYN.LOC_PROT, laddr=HOST_DATA + HOST_BYTES - 499)


@case(REQUESTER)
def local_one_byte_before() -> Scene:
    """K09: the region starts one byte after the data does."""
    return _local("local_one_byte_before", CQE_SYN.LOC_PROT, laddr=HOST_DATA - 1)


@case(REQUESTER)
def local_wraps_around() -> Scene:
    """K09: address and length do not wrap."""
    return _local("local_wraps_around", CQE_SYN.LOC_PROT, laddr=(1 << 64) - 200)


@case(REQUESTER)
def local_too_long() -> Scene:
    """Q09: 2^31 + 1 bytes."""
    return _local("local_too_long", CQE_SYN.LOC_LEN, data=(1 << 31) + 1)


@case(REQUESTER)
def local_unknown_opcode() -> Scene:
    """E02: a READ, which this slice has not."""
    return _local("local_unknown_opcode", CQE_SYN.LOC_QP_OP, opcode=0x10)


@case(REQUESTER)
def local_malformed() -> Scene:
    """E02: the doorbell block's own verdict is completed."""
    return _local("local_malformed", CQE_SYN.LOC_QP_OP, data=0, error=int(CQE_SYN.LOC_QP_OP))


@case(REQUESTER)
def local_exact_end() -> Scene:
    """K09: data that ends with the region, zero length with any key, key with read rights only: all good."""
    s = Scene("local_exact_end")
    s.image[HOST_DATA + HOST_BYTES - 500] = pattern(500)
    s.wr(500, laddr=HOST_DATA + HOST_BYTES - 500)
    s.wr(0, lkey=0xDEAD, laddr=5)
    s.wr(64, lkey=READ_KEY, laddr=HOST_DATA + HOST_BYTES - 500)
    s.ack(2, cycle=500)
    return expect(s, sends=[(0, 0), (1, 0), (2, 0)], sent=[(OP.WRITE_ONLY, i) for i in range(3)])


@case(REQUESTER)
def read_error() -> Scene:
    """Q18: memory fails under the second of three packets: no LAST leaves; the WQE before it succeeds."""
    s = Scene("read_error")
    s.regions[3] = replace(REGIONS[3], base=0x20_0000 - 1024)  # the host window ends at 2 MiB
    s.image[0x20_0000 - 1024] = pattern(1024)
    s.wr(b"first")
    s.wr(3000, lkey=HOLE_KEY, laddr=0x20_0000 - 1024, signaled=0)
    s.wr(b"behind")
    s.ack(0, cycle=900)
    return expect(
        s, sends=[(0, 0), (1, CQE_SYN.LOC_PROT), (2, FLUSH)], sent=[(OP.WRITE_ONLY, 0), (OP.WRITE_FIRST, 1)],
        error=True,
    )  # fmt: skip


def _nak(name: str, code: int, status: int, *, opcode: int = OP.ACKNOWLEDGE) -> Scene:
    """Four messages of two packets; the response comes at PSN 3, inside the second: A23, E04."""
    s = Scene(name)
    s.image[HOST_DATA] = pattern(8192)
    for i in range(4):
        s.wr(1500, laddr=HOST_DATA + i * 7, signaled=int(i != 1))
    s.packet(opcode, 3, cycle=500, syndrome=code)
    s.ack(7, cycle=505)
    s.wr(b"later", cycle=700)
    s.message("WRITE", 0, b"peer", cycle=800, expected=False)
    sends = [(0, 0), (1, status), (2, FLUSH), (3, FLUSH), (4, FLUSH)]
    return expect(s, sends=sends, error=True, counters={"cnt_drop_state": 2}, memory={HOST_DATA: pattern(8192)[:8]})


@case(REQUESTER)
def nak_sequence() -> Scene:
    """A18, T08: NAK 0x60 with no retry left."""
    return _nak("nak_sequence", SYN.NAK_PSN, CQE_SYN.RETRY_EXC)


@case(REQUESTER)
def nak_invalid() -> Scene:
    """A20."""
    return _nak("nak_invalid", SYN.NAK_INVALID, CQE_SYN.REM_INV_REQ)


@case(REQUESTER)
def nak_access() -> Scene:
    """A21."""
    return _nak("nak_access", SYN.NAK_ACCESS, CQE_SYN.REM_ACCESS)


@case(REQUESTER)
def nak_operation() -> Scene:
    """A22."""
    return _nak("nak_operation", SYN.NAK_OP, CQE_SYN.REM_OP)


@case(REQUESTER)
def nak_rnr() -> Scene:
    """T09: RNR NAK with no RNR retry left."""
    return _nak("nak_rnr", SYN.RNR | 5, CQE_SYN.RNR_EXC)


@case(REQUESTER)
def wrong_response() -> Scene:
    """A11: a READ response where none was asked for."""
    return _nak("wrong_response", 0, CQE_SYN.BAD_RESP, opcode=OP.READ_RESP_ONLY)


@case(REQUESTER)
def responses_ignored() -> Scene:
    """A01, A02, A17: ghosts, old ones and reserved syndromes change nothing."""
    s = Scene("responses_ignored")
    for i in range(3):
        s.wr(bytes([i] * 8))
    s.ack(0, cycle=100)
    for psn, code in [(3, ACK), (0, ACK), (0, SYN.NAK_ACCESS), (-1, SYN.NAK_PSN), (3, SYN.NAK_INVALID), (900, ACK)]:
        s.ack(psn, code, cycle=120)
    for code in (0x40, 0x5F, 0x64, 0x7F, 0x80, 0xA3, 0xFF):
        s.ack(1, code, cycle=140)
    s.ack(2, cycle=300)
    return expect(s, sends=[(0, 0), (1, 0), (2, 0)], counters={"cnt_drop_resp": 13})


@case(REQUESTER)
def timer_expires() -> Scene:
    """T01, T03, T08: no answer in 2 x 4.096 us; the oldest unfinished WQE says so."""
    s = Scene("timer_expires")
    s.cfg.ack_timeout = 1
    s.wr(b"acknowledged")
    s.wr(b"never")
    s.wr(b"flushed", signaled=0)
    s.ack(0, cycle=1000)
    s.quiet = 9000
    return expect(s, sends=[(0, 0), (1, CQE_SYN.RETRY_EXC), (2, FLUSH)], error=True)


@case(REQUESTER)
def timer_stops() -> Scene:
    """T04: the timer stops when nothing is outstanding and starts with the next request."""
    s = Scene("timer_stops")
    s.cfg.ack_timeout = 1
    s.wr(b"one")
    s.ack(0, cycle=8000)
    s.wr(b"two", cycle=20_000)
    s.ack(1, cycle=28_100)
    s.quiet = 9000
    return expect(s, sends=[(0, 0), (1, 0)])


@case(REQUESTER)
def error_from_reset() -> Scene:
    """S08: a queue pair in the error state flushes what is posted, both queues."""
    s = Scene("error_from_reset")
    s.cfg.state = QP.ERR
    s.wr(b"a", signaled=0)
    s.wr(300)
    s.receives = [Receive(HOST_DATA, 100)] * 3
    s.message("WRITE", 0, b"peer", expected=False)
    return expect(s, sends=[(0, FLUSH), (1, FLUSH)], receives=[(i, FLUSH) for i in range(3)], sent=[], error=True)


@case(REQUESTER)
def completion_write_fails() -> Scene:
    """A completion that memory refuses moves the queue pair to the error state."""
    s = Scene("completion_write_fails")
    s.wr(b"one")
    s.wr(b"two")
    s.ack(0, cycle=100)
    s.message("WRITE", 0, b"peer", cycle=300, expected=False)
    s.cfg.scq_base = HOLE
    return expect(s, sends=[(0, 0), (1, FLUSH)], error=True, counters={"cnt_drop_state": 1, "cnt_cqes": 2})


@case(REQUESTER)
def table_fills() -> Scene:
    """64 WQEs without acknowledgement: the next ones wait, none is lost."""
    s = Scene("table_fills")
    s.cfg.scq_log = 8
    for i in range(100):
        s.wr(bytes([i]))
    s.ack(40, cycle=600)
    s.ack(99, cycle=1200)
    return expect(s, sends=[(i, 0) for i in range(100)], sent=[(OP.WRITE_ONLY, i) for i in range(100)])


# ---- responder ------------------------------------------------------------------------------------


@case(RESPONDER)
def gap_one_nak() -> Scene:
    """R04, R05, R06, D05: one NAK for a gap, duplicates served meanwhile, a new gap is NAKed again."""
    s = Scene("gap_one_nak")
    data = pattern(8)
    put = HOST_DATA
    s.message("WRITE", 0, data, va=put, cycle=1)
    for psn, at in [(2, 100), (3, 200)]:
        s.message("WRITE", psn, b"AHEADDDD", va=put + 64, cycle=at, expected=False)
    s.message("WRITE", 0, b"OLD OLD ", va=put, cycle=300, expected=False)  # duplicate: acknowledged, not executed
    s.message("WRITE", 4, b"AHEADDDD", va=put + 64, cycle=400, expected=False)
    s.message("WRITE", 1, data, va=put + 128, cycle=500)
    s.message("WRITE", 9, b"AHEADDDD", va=put + 64, cycle=600, expected=False)
    return expect(
        s, answers=[(ACK, 0, 1), (SYN.NAK_PSN, 1, 1), (ACK, 0, 1), (ACK, 1, 2), (SYN.NAK_PSN, 2, 2)],
        memory={put: data, put + 64: bytes(8), put + 128: data}, counters={"cnt_drop_seq": 2}, e_psn=2,
    )  # fmt: skip


@case(RESPONDER)
def half_the_psn_space() -> Scene:
    """R02, R03: 2^23 - 1 ahead is a gap, 2^23 is a duplicate."""
    s = Scene("half_the_psn_space")
    s.message("WRITE", 1 << 23, b"x", cycle=1, expected=False)
    s.message("WRITE", (1 << 23) - 1, b"x", cycle=100, expected=False)
    s.message("WRITE", 0, b"y", cycle=200)
    return expect(s, answers=[(ACK, -1, 0), (SYN.NAK_PSN, 0, 0), (ACK, 0, 1)], memory={HOST_DATA: b"y\0"})


def _refused(
    name: str, syndrome: int, *packets: dict[str, Any], good: int = 0, receives: Sequence[Receive] = (),
    found: Sequence[tuple[int, int]] = (), **cfg: Any,
) -> Scene:  # fmt: skip
    """``packets`` from PSN 0 on; the last one is refused and ends it. ``good``: messages done before."""
    s = Scene(name)
    for field_name, value in cfg.items():
        setattr(s.cfg, field_name, value)
    s.receives = list(receives)
    for i, p in enumerate(packets):
        given: dict[str, Any] = {"va": HOST_DATA, "rkey": HOST_KEY, "ackreq": 0, "cycle": 1 + 20 * i, "psn": i}
        p = given | p
        if p["opcode"] not in (OP.WRITE_FIRST, OP.WRITE_ONLY, OP.WRITE_ONLY_IMM):
            p |= {"va": 0, "rkey": 0}
        s.packet(p.pop("opcode"), p.pop("psn"), p.pop("data", b""), **p)
    s.message("WRITE", len(packets), b"later", cycle=900, expected=False)
    s.wr(b"own", cycle=400)
    return expect(
        s, answers=[(syndrome, len(packets) - 1, good)], receives=list(found), sends=[(0, FLUSH)], sent=[], error=True,
        memory={HOST_DATA: bytes(0 if good or len(packets) > 1 else 32)}, counters={"cnt_drop_state": 1},
    )  # fmt: skip


FULL = b"f" * 1024
INV = int(SYN.NAK_INVALID)
TOO_SHORT, TOO_LONG = b"s" * 1023, b"l" * 1025
BAD_WQE = int(CQE_SYN.REM_INV_REQ)


def _invalid() -> None:
    """R07 to R14: everything that is answered with NAK 0x61, one case each."""
    first = {"opcode": OP.WRITE_FIRST, "data": FULL, "dmalen": 3000}
    big = [Receive(HOST_DATA + 0x2000, 9000), Receive(HOST_DATA + 0x6000, 9000)]
    used = [(0, BAD_WQE), (1, FLUSH)]
    send_first = {"opcode": OP.SEND_FIRST, "data": FULL}
    table: dict[str, tuple[list[dict[str, Any]], Sequence[Receive], Sequence[tuple[int, int]]]] = {
        "middle_out_of_nothing": ([{"opcode": OP.WRITE_MIDDLE, "data": FULL}], (), ()),
        "last_out_of_nothing": ([{"opcode": OP.SEND_LAST, "data": b"x"}], (), ()),
        "first_inside_write": ([first, first], (), ()),
        "only_inside_write": ([first, {"opcode": OP.WRITE_ONLY, "data": b"x", "dmalen": 1}], (), ()),
        "send_inside_write": ([first, {"opcode": OP.SEND_MIDDLE, "data": FULL}], (), ()),
        "write_inside_send": ([send_first, {"opcode": OP.WRITE_LAST, "data": b"x"}], big, used),
        "send_only_inside_send": ([send_first, {"opcode": OP.SEND_ONLY, "data": b"x"}], big, used),
        "read_request": ([{"opcode": OP.READ_REQUEST, "dmalen": 8}], (), ()),
        "atomic": ([{"opcode": 0x13}], (), ()),
        "reserved_opcode": ([{"opcode": 0x1F, "data": b"?"}], (), ()),
        "send_with_invalidate": ([{"opcode": 0x17, "data": b"?"}], (), ()),
        "short_first": ([{"opcode": OP.WRITE_FIRST, "data": TOO_SHORT, "dmalen": 3000}], (), ()),
        "long_middle": ([first, {"opcode": OP.WRITE_MIDDLE, "data": TOO_LONG}], (), ()),
        "empty_last": ([first, {"opcode": OP.WRITE_LAST}], (), ()),
        "long_only": ([{"opcode": OP.WRITE_ONLY, "data": TOO_LONG, "dmalen": 1025}], (), ()),
        "total_above": ([first | {"dmalen": 1500}, {"opcode": OP.WRITE_MIDDLE, "data": FULL}], (), ()),
        "total_below": ([first | {"dmalen": 1500}, {"opcode": OP.WRITE_LAST, "data": b"x" * 475}], (), ()),
        "total_beyond": ([first | {"dmalen": 1500}, {"opcode": OP.WRITE_LAST, "data": b"x" * 477}], (), ()),
        "only_total_wrong": ([{"opcode": OP.WRITE_ONLY, "data": b"x" * 8, "dmalen": 9}], (), ()),
        "dma_length_huge": ([first | {"dmalen": (1 << 31) + 1}], (), ()),
        "send_too_long": (
            [send_first, {"opcode": OP.SEND_LAST, "data": b"x" * 2}], [Receive(HOST_DATA, 1025), big[1]],
            [(0, CQE_SYN.LOC_LEN), (1, FLUSH)],
        ),
        "send_only_too_long": (
            [{"opcode": OP.SEND_ONLY, "data": b"x" * 33}], [Receive(HOST_DATA, 32)], [(0, CQE_SYN.LOC_LEN)],
        ),
        "send_short_first": ([{"opcode": OP.SEND_FIRST, "data": TOO_SHORT}], big, used),
        "write_imm_wrong_total": (
            [{"opcode": OP.WRITE_ONLY_IMM, "data": b"x" * 8, "dmalen": 9, "imm": 5}], big, [(0, FLUSH), (1, FLUSH)],
        ),
    }  # fmt: skip
    for name, (packets, receives, found) in table.items():

        def make(
            name: str = name, packets: Any = packets, receives: Any = receives, found: Any = found
        ) -> Scene:  # fmt: skip
            flushed = list(found) or [(i, FLUSH) for i in range(len(receives))]
            return _refused(name, INV, *packets, receives=receives, found=flushed)

        RESPONDER[name] = make


_invalid()


@case(RESPONDER)
def write_not_allowed() -> Scene:
    """R09: RDMA WRITE not enabled."""
    return _refused("write_not_allowed", INV, {"opcode": OP.WRITE_ONLY, "data": b"x", "dmalen": 1}, remote_write=0)


def _access(name: str, **fields: Any) -> Scene:
    given: dict[str, Any] = {"opcode": OP.WRITE_ONLY, "data": b"w" * 40, "dmalen": 40}
    return _refused(name, SYN.NAK_ACCESS, given | fields)


@case(RESPONDER)
def remote_key_unknown() -> Scene:
    """R17."""
    return _access("remote_key_unknown", rkey=HOST_KEY ^ 1)


@case(RESPONDER)
def remote_right_missing() -> Scene:
    """R17: the region has no remote write."""
    return _access("remote_right_missing", rkey=READ_KEY)


@case(RESPONDER)
def remote_one_byte_beyond() -> Scene:
    """R17, K09."""
    return _access("remote_one_byte_beyond", va=HOST_DATA + HOST_BYTES - 39)


@case(RESPONDER)
def remote_whole_length_checked_first() -> Scene:
    """R18: the FIRST packet would fit, the message would not: nothing is written."""
    return _access(
        "remote_whole_length_checked_first", opcode=OP.WRITE_FIRST, data=FULL, dmalen=HOST_BYTES + 1
    )  # fmt: skip


@case(RESPONDER)
def remote_good_borders() -> Scene:
    """K09, R19: a write that ends with the region; one without bytes and with any key."""
    s = Scene("remote_good_borders")
    end = HOST_DATA + HOST_BYTES
    s.message("WRITE", 0, pattern(100), va=end - 100)
    s.message("WRITE", 1, b"", va=5, rkey=0xBAD, cycle=40)
    return expect(s, answers=None, memory={end - 100: pattern(100)}, e_psn=2)


@case(RESPONDER)
def receive_key_wrong() -> Scene:
    """R20: the receive WQE's key fails: NAK 0x63, the WQE says LOC_PROT."""
    return _refused(
        "receive_key_wrong", SYN.NAK_OP, {"opcode": OP.SEND_ONLY, "data": b"x"},
        receives=[Receive(HOST_DATA, 64, READ_KEY), Receive(HOST_DATA, 64)],
        found=[(0, CQE_SYN.LOC_PROT), (1, FLUSH)],
    )  # fmt: skip


@case(RESPONDER)
def receive_bounds_in_last() -> Scene:
    """R20: the receive WQE reaches beyond its region; the packet that would write there is refused."""
    return _refused(
        "receive_bounds_in_last", SYN.NAK_OP, {"opcode": OP.SEND_FIRST, "data": FULL},
        {"opcode": OP.SEND_LAST, "data": b"xy"}, receives=[Receive(HOST_DATA + HOST_BYTES - 1025, 5000)],
        found=[(0, CQE_SYN.LOC_PROT)],
    )  # fmt: skip


@case(RESPONDER)
def receive_queue_unreadable() -> Scene:
    """R20: memory fails under the doorbell record."""
    s = _refused(
        "receive_queue_unreadable", SYN.NAK_OP, {"opcode": OP.SEND_ONLY, "data": b"x"},
        found=[(0, CQE_SYN.LOC_QP_OP)],
    )  # fmt: skip
    s.cfg.rq_dbr = HOLE
    return s


@case(RESPONDER)
def record_beyond_ring() -> Scene:
    """A receive counter further ahead than the ring is long is no receive WQE but a fault."""
    return _refused(
        "record_beyond_ring", SYN.NAK_OP, {"opcode": OP.SEND_ONLY, "data": b"x"}, found=[(0, CQE_SYN.LOC_QP_OP)],
        receives=[Receive(HOST_DATA, 64)] * 5, rq_log=2,
    )  # fmt: skip


@case(RESPONDER)
def payload_write_fails() -> Scene:
    """R20: memory refuses a payload that the checks let pass. NAK 0x63; what came behind is not answered."""
    s = Scene("payload_write_fails")
    s.receives = [Receive(HOST_DATA, 64)] * 2
    s.message("WRITE", 0, b"good")
    s.message("WRITE", 1, pattern(3000), va=HOLE + 60, rkey=HOLE_KEY)
    s.message("WRITE", 4, b"behind", va=HOST_DATA + 64, expected=False)
    s.message("SEND", 5, b"behind", expected=False)
    return expect(
        s, answers=[(ACK, 0, 1), (SYN.NAK_OP, 1, 1)], receives=[(0, FLUSH), (1, FLUSH)], error=True
    )  # fmt: skip


@case(RESPONDER)
def receive_write_fails() -> Scene:
    """R20, R22: the same under a SEND: its receive WQE says LOC_QP_OP, once, the next one is flushed."""
    s = Scene("receive_write_fails")
    s.receives = [Receive(HOLE, 4096, HOLE_KEY), Receive(HOST_DATA, 64)]
    s.message("SEND", 0, pattern(3000), expected=False)
    return expect(s, answers=[(SYN.NAK_OP, 0, 0)], receives=[(0, CQE_SYN.LOC_QP_OP), (1, FLUSH)], error=True)


@case(RESPONDER)
def no_receive_posted() -> Scene:
    """D02, D04, M04: RNR NAK, silence for what is ahead, then the WQE is posted and the packet comes again."""
    s = Scene("no_receive_posted")
    s.message("WRITE", 0, b"before", va=HOST_DATA)
    s.message("SEND", 1, b"refused", cycle=200, expected=False)
    s.message("WRITE", 2, b"ahead", va=HOST_DATA + 64, cycle=300, expected=False)
    s.message("SEND", 1, b"refused", cycle=400, expected=False)
    count = (s.cfg.rq_ci0 + 1 & 0xFFFF).to_bytes(4, "big")
    wqe = (64).to_bytes(4, "big") + HOST_KEY.to_bytes(4, "big") + (HOST_DATA + 128).to_bytes(8, "big")
    slot = s.cfg.rq_ci0 % 32 * 16
    line = s.cfg.rq_base + slot & -64
    s.pokes = [
        Poke(500, line, (0xFFFF << slot % 64), bytes(slot % 64) + wqe + bytes(48 - slot % 64)),
        Poke(510, RECORD & -64, 0xF << RECORD % 64, count.ljust(64, b"\0")),
    ]
    s.message("SEND", 1, b"accepted", cycle=600, expected=False)
    s.message("WRITE", 2, b"then", va=HOST_DATA + 64, cycle=700, expected=False)
    return expect(
        s, answers=[(ACK, 0, 1), (RNR, 1, 1), (RNR, 1, 1), (ACK, 1, 2), (ACK, 2, 3)], receives=[(0, 0)],
        memory={HOST_DATA + 128: b"accepted", HOST_DATA + 64: b"then\0"}, counters={"cnt_drop_seq": 1},
    )  # fmt: skip


@case(RESPONDER)
def no_receive_for_immediate() -> Scene:
    """D03: RNR at the LAST packet of a WRITE with immediate; what came before stays written."""
    s = Scene("no_receive_for_immediate")
    data = pattern(1100)
    s.message("WRITE", 0, data, imm=7, expected=False)
    return expect(s, answers=[(RNR, 1, 0)], memory={HOST_DATA: data[:1024], HOST_DATA + 1024: bytes(76)}, e_psn=1)


@case(RESPONDER)
def not_for_this_queue_pair() -> Scene:
    """P04 to P08: dropped without a trace."""
    s = Scene("not_for_this_queue_pair")
    c = s.cfg
    wrong: list[dict[str, int]] = [
        {"dest_qp": c.qpn ^ 1}, {"dest_qp": 0}, {"src": c.dst ^ 1}, {"dst": c.src ^ 1}, {"pkey": 0x7FFE},
        {"pkey": 0x8000}, {"opcode": 0x2A}, {"opcode": 0x81}, {"opcode": 0xAA}, {"opcode": 0x64},
    ]  # fmt: skip
    for i, fields in enumerate(wrong):
        given = {"va": HOST_DATA, "rkey": HOST_KEY, "dmalen": 5, "ackreq": 1, "opcode": OP.WRITE_ONLY} | fields
        s.packet(given.pop("opcode"), 0, b"wrong", cycle=1 + i, **given)
    s.packet(
        OP.WRITE_ONLY, 0, b"right", cycle=200, va=HOST_DATA, rkey=HOST_KEY, dmalen=5, ackreq=1, pkey=0x7FFF
    )  # fmt: skip
    return expect(s, answers=[(ACK, 0, 1)], memory={HOST_DATA: b"right"}, counters={"cnt_drop_admit": len(wrong)})


def _state(state: int) -> Scene:
    s = Scene(f"state{state}")
    s.cfg.state = state
    s.message("WRITE", 0, b"data")
    s.ack(0, cycle=50)
    return s


@case(RESPONDER)
def state_init() -> Scene:
    """P06, S02: neither half takes a packet."""
    return expect(_state(QP.INIT), counters={"cnt_drop_state": 2}, memory={HOST_DATA: bytes(4)})


@case(RESPONDER)
def state_ready_to_receive() -> Scene:
    """P06, S03: requests are served, responses dropped."""
    return expect(_state(QP.RTR), answers=[(ACK, 0, 1)], counters={"cnt_drop_state": 1}, memory={HOST_DATA: b"data"})


@case(RESPONDER)
def answers_coalesce() -> Scene:
    """D18: while the wire is stalled ACKs become one, a NAK keeps its place, the ACK behind it follows."""
    s = Scene("answers_coalesce")
    for i in range(6):
        s.message("WRITE", i, bytes([i] * 8), va=HOST_DATA + 8 * i, cycle=1 + 40 * i)
    s.message("WRITE", 8, b"ahead", cycle=300, expected=False)
    s.message("WRITE", 6, b"six", va=HOST_DATA + 48, cycle=400)
    s.message("WRITE", 9, b"ahead", cycle=500, expected=False)
    s.message("WRITE", 7, b"seven", va=HOST_DATA + 56, cycle=600)
    s.message("WRITE", 0, b"again", cycle=700, expected=False)
    # the two beats of the output FIFO take ACK 0 and the one behind it; ready comes at cycle 1500
    s.ready = {"m_pkt": [0] * 1500 + [1] * 2500}
    return expect(
        s, answers=[(ACK, 0, 1), (ACK, 1, 2), (SYN.NAK_PSN, 6, 6), (ACK, 7, 8)], counters={"cnt_drop_seq": 1}, e_psn=8
    )  # fmt: skip


@case(RESPONDER)
def error_under_receive() -> Scene:
    """S14: the requester's failure flushes the receive WQE of a SEND under way and the posted ones."""
    s = Scene("error_under_receive")
    s.receives = [Receive(HOST_DATA, 4096)] * 3
    s.wr(b"fails", cycle=1)
    s.packet(OP.SEND_FIRST, 0, FULL, cycle=1)
    s.ack(0, SYN.NAK_ACCESS, cycle=300)
    s.packet(OP.SEND_LAST, 1, b"late", cycle=400, ackreq=1)
    return expect(s, sends=[(0, CQE_SYN.REM_ACCESS)], receives=[(i, FLUSH) for i in range(3)], error=True)


@case(RESPONDER)
def key_table_empty() -> Scene:
    """R17: no entry valid."""
    s = _access("key_table_empty")
    s.regions = [Mr() for _ in range(4)]
    return s


@case(RESPONDER)
def duplicates_of_what_is_not_executed() -> Scene:
    """D09, D11: an old READ or reserved opcode is dropped, an old WRITE with a bad key is acknowledged."""
    s = Scene("duplicates_of_what_is_not_executed")
    s.message("WRITE", 0, b"x")
    s.packet(OP.READ_REQUEST, 0, cycle=100, dmalen=8)
    s.packet(0x1F, -5, cycle=120)
    s.message("WRITE", -1, b"y", rkey=0xBAD, cycle=200, expected=False)
    return expect(s, answers=[(ACK, 0, 1), (ACK, 0, 1)], counters={"cnt_drop_seq": 2}, memory={HOST_DATA: b"x\0"})
