# SPDX-License-Identifier: Apache-2.0
"""The completion queues' checks without a model can fail: phases as the model answers them, with one thing wrong."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from models.protocol import CqIn
from tb.cq.checks import check
from tb.cq.env import PLAN
from tb.cq.ports import EV
from tb.cq.sequences import Barriers, Collapsed, Depths, Rate
from tests.unit.predicted import predicted

Some: Any = SimpleNamespace  # stands for a context, a phase's records: what the checks read of it


def played(kind: Any, index: int) -> Any:
    """Records of a phase of a sequence, those of the model."""
    return predicted(PLAN, Some(), kind(kind.__name__, Some()).make(index, np.random.default_rng(3)))


@pytest.fixture(params=[(Depths, 1), (Collapsed, 1), (Barriers, 1), (Rate, 0)], ids=lambda p: p[0].__name__)
def phase(request: pytest.FixtureRequest) -> Any:
    return played(*request.param)


def complaints(phase: Any) -> list[str]:
    return check(Some(), phase)


def test_what_the_model_says_is_right(phase):
    assert complaints(phase) == []


@pytest.mark.parametrize("kind", [Depths, Collapsed, Barriers])
@pytest.mark.parametrize("byte", [36, 44, 54, 56, 58, 60, 63])
def test_a_wrong_byte_of_an_entry(kind, byte):
    phase = played(kind, 1)
    phase.rows["mem_w.rec"][len(phase.rows["mem_w.rec"]) // 3]["data"][byte] ^= 1
    assert complaints(phase)


@pytest.mark.parametrize("kind", [Depths, Collapsed, Barriers])
def test_an_entry_that_is_lost(kind):
    phase = played(kind, 1)
    at = len(phase.rows["mem_w.rec"]) // 3
    for name in ("mem_aw.rec", "mem_w.rec", "mem_b.rec"):
        phase.rows[name] = np.delete(phase.rows[name], at)
    assert complaints(phase)


def test_a_counter_one_off(phase):
    phase.events["status"][-1]["value"][-1] ^= 1  # written
    assert complaints(phase)


def test_a_completion_taken_twice(phase):
    entries = phase.beats["cq"]
    phase.beats["cq"] = np.concatenate((entries[:5], entries[4:]))
    assert complaints(phase)


@pytest.mark.parametrize("early", [0, 1, 40])
def test_an_entry_before_its_data(early):
    phase = played(Barriers, 2)
    done = {count: cycle for cycle, count in phase.item.info["stimulus"].done}
    last = len(phase.beats["cq"]) - 1
    x = CqIn.unpack(int.from_bytes(phase.beats["cq"][last]["side"].tobytes(), "little") & (1 << CqIn.width()) - 1)
    assert done[x.barrier] - 40 > phase.beats["cq"][last]["cycle"]  # its data came long after it
    phase.rows["mem_aw.rec"]["cycle"][last] = done[x.barrier] - early
    assert bool(complaints(phase)) == bool(early)


def test_a_bubble_at_full_rate():
    phase = played(Rate, 0)
    phase.rows["mem_aw.rec"]["cycle"][700:] += 1
    assert complaints(phase)


def test_an_event_without_an_arm_and_one_that_never_comes():
    phase = played(Depths, 0)
    events = phase.beats["m_ev"]
    assert len(events)
    quiet = next(p.ctx for p in phase.item.info["plans"].values() if not p.software.arms)
    more = events[:1].copy()
    more["side"][0] = np.frombuffer((quiet.cqn << 1).to_bytes(EV.side_bytes, "little"), np.uint8)
    phase.beats["m_ev"] = np.concatenate((events, more))
    assert complaints(phase)
    last = events["side"].tobytes()[-EV.side_bytes :]
    kept = [i for i in range(len(events)) if events["side"][i].tobytes() != last]
    phase.beats["m_ev"] = events[kept]
    assert complaints(phase)
