# SPDX-License-Identifier: Apache-2.0
"""The same three-hop traffic in either profile, and what it measures: switch time alone, and end to end.

Switch time alone is the sum, over leaf, spine and leaf, of a hop port to port: a frame's first bit into the switch's
PHY to its first bit out of it; the mean over all frames of the sender. End to end is from the acceptance of a message's
doorbell store at the NIC's port to its last byte's being visible in the peer's memory; the mean over all messages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from pyuvm import ConfigDB

from models.compare import Case, cases
from models.memory import LINE
from tb.common.beats import Records
from tb.common.result import Result
from tb.common.run import RunContext
from tb.common.taps import read_stamps
from tb.common.uvm import PhaseItem, PhaseRecords, PhaseSequence, PhaseTest
from tb.fabric import layout, waterfall
from tb.fabric.experiment import Experiment, Message, Topology, phase_item
from tb.fabric.scenarios import TARGETS

SOURCES = 0x1000  # messages lie from here on in the sender's data, targets as in tb.fabric.scenarios


def experiment(case: Case, rng: np.random.Generator, *, roce: bool, host: str) -> Experiment:
    """A's messages to B over three hops; inline in a BlueFlame store where they fit, else fetched from A's memory."""
    room = -(-case.size // LINE) * LINE
    messages = [
        Message(
            rng.bytes(case.size), TARGETS + i * room, at=1000 + (i * case.interval(host) if i else 0),
            inline=case.inline, source=SOURCES + i * room, blueflame=case.inline, signaled=i == case.messages - 1,
        )
        for i in range(case.messages)
    ]  # fmt: skip
    side = replace(layout.A, send_log=max(7, (4 * case.messages - 1).bit_length()))
    return Experiment(
        case.name, Topology.THREE_HOPS, host, roce=roce, fec="kp4" if roce else "llfec", a=side, from_a=messages
    )


@dataclass(frozen=True)
class Measured:
    """Cycles: switch time of each frame, all three hops; end to end of each message."""

    switch: tuple[int, ...]
    e2e: tuple[int, ...]


def switch_time(stamps: Mapping[str, Sequence[int]]) -> tuple[int, ...]:
    """Sum of the three hops of each frame, in their order. Raises LookupError when a switch let out another number of
    frames than came in."""
    totals: list[int] = []
    for switch, port_in, port_out in waterfall.HOPS[Topology.THREE_HOPS]:
        came, went = (stamps.get(n, ()) for n in (f"{switch}.p{port_in}.phy_rx", f"{switch}.p{port_out}.phy_tx"))
        if not came or len(came) != len(went) or (totals and len(totals) != len(came)):
            raise LookupError(f"{switch}: {len(came)} frames came in, {len(went)} went out, {len(totals)} before it")
        hops = [b - a for a, b in zip(came, went, strict=True)]
        totals = [a + b for a, b in zip(totals, hops, strict=True)] if totals else hops
    return tuple(totals)


def end_to_end(exp: Experiment, accepted: Sequence[int], writes: Records) -> tuple[int, ...]:
    """From each store (``accepted``) to the message's last line visible; raises LookupError when one is not."""
    visible = dict(zip(writes["addr"].tolist(), writes["visible"].tolist(), strict=True))
    if len(accepted) != len(exp.from_a):
        raise LookupError(f"{exp.name}: {len(accepted)} stores, {len(exp.from_a)} messages")
    out = []
    for message, at in zip(exp.from_a, accepted, strict=True):
        last = (message.target_place.base + message.target + len(message.payload) - 1) & ~(LINE - 1)
        if last not in visible:
            raise LookupError(f"{exp.name}: the last byte of a message was never written")
        out.append(visible[last] - at)
    return tuple(out)


class Compare(PhaseTest):
    """A test whose phases are cases; figures ``switch_<case>`` and ``e2e_<case>`` are means, in cycles."""

    def build_phase(self) -> None:
        super().build_phase()
        ConfigDB().set(None, "*", "PLAN", replace(type(self).plan, observe=self.observe))
        self.result = Result(self.ctx.run_dir)
        self.order = 0
        self.problems: list[str] = []

    def observe(self, ctx: RunContext, phase: PhaseRecords) -> None:
        """Figures of one phase."""
        exp: Experiment = phase.item.info["experiment"]
        case: Case = phase.item.info["case"]
        stamps = read_stamps(ctx.run_dir / "taps", self.order)
        self.order += 1
        try:
            got = Measured(
                switch_time(stamps), end_to_end(exp, stamps.get(waterfall.START, ()), phase.rows["mem_b_w.rec"])
            )
        except LookupError as e:
            self.problems.append(str(e))
            return
        common: dict[str, Any] = {"size_bytes": case.size, "load": case.load, "messages": case.messages}
        common["inline"] = case.inline
        if case.messages > 1:
            common["interval_cycles"] = case.interval(exp.host)
        for name, values in (("switch", got.switch), ("e2e", got.e2e)):
            spread: dict[str, Any] = {"least": min(values), "most": max(values), "samples": len(values)}
            self.result.figure(f"{name}_{case.name}", sum(values) / len(values), "cycles", **common, **spread)

    def extract_phase(self) -> None:
        """Write what was collected."""
        self.result.save()

    def check_phase(self) -> None:
        """A case that could not be measured fails the test."""
        if self.problems:
            raise AssertionError("; ".join(self.problems))


class Cases(PhaseSequence):
    """The cases; ``sizes``, ``loads``, ``profile`` and ``host`` are options."""

    def __init__(self, name: str, ctx: RunContext) -> None:
        super().__init__(name, ctx)
        self.cases = cases(ctx.option("sizes", "64"), ctx.option("loads", "alone"))
        self.phases = len(self.cases)

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Case ``index``."""
        roce = self.ctx.option("profile", "native") == "roce"
        case = self.cases[index]
        item = phase_item(experiment(case, rng, roce=roce, host=self.ctx.option("host", "pcie")))
        item.info["case"] = case
        return item
