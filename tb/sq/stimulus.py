# SPDX-License-Identifier: Apache-2.0
"""What every sequence of the send queues begins with."""

from __future__ import annotations

import numpy as np

from tb.common.uvm import PhaseItem, PhaseSequence
from tb.sq.scene import Scene


class SqSequence(PhaseSequence):
    """Common part. The option ``phases`` picks as many of a sequence's phases by the seed (0: all), the option
    ``rounds`` makes each so many times, each time at random anew."""

    async def body(self) -> None:
        """All phases, or some."""
        most = self.ctx.option("phases", 0)
        chosen = np.arange(self.phases)
        if most:
            chosen = np.sort(self.ctx.rng(f"{self.get_name()}/phases").permutation(self.phases)[:most])
        for turn in range(self.ctx.option("rounds", 1)):
            for index in chosen.tolist():
                item = self.make(index, self.ctx.rng(f"{self.get_name()}/{turn}/{index}"))
                await self.start_item(item)
                await self.finish_item(item)

    @property
    def quick(self) -> bool:
        """Few phases are asked for: short ones then, too."""
        return bool(self.ctx.option("phases", 0))

    def scene(self, rng: np.random.Generator, **kw: object) -> Scene:
        """An empty scene in the design's shape."""
        return Scene(self.ctx, rng, **kw)  # type: ignore[arg-type]

    def some(self, scene: Scene, most: int) -> int:
        """Queues of a scene: as many as asked for, as the table holds."""
        return min(most, int(scene.qps))


def delays(rng: np.random.Generator, most: int = 120) -> dict[str, tuple[int, int]]:
    """Delays of both windows with jitter: answers come in any order."""
    return {w: (int(rng.integers(1, most)), int(rng.integers(0, 40))) for w in ("host", "gpu")}


def stalls(rng: np.random.Generator, low: float = 0.25) -> dict[str, float]:
    """Shares of ready cycles for every port that may wait."""
    return {port: float(rng.uniform(low, 1)) for port in ("m_wr", "mem_ar", "uar_b")}


__all__ = ["PhaseItem", "SqSequence", "delays", "stalls"]
