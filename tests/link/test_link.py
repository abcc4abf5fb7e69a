# SPDX-License-Identifier: Apache-2.0
"""Tests of the link: every beat, control set, freed cell, credit and counter, content and cycle."""

from __future__ import annotations

import pyuvm

from tb.common.uvm import PhaseTest
from tb.link.env import PLAN
from tb.link.sequences import ControlSets, CutThrough, Latency, LineRate, Random, Starved


@pyuvm.test()
class latency(PhaseTest):
    """A frame alone: every delay of the path, both FEC modes and profiles."""

    plan = PLAN
    sequences = (Latency,)


@pyuvm.test()
class random_traffic(PhaseTest):
    """Random frames both ways, cores that free late and slowly."""

    plan = PLAN
    sequences = (Random,)


@pyuvm.test()
class credits(PhaseTest):
    """Credit starvation and its end."""

    plan = PLAN
    sequences = (Starved,)


@pyuvm.test()
class line_rate(PhaseTest):
    """Exactly the rate of the wire over long runs, by arithmetic."""

    plan = PLAN
    sequences = (LineRate,)


@pyuvm.test()
class control_sets(PhaseTest):
    """What control sets cost, and how often they come."""

    plan = PLAN
    sequences = (ControlSets,)


@pyuvm.test()
class cut_through(PhaseTest):
    """Frames as slow as a link of the same rate may deliver them leave no hole on the wire."""

    plan = PLAN
    sequences = (CutThrough,)
