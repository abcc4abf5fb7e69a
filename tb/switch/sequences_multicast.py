# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the switch: multicast frames whose pick is given up (M8), or ends in the last cycle in which it may."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from models.spec import spec
from tb.common.uvm import PhaseItem
from tb.switch.frames import fit
from tb.switch.stimulus import MULTICAST, SwitchSequence, mask, name

BEFORE = 60  # cycles from what keeps an output from its branch to the multicast frame
SETTLE = 120


@dataclass
class _Frames:
    """Frames of one input as they come: cycle, destination, lane, beats, cycles before the second beat, multicast."""

    rows: list[tuple[int, int, int, int, int, int]] = field(default_factory=list)

    def add(self, cycle: int, dest: int, lane: int, beats: int = 1, wait: int = 0, cast: int = 0) -> int:
        """One more; returns its number."""
        self.rows.append((cycle, dest, lane, beats, wait, cast))
        return len(self.rows) - 1


class GivenUp(SwitchSequence):
    """M8: a multicast frame is picked while one branch waits for a pause to end, for credit, or for an output in the
    middle of a frame, to the last cycle in which it may still be matched, or longer. Given up, it makes way: the frame
    of the next input is picked when as many cycles have gone by, then another lane of its own input, then itself."""

    means = ("pause", "credits", "busy")
    phases = 2 * len(means)

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Three rounds: about the last cycle; then the last, the first that is too late, and one so late that the frame
        is given up again."""
        s, hold = self.shape, spec().cycles("switch.mcast_hold")
        item = self.begin("given_up", index, rng)
        means = self.means[index % 3]
        if means == "busy" and (s.saf or s.max_beats == 1 or s.ports == 2):
            means = "pause"  # no frame stands still in the middle of an output, or no input is left for it
        if means == "credits":
            item.cfg |= {"credit_en": 1, "credit_init": s.max_beats + 1}
        frames = [_Frames() for _ in range(s.ports)]
        kept: dict[int, list[tuple[int, int]]] = {}  # output -> cycles without credits
        item.info |= {"given_up": [], "multicast": {}, "copies": 0, "corner": f"given up, {means}"}
        at = self.start_at + 2 * SETTLE
        for late in ((-1, 0, 1), (0, 1, 2 * hold + SETTLE // 2))[index // 3]:
            last = at + spec().cycles("latency.switch.store") + 1 + hold  # g of docs/switch.md
            self._round(item, rng, frames, kept, means, at, last + late, late)
            at = last + max(late, 0) + 2 * hold + 2 * SETTLE
        for o, spans in kept.items():
            pattern = np.ones(at, np.bool_)
            for begin, end in spans:
                pattern[begin:end] = False
            item.ready[name("cr", o)] = pattern
        item.info["kinds"] = {}
        for i, f in enumerate(frames):
            if not f.rows:
                continue
            cycle, dest, lane, beats, wait, cast = (np.array(x, np.int64) for x in zip(*f.rows, strict=True))
            size = fit(np.where(beats == 1, 64, beats * s.data_bytes), item.cfg["roce"])
            b = self.batch(item, rng, dest, size, lanes=lane)
            b.grh[:] = False
            b.cycle = cycle
            b.extra = np.zeros(int(beats.sum()), np.int64)
            b.extra[np.cumsum(beats) - 1] = wait
            item.info["batch"][i] = b
            item.info["kinds"][i] = cast
        return self.finish(item, rng)

    def _round(
        self, item: PhaseItem, rng: np.random.Generator, frames: list[_Frames], kept: dict[int, list[tuple[int, int]]],
        means: str, at: int, free: int, late: int,
    ) -> None:  # fmt: skip
        """A frame for all ports enters at ``at``; the branch that waits can be matched from ``free`` on."""
        s = self.shape
        order = rng.permutation(s.ports).tolist()
        first, blocked, other = order[0], order[1], order[2 % s.ports] if s.ports > 2 else order[1]
        keeper = blocked  # the input whose frame is in the way: at the port of that number
        lane = int(rng.integers(s.lanes))
        to_blocked = int(self.dest(item, rng, np.array([blocked]))[0])
        if means == "pause":
            item.info["pause"] += [(at - 5, 1 << blocked * s.lanes + lane), (free - 1, 0)]
        elif means == "credits":
            frames[keeper].add(at - BEFORE, to_blocked, lane)
            kept.setdefault(blocked, []).append((at - BEFORE - 5, free - 1))
        else:
            store = spec().cycles("latency.switch.store")
            frames[keeper].add(at - BEFORE, to_blocked, lane, 2, free - store - (at - BEFORE) - 1)
        row = [first, self._cast(item, frames, first, set(range(s.ports)), at, lane), blocked]
        more = s.lanes > 1 and s.ports > 2
        if more:  # behind it, in another lane
            to = int(rng.choice([o for o in range(s.ports) if o not in (first, blocked)]))
            row += [self._cast(item, frames, first, {to}, at + 20, (lane + 1) % s.lanes), to]
        else:
            row += [-1, -1]
        free_of = [o for o in range(s.ports) if o not in (other, blocked)]
        away = [o for o in free_of if o != row[4]] or free_of  # not where the frame before it goes
        to = int(rng.choice(away))
        row += [other, self._cast(item, frames, other, {to}, at + 30, int(rng.integers(s.lanes))), to]
        for i in range(s.ports):
            if i not in (first, other, keeper):  # unicast frames beside: held with the outputs, or not
                for k in range(4):
                    out = rng.choice([o for o in range(s.ports) if o != blocked], 1)
                    frames[i].add(at + 40 + k, int(self.dest(item, rng, out)[0]), int(rng.integers(s.lanes)))
        item.info["given_up"].append((late, *row))

    def _cast(self, item: PhaseItem, frames: list[_Frames], i: int, ports: set[int], at: int, lane: int) -> int:
        """A multicast frame of input ``i``; returns its number."""
        item.info.setdefault("sets", {})
        key = mask(ports)
        if key not in item.info["sets"]:
            item.info["sets"][key] = self.route(item, MULTICAST, ports)
        number = frames[i].add(at, item.info["sets"][key], lane, cast=1)
        item.info["multicast"].setdefault(i, {})[number] = ports - {i}
        item.info["copies"] += len(ports - {i}) - 1
        return number
