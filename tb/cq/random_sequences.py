# SPDX-License-Identifier: Apache-2.0
"""Random stimulus of the completion queues."""

from __future__ import annotations

import numpy as np

from tb.common.uvm import PhaseItem, PhaseSequence
from tb.cq.consumer import M24
from tb.cq.scenario import Scenario, Software


def _software(rng: np.random.Generator, log: int) -> Software:
    fast = int(rng.integers(2, 60))
    return Software(
        gap=(1, fast + 1), most=int(rng.integers(1, 17)), every=int(rng.integers(1, max(2, (1 << min(log, 6)) // 2))),
        late=(1, int(rng.integers(2, 30))), arms=int(rng.integers(3)),
        stops=int(rng.integers(1, 40)) if rng.random() < 0.1 else None,
    )  # fmt: skip


class RandomQueues(PhaseSequence):
    """Any mix: rings and collapsed queues, sleeping and polling software, moderation, stalls, all near a wrap."""

    phases = 6

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        queues = int(self.ctx.param("CQS", 64))
        far = int(rng.choice([5, 40, 200]))
        s = Scenario(
            rng, stall=float(rng.choice([0.1, 0.4, 0.9])), queues=queues,
            write=(int(rng.integers(2, far + 2)), int(rng.integers(far))),
            read=(int(rng.integers(2, far + 2)), int(rng.integers(2 * far))),
        )  # fmt: skip
        n = min(int(rng.choice([1, 3, 12, 40])), queues)
        chosen = rng.choice(queues, size=n, replace=False).tolist()
        for e in chosen:
            kind = rng.random()
            log = int(rng.integers(0, 9))
            fields: dict[str, int] = {}
            if kind < 0.15:
                fields = {"collapsed": 1, "ignore_overrun": 1}
            elif kind < 0.3:
                fields = {"ignore_overrun": 1}
            if rng.random() < 0.4:
                fields |= {"mod_count": int(rng.integers(0, 9)), "mod_period": int(rng.choice([0, 3, 60, 300]))}
            s.queue(e, _software(rng, log), log=log, **fields)
        s.at += 10
        pace = int(rng.choice([1, 3, 20]))
        ctxs = [s.plans[e].ctx for e in chosen]
        sent = dict.fromkeys(chosen, 0)
        hot = int(rng.integers(n))
        for _ in range(350):
            i = hot if rng.random() < 0.3 else int(rng.integers(n))
            c = ctxs[i]
            for _ in range(int(rng.integers(1, 4))):
                if rng.random() < 0.5:
                    s.data(int(rng.integers(1, 3)), after=int(rng.integers(1, far + 2)))
                s.complete(c)
                sent[chosen[i]] += 1
                s.at += int(rng.integers(1, pace + 1))
            if rng.random() < 0.1:
                s.arm(c, c.pi0 + sent[chosen[i]] - int(rng.integers(4)) & M24, rng.random() < 0.4)
        rings = [e for e in chosen if not s.plans[e].ctx.collapsed and not s.plans[e].ctx.ignore_overrun]
        if rings:
            s.consume(*rings, end=2000)
        item = s.item(f"random{index}", quiet=1200)
        item.info["overruns"] = True
        return item
