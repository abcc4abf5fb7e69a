# SPDX-License-Identifier: Apache-2.0
"""The README's figures are those of the models, which the benches hold equal to the RTL."""

import re

import numpy as np
import pytest

from models.spec import SPEC_DIR, spec
from tb.common.axi import store_items
from tb.common.source import StoreSource
from tb.fabric import waterfall
from tb.fabric.account import PATH_NAMES
from tb.fabric.env import model_of_item
from tb.fabric.experiment import phase_item
from tb.fabric.scenarios import latency_rows

README = (SPEC_DIR.parent / "README.md").read_text(encoding="utf-8")
STAGES = re.findall(
    r"^((?:NIC|hop 1): [\w, ]+?|Tx PHY) {2,}(?:constant)? +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +0$", README, re.M
)
ROWS = re.findall(r"^\| (direct|1hop|3hop|one hop) \| (\w*) ?\| (\w*) ?\| (\d+) \| (\d*) ?\|$", README, re.M)


def rows(path, host, mode, *, roce=False):
    """Experiment, segments and the model's boundaries of a 64-byte message."""
    for exp in latency_rows(np.random.default_rng(0), roce=roce):
        if (PATH_NAMES[exp.topology], exp.host) != (path, host) or not exp.name.endswith(f"{mode}_64B"):
            continue
        item = phase_item(exp)
        model = model_of_item(item)
        StoreSource(model.kernel, "store", store_items(item.files["store_a.store"]), model.nics[0])
        stamps = model.run(exp.max_cycles)
        visible = {w[0]: w[1] for w in model.nics[1].memory.w_log}
        segments = waterfall.segments(exp, fetched=mode == "fetched")
        return exp, segments, waterfall.walk(stamps, segments, visible)
    raise LookupError(f"no row {path} {host} {mode}")


def measure(path, host, mode, *, roce=False):
    """(end to end, worst hop) in ns."""
    exp, _, at = rows(path, host, mode, roce=roce)
    period = spec().value("clock.period_ns")
    hops = waterfall.hop_cycles(exp, at)
    return (at[waterfall.VISIBLE] - at[waterfall.START]) * period, max(hops, default=0) * period


def test_readme_has_the_rows():
    assert len(ROWS) >= 8


@pytest.mark.parametrize("row", ROWS, ids=lambda r: "-".join(filter(None, r[:3])))
def test_figure_is_true(row):
    path, host, mode, ns, target = row
    if path == "one hop":
        assert measure("3hop", "pcie", "inline")[1] == float(ns)
        assert float(target) == spec().value("target.hop_ns")
    else:
        assert measure(path, host, mode)[0] == float(ns)
        assert not target or float(target) == spec().value("target.e2e_ns")


def test_kp4_figure_is_true():
    stated = re.search(r"With KP4 instead of LL-FEC a hop takes (\d+) ns", README)
    assert stated and measure("3hop", "pcie", "inline", roce=True)[1] == float(stated[1])


def test_waterfall_is_true():
    exp, segments, at = rows("3hop", "pcie", "inline")
    table = {r["name"]: r for r in waterfall.stages(exp, segments, at, at, spec().value("clock.period_ns"))}
    assert len(STAGES) == 9
    for name, cycles, ns, budget, margin, model in STAGES:
        row = table[name.strip()]
        assert (int(cycles), float(ns), float(budget), int(model)) == (
            row["cycles"], row["ns"], row["budget_ns"], row["model_cycles"]
        ), name  # fmt: skip
        assert float(margin) == row["budget_ns"] - row["ns"]
