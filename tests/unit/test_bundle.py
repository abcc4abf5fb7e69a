# SPDX-License-Identifier: Apache-2.0
"""Bundles pack as a SystemVerilog packed struct does."""

import pytest

from models.protocol import OP, Hdr, Mr


def test_first_field_is_most_significant():
    mr = Mr(valid=1, remote_write=1)
    assert mr.pack() == 1 << (Mr.width() - 1) | 1


def test_round_trip():
    hdr = Hdr(dst=7, opcode=OP.WRITE_ONLY, psn=0xFFFFFF, va=1 << 63, len=4096)
    assert Hdr.unpack(hdr.pack()) == hdr


def test_value_too_wide_names_the_field():
    with pytest.raises(ValueError, match=r"Hdr.psn is 0x1000000; allowed: 0..0xffffff"):
        Hdr(psn=1 << 24).pack()
