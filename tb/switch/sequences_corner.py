# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the switch: states that random traffic hardly reaches, each made on purpose."""

from __future__ import annotations

import numpy as np

from tb.common.uvm import PhaseItem
from tb.switch.frames import DAMAGES, fit
from tb.switch.stimulus import BY_FLOW, MULTICAST, SPRAY, SwitchSequence, mask

SETTLE = 40  # cycles after which the last beat offered is decided and its pause seen


class ExactlyFull(SwitchSequence):
    """With pause: all cells of an input in use, one is taken and in the next cycle given to a frame of one beat, again
    and again. Before that, frames arrive at the full lane that would not fit and have no way either: F8's order."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Frames of one beat, one a cycle; the lane that goes on is filled last."""
        s = self.shape
        item = self.begin("exactly_full", index, rng)
        nowhere = self.route(item, BY_FLOW, [])
        item.cfg |= {"pfc": 1, "xoff": s.quota, "xon": s.quota // 2}
        lane, target, i = int(rng.integers(s.lanes)), int(rng.integers(s.ports)), int(rng.integers(s.ports))
        fill = np.repeat([v for v in range(s.lanes) if v != lane] + [lane], s.quota)
        refused, more = 2 * SETTLE, 3 * SETTLE
        n = len(fill) + refused + more
        dest = self.dest(item, rng, np.full(n, target))
        lost = np.zeros(n, np.bool_)
        lost[len(fill) : len(fill) + refused] = rng.random(refused) < 0.5
        lanes = np.concatenate((fill, np.full(refused + more, lane)))
        size = fit(np.full(n, 64), item.cfg["roce"])
        item.info["batch"][i] = self.batch(item, rng, np.where(lost, nowhere, dest), size, lanes=lanes)
        every = ((1 << s.lanes) - 1) << target * s.lanes
        release = self.start_at + len(fill) + refused + SETTLE
        end = self.start_at + n + SETTLE
        item.info["pause"] = [(1, every), (release, every & ~(1 << target * s.lanes + lane)), (end, 0)]
        item.info |= {"codes": {"no way": int(lost.sum()), "overflow": None}, "good": False, "corner": "exactly full"}
        return self.finish(item, rng)


class AbortFull(SwitchSequence):
    """E3: inputs whose buffers are full die in the middle of a frame, which is good, or cut, or dropped as too long;
    the abort beat waits for a cell. Afterwards the ports come back and go on."""

    phases = 3
    kinds = ("good", "cut", "long")

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """All inputs but 0 fill up for output 0, which is paused; the kind of the last frame goes round."""
        s = self.shape
        item = self.begin("abort_full", index, rng, roce=int(rng.integers(2)))
        item.quiet = 1500  # longer than from one event to the next
        full = self.start_at + s.cells + 8 * SETTLE
        item.info["codes"] = {"aborted": 0, "cut": 0, "long": 0}
        state, last = mask(range(s.ports)), 0
        for i in range(1, s.ports):
            fall = full + int(rng.integers(SETTLE))
            kinds = self.kinds[s.max_beats == 1 :]  # a good frame of one beat has no middle
            kind = kinds[(index + i) % len(kinds)]
            item.info["codes"]["aborted" if kind == "good" else kind] += 1
            self._fill(item, rng, i, kind, full + 6 * s.cells + 1000)
            item.info["port_up"].append((fall, i))
            last = max(last, fall)
        rows = []
        for at, i in sorted(item.info["port_up"]):
            state &= ~(1 << i)
            rows.append((at, state))
        release = last + int(rng.integers(2, SETTLE))
        back = full + 5 * s.cells + 500
        item.info["port_up"] = [*rows, (back, mask(range(s.ports)))]
        item.info["pause"] = [(1, (1 << s.lanes) - 1), (release, 0)]
        item.info |= {"good": False, "corner": "abort full"}
        return self.finish(item, rng)

    def _fill(self, item: PhaseItem, rng: np.random.Generator, i: int, kind: str, later: int) -> None:
        """Frames that leave no cell free, or a few that the beats of a dropped frame go through; two frames later."""
        s, roce, w = self.shape, item.cfg["roce"], self.shape.data_bytes
        spare = 0 if kind == "good" else int(rng.integers(1, 5))
        few = max(1, min(2, s.max_beats - 1))
        need = int(rng.integers(few, max(few + 1, s.max_beats))) if kind == "cut" else 0
        beats: list[int] = []
        left = s.cells - spare - need - (s.max_beats // 2 if kind == "good" else 0)
        while left:
            beats.append(min(left, int(rng.integers(1, s.max_beats + 1))))
            left -= beats[-1]
        stated = np.full(len(beats) + 3, -1)
        if kind == "good":
            beats.append(s.max_beats)
        else:  # stated bytes of `need` beats, or of one too many; there are far more
            beats.append(s.max_beats + 8 * SETTLE)
            stated[len(beats) - 1] = fit((need or s.max_beats + 1) * w - 2, roce)
        beats += [1, min(2, s.max_beats)]
        size = fit(np.array(beats) * w - 2 + 2 * roce, roce)
        dest = self.dest(item, rng, np.zeros(len(beats), np.int64))
        b = self.batch(item, rng, dest, size)
        b.grh[:] = False
        b.stated = stated
        b.cycle[-2:] = later + np.array([0, 20])
        item.info["batch"][i] = b


class FallInGap(SwitchSequence):
    """O1: an output dies and its port is up again while the frame that owns it has not gone on: it stays dead to the
    frame's end, though nothing of the port is inside meanwhile."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """To one output, or (third and fourth phase) to a set of which one dies."""
        s = self.shape
        item = self.begin("fall_in_gap", index, rng)
        roce = item.cfg["roce"]
        i, dies = (int(p) for p in rng.choice(s.ports, 2, replace=False))
        dest = int(self.dest(item, rng, np.array([dies]))[0])
        item.info["kinds"] = {i: np.zeros(3, np.int64)}
        if index >= 2:
            dest = self.route(item, MULTICAST, range(s.ports))
            item.info["kinds"][i][0] = 1
        beats = min(4, s.max_beats)
        gap = 6 * SETTLE
        after = self.dest(item, rng, np.full(2, dies))
        size = fit(np.array([beats * s.data_bytes, 64, 64]), roce)
        b = self.batch(item, rng, np.concatenate(([dest], after)), size)
        b.cycle[1:] = self.start_at + 2 * gap + np.array([0, 30])
        b.extra = np.zeros(int(b.beats(s.data_bytes).sum()), np.int64)
        b.extra[beats // 2] = gap
        item.info["batch"][i] = b
        fall = self.start_at + 2 * SETTLE + int(rng.integers(SETTLE))
        everyone = mask(range(s.ports))
        item.info["port_up"] = [(fall, everyone & ~(1 << dies)), (fall + 1 + int(rng.integers(SETTLE)), everyone)]
        item.info["good"] = False
        if beats > 1:
            item.info["corner"] = "fall in gap, set" if index >= 2 else "fall in gap"
        return self.finish(item, rng)


class Blink(SwitchSequence):
    """O1, E3: a port falls for a cycle or a few while its input waits for the rest of a frame and holds nothing: it is
    not up before the abort beat has been given back, so that no credit of before comes to a neighbour that is new."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Every input in turn; credits at the inputs too."""
        s = self.shape
        item = self.begin("blink", index, rng)
        item.quiet = 1500  # longer than from one event to the next
        roce = item.cfg["roce"]
        everyone = mask(range(s.ports))
        beats, gap = min(3, s.max_beats), 4 * SETTLE
        at = self.start_at
        for i in range(s.ports):
            n = 6
            dest = self.dest(item, rng, rng.choice([o for o in range(s.ports) if o != i], n))
            b = self.batch(item, rng, dest, fit(np.full(n, beats * s.data_bytes), roce))
            b.cycle = at + 2 * gap * np.arange(n)
            b.extra = np.tile([0, *[gap] * (beats - 1)], n)
            item.info["batch"][i] = b
            for k in range(n - 1):  # dark for 1, 2 .. cycles
                fall = int(b.cycle[k]) + SETTLE
                item.info["port_up"] += [(fall, everyone & ~(1 << i)), (fall + 1 + k, everyone)]
            at += 2 * gap * n
        item.cfg["gate"] = 1
        parts = beats > 1  # a frame of one beat has no rest to wait for
        item.info |= {"good": False, "codes": {"aborted": s.ports * (n - 1) * parts}}
        if parts:
            item.info["corner"] = "blink"
        return self.finish(item, rng)


class Dips(SwitchSequence):
    """Q3: some frames that wait for an output have been moved when it is back; the others go on at their cycle."""

    phases = 2
    rounds = 24

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Frames of one beat, sprayed over two outputs; one is paused, dark for one to six cycles, soon released."""
        s = self.shape
        item = self.begin("dips", index, rng)
        old, i = 0, s.ports - 1
        dest = self.route(item, SPRAY, [old, 1])
        every = (1 << s.lanes) - 1
        everyone = mask(range(s.ports))
        cycle: list[int] = []
        lanes: list[int] = []
        for k in range(self.rounds):
            at = self.start_at + 6 * SETTLE * k
            n = int(rng.integers(4, 13))
            cycle += (at + np.arange(n)).tolist()
            lanes += [int(rng.integers(s.lanes))] * n
            fall = at + n + SETTLE
            back = fall + int(rng.integers(1, 7))
            item.info["port_up"] += [(fall, everyone & ~(1 << old)), (back, everyone)]
            item.info["pause"] += [(at - 5, every << old * s.lanes), (back + int(rng.integers(-1, 9)), 0)]
        size = fit(np.full(len(cycle), 64), item.cfg["roce"])
        b = self.batch(item, rng, np.full(len(cycle), dest), size, lanes=np.array(lanes))
        b.cycle = np.array(cycle)
        item.info["batch"][i] = b
        item.info |= {"good": False, "corner": "dips"}
        return self.finish(item, rng)


class Turns(SwitchSequence):
    """F4, Q3: frames sprayed anew take their turns, whatever the last first beat of their input was refused for: its
    marks are still in the registers beside which a moved frame comes in."""

    phases = 6
    kinds = ("malformed", "long", "unknown")

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Frames sprayed over all ports; those for the one that is paused wait, a frame is refused, the port falls.
        When it is back, more frames show where the turn is."""
        s = self.shape
        kind = self.kinds[index % 3]
        item = self.begin("turns", index, rng, roce=index // 3)
        roce = item.cfg["roce"]
        i = int(rng.integers(s.ports))
        old = int(rng.choice([o for o in range(s.ports) if o != i]))
        dest = self.route(item, SPRAY, range(s.ports))
        n, later = 4 * s.ports, int(rng.integers(1, s.ports + 1))
        to = np.full(n + 1 + later, dest)
        size = np.full(len(to), 64)
        if kind == "long":
            size[n] = (s.max_beats + 1) * s.data_bytes
        elif kind == "unknown":
            to[n] = item.cfg["prefix"] << s.addr_w | item.info["free_indices"].pop()
        b = self.batch(item, rng, to, fit(size, roce))
        b.cycle = self.start_at + np.concatenate((np.arange(n), [n + SETTLE], n + 6 * SETTLE + np.arange(later)))
        if kind == "malformed":
            b.damage[n] = int(rng.integers(1, len(DAMAGES[roce])))
            b.grh[n] = False
        item.info["batch"][i] = b
        fall, everyone = self.start_at + n + 3 * SETTLE, mask(range(s.ports))
        item.info["port_up"] = [(fall, everyone & ~(1 << old)), (fall + 2 * SETTLE, everyone)]
        item.info["pause"] = [(1, ((1 << s.lanes) - 1) << old * s.lanes), (fall + 2 * SETTLE, 0)]
        item.info |= {"good": False, "codes": {kind: 1}, "corner": f"turns behind {kind}"}
        return self.finish(item, rng)
