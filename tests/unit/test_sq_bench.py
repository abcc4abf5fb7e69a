# SPDX-License-Identifier: Apache-2.0
"""The send queues' bench itself: WQEs against the model's decoder, the judgement of turns by turns made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from models.protocol import WQE
from models.sq_decode import decode
from tb.sq.scene import Queue
from tb.sq.turns import Block, Turns
from tb.sq.wqes import FAULTS, bad, good, max_inline, max_sges, of_blocks


class Weighted:
    """What the judgement looks at in a queue."""

    def __init__(self, weight: int) -> None:
        self.ctx = self
        self.weight = weight


def judged(weights: list[int], order: list[int]) -> list[str]:
    queues: list[Queue] = [Weighted(w) for w in weights]  # type: ignore[misc]
    return Turns(queues, [Block(i, q, 0) for i, q in enumerate(order)], []).unfair(0, len(order))


@pytest.mark.parametrize("op", list(WQE))
def test_good_wqes_decode_to_what_was_asked_for(op: int) -> None:
    rng = np.random.default_rng(op)
    for index in range(200):
        p = good(rng, index * 331, 0x123456, op)
        assert decode(p.raw, index * 331 & 0xFFFF, 0x123456) == (p.wr, p.payload)
    for blocks in range(1, 5):
        assert of_blocks(rng, 7, 9, blocks).blocks == blocks


def test_sizes_at_the_limit_fill_four_blocks() -> None:
    rng = np.random.default_rng(1)
    assert good(rng, 0, 1, WQE.SEND, inline=max_inline(WQE.SEND)).blocks == 4
    assert good(rng, 0, 1, WQE.READ, sges=max_sges(WQE.READ)).blocks == 4


@pytest.mark.parametrize("fault", list(FAULTS))
def test_malformed_wqes_decode_to_their_error(fault: str) -> None:
    rng = np.random.default_rng(2)
    for index in range(100):
        p = bad(rng, index, 77, fault)
        wr, payload = decode(p.raw[:256], index, 77)
        assert (wr.error, wr.opcode, wr.wqe_index, payload) == (p.wr.error, p.raw[3], index, b"")
        assert len(p.raw) == 64 * max(1, -(-(p.raw[7] & 63) // 4))


def test_fair_turns_are_not_complained_about() -> None:
    assert judged([1, 2, 3], [0, 1, 1, 2, 2, 2] * 5) == []
    assert judged([0, 0], [0, 1] * 5) == []


def test_what_nobody_else_could_use_is_fair():
    assert judged([1, 2], ([0] * 5 + [1] * 5) * 5) == []
    assert "in a turn" in judged([1, 2], ([0] * 6 + [1] * 5) * 5)[0]


def test_unfair_turns_are_seen() -> None:
    assert "in a turn" in judged([5, 6], [0] * 5 + [1] * 7 + ([0] * 5 + [1] * 6) * 5)[0]
    assert "waited" in judged([5, 5, 5], [q for q in (0, 1, 2, 1, 0, 2) * 5 for _ in range(5)])[0]
    assert "shares" in judged([5, 16], ([0] * 5 + [1] * 5) * 10)[0]
    assert "nothing was judged" in judged([1, 1], [0, 1])[0]
