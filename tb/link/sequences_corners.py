# SPDX-License-Identifier: Apache-2.0
"""Stimulus at the ends of ranges that random traffic does not reach: cores that count their credits themselves, clocks
that stand at their last value, frames longer than the receiver's counter of beats."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from models.phy_errors import LOST
from tb.common.uvm import PhaseItem
from tb.link.shape import ENDS
from tb.link.stimulus import LinkSequence
from tb.link.trace import UP

CORNERS = ("own_credits", "own_pauses", "refreshed_timeout", "latest_timeout", "old_off", "many_beats", "great_debts")
LATEST = (1 << 16) - 1  # of the 16-bit clocks
ROUND = 1500  # cycles after which all cells are the sender's again


class Corners(LinkSequence):
    """Frames that go without credits and through pauses (gate 0); a time-out longer than a refresh, and the longest;
    an end that was off for longer than its clock counts; frames of more beats than the receiver counts; more cells
    freed at once than an update can tell of."""

    phases = len(CORNERS)

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """One phase a case, in the order of the class's text."""
        make: Callable[[np.random.Generator], PhaseItem] = getattr(self, CORNERS[index])
        item = make(rng)
        item.info["corner"] = CORNERS[index]
        item.info["ends"] = dict.fromkeys(ENDS, (UP, 0))
        return self.finish(item, rng)

    def own_credits(self, rng: np.random.Generator) -> PhaseItem:
        """S2: buffers smaller than a largest frame, filled at once, thrice: nothing waits, the core had counted."""
        s = self.shape
        item = self.begin("own_credits", 0, gate=0, metres=10, cells=s.max_beats // 16)
        self.near_wrap(item, rng)
        cells = 16 * (s.max_beats // 16)
        at: list[int] = []
        size: list[int] = []
        for part in range(3):
            left, start = cells, 10 + ROUND * part
            while left:
                beats = min(left, int(rng.choice((1, 1, 2, 7, 17))))
                size.append((beats - 1) * s.bb + int(rng.integers(1, s.bb + 1)))
                at.append(start + cells - left)
                left -= beats
        b = self.batch(item, rng, "a", np.array(size))
        b.cycle = np.array(at)
        b.lane = rng.integers(s.lanes_a, size=3)[(b.cycle - 10) // ROUND]
        item.info["no_hole"] = "a"
        item.quiet = ROUND
        return item

    def own_pauses(self, rng: np.random.Generator) -> PhaseItem:
        """S3: the far end pauses all lanes, which is told and not obeyed here."""
        s = self.shape
        item = self.begin("own_pauses", 1, roce=1, gate=0)
        size = np.concatenate((self.sizes(rng, 40, "mix", 1), [64]))
        b = self.batch(item, rng, "a", size)
        done = 400 + 2 * int(b.beats(s.bb).sum())
        if item.info["link"]["a"].roce:
            item.info["timed"]["b"]["pause"] = [(5, (1 << s.lanes_a) - 1), (done + 400, 0)]
            item.info["events"] = {("b", "pfc sent"): 2, ("a", "pfc received"): 2}
            item.info["starts_after"] = (done, int(b.beats(s.bb).sum()))
        item.quiet = 1500
        return item

    def timeout(self, name: str, index: int, limit: int, rng: np.random.Generator) -> PhaseItem:
        """R3: a frame of a few segments lost on a wire on which nothing but refreshes is said: one replay, of all."""
        item = self.begin(name, index, replay_timeout=limit)
        self.near_wrap(item, rng, 2)
        self.batch(item, rng, "a", np.array([900]), at=20)
        item.info["fault"]["b"] = [(c, LOST) for c in range(1, 400)]
        item.info |= {
            "events": {("a", "time-out"): 1, ("a", "replay"): 1},
            "never": [("b", "nack sent"), ("b", "duplicate"), ("a", "retrain")],
            "fires_at": limit,
        }
        item.quiet = limit + 900
        return item

    def refreshed_timeout(self, rng: np.random.Generator) -> PhaseItem:
        """Acknowledgements that are no progress come in between: the clock goes on."""
        return self.timeout("refreshed_timeout", 2, 5000, rng)

    def latest_timeout(self, rng: np.random.Generator) -> PhaseItem:
        """The longest time-out that there is."""
        return self.timeout("latest_timeout", 3, LATEST, rng)

    def old_off(self, rng: np.random.Generator) -> PhaseItem:
        """B2: ends enabled a while after their clocks' last value have been off long enough, and begin at once."""
        item = self.begin("old_off", 4, preset=0, enable=0)
        trip = self.there_and_back(item)
        self.both(item, init_timeout=2 * trip + 2000)
        on = LATEST + 1 + int(rng.integers(100, 600))  # below `retrain` if the clock began anew
        for x in ENDS:
            item.info["timed"][x]["enable"] = [(on, 1)]
            self.batch(item, rng, x, self.sizes(rng, 6, "small", 0), at=on + trip + 200)
        item.info["up_by"] = on + trip + 200
        return item

    def many_beats(self, rng: np.random.Generator) -> PhaseItem:
        """F1: frames of 255 beats to 256 and a largest frame more, their FCS right: long, each of them."""
        s = self.shape
        item = self.begin("many_beats", 5, roce=1)
        if not item.info["link"]["a"].roce:
            return item
        beats = np.array([255, 256, 257, 258, 256 + s.max_beats // 2, 256 + s.max_beats, 257 + s.max_beats, 513])
        size = np.full(2 * len(beats) + 1, 300)
        size[1::2] = beats * s.bb - rng.integers(0, s.bb, len(beats))
        self.batch(item, rng, "a", size)
        item.info["events"] = {("b", "long"): len(beats)}
        item.info["never"] = [("b", "fcs"), ("a", "underrun")]
        return item

    def great_debts(self, rng: np.random.Generator) -> PhaseItem:
        """K5: cores that free all they hold every 2,000 cycles: hundreds of cells of many lanes are unsaid."""
        item = self.begin("great_debts", 6, cells=63)
        self.near_wrap(item, rng)
        pattern = np.zeros(2000, np.bool_)
        pattern[-4:] = True
        for x in ENDS:
            beats, size = 0, []
            while beats < 4500:
                size.append(int(rng.integers(1, self.shape.largest + 1)))
                beats += -(-size[-1] // self.shape.bb)
            self.batch(item, rng, x, np.array(size))
            item.cfg[f"{x}_core"] = 1
            item.ready[f"{x}_go"] = pattern
        item.quiet = 2600
        return item
