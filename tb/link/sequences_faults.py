# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the link with errors: directed ones at their moment, alone and inside each other; random ones."""

from __future__ import annotations

import numpy as np

from models.fec import code, thresholds
from models.phy_errors import AGAIN, FAILS, LOST, PhyErrors
from models.spec import spec
from tb.common.observe import Ints
from tb.common.phase import stalls
from tb.common.uvm import PhaseItem
from tb.link.shape import ENDS, FECS
from tb.link.stimulus import LinkSequence

ALONE = ("lost", "again", "fails", "last lost", "nack lost", "ack lost", "credits lost", "cut", "retrain", "burst")
INSIDE = (
    "acks lost", "data lost", "data fails", "data again", "retrain a", "retrain b", "cut a", "cut b", "nack lost",
    "all lost", "retrain at nack",
)  # fmt: skip
SPACE = 4200  # cycles between two scripts of a phase
BURST = 24  # segments of a script


class Scripted(LinkSequence):
    """Groups of frames from a, far enough apart; each has a first fault whose moment is known, and what follows it."""

    @property
    def scripts(self) -> int:
        """How many a phase has: all, or a few where few phases are asked for."""
        return 3 if self.quick else len(ALONE)

    def scene(self, label: str, index: int, rng: np.random.Generator, scripts: int) -> tuple[PhaseItem, Ints]:
        """An item with ``scripts`` groups of frames; returns it with the first cycle of each at b's error injector."""
        item = self.begin(label, index, metres=(2, 20)[index % 2 and not self.quick], fec=FECS[index // 2 % 2])
        self.near_wrap(item, rng, BURST * scripts)
        self.both(item, replay_timeout=500 if self.quick else 900, init_timeout=2000)
        self.both(item, retrain=self.there_and_back(item) + 1)
        s = self.shape
        per = [self.sizes(rng, BURST // 2, "small", 0) for _ in range(scripts)]
        b = self.batch(item, rng, "a", np.concatenate(per), poison=0.05)
        beats = b.beats(s.bb)
        at = 10 + (2200 if self.quick else SPACE) * np.arange(scripts)
        owner = np.repeat(np.arange(scripts), BURST // 2)
        inside = np.cumsum(beats) - beats
        b.cycle = at[owner] + inside - inside[owner * (BURST // 2)]
        back = self.sizes(rng, 3 * scripts, "small", 0)
        c = self.batch(item, rng, "b", back)
        c.cycle = np.sort(at[np.repeat(np.arange(scripts), 3)] + rng.integers(0, 900, 3 * scripts))
        for x in ENDS:
            item.ready[f"{x}_go"] = stalls(rng, 0.5)
        link, f = item.info["link"]["a"], spec()
        add = f.cycles("latency.link.tx_fifo") + f.cycles("link.start_slack") + f.cycles("latency.link.tx_out")
        item.quiet = self.heal
        item.info |= {"scripts": [], "sets_lost": True, "settled": not self.quick}
        there: Ints = at + add + link.phy_tx + item.cfg["cable"]
        return item, there

    def way(self, item: PhaseItem) -> int:
        """Cycles from one error injector to what the far end does about it arriving at the other one."""
        link, f = item.info["link"]["a"], spec()
        return int(
            link.phy_rx
            + f.cycles("latency.link.verdict")
            + f.cycles("latency.link.tx_out")
            + link.phy_tx
            + item.cfg["cable"]
        )

    def window(self, item: PhaseItem, end: str, at: int, length: int, kind: int) -> None:
        """The same fault in each of some cycles."""
        item.info["fault"][end] += [(at + k, kind) for k in range(length)]

    def pulse(self, item: PhaseItem, end: str, level: str, at: int, length: int) -> None:
        """A level for some cycles."""
        item.info["timed"][end][level] += [(at, 1), (at + length, 0)]


class Alone(Scripted):
    """One fault at a time: a beat lost or repeated, a codeword failed, the last segment, a NACK, ACKs or credits lost,
    the cable cut, a retrain, a burst."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Each kind once a phase, in another order."""
        kinds = rng.permutation(ALONE).tolist()[: self.scripts]
        item, there = self.scene("alone", index, rng, len(kinds))
        way = self.way(item)
        for kind, at in zip(kinds, there.tolist(), strict=True):
            at += int(rng.integers(0, 20))
            item.info["scripts"].append((kind, at))
            if kind in ("lost", "again", "fails"):
                self.window(item, "b", at, 1, {"lost": LOST, "again": AGAIN, "fails": FAILS}[kind])
            elif kind == "last lost":
                self.window(item, "b", at + 20, 900, LOST)
            elif kind == "nack lost":
                self.window(item, "b", at, 1, LOST)
                self.window(item, "a", at + way, 40, LOST)
            elif kind in ("ack lost", "credits lost"):
                self.window(item, "a", at + (0 if kind == "ack lost" else way), 300, LOST)
            elif kind == "cut":
                self.pulse(item, str(rng.choice(ENDS)), "cut", at, int(rng.integers(1, 150)))
            elif kind == "retrain":
                self.pulse(item, str(rng.choice(ENDS)), "retrain", at, int(rng.integers(1, 5)))
            else:
                self.window(item, "b", at, int(rng.integers(20, 60)), FAILS)
        return self.finish(item, rng)


class Nested(Scripted):
    """A fault inside what another one set going: ACKs lost in a replay, a retrain in a replay, the NACK of a replay's
    loss lost, all of it around the wrap of the numbers."""

    phases = 4

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """A beat lost, then, about when its replay runs, the second fault."""
        kinds = rng.permutation(INSIDE).tolist()[: self.scripts]
        item, there = self.scene("nested", index, rng, len(kinds))
        way = self.way(item)
        for kind, at in zip(kinds, there.tolist(), strict=True):
            at += int(rng.integers(0, 12))
            self.window(item, "b", at, 1, int(rng.choice((LOST, FAILS))))
            # the replay at a's serialiser; its first beat at b's injector
            begin = at + way + item.info["link"]["a"].phy_rx + int(rng.integers(5, 50))
            back = begin + item.info["link"]["a"].phy_tx + item.cfg["cable"] + 3
            item.info["scripts"].append((kind, at))
            if kind == "acks lost":
                self.window(item, "a", begin, 400, LOST)
            elif kind.startswith("data"):
                self.window(
                    item, "b", back, int(rng.integers(1, 4)), {"lost": LOST, "fails": FAILS, "again": AGAIN}[kind[5:]]
                )
            elif kind == "retrain at nack":
                link = item.info["link"]["b"]
                wanted = at + link.phy_rx + spec().cycles("latency.link.verdict") + int(rng.integers(1, 12))
                self.pulse(item, "b", "retrain", wanted, 1)
            elif kind.startswith("retrain"):
                self.pulse(item, kind[-1], "retrain", begin, int(rng.integers(1, 4)))
            elif kind.startswith("cut"):
                self.pulse(item, kind[-1], "cut", begin, int(rng.integers(1, 200)))
            elif kind == "nack lost":
                self.window(item, "b", back, 1, LOST)
                self.window(item, "a", back + way, 60, LOST)
            else:
                for x in ENDS:
                    self.window(item, x, begin, 500, LOST)
        return self.finish(item, rng)


class Storm(LinkSequence):
    """Random traffic both ways; codewords fail, beats and sets get lost or come again, bursts, cuts and retrains at
    random, all at once; counters near their wraps."""

    phases = 6

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Every third phase is RoCE."""
        roce = int(index % 3 == 2)
        item = self.begin("storm", index, roce=roce, metres=float(rng.choice((2, 20, 50))), fec=FECS[index % 2])
        frames = 10 * self.ctx.option("load", 4) + int(rng.integers(20))
        self.near_wrap(item, rng, 2 * frames)
        self.both(
            item, replay_timeout=int(rng.integers(600, 1500)), init_timeout=3000,
            retrain=self.there_and_back(item) + int(rng.integers(1, 200)), replay_max=int(rng.choice((1, 2, 8, 255))),
        )  # fmt: skip
        for x in ENDS:
            size = self.sizes(rng, frames, ("mix", "small")[int(rng.integers(2))], roce)
            b = self.batch(item, rng, x, size, idle=0.3, gaps=0.0 if roce else 0.2, poison=0.05, bad=0.05)
            last = int(b.cycle[-1]) + 1500
            fec = str(rng.choice(FECS))
            item.info["errors"][x] = PhyErrors(
                seed=int(rng.integers(1 << 63)), kp4=fec == "kp4", on=True, burst_len=int(rng.integers(1, 60)),
                burst_thr=int((1 << 64) * rng.choice((0.0, 0.002))),
                thr=thresholds(code(fec), float(rng.choice((1e-4, 1.5e-3, 2e-3)[: 2 + (fec == "kp4")]))),
                lose_thr=int((1 << 64) * rng.choice((0.0, 0.001))),
                repeat_thr=int((1 << 64) * rng.choice((0.0, 0.001))),
            )  # fmt: skip
            n = int(rng.integers(1, 8))
            item.info["fault"][x] = [(int(c), int(rng.integers(1, 4))) for c in rng.integers(20, last, n)]
            if rng.random() < 0.5:
                at = int(rng.integers(50, last))
                item.info["timed"][x]["cut"] = [(at, 1), (at + int(rng.integers(1, 100)), 0)]
            if rng.random() < 0.5:
                at = int(rng.integers(50, last))
                item.info["timed"][x]["retrain"] = [(at, 1), (at + 1, 0)]
        self.late(item, rng, 0.3)
        item.quiet = self.heal
        item.max_cycles = 3_000_000
        # the errors go on to the end: what says the last credits may be lost time and again
        item.info |= {"lossy": bool(roce), "settled": False}
        return self.finish(item, rng)
