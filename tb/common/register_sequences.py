# SPDX-License-Identifier: Apache-2.0
"""Stimulus of any registers, made from the map itself: a register or field that the map gains is tested too.

A block derives its own classes from these and from one that says which registers they are (:class:`RegisterSequence`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from models.register_file import BOTH, READ, WRITE, Access
from models.registers import Block, Register
from tb.common.uvm import PhaseItem, PhaseSequence

FULL = 0xFFFFFFFF


class RegisterSequence(PhaseSequence):
    """Says what the registers are: ``blocks``, ``copies`` (of those with a stride), ``some`` of the copies."""

    blocks: tuple[Block, ...]
    copies = 1
    some: Sequence[int] = (0,)

    def item(self, name: str, accesses: Sequence[Access]) -> PhaseItem:
        """A phase of accesses in which nothing else happens."""
        raise NotImplementedError

    def holes(self) -> list[int]:
        """Byte addresses without a register."""
        raise NotImplementedError

    def every(self, copies: Sequence[int] | None = None) -> Iterator[tuple[Block, Register, int]]:
        """Block, register and byte address of each register, those of a block with copies for each of ``copies``."""
        for block in self.blocks:
            for index in (range(self.copies) if copies is None else copies) if block.stride else (0,):
                for reg in block.registers:
                    yield block, reg, block.address(reg.name, index)


class ResetValues(RegisterSequence):
    """Every register of every copy read once after reset."""

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Reads only."""
        return self.item("reset", [Access(1, READ, a) for _, _, a in self.every()])


class Bits(RegisterSequence):
    """Walking ones, zeros and byte strobes on every register, read back after each write: fields that can be written
    keep what was written, all others what they were."""

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """All registers, those of some copies."""
        accesses = []
        for _, reg, addr in self.every(self.some):
            values = [1 << bit for bit in range(32)] + [FULL ^ 1 << bit for bit in range(32)] + [0, FULL]
            if not reg.writable:
                values = [FULL, 0x5555AAAA]
            for value in values:
                accesses += [Access(1, WRITE, addr, value), Access(1, READ, addr)]
            for strb in range(16):
                accesses += [Access(1, WRITE, addr, int(rng.integers(1 << 32)), strb), Access(1, READ, addr)]
        return self.item("bits", accesses)


class Addresses(RegisterSequence):
    """Each register its own value, then all read; then where there is none: an error, and nothing else changes."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Phase 0: own values, last copy first and unaligned addresses; phase 1: holes."""
        known = list(self.every())
        if index == 0:
            places = [a + int(rng.integers(4)) for _, _, a in reversed(known)]
            writes = [Access(1, WRITE, a, int(rng.integers(1 << 32))) for a in places]
            return self.item("own values", writes + [Access(1, READ, a) for _, _, a in known])
        accesses = [Access(1, WRITE, a, int(rng.integers(1 << 32))) for _, _, a in known]
        for addr in self.holes():
            accesses += [Access(1, READ, addr), Access(1, WRITE, addr, FULL)]
        return self.item("holes", accesses + [Access(1, READ, a) for _, _, a in known])


class Bus(RegisterSequence):
    """AW and W in any order and apart, answers that wait, a read and a write at once, gaps between accesses."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Random accesses to all registers, and some holes."""
        known = [a for _, _, a in self.every(self.some)]
        lost = self.holes()
        accesses = []
        at = 1
        for _ in range(400):
            addr = int(rng.choice(lost if rng.random() < 0.1 else known))
            a_late, w_late = (rng.integers(0, 8, 2) * (rng.random(2) < 0.5)).tolist()
            hold = int(rng.integers(20)) if rng.random() < 0.4 else 0
            kind = int(rng.choice((READ, WRITE, BOTH)))
            accesses.append(
                Access(at, kind, addr, int(rng.integers(1 << 32)), int(rng.integers(16)), a_late, w_late, hold)
            )
            at += int(rng.integers(0, 20))
        return self.item("bus", accesses)
