# SPDX-License-Identifier: Apache-2.0
"""Producers on send queues, consumers on completion queues: predicted in a closed loop, played to both blocks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tb.common.phase import stalls
from tb.common.uvm import PhaseItem, PhaseSequence
from tb.queue_pairs.env import item_of, shape_of
from tb.queue_pairs.litmus import HARMLESS, LITMUS, find
from tb.queue_pairs.names import SCENES
from tb.queue_pairs.scenes import Played, Scene, Shape, play
from tb.sq.wqes import FAULTS

PORTS = ("m_wr", "mem_ar", "uar_b", "mem_aw", "mem_w", "m_ev")
EACH = 7  # faults a phase
SMOKE = Scene(gpu=1, threads=3, messages=1, cores=2, doorbells=2, broken=1, strays=1, limit=20_000)


class JoinSequence(PhaseSequence):
    """What these sequences share. The option ``rounds`` makes each phase so many times, each time at random anew."""

    async def body(self) -> None:
        """All phases."""
        for turn in range(self.ctx.option("rounds", 1)):
            for index in range(self.phases):
                item = self.make(index, self.ctx.rng(f"{self.get_name()}/{turn}/{index}"))
                await self.start_item(item)
                await self.finish_item(item)

    @property
    def shape(self) -> Shape:
        """Sizes of the design."""
        return shape_of(self.ctx)

    def run(self, scene: Scene, rng: np.random.Generator) -> Played:
        """One run, its seed drawn."""
        return play(scene, int(rng.integers(1 << 30)), self.shape)


class Smoke(JoinSequence):
    """Two runs of everything, small."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        return item_of(f"smoke{index}", self.run(SMOKE, rng), shows="smoke")


class Scenes(JoinSequence):
    """Every way to share completion queues and to consume them; delays, jitter, stalls on every ready."""

    phases = len(SCENES)

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        name, scene = list(SCENES.items())[index]
        ready = {}
        if rng.random() < 0.7:
            ready = {port: (True, *stalls(rng, 0.3).tolist()) for port in PORTS if rng.random() < 0.7}
        scene = replace(
            scene, ready=ready, path=int(rng.integers(1, 60)), complete=int(rng.integers(1, 200)),
            read=(int(rng.integers(2, 120)), int(rng.integers(0, 60))),
            write=(int(rng.integers(2, 80)), int(rng.integers(0, 40))),
        )  # fmt: skip
        return item_of(f"scene{index}", self.run(scene, rng), shows=name)


class Errors(JoinSequence):
    """Each kind of malformed WQE, on a CPU's queue of its own; one more queue of each phase goes on."""

    phases = -(-len(FAULTS) // EACH)

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        faults = tuple(FAULTS)[EACH * index : EACH * (index + 1)]
        scene = Scene(gpu=0, cores=1 + len(faults), doorbells=3, sharing="all", faults=faults)
        return item_of(f"error{index}", self.run(scene, rng), shows="each error")


class LitmusRuns(JoinSequence):
    """Each step of a consumer's order left out in turn: the design must show the fault that the model shows; where the
    device's rules make it harmless, none. In between the same scenes with the step."""

    phases = 2 * (len(LITMUS) + len(HARMLESS))

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        litmus = (LITMUS + HARMLESS)[index // 2]
        if index % 2:
            return item_of(f"litmus_{litmus.name}_kept", self.run(litmus.scene, rng), shows="kept")
        found = find(litmus, self.shape, int(rng.integers(1 << 20)))
        if found is None:
            raise RuntimeError(f"{litmus.name}: not seen within {litmus.seeds} seeds on the model; due: {litmus.why}")
        return item_of(f"litmus_{litmus.name}_{found[0]}", found[1], litmus.kinds, shows=litmus.name)
