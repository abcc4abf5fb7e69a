# SPDX-License-Identifier: Apache-2.0
"""What `make compare` runs in one profile."""

from __future__ import annotations

import pyuvm

from tb.fabric.compare import Cases, Compare
from tb.fabric.env import PLAN


@pyuvm.test()
class compare(Compare):
    """The cases that the options choose."""

    plan = PLAN
    sequences = (Cases,)
