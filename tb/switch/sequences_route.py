# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the switch: multicast, ports that come and go, ways around them, tables that change."""

from __future__ import annotations

import numpy as np

from tb.common.uvm import PhaseItem
from tb.switch.frames import Ints, fit
from tb.switch.stimulus import ADAPTIVE, BY_FLOW, MULTICAST, SPRAY, SwitchSequence, damage, mask


class Multicast(SwitchSequence):
    """S6: several inputs multicast at once into each other's sets, unicast frames beside them; dead branches."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Odd pairs of phases have ports down from the start."""
        s = self.shape
        item = self.begin("multicast", index, rng)
        roce = item.cfg["roce"]
        dead: set[int] = set()
        if index % 4 >= 2 and s.ports > 2:
            dead = set(rng.choice(s.ports, max(1, s.ports // 4), replace=False).tolist())
            item.cfg["up"] = mask(set(range(s.ports)) - dead)
        sets: dict[int, set[int]] = {}
        for k in range(5):
            many = s.ports if k == 0 else int(rng.integers(2, s.ports + 1))
            ports = set(rng.choice(s.ports, many, replace=False).tolist())
            sets[self.route(item, MULTICAST, ports)] = ports
        item.info |= {"multicast": {}, "kinds": {}, "good": not dead}
        copies = 0
        for i in range(s.ports):
            n = 16
            mc = rng.random(n) < (0.9 if i < 2 else 0.3)
            dest = self.dest(item, rng, rng.integers(s.ports, size=n))
            dest = np.where(mc, rng.choice(list(sets), n), dest)
            size = self.sizes(rng, n, "small", roce)
            item.info["batch"][i] = self.batch(item, rng, dest, size, load=0.7, gaps=0.2)
            item.info["kinds"][i] = mc.astype(np.int64)
            if i in dead:
                continue
            due = {k: sets[int(dest[k])] - {i} - dead for k in np.flatnonzero(mc).tolist()}
            item.info["multicast"][i] = due
            copies += sum(len(x) - 1 for x in due.values())
        item.info["copies"] = copies
        self.slow(item, rng, 0.5, 0.4)
        if index % 2:
            self.credits(item, rng, slow=False)
        return self.finish(item, rng)


class PortEvents(SwitchSequence):
    """Ports go down and come up at random while frames enter, wait, cross and leave; groups of every mode.

    From phase 6 on some frames are refused as well, and but for the last phase inputs and outputs pause by lane.
    """

    phases = 10
    denser = 6

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Several changes a phase; tables and groups change meanwhile in some."""
        s = self.shape
        item = self.begin("port_events", index, rng)
        roce = item.cfg["roce"]
        dense, last = index >= self.denser, index == self.phases - 1 >= self.denser
        everyone = (1 << s.ports) - 1
        modes = (BY_FLOW, SPRAY, ADAPTIVE, BY_FLOW, MULTICAST)
        ways = [
            self.route(item, m, rng.choice(s.ports, int(rng.integers(2, s.ports + 1)), replace=False)) for m in modes
        ]
        kinds = {}
        for i in range(s.ports):
            n = 60 if dense else 26
            pick = rng.integers(len(ways) + 2, size=n)
            alone = self.dest(item, rng, rng.integers(s.ports, size=n))
            dest = np.where(pick < len(ways), np.array(ways)[np.minimum(pick, len(ways) - 1)], alone)
            size = self.sizes(rng, n, "small" if dense or index % 2 else "mix", roce)
            if last:  # sprayed frames that move behind refused ones take their turns
                dest = np.where(rng.random(n) < 0.6, ways[1], dest)
            if dense:
                size, dest = self._refused(item, rng, size, dest)
            b = item.info["batch"][i] = self.batch(item, rng, dest, size, load=0.7, gaps=0.3)
            if dense:
                damage(rng, b, roce, 0.5 if last else 0.1)
            kinds[i] = (dest == ways[-1]).astype(np.int64)
        item.info |= {"kinds": kinds, "good": False}
        at, down = self.start_at + int(rng.integers(100)), 0
        begin = at
        for _ in range(24 if dense else 12):
            flip = 1 << int(rng.integers(s.ports))
            down = down ^ flip if rng.random() < 0.7 else 0
            item.info["port_up"].append((at, everyone & ~down))
            at += int(rng.integers(1, 90)) if rng.random() < 0.8 else 1
        item.info["port_up"].append((at + 300, everyone))
        self.slow(item, rng, 0.6, 0.3)
        if dense and not last:
            self._pauses(item, rng, begin, at + 200)
        if index % 3 == 1:
            self.credits(item, rng, slow=True)
            item.cfg["gate"] = 1
        if index % 3 == 2:
            self._rewrite(item, rng, ways)
            item.info["rewritten"] = True
        item.cfg["ecn_at"] = int(rng.integers(3))
        item.cfg["adapt_shift"] = int(rng.integers(7))
        return self.finish(item, rng)

    def _refused(self, item: PhaseItem, rng: np.random.Generator, size: Ints, dest: Ints) -> tuple[Ints, Ints]:
        """Some frames a beat too long, some for nowhere: moves in between must not take them for their own."""
        s, throw = self.shape, rng.random(len(size))
        long = int(fit((s.max_beats + 1) * s.data_bytes, item.cfg["roce"]))
        nowhere = item.cfg["prefix"] << s.addr_w | item.info["free_indices"][0]
        return np.where(throw < 0.03, long, size), np.where(throw > 0.95, nowhere, dest)

    def _pauses(self, item: PhaseItem, rng: np.random.Generator, at: int, end: int) -> None:
        """PFC with low thresholds; lanes of outputs paused at random, some of them while their port is down."""
        s = self.shape
        xoff = int(rng.integers(min(2, s.quota - 1), min(s.quota, 40)))
        item.cfg |= {"pfc": 1, "xoff": xoff, "xon": int(rng.integers(xoff))}
        state = 0
        while at < end:
            at += int(rng.integers(1, 60))
            state ^= 1 << int(rng.integers(s.ports * s.lanes))
            item.info["pause"].append((at, state))
        item.info["pause"].append((end + 150, 0))

    def _rewrite(self, item: PhaseItem, rng: np.random.Generator, ways: list[int]) -> None:
        """Groups get other ports and become multicast, entries vanish and come back, while frames are decided; some
        entries in the cycle in which a frame looks them up, one after it is accepted."""
        s = self.shape
        low = (1 << s.addr_w) - 1
        for b in item.info["batch"].values():
            for at, way in zip(b.cycle.tolist(), b.dest.tolist(), strict=True):
                if way in ways:
                    row = (at + 1, way & low, int(rng.random() < 0.5), item.info["group_of"][way])
                    item.info["table"].append(row)
        for at in (self.start_at + rng.choice(400, 160, replace=False)).tolist():
            way = int(rng.choice(ways))
            group = item.info["group_of"][way]
            if rng.random() < 0.6:
                ports = rng.choice(s.ports, int(rng.integers(1, s.ports + 1)), replace=False)
                item.info["groups"].append((at, group, int(rng.choice((0, 1, 2, 3, 3, 3))), mask(ports)))
            else:
                item.info["table"].append((at, way & low, int(rng.random() < 0.7), group))


class Reroute(SwitchSequence):
    """A frame waits for an output that dies, another arrives just after: cycles to the first beat on the new way."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Adaptive group of two outputs, the one that was chosen paused."""
        s = self.shape
        item = self.begin("reroute", index, rng)
        old, new, i = 0, 1, s.ports - 1
        dest = self.route(item, SPRAY, [old, new])
        fall = self.start_at + 60
        # sp is 0 after reset: the first frame goes to port 0, which is paused, and waits there
        item.info["pause"] = [(1, (1 << s.lanes) - 1)]
        item.info["port_up"] = [(fall, (1 << s.ports) - 1 & ~(1 << old))]
        b = self.batch(item, rng, np.array([dest, dest]), fit(np.array([64, 64]), item.cfg["roce"]))
        b.cycle = np.array([self.start_at, fall + 1])
        item.info["batch"][i] = b
        item.info |= {"reroute": (fall, new, i, 0, 1), "good": False}
        return self.finish(item, rng)
