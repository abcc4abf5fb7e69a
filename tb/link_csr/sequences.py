# SPDX-License-Identifier: Apache-2.0
"""Stimulus of a link's registers: what any registers get, and their own counters, copy, sticky bits and windows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from models.link_csr import COUNTERS, EVENTS, LINK, REASONS, configuration
from models.link_regs import BLOCKS
from models.register_file import BOTH, READ, WRITE, Access, locate
from models.registers import WORD
from tb.common import register_sequences as common
from tb.common.axil import access_file
from tb.common.register_sequences import FULL, RegisterSequence
from tb.common.run import RunContext
from tb.common.uvm import PhaseItem
from tb.link_csr.env import design
from tb.link_csr.events import LinkEvents

SPACE = 1 << 12  # bytes that the port addresses


def item(name: str, accesses: Sequence[Access], lanes: int, events: LinkEvents | None = None) -> PhaseItem:
    """A phase of accesses and events."""
    one = PhaseItem(name)
    events = events or LinkEvents.none(2, lanes)
    one.plays = {"events": events.records()}
    one.files = {"axil.axil": access_file(accesses)}
    one.info = {"accesses": list(accesses), "events": events}
    one.max_cycles = 500_000
    return one


class LinkRegisterSequence(RegisterSequence):
    """Knows the design's parameters."""

    blocks = BLOCKS

    def __init__(self, name: str, ctx: RunContext) -> None:
        super().__init__(name, ctx)
        self.lanes = design(ctx)["LANES"]

    def item(self, name: str, accesses: Sequence[Access]) -> PhaseItem:
        """A phase without events."""
        return item(name, accesses, self.lanes)

    def holes(self) -> list[int]:
        """Every address that the port has and the map has not."""
        return [a for a in range(0, SPACE, WORD) if locate(BLOCKS, a, 1) is None]


class ResetValues(LinkRegisterSequence, common.ResetValues):
    """Of a link."""


class Bits(LinkRegisterSequence, common.Bits):
    """Of a link."""


class Addresses(LinkRegisterSequence, common.Addresses):
    """Of a link."""


class Bus(LinkRegisterSequence, common.Bus):
    """Of a link."""


def one_event(events: LinkEvents, counter: str, cycle: int, lost: int = 1) -> None:
    """The event of ``counter`` in one cycle; that of the lost segments comes with a link that goes down."""
    if counter == "LOST_SEGMENTS":
        events.happen("DOWNS", cycle, lost)
    elif counter == "FEC_FAILED":
        events.codeword(cycle, cycle % 32, failed=1)
    elif counter.startswith("FEC_SYMBOLS"):
        events.codeword(cycle, int(counter.removeprefix("FEC_SYMBOLS")))
    else:
        events.happen(counter, cycle)


class Wraps(LinkRegisterSequence):
    """Each counter from just below 2^32 by single events over the wrap; no other counts with it."""

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """One counter after the other; all are read at the end."""
        events = LinkEvents.none(6000, self.lanes)
        accesses = []
        at = 10
        for name in COUNTERS:
            addr = LINK.address(name)
            accesses.append(Access(at, WRITE, addr, FULL - 1))
            for k in range(4):
                one_event(events, name, at + 20 + 20 * k, lost=(1, 2, 2047, 0)[k])
                accesses.append(Access(at + 30 + 20 * k, READ, addr))
            at += 120
        accesses += [Access(at, READ, a) for _, _, a in self.every()]
        return item("wraps", accesses, self.lanes, events)


