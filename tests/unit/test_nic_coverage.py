# SPDX-License-Identifier: Apache-2.0
"""The quick reading of frames for coverage says what scapy says."""

import pytest

from models.protocol import OP, Hdr
from tb.common.beats import Frame
from tb.nic import frames
from tb.nic.packets import parse

CASES = [
    (OP.WRITE_ONLY_IMM, {"va": 0x1234567890, "rkey": 0xABCD, "dmalen": 77, "imm": 0x11223344}, 77),
    (OP.WRITE_FIRST, {"va": 1, "rkey": 2, "dmalen": 2048}, 1024),
    (OP.SEND_LAST_IMM, {"imm": 9}, 3),
    (OP.ACKNOWLEDGE, {"syndrome": 0x62, "msn": 0xABCDEF}, 0),
    (OP.SEND_MIDDLE, {}, 256),
]


@pytest.mark.parametrize("roce", [False, True])
@pytest.mark.parametrize(("opcode", "fields", "size"), CASES)
def test_headers_and_pad(opcode, fields, size, roce):
    payload = bytes(range(256)) * 4
    src, dst = (0xC0A80001, 0xC0A80002) if roce else (0x22, 0x11)
    h = Hdr(
        dst=dst,
        src=src,
        opcode=int(opcode),
        pkey=0x8005,
        dest_qp=0xA11,
        psn=0xFFFFFE,
        ackreq=1,
        se=1,
        len=size,
        **fields,
    )
    frame = frames.assemble(h, payload[:size], roce)
    found = parse(Frame(frame, cycles=(3, 9)), roce)
    assert (found.hdr, found.size) == (h, size)
    assert (found.pad, found.first, found.last) == (-size % 4, 3, 9)
    assert frames.dissect(frame, roce) == (h, payload[:size])
