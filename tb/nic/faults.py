# SPDX-License-Identifier: Apache-2.0
"""Bad input of every kind, one case each: from the cable, from the rings, from the UAR page.

A case gives its stimulus and what the specification says must be seen; the model is not asked here.
"""

from __future__ import annotations

from collections.abc import Callable

from models import wqe
from models.doorbell import OKAY, SLVERR
from models.protocol import CQE_SYN, OP, SYN, WQE
from models.spec import spec
from tb.common.axi import Store
from tb.fabric.experiment import PAGE_HALF, Message, line_pokes
from tb.fabric.layout import HOST_DATA, HOST_DATA_BYTES, HOST_KEY, RECORD
from tb.nic import frames
from tb.nic.scene import Expect, Scene

ACK = SYN.ACK_NO_CREDIT
FLUSH = CQE_SYN.WR_FLUSH
STEP = 120  # cycles from one frame to the next: each answer leaves before the next frame comes
PUT = HOST_DATA + 0x18_0000  # where the peer writes
DATA = bytes(range(1, 101))
Case = Callable[[bool], Scene]
CASES: list[Case] = []


def case(make: Case) -> Case:
    """Register a case."""
    CASES.append(make)
    return make


def _write(s: Scene, psn: int, data: bytes = DATA, *, cycle: int, va: int = PUT, **fields: int) -> bytes:
    """A WRITE of one packet from the peer that asks for an answer."""
    given = {"va": va, "rkey": HOST_KEY, "dmalen": len(data), "ackreq": 1} | fields
    return s.packet(OP.WRITE_ONLY, psn, data, cycle=cycle, **given)


def _repeated(name: str, roce: bool, spoil: Callable[[bytes], bytes], **counts: int) -> Scene:
    """A bad frame, which nobody answers; then the same one, good."""
    s = Scene(name, roce)
    frame = _write(s, 0, cycle=2 * STEP)
    s.raw(spoil(frame), 1)
    s.expect = Expect(answers=[(ACK, 0, 1)], counts={"good": 1} | counts, memory={PUT: DATA})
    return s


@case
def wrong_icrc(roce: bool) -> Scene:
    """One bit of the ICRC, the frame CRC right."""
    return _repeated(
        "wrong_icrc", roce, lambda f: frames.respoil(f, roce, frames.icrc_at(f, roce), 1), icrc=1, fcs=0, format=0
    )


@case
def wrong_payload_bit(roce: bool) -> Scene:
    """One bit of the payload, the frame CRC right: a switch's memory error, which only the ICRC sees."""
    return _repeated(
        "wrong_payload_bit", roce, lambda f: frames.respoil(f, roce, frames.icrc_at(f, roce) - 9, 0x80), icrc=1, fcs=0
    )


@case
def wrong_frame_crc(roce: bool) -> Scene:
    """One bit on the cable: VCRC or FCS."""
    return _repeated("wrong_frame_crc", roce, lambda f: f[:70] + bytes((f[70] ^ 4,)) + f[71:], fcs=1, icrc=0)


@case
def wrong_format(roce: bool) -> Scene:
    """LNH of a raw packet; UDP to another port."""
    return _repeated("wrong_format", roce, lambda f: frames.respoil(f, roce, 37 if roce else 1, 1), format=1, icrc=0)


def _refused(name: str, roce: bool, syndrome: int, opcode: int = OP.WRITE_ONLY, **fields: int) -> Scene:
    """A good WRITE, a request that is refused, one after it: NAK, error state, nothing written any more."""
    s = Scene(name, roce)
    _write(s, 0, cycle=1)
    given = {"va": PUT + 0x1000, "rkey": HOST_KEY, "dmalen": len(DATA), "ackreq": 1} | fields
    s.packet(opcode, 1, DATA, cycle=1 + STEP, **given)
    _write(s, 2, cycle=1 + 3 * STEP, va=PUT + 0x2000)
    s.expect = Expect(
        answers=[(ACK, 0, 1), (syndrome, 1, 1)], error=True, counts={"good": 3}, requests=[], receives=[],
        memory={PUT: DATA, PUT + 0x1000: bytes(100), PUT + 0x2000: bytes(100)},
    )  # fmt: skip
    return s


