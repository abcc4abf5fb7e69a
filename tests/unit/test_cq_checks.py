# SPDX-License-Identifier: Apache-2.0
"""The completion queues' checks without a model can fail: phases as the model answers them, with one thing wrong."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from models.protocol import CqIn
from tb.common.axi import memory_prediction
from tb.cq.checks import check
from tb.cq.env import status
from tb.cq.ports import EV, IN, STATUS_BITS
from tb.cq.rig import Rig
from tb.cq.sequences import Barriers, Collapsed, Depths, Rate

Some: Any = SimpleNamespace  # stands for a context, a phase's records: what the checks read of it


def played(kind: Any, index: int) -> Any:
    """Records of a phase of a sequence, those of the model."""
    item = kind(kind.__name__, Some()).make(index, np.random.default_rng(3))
    rig = Rig(item.info["stimulus"])
    rig.run(item.max_cycles)
    entries = IN.empty(len(rig.source.taken))
    for i, (cycle, beat) in enumerate(rig.source.taken):
        entries[i]["cycle"] = cycle
        entries[i]["side"] = np.frombuffer(beat.side.pack().to_bytes(IN.side_bytes, "little"), np.uint8)
    events = EV.empty(len(rig.ev.taken))
    for i, (cycle, event) in enumerate(rig.ev.taken):
        events[i]["cycle"] = cycle
        word = event.cqn << 1 | event.error
        events[i]["side"] = np.frombuffer(word.to_bytes(EV.side_bytes, "little"), np.uint8)
    words = [value.to_bytes(STATUS_BITS // 8, "little") for _, value in status(rig.cq.changes)]
    counts = [{"value": np.frombuffer(bytearray(w), "<u4")} for w in words]
    return Some(
        item=item, rows=memory_prediction("mem", rig.memory), beats={"cq": entries, "m_ev": events},
        events={"status": counts},
    )  # fmt: skip


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
