# SPDX-License-Identifier: Apache-2.0
"""Tests of the send queues with producers that have weak memory (tb/producers)."""

from __future__ import annotations

from dataclasses import replace

import pyuvm

from tb.common.uvm import PhaseTest
from tb.sq import seq_producers as p
from tb.sq.env import PLAN
from tb.sq.replay import check_replay

REPLAYED = replace(PLAN, check=check_replay)


@pyuvm.test()
class producers(PhaseTest):
    """GPU threads, CPU cores, a proxy: every request once, in order, as it was posted."""

    plan = REPLAYED
    sequences = (p.Producers,)


@pyuvm.test()
class litmus(PhaseTest):
    """A step of the producers' order left out: the fault is seen."""

    plan = REPLAYED
    sequences = (p.LitmusRuns,)