@case
def wrong_key(roce: bool) -> Scene:
    """R_Key of no region."""
    return _refused("wrong_key", roce, SYN.NAK_ACCESS, rkey=HOST_KEY ^ 0x100)


@case
def out_of_bounds(roce: bool) -> Scene:
    """The last byte lies one beyond the region."""
    return _refused("out_of_bounds", roce, SYN.NAK_ACCESS, va=HOST_DATA + HOST_DATA_BYTES - 99)


@case
def wrong_length(roce: bool) -> Scene:
    """RETH promises more than the only packet brings."""
    return _refused("wrong_length", roce, SYN.NAK_INVALID, dmalen=101)


@case
def unknown_request(roce: bool) -> Scene:
    """An RDMA READ, which this slice does not serve."""
    return _refused("unknown_request", roce, SYN.NAK_INVALID, OP.READ_REQUEST)


@case
def psn_ahead(roce: bool) -> Scene:
    """One NAK for a gap, however many packets follow; a new one for a new gap."""
    s = Scene("psn_ahead", roce)
    for i, (psn, data, va) in enumerate(
        [(0, DATA, PUT), (2, b"ahead", PUT + 256), (3, b"ahead", PUT + 256), (1, DATA[::-1], PUT + 128),
         (5, b"ahead", PUT + 256)]
    ):  # fmt: skip
        _write(s, psn, data, cycle=1 + STEP * i, va=va)
    s.expect = Expect(
        answers=[(ACK, 0, 1), (SYN.NAK_PSN, 1, 1), (ACK, 1, 2), (SYN.NAK_PSN, 2, 2)], counts={"good": 5},
        memory={PUT: DATA, PUT + 128: DATA[::-1], PUT + 256: bytes(8)},
    )  # fmt: skip
    return s


@case
def duplicate(roce: bool) -> Scene:
    """A repeated WRITE is acknowledged again with the newest PSN, and not executed."""
    s = Scene("duplicate", roce)
    _write(s, 0, cycle=1)
    _write(s, 1, b"new", cycle=1 + STEP)
    _write(s, 0, cycle=1 + 2 * STEP)
    s.expect = Expect(answers=[(ACK, 0, 1), (ACK, 1, 2), (ACK, 1, 2)], memory={PUT: b"new" + DATA[3:]})
    return s


@case
def not_for_us(roce: bool) -> Scene:
    """Another queue pair, another partition, from another address: dropped without an answer."""
    s = Scene("not_for_us", roce)
    for i, fields in enumerate(({"dest_qp": 0xA12}, {"pkey": 0x8001}, {"src": s.rdma.dst ^ 1})):
        _write(s, 0, b"stray", cycle=1 + 10 * i, **fields)
    _write(s, 0, cycle=STEP)
    s.expect = Expect(answers=[(ACK, 0, 1)], counts={"good": 4}, memory={PUT: DATA})
    return s


@case
def receiver_not_ready(roce: bool) -> Scene:
    """A SEND finds no receive WQE: RNR NAK with the timer configured; posted meanwhile, its repetition is taken."""
    s = Scene("receiver_not_ready", roce)
    for at in (1, 4 * STEP):
        s.packet(OP.SEND_ONLY, 0, DATA, cycle=at, ackreq=1)
    s.image[s.rdma.rq_base + 16 * (s.rdma.rq_ci0 % (1 << s.rdma.rq_log))] = wqe.pointer(200, HOST_KEY, PUT)
    s.pokes = line_pokes(2 * STEP, RECORD, wqe.record(s.me.send_index, s.me.recv_index + 1))
    s.expect = Expect(
        answers=[(SYN.RNR | s.rdma.min_rnr, 0, 0), (ACK, 0, 1)], receives=[(0, 0)], memory={PUT: DATA}
    )  # fmt: skip
    return s


