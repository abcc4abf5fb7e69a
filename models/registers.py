# SPDX-License-Identifier: Apache-2.0
"""What a register map is made of. Addresses and offsets are bytes, registers 32 bits wide."""

from __future__ import annotations

from dataclasses import dataclass

WORD = 4  # bytes of a register


@dataclass(frozen=True)
class Field:
    """Bits ``low`` to ``low + width - 1``. ``access``: "rw", "ro", "w1c" (set by hardware, cleared by writing 1),
    "pulse" (acts when 1 is written, reads 0) or "anew" (a write to one of its bytes starts it anew, whatever is
    written); ``reset``: None when hardware gives the value.

    ``counter``: counts events, wraps. ``parameter``: the design parameter whose value it shows, or "".
    """

    name: str
    low: int
    width: int
    access: str
    reset: int | None
    counter: bool
    parameter: str

    @property
    def mask(self) -> int:
        """Its bits in the register."""
        return ((1 << self.width) - 1) << self.low


@dataclass(frozen=True)
class Register:
    """A register at ``offset`` of its block."""

    name: str
    offset: int
    fields: tuple[Field, ...]

    @property
    def writable(self) -> int:
        """Bits that keep what software writes."""
        return sum(f.mask for f in self.fields if f.access == "rw")

    @property
    def reset(self) -> int:
        """Value after reset, without the bits that hardware gives."""
        return sum(f.reset << f.low for f in self.fields if f.reset is not None)

    def field(self, name: str) -> Field:
        """The field called ``name``; KeyError when there is none."""
        return {f.name: f for f in self.fields}[name]


@dataclass(frozen=True)
class Block:
    """``count`` copies of some registers, the first at ``base``, ``stride`` bytes apart."""

    name: str
    base: int
    count: int
    stride: int
    registers: tuple[Register, ...]

    def register(self, name: str) -> Register:
        """The register called ``name``; KeyError when there is none."""
        return {r.name: r for r in self.registers}[name]

    def address(self, name: str, index: int = 0) -> int:
        """Byte address of register ``name`` in copy ``index``."""
        return self.base + index * self.stride + self.register(name).offset
