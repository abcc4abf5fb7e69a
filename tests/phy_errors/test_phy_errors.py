# SPDX-License-Identifier: Apache-2.0
"""Tests of the PHY that errs, alone."""

from __future__ import annotations

import pyuvm
from pyuvm import ConfigDB

from tb.common.uvm import PhaseTest
from tb.phy_errors.env import plan
from tb.phy_errors.sequences import Counts, Edges, Faults, Random, Rates, Shares, Switched, data_w


class ErrorsTest(PhaseTest):
    """A test whose plan has the build's width."""

    plan = plan(512)

    def build_phase(self) -> None:
        super().build_phase()
        ConfigDB().set(None, "*", "PLAN", plan(data_w(self.ctx)))


@pyuvm.test()
class random_words(ErrorsTest):
    """Words at every place, errors of every kind at random."""

    sequences = (Random,)


@pyuvm.test()
class directed(ErrorsTest):
    """Codewords' ends, faults upon everything, losses and repetitions by rate, cuts, on and off."""

    sequences = (Edges, Faults, Rates, Switched)


@pyuvm.test()
class counts(ErrorsTest):
    """Every number of wrong symbols, bursts of every length."""

    sequences = (Counts,)


@pyuvm.test()
class shares(ErrorsTest):
    """Shares of failed and corrected codewords against closed form."""

    sequences = (Shares,)
