# SPDX-License-Identifier: Apache-2.0
"""Tests of the example block."""

from __future__ import annotations

import pyuvm

from tb.common.uvm import PhaseTest
from tb.example.env import PLAN
from tb.example.sequences import RandomBackPressure, Smoke, Volume


@pyuvm.test()
class smoke(PhaseTest):
    """Sizes around a beat's edge, no stall."""

    plan = PLAN
    sequences = (Smoke,)


@pyuvm.test()
class random_backpressure(PhaseTest):
    """Random frames, gaps and stalls."""

    plan = PLAN
    sequences = (RandomBackPressure,)


@pyuvm.test()
class volume(PhaseTest):
    """Full rate for many cycles."""

    plan = PLAN
    sequences = (Volume,)