class Races(LinkRegisterSequence):
    """Events at random densities up to one a cycle, codewords and levels, while registers are written and read."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """The density differs from phase to phase: 5 %, 30 %, 70 %, each cycle."""
        density = (0.05, 0.3, 0.7, 1.0)[index]
        span = 6000
        events = LinkEvents.none(span + 1, self.lanes)
        v = events.values
        n = span - 1
        v["ev"][1:span] = ((rng.random((n, len(EVENTS))) < density) << np.arange(len(EVENTS))).sum(axis=1)
        v["lost"][1:] = rng.choice((0, 1, 2, 3, 5, 40), span)
        v["lost"][rng.integers(1, span, 20)] = 2047
        v["fec_valid"][1:span] = rng.random(n) < density
        v["fec_symbols"][1:] = rng.integers(0, 17, span)
        v["fec_failed"][1:] = rng.random(span) < 0.1
        random_levels(events, rng, every=50)
        accesses = []
        for _ in range(600):
            reg = LINK.registers[int(rng.integers(len(LINK.registers)))]
            near = int(rng.integers(1 << 32)) if rng.random() < 0.3 else FULL - int(rng.integers(4))
            kind = int(rng.choice((READ, WRITE, BOTH)))
            strb = int(rng.integers(16)) if rng.random() < 0.3 else 15
            accesses.append(Access(1, kind, LINK.address(reg.name), near, strb))
        accesses += [Access(span + 10, READ, a) for _, _, a in self.every()]
        return item(f"races {density}", accesses, self.lanes, events)


def random_levels(events: LinkEvents, rng: np.random.Generator, every: int) -> None:
    """State, up, reason, credits and pauses change at random, each after about ``every`` cycles."""
    v = events.values
    cycles = len(v["state"])

    def stairs(high: int) -> np.ndarray:
        changes = rng.random(cycles) < 1 / every
        changes[0] = True
        values = rng.integers(0, high, cycles)
        values[0] = 0
        return values[np.maximum.accumulate(np.where(changes, np.arange(cycles), 0))]

    v["state"][:] = stairs(4) * (stairs(2))  # OFF more than half of the time
    v["up"][:] = stairs(2)
    v["reason"][:] = sum(stairs(2) << bit for bit in range(REASONS)) * stairs(2)
    v["s_pause"][:] = stairs(1 << events.lanes)
    v["m_pause"][:] = stairs(1 << events.lanes)
    for lane in range(events.lanes):
        v["credits"][:, lane] = stairs(1 << 16)


class Configure(LinkRegisterSequence):
    """Configuration written in every state, enabled and not: what the link gets and when, and what waits."""

    phases = 3

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Phase 0: each field alone, OFF; 1: enabled first, then written, then disabled; 2: random."""
        fields = {name: (LINK.address(reg.name), f) for name, (reg, f) in configuration().items() if name != "enable"}
        words = sorted({addr for addr, _ in fields.values()})
        enable, status = LINK.address("CTRL"), LINK.address("STATUS")
        events = LinkEvents.none(9000, self.lanes)
        accesses = []
        if index == 0:
            for addr, f in fields.values():
                for value in (f.mask, 0, int(rng.integers(1 << 32))):
                    accesses += [Access(1, WRITE, addr, value), Access(1, READ, status)]
        elif index == 1:
            events.values["state"][:] = np.repeat(rng.integers(1, 4, 90), 100)
            events.values["state"][:300] = 0
            events.values["state"][4000:4010] = 0  # OFF for a while, but enabled: nothing is copied
            events.values["state"][8000:] = 0
            accesses.append(Access(310, WRITE, enable, 1))
            for k, addr in enumerate(words):
                accesses += [Access(400 + 600 * k, WRITE, addr, int(rng.integers(1 << 32))), Access(1, READ, status)]
            accesses += [Access(3995 + k, READ, status) for k in range(0, 30, 5)]
            accesses += [Access(7500, WRITE, enable, 0), Access(7600, READ, status)]
            accesses += [Access(7990, READ, status), Access(8010, READ, status), Access(8100, WRITE, enable, 1)]
            accesses += [Access(1, WRITE, addr, int(rng.integers(1 << 32))) for addr in words]
            accesses += [Access(1, READ, status), Access(1, WRITE, enable, 2), Access(1, WRITE, enable, 3)]
        else:
            random_levels(events, rng, every=20)
            for _ in range(700):
                how = rng.random()
                addr = enable if how < 0.3 else status if how < 0.5 else int(rng.choice(words))
                kind = READ if addr == status else WRITE
                accesses.append(Access(1, kind, addr, int(rng.integers(1 << 32)), int(rng.choice((15, 15, 15, 1)))))
        return item(f"configure {index}", accesses, self.lanes, events)


