# SPDX-License-Identifier: Apache-2.0
"""Tests of the send queues; each runs sequences of tb/sq."""

from __future__ import annotations

import pyuvm

from tb.common.uvm import PhaseTest
from tb.sq import seq_decode as d
from tb.sq import seq_stores as st
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
