# SPDX-License-Identifier: Apache-2.0
"""Directed cases of the requester's errors.

Letters and numbers (E01, A20, R17 ..) number the transport's rules; each case says its own in words. The README
of rtl/rdma has this block's rules, spec/testplan/rdma.toml which case meets which.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from models.protocol import CQE_SYN, OP, QP, SYN, WQE
from tb.rdma import oracle
from tb.rdma.faults import ACK, FLUSH, REQUESTER, case, expect
from tb.rdma.scene import (
    GPU_DATA,
    HOLE,
    HOLE_KEY,
    HOST_BYTES,
    HOST_DATA,
    READ_KEY,
    REGIONS,
    Receive,
    Scene,
    pattern,
)  # fmt: skip


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


@case(REQUESTER)
def read_error_at_first() -> Scene:
    """Q18: memory fails under a packet's first beats and gives the rest: the packet is bad all the same."""
    s = Scene("read_error_at_first")
    s.regions[3] = replace(REGIONS[3], base=GPU_DATA - 512)  # nothing is below the GPU window
    s.image[GPU_DATA] = pattern(512)
    s.wr(b"first")
    s.wr(900, lkey=HOLE_KEY, laddr=GPU_DATA - 400)
    s.wr(b"behind")
    s.ack(0, cycle=900)
    return expect(s, sends=[(0, 0), (1, CQE_SYN.LOC_PROT), (2, FLUSH)], sent=[(OP.WRITE_ONLY, 0)], error=True)


@case(REQUESTER)
def nop_with_data() -> Scene:
    """Data of a NOP, which no WQE can carry, does not get into the next packet."""
    s = Scene("nop_with_data")
    s.wr(b"nothing", opcode=WQE.NOP)
    s.wr(b"something")
    s.ack(0, cycle=200)

    scene = expect(s, sends=[(0, 0), (1, 0)], sent=[(OP.WRITE_ONLY, 0)])
    rule = scene.info["check"]
    scene.info["check"] = lambda phase: (
        rule(phase) + [f"sent {data!r}" for _, data in oracle.requests(phase) if data != b"something"]
    )
    return scene


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
    s.receives = [Receive(HOST_DATA, 64)]
    return expect(
        s, sends=[(0, 0), (1, FLUSH)], receives=[(0, FLUSH)], error=True, counters={"cnt_drop_state": 1, "cnt_cqes": 3}
    )  # fmt: skip


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
