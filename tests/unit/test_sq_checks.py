# SPDX-License-Identifier: Apache-2.0
"""The send queues' checks without a model can fail: phases as the model answers them, with one thing wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.protocol import SqWr
from models.sq import Sq
from tb.common.run import RunContext
from tb.sq.check import check
from tb.sq.env import PLAN
from tb.sq.seq_ring import Merge, Wraps
from tb.sq.seq_stores import Binding
from tests.unit.predicted import predicted

FULL = (1 << SqWr.width()) - 1
CTX = RunContext("sq", "model", 1, "unit", Path("."), params={}, options={"phases": 1})


def played(kind: Any, index: int = 0) -> Any:
    sequence = kind.__new__(kind)
    sequence.ctx = CTX
    return predicted(PLAN, CTX, sequence.make(index, np.random.default_rng(7)))


@pytest.fixture(params=[(Wraps, 0), (Merge, 0), (Binding, 0)], ids=lambda p: p[0].__name__)
def phase(request: pytest.FixtureRequest) -> Any:
    return played(*request.param)


def test_what_the_model_says_is_right(phase):
    assert check(CTX, phase) == []


@pytest.mark.parametrize("damage", ["lost", "doubled", "swapped", "byte", "side"])
def test_a_work_request_that_is_not_the_one_posted(phase, damage):
    wr = phase.beats["m_wr"]
    ends = np.flatnonzero(wr["flags"] & 1)
    at = int(ends[len(ends) // 2])
    begin = int(ends[len(ends) // 2 - 1]) + 1
    if damage == "lost":
        phase.beats["m_wr"] = np.delete(wr, range(begin, at + 1))
    elif damage == "doubled":
        phase.beats["m_wr"] = np.concatenate((wr[: at + 1], wr[begin:]))
    elif damage == "swapped":
        numbers = [SqWr.unpack(int.from_bytes(wr[e]["side"].tobytes(), "little") & FULL).qpn for e in ends]
        frames = np.split(wr, ends[:-1] + 1)
        k = next(i for i in range(1, len(ends)) if numbers[i] == numbers[0])
        phase.beats["m_wr"] = np.concatenate((frames[k], *frames[1:k], frames[0], *frames[k + 1 :]))
    elif damage == "byte":
        full = np.flatnonzero(wr["keep"][:, 0] & 1)
        wr["data"][full[len(full) // 2]][0] ^= 1
    else:
        wr["side"][begin : at + 1, 2] ^= 1
    assert check(CTX, phase)


def test_a_counter_that_is_off(phase):
    for at in (0, 1, 4, 5, 6, 7):  # but for what is fetched and thrown away
        off = phase.events["count"][-1]["value"].copy()
        name = Sq.COUNTERS[7 - at]  # the first one highest
        phase.events["count"][-1]["value"][at] += 1
        assert bool(check(CTX, phase)) == (name in phase.item.info["final"])
        phase.events["count"][-1]["value"][at] = off[at]
    phase.events["count"][-1]["value"][3] += 1 << 20  # more fetched than read
    assert check(CTX, phase)


def test_a_response_that_is_missing(phase):
    phase.beats["uar_b"] = phase.beats["uar_b"][:-1]
    assert check(CTX, phase)


def test_an_arm_that_is_lost_doubled_or_too_soon():
    for k in range(12):
        phase = played(Binding, k % Binding.phases)
        if len(phase.events["arm"]) > 3:
            break
    arms = phase.events["arm"]
    assert len(arms) > 3
    phase.events["arm"] = arms[:-1]
    assert check(CTX, phase)
    phase.events["arm"] = np.concatenate((arms, arms[-1:]))
    assert check(CTX, phase)
    soon = arms.copy()
    soon[1]["cycle"] = soon[0]["cycle"] + 1
    phase.events["arm"] = soon
    assert check(CTX, phase)
