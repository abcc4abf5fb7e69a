# SPDX-License-Identifier: Apache-2.0
"""Tests of two switches back to back."""

from __future__ import annotations

import pyuvm

from tb.common.run import RunContext
from tb.common.uvm import PhaseTest
from tb.switch.pair import Crossing, Flaps, plan


class PairTest(PhaseTest):
    """A test on the pair that the run's parameters describe."""

    def build_phase(self) -> None:
        type(self).plan = plan(RunContext.from_env())
        super().build_phase()


@pyuvm.test()
class crossing(PairTest):
    """Multicast frames that want what the other switch's frames hold: no dead-lock."""

    sequences = (Crossing,)


@pyuvm.test()
class flaps(PairTest):
    """A link that goes down and up under traffic: each frame arrives or is counted, all credits come home."""

    sequences = (Flaps,)
