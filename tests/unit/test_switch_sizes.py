# SPDX-License-Identifier: Apache-2.0
"""Sizes that no switch has are refused, by the RTL at the start of a simulation and by the model, with the reason."""

from __future__ import annotations

import os
import subprocess

import pytest

from models.switch_config import SwitchConfig
from scripts import tools
from scripts.blocks import blocks
from scripts.common import ROOT

CHECKS = str(ROOT / "rtl/switch/switch_sizes.sv")
SMALL = {"PORTS": 2, "CELLS": 8, "MAX_BEATS": 3, "EGRESS": 8, "ADDR_W": 2, "GROUPS": 2}
NAMES = {"DATA_W": "data_bytes"}  # parameters that the model has under another name than their own in small letters
# (what is wrong with a small switch, what the RTL says): each side of each check of rtl/switch/switch_sizes.sv
BAD = [
    ({"PORTS": 1}, "PORTS 1, LANES 1, DATA_W 512; allowed: 2..80, 1..8, 512 or 1024"),
    ({"PORTS": 81}, "PORTS 81, LANES 1, DATA_W 512; allowed: 2..80"),
    ({"LANES": 0}, "LANES 0, DATA_W 512; allowed: 2..80, 1..8"),
    ({"LANES": 9, "CELLS": 64}, "LANES 9, DATA_W 512; allowed: 2..80, 1..8"),
    ({"DATA_W": 256}, "DATA_W 256; allowed: 2..80, 1..8, 512 or 1024"),
    ({"CELLS": 12}, "CELLS 12 (a power of two)"),
    (
        {"MAX_BEATS": 8, "EGRESS": 16},
        "CELLS 8 (a power of two), EGRESS 16; CELLS / LANES and EGRESS must exceed MAX_BEATS 8",
    ),
    ({"LANES": 3}, "CELLS / LANES and EGRESS must exceed MAX_BEATS 3"),
    ({"MAX_BEATS": 7, "EGRESS": 4}, "EGRESS 4; CELLS / LANES and EGRESS must exceed MAX_BEATS 7"),
    ({"CELLS": 65536}, "CELLS 65536, EGRESS 8, MAX_BEATS 3; allowed: up to 32768, 32768, 1..255"),
    ({"EGRESS": 65536}, "EGRESS 65536, MAX_BEATS 3; allowed: up to 32768, 32768, 1..255"),
    ({"CELLS": 512, "EGRESS": 512, "MAX_BEATS": 256}, "MAX_BEATS 256; allowed: up to 32768, 32768, 1..255"),
    ({"MAX_BEATS": 0}, "MAX_BEATS 0; allowed: up to 32768, 32768, 1..255"),
    ({"EGRESS": 12}, "EGRESS 12, GROUPS 2; allowed: powers of two"),
    ({"GROUPS": 6}, "GROUPS 6; allowed: powers of two"),
    ({"ALLOC": -1}, "ALLOC -1, ADDR_W 2, GROUPS 2; allowed: 0..5, 1..21, 2 or more"),
    ({"ALLOC": 6}, "ALLOC 6, ADDR_W 2, GROUPS 2; allowed: 0..5"),
    ({"ADDR_W": 0}, "ADDR_W 0, GROUPS 2; allowed: 0..5, 1..21"),
    ({"ADDR_W": 22}, "ADDR_W 22, GROUPS 2; allowed: 0..5, 1..21"),
    ({"GROUPS": 1}, "GROUPS 1; allowed: 0..5, 1..21, 2 or more"),
]
GOOD = [
    {}, {"LANES": 2}, {"ALLOC": 0}, {"ALLOC": 5}, {"MAX_BEATS": 7}, {"DATA_W": 1024},
    {"CELLS": 2, "MAX_BEATS": 1, "EGRESS": 2},
    {"CELLS": 256, "EGRESS": 256, "MAX_BEATS": 255},
]  # fmt: skip


def label(change):
    return "-".join(f"{k}_{v}" for k, v in change.items()) or "small"


def parameters(change, flag):
    return [f"{flag}{k}={v}" for k, v in (SMALL | change).items()]


def icarus(folder, top, files, change):
    """Exit code and output of a simulation of ``top`` with these sizes, nothing driven."""
    out = str(folder / "top.vvp")
    include = [f"-I{ROOT / d}" for d in blocks().include_dirs()]
    subprocess.run(["iverilog", "-g2012", "-s", top, "-o", out, *include, *parameters(change, f"-P{top}."), *files],
                   check=True, capture_output=True, timeout=300)  # fmt: skip
    ended = subprocess.run(["vvp", "-n", out], capture_output=True, text=True, timeout=300, check=False)
    return ended.returncode, ended.stdout + ended.stderr


def verilator(folder, change):
    """The same of the checks alone under Verilator."""
    env = os.environ | {"VERILATOR_ROOT": str(tools.verilator_root())}
    program = str(tools.verilator_bin())
    build = [program, "--binary", "-Wno-fatal", "--top", "switch_sizes", "--Mdir", str(folder), "-CFLAGS", "-O0"]
    subprocess.run([*build, *parameters(change, "-G"), CHECKS], env=env, check=True, capture_output=True, timeout=300)
    ended = subprocess.run([folder / "Vswitch_sizes"], capture_output=True, text=True, timeout=60, check=False)
    return ended.returncode, ended.stdout + ended.stderr


def refused(ended, said):
    code, text = ended
    assert code != 0 and "switch: " in text and said in text, text


def model(change):
    """The same sizes for the model."""
    given = {NAMES.get(k, k.lower()): v for k, v in (SMALL | change).items()}
    if "data_bytes" in given:
        given["data_bytes"] //= 8
    return SwitchConfig(**given)


@pytest.mark.skipif(not tools.simulator_version("icarus"), reason="Icarus is not installed")
@pytest.mark.parametrize(("change", "said"), BAD, ids=[label(c) for c, _ in BAD])
def test_the_rtl_says_what_it_refuses(tmp_path, change, said):
    refused(icarus(tmp_path, "switch_sizes", [CHECKS], change), said)


@pytest.mark.parametrize("number", [1, 8, 11, 13, 17])  # one of each check
def test_verilator_says_the_same(tmp_path, number):
    change, said = BAD[number]
    refused(verilator(tmp_path, change), said)


@pytest.mark.skipif(not tools.simulator_version("icarus"), reason="Icarus is not installed")
@pytest.mark.parametrize("number", [4, 9, 18])
def test_the_whole_switch_refuses(tmp_path, number):
    change, said = BAD[number]
    refused(icarus(tmp_path, "switch", [str(ROOT / f) for f in blocks().rtl("switch")], change), said)


@pytest.mark.skipif(not tools.simulator_version("icarus"), reason="Icarus is not installed")
@pytest.mark.parametrize("change", GOOD, ids=label)
def test_the_rtl_takes_what_is_allowed(tmp_path, change):
    code, text = icarus(tmp_path, "switch_sizes", [CHECKS], change)
    assert code == 0 and "FATAL" not in text, text


@pytest.mark.parametrize("change", [c for c, _ in BAD if c != {"ALLOC": 6}], ids=label)  # the model's own arbiters
def test_the_model_refuses_the_same(change):
    with pytest.raises(ValueError, match="allowed"):
        model(change)


@pytest.mark.parametrize("change", GOOD, ids=label)
def test_the_model_takes_the_same(change):
    assert model(change).ports == 2
