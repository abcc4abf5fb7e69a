# SPDX-License-Identifier: Apache-2.0
"""Tests of the switch: every beat, freed cell and counter of every port, content and cycle."""

from __future__ import annotations

import pyuvm

from tb.common.run import RunContext
from tb.common.uvm import PhaseTest
from tb.switch.env import plan
from tb.switch.sequences import Gaps, HotSpot, Incast, Permutation, Random, TooLong, Unknown, ZeroLoad


class SwitchTest(PhaseTest):
    """A test on the design's number of ports."""

    def build_phase(self) -> None:
        type(self).plan = plan(RunContext.from_env().param("PORTS", 8))
        super().build_phase()


@pyuvm.test()
class zero_load(SwitchTest):
    """Latency of every pair of ports."""

    sequences = (ZeroLoad,)


@pyuvm.test()
class random_traffic(SwitchTest):
    """Random traffic, gaps and stalls."""

    sequences = (Random,)


@pyuvm.test()
class permutation(SwitchTest):
    """Full rate without contention."""

    sequences = (Permutation,)


@pyuvm.test()
class incast(SwitchTest):
    """N inputs to one output: each once in N grants."""

    sequences = (Incast,)


@pyuvm.test()
class hot_spot(SwitchTest):
    """A slow output and full buffers."""

    sequences = (HotSpot,)


@pyuvm.test()
class gaps(SwitchTest):
    """A match holds over gaps and stalls."""

    sequences = (Gaps,)


@pyuvm.test()
class unknown_destination(SwitchTest):
    """Frames to nowhere are dropped whole and counted."""

    sequences = (Unknown,)


@pyuvm.test()
class too_long(SwitchTest):
    """Frames beyond the largest length are cut and counted."""

    sequences = (TooLong,)
