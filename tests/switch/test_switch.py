# SPDX-License-Identifier: Apache-2.0
"""Tests of the switch: every beat in and out and every event of every port, content and cycle, against the model."""

from __future__ import annotations

import pyuvm

from tb.common.run import RunContext
from tb.common.uvm import PhaseTest
from tb.switch.env import plan
from tb.switch.sequences_bad import Malformed, TooLong
from tb.switch.sequences_basic import Eighty, Permutation, Random, Volume, ZeroLoad
from tb.switch.sequences_corner import AbortFull, Blink, Dips, ExactlyFull, FallInGap, Turns
from tb.switch.sequences_flow import Headroom, Pauses
from tb.switch.sequences_hot import HotSpot
from tb.switch.sequences_load import FullBuffers, Incast, Lanes, Marks, Uniform
from tb.switch.sequences_multicast import GivenUp
from tb.switch.sequences_rate import LineRate
from tb.switch.sequences_route import Multicast, PortEvents, Reroute
from tb.switch.sequences_stranded import DeadWhileLate, Stranded
from tb.switch.sequences_volume import VolumeMixed


class SwitchTest(PhaseTest):
    """A test on the design that the run's parameters describe."""

    def build_phase(self) -> None:
        type(self).plan = plan(RunContext.from_env())
        super().build_phase()


@pyuvm.test()
class zero_load(SwitchTest):
    """Latency of every pair of ports."""

    sequences = (ZeroLoad,)


@pyuvm.test()
class random_traffic(SwitchTest):
    """Random traffic, holes, stalls, credits, groups of every mode."""

    sequences = (Random,)


@pyuvm.test()
class permutation(SwitchTest):
    """Full rate without contention, every size class."""

    sequences = (Permutation,)


@pyuvm.test()
class line_rate(SwitchTest):
    """The wire's rate, or a beat a cycle, for every size."""

    sequences = (LineRate,)


@pyuvm.test()
class incast(SwitchTest):
    """N inputs to one output: each once in N grants, nothing lost."""

    sequences = (Incast,)


@pyuvm.test()
class hot_spot(SwitchTest):
    """Other outputs beside a hot one; then full buffers."""

    sequences = (HotSpot, FullBuffers)


@pyuvm.test()
class theory(SwitchTest):
    """Mean wait under uniform traffic against what is published of the allocator."""

    sequences = (Uniform,)


@pyuvm.test()
class lanes(SwitchTest):
    """Lanes take turns; one that is held back does not stop the others."""

    sequences = (Lanes,)


@pyuvm.test()
class multicast(SwitchTest):
    """Multicast into each other's sets, dead branches, unicast beside it; picks that are given up."""

    sequences = (Multicast, GivenUp)


@pyuvm.test()
class port_events(SwitchTest):
    """Ports down and up at random, in the gap of a frame, with full buffers; time to the first beat on a new way."""

    sequences = (PortEvents, Reroute, FallInGap, AbortFull, Blink, Dips, Turns)


@pyuvm.test()
class stranded(SwitchTest):
    """Frames of a port that dies beside streams without a gap: held back by tready, credits, pause."""

    sequences = (Stranded,)


@pyuvm.test()
class dead_while_late(SwitchTest):
    """An input that is held back dies itself: what it owes is said before it comes up, its abort beat waits."""

    sequences = (DeadWhileLate,)


@pyuvm.test()
class pfc(SwitchTest):
    """Pause by lane both ways; an input whose last cell is taken and given in turn."""

    sequences = (Pauses, ExactlyFull)


@pyuvm.test()
class headroom(SwitchTest):
    """The computed headroom, with enough of it and with a cell less."""

    sequences = (Headroom,)


@pyuvm.test()
class ecn(SwitchTest):
    """Marks by depth; checksum and FCS stay right."""

    sequences = (Marks,)


@pyuvm.test()
class malformed(SwitchTest):
    """Frames that are wrong, for nowhere, too long or lying: dropped whole, cut, marked, counted."""

    sequences = (Malformed, TooLong)


@pyuvm.test()
class volume(SwitchTest):
    """Many packets; what the model takes for them beside what the bench takes."""

    sequences = (Volume,)


@pyuvm.test()
class volume_mixed(SwitchTest):
    """Many packets while ports die, among multicast, marked and wrong frames, with credits and pauses."""

    sequences = (VolumeMixed,)


@pyuvm.test()
class eighty(SwitchTest):
    """Eighty ports: what it costs to build and to run."""

    sequences = (Eighty,)
