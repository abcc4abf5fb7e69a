# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the switch: frames that are wrong, too long, for nowhere, or that lie about their length."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tb.common.uvm import PhaseItem
from tb.switch.frames import MIN_NATIVE, Batch, fit
from tb.switch.stimulus import BY_FLOW, SPRAY, SwitchSequence, damage

WRONG = ("header", "short_head", "global_head", "index", "prefix", "group", "long", "lies_more", "lies_less")


class Malformed(SwitchSequence):
    """Half of the frames is wrong in one way each; the good ones all come through, whole and in order."""

    phases = 4
    kinds: tuple[str, ...] = WRONG

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Every kind on every input."""
        s = self.shape
        item = self.begin("malformed", index, rng)
        roce = item.cfg["roce"]
        nowhere = self.route(item, BY_FLOW, [])  # a group without ports
        sprayed = self.route(item, SPRAY, range(s.ports))  # a frame that is refused takes no turn
        item.info |= {"good": False, "survivors": {}}
        for i in range(s.ports):
            n = 36
            dest = self.dest(item, rng, rng.integers(s.ports, size=n))
            dest = np.where(rng.random(n) < 0.3, sprayed, dest)
            size = self.sizes(rng, n, "small", roce)
            b = self.batch(item, rng, dest, size, gaps=0.2)
            kinds = self.possible(roce)
            pick = rng.integers(1, 1 + len(kinds), n)
            kind = np.array(("", *kinds))[np.where(rng.random(n) < 0.5, 0, pick)]
            missing = [k for k in kinds if k not in kind]
            kind[np.flatnonzero(kind == "")[: len(missing)]] = missing
            self._spoil(item, rng, b, kind, nowhere)
            beats = b.beats(s.data_bytes)
            b.cycle = self.start_at + np.cumsum(beats) - beats + np.cumsum(rng.integers(0, 6, n))
            b.extra = None
            item.info["batch"][i] = b
            item.info["survivors"][i] = np.flatnonzero(kind == "")
        if index % 4 >= 2:
            self.slow(item, rng, 0.5, 0.4)
        item.cfg["gate"] = int(index % 4 == 1)
        item.info["codes"] = dict.fromkeys(self.reasons(roce))
        return self.finish(item, rng)

    def possible(self, roce: int) -> list[str]:
        """Kinds that there are in this shape: no destination has another prefix where the index is all of it, and no
        frame is short of beats where the largest has one."""
        s = self.shape
        never = {"prefix": not s.prefix_bits(roce), "lies_more": s.max_beats == 1}
        return [kind for kind in self.kinds if not never.get(kind)]

    def reasons(self, roce: int) -> list[str]:
        """Drop codes that must be seen."""
        short = ["short"] * ("lies_more" in self.possible(roce))
        return ["malformed", "unknown", "long", "no way", "cut", *short]

    def _spoil(
        self, item: PhaseItem, rng: np.random.Generator, b: Batch, kind: npt.NDArray[np.str_], nowhere: int
    ) -> None:
        s, roce, n = self.shape, item.cfg["roce"], len(b)
        w = s.data_bytes
        wrong = kind == "header"
        spoiled = Batch(b.size, b.dest, b.lane, b.cycle, flow=b.flow)
        damage(rng, spoiled, roce, 1.0)
        b.damage = np.where(wrong, spoiled.damage, 0)
        if s.lanes == 16 or (not roce and s.lanes > 15):
            b.damage = np.where(b.damage == 3, 1, b.damage)
        short = kind == "short_head"
        b.size = np.where(short, rng.integers(1, 42 if roce else MIN_NATIVE, n), b.size)
        b.stated = np.where(short, 200, b.stated)
        b.grh &= ~short
        bad_global = kind == "global_head"
        if roce:
            b.damage = np.where(bad_global, 1, b.damage)
        else:
            b.size = np.where(bad_global, rng.integers(MIN_NATIVE, 64, n), b.size)
            b.stated = np.where(bad_global, 102, b.stated)
            b.grh |= bad_global
        spare = (
            item.cfg["prefix"] << s.addr_w
            | np.array(item.info["free_indices"])[rng.integers(len(item.info["free_indices"]), size=n)]
        )
        # what is wrong in two ways has the code of the first
        lost = (kind == "index") | (kind == "long") & (rng.random(n) < 0.4)
        b.dest = np.where(lost, spare, b.dest)
        foreign = b.dest ^ (1 << s.addr_w) << rng.integers(max(1, s.prefix_bits(roce)), size=n)
        b.dest = np.where(kind == "prefix", foreign, b.dest)
        b.dest = np.where(kind == "group", nowhere, b.dest)
        # M+1 beats, more, or more than a whole buffer; the stated length is true or the lie
        least = s.max_beats + 1
        beats = np.where(rng.random(n) < 0.5, least, rng.integers(least, max(least + 1, 2 * s.max_beats), n))
        long = np.minimum(beats * w - rng.integers(0, w - 4, n), 60_000 if roce else 8190)
        lie = rng.random(n) < 0.3
        both = wrong & (rng.random(n) < 0.4)
        b.stated = np.where((kind == "long") | both, fit(long, 1) if roce else (long - 2) // 4 * 4 + 2, b.stated)
        b.size = np.where((kind == "long") & ~lie, b.stated, b.size)
        # a header that promises more, or less, than there is
        top = s.max_beats * w
        more = np.minimum((b.beats(w) + rng.integers(1, 5, n)) * w, top)
        b.size = np.where(kind == "lies_more", np.minimum(b.size, top - w), b.size)
        b.stated = np.where(kind == "lies_more", np.maximum(more, (b.beats(w) + 1) * w) // 4 * 4 - 2, b.stated)
        less = kind == "lies_less"
        b.size = np.where(less, np.maximum(b.size, w + 10) + w * rng.integers(0, 3, n), b.size)
        b.size = np.where(less & (rng.random(n) < 0.2), top + w * rng.integers(0, 40, n), b.size)
        b.stated = np.where(less, np.maximum(fit((b.beats(w) - 1) * w - 2, roce), 0), b.stated)
        b.stated = np.where(less & (b.stated > top), fit(np.full(n, top - 2), roce), b.stated)


class TooLong(Malformed):
    """Lengths around the largest, and beyond the whole buffer: dropped whole when stated, cut when not."""

    phases = 2
    kinds = ("long", "lies_less", "lies_more")

    def reasons(self, roce: int) -> list[str]:
        """Drop codes that must be seen."""
        return ["long", "cut"] + ["short"] * ("lies_more" in self.possible(roce))
