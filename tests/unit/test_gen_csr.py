# SPDX-License-Identifier: Apache-2.0
"""The register map: what is generated from it is fresh, complete and agrees with the spec and the switch's ports."""

import re

import pytest

from models.spec import spec
from models.switch_csr import CONFIGURATION, COUNTERS, GLOBAL, PORT
from models.switch_regs import BLOCKS
from scripts import gen_csr

ROOT = gen_csr.ROOT


def test_generated_files_are_fresh(tmp_path, monkeypatch, capsys):
    assert gen_csr.main(["--check"]) == 0, "run: python -m scripts.gen_csr"
    old = tmp_path / "switch_regs.py"
    fresh = gen_csr.render_python(gen_csr.maps()[0])
    old.write_text(fresh.replace("0x10", "0x18"), encoding="utf-8")
    monkeypatch.setattr(gen_csr, "outputs", lambda: {old: fresh})
    assert gen_csr.main(["--check"]) == 1
    assert "stale" in capsys.readouterr().err
    assert gen_csr.main([]) == 0
    assert gen_csr.main(["--check"]) == 0


def test_reset_values_that_are_figures_are_the_specs():
    cells = spec().integer("link.buffer_cells")
    assert GLOBAL.register("CREDIT").reset == cells
    assert 8 << GLOBAL.register("ADAPT").reset == cells  # the eighth level begins where nothing is left


def test_every_configuration_port_of_the_switch_has_a_field_of_its_width():
    header = (ROOT / "rtl" / "switch" / "switch.sv").read_text(encoding="utf-8").split(");")[0]
    found = re.findall(r"input  wire +(?:\[ *(\d+):0\])? +(cfg_\w+),", header)
    assert [int(high or 0) + 1 for high, _ in found] == [width for _, _, width in CONFIGURATION]
    for name, part, width in CONFIGURATION:
        field = GLOBAL.register(name).field(part)
        assert (field.width, field.access) == (width, "rw")


def test_counters_and_codes():
    assert [r.name for r in PORT.registers if any(f.counter for f in r.fields)] == list(COUNTERS)
    rules = (ROOT / "docs" / "switch.md").read_text(encoding="utf-8")
    words = re.search(r"\(0 nothing\): (.*?)\. A single", rules, re.DOTALL)
    assert words
    codes = dict(re.findall(r"(\d) ([a-z ]+?)(?:,|$)", words[1].replace("\n  ", " ")))
    named = [c.removeprefix("DROP_").replace("_", " ").lower() for c in COUNTERS[4:12]]
    assert [codes[str(i)] for i in range(1, 9)] == named


def test_no_two_registers_at_one_address():
    places = [b.base + i * b.stride + r.offset for b in BLOCKS for i in range(b.count) for r in b.registers]
    assert len(set(places)) == len(places)
    assert max(places) < 1 << 17
    for block in BLOCKS:
        for reg in block.registers:
            masks = [f.mask for f in reg.fields]
            assert sum(masks) < 1 << 32
            for i, mask in enumerate(masks):
                assert not any(mask & m for m in masks[:i])


def test_a_struct_that_is_not_known_is_named():
    with pytest.raises(ValueError, match="does not know: int x"):
        gen_csr.flatten("typedef struct {\n    int x = 3;\n} t;\n", "")
