# SPDX-License-Identifier: Apache-2.0
"""Ends of a cable that would break the link without a word are refused, with the field and what is allowed."""

from dataclasses import replace

import pytest

from models.kernel import Kernel
from models.link import Link, connect
from models.link_config import LinkConfig, agree, cable_cycles, default_cfg, misfits, round_trip
from models.spec import spec

CABLE = 10


def pair(lanes=(1, 1), both=None, **b):
    """Two ends: ``both`` of each, ``b`` of the second only."""
    cfg = default_cfg(**(both or {}))
    return LinkConfig(512, lanes[0], cfg), LinkConfig(512, lanes[1], replace(cfg, **b))


TRIP = round_trip(pair(), CABLE)
LONG = 2 * max(TRIP, default_cfg().retrain)


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        (pair(preset=0), "preset is 1 and 0; allowed: the same at both ends"),
        (pair(cnt_init=5), "cnt_init is 0 and 5; allowed: the same at both ends"),
        (pair(both={"preset": 0}, cnt_init=32767), "cnt_init is 0 and 32767"),
        (pair(init_seq=1), "init_seq is 0 and 1; allowed: the same at both ends where preset is 1"),
        (pair(cells=5), "cells is 60 and 5; allowed: the same"),
        (pair(roce=1), "roce is 0 and 1; allowed: the same at both ends where preset is 1"),
        (pair(kp4=1), "kp4 is 0 and 1; allowed: the same"),
        (pair(lanes=(2, 1)), "lanes is 2 and 1; allowed: the same"),
        (pair(retrain=TRIP), f"retrain is {TRIP}; allowed: from {TRIP + 1} cycles on"),
        (pair(init_timeout=LONG), f"init_timeout is {LONG}; allowed: from {LONG + 1} cycles on"),
        (pair(both={"cells": 4}), "cells is 4; allowed: from 5 on where the far end's gate is 1"),
        (pair(both={"cells": 0}), "cells is 0; allowed: from 5 on"),
        (pair(both={"preset": 0, "gate": 0, "cells": 4}, gate=1), "cells is 4; allowed: from 5 on"),
        (pair(both={"preset": 0}, cells=3), "cells is 3; allowed: from 5 on"),
        (pair(both={"retrain": TRIP + 1, "init_timeout": 2 * TRIP}), f"init_timeout is {2 * TRIP}; allowed: from"),
    ],
)
def test_what_would_break_quietly_is_refused(ends, said):
    for given in (ends, ends[::-1]):
        with pytest.raises(ValueError, match="allowed"):
            agree(given, CABLE)
    with pytest.raises(ValueError) as e:
        agree(ends, CABLE)
    assert str(e.value).startswith(said)


@pytest.mark.parametrize(
    "ends",
    [
        pair(),
        pair(gate=0),
        pair(both={"retrain": TRIP + 1}),
        pair(init_timeout=LONG + 1),
        pair(both={"roce": 1}, cells=3, init_seq=7),  # neither is used there
        # ends that are not preset tell each other, and say why they refuse
        pair(both={"preset": 0}, kp4=1),
        pair(both={"preset": 0}, roce=1),
        pair(both={"preset": 0}, cells=5, init_seq=99),
        pair(both={"cells": 5}),
        pair(both={"gate": 0, "cells": 1}),  # the cores count for themselves
        pair(both={"preset": 0, "gate": 0}, gate=1, cells=3),  # only the second waits for credits, of 60 units
        pair(lanes=(2, 1), both={"preset": 0}),
    ],
)
def test_what_works_or_says_why_not_is_taken(ends):
    assert misfits(ends, CABLE) == {}


def test_the_figures_fit_the_longest_cable_of_the_specification():
    """50 m of fibre, the slower decoder."""
    agree(pair(both={"kp4": 1}), -(-50 * int(spec().value("cable.ns_per_m_fibre"))))


@pytest.mark.parametrize("gate", [0, 1])
def test_cells_of_wide_beats(gate):
    """33 beats of 128 bytes are a largest frame: three units of 16."""
    few, enough = (LinkConfig(1024, 1, default_cfg(cells=n, gate=gate)) for n in (2, 3))
    assert list(misfits((few, few), CABLE)) == ["cells"] * gate
    assert misfits((enough, enough), CABLE) == {}


def test_a_cable_longer_than_the_specification_s_is_refused():
    assert cable_cycles(50) == 250
    with pytest.raises(ValueError, match=r"a cable of 50.1 m; allowed: 0 to 50, cable.longest_m"):
        cable_cycles(50.1)
    with pytest.raises(ValueError, match="a cable of -1 m; allowed: 0 to 50"):
        cable_cycles(-1)


def test_components_are_not_connected():
    kernel = Kernel()
    ends = [Link(kernel, n, cfg=default_cfg(cnt_init=k)) for k, n in enumerate("ab")]
    with pytest.raises(ValueError, match="cnt_init is 0 and 1"):
        connect(ends[0], ends[1], CABLE)
