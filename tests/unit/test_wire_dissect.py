# SPDX-License-Identifier: Apache-2.0
"""Frames taken apart for coverage, against the fields that they were made of; reasons to drop one, by name."""

import numpy as np
import pytest

from models.protocol import Hdr, WireCfg
from models.wire import DROP_FORMAT, build_frame, parse_frame
from tb.wire.coverage import REASONS
from tb.wire.dissect import carries, checksum_carries, dissect, why_dropped
from tb.wire.packets import random_cfg, wire_frame
from tb.wire.spoiled import spoiled

RNG = np.random.default_rng(1)


@pytest.mark.parametrize("roce", [0, 1])
@pytest.mark.parametrize("opcode", range(0x14))
def test_fields_are_those_that_went_in(opcode, roce):
    for length in (0, 1, 2, 3, 64, 4096):
        cfg = random_cfg(RNG, roce)
        h = Hdr(opcode=opcode, len=length, psn=0xFFFFFF - opcode, fecn=opcode & 1, becn=roce, src=7, dst=9)
        frame = build_frame(h, RNG.bytes(length), cfg)
        seen = dissect(frame, bool(roce))
        assert (seen.opcode, seen.length, seen.pad, seen.psn) == (opcode, length, -length % 4, h.psn)
        assert (seen.fecn, seen.becn, seen.size) == (h.fecn, h.becn, len(frame))
        assert (seen.vl, seen.tos, seen.ttl) == ((0, cfg.tos, cfg.ttl) if roce else (cfg.vl, 0, 0))
        assert why_dropped(frame, bool(roce)) == ()


def test_header_stacks():
    assert carries(0x04) == () and carries(0x0A) == ("reth",) and carries(0x0B) == ("reth", "imm")
    assert carries(0x05) == ("imm",) and carries(0x11) == ("aeth",) and carries(0xC3) == ()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([0x4500, 60, 0, 0x4000, 0x4011, 0xAAAA, 0, 1, 0, 2], "none"),
        ([0xFFFF, 2, 0, 0, 0, 7, 0, 0, 0, 0], "one"),
        ([0xFFFF, 0xFFFF, 0, 0, 0, 7, 0, 0, 0, 1], "two"),  # 0x1FFFF, 0x10000, 1
        ([0xFFFF, 0xFFFF, 0, 0, 0, 7, 0, 0, 0, 0], "zero"),  # 0x1FFFE, 0xFFFF
        ([0xFF00, 0xFF, 0, 0, 0, 7, 0, 0, 0, 0], "zero"),
    ],
)
def test_carries_of_the_checksum(words, said):
    assert checksum_carries(b"".join(w.to_bytes(2, "big") for w in words)) == said


@pytest.mark.parametrize("roce", [0, 1])
def test_every_format_drop_has_a_reason_and_every_reason_a_frame_of_its_own(roce):
    alone = set()
    for frame in spoiled(RNG, random_cfg(RNG, roce)):
        why = why_dropped(frame, bool(roce))
        if parse_frame(frame, bool(roce))[0] == DROP_FORMAT:
            assert why
        if len(why) == 1:
            alone.add(why[0])
    assert {*REASONS["roce" if roce else "native"], *REASONS["both"]} <= alone


def test_good_frames_have_no_reason():
    for roce in (0, 1):
        for n in (0, 5, 4096):
            assert why_dropped(wire_frame(RNG, 0x0B, n, WireCfg(roce=roce)), bool(roce)) == ()
