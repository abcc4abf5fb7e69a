# SPDX-License-Identifier: Apache-2.0
"""WQE layout: hand-made vectors of the published structures, and what is malformed."""

from __future__ import annotations

import pytest

from models import wqe
from models.protocol import CQE_SYN, WQE

QPN = 0x123456


def test_write_with_a_data_segment_to_the_byte():
    got = wqe.build(
        WQE.WRITE_IMM, 0xFFFE, QPN, raddr=0x1122334455667788, rkey=0xA1A2A3A4, length=0x1000, laddr=0xC0FFEE00,
        lkey=0xB1B2B3B4, imm=0x01020304, se=True,
    )  # fmt: skip
    want = (
        "00 fffe 09  123456 03  00 0000 0a  01020304"  # opmod index opcode, qpn ds, signature dci fm_ce_se, immediate
        "1122334455667788 a1a2a3a4 00000000"
        "00001000 b1b2b3b4 00000000c0ffee00"
    )
    assert got == bytes.fromhex(want.replace(" ", "")).ljust(64, b"\0")
    wr, payload = wqe.decode(got, 0xFFFE, QPN)
    assert payload == b""
    assert (wr.error, wr.opcode, wr.wqe_index, wr.signaled, wr.se, wr.imm) == (0, 9, 0xFFFE, 1, 1, 0x01020304)
    assert (wr.raddr, wr.rkey, wr.length, wr.laddr, wr.lkey) == (
        0x1122334455667788, 0xA1A2A3A4, 0x1000, 0xC0FFEE00, 0xB1B2B3B4,
    )  # fmt: skip


def test_doorbells_and_record_to_the_byte():
    one = wqe.build(WQE.SEND, 0x0102, QPN, length=8)
    assert wqe.doorbell(one).hex() == "0001020a12345602"
    assert wqe.gpu_doorbell(0x10003, QPN).hex() == "0000030012345600"
    assert wqe.record(0x1FFFE, 7).hex() == "000000070000fffe"
    line = bytes(24) + wqe.record(0xABCD) + bytes(32)
    assert wqe.record_send(line, 0x1018) == 0xABCD


@pytest.mark.parametrize("opcode", [WQE.SEND, WQE.SEND_IMM, WQE.WRITE, WQE.WRITE_IMM])
def test_inline_of_every_size_comes_back(opcode):
    limit = wqe.max_inline(opcode)
    assert limit == (220 if opcode in wqe.WRITES else 236)
    for n in range(limit + 1):
        data = bytes((i * 7 + n) & 0xFF for i in range(n))
        built = wqe.build(opcode, 5, QPN, inline=data, raddr=4, rkey=5)
        head = wqe.Head(built)
        assert len(built) == 64 * head.blocks == 64 * wqe.block_count(head.ds)
        wr, payload = wqe.decode(built, 5, QPN)
        assert (wr.error, wr.is_inline, wr.length, payload) == (0, 1, n, data)
    with pytest.raises(ValueError, match="allowed"):
        wqe.build(opcode, 5, QPN, inline=bytes(limit + 1))


def test_no_segment_is_a_message_of_no_bytes():
    wr, payload = wqe.decode(wqe.build(WQE.SEND, 1, QPN), 1, QPN)
    assert (wr.error, wr.length, wr.is_inline, payload) == (0, 0, 0, b"")


def test_longest_message_is_written_as_zero():
    built = wqe.build(WQE.SEND, 1, QPN, length=1 << 31, lkey=1)
    assert built[16:20] == bytes(4)
    assert wqe.decode(built, 1, QPN)[0].length == 1 << 31
    with pytest.raises(ValueError, match="allowed"):
        wqe.build(WQE.SEND, 1, QPN, length=(1 << 31) + 1)


def _patched(raw: bytes, at: int, new: bytes) -> bytes:
    return raw[:at] + new + raw[at + len(new) :]


GOOD = wqe.build(WQE.WRITE, 9, QPN, inline=bytes(100))
MALFORMED = {
    "opcode": _patched(GOOD, 3, b"\x10"),
    "index": _patched(GOOD, 1, b"\0\x0a"),
    "queue": _patched(GOOD, 4, b"\0\0\x01"),
    "ds 0": _patched(GOOD, 7, b"\0"),
    "ds 1": _patched(GOOD, 7, b"\x01"),
    "ds one less": _patched(GOOD, 7, bytes([GOOD[7] - 1])),
    "ds one more": _patched(GOOD, 7, bytes([GOOD[7] + 1])),
    "ds 17": _patched(GOOD, 7, b"\x11"),
    "inline far too long": _patched(GOOD, 32, b"\x81\0\0\x64"),
    "two data segments": _patched(wqe.build(WQE.WRITE, 9, QPN, length=4), 7, b"\x04"),
    "nop with a segment": _patched(wqe.build(WQE.NOP, 9, QPN), 7, b"\x02"),
}


@pytest.mark.parametrize("kind", MALFORMED)
def test_malformed_is_an_error_with_opcode_and_index(kind):
    raw = MALFORMED[kind].ljust(320, b"\0")
    wr, payload = wqe.decode(raw, 9, QPN)
    assert payload == b""
    assert wr == wqe.refused(raw[3], 9)
    assert wr.error == CQE_SYN.LOC_QP_OP
