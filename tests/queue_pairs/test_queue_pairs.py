# SPDX-License-Identifier: Apache-2.0
"""Tests of the send queues and the completion queues joined."""

from __future__ import annotations

import pyuvm

from tb.common.uvm import PhaseTest
from tb.queue_pairs import sequences as q
from tb.queue_pairs.env import PLAN


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
