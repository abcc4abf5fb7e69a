# SPDX-License-Identifier: Apache-2.0
"""Stimulus in volume: what the codes let through, goodput and latency against the bit error ratio, outages, and as many
frames under errors as are asked for."""

from __future__ import annotations

import numpy as np

from models.fec import code, probability_word, thresholds
from models.phy_errors import FAILS, PhyErrors
from tb.common.phase import stalls
from tb.common.uvm import PhaseItem
from tb.link.shape import ENDS, FAR, FECS
from tb.link.stimulus import HEAL, LinkSequence

RATIOS = {"llfec": (1e-3, 1.5e-3, 2e-3), "kp4": (1.5e-3, 2e-3, 2.5e-3)}  # share of frames lost: 0.1 to 30 %
SWEEP = (1e-12, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 3e-4, 5e-4, 1e-3, 1.5e-3)
BURSTS = (2, 10, 100, 1000)  # cycles in which every codeword fails
PART = 20_000  # frames of a phase and end


class Codes(LinkSequence):
    """64-byte RoCE frames, which nobody sends again: codewords failed and frames lost, by closed form."""

    phases = 6

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Three ratios for each code."""
        fec = FECS[index // 3]
        ratio = RATIOS[fec][index % 3]
        item = self.begin("codes", index, roce=1, fec=fec)
        n = 40 * self.ctx.option("frames", 200)
        self.batch(item, rng, "a", np.full(n, 64))
        item.info["batch"]["a"].lane[:] = 0
        item.info["errors"]["b"] = PhyErrors(
            seed=int(rng.integers(1 << 63)), kp4=fec == "kp4", on=True, thr=thresholds(code(fec), ratio)
        )
        item.info |= {"codes": {"fec": fec, "ratio": ratio, "size": 64}, "lossy": True}
        item.max_cycles = 10 * n + 20_000
        return self.finish(item, rng)


class Sweep(LinkSequence):
    """Native: a sends as fast as it may, b at half of that, over 20 m, at one bit error ratio after another."""

    phases = 2 * len(SWEEP)

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """All ratios with the first code, then with the other."""
        fec = FECS[index // len(SWEEP)]
        ratio = SWEEP[index % len(SWEEP)]
        item = self.begin("sweep", index, fec=fec, metres=20, cells=63, retrain=1000, init_timeout=20000)
        n = self.ctx.option("frames", 200)
        self.batch(item, rng, "a", np.full(n, 1024))
        b = self.batch(item, rng, "b", np.full(n // 2, 1024))
        b.cycle = 10 + np.arange(n // 2) * 42 * 64 // self.shape.bb
        for x in ENDS:
            item.info["errors"][x] = PhyErrors(
                seed=int(rng.integers(1 << 63)), kp4=fec == "kp4", on=True, thr=thresholds(code(fec), ratio)
            )
        item.info["sweep"] = {"fec": fec, "ratio": ratio, "metres": 20, "size": 1024, "last": index == self.phases - 1}
        item.quiet = HEAL
        item.info["settled"] = False
        item.max_cycles = 2000 * n + 100_000
        return self.finish(item, rng)


class Outages(LinkSequence):
    """Full rate over 20 m, then codewords fail for some cycles, or the link trains anew: time without delivery."""

    phases = 2 * (len(BURSTS) + 1)

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Each code: bursts of growing length, then a retrain of 1000 cycles."""
        fec, which = FECS[index // (len(BURSTS) + 1)], index % (len(BURSTS) + 1)
        item = self.begin("outage", index, fec=fec, metres=20, cells=63, retrain=1000, init_timeout=20000)
        item.info["errors"]["b"] = PhyErrors(on=True, kp4=fec == "kp4")
        self.batch(item, rng, "a", np.full(260, 1024))
        at = 1500 + int(rng.integers(100))
        if which < len(BURSTS):
            item.info["fault"]["b"] = [(at + k, FAILS) for k in range(BURSTS[which])]
            item.info["outage"] = {"fec": fec, "burst": BURSTS[which], "from": at, "metres": 20}
        else:
            item.info["timed"]["a"]["retrain"] = [(at, 1), (at + 1, 0)]
            item.info["outage"] = {"fec": fec, "burst": 0, "from": at, "metres": 20}
        item.quiet = HEAL
        item.info["sets_lost"] = True
        return self.finish(item, rng)


class Volume(LinkSequence):
    """Frames by the million under errors of every kind, both ways; the oracle and the model see each of them."""

    def __init__(self, name: str, ctx: object) -> None:
        super().__init__(name, ctx)  # type: ignore[arg-type]
        frames = self.ctx.option("frames", 200) * 10
        self.part = min(PART, frames // 2)
        type(self).phases = -(-frames // (2 * self.part))

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Every fourth phase is RoCE; ratios, and rates of lost and repeated blocks, change from phase to phase."""
        roce = int(index % 4 == 3)
        fec = FECS[index % 2]
        item = self.begin("volume", index, roce=roce, fec=fec, metres=float(rng.choice((2, 20, 50))), cells=63)
        self.near_wrap(item, rng, self.part)
        self.both(item, replay_timeout=1000, retrain=self.there_and_back(item) + 50, init_timeout=3000, replay_max=8)
        n = self.part
        kind = ("tiny", "tiny", "small")[index % 3]
        rate = float(rng.choice((0.0, 1e-5, 1e-4)))
        ratios: dict[str, float] = {}
        for x in ENDS:
            size = rng.integers(64 if roce else 1, 200, n) if kind == "tiny" else self.sizes(rng, n, "small", roce)
            self.batch(item, rng, x, size, idle=0.02, poison=0.01, bad=0.01)
            length = int(6 * n)
            ratio = float(rng.choice((1e-4, 5e-4, 1e-3))) * (1 + (fec == "kp4"))
            ratios[x] = ratio
            item.info["errors"][x] = PhyErrors(
                seed=int(rng.integers(1 << 63)), kp4=fec == "kp4", on=True, thr=thresholds(code(fec), ratio),
                burst_thr=probability_word(float(rng.choice((0.0, 1e-5, 1e-4)))), burst_len=int(rng.integers(8, 200)),
                lose_thr=probability_word(rate / 3), repeat_thr=probability_word(rate / 3),
            )  # fmt: skip
            at = np.unique(rng.integers(100, length, rng.binomial(length, rate / 3))).tolist()
            item.info["fault"][x] = [(c, FAILS) for c in at]
            if index % 5 == 4:
                where = int(rng.integers(1000, length // 2))
                item.info["timed"][x]["cut"] = [(where, 1), (where + int(rng.integers(1, 300)), 0)]
                where = int(rng.integers(length // 2, length))
                item.info["timed"][FAR[x]]["retrain"] = [(where, 1), (where + 1, 0)]
            item.ready[f"{x}_go"] = stalls(rng, 0.8)
            item.cfg[f"{x}_core"] = 1
        item.info |= {"lossy": bool(roce), "settled": False, "volume": index, "ratios": ratios}
        item.quiet = HEAL
        item.max_cycles = 2000 * n + 200_000
        item.wall_limit_s = 3000.0
        return self.finish(item, rng)
