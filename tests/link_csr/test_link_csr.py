# SPDX-License-Identifier: Apache-2.0
"""Register tests made from the map: every answer and its cycle, every counter, everything that the link is told."""

from __future__ import annotations

import pyuvm

from tb.common.run import RunContext
from tb.common.uvm import PhaseTest
from tb.link_csr.env import plan
from tb.link_csr.sequences import Addresses, Bits, Bus, Configure, Degrade, Races, ResetValues, Sticky, Wraps


class RegisterTest(PhaseTest):
    """A test on the design's number of lanes."""

    def build_phase(self) -> None:
        type(self).plan = plan(RunContext.from_env())
        super().build_phase()


@pyuvm.test()
class reset_values(RegisterTest):
    """Every register after reset."""

    sequences = (ResetValues,)


@pyuvm.test()
class bits(RegisterTest):
    """Every bit of every register, every byte strobe."""

    sequences = (Bits,)


@pyuvm.test()
class addresses(RegisterTest):
    """Every address, and those that lead nowhere."""

    sequences = (Addresses,)


@pyuvm.test()
class wraps(RegisterTest):
    """Every counter over its wrap."""

    sequences = (Wraps,)


@pyuvm.test()
class races(RegisterTest):
    """Events, writes and reads of counters in all relations."""

    sequences = (Races,)


@pyuvm.test()
class configure(RegisterTest):
    """What the link is told, and when."""

    sequences = (Configure,)


@pyuvm.test()
class sticky(RegisterTest):
    """Reasons that stay until they are cleared."""

    sequences = (Sticky,)


@pyuvm.test()
class degrade(RegisterTest):
    """Symbol errors against their limits."""

    sequences = (Degrade,)


@pyuvm.test()
class bus(RegisterTest):
    """The bus's own freedoms."""

    sequences = (Bus,)
