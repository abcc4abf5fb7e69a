# SPDX-License-Identifier: Apache-2.0
"""Golden model of the switch's registers: every answer of the bus, its cycle, and what the switch is told when.

Written from spec/csr/switch.rdl (models/switch_regs.py) and latency.csr and latency.switch_csr of spec/fabric.toml.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence

from models.register_file import Key, RegisterFile
from models.registers import Field, Register
from models.spec import spec
from models.switch_regs import BLOCKS

GLOBAL, PORT = BLOCKS
CONFIGURATION = (
    ("MODE", "roce", 1), ("PREFIX", "prefix", 32), ("SEED", "seed", 16), ("MODE", "pfc", 1), ("PAUSE", "xoff", 16),
    ("PAUSE", "xon", 16), ("ECN", "frames", 16), ("MODE", "credit_en", 1), ("CREDIT", "cells", 16),
    ("ADAPT", "shift", 4),
)  # fmt: skip
"""Register, field and width of each cfg_* port of the switch, in the order of its header."""
COUNTERS = (
    "FRAMES_IN", "BEATS_IN", "FRAMES_OUT", "BEATS_OUT", "DROP_MALFORMED", "DROP_UNKNOWN", "DROP_LONG", "DROP_OVERFLOW",
    "DROP_NO_WAY", "CUT", "SHORT", "ABORTED", "LOST", "MC_LOST", "ECN_MARKED", "PAUSING", "PAUSED", "WAITED",
)  # fmt: skip
"""Counters of a port; those of the drop codes 1 to 8 are the fifth to the twelfth."""
DROPS = COUNTERS[4:12]
CREDITS = ("CREDITS01", "CREDITS23", "CREDITS45", "CREDITS67")
"""Registers of a port with the credits of two lanes each."""
READBACK = ("TABLE_READ", "GROUP_READ_MODE", "GROUP_READ_PORTS0", "GROUP_READ_PORTS1", "GROUP_READ_PORTS2")
"""Registers that show what TABLE_INDEX and GROUP_INDEX point at."""
JUDGED = ("MODE", "PAUSE", "HEADROOM", "CREDIT")
"""Registers that CONFIG_ERROR judges."""
Level = Sequence[tuple[int, int]]
"""``(cycle, value)`` whenever a value changes, the first at or before cycle 0."""
NEVER: Level = ((0, 0),)


def value_at(level: Level, at: int) -> int:
    """The value of a level at ``at``."""
    return level[max(0, bisect_right(level, at, key=lambda x: x[0]) - 1)][1]


def highest(level: Level, begin: int, end: int) -> int:
    """The highest value of a level from ``begin`` to ``end``, both included; 0 when there is no such cycle."""
    if begin > end:
        return 0
    first = max(0, bisect_right(level, begin, key=lambda x: x[0]) - 1)
    last = max(first + 1, bisect_right(level, end, key=lambda x: x[0]))
    return max(value for _, value in level[first:last])


class SwitchRegisters(RegisterFile):
    """Registers of a switch of ``ports`` ports.

    ``levels``: ``(cycle, link, live)`` of a port whenever they change, the first at or before cycle 0; ``in_use``:
    cells of a port's input; ``credits``: of a port's output and lane. All may be given later, as ``counted``.
    """

    def __init__(
        self,
        ports: int,
        design: Mapping[str, int],
        counted: Mapping[Key, Sequence[int]] | None = None,
        levels: Mapping[int, Sequence[tuple[int, int, int]]] | None = None,
        in_use: Mapping[int, Level] | None = None,
        credits: Mapping[tuple[int, int], Level] | None = None,
    ) -> None:
        super().__init__(BLOCKS, ports, design, counted)
        self.ports = ports
        self.levels: Mapping[int, Sequence[tuple[int, int, int]]] = levels or {}
        self.in_use: Mapping[int, Level] = in_use or {}
        self.credits: Mapping[tuple[int, int], Level] = credits or {}
        figures = spec()
        self._t |= {n: figures.integer(f"latency.switch_csr.{n}") for n in ("readback", "judge")}
        self._cleared: dict[tuple[str, str, int], int] = {}  # of register, field, port: cycle of the last such write
        self._table: dict[int, list[tuple[int, int, int]]] = {}  # (cycle, valid, group) by index
        self._groups: dict[int, list[tuple[int, int, int]]] = {}  # (cycle, mode, ports) by number
        self._wrong = [(0, self._errors())]
        self.cfg = [(0, self._configuration())]
        self.enable = [(0, 0)]
        self.tables: list[tuple[int, int, int, int]] = []
        """(cycle, index, valid, group) of each table write."""
        self.groups: list[tuple[int, int, int, int]] = []
        """(cycle, group, mode, mask of ports) of each group write."""

    def shown(self, reg: Register, field: Field, index: int, at: int) -> int:
        """STATUS: the port's link and whether it is live; cells in use and the most of them; credits; the tables."""
        since = at - self._t["status"]
        if reg.name in READBACK:
            return (self._copy(reg, at) & field.mask) >> field.low
        if reg.name in CREDITS:
            lane = 2 * CREDITS.index(reg.name) + (field.name == "odd")
            return value_at(self.credits.get((index, lane), NEVER), since)
        if reg.name == "CELLS":
            level = self.in_use.get(index, NEVER)
            if field.name == "used":
                return value_at(level, since)
            lag = self._t["count"]
            return highest(level, self._cleared.get((reg.name, field.name, index), 1) - lag + 1, at - lag)
        _, link, live = [x for x in self.levels.get(index, [(0, 0, 0)]) if x[0] <= since][-1]
        return {"link": link, "live": live}[field.name]

    def seen(self, reg: Register, field: Field, at: int) -> int:
        """CONFIG_ERROR: set by what was judged in a cycle, unless cleared in a later one."""
        since = self._cleared.get((reg.name, field.name, 0), 0)
        lag = self._t["judge"] - 1
        return int(any(mask & field.mask for mask in self._errors_in(since - lag + 1, at - lag)))

    def _copy(self, reg: Register, at: int) -> int:
        """TABLE_READ and GROUP_READ_* as a read of cycle ``at`` sees them."""
        table = reg.name == "TABLE_READ"
        index = GLOBAL.register("TABLE_INDEX" if table else "GROUP_INDEX")
        number = self._value(index, 0, at - self._t["readback"] + 1)
        rows = (self._table if table else self._groups).get(number, [])
        known = [row for row in rows if row[0] <= at - self._t["readback"]]
        if not known:
            return 0
        _, what, which = known[-1]
        if table:
            return what << 31 | which if what else 0
        if reg.name == "GROUP_READ_MODE":
            return 1 << 31 | what
        return which >> 32 * int(reg.name[-1]) & 0xFFFFFFFF

    def _errors(self) -> int:
        """Bits of CONFIG_ERROR for the configuration as it was written last."""
        words = {name: self.stored(GLOBAL.register(name), 0) for name in JUDGED}
        mode, xoff, xon = words["MODE"], words["PAUSE"] & 0xFFFF, words["PAUSE"] >> 16
        pfc, credit_en = mode >> 1 & 1, mode >> 2 & 1
        over = xoff + words["HEADROOM"] > self.design["CELLS"] // self.design["LANES"]
        return (
            (pfc and over) | (pfc and (xoff == 0 or xon > xoff)) << 1
            | (credit_en and words["CREDIT"] <= self.design["MAX_BEATS"]) << 2
        )  # fmt: skip

    def _errors_in(self, begin: int, end: int) -> list[int]:
        """The judgements of the configuration between two register cycles, both included."""
        if begin > end:
            return []
        first = max(0, bisect_right(self._wrong, begin, key=lambda x: x[0]) - 1)
        return [mask for cycle, mask in self._wrong[first:] if cycle <= end]

    def after(self, reg: Register, index: int, data: int, mask: int, at: int) -> None:
        """Configuration, enables, table and group writes; what is cleared or starts anew."""
        then = at + self._t["configure"]
        for f in reg.fields:
            if (f.access == "w1c" and data & mask & f.mask) or (f.access == "anew" and mask & f.mask):
                self._cleared[reg.name, f.name, index] = at
        if reg.name in JUDGED:
            self.change(self._wrong, then, self._errors())
        if reg.name == "CTRL":
            old = self.enable[-1][1]
            self.change(self.enable, then, old & ~(1 << index) | (self.stored(reg, index) & 1) << index)
        elif reg.name == "TABLE_ENTRY" and mask >> 31:
            entry = self.stored(reg, 0)
            self._command("TABLE_INDEX", at, entry & 0xFFFF, 1 << self.design["ADDR_W"], valid=entry >> 31)
        elif reg.name == "GROUP_MODE" and mask & 1:
            self._command("GROUP_INDEX", at, self.stored(reg, 0), self.design["GROUPS"])
        elif any(reg.name == name for name, _, _ in CONFIGURATION):
            self.change(self.cfg, then, self._configuration())

    def _command(self, counter: str, at: int, operand: int, limit: int, valid: int | None = None) -> None:
        """A write of a table entry (``valid`` given) or of a group's mode: it may be refused; the index counts up."""
        number = self._value(GLOBAL.register(counter), 0, at + 1)
        fits = number < limit and (valid is None or operand < self.design["GROUPS"])
        insort(self._inner.setdefault((counter, 0), []), at + 1)
        if not fits:
            insort(self._inner.setdefault(("REFUSED", 0), []), at + 1)
        elif valid is not None:
            self.tables.append((at + self._t["table"], number, valid, operand))
            self._table.setdefault(number, []).append((at + self._t["table"], valid, operand))
        else:
            words = [self.stored(GLOBAL.register(f"GROUP_PORTS{i}"), 0) for i in range(3)]
            mask = (words[0] | words[1] << 32 | words[2] << 64) & ((1 << self.ports) - 1)
            self.groups.append((at + self._t["table"], number, operand, mask))
            self._groups.setdefault(number, []).append((at + self._t["table"], operand, mask))

    def _configuration(self) -> int:
        """The cfg_* ports as one vector, the first of CONFIGURATION lowest."""
        total, low = 0, 0
        for name, part, width in CONFIGURATION:
            reg = GLOBAL.register(name)
            f = reg.field(part)
            total |= ((self.stored(reg, 0) & f.mask) >> f.low) << low
            low += width
        return total
