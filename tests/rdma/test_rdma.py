# SPDX-License-Identifier: Apache-2.0
"""Tests of rdma."""

from __future__ import annotations

import pyuvm

from tb.common.uvm import PhaseTest
from tb.rdma.env import PLAN
from tb.rdma.sequences import Smoke


@pyuvm.test()
class smoke(PhaseTest):
    """A few messages each way."""

    plan = PLAN
    sequences = (Smoke,)
