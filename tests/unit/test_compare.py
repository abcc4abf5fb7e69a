# SPDX-License-Identifier: Apache-2.0
"""`make compare`: the arithmetic, what it adds to the RoCE side, what it says, and settings that make no sense."""

import io
import json
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from models.compare import LARGEST, LOADS, REFERENCE, Case, cases
from models.spec import spec
from scripts import compare
from scripts.common import UserError
from scripts.report import Figure, Latency, Result
from tb.common.axi import WRITE
from tb.fabric.compare import end_to_end, experiment, switch_time


def figures(sizes, loads, switch, e2e):
    """Figures of a run in which every case takes as long."""
    found = {}
    for case in {REFERENCE, *(Case(size, load) for size in sizes for load in loads)}:
        for kind, cycles in (("switch", switch), ("e2e", e2e)):
            found[f"{kind}_{case.name}"] = Figure(value=cycles, unit="cycles", conditions={"inline": case.inline})
    return found


def made(given=None, native=(324, 700), roce=(420, 830)):
    p = compare.plan(given or {"SIZE": "64,4096", "LOAD": "alone,full"})
    both = {"native": figures(p.sizes, p.loads, *native), "roce": figures(p.sizes, p.loads, *roce)}
    used = compare.columns(compare.hop_ns(both["roce"]))
    return p, used, compare.rows(p, both, used), both


def test_reduction():
    assert compare.reduction(260, 703) == pytest.approx(63, abs=0.1)
    assert compare.reduction(5, 5) == 0
    assert compare.reduction(6, 5) == pytest.approx(-20)
    with pytest.raises(ValueError, match="more than nothing"):
        compare.reduction(1, 0)


def test_the_pipeline_is_what_a_published_hop_has_beyond_the_rtls():
    _, used, found, _ = made()
    assert [c.port_to_port for c in used] == [None, 500, 560, 600, 703, 800]
    for c in used[1:]:
        assert c.pipeline + 420 / 3 == c.port_to_port
    usual = compare.default_column()
    assert usual == "560"
    one = next(r for r in found if (r.kind, r.size, r.load) == ("switch", 64, "alone"))
    assert one.reduction[usual] == pytest.approx(100 * (1 - 324 / (3 * 560)))
    assert one.reduction["RTL"] == pytest.approx(100 * (1 - 324 / 420))
    far = next(r for r in found if (r.kind, r.size, r.load) == ("e2e", 4096, "full"))
    assert far.reduction["703"] == pytest.approx(100 * (1 - 700 / (830 + 3 * (703 - 140))))


def test_the_claim_is_no_input_of_the_arithmetic(monkeypatch):
    *_, before, _ = made()
    real = spec().value
    fake = SimpleNamespace(
        **{n: getattr(spec(), n) for n in ("section", "cycles", "integer", "constant")},
        value=lambda name: 99.0 if name.startswith("target.") else real(name),
    )
    monkeypatch.setattr(compare, "spec", lambda: fake)
    *_, after, _ = made()
    assert before == after
    # one column is made from the claim and says so; the default is not
    s = spec()
    said = s.constant("roce_hop.said")
    implied = s.value("target.hop_ns") / (1 - s.value("target.three_hop_vs_roce_percent") / 100)
    assert said.mark == "D" and float(said.value) == pytest.approx(implied, abs=0.5)
    assert compare.default_column() != f"{float(said.value):g}"


def test_a_published_hop_below_the_rtls_is_refused():
    with pytest.raises(UserError, match=r"roce_hop\.low is 500 ns: less than the RTL's own hop"):
        compare.columns(501)


def test_constants_of_a_time():
    s = spec()
    llfec, kp4 = compare.phy_ns("llfec"), compare.phy_ns("kp4")
    assert kp4 - llfec == s.value("phy.kp4.rx_fec") - s.value("phy.llfec.rx_fec")
    assert compare.constants_ns("switch", "native", "pcie", True) == 3 * llfec
    cable = s.value("cable.length_m") * s.value("cable.ns_per_m_fibre")
    memory = s.value("host.d2d.oneway") + s.value("host.d2d.visible")
    assert compare.constants_ns("e2e", "roce", "d2d", False) == 4 * (kp4 + cable) + memory
    more = compare.constants_ns("e2e", "roce", "d2d", True) - compare.constants_ns("e2e", "roce", "d2d", False)
    assert more == 2 * s.value("host.d2d.read_rtt")


def test_every_row_names_constants_that_the_spec_has():
    _, _, found, _ = made({})
    known = compare.groups("pcie")
    for r in found:
        assert set(r.rests_on) <= set(known)
        assert ("k" in r.rests_on) == (r.kind == "e2e")
        assert ("l" in r.rests_on) == (r.load != "alone")
    for letter, names in known.items():
        assert len(compare.named(names)) >= len(names), letter
    assert all(c["mark"] and c["source"] for names in known.values() for c in compare.named(names))


def test_a_missing_figure_is_named():
    p, used, _, both = made()
    del both["roce"]["e2e_4096B_full"]
    with pytest.raises(UserError, match="the roce run left no figure e2e_4096B_full"):
        compare.rows(p, both, used)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"HOST": "cxl"}, "host 'cxl'"),
        ({"SIZE": "0"}, r"SIZE=0: wants whole numbers from 1 to 65536"),
        ({"SIZE": "64,"}, r"SIZE=64,: wants"),
        ({"SIZE": str(LARGEST + 1)}, r"SIZE=65537: wants"),
        ({"SIZE": "8,8"}, "stands there twice"),
        ({"LOAD": "idle"}, "load 'idle'"),
        ({"LOAD": "full,full"}, "stands there twice"),
        ({"SEED": "-1"}, "SEED=-1"),
        ({"SIZES": "8"}, "setting 'SIZES'"),
    ],
)
def test_settings_that_make_no_sense(given, says):
    with pytest.raises(UserError, match=says):
        compare.plan(given)


