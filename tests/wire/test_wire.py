# SPDX-License-Identifier: Apache-2.0
"""Tests of the wire block."""

from __future__ import annotations

import pyuvm

from tb.common.uvm import PhaseTest
from tb.wire.env import PLAN
from tb.wire.sequences import Capture, Checksum, Errors, Foreign, Lengths, RandomBackPressure, Smoke, SoftRoce, Volume


@pyuvm.test()
class smoke(PhaseTest):
    """Every opcode of the slice through both ends, both formats."""

    plan = PLAN
    sequences = (Smoke,)


@pyuvm.test()
class lengths(PhaseTest):
    """Each header stack with every length that matters."""

    plan = PLAN
    sequences = (Lengths,)


@pyuvm.test()
class checksum(PhaseTest):
    """Both carries of the IPv4 checksum."""

    plan = PLAN
    sequences = (Checksum,)


@pyuvm.test()
class random_backpressure(PhaseTest):
    """Random packets and frames, gaps and stalls."""

    plan = PLAN
    sequences = (RandomBackPressure,)


@pyuvm.test()
class errors(PhaseTest):
    """Bad frames are dropped whole and counted by reason; their neighbours arrive."""

    plan = PLAN
    sequences = (Errors,)


@pyuvm.test()
class foreign(PhaseTest):
    """Frames that scapy made arrive as they were meant."""

    plan = PLAN
    sequences = (Foreign,)


@pyuvm.test()
class softroce(PhaseTest):
    """Frames that Linux made arrive, but for the one with a wrong ICRC."""

    plan = PLAN
    sequences = (SoftRoce,)


@pyuvm.test()
class capture(PhaseTest):
    """tshark finds nothing malformed in what is sent."""

    plan = PLAN
    sequences = (Capture,)


@pyuvm.test()
class volume(PhaseTest):
    """Full rate, for the simulator's speed."""

    plan = PLAN
    sequences = (Volume,)
