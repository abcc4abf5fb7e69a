# SPDX-License-Identifier: Apache-2.0
"""Tests of the send queues and the completion queues joined."""

from __future__ import annotations

from dataclasses import replace

import pyuvm

from tb.common.run import RunContext
from tb.common.uvm import PhaseRecords, PhaseTest
from tb.queue_pairs import sequences as q
from tb.queue_pairs.env import PLAN, check
from tb.queue_pairs.figures import Latency, check_latency, observe_latency


class JoinTest(PhaseTest):
    """A test on both blocks."""

    plan = PLAN


@pyuvm.test()
class smoke(JoinTest):
    """A little of everything."""

    sequences = (q.Smoke,)


@pyuvm.test()
class scenes(JoinTest):
    """Who asked, and who is in error, has one entry, in order; producers and consumers live on them."""

    sequences = (q.Scenes,)


@pyuvm.test()
class errors(JoinTest):
    """Each malformed WQE ends in one error entry with its syndrome."""

    sequences = (q.Errors,)


@pyuvm.test()
class litmus(JoinTest):
    """A step of the consumers' order left out: the fault is seen."""

    sequences = (q.LitmusRuns,)


def check_all(ctx: RunContext, phase: PhaseRecords) -> list[str]:
    """The bench's and the tables' judgement."""
    return [*check(ctx, phase), *check_latency(ctx, phase)]


@pyuvm.test()
class latency(JoinTest):
    """Store to completion entry: BlueFlame and doorbell, queues in host and GPU memory."""

    plan = replace(PLAN, check=check_all, observe=observe_latency)
    sequences = (Latency,)
