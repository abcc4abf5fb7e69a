# SPDX-License-Identifier: Apache-2.0
"""Requests, the 16-bit comparison of the collapsed completion entry, and the oracle."""

from __future__ import annotations

from random import Random

import pytest

from models.protocol import WQE
from models.sq_decode import decode
from tb.producers.queue import Oracle, Queue, pending, preset, rebuilt
from tb.producers.requests import Request, cpu_request, gpu_request

RINGS = [1 << log for log in range(16)]


@pytest.mark.parametrize("ring", RINGS)
def test_the_comparison_is_right_for_every_depth(ring: int) -> None:
    """All distances that can be there (a ring ahead, far behind), at starts around the wraps."""
    step = max(1, ring // 64)
    behind = 0xFFFF - ring
    distances = sorted({*range(-ring, ring + 1, step), -1, 0, 1, ring - 1, ring, -behind, -behind + 1})
    for done in (0, 1, ring - 1, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF, 0x10000, 0x12345, 0x20000):
        counter = (done - 1) & 0xFFFF
        for ahead in distances:
            target = done + ahead
            if ahead < -behind or target < 0:
                continue
            assert pending(target, counter, ring) == (target > done), (done, target)
            if target <= done:
                assert rebuilt(target, counter) == done


def test_the_preset_entry_is_one_that_nothing_completed() -> None:
    for first in (0, 1, 0xFFFF, 0x10005):
        queue = Queue(1, 0, 0, 4, 0x1000, 0x2000, first=first)
        entry = preset(queue)
        counter = int.from_bytes(entry[60:62], "big")
        assert entry[63] >> 4 == 15 and len(entry) == 64
        assert not pending(first, counter, queue.ring)
        assert all(pending(first + n, counter, queue.ring) for n in range(1, queue.ring + 1))


def test_requests_are_what_the_decoder_makes_of_their_wqes() -> None:
    rng = Random(7)
    opcodes, blocks = set(), set()
    for index in range(400):
        request = gpu_request(rng) if index % 2 else cpu_request(rng)
        raw = request.raw(index, 0x123456)
        assert len(raw) == 64 * request.blocks
        assert decode(raw, index, 0x123456) == request.expected(index, 0x123456)
        opcodes.add(request.opcode)
        blocks.add(request.blocks)
    assert blocks == {1, 2, 3, 4}
    assert {WQE.WRITE, WQE.WRITE_IMM, WQE.SEND, WQE.SEND_IMM, WQE.READ, WQE.ATOMIC_CS, WQE.ATOMIC_FA} <= opcodes


class TestOracle:
    """One queue, three requests of one block."""

    def setup_method(self) -> None:
        self.queue = Queue(5, 0, 0, 4, 0x1000, 0x2000, first=0xFFFF)
        self.oracle = Oracle([self.queue])
        self.requests = [Request(WQE.WRITE, 100 + i, 1, inline=bytes([i])) for i in range(3)]
        for i, request in enumerate(self.requests):
            self.queue.post(0xFFFF + i, request)

    def hand(self, i: int) -> None:
        self.oracle.hand(10, *self.requests[i].expected(0xFFFF + i, 5))

    def kinds(self, stuck: list[str] | None = None) -> list[str]:
        self.oracle.finish(99, stuck or [])
        return [f.kind for f in self.oracle.faults]

    def test_silent_when_all_is_well(self) -> None:
        for i in range(3):
            self.hand(i)
        self.oracle.write(5, 0x1004, (2).to_bytes(4, "big"))
        assert self.kinds() == []

    def test_lost(self) -> None:
        self.hand(0)
        assert self.kinds() == ["lost"]

    def test_twice_and_out_of_order(self) -> None:
        self.hand(0)
        self.hand(0)
        self.hand(2)
        self.hand(1)
        assert self.kinds() == ["order", "order", "lost"]

    def test_other_content(self) -> None:
        wr, _ = self.requests[0].expected(0xFFFF, 5)
        self.oracle.hand(10, wr, b"x")
        assert self.kinds() == ["content", "lost"]

    def test_error_stranger_stuck(self) -> None:
        wr, _ = self.requests[0].expected(0xFFFF, 5)
        wr.error = 2
        self.oracle.hand(10, wr, b"")
        wr.qpn = 6
        self.oracle.hand(11, wr, b"")
        assert self.kinds(["t"]) == ["error", "stranger", "lost", "hung"]

    def test_a_record_that_moves_back(self) -> None:
        for value in (0xFFFF, 1, 0):
            self.oracle.write(5, 0x1004, value.to_bytes(4, "big"))
        assert self.kinds()[0] == "back"

    def test_two_that_took_one_index(self) -> None:
        self.queue.post(0xFFFF, self.requests[1])
        self.hand(0)
        assert "content" in self.kinds()
