# SPDX-License-Identifier: Apache-2.0
"""How rdma's coverage sorts packets, ranges and refusals, apart from any run."""

import pytest

from models.protocol import OP, SYN, Hdr, Mr, RdmaCfg
from tb.rdma.coverage_errors import key_fault, syndrome_class
from tb.rdma.coverage_view import Packet, crossing, grouped, length_class, offset_class, outsider

CFG = RdmaCfg(qpn=7, src=1, dst=2, pkey=0x8005)
GOOD = {"opcode": int(OP.WRITE_ONLY), "dest_qp": 7, "src": 2, "dst": 1, "pkey": 0x0005}
REGIONS = [Mr(valid=1, key=9, base=0x1000, length=0x100, remote_write=1), Mr(valid=1, key=8, base=0, length=64)]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, ""), ({"opcode": 0x64}, "transport class"), ({"dest_qp": 0}, "queue pair 0"),
        ({"dest_qp": 8}, "other queue pair"), ({"pkey": 0x8000}, "partition 0"), ({"pkey": 0x8006}, "other partition"),
        ({"src": 3}, "source"), ({"dst": 3}, "destination"),
    ],
)  # fmt: skip
def test_outsiders_are_told_apart(fields, why):
    assert outsider(Hdr(**GOOD | fields), CFG) == why


def test_two_limited_members_do_not_talk():
    assert outsider(Hdr(**GOOD), RdmaCfg(qpn=7, src=1, dst=2, pkey=0x0005)) == "two limited members"


@pytest.mark.parametrize(
    ("key", "addr", "length", "right", "why"),
    [
        (9, 0x1000, 0x100, "remote_write", ""), (9, 0x1000, 0x101, "", "one byte beyond"), (9, 0x10FF, 9, "", "beyond"),
        (9, 0xFFF, 5, "", "one byte before"), (9, 0x10, 5, "", "before"), (7, 0x1000, 1, "", "key unknown"),
        (8, 0, 1, "remote_write", "right missing"), (9, (1 << 64) - 4, 5, "", "wraps around"),
    ],
)  # fmt: skip
def test_key_faults_are_told_apart(key, addr, length, right, why):
    assert key_fault(REGIONS, key, addr, length, right) == why
    assert key_fault([Mr()], key, addr, length, right) == "no entry valid"


def test_lengths_and_places():
    sizes = (0, 1, 2, 255, 256, 257, 258, 512, 513)
    assert [length_class(n, 256) for n in sizes] == [
        "0", "1", "below", "PMTU-1", "PMTU", "PMTU+1", "two packets", "two packets", "many packets",
    ]  # fmt: skip
    assert [crossing(0xFC0, n) for n in (63, 64, 65)] == ["within", "up to", "across"]
    assert [offset_class(a) for a in (64, 65, 70, 127)] == ["0", "1", "inside", "63"]


def test_messages_are_whole_ones():
    codes = (OP.WRITE_MIDDLE, OP.WRITE_FIRST, OP.WRITE_MIDDLE, OP.WRITE_LAST_IMM, OP.SEND_ONLY, OP.SEND_FIRST)
    found = grouped([Packet(Hdr(opcode=int(c)), 4, 10 * i, 10 * i) for i, c in enumerate(codes)])
    assert [(m.kind, m.size, m.dense) for m in found] == [("WRITE_IMM", 12, False), ("SEND", 4, True)]


def test_syndromes_are_told_apart():
    codes = (SYN.ACK_NO_CREDIT, SYN.RNR | 12, 0x60, 0x63, 0x64, 0x45, 0x9F)
    want = ["ACK", "RNR", "NAK 60", "NAK 63", "NAK reserved", "type 010", "type 1xx"]
    assert [syndrome_class(int(c)) for c in codes] == want
