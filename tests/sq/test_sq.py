# SPDX-License-Identifier: Apache-2.0
"""Tests of the send queues; each runs sequences of tb/sq."""

from __future__ import annotations

import pyuvm

from tb.common.uvm import PhaseTest
from tb.sq import seq_decode as d
from tb.sq import seq_queues as q
from tb.sq import seq_random as r
from tb.sq import seq_rates as rt
from tb.sq import seq_ring as g
from tb.sq import seq_stores as st
from tb.sq import seq_volume as v
from tb.sq.env import PLAN


@pyuvm.test()
class smoke(PhaseTest):
    """One WQE of each kind by each form."""

    plan = PLAN
    sequences = (d.Smoke,)


@pyuvm.test()
class blueflame(PhaseTest):
    """WQEs carried by stores: whole, in parts, torn."""

    plan = PLAN
    sequences = (st.BlueFlame, st.Parts, st.Torn)


@pyuvm.test()
class binding(PhaseTest):
    """Refused stores, arms, table entries."""

    plan = PLAN
    sequences = (st.Binding,)


@pyuvm.test()
class decode(PhaseTest):
    """Every opcode and payload, every malformation."""

    plan = PLAN
    sequences = (d.InlineSizes, d.Kinds, d.Malformed)


@pyuvm.test()
class ring(PhaseTest):
    """Wraps of ring and index, merged and old doorbells, lagging records, WQEs published in parts, a missing fence."""

    plan = PLAN
    sequences = (g.Wraps, g.Edges, g.Merge, g.Older, g.Behind, g.Late, g.Fence, g.Held, g.NullTurns)


@pyuvm.test()
class schedule(PhaseTest):
    """Turns by weight among all queues, nobody starves."""

    plan = PLAN
    sequences = (q.Schedule, q.Ways)


@pyuvm.test()
class errors(PhaseTest):
    """Queues that halt, and come back with a new entry."""

    plan = PLAN
    sequences = (q.Errors,)


@pyuvm.test()
class random_producers(PhaseTest):
    """Lawful producers of every kind at random, and anything at all."""

    plan = PLAN
    sequences = (r.RandomProducers, r.Torture)


@pyuvm.test()
class rates(PhaseTest):
    """Rates are demanded: BlueFlame one work request a cycle, the fetch bound by the port or by what is offered."""

    plan = PLAN
    sequences = (rt.BlueFlameFull, rt.FetchFull, rt.FetchPaced)


@pyuvm.test()
class volume(PhaseTest):
    """Rates at length: BlueFlame one a cycle, fetch by queues and producers; demanded and printed."""

    plan = PLAN
    sequences = (v.BlueFlameRate, v.FetchRate)
