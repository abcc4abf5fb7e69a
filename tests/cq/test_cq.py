# SPDX-License-Identifier: Apache-2.0
"""Tests of the completion queues; each runs sequences of tb/cq."""

from __future__ import annotations

import pyuvm

from tb.common.uvm import PhaseTest
from tb.cq import random_sequences as r
from tb.cq import seq_wraps as w
from tb.cq import sequences as s
from tb.cq.env import PLAN


@pyuvm.test()
class smoke(PhaseTest):
    """One completion of each kind, an arm and its event."""

    plan = PLAN
    sequences = (s.Smoke,)


@pyuvm.test()
class rings(PhaseTest):
    """Rings and collapsed queues of every depth by the eyes of their software; a completion a cycle."""

    plan = PLAN
    sequences = (s.Depths, s.Collapsed, s.Rate)


@pyuvm.test()
class early(PhaseTest):
    """Rings with live software, slow memory: the record is read before they are full, a completion a cycle."""

    plan = PLAN
    sequences = (s.Early,)


@pyuvm.test()
class waits(PhaseTest):
    """Data that comes late, full rings, overruns, a full lot, unreadable and unwritable memory."""

    plan = PLAN
    sequences = (s.Barriers, s.Acked, s.Overrun, s.Lot, s.BadWrites, s.Refused)


@pyuvm.test()
class events(PhaseTest):
    """Arms, moderation, solicited events, a slow reader."""

    plan = PLAN
    sequences = (s.Events,)


@pyuvm.test()
class storm(PhaseTest):
    """An arm every other cycle: B, visits and their events within bounds."""

    plan = PLAN
    sequences = (s.ArmStorm,)


@pyuvm.test()
class random_queues(PhaseTest):
    """Any mix of queues at random, delays, jitter, stalls on every ready."""

    plan = PLAN
    sequences = (r.RandomQueues,)


@pyuvm.test()
class bounded_collapsed(PhaseTest):
    """Collapsed queues that may overrun."""

    plan = PLAN
    sequences = (w.BoundedCollapsed,)


@pyuvm.test()
class clock_wrap(PhaseTest):
    """Deadlines across the wrap of the event clock."""

    plan = PLAN
    sequences = (w.ClockWrap,)
