# SPDX-License-Identifier: Apache-2.0
"""The switch with its registers: all that is told to it, and all that it tells, goes through AXI4-Lite."""

from __future__ import annotations

import pyuvm

from tb.common.run import RunContext
from tb.common.uvm import PhaseTest
from tb.switch.sequences_bad import Malformed
from tb.switch.sequences_basic import Random
from tb.switch.sequences_flow import Pauses
from tb.switch.sequences_load import Marks
from tb.switch.sequences_route import Multicast, PortEvents
from tb.switch_csr.whole import Through, plan


class WholeTest(PhaseTest):
    """A test on the design that the run's parameters describe."""

    def build_phase(self) -> None:
        type(self).plan = plan(RunContext.from_env())
        super().build_phase()


class RandomThrough(Through):
    """Random traffic."""

    kind = Random


class MalformedThrough(Through):
    """Wrong, unknown, long and lying frames."""

    kind = Malformed


class PortsThrough(Through):
    """Ports disabled by register and links that go down."""

    kind = PortEvents
    picks = (0, 1, 2)


class MulticastThrough(Through):
    """Multicast, with branches that are dead."""

    kind = Multicast
    picks = (1, 2, 3)


class PausesThrough(Through):
    """Pauses without credits at the input: buffers overflow."""

    kind = Pauses
    picks = (0, 2)


class MarksThrough(Through):
    """Marks by depth."""

    kind = Marks


for _kind in (RandomThrough, MalformedThrough, PortsThrough, MulticastThrough, PausesThrough, MarksThrough):
    _kind.phases = len(_kind.picks)


@pyuvm.test()
class whole_traffic(WholeTest):
    """Random and multicast traffic, marks."""

    sequences = (RandomThrough, MulticastThrough, MarksThrough)


@pyuvm.test()
class whole_drops(WholeTest):
    """Frames dropped for every reason that a frame gives, and by overflow."""

    sequences = (MalformedThrough, PausesThrough)


@pyuvm.test()
class whole_ports(WholeTest):
    """Ports down and up by register and by link."""

    sequences = (PortsThrough,)
