# SPDX-License-Identifier: Apache-2.0
"""Tests of the link: every beat, control set, level and event of both ends, content and cycle, against the model; and
an oracle of its own: each frame exactly once and in order, or the link down."""

from __future__ import annotations

import pyuvm

from tb.common.run import RunContext
from tb.common.uvm import PhaseTest
from tb.link.env import plan
from tb.link.sequences_basic import CutThrough, Latency, LineRate, Random, Starved
from tb.link.sequences_corners import Corners
from tb.link.sequences_faults import Alone, Nested, Storm
from tb.link.sequences_quiet import Quiet
from tb.link.sequences_roce import BadFrames, Headroom, Pauses
from tb.link.sequences_sized import Brink, Sized
from tb.link.sequences_state import BringUp, Refusals, ReplayLimit, Restart
from tb.link.sequences_strange import Strange
from tb.link.sequences_volume import Codes, Outages, Sweep, Volume


class LinkTest(PhaseTest):
    """A test on the design that the run's parameters describe."""

    def build_phase(self) -> None:
        type(self).plan = plan(RunContext.from_env())
        super().build_phase()


@pyuvm.test()
class latency(LinkTest):
    """A frame alone: every delay of the path, both FEC modes and profiles."""

    sequences = (Latency,)


@pyuvm.test()
class line_rate(LinkTest):
    """The rate of the wire less trailers and control sets, by arithmetic, for every size."""

    sequences = (LineRate,)


@pyuvm.test()
class random_traffic(LinkTest):
    """Random frames both ways, late cores, counters near their wraps."""

    sequences = (Random,)


@pyuvm.test()
class credits(LinkTest):
    """Credits to the last one; the far core at its brim, and a cell beyond it."""

    sequences = (Starved, Sized)


@pyuvm.test()
class cut_through(LinkTest):
    """Frames as slow as a link of the same rate may deliver them leave no hole on the wire."""

    sequences = (CutThrough,)


@pyuvm.test()
class faults(LinkTest):
    """One directed fault at a time."""

    sequences = (Alone,)


@pyuvm.test()
class nested(LinkTest):
    """A fault inside a replay."""

    sequences = (Nested,)


@pyuvm.test()
class storm(LinkTest):
    """Every kind of error at random."""

    sequences = (Storm,)


@pyuvm.test()
class bring_up(LinkTest):
    """From nothing to traffic."""

    sequences = (BringUp,)


@pyuvm.test()
class refusals(LinkTest):
    """Ends that do not agree say why."""

    sequences = (Refusals,)


@pyuvm.test()
class restart(LinkTest):
    """Ends that go and come back in traffic; retrains."""

    sequences = (Restart,)


@pyuvm.test()
class replay_limit(LinkTest):
    """Replays, retrains, down."""

    sequences = (ReplayLimit,)


@pyuvm.test()
class quiet(LinkTest):
    """Faults on a wire on which nothing new is sent."""

    sequences = (Quiet,)


@pyuvm.test()
class corners(LinkTest):
    """Own credits and pauses, clocks at their last value, frames of more beats than are counted."""

    sequences = (Corners,)


@pyuvm.test()
class strange(LinkTest):
    """Foreign control sets, near pauses, frames cut by the next, retrains while an ended frame goes on."""

    sequences = (Strange,)


@pyuvm.test()
class bad_frames(LinkTest):
    """RoCE: FCS, long frames, underruns."""

    sequences = (BadFrames,)


@pyuvm.test()
class pfc(LinkTest):
    """RoCE: pauses by lane, both ways; headroom to its last cell, and a cell less."""

    sequences = (Pauses, Headroom, Brink)


@pyuvm.test()
class codes(LinkTest):
    """What each FEC code lets through, by closed form."""

    sequences = (Codes,)


@pyuvm.test()
class ber(LinkTest):
    """Goodput and latency against the bit error ratio."""

    sequences = (Sweep,)


@pyuvm.test()
class outages(LinkTest):
    """How long nothing is delivered after a burst or a retrain."""

    sequences = (Outages,)


@pyuvm.test()
class volume(LinkTest):
    """Many frames under errors of every kind."""

    sequences = (Volume,)