@case
def unknown_wqe_opcode(roce: bool) -> Scene:
    """A WQE with an opcode nobody knows: error completion, those behind it are flushed, the one before it succeeds."""
    s = Scene("unknown_wqe_opcode", roce)
    s.messages = [
        Message(b"good", 0x40, at=40, inline=True), Message(b"", 0, 0x2C, at=60, signaled=False),
        Message(b"late", 0x80, at=90, inline=True, signaled=False),
    ]  # fmt: skip
    s.ack(0, 600)
    s.expect = Expect(
        requests=[(OP.WRITE_ONLY, 0)], sends=[(0, 0), (1, CQE_SYN.LOC_QP_OP), (2, FLUSH)], error=True, answers=[]
    )  # fmt: skip
    return s


@case
def wrong_local_key(roce: bool) -> Scene:
    """The data segment's key is no region's."""
    s = Scene("wrong_local_key", roce)
    s.messages = [Message(DATA, 0x40, at=40, source=0x500)]
    s.regions[0].key ^= 1
    s.expect = Expect(requests=[], sends=[(0, CQE_SYN.LOC_PROT)], error=True)
    return s


@case
def doorbell_beyond_the_ring(roce: bool) -> Scene:
    """The record is further on than the ring is long: error completion, the queue halts, later stores are refused."""
    s = Scene("doorbell_beyond_the_ring", roce)
    far = s.me.send_index + (1 << s.me.send_log) + 1
    s.pokes = line_pokes(20, RECORD, wqe.record(far, s.me.recv_index))
    bell = wqe.doorbell(wqe.build(WQE.NOP, far - 1, s.me.qpn))
    s.stores = [Store(PAGE_HALF[0], bell, 30), Store(PAGE_HALF[1], bell, 300)]
    s.expect = Expect(
        requests=[],
        sends=[(0, CQE_SYN.LOC_QP_OP)],
        error=True,
        halted=True,
        stores=[OKAY, SLVERR],
        counts={"refused": 1},
    )
    return s


@case
def refused_stores(roce: bool) -> Scene:
    """Wrong offset, another queue pair's number, half a doorbell: refused one by one, a good message goes on."""
    s = Scene("refused_stores", roce)
    head = wqe.doorbell(wqe.build(WQE.NOP, s.me.send_index, s.me.qpn))
    other = wqe.doorbell(wqe.build(WQE.NOP, s.me.send_index, s.me.qpn ^ 1))
    s.stores = [Store(0x400, head, 10), Store(PAGE_HALF[0], other, 20), Store(PAGE_HALF[0], head[:4], 30)]
    s.messages = [Message(b"good", 0x40, at=100, inline=True)]
    s.ack(0, 500)
    s.expect = Expect(
        requests=[(OP.WRITE_ONLY, 0)], sends=[(0, 0)], stores=[SLVERR] * 3 + [OKAY], counts={"refused": 3, "good": 1}
    )
    return s


@case
def a_buffer_of_bad_frames(roce: bool) -> Scene:
    """More cells than the receive buffer has, all of frames with a wrong frame CRC: they come back as credits, or the
    good frame behind them could not be sent."""
    s = Scene("a_buffer_of_bad_frames", roce, pmtu=5)
    payload = bytes(4096)
    count = spec().integer("link.grant_cells") // spec().integer("frame.max_beats") + 1
    fields = {"va": PUT, "rkey": HOST_KEY, "dmalen": len(payload), "ackreq": 1}
    frame = frames.assemble(s.header(OP.WRITE_ONLY, 0, **fields), payload, roce)
    for _ in range(count):
        s.raw(frame[:70] + bytes((frame[70] ^ 4,)) + frame[71:], 1)
    _write(s, 0, cycle=2)
    s.expect = Expect(answers=[(ACK, 0, 1)], counts={"good": 1, "fcs": count}, memory={PUT: DATA})
    return s


@case
def peer_refuses(roce: bool) -> Scene:
    """NAK 0x62 from the peer: the message completes in error, what follows is flushed."""
    s = Scene("peer_refuses", roce)
    s.messages = [Message(bytes([i] * 8), 0x40 * i, at=40 + i, inline=True) for i in range(3)]
    s.ack(1, 500, SYN.NAK_ACCESS)
    s.expect = Expect(sends=[(0, 0), (1, CQE_SYN.REM_ACCESS), (2, FLUSH)], error=True)
    return s
