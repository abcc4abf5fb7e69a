# SPDX-License-Identifier: Apache-2.0
"""Producers with weak memory (tb/producers), predicted in a closed loop with the model and played to the design."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from models.kernel import Kernel
from models.sq import Sq
from tb.common.uvm import PhaseItem
from tb.producers import gpu
from tb.producers.litmus import HARMLESS, LITMUS, Litmus, find
from tb.producers.loop import Outcome
from tb.producers.scenes import Scene, play
from tb.sq.replay import item_of
from tb.sq.stimulus import SqSequence

KINDS = ("NVSHMEM", "DeepEP", "queues in host memory", "cores", "proxy", "everybody", "a thousand threads")


class ProducerSequence(SqSequence):
    """What producers' sequences share: runs on a model in the design's shape."""

    def device(self, kernel: Kernel) -> Sq:
        """The model."""
        return Sq(kernel, "sq", *(self.ctx.param(n, d) for n, d in (("QPS", 256), ("PAGES", 64), ("TAGS", 512))))

    @property
    def entries(self) -> int:
        """Queues that the table holds."""
        return int(self.ctx.param("QPS", 256))

    @property
    def pages(self) -> int:
        """UAR pages."""
        return int(self.ctx.param("PAGES", 64))

    def run(self, scene: Scene, rng: np.random.Generator) -> Outcome:
        """One run, its seed drawn."""
        return play(scene, int(rng.integers(1 << 30)), self.device, entries=self.entries, pages=self.pages)


class Producers(ProducerSequence):
    """GPU threads in both libraries' order, cores, a proxy, all at once; stalls on every port. No fault."""

    phases = 7

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        few = self.entries < 8
        scenes = (
            Scene(threads=16, messages=2, gpu_queues=1 if few else 2),
            Scene(threads=12, style=gpu.DEEPEP, log=7, gpu_queues=1 if few else 3, blocks=3),
            Scene(host=True, style=gpu.Style(system=True), threads=8),
            Scene(blocks=0, cores=3, cpu_queues=1 if few else 2, doorbells=10),
            Scene(blocks=0, askers=8),
            Scene(blocks=0, cores=1) if few else Scene(blocks=4, gpu_queues=4, cores=2, cpu_queues=2, askers=4),
            Scene(blocks=4, threads=32, messages=1, log=6, batch=16)
            if few
            else Scene(blocks=32, threads=32, messages=1, gpu_queues=16, log=6, batch=16),
        )
        ready = {}
        if rng.random() < 0.7:
            for port in ("wr", "ar", "b"):
                pattern = (rng.random(int(rng.integers(50, 200))) < rng.uniform(0.3, 1)).tolist()
                ready[port] = (True, *pattern)
        latency = (int(rng.integers(2, 120)), int(rng.integers(0, 60)))
        scene = replace(scenes[index], ready=ready, read=latency, path=int(rng.integers(1, 60)))
        outcome = self.run(scene, rng)
        return item_of(f"producers{index}", outcome, shows=KINDS[index])


class LitmusRuns(ProducerSequence):
    """Each step of a producer's order left out in turn: the design must show the fault that the model shows; where the
    device's rules make it harmless, none. In between the same scenes with the step."""

    phases = 2 * (len(LITMUS) + len(HARMLESS))

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        litmus: Litmus = (LITMUS + HARMLESS)[index // 2]
        if index % 2:
            return item_of(f"litmus_{litmus.name}_kept", self.run(litmus.scene, rng), shows="kept")
        found = find(litmus, self.device, int(rng.integers(1 << 20)), self.entries, self.pages)
        if found is None:
            raise RuntimeError(f"{litmus.name}: not seen within {litmus.seeds} seeds on the model; due: {litmus.why}")
        return item_of(f"litmus_{litmus.name}_{found[0]}", found[1], litmus.kinds, shows=litmus.name)
