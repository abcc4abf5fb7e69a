# SPDX-License-Identifier: Apache-2.0
"""Golden model of the switch's registers: every answer of the bus, its cycle, and what the switch is told when.

Written from spec/csr/switch.rdl (models/switch_regs.py) and latency.csr of spec/fabric.toml.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, Sequence

from models.register_file import Key, RegisterFile
from models.registers import Field, Register
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
    "DROP_NO_WAY", "CUT", "SHORT", "ABORTED", "LOST", "MC_LOST", "ECN_MARKED",
)  # fmt: skip
"""Counters of a port; those of the drop codes 1 to 8 are the fifth to the twelfth."""
DROPS = COUNTERS[4:12]


class SwitchRegisters(RegisterFile):
    """Registers of a switch of ``ports`` ports.

    ``levels``: ``(cycle, link, live)`` of a port whenever they change, the first at or before cycle 0; may be given
    later, as ``counted``.
    """

    def __init__(
        self,
        ports: int,
        design: Mapping[str, int],
        counted: Mapping[Key, Sequence[int]] | None = None,
        levels: Mapping[int, Sequence[tuple[int, int, int]]] | None = None,
    ) -> None:
        super().__init__(BLOCKS, ports, design, counted)
        self.ports = ports
        self.levels: Mapping[int, Sequence[tuple[int, int, int]]] = levels or {}
        self.cfg = [(0, self._configuration())]
        self.enable = [(0, 0)]
        self.tables: list[tuple[int, int, int, int]] = []
        """(cycle, index, valid, group) of each table write."""
        self.groups: list[tuple[int, int, int, int]] = []
        """(cycle, group, mode, mask of ports) of each group write."""

    def shown(self, reg: Register, field: Field, index: int, at: int) -> int:
        """STATUS: the port's link and whether it is live."""
        _, link, live = [x for x in self.levels.get(index, [(0, 0, 0)]) if x[0] <= at - self._t["status"]][-1]
        return {"link": link, "live": live}[field.name]

    def after(self, reg: Register, index: int, data: int, mask: int, at: int) -> None:
        """Configuration, enables, table and group writes."""
        then = at + self._t["configure"]
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
        else:
            words = [self.stored(GLOBAL.register(f"GROUP_PORTS{i}"), 0) for i in range(3)]
            mask = (words[0] | words[1] << 32 | words[2] << 64) & ((1 << self.ports) - 1)
            self.groups.append((at + self._t["table"], number, operand, mask))

    def _configuration(self) -> int:
        """The cfg_* ports as one vector, the first of CONFIGURATION lowest."""
        total, low = 0, 0
        for name, part, width in CONFIGURATION:
            reg = GLOBAL.register(name)
            f = reg.field(part)
            total |= ((self.stored(reg, 0) & f.mask) >> f.low) << low
            low += width
        return total
