# SPDX-License-Identifier: Apache-2.0
"""The spec file: bad input is named, generated RTL constants are fresh."""

import pytest

from models.spec import Spec, SpecError, spec
from scripts import gen_spec

GOOD = '[clock]\nperiod_ns = { value = 1.0, unit = "ns", mark = "A", source = "x" }\n'


def load(tmp_path, text):
    path = tmp_path / "fabric.toml"
    path.write_text(text, encoding="utf-8")
    return Spec(path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "clock.period_ns: missing"),
        (GOOD.replace("1.0", "0"), "clock.period_ns.*above 0"),
        (GOOD.replace("value = 1.0, ", ""), "clock.period_ns: field 'value' is missing"),
        (GOOD.replace('source = "x"', 'source = ""'), "source is empty"),
        (GOOD.replace('"A"', '"Z"'), "mark is 'Z'; allowed: V"),
        (GOOD.replace('unit = "ns"', 'unit = "furlong"'), "unit is 'furlong'; allowed: ns"),
        (GOOD.replace("1.0", '"fast"'), "allowed: a number"),
        (GOOD + 'a = { value = -1, unit = "ns", mark = "A", source = "x" }\n', "clock.a: value is -1; allowed"),
        (GOOD + 'a = { value = nan, unit = "ns", mark = "A", source = "x" }\n', "finite"),
        (GOOD + 'a = { value = 1, unit = "ns", mark = "A", source = "x", note = "y" }\n', "unknown field"),
        (GOOD + 'a = { value = 1.5, unit = "ns", mark = "A", source = "x", rtl = true }\n', "whole number"),
        (GOOD + "a = 7\n", "clock.a: bare value 7"),
        ("clock = [", "not TOML"),
    ],
)
def test_bad_file_names_file_field_and_allowed(tmp_path, text, says):
    with pytest.raises(SpecError, match=says) as e:
        load(tmp_path, text)
    assert "fabric.toml" in str(e.value)


def test_missing_file_and_unknown_name(tmp_path):
    with pytest.raises(SpecError, match="file is missing"):
        Spec(tmp_path / "none.toml")
    with pytest.raises(SpecError, match="clock.perod: missing; the file has: clock.period_ns"):
        load(tmp_path, GOOD).constant("clock.perod")


def test_nanoseconds_round_up_to_cycles(tmp_path):
    text = GOOD.replace("1.0", "0.75") + 'a = { value = 10, unit = "ns", mark = "A", source = "x" }\n'
    assert load(tmp_path, text).cycles("clock.a") == 14


def test_generated_files_are_fresh(tmp_path, monkeypatch, capsys):
    assert gen_spec.main(["--check"]) == 0, "run: python -m scripts.gen_spec"
    stale = tmp_path / "spec_pkg.sv"
    stale.write_text(gen_spec.render_spec_pkg(spec()).replace("50", "51"), encoding="utf-8")
    monkeypatch.setattr(gen_spec, "outputs", lambda: {stale: gen_spec.render_spec_pkg(spec())})
    assert gen_spec.main(["--check"]) == 1
    assert "stale" in capsys.readouterr().err


def test_every_assumption_is_marked():
    assert all(c.assumed == (c.mark in "WRA") for c in spec())
    assert spec().integer("frame.max_beats") * 64 >= 54 + 20 + spec().integer("frame.max_mtu") + 8
