# SPDX-License-Identifier: Apache-2.0
"""Two links with their registers: all that is told to them, and all that they tell, goes through AXI4-Lite."""

from __future__ import annotations

import pyuvm

from tb.common.run import RunContext
from tb.common.uvm import PhaseTest
from tb.link_csr.whole import Errors, Roce, States, plan


class WholeTest(PhaseTest):
    """A test on two links."""

    plan = plan(RunContext.from_env())


@pyuvm.test()
class whole_states(WholeTest):
    """Up, retrained, down, refused, up again."""

    sequences = (States,)


@pyuvm.test()
class whole_errors(WholeTest):
    """Errors of the PHY."""

    sequences = (Errors,)


@pyuvm.test()
class whole_roce(WholeTest):
    """Pauses, frames with a wrong FCS."""

    sequences = (Roce,)
