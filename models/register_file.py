# SPDX-License-Identifier: Apache-2.0
"""Golden model of registers behind AXI4-Lite: what every block's registers have in common.

Written from the maps (spec/csr) and latency.csr of spec/fabric.toml. "At cycle *c*": shown by the register or the
port during *c*. Accesses come one after the other, as tb/hdl/axil_player.sv offers them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from models.registers import WORD, Block, Field, Register
from models.spec import spec

OKAY, SLVERR = 0, 2
WRITE, READ, BOTH = 1, 2, 3
Key = tuple[str, int]  # register, copy of its block (0 where there is one)


@dataclass(frozen=True)
class Access:
    """One access. ``kind``: WRITE, READ, or BOTH of one address at once. ``cycle``: earliest to offer; ``a_late``,
    ``w_late``: cycles by which AW (and AR) and W come later; ``hold``: cycles before which the answer is not taken."""

    cycle: int
    kind: int
    addr: int
    data: int = 0
    strb: int = 15
    a_late: int = 0
    w_late: int = 0
    hold: int = 0


@dataclass(frozen=True)
class Answer:
    """A response that was taken at ``cycle``; ``data`` is 0 for a write."""

    cycle: int
    kind: int
    addr: int
    resp: int
    data: int


def locate(blocks: Sequence[Block], addr: int, copies: int) -> tuple[Block, int, Register] | None:
    """Block, copy and register at a byte address (its lowest two bits do not count); None where there is none.
    Blocks with a stride have ``copies`` copies."""
    addr &= ~(WORD - 1)
    for block in blocks:
        for index in range(copies if block.stride else 1):
            offset = addr - block.base - index * block.stride
            for reg in block.registers:
                if reg.offset == offset:
                    return block, index, reg
    return None


class RegisterFile:
    """Registers of ``blocks``. ``design``: the design's parameters by name; ``counted``: cycles of each counter's
    events, rising, a cycle as often as it counts. It may be given later, but before an access that reads it.

    A block adds :meth:`shown` (what hardware shows), :meth:`seen` (sticky bits) and :meth:`after` (what a write does).
    """

    def __init__(
        self,
        blocks: tuple[Block, ...],
        copies: int,
        design: Mapping[str, int],
        counted: Mapping[Key, Sequence[int]] | None = None,
    ) -> None:
        figures = spec()
        names = ("access", "answer", "turn", "configure", "table", "count", "status")
        self._t = {n: figures.integer(f"latency.csr.{n}") for n in names}
        self.blocks, self.copies, self.design = blocks, copies, design
        self.counted: Mapping[Key, Sequence[int]] = counted or {}
        self._word: dict[Key, int] = {}  # last written; of a counter: what it was then
        self._since: dict[Key, int] = {}  # cycle of that write: events that increment from there on count on top
        self._inner: dict[Key, list[int]] = {}  # increments by commands
        self._wrote = False

    # --- what a block adds -----------------------------------------------------------------------------------------

    def shown(self, reg: Register, field: Field, index: int, at: int) -> int:
        """What a read of cycle ``at`` finds in a field that hardware gives, or a measure that a write starts anew."""
        raise NotImplementedError(f"{reg.name}.{field.name}")

    def seen(self, reg: Register, field: Field, at: int) -> int:
        """The same of a field whose bits stay until they are cleared."""
        raise NotImplementedError(f"{reg.name}.{field.name}")

    def before(self, at: int) -> None:
        """Called ahead of a write of cycle ``at``."""

    def after(self, reg: Register, index: int, data: int, mask: int, at: int) -> None:
        """What a write of ``data`` under ``mask`` does, besides storing what can be stored."""

    # --- registers -------------------------------------------------------------------------------------------------

    def stored(self, reg: Register, index: int) -> int:
        """What was written last, or the reset value."""
        return self._word.get((reg.name, index), reg.reset)

    def _count(self, key: Key, at: int) -> int:
        """A counter as it is at ``at``."""
        since = self._since.get(key)
        events = self.counted.get(key, ())
        lag = self._t["count"] - 1  # from an event to its increment, seen from the cycle after that
        low = 0 if since is None else bisect_left(events, since - lag)
        total = bisect_left(events, at - lag) - low
        inner = self._inner.get(key, [])
        total += bisect_left(inner, at) - (0 if since is None else bisect_left(inner, since))
        return (self._word.get(key, 0) + max(0, total)) & 0xFFFFFFFF

    def value(self, name: str, index: int, at: int) -> int:
        """Register ``name`` in copy ``index`` of its block as a read of cycle ``at`` sees it."""
        reg = next(r for block in self.blocks for r in block.registers if r.name == name)
        return self._value(reg, index, at)

    def _value(self, reg: Register, index: int, at: int) -> int:
        total = 0
        for f in reg.fields:
            if f.parameter:
                part = self.design[f.parameter] << f.low
            elif f.counter:
                part = self._count((reg.name, index), at) << f.low
            elif f.access == "pulse":
                part = 0
            elif f.access == "w1c":
                part = self.seen(reg, f, at) << f.low
            elif f.reset is None or f.access == "anew":
                part = self.shown(reg, f, index, at) << f.low
            else:
                part = self.stored(reg, index)
            total |= part & f.mask
        return total

    def read(self, addr: int, at: int) -> tuple[int, int]:
        """Response and data of a read of cycle ``at``."""
        found = locate(self.blocks, addr, self.copies)
        return (SLVERR, 0) if found is None else (OKAY, self._value(found[2], found[1], at))

    def write(self, addr: int, data: int, strb: int, at: int) -> int:
        """Response of a write of cycle ``at``, and all that it does."""
        found = locate(self.blocks, addr, self.copies)
        if found is None:
            return SLVERR
        _, index, reg = found
        self.before(at)
        strobed = sum(0xFF << 8 * i for i in range(WORD) if strb >> i & 1)
        mask = strobed & reg.writable
        if reg.writable:
            old = self._value(reg, index, at)
            self._word[reg.name, index] = (old & ~mask) | (data & mask)
            self._since[reg.name, index] = at
        self.after(reg, index, data, strobed, at)
        return OKAY

    @staticmethod
    def change(history: list[tuple[int, int]], cycle: int, value: int) -> None:
        """``value`` from ``cycle`` on, if it is another."""
        if value != history[-1][1]:
            history.append((cycle, value))

    # --- the bus ---------------------------------------------------------------------------------------------------

    def play(self, accesses: Iterable[Access]) -> list[Answer]:
        """Answers in the order in which they are taken."""
        answers: list[Answer] = []
        free = 1  # first cycle in which the next access may be offered
        for a in accesses:
            start = max(a.cycle, free)
            waiting = []
            if a.kind & WRITE:
                waiting.append((start + max(a.a_late, a.w_late), self._wrote, WRITE))
            if a.kind & READ:
                waiting.append((start + a.a_late, not self._wrote, READ))
            mine = []
            done = 0  # register's cycle of the access before
            for accepted, _, kind in sorted(waiting):
                at = max(accepted + self._t["access"], done + self._t["turn"] if done else 0)
                resp, data = self.read(a.addr, at) if kind == READ else (self.write(a.addr, a.data, a.strb, at), 0)
                mine.append(Answer(max(at + self._t["answer"], start + a.hold), kind, a.addr, resp, data))
                self._wrote = kind == WRITE
                done = at
            answers += sorted(mine, key=lambda x: (x.cycle, x.kind))
            free = answers[-1].cycle + 1
        return answers
