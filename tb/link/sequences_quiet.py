# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the link in which what matters happens on a quiet wire: nothing new is sent that would heal it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from models.phy_errors import AGAIN, FAILS, LOST
from models.spec import spec
from tb.common.uvm import PhaseItem
from tb.link.shape import ENDS
from tb.link.stimulus import LinkSequence
from tb.link.trace import UP

CASES = (
    "lost_nack",
    "idle_retrains",
    "wrong_number",
    "stale_echo",
    "swallowed_pause",
    "old_init",
    "short_off",
    "helped_retrains",
)
ONCE = 600  # cycles of a replay's time-out: one replay in the window in which segments fail


class Quiet(LinkSequence):
    """A lost NACK behind a lone segment; an idle link that trains often; numbers that do not fit; an ECHO of the
    session before; a pause that a retrain swallows; an INIT of the session before; a session shorter than the spacing
    of control sets; retrains each of which helped."""

    phases = len(CASES)

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """One phase a case, in the order of the class's text."""
        make: Callable[[np.random.Generator], PhaseItem] = getattr(self, CASES[index])
        item = make(rng)
        item.info["case"] = CASES[index]
        item.info["ends"] = dict.fromkeys(ENDS, (UP, 0))
        # CFs are lost, and a refresh says two lanes only: with more of them the rest is said in a later one
        item.info["sets_lost"] = CASES[index] in ("lost_nack", "helped_retrains")
        return self.finish(item, rng)

    def lost_nack(self, rng: np.random.Generator) -> PhaseItem:
        """K3: b has the segment, its ACK is lost, the replay damaged, the NACK lost: only the refresh ends SILENT."""
        item = self.begin("lost_nack", 0, replay_max=255, replay_timeout=ONCE)
        self.near_wrap(item, rng, 1)
        self.batch(item, rng, "a", np.array([64]), at=100)
        item.info["fault"]["b"] = [(c, FAILS) for c in range(500, 500 + ONCE)]
        item.info["fault"]["a"] = [(c, LOST) for c in range(1, 500 + 2 * ONCE)]
        item.info |= {"events": {("a", "progress"): 1, ("b", "nack sent"): 1}, "never": [("a", "down"), ("b", "down")]}
        item.quiet = 2 * spec().cycles("link.refresh")
        return item

    def idle_retrains(self, rng: np.random.Generator) -> PhaseItem:
        """B8: retrains with nothing recorded are no failures, however many."""
        item = self.begin("idle_retrains", 1)
        self.both(item, retrain=self.there_and_back(item) + 1)
        many = spec().integer("link.retrain_max") + 3
        for k in range(many):
            at = 2000 * (k + 1) + int(rng.integers(100))
            item.info["timed"]["a"]["retrain"] += [(at, 1), (at + 1, 0)]
        self.batch(item, rng, "b", np.array([200]), at=2000 * (many + 1))
        item.info |= {"events": {("a", "retrain"): many}, "never": [("a", "down"), ("b", "down")]}
        item.quiet = 4000
        return item

    def wrong_number(self, rng: np.random.Generator) -> PhaseItem:
        """B4: ends that were told different numbers find out when they train anew, and begin afresh."""
        item = self.begin("wrong_number", 2)
        self.both(item, retrain=self.there_and_back(item) + 1, init_timeout=6000)
        item.info["link"]["a"].init_seq = item.info["link"]["b"].init_seq + int(rng.integers(1, 1 << 18))
        item.info["misfit"] = ("init_seq",)
        item.info["timed"]["a"]["retrain"] = [(100, 1), (101, 0)]
        self.batch(item, rng, "a", self.sizes(rng, 6, "small", 0), at=9000)
        item.info["events"] = {("b", "down"): 1}
        item.quiet = self.heal
        return item

    def stale_echo(self, rng: np.random.Generator) -> PhaseItem:
        """B5: an end that goes and comes while the answer is on its way does not take it for that of its new INIT."""
        item = self.begin("stale_echo", 3, metres=50, preset=0)
        way = self.there_and_back(item) // 2
        self.both(item, retrain=2 * way + 1, init_timeout=6000)
        item.info["link"]["a"].retrain = 20  # below what B7 wants, or the answer is gone by then
        item.info["misfit"] = ("retrain",)
        again = 40 + way + int(rng.integers(20, way - 60))
        item.info["timed"]["a"]["enable"] = [(again, 0), (again + 3, 1)]
        self.batch(item, rng, "a", self.sizes(rng, 6, "small", 0), at=9000)
        item.quiet = self.heal
        return item

    def swallowed_pause(self, rng: np.random.Generator) -> PhaseItem:
        """F3: an XOFF on its way when the link trains anew is said again as soon as it is up."""
        item = self.begin("swallowed_pause", 4, roce=1)
        self.both(item, retrain=self.there_and_back(item) + 1)
        timed = item.info["timed"]
        # a trains anew, hears nothing; b says the pause before it sees that, late enough for its refresh to come later
        timed["a"]["retrain"] = [(3000, 1), (3001, 0)]
        timed["b"]["pause"] = [(3000 + int(rng.integers(70, 90)), 1), (6000, 0)]
        roce = item.info["link"]["a"].roce
        self.batch(item, rng, "a", self.sizes(rng, 60, "mix", roce), at=2000, idle=0.5)
        item.info["lossy"] = bool(roce)
        item.quiet = self.heal
        return item

    def old_init(self, rng: np.random.Generator) -> PhaseItem:
        """B4: b accepts an INIT that comes again after its session; the one of the session that runs differs from it in
        nothing else and is a far restart, not the same one once more."""
        item = self.begin("old_init", 5, preset=0)
        self.near_wrap(item, rng, 8)
        self.both(item, init_timeout=6000, retrain=self.there_and_back(item) + 1)
        link = item.info["link"]["a"]
        first = link.retrain + int(rng.integers(12, 30))  # a has sent the INIT of its first session
        timed = item.info["timed"]
        timed["a"]["enable"] = [(first, 0), (first + 2, 1)]
        passed = first + link.phy_tx + item.cfg["cable"] + link.phy_rx + 10  # and b's PHY is empty again
        timed["b"]["enable"] = [(1, 0), (passed, 1)]
        item.info["fault"]["b"] = [(passed + int(rng.integers(5, 20)), AGAIN)]
        for x in ENDS:
            self.batch(item, rng, x, self.sizes(rng, 6, "small", 0), at=9000)
        item.info["events"] = {("b", "down"): 1}
        item.quiet = self.heal
        return item

    def short_off(self, rng: np.random.Generator) -> PhaseItem:
        """K1: the first set of a session keeps its distance to the last one of the session before."""
        item = self.begin("short_off", 6, preset=0)
        self.both(item, init_timeout=6000, retrain=self.there_and_back(item) + 1)
        item.info["link"]["a"].retrain = 2  # below what B7 wants, or the spacing is over by then
        item.info["misfit"] = ("retrain",)
        at = int(rng.integers(6, 10))
        item.info["timed"]["a"]["enable"] = [(at, 0), (at + 1, 1)]
        for x in ENDS:
            self.batch(item, rng, x, self.sizes(rng, 6, "small", 0), at=9000)
        item.quiet = self.heal
        return item

    def helped_retrains(self, rng: np.random.Generator) -> PhaseItem:
        """B8: retrains with a frame on its way, each of which arrives in the end: however many, the link stays up."""
        item = self.begin("helped_retrains", 7)
        self.both(item, retrain=self.there_and_back(item) + 1)
        many = spec().integer("link.retrain_max") + 3
        at = 2000 * (np.arange(many) + 1)
        self.batch(item, rng, "a", self.sizes(rng, many, "small", 0)).cycle = at
        for c in at.tolist():
            asked = c + int(rng.integers(20, 90))  # it has left, its acknowledgement is not back
            item.info["timed"]["a"]["retrain"] += [(asked, 1), (asked + 1, 0)]
        item.info |= {
            "events": {("a", "retrain"): many, ("a", "progress"): many},
            "never": [("a", "down"), ("b", "down")],
        }
        item.quiet = self.heal
        return item
