# SPDX-License-Identifier: Apache-2.0
"""Register tests made from the map: every answer and its cycle, every counter, everything that the switch is told."""

from __future__ import annotations

import pyuvm

from tb.common.run import RunContext
from tb.common.uvm import PhaseTest
from tb.switch_csr.env import plan
from tb.switch_csr.sequences import (
    Addresses,
    Bits,
    Bus,
    ConfigErrors,
    Races,
    Readback,
    ResetValues,
    Tables,
    Watermark,
    Wraps,
)


class RegisterTest(PhaseTest):
    """A test on the design's number of ports."""

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
class tables(RegisterTest):
    """Table and group writes, those that do not fit refused."""

    sequences = (Tables,)


@pyuvm.test()
class bus(RegisterTest):
    """The bus's own freedoms."""

    sequences = (Bus,)


@pyuvm.test()
class watermark(RegisterTest):
    """Cells in use, the most of them, credits."""

    sequences = (Watermark,)


@pyuvm.test()
class readback(RegisterTest):
    """What the tables hold."""

    sequences = (Readback,)


@pyuvm.test()
class config_errors(RegisterTest):
    """What is wrong with the configuration."""

    sequences = (ConfigErrors,)
