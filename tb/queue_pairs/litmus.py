# SPDX-License-Identifier: Apache-2.0
"""Litmus runs of the consumers: one step of their order is left out, and the oracle must see what comes of it.

The second poll between arm and wait is what InfiniBand asks of software, since its arms speak of entries to come only.
An arm of this device carries the consumer index and looks back (docs/cq.md, E4): without that poll nothing is lost, and
:class:`ForwardArms`, a device whose arms do not look back, shows that something would be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from models.cq_engine import Arm, Cq
from models.kernel import Kernel
from tb.queue_pairs.scenes import DEFAULT, Played, Scene, Shape, play

M24 = 0xFFFFFF


class ForwardArms(Cq):
    """As the golden model, but an arm asks for entries that come after it."""

    def _event(self, now: int, what: Any) -> None:
        q = self._find(what.cqn) if isinstance(what, Arm) else None
        if q is None or q.ctx.page != what.page or not q.ctx.events:
            super()._event(now, what)
            return
        q.armed, q.so, q.due, q.gap = True, what.so, False, (q.vis - what.ci) & M24
        self._shown.append((now, q, False, 0))


@dataclass(frozen=True)
class Litmus:
    """``step`` is left out of ``scene``. ``kinds``: a fault of one of these is seen within ``seeds`` seeds; empty:
    harmless, while in the same run a device with :class:`ForwardArms` loses a wake-up. ``why``: what happens."""

    name: str
    step: str
    scene: Scene
    seeds: int
    kinds: frozenset[str]
    why: str

    @property
    def broken(self) -> Scene:
        """The scene without the step."""
        return replace(self.scene, missing=frozenset({self.step}))


HUNG = frozenset({"hung"})
_EVENTS = Scene(gpu=0, cores=2, doorbells=6, together=True, lists=(1,), limit=20_000)
_ROUND = Scene(gpu=0, cores=1, doorbells=24, log=3, haste=4)

LITMUS = (
    Litmus("arm", "arm", _EVENTS, 30, HUNG, "an event takes the arm with it: the next entry wakes nobody"),
    Litmus(
        "arm_flush", "arm_flush", replace(_EVENTS, near=True, stay=8), 120, HUNG,
        "the arm of one queue is overwritten in the write-combining buffer by that of another",
    ),
    Litmus("arm_index", "arm_index", _EVENTS, 80, HUNG, "entries before the index in the arm wake nobody"),
    Litmus(
        "cq_record", "cq_record", _ROUND, 10, frozenset({"overrun"}),
        "the device counts a ring's entries and sees none of them consumed",
    ),
)  # fmt: skip

HARMLESS = (
    Litmus(
        "second_poll", "second_poll", replace(_EVENTS, cores=1), 250, frozenset(),
        "an arm looks back: what came between poll and arm fires at once",
    ),
)  # fmt: skip


def hangs(scene: Scene, seed: int, shape: Shape, model: Callable[[Kernel], Cq] | None = None) -> bool:
    """Whether somebody sleeps for ever."""
    return any(f.kind in HUNG for f in play(scene, seed, shape, model).outcome.faults)


def find(litmus: Litmus, shape: Shape = DEFAULT, first: int = 0) -> tuple[int, Played] | None:
    """The first seed whose run shows what is to be seen; None when there is none within ``litmus.seeds``."""
    for seed in range(first, first + litmus.seeds):
        played = play(litmus.broken, seed, shape)
        kinds = {f.kind for f in played.outcome.faults}
        if litmus.kinds:
            if kinds & litmus.kinds:
                return seed, played
        elif kinds:
            return None
        elif hangs(litmus.broken, seed, shape, lambda kernel: ForwardArms(kernel, "cq", shape.cqs)):
            return seed, played
    return None
