# SPDX-License-Identifier: Apache-2.0
"""Tests of the fabric."""

from __future__ import annotations

import numpy as np
import pyuvm

from tb.common.uvm import PhaseItem, PhaseSequence, PhaseTest
from tb.fabric.account import Account
from tb.fabric.env import PLAN
from tb.fabric.experiment import phase_item
from tb.fabric.scenarios import latency_rows, moe, random_experiment


class Moe(PhaseSequence):
    """The MoE dispatch; ``tokens`` and ``profile`` are options."""

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """One batch."""
        return phase_item(moe(self.ctx.option("tokens", 8), rng, roce=self.ctx.option("profile", "native") == "roce"))


class LatencyTable(PhaseSequence):
    """A message alone for each row of the latency table."""

    phases = 24

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Row ``index``."""
        rows = latency_rows(rng, roce=self.ctx.option("profile", "native") == "roce")
        assert len(rows) == self.phases
        return phase_item(rows[index])


class RandomMessages(PhaseSequence):
    """Both NICs send and receive at once."""

    phases = 6

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Experiment ``index``; odd ones are RoCE."""
        budget = 12_000 if self.ctx.sim == "verilator" else 2_000
        return phase_item(random_experiment(index, rng, budget=budget))


@pyuvm.test()
class account(Account):
    """The default run: MoE dispatch, latency table, waterfall, figures, capture."""

    plan = PLAN
    sequences = (Moe, LatencyTable)


@pyuvm.test()
class latency(Account):
    """The latency table alone, on either simulator."""

    plan = PLAN
    sequences = (LatencyTable,)


@pyuvm.test()
class random_messages(PhaseTest):
    """Random traffic both ways."""

    plan = PLAN
    sequences = (RandomMessages,)