class Sticky(LinkRegisterSequence):
    """Reasons that come and go, cleared while they last, in the cycle in which they come, and afterwards."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Phase 0: each bit alone; 1: at random, cleared as often as the bus can."""
        events = LinkEvents.none(8000, self.lanes)
        addr = LINK.address("SEEN")
        accesses = []
        if index == 0:
            at = 20
            for bit in range(REASONS):
                events.values["reason"][at + 20 : at + 40 + 50 * (bit % 2)] = 1 << bit
                for later in (10, 30, 50, 120):  # before, while it lasts, behind a short one, behind all
                    accesses += [Access(at + later, READ, addr), Access(1, WRITE, addr, 1 << bit)]
                accesses.append(Access(at + 150, READ, addr))
                at += 200
            for bit in range(REASONS):  # pulses at every distance from the write that clears
                for k in range(6):
                    events.values["reason"][at + 2 + k] = 1 << bit
                    accesses += [Access(at, WRITE, addr, FULL), Access(at + 12, READ, addr)]
                    at += 40
        else:
            random_levels(events, rng, every=20)
            for _ in range(600):
                accesses += [Access(1, WRITE, addr, int(rng.integers(1 << 9)), int(rng.choice((15, 15, 1, 2))))]
                accesses += [Access(1, READ, addr)]
        return item(f"sticky {index}", accesses, self.lanes, events)


class Degrade(LinkRegisterSequence):
    """Windows of symbol errors around both limits, for both codes, and limits written under way."""

    phases = 3

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Phase 0 and 1: one code each, windows whose sums meet the limits exactly; 2: at random."""
        events = LinkEvents.none(9000, self.lanes)
        interval, activate, deactivate = (LINK.address(f"FEC_{n}") for n in ("INTERVAL", "ACTIVATE", "DEACTIVATE"))
        seen, status = LINK.address("SEEN"), LINK.address("STATUS")
        accesses = []
        if index < 2:
            failed = (8, 16)[index]
            accesses += [Access(1, WRITE, LINK.address("MODE"), 2 * index)]
            accesses += [
                Access(1, WRITE, activate, 20),
                Access(1, WRITE, deactivate, 10),
                Access(1, WRITE, interval, 8),
            ]
            at = 100
            for total in (20, 21, 10, 9, 20 + failed, 0, 40, 10, 9, 5 + 2 * failed, 3):
                left = total
                for k in range(8):
                    give = left if k == 7 else min(left, int(rng.integers(0, 6)))
                    if left >= failed and k < 4 and total > 30:
                        events.codeword(at, int(rng.integers(32)), failed=1)
                        give = failed
                    else:
                        events.codeword(at, min(give, 31))
                    left -= min(give, 31)
                    at += int(rng.choice((1, 1, 3, 7)))
                accesses += [Access(at + 6, READ, status), Access(1, READ, seen), Access(1, WRITE, seen, FULL)]
                at += 60
            accesses += [Access(at, WRITE, activate, 0), Access(at + 20, READ, status)]
            events.codeword(at + 10, 1)
            accesses += [Access(at + 40, WRITE, interval, 0), Access(1, READ, status), Access(1, READ, seen)]
        else:
            v = events.values
            v["fec_valid"][1:-1] = rng.random(8998) < 0.6
            v["fec_symbols"][1:-1] = rng.integers(0, 3, 8998) * (rng.random(8998) < 0.5)
            v["fec_failed"][1:-1] = rng.random(8998) < 0.02
            for _ in range(400):
                how = rng.random()
                if how < 0.15:
                    accesses.append(Access(1, WRITE, interval, int(rng.choice((0, 1, 2, 10, 30, 100)))))
                elif how < 0.3:
                    accesses.append(Access(1, WRITE, activate, int(rng.choice((0, 5, 20, 40, 0x1FFFFFFF)))))
                elif how < 0.45:
                    accesses.append(Access(1, WRITE, deactivate, int(rng.choice((0, 1, 5, 20, 60)))))
                elif how < 0.5:
                    accesses.append(Access(1, WRITE, LINK.address("MODE"), int(rng.integers(4))))
                elif how < 0.75:
                    accesses.append(Access(1, READ, status))
                else:
                    accesses += [Access(1, READ, seen), Access(1, WRITE, seen, 0x100)]
        return item(f"degrade {index}", accesses, self.lanes, events)
