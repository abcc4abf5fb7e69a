# SPDX-License-Identifier: Apache-2.0
"""Verilator's coverage.dat: read, and refused when it is not whole."""

from __future__ import annotations

import pytest

from scripts.coverage import dat, points
from scripts.coverage.dat import CoverageError
from tests.unit import coverage_toy as toy


def test_counts_come_in_the_files_order(tmp_path):
    path = toy.write(tmp_path / "coverage.dat", {toy.IF: 0, toy.ELSE: 7, toy.BIT_UP: 18_446_744_073_709})
    read = dat.read(path)
    assert read.counts.tolist() == [0, 7, 18_446_744_073_709]
    assert [p["o"] for p in read.points()] == ["if", "else", "q[0]:0->1"]


def test_the_digest_is_of_the_points_not_of_their_counts(tmp_path):
    one = dat.read(toy.write(tmp_path / "1", {toy.IF: 0, toy.ELSE: 7}))
    two = dat.read(toy.write(tmp_path / "2", {toy.IF: 123456, toy.ELSE: 1}))
    other = dat.read(toy.write(tmp_path / "3", {toy.IF: 0}))
    assert one.digest == two.digest != other.digest


def test_names_with_spaces_quotes_and_digits_at_their_end(tmp_path):
    name = "(a == 8'h1 && 'x' 12) => 1"
    read = dat.read(toy.write(tmp_path / "1", {toy.point(3, "expr", name): 42}))
    assert read.counts.tolist() == [42]
    assert read.points()[0]["o"] == name


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not a file of Verilator's coverage"),
        (b"hello\n", "not a file of Verilator's coverage"),
        (b"# SystemC::Coverage-3\n", "no points in it"),
        (toy.text({toy.IF: 12, toy.ELSE: 7})[:-1], "cut short"),
        (toy.text({toy.IF: 12, toy.ELSE: 7})[:-20] + b"\n", "line 3 is not a point"),
        (toy.text({toy.IF: 12}) + b"\n", "line 3 is not a point"),
        (toy.text({toy.IF: 12}).replace(b"' 12", b"' 1x"), "line 2 is not a point"),
        (toy.text({toy.IF: 12}).replace(b"' 12", b"' "), "line 2 is not a point"),
        (toy.text({toy.IF: 12, toy.ELSE: 1}).replace(b"C '", b"D '", 1), "line 2 is not a point"),
        (bytes(200), "not a file of Verilator's coverage"),
    ],
)
def test_a_file_that_is_not_whole_is_named(tmp_path, content, said):
    path = tmp_path / "coverage.dat"
    path.write_bytes(content)
    with pytest.raises(CoverageError, match=f"coverage.dat: .*{said}"):
        dat.read(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CoverageError, match="none.dat: cannot be read: No such file"):
        dat.read(tmp_path / "none.dat")


def test_a_point_without_its_place_is_named(tmp_path):
    path = tmp_path / "coverage.dat"
    path.write_bytes(toy.text({toy.IF: 1}) + b"C '\x01f\x02rtl/a/a.sv' 3\n")
    with pytest.raises(CoverageError, match="point 2 has no file, line or kind"):
        points.of(dat.read(path))


def test_points_by_spot_and_instance(tmp_path):
    file = {toy.ALWAYS: 9, toy.IF: 1, toy.ELSE: 2, toy.at("tb.dut.b", toy.IF): 3, toy.ELSIF: 0, toy.BENCH: 5}
    found = points.of(dat.read(toy.write(tmp_path / "1", file)))
    assert [(s.kind, s.name, s.line) for s in found.spots] == [
        ("block", "block", 2), ("branch", "if", 3), ("branch", "else", 3), ("branch", "elsif", 5),
    ]  # fmt: skip
    assert found.lines == [[2], [3], [4, 6, 7], [5]]
    assert found.instances == ["tb.dut.a", "tb.dut.b"]
    assert found.spot.tolist() == [0, 1, 2, 1, 3, -1]
    assert found.instance.tolist() == [0, 0, 0, 1, 0, -1]


def test_points_are_kept_whole(tmp_path):
    found = points.of(dat.read(toy.write(tmp_path / "1", {toy.IF: 1, toy.BIT_UP: 2})))
    found.wide, found.max_width = [points.Wide("rtl/a/a.sv", 2, "data", 512)], 256
    found.sources = {"rtl/a/a.sv": "text ü\n"}
    points.save(tmp_path / "p.npz", found)
    again = points.load(tmp_path / "p.npz")
    assert (again.spots, again.lines, again.instances) == (found.spots, found.lines, found.instances)
    assert (again.wide, again.max_width, again.sources) == (found.wide, found.max_width, found.sources)
    assert again.spot.tolist() == [0, 1]


@pytest.mark.parametrize(("content", "said"), [(None, "missing"), (b"PK\x03\x04 broken", "not a list of points")])
def test_a_broken_list_is_named(tmp_path, content, said):
    if content is not None:
        (tmp_path / "p.npz").write_bytes(content)
    with pytest.raises(CoverageError, match=f"p.npz: .*{said}"):
        points.load(tmp_path / "p.npz")
