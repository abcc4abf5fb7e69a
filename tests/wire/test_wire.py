# SPDX-License-Identifier: Apache-2.0
"""Tests of the wire block."""

from __future__ import annotations

import pyuvm

from tb.common.uvm import PhaseTest
from tb.wire.env import PLAN
from tb.wire.sequences import Errors, Lengths, RandomBackPressure, Smoke


@pyuvm.test()
class smoke(PhaseTest):
    """Every opcode of the slice through both ends, both formats."""

    plan = PLAN
    sequences = (Smoke,)


@pyuvm.test()
class lengths(PhaseTest):
    """Each header stack with every length that matters."""

    plan = PLAN
    sequences = (Lengths,)


@pyuvm.test()
class random_backpressure(PhaseTest):
    """Random packets and frames, gaps and stalls."""

    plan = PLAN
    sequences = (RandomBackPressure,)


@pyuvm.test()
class errors(PhaseTest):
    """Bad frames are dropped whole and counted by reason; their neighbours arrive."""

    plan = PLAN
    sequences = (Errors,)
