# SPDX-License-Identifier: Apache-2.0
"""The register map: what is generated from it is fresh, complete and agrees with the spec and the switch's ports."""

import re

import pytest

from models import link_csr
from models.protocol import LinkCfg
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


# --- the link's map ------------------------------------------------------------------------------------------------


def test_the_links_reset_values_are_the_specs():
    figures = spec()
    fields = link_csr.configuration()
    for name in ("replay_timeout", "replay_max", "retrain", "init_timeout"):
        assert fields[name][1].reset == figures.integer(f"link.{name}")
    assert fields["cells"][1].reset == figures.integer("link.grant_cells") // 16
    parts = figures.section("phy.llfec")
    for side in ("tx", "rx"):
        assert fields[f"phy_{side}"][1].reset == sum(int(c.value) for n, c in parts.items() if n.startswith(f"{side}_"))


def test_every_field_of_the_links_configuration_has_one_of_its_width():
    fields = link_csr.configuration()
    assert {n: f.width for n, (_, f) in fields.items()} == {n: w for n, w in LinkCfg.WIDTHS if n != "preset"}
    rtl = (ROOT / "rtl" / "link_csr" / "link_csr.sv").read_text(encoding="utf-8")
    assert set(re.findall(r"assign wanted\.(\w+) =", rtl)) == {n for n, _ in LinkCfg.WIDTHS}


def test_the_links_counters_are_the_events_of_its_rules():
    rules = (ROOT / "docs" / "link.md").read_text(encoding="utf-8").split("## Events")[1]
    events = re.findall(r"^\| (\d+) \|", rules, re.MULTILINE)
    assert [int(n) for n in events] == list(range(len(link_csr.EVENTS)))
    assert [r.name for r in link_csr.LINK.registers if any(f.counter for f in r.fields)] == list(link_csr.COUNTERS)
    rtl = (ROOT / "rtl" / "link_csr" / "link_csr.sv").read_text(encoding="utf-8")
    wired = re.findall(r"hwif_in_(\w+)_count_incr\(ev_q\[(\d+)\]\)", rtl)
    assert [n for n, _ in wired][: len(events)] == list(link_csr.EVENTS)
    assert [int(n) for _, n in wired][: len(events)] == list(range(len(events)))


def test_the_reasons_are_those_of_the_links_rules():
    rules = (ROOT / "docs" / "link.md").read_text(encoding="utf-8")
    told = re.search(r"bits: (0 profile.*?)\.\n", rules)
    assert told
    seen = [f.name for f in link_csr.LINK.register("SEEN").fields][: link_csr.REASONS]
    names = [x.split(" ", 1)[1].replace(" ", "_").lower() for x in told[1].split(", ")]
    assert [n.replace("sequence", "numbers") for n in names] == seen
