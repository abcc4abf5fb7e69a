# SPDX-License-Identifier: Apache-2.0
"""Golden model of the switch's registers: every answer of the bus, its cycle, and what the switch is told when.

Written from spec/csr/switch.rdl (models/switch_regs.py) and latency.switch_csr of spec/fabric.toml. "At cycle *c*":
shown by the register or the port during *c*. Accesses come one after the other, as tb/hdl/axil_player.sv offers them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from models.registers import WORD, Block, Register
from models.spec import spec
from models.switch_regs import BLOCKS

OKAY, SLVERR = 0, 2
WRITE, READ, BOTH = 1, 2, 3
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
Key = tuple[str, int]  # register, port (0 for the global ones)
Level = Sequence[tuple[int, int]]
"""``(cycle, value)`` whenever a value changes, the first at or before cycle 0."""
NEVER: Level = ((0, 0),)


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


def locate(addr: int, ports: int) -> tuple[Block, int, Register] | None:
    """Block, copy and register at a byte address (its lowest two bits do not count); None where there is none."""
    addr &= ~(WORD - 1)
    for block in BLOCKS:
        for index in range(ports if block.stride else 1):
            offset = addr - block.base - index * block.stride
            for reg in block.registers:
                if reg.offset == offset:
                    return block, index, reg
    return None


def shown(level: Level, at: int) -> int:
    """The value of a level at ``at``."""
    return level[max(0, bisect_right(level, at, key=lambda x: x[0]) - 1)][1]


def highest(level: Level, begin: int, end: int) -> int:
    """The highest value of a level from ``begin`` to ``end``, both included; 0 when there is no such cycle."""
    if begin > end:
        return 0
    first = max(0, bisect_right(level, begin, key=lambda x: x[0]) - 1)
    last = max(first + 1, bisect_right(level, end, key=lambda x: x[0]))
    return max(value for _, value in level[first:last])


@dataclass
class SwitchRegisters:
    """Registers of a switch of ``ports`` ports; ``design``: its parameters by name.

    ``counted``: cycles of each counter's events, rising; ``levels``: ``(cycle, link, live)`` of a port whenever they
    change, the first at or before cycle 0; ``in_use``: cells of a port's input; ``credits``: of a port's output and
    lane. All may be given later, but before an access that reads them.
    """

    ports: int
    design: Mapping[str, int]
    counted: Mapping[Key, Sequence[int]] = field(default_factory=dict)
    levels: Mapping[int, Sequence[tuple[int, int, int]]] = field(default_factory=dict)
    in_use: Mapping[int, Level] = field(default_factory=dict)
    credits: Mapping[tuple[int, int], Level] = field(default_factory=dict)

    def __post_init__(self) -> None:
        figures = spec()
        names = ("access", "answer", "turn", "configure", "table", "count", "status", "readback", "judge")
        self._t = {n: figures.integer(f"latency.switch_csr.{n}") for n in names}
        self._word: dict[Key, int] = {}  # last written; of a counter: what it was then
        self._since: dict[Key, int] = {}  # cycle of that write: events that increment from there on count on top
        self._inner: dict[Key, list[int]] = {}  # increments by commands
        self._cleared: dict[tuple[str, str, int], int] = {}  # of register, field, port: cycle of the last such write
        self._table: dict[int, list[tuple[int, int, int]]] = {}  # (cycle, valid, group) by index
        self._groups: dict[int, list[tuple[int, int, int]]] = {}  # (cycle, mode, ports) by number
        self._wrote = False
        self._wrong = [(0, self._errors())]
        self.cfg = [(0, self._configuration())]
        self.enable = [(0, 0)]
        self.tables: list[tuple[int, int, int, int]] = []
        """(cycle, index, valid, group) of each table write."""
        self.groups: list[tuple[int, int, int, int]] = []
        """(cycle, group, mode, mask of ports) of each group write."""

    # --- registers -------------------------------------------------------------------------------------------------

    def _stored(self, reg: Register, index: int) -> int:
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
        """Register ``name`` of port ``index`` (global: 0) as a read of cycle ``at`` sees it."""
        block = PORT if any(r.name == name for r in PORT.registers) else GLOBAL
        return self._value(block.register(name), index, at)

    def _value(self, reg: Register, index: int, at: int) -> int:
        if reg.name == "STATUS":
            _, link, live = [x for x in self.levels.get(index, [(0, 0, 0)]) if x[0] <= at - self._t["status"]][-1]
            return link << reg.field("link").low | live << reg.field("live").low
        if reg.name in READBACK:
            return self._copy(reg, at)
        if reg.name == "CELLS":
            level = self.in_use.get(index, NEVER)
            start = self._cleared.get(("CELLS", "high", index), 1)
            lag = self._t["count"]
            high = highest(level, start - lag + 1, at - lag)
            return shown(level, at - self._t["status"]) | high << reg.field("high").low
        if reg.name in CREDITS:
            lane = 2 * CREDITS.index(reg.name)
            even, odd = (shown(self.credits.get((index, v), NEVER), at - self._t["status"]) for v in (lane, lane + 1))
            return even | odd << reg.field("odd").low
        total = 0
        for f in reg.fields:
            if f.access == "w1c":
                # set by what was judged in a cycle, unless cleared in a later one
                since = self._cleared.get((reg.name, f.name, 0), 0)
                lag = self._t["judge"] - 1
                part = any(mask & f.mask for mask in self._errors_in(since - lag + 1, at - lag)) << f.low
            elif f.parameter:
                part = self.design[f.parameter] << f.low
            elif f.counter:
                part = self._count((reg.name, index), at) << f.low
            else:
                part = self._stored(reg, index)
            total |= part & f.mask
        return total

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
        words = {name: self._stored(GLOBAL.register(name), 0) for name in ("MODE", "PAUSE", "HEADROOM", "CREDIT")}
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

    def read(self, addr: int, at: int) -> tuple[int, int]:
        """Response and data of a read of cycle ``at``."""
        found = locate(addr, self.ports)
        return (SLVERR, 0) if found is None else (OKAY, self._value(found[2], found[1], at))

    def write(self, addr: int, data: int, strb: int, at: int) -> int:
        """Response of a write of cycle ``at``, and all that it does."""
        found = locate(addr, self.ports)
        if found is None:
            return SLVERR
        _, index, reg = found
        lanes = sum(0xFF << 8 * i for i in range(WORD) if strb >> i & 1)
        for f in reg.fields:
            if (f.access == "w1c" and data & lanes & f.mask) or (f.access == "anew" and lanes & f.mask):
                self._cleared[reg.name, f.name, index] = at
        mask = lanes & reg.writable
        if reg.writable:
            old = self._value(reg, index, at)
            self._word[reg.name, index] = (old & ~mask) | (data & mask)
            self._since[reg.name, index] = at
        self._after(reg, index, strb, at)
        return OKAY

    def _after(self, reg: Register, index: int, strb: int, at: int) -> None:
        then = at + self._t["configure"]
        if reg.name in ("MODE", "PAUSE", "HEADROOM", "CREDIT"):
            self._change(self._wrong, then, self._errors())
        if reg.name == "CTRL":
            old = self.enable[-1][1]
            self._change(self.enable, then, old & ~(1 << index) | (self._stored(reg, index) & 1) << index)
        elif reg.name == "TABLE_ENTRY" and strb & 8:
            entry = self._stored(reg, 0)
            self._command("TABLE_INDEX", at, entry & 0xFFFF, 1 << self.design["ADDR_W"], valid=entry >> 31)
        elif reg.name == "GROUP_MODE" and strb & 1:
            self._command("GROUP_INDEX", at, self._stored(reg, 0), self.design["GROUPS"])
        elif any(reg.name == name for name, _, _ in CONFIGURATION):
            self._change(self.cfg, then, self._configuration())

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
            words = [self._stored(GLOBAL.register(f"GROUP_PORTS{i}"), 0) for i in range(3)]
            mask = (words[0] | words[1] << 32 | words[2] << 64) & ((1 << self.ports) - 1)
            self.groups.append((at + self._t["table"], number, operand, mask))
            self._groups.setdefault(number, []).append((at + self._t["table"], operand, mask))

    def _configuration(self) -> int:
        """The cfg_* ports as one vector, the first of CONFIGURATION lowest."""
        total, low = 0, 0
        for name, part, width in CONFIGURATION:
            reg = GLOBAL.register(name)
            f = reg.field(part)
            total |= ((self._stored(reg, 0) & f.mask) >> f.low) << low
            low += width
        return total

    @staticmethod
    def _change(history: list[tuple[int, int]], cycle: int, value: int) -> None:
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
