# SPDX-License-Identifier: Apache-2.0
"""Named fields packed into one integer, first field in the most significant bits (a packed struct)."""

from __future__ import annotations

from typing import ClassVar, Self


class Bundle:
    """Base of the generated dataclasses in ``models.protocol``."""

    __slots__ = ()
    WIDTHS: ClassVar[tuple[tuple[str, int], ...]] = ()

    @classmethod
    def width(cls) -> int:
        """Bits of the packed form."""
        return sum(w for _, w in cls.WIDTHS)

    def pack(self) -> int:
        """All fields as one integer; raises ValueError when a value does not fit its field."""
        word = 0
        for name, width in self.WIDTHS:
            value = getattr(self, name)
            if not 0 <= value < 1 << width:
                raise ValueError(f"{type(self).__name__}.{name} is {value:#x}; allowed: 0..{(1 << width) - 1:#x}")
            word = word << width | value
        return word

    @classmethod
    def unpack(cls, word: int) -> Self:
        """Fields of the packed form ``word``."""
        values = {}
        for name, width in reversed(cls.WIDTHS):
            values[name] = word & ((1 << width) - 1)
            word >>= width
        return cls(**values)
