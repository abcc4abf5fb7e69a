# SPDX-License-Identifier: Apache-2.0
"""Producers on send queues, consumers on completion queues: predicted in a closed loop, played to both blocks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tb.common.phase import stalls
from tb.common.uvm import PhaseItem, PhaseSequence
from tb.queue_pairs.env import item_of, shape_of
from tb.queue_pairs.litmus import HARMLESS, LITMUS, find
from tb.queue_pairs.scenes import Played, Scene, play
from tb.sq.wqes import FAULTS

PORTS = ("m_wr", "mem_ar", "uar_b", "mem_aw", "mem_w", "m_ev")
SCENES = {
    "a queue each": Scene(gpu=2, cores=3),
    "one for all": Scene(gpu=0, cores=6, sharing="all", strays=4),
    "one for two, polled": Scene(gpu=1, cores=4, sharing="pairs", served=False),
    "rings that wrap": Scene(gpu=0, cores=3, doorbells=24, log=3, haste=4, together=True),
    "GPU threads, queues in host memory": Scene(gpu=3, cores=0, threads=12, host=True, log=3),
    "proxy": Scene(gpu=0, cores=1, askers=6, far=True),
    "errors": Scene(gpu=3, cores=6, doorbells=4, broken=7, sharing="pairs"),
    "errors on one for all": Scene(gpu=1, cores=6, doorbells=4, broken=5, sharing="all", served=False, far=True),
}
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

    def run(self, scene: Scene, rng: np.random.Generator) -> Played:
        """One run, its seed drawn."""
        return play(scene, int(rng.integers(1 << 30)), shape_of(self.ctx))


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
    """Each kind of malformed WQE, on GPU and CPU queues."""

    phases = len(FAULTS)

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        fault = list(FAULTS)[index]
        scene = Scene(gpu=0, cores=2, doorbells=3, sharing="all", broken=1, fault=fault)
        return item_of(f"error{index}", self.run(scene, rng), shows="each error")


class LitmusRuns(JoinSequence):
    """Each step of a consumer's order left out in turn: the design must show the fault that the model shows; where the
    device's rules make it harmless, none. In between the same scenes with the step."""

    phases = 2 * (len(LITMUS) + len(HARMLESS))

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        litmus = (LITMUS + HARMLESS)[index // 2]
        if index % 2:
            return item_of(f"litmus_{litmus.name}_kept", self.run(litmus.scene, rng), shows="kept")
        found = find(litmus, shape_of(self.ctx), int(rng.integers(1 << 20)))
        if found is None:
            raise RuntimeError(f"{litmus.name}: not seen within {litmus.seeds} seeds on the model; due: {litmus.why}")
        return item_of(f"litmus_{litmus.name}_{found[0]}", found[1], litmus.kinds, shows=litmus.name)
