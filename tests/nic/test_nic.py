# SPDX-License-Identifier: Apache-2.0
"""Tests of the NIC."""

from __future__ import annotations

import pyuvm

from tb.common.uvm import PhaseTest
from tb.nic.env import PLAN
from tb.nic.sequences import Crafted, Errors, FewMessages, RandomTraffic, SharedPort, Smoke


@pyuvm.test()
class smoke(PhaseTest):
    """A message out, a message in, both formats."""

    plan = PLAN
    sequences = (Smoke,)


@pyuvm.test()
class scapy_frames(PhaseTest):
    """Every kind of message both ways; scapy makes and judges the frames, tshark dissects them."""

    plan = PLAN
    sequences = (Crafted,)


@pyuvm.test()
class random_traffic(PhaseTest):
    """Both directions at random."""

    plan = PLAN
    sequences = (RandomTraffic,)


@pyuvm.test()
class few_messages(PhaseTest):
    """Both directions at random, little of it."""

    plan = PLAN
    sequences = (FewMessages,)


@pyuvm.test()
class errors(PhaseTest):
    """What bad input gets."""

    plan = PLAN
    sequences = (Errors,)


@pyuvm.test()
class shared_port(PhaseTest):
    """Doorbell and rdma want the read port at once."""

    plan = PLAN
    sequences = (SharedPort,)
