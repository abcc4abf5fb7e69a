# SPDX-License-Identifier: Apache-2.0
"""What every sequence of the switch begins with: configuration, groups, table, timed lists, random frames.

``item.info`` holds what the design gets in another form: ``table`` [(cycle, index, valid, group)], ``groups`` [(cycle,
number, mode, ports)], ``port_up`` and ``pause`` [(cycle, mask)], ``batch`` {input: Batch}. ``finish`` makes the
play files of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from tb.common.phase import stalls
from tb.common.timed import one_a_cycle, timed
from tb.common.uvm import PhaseItem, PhaseSequence
from tb.switch.frames import DAMAGES, Batch, Ints, build, fit
from tb.switch.shape import TABLE, Shape

BY_FLOW, SPRAY, ADAPTIVE, MULTICAST = range(4)
CREDIT_PERIOD = 199  # cycles of a credit pattern: its zeros never last 200


def name(kind: str, port: int) -> str:
    """File of a port: ``s07``."""
    return f"{kind}{port:02d}"


def mask(ports: Iterable[int]) -> int:
    """A set of ports as bits."""
    return sum(1 << int(p) for p in set(ports))


class SwitchSequence(PhaseSequence):
    """Common part. Odd phases are RoCE unless the sequence says otherwise. ``least``: phases that belong together."""

    least = 1

    start_at = 0  # first cycle at which a frame may be offered; set by `begin`

    async def body(self) -> None:
        """All phases, or as many as the option ``phases`` says, another choice with each seed."""
        most = self.ctx.option("phases", 0)
        chosen = np.arange(self.phases)
        if most:
            chosen = np.sort(
                self.ctx.rng(f"{self.get_name()}/phases").permutation(self.phases)[: max(most, self.least)]
            )
        for index in chosen.tolist():
            item = self.make(index, self.ctx.rng(f"{self.get_name()}/{index}"))
            await self.start_item(item)
            await self.finish_item(item)

    @property
    def shape(self) -> Shape:
        """The design."""
        return Shape.of(self.ctx)

    def begin(self, label: str, index: int, rng: np.random.Generator, roce: int | None = None) -> PhaseItem:
        """Item with two random destinations for each port, each by a group of its own; the last groups are free."""
        s = self.shape
        roce = index % 2 if roce is None else roce
        item = PhaseItem(f"{label}{index}")
        item.quiet = 700
        item.max_cycles = 100_000
        prefix = int(rng.integers(1 << 32))  # the bits that no destination has are ignored (F1)
        item.cfg = {
            "roce": roce, "prefix": prefix, "seed": int(rng.integers(1 << 16)), "pfc": 0, "xoff": 0xFFFF, "xon": 0,
            "ecn_at": 0, "credit_en": 0, "credit_init": s.egress * 4, "adapt_shift": 4, "gate": 0,
            "up": (1 << s.ports) - 1,
        }  # fmt: skip
        groups = rng.permutation(s.groups).tolist()
        indices = rng.choice(1 << s.addr_w, min(2 * s.ports + 64, 1 << s.addr_w), replace=False).tolist()
        info: dict[str, Any] = {
            "dest": [[] for _ in range(s.ports)], "table": [], "groups": [], "port_up": [], "pause": [],
            "batch": {}, "free_groups": groups[s.ports :], "free_indices": indices[2 * s.ports :],
            "good": True,
        }  # fmt: skip
        item.info = info
        for o in range(s.ports):
            info["groups"].append((1, groups[o], int(rng.integers(3)), 1 << o))
        for n, i in enumerate(indices[: 2 * s.ports]):
            info["table"].append((1, i, 1, groups[n % s.ports]))
            info["dest"][n % s.ports].append(prefix << s.addr_w | i)
        self.start_at = 2 * s.ports + 80
        return item

    def route(self, item: PhaseItem, mode: int, ports: Iterable[int], at: int = 1) -> int:
        """A destination with a group of its own; returns the destination."""
        group, index = item.info["free_groups"].pop(), item.info["free_indices"].pop()
        item.info["groups"].append((at, group, mode, mask(ports)))
        item.info["table"].append((at, index, 1, group))
        destination: int = item.cfg["prefix"] << self.shape.addr_w | index
        item.info.setdefault("group_of", {})[destination] = group
        return destination

    def finish(self, item: PhaseItem, rng: np.random.Generator) -> PhaseItem:
        """Make the play files."""
        s, info = self.shape, item.info
        for key in ("table", "groups", "port_up", "pause"):
            info[key] = one_a_cycle(info[key])
        item.plays["table"] = timed(TABLE, ((c, g << 33 | v << 32 | i) for c, i, v, g in info["table"]))
        item.plays["group"] = timed(s.group_format, ((c, m << 64 | k << 32 | g) for c, g, k, m in info["groups"]))
        item.plays["port_up"] = timed(s.up_format, info["port_up"])
        item.plays["m_pause"] = timed(s.pause_format, info["pause"])
        for p, batch in info["batch"].items():
            item.plays[name("s", p)] = build(rng, s, item.cfg["roce"], p, batch)
        return item

    # random parts

    def dest(self, item: PhaseItem, rng: np.random.Generator, outputs: Ints) -> Ints:
        """One of the destinations of each output."""
        table = np.array(item.info["dest"], np.int64)
        found: Ints = table[outputs, rng.integers(table.shape[1], size=len(outputs))]
        return found

    def sizes(self, rng: np.random.Generator, n: int, kind: str, roce: int) -> Ints:
        """``n`` frame sizes: ``small`` most of them a beat or two, ``mix`` of all, ``large``, or a number of bytes."""
        s = self.shape
        top = s.largest
        if kind.isdigit():
            return fit(np.full(n, min(int(kind), top)), roce)
        throw = rng.random(n)
        if kind == "small":
            few, most = min(131, top), min(1200, top)
            size = np.where(throw < 0.75, rng.integers(26, few, n), rng.integers(min(few, most - 1), most, n))
            size = np.where(throw > 0.99, rng.integers(most - 1, top + 1, n), size)
        elif kind == "mix":
            few = min(300, top)
            size = np.where(throw < 0.5, rng.integers(26, few, n), rng.integers(few, top + 1, n))
            size = np.where(throw > 0.95, top, size)
        else:
            size = rng.integers(top // 2, top + 1, n)
        return fit(size, roce)

    def batch(
        self, item: PhaseItem, rng: np.random.Generator, dest: Ints, size: Ints, *,
        load: float = 1.0, lanes: Ints | None = None, at: int | None = None, gaps: float = 0.0,
    ) -> Batch:  # fmt: skip
        """Frames in order at ``load`` beats a cycle on average, from ``at`` on; holes inside a share of ``gaps``."""
        s, n = self.shape, len(size)
        beats = np.maximum(1, -(-size // s.data_bytes))
        lane = rng.integers(s.lanes, size=n) if lanes is None else lanes
        begin = np.cumsum(beats) - beats
        idle = np.zeros(n, np.int64)
        if load < 1.0:
            mean = float(beats.mean()) * (1 / load - 1)
            idle = np.where(rng.random(n) < 0.5, rng.geometric(1 / (2 * mean + 1), n) - 1, 0)
        cycle = (self.start_at if at is None else at) + begin + np.cumsum(idle)
        flow = rng.integers(1 << 31, size=n)
        b = Batch(size, dest, lane.astype(np.int64), cycle, flow=flow)
        if item.cfg["roce"]:
            b.ecn = rng.integers(4, size=n)
        else:
            b.grh = (rng.random(n) < 0.2) & (size >= 66)
        if gaps:
            total = int(beats.sum())
            holed = np.repeat(rng.random(n) < gaps, beats)
            b.extra = np.where(holed & (rng.random(total) < 0.5), rng.integers(1, 9, total), 0)
        return b

    def slow(self, item: PhaseItem, rng: np.random.Generator, share: float, low: float = 0.1) -> None:
        """A share of the outputs stalls by a random pattern."""
        for o in range(self.shape.ports):
            if rng.random() < share:
                item.ready[name("m", o)] = stalls(rng, low)

    def credits(self, item: PhaseItem, rng: np.random.Generator, slow: bool) -> None:
        """Outputs start frames by credit: little of it, which comes back late when ``slow``."""
        s = self.shape
        item.cfg |= {"credit_en": 1, "credit_init": s.max_beats + 1 + int(rng.integers(s.max_beats + 1))}
        for o in range(s.ports):
            if slow and rng.random() < 0.7:
                pattern = np.zeros(int(rng.integers(20, CREDIT_PERIOD)), np.bool_)
                pattern[rng.integers(len(pattern), size=int(rng.integers(1, 5)))] = True
                item.ready[name("cr", o)] = pattern


def damage(rng: np.random.Generator, b: Batch, roce: int, share: float) -> npt.NDArray[np.bool_]:
    """Make the headers of a share of ``b`` wrong; returns which."""
    hit = rng.random(len(b)) < share
    b.damage = np.where(hit, rng.integers(1, len(DAMAGES[roce]), len(b)), b.damage)
    return hit
