# SPDX-License-Identifier: Apache-2.0
"""Tests of rdma."""

from __future__ import annotations

import pyuvm

from tb.common.uvm import PhaseTest
from tb.rdma.carry import AddressCarry
from tb.rdma.env import PLAN
from tb.rdma.sequences import (
    Arrivals,
    Latency,
    RandomFaults,
    RandomTraffic,
    RequesterErrors,
    Requests,
    ResponderErrors,
    Smoke,
)


@pyuvm.test()
class smoke(PhaseTest):
    """A few messages each way."""

    plan = PLAN
    sequences = (Smoke,)


@pyuvm.test()
class latency(PhaseTest):
    """The README's latency table, one thing at a time."""

    plan = PLAN
    sequences = (Latency,)


@pyuvm.test()
class requests(PhaseTest):
    """Requester: every kind, length and alignment at every path MTU."""

    plan = PLAN
    sequences = (Requests,)


@pyuvm.test()
class arrivals(PhaseTest):
    """Responder: every kind, length and alignment at every path MTU."""

    plan = PLAN
    sequences = (Arrivals,)


@pyuvm.test()
class random_traffic(PhaseTest):
    """Both directions at random, counters near their wraps."""

    plan = PLAN
    sequences = (RandomTraffic,)


@pyuvm.test()
class requester_errors(PhaseTest):
    """Every error of the requester, directed."""

    plan = PLAN
    sequences = (RequesterErrors,)


@pyuvm.test()
class responder_errors(PhaseTest):
    """Every NAK, drop and flush of the responder, directed."""

    plan = PLAN
    sequences = (ResponderErrors,)


@pyuvm.test()
class random_faults(PhaseTest):
    """Packets and requests wrong at random, judged by the model."""

    plan = PLAN
    sequences = (RandomFaults,)


@pyuvm.test()
class address_carry(PhaseTest):
    """Data and rings on both sides of a multiple of 2^32."""

    plan = PLAN
    sequences = (AddressCarry,)
