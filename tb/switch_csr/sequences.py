# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the switch's registers: what any registers get, and their own counters, tables and groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from models.register_file import BOTH, READ, WRITE, Access, locate
from models.registers import WORD
from models.switch_csr import COUNTERS, CREDITS, GLOBAL, PORT, READBACK
from models.switch_regs import BLOCKS
from tb.common import register_sequences as common
from tb.common.axil import access_file
from tb.common.register_sequences import FULL, RegisterSequence
from tb.common.run import RunContext
from tb.common.uvm import PhaseItem
from tb.switch_csr.access import Events
from tb.switch_csr.env import design

SPACE = 1 << 17  # bytes that the port addresses


def item(name: str, accesses: Sequence[Access], events: Events) -> PhaseItem:
    """A phase of accesses and events."""
    one = PhaseItem(name)
    one.plays = {"events": events.records()}
    one.files = {"axil.axil": access_file(accesses)}
    one.info = {"accesses": list(accesses), "events": events}
    one.max_cycles = 500_000
    return one


class SwitchRegisterSequence(RegisterSequence):
    """Knows the design's parameters."""

    blocks = BLOCKS

    def __init__(self, name: str, ctx: RunContext) -> None:
        super().__init__(name, ctx)
        self.shape = design(ctx)
        self.ports = self.copies = self.shape["PORTS"]
        self.lanes = self.shape["LANES"]
        self.some = sorted({0, self.ports // 2, self.ports - 1})
        self.calm = self.nothing(2)

    def nothing(self, cycles: int) -> Events:
        """Inputs at rest for ``cycles``, to be filled."""
        return Events.none(cycles, self.ports, self.lanes)

    def item(self, name: str, accesses: Sequence[Access]) -> PhaseItem:
        """A phase without events."""
        return item(name, accesses, self.calm)

    def holes(self) -> list[int]:
        """In the blocks' gaps, behind each, of ports that are not there."""
        ports = self.ports
        first = PORT.address("CTRL")
        found = list(range(0, 0x200, WORD))
        found += [first + p * PORT.stride + a for p in (0, ports - 1) for a in range(0, 0x100, WORD)]
        found += [PORT.address(r.name, p) for p in (ports, PORT.count - 1, PORT.count, 255) for r in PORT.registers]
        found += [1 << bit for bit in range(9, 17)] + [PORT.base - WORD, SPACE - WORD]
        return sorted({a for a in found if a < SPACE and locate(BLOCKS, a, ports) is None})


class ResetValues(SwitchRegisterSequence, common.ResetValues):
    """Of every port."""


class Bits(SwitchRegisterSequence, common.Bits):
    """All global registers and those of some ports."""


class Addresses(SwitchRegisterSequence, common.Addresses):
    """Of every port."""


class Bus(SwitchRegisterSequence, common.Bus):
    """All global registers and those of some ports."""


class Wraps(SwitchRegisterSequence):
    """Each counter from just below 2^32 by single events over the wrap; no other counts with it."""

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """One counter after the other, each on a port of its own turn; all counters are read at the end."""
        events = self.nothing(8000)
        accesses = []
        at = 10
        for i, name in enumerate(COUNTERS):
            port = (i + index) % self.ports
            addr = PORT.address(name, port)
            accesses.append(Access(at, WRITE, addr, FULL - 1))
            for k in range(4):
                one_event(events, name, port, at + 20 + 20 * k)
                accesses.append(Access(at + 30 + 20 * k, READ, addr))
            at += 120
        accesses += [Access(at, READ, a) for b, _, a in self.every() if b is PORT]
        return item("wraps", accesses, events)


def one_event(events: Events, counter: str, port: int, cycle: int) -> None:
    """The event of ``counter`` in one cycle. A last beat is a beat: both of its counters count."""
    i = COUNTERS.index(counter)
    if 4 <= i < 12:
        events.column("drop")[cycle, port] = i - 3
        return
    columns = {
        "FRAMES_IN": ("s_beat", "s_last"),
        "BEATS_IN": ("s_beat",),
        "FRAMES_OUT": ("m_beat", "m_last"),
        "BEATS_OUT": ("m_beat",),
        "LOST": ("lost",),
        "MC_LOST": ("mc_lost",),
        "ECN_MARKED": ("ecn",),
        "PAUSING": ("s_pause",),
        "PAUSED": ("m_pause",),
        "WAITED": ("m_wait",),
    }
    for column in columns[counter]:
        # of a pause any lane will do
        events.column(column)[cycle, port] = 1 << cycle % events.lanes if column.endswith("_pause") else 1


class Races(SwitchRegisterSequence):
    """Events at random densities up to one a cycle while counters are written and read: not one is lost."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """The density differs from phase to phase: 5 %, 30 %, 70 %, each cycle."""
        density = (0.05, 0.3, 0.7, 1.0)[index]
        span = 6000
        events = self.nothing(span + 1)

        def throw(share: float = density) -> npt.NDArray[np.bool_]:
            return rng.random((span - 1, self.ports)) < share

        for name in ("s_beat", "m_beat", "lost", "mc_lost", "ecn", "m_wait"):
            events.column(name)[1:span] = throw()
        for name in ("s_pause", "m_pause"):
            events.column(name)[1:span] = rng.integers(1, 1 << self.lanes, (span - 1, self.ports)) * throw()
        for name in ("in_use", *(f"credit{v}" for v in range(self.lanes))):
            events.column(name)[1:] = rng.integers(1 << 16, size=(span, self.ports))
        for name in ("s", "m"):
            events.column(f"{name}_last")[1:span] = events.column(f"{name}_beat")[1:span] & throw(0.4)
        codes = rng.integers(1, 10, (span - 1, self.ports))  # 9 is no reason and not counted
        events.column("drop")[1:span] = codes * throw()
        for name in ("port_up", "live"):
            events.column(name)[1:] = np.repeat(rng.random((span // 50 + 1, self.ports)) < 0.5, 50, axis=0)[:span]
        accesses = []
        for _ in range(450):
            reg = PORT.registers[int(rng.integers(len(PORT.registers)))]
            addr = PORT.address(reg.name, int(rng.integers(self.ports)))
            near = int(rng.integers(1 << 32)) if rng.random() < 0.3 else FULL - int(rng.integers(4))
            kind = int(rng.choice((READ, WRITE, BOTH)))
            strb = int(rng.integers(16)) if rng.random() < 0.3 else 15
            accesses.append(Access(1, kind, addr, near, strb))
        accesses += [Access(span + 10, READ, a) for b, _, a in self.every() if b is PORT]
        return item(f"races {density}", accesses, events)


class Tables(SwitchRegisterSequence):
    """Entries and groups by index and command, the index counting up, what does not fit refused and counted."""

    phases = 3

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Series over the ends of both tables, then random writes."""
        entries, groups = 1 << self.shape["ADDR_W"], self.shape["GROUPS"]
        accesses = []

        def put(name: str, value: int, strb: int = 15) -> None:
            accesses.append(Access(1, WRITE, GLOBAL.address(name), value, strb))

        def get(*names: str) -> None:
            accesses.extend(Access(1, READ, GLOBAL.address(n)) for n in names)

        put("REFUSED", FULL - 2)
        for start in (0, entries - 3, FULL - 1):
            put("TABLE_INDEX", start)
            for i in range(6):
                put("TABLE_ENTRY", (i & 1) << 31 | int(rng.integers(groups)))
            get("TABLE_INDEX", "REFUSED")
        for start in (0, groups - 3, 0xFFFE):
            put("GROUP_INDEX", start)
            for i in range(6):
                for word in range(3):
                    put(f"GROUP_PORTS{word}", int(rng.integers(1 << 32)))
                put("GROUP_MODE", i & 3)
            get("GROUP_INDEX", "REFUSED")
        for _ in range(60):
            how = rng.random()
            if how < 0.3:
                put("TABLE_INDEX", int(rng.integers(2 * entries)))
            elif how < 0.4:
                put("GROUP_INDEX", int(rng.integers(2 * groups)))
            elif how < 0.5:
                put(f"GROUP_PORTS{rng.integers(3)}", int(rng.integers(1 << 32)), int(rng.integers(16)))
            elif how < 0.8:
                entry = int(rng.integers(2)) << 31 | int(rng.integers(2 * groups))
                put("TABLE_ENTRY", entry, int(rng.choice((15, 15, 7, 8))))
            else:
                put("GROUP_MODE", int(rng.integers(4)), int(rng.choice((15, 15, 14, 1))))
        get("TABLE_INDEX", "GROUP_INDEX", "REFUSED")
        return item("tables", accesses, self.calm)


class Watermark(SwitchRegisterSequence):
    """Cells in use that change in every cycle, read and started anew at all distances; credits of every lane."""

    phases = 3

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Phase 0: noise; 1: a rise and a fall in steps of one; 2: single peaks in an empty buffer."""
        span = 4500
        events = self.nothing(span + 1)
        shape = (span, self.ports)
        if index == 0:
            cells = rng.integers(1 << 16, size=shape)
        elif index == 1:
            cells = np.abs((np.arange(span)[:, None] + rng.integers(100, size=self.ports)) % 100 - 50)
        else:
            cells = rng.integers(1, 1 << 16, shape) * (rng.random(shape) < 0.05)
        events.column("in_use")[1:] = cells
        for v in range(self.lanes):
            events.column(f"credit{v}")[1:] = rng.integers(1 << 16, size=shape)
        accesses = []
        at = 1
        for _ in range(180):
            addr = PORT.address("CELLS", int(rng.integers(self.ports)))
            how = rng.random()
            if how < 0.5:  # which bytes count: one of the upper two starts it anew
                strb = int(rng.integers(16)) if rng.random() < 0.5 else 15
                accesses.append(Access(at, WRITE, addr, int(rng.integers(1 << 32)), strb))
            elif how < 0.75:
                addr = PORT.address(CREDITS[int(rng.integers(4))], int(rng.integers(self.ports)))
            accesses.append(Access(at, READ, addr))
            at += int(rng.integers(30))
        return item(f"watermark {index}", accesses, events)


class Readback(SwitchRegisterSequence):
    """Entries and groups are read where they were written, where nothing was, and beyond the tables' ends."""

    phases = 3

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Empty tables at first, then random writes and reads, an index's neighbours among them."""
        entries, groups = 1 << self.shape["ADDR_W"], self.shape["GROUPS"]
        accesses = []

        def put(name: str, value: int, strb: int = 15) -> None:
            accesses.append(Access(1, WRITE, GLOBAL.address(name), value, strb))

        def get(*names: str) -> None:
            accesses.extend(Access(1, READ, GLOBAL.address(n)) for n in names)

        get(*READBACK)
        places = [0, entries - 1, *rng.integers(entries, size=6).tolist()]
        numbers = [0, groups - 1, *rng.integers(groups, size=6).tolist()]
        beyond = [entries, 2 * entries - 1, FULL, entries | places[3]]
        for _ in range(120):
            how = rng.random()
            place = int(rng.choice(places if rng.random() < 0.8 else beyond))
            number = int(rng.choice(numbers if rng.random() < 0.8 else [groups, groups | numbers[3], 0xFFFF]))
            if how < 0.3:
                put("TABLE_INDEX", place)
                put("TABLE_ENTRY", int(rng.random() < 0.7) << 31 | int(rng.integers(groups)))
                get("TABLE_READ", "TABLE_INDEX")  # the next one's: the index has counted up
            elif how < 0.6:
                put("TABLE_INDEX", place)
                get("TABLE_INDEX", "TABLE_READ")
            elif how < 0.8:
                put("GROUP_INDEX", number)
                for word in range(3):
                    put(f"GROUP_PORTS{word}", int(rng.integers(1 << 32)))
                put("GROUP_MODE", int(rng.integers(4)))
                get(*READBACK[1:])
            else:
                put("GROUP_INDEX", number)
                get("GROUP_INDEX", *READBACK[1:])
        for value in places + beyond:
            put("TABLE_INDEX", value)
            get("TABLE_READ")
        for value in numbers:
            put("GROUP_INDEX", value)
            get(*READBACK[1:])
        return item("readback", accesses, self.calm)


class ConfigErrors(SwitchRegisterSequence):
    """Thresholds, headroom and credits at their limits and beyond; the bits cleared one by one, while the reason lasts
    and after."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Phase 0: each limit by one, in order; phase 1: random."""
        quota, largest = self.shape["CELLS"] // self.lanes, self.shape["MAX_BEATS"]
        accesses = []

        def put(name: str, value: int, strb: int = 15) -> None:
            accesses.append(Access(1, WRITE, GLOBAL.address(name), value, strb))

        def get() -> None:
            accesses.append(Access(1, READ, GLOBAL.address("CONFIG_ERROR")))

        def clear(bits: int = 7) -> None:
            put("CONFIG_ERROR", bits)
            get()

        get()
        if index == 0:
            room = quota // 3
            for mode in (4, 6, 2, 0):  # without PFC, with it, and without credits
                put("MODE", mode)
                for xoff, xon, cells in (
                    (quota - room, 0, room), (quota - room + 1, 0, room), (quota - room, 0, room + 1), (quota, 0, 0),
                    (quota + 1, 0, 0), (0xFFFF, 0, 0xFFFF), (1, 0, FULL), (1, 1, 1), (1, 2, 1), (0, 0, 1),
                ):  # fmt: skip
                    put("HEADROOM", cells)
                    put("PAUSE", xoff | xon << 16)
                    get()
                    clear(2)
                    clear()
                for cells in (largest + 1, largest, 0, 0xFFFF):
                    put("CREDIT", cells)
                    clear()
                    clear(3)
            put("MODE", 4)
            clear()
        names = {"MODE": (0, 2, 4, 6), "HEADROOM": (0, 1, quota // 2), "CREDIT": (0, largest, largest + 1)}
        for _ in range(150):
            name = str(rng.choice([*names, "PAUSE", "CONFIG_ERROR"]))
            strb = 15 if rng.random() < 0.7 else int(rng.integers(16))
            if name == "PAUSE":
                near = int(rng.choice((0, 1, quota - quota // 2, quota)))
                put(name, near + int(rng.integers(2)) | (near + int(rng.integers(-1, 3)) & 0xFFFF) << 16, strb)
            else:
                put(name, int(rng.choice(names.get(name, range(8)))), strb)
            get()
        return item("configuration errors", accesses, self.calm)
