# SPDX-License-Identifier: Apache-2.0
"""Tests of the completion queues; each runs sequences of tb/cq."""

from __future__ import annotations

import pyuvm

from tb.common.uvm import PhaseTest
from tb.cq import sequences as s
from tb.cq.env import PLAN


@pyuvm.test()
class smoke(PhaseTest):
    """One completion of each kind, an arm and its event."""

    plan = PLAN
    sequences = (s.Smoke,)
