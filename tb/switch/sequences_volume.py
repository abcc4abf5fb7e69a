# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the switch: many packets with everything at once: ports that die, multicast, pauses, credits, damage."""

from __future__ import annotations

import numpy as np

from tb.common.uvm import PhaseItem
from tb.switch.frames import Ints, fit
from tb.switch.sequences_basic import Volume
from tb.switch.stimulus import ADAPTIVE, BY_FLOW, MULTICAST, SPRAY, damage, mask

APART = 600  # cycles from one change of a port, a pause or a group to the next, at most


class VolumeMixed(Volume):
    """As :class:`Volume`, and in each phase ports fall and come back, some frames are multicast, wrong, too long, for
    nowhere or marked, groups change; back-pressure, credits both ways and pauses both ways by turns."""

    a_phase = 5_000
    means = ("back-pressure", "credits", "pause")

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Loads from half to full, each with each means and format within 24 phases."""
        s = self.shape
        item = self.begin("volume_mixed", index, rng)
        roce = item.cfg["roce"]
        item.max_cycles, item.wall_limit_s = 10_000_000, 3600
        modes = (BY_FLOW, SPRAY, ADAPTIVE, MULTICAST, MULTICAST)
        ways = [
            self.route(item, m, rng.choice(s.ports, int(rng.integers(2, s.ports + 1)), replace=False)) for m in modes
        ]
        share = np.array([0.1, 0.1, 0.1, 0.02, 0.02])
        n = max(1, self.a_phase // s.ports)
        load = (0.5, 0.7, 0.9, 1.0)[index // 6 % 4]
        item.info["kinds"] = {}
        end = self.start_at
        for i in range(s.ports):
            dest = self.dest(item, rng, rng.integers(s.ports, size=n))
            dest = np.where(rng.random(n) < share.sum(), rng.choice(ways, n, p=share / share.sum()), dest)
            size, dest = self._wrong(item, rng, self.sizes(rng, n, "small", roce), dest)
            b = item.info["batch"][i] = self.batch(item, rng, dest, size, load=load, gaps=0.05)
            damage(rng, b, roce, 0.02)
            item.info["kinds"][i] = np.isin(dest, ways[3:]).astype(np.int64)
            end = max(end, int(b.cycle[-1]))
        self._events(item, rng, ways, end)
        self.slow(item, rng, 0.3, 0.8)
        means = self.means[index % 3]
        if means == "credits":
            self.credits(item, rng, slow=False)
            item.cfg["gate"] = 1
        elif means == "pause":
            xoff = int(rng.integers(s.quota // 2, s.quota))
            item.cfg |= {"pfc": 1, "xoff": xoff, "xon": int(rng.integers(xoff)), "gate": int(rng.integers(2))}
            self._pauses(item, rng, end)
        item.cfg |= {"ecn_at": int(rng.integers(0, 8)), "adapt_shift": int(rng.integers(7))}
        item.info |= {
            "good": False,
            "load": f"volume_mixed_{round(100 * load)}",
            "speed": True,
            "corner": "volume mixed",
        }
        return self.finish(item, rng)

    def _wrong(self, item: PhaseItem, rng: np.random.Generator, size: Ints, dest: Ints) -> tuple[Ints, Ints]:
        """One frame in a hundred a beat too long, one for nowhere."""
        s, throw = self.shape, rng.random(len(size))
        long = int(fit((s.max_beats + 1) * s.data_bytes, item.cfg["roce"]))
        nowhere = item.cfg["prefix"] << s.addr_w | item.info["free_indices"][0]
        return np.where(throw < 0.01, long, size), np.where(throw > 0.99, nowhere, dest)

    def _events(self, item: PhaseItem, rng: np.random.Generator, ways: list[int], end: int) -> None:
        """Ports fall for a cycle to some hundred, two at once at times; groups get other ports and modes."""
        s, at, down = self.shape, self.start_at, 0
        everyone = mask(range(s.ports))
        while at < end:
            at += int(rng.integers(1, APART))
            down = 0 if down and rng.random() < 0.7 else down ^ 1 << int(rng.integers(s.ports))
            item.info["port_up"].append((at, everyone & ~down))
            if rng.random() < 0.2:
                ports = rng.choice(s.ports, int(rng.integers(1, s.ports + 1)), replace=False)
                group = item.info["group_of"][ways[int(rng.integers(3))]]
                item.info["groups"].append((at, group, int(rng.integers(3)), mask(ports)))
        item.info["port_up"].append((at + APART, everyone))

    def _pauses(self, item: PhaseItem, rng: np.random.Generator, end: int) -> None:
        """Lanes of outputs paused and released."""
        s, at, state = self.shape, self.start_at, 0
        while at < end:
            at += int(rng.integers(1, APART))
            state = 0 if state and rng.random() < 0.7 else state ^ 1 << int(rng.integers(s.ports * s.lanes))
            item.info["pause"].append((at, state))
        item.info["pause"].append((at + 100, 0))
