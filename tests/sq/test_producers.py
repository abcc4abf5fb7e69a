# SPDX-License-Identifier: Apache-2.0
"""Tests of the send queues with producers that have weak memory (tb/producers)."""

from __future__ import annotations

from dataclasses import replace

import pyuvm

from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords, PhaseTest
from tb.sq import seq_producers as p
from tb.sq.env import PLAN
from tb.sq.replay import check_replay
from tb.sq.seq_latency import Latency, check_latency, observe_latency

REPLAYED = replace(PLAN, check=check_replay)


def check_all(ctx: RunContext, phase: PhaseRecords) -> list[str]:
    """The bench's, the oracle's, and the table's judgement."""
    return [*check_replay(ctx, phase), *check_latency(ctx, phase)]


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


@pyuvm.test()
class latency(PhaseTest):
    """Store to decoded work request: BlueFlame, doorbell, misses of the record; GPU thread against CPU proxy."""

    plan = replace(PLAN, check=check_all, observe=observe_latency)
    sequences = (Latency,)
