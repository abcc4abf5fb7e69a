# SPDX-License-Identifier: Apache-2.0
"""Tests of the doorbell; each runs sequences of tb/doorbell."""

from __future__ import annotations

import pyuvm

from tb.common.uvm import PhaseTest
from tb.doorbell import random_sequences as r
from tb.doorbell import sequences as s
from tb.doorbell.env import PLAN


@pyuvm.test()
class smoke(PhaseTest):
    """One WQE of each kind by each form."""

    plan = PLAN
    sequences = (s.Smoke,)


@pyuvm.test()
class blueflame(PhaseTest):
    """WQEs carried by the store; every inline size."""

    plan = PLAN
    sequences = (s.BlueFlame, s.Inline)


@pyuvm.test()
class ring(PhaseTest):
    """Wraps of ring and index, merged doorbells, lagging records, WQEs published in parts, a missing fence."""

    plan = PLAN
    sequences = (s.Wraps, s.Merge, s.RecordBehind, s.Late, s.Fence)


@pyuvm.test()
class errors(PhaseTest):
    """Doorbells beyond the ring, unreadable memory, malformed WQEs, refused stores."""

    plan = PLAN
    sequences = (s.Beyond, s.Malformed, s.Refused)


@pyuvm.test()
class random_producers(PhaseTest):
    """Producers at random with delays and stalls."""

    plan = PLAN
    sequences = (r.RandomProducers, r.Torture)
