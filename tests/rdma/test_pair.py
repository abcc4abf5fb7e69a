# SPDX-License-Identifier: Apache-2.0
"""Tests of two rdma blocks joined packet to packet."""

from __future__ import annotations

import pyuvm

from tb.common.uvm import PhaseTest
from tb.rdma.pair import PLAN, FullRate, RandomPair


@pyuvm.test()
class random_pair(PhaseTest):
    """Messages of every kind both ways, from memory to memory."""

    plan = PLAN
    sequences = (RandomPair,)


@pyuvm.test()
class full_rate(PhaseTest):
    """At least 50 bytes a cycle both ways over slow memories."""

    plan = PLAN
    sequences = (FullRate,)
