# SPDX-License-Identifier: Apache-2.0
"""Tests of the fabric."""

from __future__ import annotations

import numpy as np
import pyuvm

from models.spec import spec
from tb.common.uvm import PhaseItem, PhaseSequence, PhaseTest
from tb.fabric.account import Account
from tb.fabric.env import PLAN
from tb.fabric.experiment import Topology, phase_item
from tb.fabric.scenarios import converging, damaged, latency_rows, lost_experiments, moe, random_experiment


class Moe(PhaseSequence):
    """The MoE dispatch; ``tokens`` and ``profile`` are options."""

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """One batch."""
        return phase_item(
            moe(
                self.ctx.option("tokens", spec().integer("workload.moe.tokens_default")),
                rng,
                roce=self.ctx.option("profile", "native") == "roce",
            )
        )


class LatencyTable(PhaseSequence):
    """A message alone for each row of the latency table."""

    phases = 24

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Row ``index``."""
        rows = latency_rows(rng, roce=self.ctx.option("profile", "native") == "roce")
        assert len(rows) == self.phases
        return phase_item(rows[index])


class LatencyExtract(LatencyTable):
    """Each path once over PCIe inline and once die-to-die fetched: what Icarus can run in reasonable time."""

    phases = 6

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Row ``index`` of the extract."""
        rows = latency_rows(rng, roce=index % 2 == 1)
        return phase_item([r for r in rows if r.name.endswith(("pcie_inline_64B", "d2d_fetched_8B"))][index])


class RandomMessages(PhaseSequence):
    """Both NICs send and receive at once."""

    phases = 8

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Experiment ``index``; odd ones are RoCE."""
        return phase_item(random_experiment(index, rng))


class FewMessages(PhaseSequence):
    """The same, smaller; three hops natively, one in RoCE; tshark reads every frame."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Experiment ``index``."""
        topology = (Topology.THREE_HOPS, Topology.ONE_HOP)[index]
        item = phase_item(random_experiment(index, rng, count=8, budget=2_000, topology=topology))
        item.info["tshark"] = True
        return item


class LostFrames(PhaseSequence):
    """Frames that a NIC drops, and frames that a switch's table sends nowhere."""

    phases = 3

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Experiment ``index``."""
        return phase_item(lost_experiments(rng)[index])


class Converging(PhaseSequence):
    """Both NICs send to one port."""

    phases = 2

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Natively, then in RoCE."""
        return phase_item(converging(rng, roce=index == 1))


class Damaged(PhaseSequence):
    """Bit errors on the cables."""

    phases = 3

    def make(self, index: int, rng: np.random.Generator) -> PhaseItem:
        """Natively twice, then in RoCE."""
        return phase_item(damaged(index, rng))


@pyuvm.test()
class account(Account):
    """The default run: MoE dispatch, latency table, waterfall, figures, capture."""

    plan = PLAN
    sequences = (Moe, LatencyTable)


@pyuvm.test()
class latency(Account):
    """An extract of the latency table, natively and in RoCE by turns."""

    plan = PLAN
    sequences = (LatencyExtract,)


@pyuvm.test()
class random_messages(PhaseTest):
    """Random traffic both ways."""

    plan = PLAN
    sequences = (RandomMessages,)


@pyuvm.test()
class few_messages(PhaseTest):
    """Random traffic both ways, little of it."""

    plan = PLAN
    sequences = (FewMessages,)


@pyuvm.test()
class lost_frames(PhaseTest):
    """What does not arrive is counted, leaves no trace and holds nothing up."""

    plan = PLAN
    sequences = (LostFrames,)


@pyuvm.test()
class converge(PhaseTest):
    """Two to one under load: credits, pauses; nothing is lost."""

    plan = PLAN
    sequences = (Converging,)


@pyuvm.test()
class bit_errors(PhaseTest):
    """Cables with bit errors: natively all arrives, in RoCE what does not is counted."""

    plan = PLAN
    sequences = (Damaged,)
