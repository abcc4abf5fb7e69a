# SPDX-License-Identifier: Apache-2.0
"""Stimulus of phy_errors alone."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np

from models import fec
from models.link_errors import COUNT, CTL_OFF, CTL_VALID, OFF, VALID
from models.phy_errors import AGAIN, FAILS, LOST, RATE, PhyErrors
from tb.common.run import RunContext
from tb.common.uvm import PhaseItem, PhaseSequence
from tb.phy_errors.config import errors_cfg, errors_thr, timed_beats
from tb.phy_errors.words import REACH, Words, make, place

Rows = Sequence[tuple[int, int]]


def data_w(ctx: RunContext) -> int:
    """Bits of a beat in this build."""
    return int(ctx.param("DATA_W", 512))


def make_item(
    name: str, ctx: RunContext, errors: PhyErrors, words: Words, cycles: int, on: Rows = (), sig: Rows = (),
    each: int = 1,
) -> PhaseItem:  # fmt: skip
    """An item whose counts are recorded at ``cycles``, after all that is played."""
    item = PhaseItem(name)
    item.cfg = {"errors": errors_cfg(errors), "thr": errors_thr(errors), "dump": cycles, "each": each}
    item.plays = {
        "s": words.records(),
        "fault": timed_beats(errors.faults),
        "cut": timed_beats(errors.cuts),
        "on": timed_beats(on),
        "sig": timed_beats(sig),
    }
    item.info = {"errors": errors, "data_w": data_w(ctx), "words": words, "dump": cycles, "on": on, "sig": sig}
    item.quiet, item.max_cycles = 20, cycles + 1000
    return item


def falling(upto: int) -> list[int]:
    """Thresholds of a number of wrong symbols that is 0 to ``upto`` - 1 with equal shares."""
    return [max(0, (2**64 - 1) * (upto - j) // upto) for j in range(1, 32)]


def draw(rng: np.random.Generator) -> int:
    """64 bits."""
    return int.from_bytes(rng.bytes(8), "little")


def seed(rng: np.random.Generator) -> int:
    """Any seed, its corners too."""
    return [0, 2**64 - 1][int(rng.integers(2))] if rng.random() < 0.2 else draw(rng)


def spans(rng: np.random.Generator, cycles: int, first: int) -> list[tuple[int, int]]:
    """A level that changes to ``first`` and back a few times."""
    at = sorted(set(rng.integers(1, cycles, 12).tolist()))
    return [(c, first ^ (n & 1)) for n, c in enumerate(at)]


class Random(PhaseSequence):
    """Words back to back and apart, a fifth of the codewords failing, bursts, faults, cuts, switched on and off."""

    phases = 8

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Both codes; cuts and switching in every second pair."""
        cycles = 2500
        kp4 = bool(index & 1)
        length = int(rng.choice([1, 3, 8, 16, 100, 600, 2000]))
        fault = [(c, int(rng.integers(1, 4))) for c in range(1, cycles) if rng.random() < 0.06]
        errors = PhyErrors(
            seed(rng), kp4, falling(20 if kp4 else 10), int(rng.choice([0, 2**61, 2**58])), length, index != 6,
            fault if index >= 2 else (), spans(rng, cycles, 1) if index & 2 else (),
        )  # fmt: skip
        if index >= 4:
            lose, repeat = ((2**64 - 1, 2**62), (0, 2**60), (2**60, 0), (2**59, 2**60))[int(rng.integers(4))]
            errors = dataclasses.replace(errors, lose_thr=lose, repeat_thr=repeat)
        at = np.flatnonzero(rng.random(cycles - 10) < rng.choice([0.3, 0.8, 1.0])) + 1
        words = make(rng, at, data_w(self.ctx) // 8)
        on = spans(rng, cycles, int(not errors.on)) if index & 4 else ()
        return make_item(f"random{index}", self.ctx, errors, words, cycles, on, spans(rng, cycles, 0))


class Edges(PhaseSequence):
    """Beats with their trailers and sets at every place over the end of a codeword; the one before it fails, or the one
    behind it, or both, or none."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Codes by turns; in the last two phases fault 3 makes the first one fail."""
        beat = data_w(self.ctx) // 8
        errors = PhyErrors(seed(rng), bool(index & 1), [2**63] * 31)
        cycles = 8 * (beat + 8)
        words = make(rng, np.arange(1, cycles), beat, sets=0.6, beats=0.9)
        k = np.arange(cycles - 1)
        edge = np.array([place(errors, data_w(self.ctx), c) for c in words.at.tolist()])
        off, ctl = edge - k % (beat + 10), edge - k % 10
        fits = (off >= 0) & (off <= REACH - 8 - beat)
        words.side[fits, OFF] = off[fits]
        fits = (ctl >= 0) & (ctl <= REACH - 8)
        words.side[fits, CTL_OFF] = ctl[fits]
        if index >= 2:
            fault = [(int(c), FAILS) for c in words.at if rng.random() < 0.3]
            errors = dataclasses.replace(errors, thr=(), faults=fault)
        return make_item(f"edges{index}", self.ctx, errors, words, cycles + 40)


class Faults(PhaseSequence):
    """Each fault upon nothing, a beat, a set and both, after each of them, alone, again and again, cut and not."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """No codeword fails of itself; the second phase has nothing before the first fault but what was lost."""
        before = [(b, o, f, n, c) for b in range(4) for o in range(4) for f in (LOST, AGAIN, FAILS)
                  for n in (1, 3) for c in (0, 1)]  # fmt: skip
        rng.shuffle(before)
        faults: list[tuple[int, int]] = [(1, AGAIN), (2, LOST), (3, AGAIN), (4, AGAIN)]
        cuts: list[tuple[int, int]] = []
        kinds = {2: 3, 3: 2} if index else {3: 1}
        at = 10
        for b, own, fault, times, cut in before:
            kinds[at] = b
            for n in range(times):
                kinds[at + 1 + n] = own if n == 0 else int(rng.integers(4))
                faults.append((at + 1 + n, fault))
            if cut:
                cuts += [(at + times, 1), (at + times + 1, 0)]
            kinds[at + 1 + times] = int(rng.integers(4))
            at += 3 + times + int(rng.integers(0, 3))
        shown = sorted(c for c, kind in kinds.items() if kind)
        words = make(rng, np.array(shown), data_w(self.ctx) // 8)
        kind = np.array([kinds[c] for c in shown])
        words.side[:, VALID], words.side[:, CTL_VALID] = kind & 1, kind >> 1
        words.side[:, COUNT] = np.where(kind & 1, np.maximum(words.side[:, COUNT], 1), 0)
        errors = PhyErrors(seed(rng), bool(index), faults=faults, cuts=cuts)
        return make_item(f"faults{index}", self.ctx, errors, words, at + 30)


class Switched(PhaseSequence):
    """cfg_on for a while at a time, everything failing: what was judged, forced or said before is forgotten."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Off for one cycle and for longer, at every place of a codeword; begins on and off."""
        cycles = 3000
        on, at, level = [], 1, index
        while at < cycles - 100:
            at += int(rng.choice([1, 1, 2, 5])) if level == 0 else int(rng.integers(1, 60))
            level ^= 1
            on.append((at, level))
        fault = [(c, int(rng.choice([AGAIN, FAILS]))) for c in range(1, cycles, 7)]
        errors = PhyErrors(seed(rng), False, [2**64 - 1] * 31, 2**62, 400, bool(index), fault)
        words = make(rng, np.arange(1, cycles), data_w(self.ctx) // 8)
        return make_item(f"switched{index}", self.ctx, errors, words, cycles + 20, on)


class Rates(PhaseSequence):
    """A word a cycle, no codeword failing: shares of lost and repeated ones, alone and both."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Lost; repeated; both; both so often that most words are one or the other."""
        lose, repeat = ((0.03, 0.0), (0.0, 0.03), (0.02, 0.01), (0.3, 0.4))[index]
        cycles = 4000
        errors = PhyErrors(
            seed(rng), bool(index & 1), lose_thr=fec.probability_word(lose), repeat_thr=fec.probability_word(repeat)
        )
        words = make(rng, np.arange(1, cycles), data_w(self.ctx) // 8, sets=1.0, beats=1.0)
        item = make_item(f"rates{index}", self.ctx, errors, words, cycles)
        item.info["rates"] = (lose, repeat)
        return item


MASK = (1 << 64) - 1


def drawn(start: int, i: int) -> int:
    """hash(start, i) of docs/link.md."""
    z = (start + (i + 1) * 0x9E3779B97F4A7C15) & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def meeting(rng: np.random.Generator, kp4: bool, codewords: int) -> PhyErrors:
    """A burst in each codeword, the seed such that two of them meet in a codeword that is corrected."""
    n, t, length = (544, 15, 9) if kp4 else (272, 7, 5)
    while True:
        errors = PhyErrors(draw(rng), kp4, (), MASK, length)
        places = [drawn(~errors.seed & MASK, 2 * w + 1) % n for w in range(2, codewords)]
        for old, new in itertools.pairwise(places):
            if new < old + length - n and new + length <= t:
                return errors


BURSTS = (0, 1, 7, 8, 15, 16, 271, 272, 273, 543, 544, 545, 1500, 4095)


class Counts(PhaseSequence):
    """No words: every number of wrong symbols from 0 to 31, and bursts of every length, in both codes."""

    phases = 2 * (2 + len(BURSTS))

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Singles alone first, then bursts with a few singles, then bursts that meet."""
        kp4, which = bool(index & 1), index // 2
        cycles = 4000 * (2 if kp4 else 1)
        if which == 0:
            errors = PhyErrors(seed(rng), kp4, falling(32))
        elif which > len(BURSTS):
            errors = meeting(rng, kp4, 500)
        else:
            often = 2**63 if BURSTS[which - 1] < 1000 else 2**60
            errors = PhyErrors(seed(rng), kp4, falling(3), often, BURSTS[which - 1])
        return make_item(f"counts{index}", self.ctx, errors, make(rng, np.array([1]), data_w(self.ctx) // 8), cycles)


SHARES = (
    ("llfec", "1e-3", 0.0, 0), ("llfec", "2e-3", 0.0, 0), ("llfec", "3e-3", 0.0, 0),
    ("kp4", "1.5e-3", 0.0, 0), ("kp4", "2e-3", 0.0, 0), ("kp4", "3e-3", 0.0, 0),
    ("llfec", "5e-4", 0.125, 12), ("kp4", "1e-3", 0.25, 14),
)  # fmt: skip


RARE = (("llfec", "5e-4", 0.0, 0), ("kp4", "1e-3", 0.0, 0))
MANY = 500_000  # codewords of which enough fail there: 40 and 76, so that half or twice as many would be seen


class Shares(PhaseSequence):
    """Samples of codewords at three bit error ratios a code, and with bursts; large ones also where few fail."""

    phases = len(SHARES)

    def __init__(self, name: str, ctx: RunContext) -> None:
        super().__init__(name, ctx)
        many = int(ctx.option("codewords", 20000)) >= MANY
        self.samples = SHARES + RARE if many else SHARES
        self.phases = len(self.samples)

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Only counted."""
        name, ber, start, length = self.samples[index]
        c = fec.code(name)
        errors = PhyErrors(
            draw(rng), name == "kp4", fec.thresholds(c, ber),
            fec.probability_word(start), length,
        )  # fmt: skip
        st, _ = errors.arrays(data_w(self.ctx))
        codewords = int(self.ctx.option("codewords", 20000))
        cycles = codewords * c.payload // int(st[RATE]) + 20
        words = make(rng, np.array([1]), data_w(self.ctx) // 8)
        item = make_item(f"{name}_{ber}{'_bursts' if start else ''}", self.ctx, errors, words, cycles, each=0)
        item.info |= {"ber": ber, "start": start}
        item.wall_limit_s = 1500.0
        return item
