# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the link's states: bring-up, refusals, one end that goes and comes back, replays without end."""

from __future__ import annotations

import numpy as np

from models.phy_errors import LOST
from models.spec import spec
from tb.common.uvm import PhaseItem
from tb.link.shape import ENDS, FECS
from tb.link.stimulus import HEAL, LinkSequence
from tb.link.trace import REASONS, UP

REPEATS = 3


class BringUp(LinkSequence):
    """From nothing to traffic: ends enabled apart, a core that drains late, INITs and ECHOs lost, a cut in between; an
    end that hears and gets no answer, an end that is answered and does not hear, for longer than it waits."""

    phases = 8

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """0: both at once. 1: b later than a gives up. 2: b's core drains late. 3: sets lost. 4: cut. 5: RoCE. 6: b
        gets nothing, so a has its INIT and no ECHO. 7: b gets the ECHOs and no INIT."""
        item = self.begin(
            "bring_up", index, preset=0, roce=int(index == 5), metres=(2, 50)[index % 2], enable=int(index == 0)
        )
        self.near_wrap(item, rng, 20)
        item.info["link"]["b"].init_seq = int(rng.integers(1 << 20))
        # B8: a shorter one, met by an end that resumes, could be missed again and again; 1 wants it short
        patience = 4000 if index in (3, 4) else 1700
        self.both(item, init_timeout=patience, retrain=self.there_and_back(item) + int(rng.integers(1, 150)))
        timed = item.info["timed"]
        late = {x: 10 + int(rng.integers(1, 400)) for x in ENDS}
        if index == 1:
            late["b"] = late["a"] + 2500
        elif index >= 6:
            late = self.deaf(item, index, rng)
        for x in ENDS:
            if index:
                timed[x]["enable"] = [(late[x], 1)]
            size = self.sizes(rng, 12, "small", int(index == 5))
            self.batch(item, rng, x, size, at=200).cycle[4:] += 7000 if index < 3 else 12000
        if index == 2:
            timed["b"]["drained"] = [(1, 0), (1200, 1)]
        elif index == 3:
            for x in ENDS:
                item.info["fault"][x] = [(c, LOST) for c in range(300, 3300) if rng.random() < 0.7]
        elif index == 4:
            timed["a"]["cut"] = [(int(rng.integers(200, 700)), 1), (2600, 0)]
        item.info |= {"ends": dict.fromkeys(ENDS, (UP, 0)), "up_by": (7000 if index < 3 else 12000)}
        item.quiet = 1200
        return self.finish(item, rng)

    def deaf(self, item: PhaseItem, index: int, rng: np.random.Generator) -> dict[str, int]:
        """B8: faults of b until each end has given up; returns when the ends are enabled. The one that is to give up
        with one direction on is the first: when the other one gave up, its signal would fall, another reason."""
        f = spec()
        link = item.info["link"]["a"]
        first = link.retrain + int(rng.integers(10, 200))
        every = f.cycles("link.init_interval")
        # their INITs leave between each other, so that each ECHO, which leaves at once, is far from an INIT
        apart = 3 * every + int(rng.integers(every))
        way = f.cycles("latency.link.tx_out") + link.phy_tx + item.cfg["cable"]
        heal = first + 2 * link.init_timeout
        if index == 6:
            item.info["fault"]["b"] = [(c, LOST) for c in range(1, heal)]
            item.info["gave_up"] = "a"
            return {"a": first, "b": first + apart}
        apart += (link.phy_rx + way + 2 - apart - every // 2) % every  # a's ECHO half an interval behind its INIT
        passes = first + apart + 1 + way  # a's first INIT, in the first cycle of INIT
        item.info["fault"]["b"] = [(c, LOST) for c in range(1, heal) if (c - passes + every // 4) % every < every // 2]
        item.info["gave_up"] = "b"
        return {"a": first + apart, "b": first}


class Refusals(LinkSequence):
    """Ends that do not agree: profile, FEC (lanes, in a bench of two kinds of ends); both say why, none comes up."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """0: profiles differ; 1: FECs."""
        item = self.begin("refused", index, preset=0, fec=FECS[0])
        self.both(item, init_timeout=1200, retrain=self.there_and_back(item) + 1)
        b = item.info["link"]["b"]
        bits = 0
        if self.shape.lanes_a != self.shape.lanes_b:
            bits |= 1 << REASONS.index("lanes")
        if index == 0 and self.shape.lanes_b <= 8:
            b.roce, bits = 1, bits | 1 << REASONS.index("profile")
        else:
            b.kp4, bits = 1, bits | 1 << REASONS.index("fec")
        for x in ENDS:
            self.batch(item, rng, x, self.sizes(rng, 4, "small", 1), at=2600)
        item.info["refused"] = bits
        item.quiet = 1500
        return self.finish(item, rng)


class Restart(LinkSequence):
    """In the middle of traffic: one end disabled and enabled again, far restarts, retrains asked for by both ends,
    with frames and acknowledgements on their way; what is lost is counted, what comes after is whole."""

    phases = 6

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Even: an end goes down and comes back, thrice. Odd: retrains, some at both ends at once. 4, 5: RoCE."""
        roce = int(index >= 4)
        item = self.begin("restart", index, roce=roce, preset=0, metres=(2, 30)[index // 2 % 2])
        self.near_wrap(item, rng, 60)
        self.both(item, init_timeout=2500, replay_timeout=1000)
        self.both(item, retrain=self.there_and_back(item) + int(rng.integers(1, 300)))
        if not roce:  # B4: buffers of two sizes, and what is sent overruns the smaller one if it goes by its own
            item.info["link"][str(rng.choice(ENDS))].cells = -(-self.shape.max_beats // 16) + 1
        timed = item.info["timed"]
        n = 10 + 10 * (1 if self.quick else REPEATS)
        for x in ENDS:
            size = self.sizes(rng, n, "mix", roce)
            b = self.batch(item, rng, x, size, at=3000, idle=0.2, gaps=0.0 if roce else 0.2)
            b.cycle += (np.arange(n) // 10) * 5000
        self.late(item, rng, 0.4)
        for k in range(1 if self.quick else REPEATS):
            at = 3000 + 5000 * k + int(rng.integers(20, 900))
            x = str(rng.choice(ENDS))
            if index % 2 == 0:
                back = at + int(rng.integers(1, 600))
                timed[x]["enable"] += [(at, 0), (back, 1)]
                if k:  # and again, in the middle of the exchange that follows
                    once_more = back + int(rng.integers(1, 3 * item.info["link"][x].retrain))
                    timed[x]["enable"] += [(once_more, 0), (once_more + int(rng.integers(1, 100)), 1)]
            else:
                timed[x]["retrain"] += [(at, 1), (at + int(rng.integers(1, 4)), 0)]
                if rng.random() < 0.5:
                    y = "b" if x == "a" else "a"
                    near = at + int(rng.integers(0, 2 * item.info["link"]["a"].retrain))  # when INITs may cross
                    timed[y]["retrain"] += [(near, 1), (near + 1, 0)]
        if index % 2 == 0:
            item.info["went_down"] = True
        item.quiet = self.heal if not roce else 1500
        item.info |= {
            "ends": dict.fromkeys(ENDS, (UP, 0)),
            "lossy": bool(roce),
            "sets_lost": True,
            "settled": not self.quick,
        }
        return self.finish(item, rng)


class ReplayLimit(LinkSequence):
    """S10: nothing gets through any more: replays up to their limit, a retrain, again, then down, with reason and
    count; with no limit set it replays on and on."""

    phases = 3

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """0: down in the end. 1: it heals before the last retrain. 2: no limit."""
        item = self.begin("replay_limit", index, preset=0)
        self.near_wrap(item, rng, 8)
        limit = (1, 3, 255)[index]
        self.both(item, replay_max=limit, replay_timeout=(300, 300, 30)[index], init_timeout=2000)
        self.both(item, retrain=self.there_and_back(item) + 1)
        n = 2 if index == 2 else 8
        b = self.batch(item, rng, "a", 600 + rng.integers(0, 100, n), at=2500)
        heal = (16000, 6000, 28000)[index]
        if index == 0:
            b.cycle[n // 2 :] = heal + 2500
        elif index == 1:
            b.cycle[n // 2 :] = heal + 100
        # of five cycles one is good: INITs come through in time, two beats of a segment never do
        item.info["fault"]["b"] = [(c, LOST) for c in range(2490, heal) if c % 5]
        item.info |= {"ends": dict.fromkeys(ENDS, (UP, 0)), "sets_lost": True}
        f = spec().integer("link.retrain_max")
        if index == 0:
            item.info["events"] = {("a", "replay"): limit * (f + 1), ("a", "retrain"): f, ("a", "down"): 1}
        elif index == 1:
            item.info["events"] = {("a", "replay"): limit, ("a", "time-out"): limit}
        else:
            item.info["events"] = {("a", "replay"): 257, ("a", "time-out"): 257}
            item.info["never"] = [("a", "retrain"), ("a", "down")]
        item.quiet = HEAL
        return self.finish(item, rng)