def test_a_stream_is_offered_alike_to_both_profiles_and_never_above_the_wire():
    s = spec()
    for size in (1, 64, 1024, 4096, LARGEST):
        for host in ("pcie", "d2d"):
            half, full = (Case(size, load).interval(host) for load in ("half", "full"))
            assert half > full
            frames = -(-size // 4096)
            assert full * s.value("link.rate_bytes") > size + frames * (78 + s.integer("link.overhead_roce")) - 50
    assert [Case(size, "full").messages for size in (8, 4096, LARGEST)] == [48, 24, 4]
    assert cases("64,8", ",".join(LOADS))[0] == REFERENCE
    assert len(cases("64,8", ",".join(LOADS))) == 6


def test_the_verb_writes_all_and_says_why(tmp_path, monkeypatch):
    p, _, _, both = made()

    def run(_blocks, _plan, profile, _console):
        result = Result(figures=both[profile], latency=Latency(checked=5))
        return SimpleNamespace(exit_code=0, result=result, request=SimpleNamespace(command=f"make {profile}"))

    monkeypatch.setattr(compare, "_run", run)
    monkeypatch.setattr(compare, "OUT", tmp_path)
    monkeypatch.setattr(compare, "rel", str)
    text = io.StringIO()
    given = {"SIZE": "64,4096", "LOAD": "alone,full"}
    assert compare.main_compare(Console(file=text, width=160), given) == 0
    said = text.getvalue()
    assert "why not 63: a native hop of this RTL takes 108 ns, the vendor's 260" in said
    assert "63 % against 703 (no published hop: what the claim implies)" in said
    assert "roce_hop.usual 560 ns S" in said
    assert {f.name for f in tmp_path.iterdir()} == {f"compare.{e}" for e in ("json", "html", "png", "svg")}
    report = json.loads((tmp_path / "compare.json").read_text())
    assert len(report["rows"]) == 2 * len(p.sizes) * len(p.loads)
    assert "<svg" in (tmp_path / "compare.html").read_text()


def test_a_run_that_differs_from_the_model_fails(tmp_path, monkeypatch):
    _, _, _, both = made()

    def run(_blocks, _plan, profile, _console):
        result = Result(figures=both[profile], latency=Latency(checked=5, mismatched=int(profile == "roce")))
        return SimpleNamespace(exit_code=0, result=result, request=SimpleNamespace(command="make"))

    monkeypatch.setattr(compare, "_run", run)
    monkeypatch.setattr(compare, "OUT", tmp_path)
    monkeypatch.setattr(compare, "rel", str)
    text = io.StringIO()
    assert compare.main_compare(Console(file=text, width=160), {"SIZE": "64,4096", "LOAD": "alone,full"}) == 1
    assert "cycles of roce differ" in text.getvalue()


def test_a_run_that_fails_ends_it_with_the_reason_and_the_command(tmp_path, monkeypatch):
    def run(_blocks, _plan, profile, _console):
        request = SimpleNamespace(command=f"make sim profile={profile}")
        return SimpleNamespace(exit_code=2, verdict="error", reason="no build", run_dir=tmp_path, request=request)

    monkeypatch.setattr(compare, "_run", run)
    monkeypatch.setattr(compare, "OUT", tmp_path)
    monkeypatch.setattr(compare, "rel", str)
    text = io.StringIO()
    assert compare.main_compare(Console(file=text, width=160), {}) == 2
    assert "error native: no build" in text.getvalue()
    assert "repeat: make sim profile=native" in text.getvalue()


# --- what the bench measures ---------------------------------------------------------------------------------------

PLACES = (
    "leaf0.p0.phy_rx", "leaf0.p7.phy_tx", "spine.p0.phy_rx", "spine.p1.phy_tx", "leaf1.p7.phy_rx", "leaf1.p0.phy_tx",
)  # fmt: skip


def test_switch_time_is_the_sum_of_the_hops_of_each_frame():
    stamps = {name: [100 * i, 100 * i + 7 + i] for i, name in enumerate(PLACES)}
    assert switch_time(stamps) == (300, 303)
    stamps["spine.p1.phy_tx"].pop()
    with pytest.raises(LookupError, match="spine: 2 frames came in, 1 went out"):
        switch_time(stamps)
    with pytest.raises(LookupError, match="leaf0: 0 frames came in"):
        switch_time({})


def test_end_to_end_is_to_the_last_line_of_each_message():
    exp = experiment(Case(1024, "full"), np.random.default_rng(1), roce=False, host="d2d")
    lines = [m.target_place.base + m.target + 64 * k for m in exp.from_a for k in range(16)]
    writes = np.zeros(len(lines), WRITE)
    writes["addr"], writes["visible"] = lines, 5000 + np.arange(len(lines))
    stores = [m.at for m in exp.from_a]
    assert end_to_end(exp, stores, writes) == tuple(5015 + 16 * i - at for i, at in enumerate(stores))
    with pytest.raises(LookupError, match="1 stores, 48 messages"):
        end_to_end(exp, stores[:1], writes)
    with pytest.raises(LookupError, match="never written"):
        end_to_end(exp, stores, writes[:-1])
