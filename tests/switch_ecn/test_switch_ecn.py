# SPDX-License-Identifier: Apache-2.0
"""Tests of the switch's ECN stage alone."""

from __future__ import annotations

import pyuvm
from pyuvm import ConfigDB

from tb.common.uvm import PhaseTest
from tb.switch_ecn.env import plan
from tb.switch_ecn.sequences import Checksums, Lengths, Native, Random, beat_bytes


class EcnTest(PhaseTest):
    """A test whose plan has the build's width."""

    plan = plan(64)

    def build_phase(self) -> None:
        super().build_phase()
        ConfigDB().set(None, "*", "PLAN", plan(beat_bytes(self.ctx)))


@pyuvm.test()
class lengths(EcnTest):
    """Every length and fill of the last beat, FCS within one beat and across two."""

    sequences = (Lengths,)


@pyuvm.test()
class checksums(EcnTest):
    """Corners of the IPv4 checksum, each ECN field, marked and not."""

    sequences = (Checksums,)


@pyuvm.test()
class random_frames(EcnTest):
    """Every kind of frame at random, damaged ones too, then the same in native mode."""

    sequences = (Random, Native)
