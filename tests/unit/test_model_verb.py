# SPDX-License-Identifier: Apache-2.0
"""`make model` and the traffic it is made of: what is given is used or refused, and a verdict is one."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from models.kernel import Stuck
from models.switch_config import SwitchConfig
from models.switch_traffic import Frames, measure, traffic
from scripts import model
from scripts.common import EXIT_FAIL, EXIT_PASS, UserError


def verb(tmp_path, monkeypatch, **given):
    """(exit code, model.json, what was printed)."""
    monkeypatch.setattr(model, "OUT", tmp_path)
    monkeypatch.setattr(model, "rel", str)
    console = Console(record=True, width=200)
    code = model.main_model(console, given)
    return code, json.loads((tmp_path / "model.json").read_text()), console.export_text()


@pytest.mark.parametrize(("groups", "addr_w"), [(64, 10), (2, 1), (256, 12)])
def test_measure_has_groups_for_every_port(groups, addr_w):
    config = SwitchConfig(ports=80, groups=groups, addr_w=addr_w, prefix=5)
    frames = traffic(80, "uniform", 0.5, 500, 1)
    found = measure(config, frames, (50, 500))
    assert len(found.wait) == sum(len(f.cycle) for f in frames)
    assert set(found.output.tolist()) == set(range(80))
    assert found.wait.min() == 0


@pytest.mark.parametrize(
    "given",
    [
        {"PORTS": "80", "CYCLES": "1000", "LOAD": "0.5", "SIZE": "64"},
        {"PORTS": "32", "CYCLES": "10000", "LOAD": "0.5", "SIZE": "4096"},  # a fair share is five frames an input
        {"PORTS": "5", "CYCLES": "300", "LOAD": "0.9", "SIZE": "64", "ALLOC": "0,1,4,5"},
    ],
)
def test_a_short_run_has_the_verdicts_of_a_long_one(tmp_path, monkeypatch, given):
    code, report, text = verb(tmp_path, monkeypatch, **given)
    assert code == EXIT_PASS and " fail" not in text
    for checks in report["checks"].values():
        assert checks["incast"]["least"] >= model.TURNS - 1 and checks["hot_spot"]["frames"] > 0.9 * model.COLD
    assert all(np.isfinite(v) for row in report["rows"] for v in row.values())


@pytest.mark.parametrize(("check", "change"), [("incast", "least"), ("hot_spot", "wait")])
def test_a_verdict_can_fail(tmp_path, monkeypatch, check, change):
    real = measure

    def unfair(config, frames, window):
        """Input 1 has got nothing; what goes to other outputs waits when a hot spot is there."""
        m = real(config, frames, window)
        if change == "least":
            m.input[m.input == 1] = 2
        elif (m.output == 0).any():
            m.wait[m.output > 0] += 3
        return m

    monkeypatch.setattr(model, "measure", unfair)
    code, report, text = verb(tmp_path, monkeypatch, CYCLES="3000", LOAD="0.5", SIZE="64")
    assert code == EXIT_FAIL and not report["checks"]["iSLIP-1"][check]["good"] and text.count(": fail") == 1


def test_too_few_frames_say_how_many_cycles_are_enough(tmp_path, monkeypatch):
    with pytest.raises(UserError, match=r"CYCLES=100: too few frames at load 0\.1: .* give CYCLES=(\d+)") as e:
        verb(tmp_path, monkeypatch, CYCLES="100", SIZE="4096", LOAD="0.1")
    enough = str(e.value).rsplit("=", 1)[1]
    assert verb(tmp_path, monkeypatch, CYCLES=enough, SIZE="4096", LOAD="0.1")[0] == EXIT_PASS


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("SAF", "2", "SAF=2: wants 0 or 1"),
        ("SAF", "yes", "SAF=yes: wants 0 or 1"),
        ("ALLOC", "1.5", "ALLOC=1.5: wants whole numbers from 0 to 5"),
        ("ALLOC", "6", "ALLOC=6: wants whole numbers from 0 to 5"),
        ("DATA_W", "516", "DATA_W=516: wants 512 or 1024"),
        ("DATA_W", "100", "DATA_W=100: wants 512 or 1024"),
        ("CYCLES", "100000000000", "CYCLES=100000000000: wants a whole number from 100 to 2500000"),
        ("CYCLES", "10", "CYCLES=10: wants a whole number from 100 to 2500000"),
        ("SIZE", "64.5", "SIZE=64.5: wants whole numbers from 32 to 4224"),
        ("SIZE", "0", "SIZE=0: wants whole numbers from 32 to 4224"),
        ("LOAD", "nan", "LOAD=nan: wants numbers from 0.001 to 1"),
        ("PORTS", "81", "PORTS=81: wants a whole number from 2 to 80"),
        ("CELLS", "100", "CELLS is 100; allowed: powers of two"),
        ("PATTERN", "unifrom", "did you mean 'uniform'"),
        ("CABLE", "50", "a headroom of 996 cells, CELLS / LANES is 512 / 1 = 512"),
        ("CABLE", "50", "link.buffer_cells of spec/fabric.toml); allowed: CELLS / LANES above 996, or CABLE up to 1"),
        ("CABLE", "-1", "CABLE=-1: wants numbers from 0 to 10000"),
        ("CABLE", "2,3", "CABLE=2,3: wants one number of metres"),
        ("PHY", "kp5", "did you mean 'kp4'"),
    ],
)
def test_a_bad_setting_is_named(key, value, said):
    with pytest.raises(UserError) as e:
        model.plan({key: value})
    assert said in str(e.value)


def test_headroom_must_fit_into_each_lane():
    found = model.plan({"CABLE": "1"}).pause
    assert found and (found.room.cells + found.xoff, found.room.cells < 512) == (512, True)
    with pytest.raises(UserError, match=r"516 cells, CELLS / LANES is 512 / 2 = 256 .* no cable is short"):
        model.plan({"CABLE": "2", "LANES": "2"})
    assert model.plan({"CABLE": "2", "LANES": "2", "CELLS": "2048"}).pause
    wider = model.plan({"CABLE": "9", "CELLS": "1024", "PHY": "kp4"}).pause
    assert wider and wider.room.cells > found.room.cells


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"size": 0}, "size is 0; allowed: whole numbers of beats from 1"),
        ({"size": [1, 0]}, "size is "),
        ({"size": 1.5}, "size is 1.5"),
        ({"size": []}, "size is "),
        ({"load": 0}, "load is 0; allowed: above 0, up to 1"),
        ({"load": float("nan")}, "load is nan"),
        ({"cycles": 0}, "cycles is 0; allowed: from 1"),
        ({"ports": 1}, "ports is 1; allowed: from 2"),
        ({"burst": 0, "pattern": "bursty"}, "burst is 0; allowed: from 1"),
        ({"seed": -1}, "seed is -1; allowed: whole numbers from 0"),
        ({"seed": 1.5}, "seed is 1.5"),
        ({"pattern": "storm"}, "pattern is 'storm'; allowed: uniform, "),
    ],
)
def test_traffic_that_cannot_be_is_refused(given, said):
    with pytest.raises(ValueError) as e:
        traffic(**({"ports": 8, "pattern": "uniform", "load": 0.5, "cycles": 100, "seed": 1} | given))
    assert said in str(e.value)


def test_an_empty_window_is_refused():
    with pytest.raises(ValueError, match="window is"):
        measure(SwitchConfig(), traffic(8, "uniform", 0.5, 100, 1), (50, 50))


def frames(*columns: Any) -> Frames:
    """What the types would not let through, or lists."""
    return Frames(*columns)


NONE = frames([], [], [])


@pytest.mark.parametrize(
    ("cycle", "output", "beats", "said"),
    [
        ([1], [2], [1], "frames[0].output[0] is 2; allowed: whole numbers, 0 to 1"),
        ([1, 2], [1, -1], [1, 1], "frames[0].output[1] is -1"),
        ([1], [0.5], [1], "frames[0].output has entries of type float64; allowed: whole numbers, 0 to 1"),
        ([1], [1], [67], "frames[0].beats[0] is 67; allowed: whole numbers, 1 to 66"),
        ([1], [1], [0], "frames[0].beats[0] is 0"),
        ([0], [1], [1], "frames[0].cycle[0] is 0; allowed: whole numbers, 1 to "),
        ([float("nan")], [1], [1], "frames[0].cycle has entries of type float64"),
        ([5, 1], [1, 1], [1, 1], "frames[0].cycle[1] is 1; allowed: from that of the row before, 5"),
        ([1, 2], [1], [1, 1], "frames[0].output has 1 rows; allowed: as many as cycle, 2"),
        ([[1]], [1], [1], "frames[0].cycle has 2 dimensions; allowed: one"),
        ([1, [2]], [1], [1], "frames[0].cycle has rows of several lengths"),
    ],
)
def test_frames_that_cannot_be_are_named(cycle, output, beats, said):
    with pytest.raises(ValueError) as e:
        measure(SwitchConfig(ports=2), [frames(cycle, output, beats), NONE], (0, 10))
    assert said in str(e.value)


def test_frames_may_be_lists():
    found = measure(SwitchConfig(ports=2), [frames([1, 1], [1, 1], [66, 1]), NONE], (0, 300))
    assert found.wait.tolist() == [0, 66]


def test_a_run_that_cannot_end_ends():
    config = SwitchConfig(ports=2, credit_en=True, credit_init=66, starved=True)
    with pytest.raises(Stuck):
        measure(config, [frames([1], [1], [1]), NONE], (0, 10))
