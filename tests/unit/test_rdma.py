# SPDX-License-Identifier: Apache-2.0
"""The rdma model's parts and the capture reader on their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from models import cqe
from models.crc import icrc_roce
from models.kernel import Beat, Kernel, Sink
from models.protocol import CQE, CQE_SYN, OP, QP, SYN, WQE, Hdr, Mr, RdmaCfg, Wr
from models.rdma import Rdma
from models.rdma_parts import Answer, Answers, Reg, bursts_of, key_ok, lines_of
from tb.common.capture import Captured, episodes, flows, read_capture

DATA = Path(__file__).parents[1] / "data"
ACK = int(SYN.ACK_NO_CREDIT)
REGION = Mr(valid=1, key=7, base=1000, length=100, local_write=1)


def test_completion_layout() -> None:
    """Offsets of rdma-core's mlx5_cqe64 and mlx5_err_cqe."""
    raw = cqe.Cqe(CQE.RESP_SEND_IMM, 0xABCDEF, 0x1234, 1, byte_cnt=0x01020304, imm=0xA0B0C0D0, se=1).pack()
    assert raw[36:40] == bytes.fromhex("a0b0c0d0")
    assert raw[44:48] == bytes.fromhex("01020304")
    assert raw[56:62] == bytes.fromhex("00abcdef1234")
    assert raw[63] == CQE.RESP_SEND_IMM << 4 | 0b11
    failed = cqe.Cqe(CQE.REQ_ERR, 1, 2, 0, syndrome=CQE_SYN.REM_ACCESS, send_opcode=WQE.WRITE)
    assert failed.pack()[55:57] == bytes([0x13, 0x08])
    assert cqe.parse(failed.pack()) == failed
    assert failed.is_error


@pytest.mark.parametrize(("index", "slot", "owner"), [(0, 0, 0), (3, 3, 0), (4, 0, 1), (0xFFFFFF, 3, 1)])
def test_ring(index: int, slot: int, owner: int) -> None:
    """A ring of four."""
    assert cqe.entry_address(0x1000, 2, index) == 0x1000 + 64 * slot
    assert cqe.owner_bit(2, index) == owner


@pytest.mark.parametrize(
    ("addr", "size", "right", "ok"),
    [
        (1000, 100, "", True), (1000, 101, "", False), (999, 1, "", False), (1099, 1, "", True), (1100, 1, "", False),
        (1050, 10, "local_write", True), (1050, 10, "remote_write", False), ((1 << 64) - 1, 2, "", False),
    ],
)  # fmt: skip
def test_key(addr: int, size: int, right: str, ok: bool) -> None:
    """Borders and rights of a region."""
    assert key_ok([Mr(), REGION], 7, addr, size, right) is ok
    assert not key_ok([REGION], 8, addr, size, right)


def test_bursts() -> None:
    """Whole lines, cut at 4 KiB."""
    assert bursts_of(0x1001, 63) == [(0x1000, 1)]
    assert bursts_of(0x1FFF, 2) == [(0x1FC0, 1), (0x2000, 1)]
    assert bursts_of(0x1010, 4096) == [(0x1000, 64), (0x2000, 1)]
    assert lines_of(63, 2) == 2


def test_register_shows_what_was_before() -> None:
    """A value set in a cycle is seen from the next one on."""
    reg = Reg(1)
    reg.set(5, 2)
    assert (reg.get(5), reg.get(6)) == (1, 2)
    reg.set(6, 3)
    reg.set(6, 4)
    assert (reg.get(6), reg.get(7)) == (2, 4)
    assert reg.changes == [(0, 1), (6, 2), (7, 4)]


def test_answers_coalesce_and_keep_naks() -> None:
    """An ACK gives way to what is behind it, a NAK does not; taking comes before giving."""
    q = Answers()
    q.give(1, Answer(ACK, 1, 1))
    q.give(2, Answer(ACK, 2, 2))
    assert q.head(3) == Answer(ACK, 2, 2)
    q.give(3, Answer(SYN.NAK_PSN, 3, 2))
    q.give(4, Answer(ACK, 3, 3))
    q.give(5, Answer(ACK, 4, 4))
    assert q.take(6) == Answer(SYN.NAK_PSN, 3, 2)
    q.give(6, Answer(ACK, 5, 5))
    assert q.take(7) == Answer(ACK, 5, 5)
    assert q.head(8) is None


def test_inline_write_completes() -> None:
    """One request through the model alone: packet, acknowledgement, completion."""
    kernel = Kernel()
    cfg = RdmaCfg(
        state=QP.RTS, qpn=5, dest_qpn=9, src=1, dst=2, pkey=0xFFFF, pmtu=3, sq_psn=0xFFFFFF, scq_base=0x4000,
        scq_log=2, rcq_log=2, rq_log=2,
    )  # fmt: skip
    rdma = Rdma(kernel, "rdma", cfg, [Mr()] * 4)
    out = Sink(kernel, "m_pkt", rdma.m_pkt)
    aw, w = Sink(kernel, "aw", rdma.aw), Sink(kernel, "w", rdma.w)
    assert rdma.wr_ready(1)
    wr = Wr(opcode=WQE.WRITE, wqe_index=3, signaled=1, is_inline=1, length=5, raddr=0x99, rkey=0x77)
    rdma.wr(1, Beat(b"hello", True, wr))
    kernel.run()
    cycle, beat = out.taken[0]
    assert (cycle, beat.data, beat.side.opcode, beat.side.psn) == (7, b"hello", OP.WRITE_ONLY, 0xFFFFFF)
    rdma.pkt(50, Beat(b"", True, Hdr(
        opcode=OP.ACKNOWLEDGE, src=2, dst=1, dest_qp=5, pkey=0xFFFF, psn=0xFFFFFF, syndrome=ACK,
    )))  # fmt: skip
    kernel.run()
    assert [a.addr for _, a in aw.taken] == [0x4000]
    entry = cqe.parse(w.taken[0][1].data)
    assert (entry.opcode, entry.wqe_counter, entry.send_opcode, entry.qpn) == (CQE.REQ, 3, WQE.WRITE, 5)


@pytest.fixture(scope="module")
def mixed() -> list[Captured]:
    """Frames of the mixed capture."""
    return read_capture(DATA / "softroce_mixed.pcap")


def test_capture_icrc(mixed: list[Captured]) -> None:
    """scapy and this project's own ICRC agree on every frame; one is bad."""
    for c in mixed:
        packet = c.frame[14:]
        size = int.from_bytes(packet[2:4], "big")
        assert (icrc_roce(packet[: size - 4]) == packet[size - 4 : size]) is c.good
    assert [c.number for c in mixed if not c.good] == [23]


def test_capture_episodes(mixed: list[Captured]) -> None:
    """READ, fetch-adds and the capture's own gap part the requests; PSN and MSN go on as Linux says."""
    server, client = flows(mixed)
    found = list(episodes(mixed, server))
    assert [(e.cfg.rq_psn, e.cfg.msn0, len(e.packets)) for e in found] == [
        (0x1000, 0, 3),
        (0x1008, 4, 11),
        (0x112D, 297, 9),
    ]
    assert found[1].answers[:3] == [(SYN.RNR | 12, 0x1008, 4), (ACK, 0x1008, 5), (SYN.NAK_PSN, 0x1009, 5)]
    assert found[1].received == [b"hello world!"]
    assert found[1].posted[:2] == [0, 1]
    assert len(found[0].memory) == 8693
    assert [len(e.memory) for e in episodes(mixed, client)] == [8192]
