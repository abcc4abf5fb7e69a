# SPDX-License-Identifier: Apache-2.0
"""Directed cases of the responder's errors.

Letters and numbers (E01, A20, R17 ..) number the transport's rules; each case says its own in words. The README
of rtl/rdma has this block's rules, spec/testplan/rdma.toml which case meets which.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from models.memory import Poke
from models.protocol import CQE_SYN, OP, QP, SYN, Mr
from tb.rdma.faults import ACK, FLUSH, RESPONDER, RNR, case, expect
from tb.rdma.scene import (
    HOLE,
    HOLE_KEY,
    HOST_BYTES,
    HOST_DATA,
    HOST_KEY,
    READ_KEY,
    RECORD,
    Receive,
    Scene,
    pattern,
)  # fmt: skip


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
        "empty_send_last": ([send_first, {"opcode": OP.SEND_LAST}], big, used),
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
def remote_one_byte_before() -> Scene:
    """R17, K09."""
    return _access("remote_one_byte_before", va=HOST_DATA - 1)


@case(RESPONDER)
def remote_wraps_around() -> Scene:
    """R17, K09: address and length do not wrap."""
    return _access("remote_wraps_around", va=(1 << 64) - 20)


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
def receive_key_unknown() -> Scene:
    """R20: the same with a key that is in no entry."""
    return _refused(
        "receive_key_unknown", SYN.NAK_OP, {"opcode": OP.SEND_ONLY, "data": b"x"},
        receives=[Receive(HOST_DATA, 64, HOST_KEY ^ 1)], found=[(0, CQE_SYN.LOC_PROT)],
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
    s.wr(b"own")
    s.message("WRITE", 0, b"good")
    s.message("WRITE", 1, pattern(3000), va=HOLE + 60, rkey=HOLE_KEY)
    s.message("WRITE", 4, b"behind", va=HOST_DATA + 64, expected=False)
    s.message("SEND", 5, b"behind", expected=False)
    return expect(
        s, answers=[(ACK, 0, 1), (SYN.NAK_OP, 1, 1)], receives=[(0, FLUSH), (1, FLUSH)], sends=[(0, FLUSH)], error=True
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
def no_receive_for_first() -> Scene:
    """D02: RNR at the FIRST packet of a SEND; what is behind it is ahead, and silent."""
    s = Scene("no_receive_for_first")
    s.message("SEND", 0, pattern(2500), expected=False)
    return expect(s, answers=[(RNR, 0, 0)], counters={"cnt_drop_seq": 2}, e_psn=0)


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


@case(RESPONDER)
def two_limited_members() -> Scene:
    """P08: two limited members of a partition do not talk; a full one is heard."""
    s = Scene("two_limited_members")
    s.cfg.pkey = 0x1234
    s.message("WRITE", 0, b"limited", expected=False)
    s.packet(
        OP.WRITE_ONLY, 0, b"full", cycle=100, va=HOST_DATA, rkey=HOST_KEY, dmalen=4, ackreq=1, pkey=0x9234
    )  # fmt: skip
    return expect(s, answers=[(ACK, 0, 1)], memory={HOST_DATA: b"full\0"}, counters={"cnt_drop_admit": 1})


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
