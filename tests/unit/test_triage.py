# SPDX-License-Identifier: Apache-2.0
"""Failures that differ by numbers, times, paths and hierarchies alone share a bucket; others do not."""

from __future__ import annotations

import pytest

from scripts.regress import triage
from scripts.regress.records import Job, Record


def record(number, reason, verdict="fail", lines=(), **job):
    fields = {
        "number": number, "block": "link", "test": "credits", "params": "default", "sim": "verilator", "seed": number,
        "build_limit_s": 1, "run_limit_s": 1, **job,
    }  # fmt: skip
    return Record(
        job=Job(**fields), verdict=verdict, reason=reason, lines=list(lines), command=f"make sim SEED={number}"
    )


SAME = [
    ("beat 7 left at 1,204, model says 1203", "beat 19 left at 88, model says 90"),
    ("value 0xdead_beef, not 0x12", "value 0x0, not 0xff"),
    ("after 12 ns nothing came", "after 3.5 us nothing came"),
    ("FATAL: /a/x.sv:12: assertion tb_l.u_a.full failed", "FATAL: b/x.sv:44: assertion tb_l.u_b.full failed"),
    ("phase p0 (random1): m: DIFFERENT", "phase p17 (random12): m: DIFFERENT"),
    ("got 8'hFF from u_fifo[3].q", "got 16'h00 from u_fifo[11].q"),
    ("killed at 300 s; cycle 12 was reached", "killed at 30 s; cycle 7,331 was reached"),
    ("FATAL: a/example.sv:58: assertion tb_example.dut.a_full failed",
     "[2300] %Fatal: example.sv:58: Assertion failed in tb_example.dut.a_full: assertion tb_example.dut"),
    ("m: 9 compared, 3 at another cycle, 0 missing", "m: 7 compared, 1 at another cycle, 0 missing"),
    ("the simulator ended with code -9", "the simulator ended with code -9"),
    ("\x1b[31mred\x1b[0m 5", "red 6"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SAME)
def test_same_kind(one, other):
    assert triage.normalise(one) == triage.normalise(other)
    assert len(triage.buckets([record(1, one), record(2, other)])) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("credits never came back", "credits came back twice"),
        ("m_axis: beat 3 missing", "s_axis: beat 3 missing"),
        ("the simulator ended with code -11", "no test ran"),
        ("the simulator ended with code -11", "the simulator ended with code -9"),
        ("the simulator ended with code 1", "the simulator ended with code 0"),
        ("x.sv:5: assertion tb_x.u_a.a_first failed", "x.sv:9: assertion tb_x.u_a.a_second failed"),
        ("m: 0 at another cycle, 1 with other content", "m: 8 at another cycle, 0 with other content"),
        ("m: 3 missing, 0 unexpected", "m: 0 missing, 3 unexpected"),
    ],
)
def test_other_kind(one, other):
    assert triage.normalise(one) != triage.normalise(other)
    assert len(triage.buckets([record(1, one), record(2, other)])) == 2


def test_blocks_and_verdicts_do_not_mix():
    assert len(triage.buckets([record(1, "x"), record(2, "x", block="wire")])) == 2
    assert len(triage.buckets([record(1, "x"), record(2, "x", verdict="timeout")])) == 2


def test_a_bucket_says_how_to_go_on():
    many = [
        record(n, f"credits: {n} comparisons failed", lines=[f"phase p{n} (r): m: beat {n} late"]) for n in (5, 3, 9)
    ]
    many.append(record(4, "nothing like it"))
    first, second = triage.buckets(many)
    assert (first["count"], first["jobs"], first["first"], first["seed"]) == (3, [3, 5, 9], 3, 3)
    assert first["command"] == "make sim SEED=3"
    assert first["lines"] == ["credits: 3 comparisons failed", "phase p3 (r): m: beat 3 late"]
    assert first["title"] == "phase p3 (r): m: beat 3 late", "what differs, not how many"
    assert second["count"] == 1


def test_everything_that_a_bucket_names_is_of_one_job():
    many = [record(n, "late") for n in (1, 2, 3)]
    many[1] = many[1].model_copy(update={"waves": "jobs/00002/waves/waves.fst", "log": "jobs/00002/a1/sim.log"})
    (bucket,) = triage.buckets(many)
    assert (bucket["first"], bucket["seed"], bucket["command"]) == (2, 2, "make sim SEED=2")
    assert bucket["waves"].startswith("jobs/00002/") and bucket["log"].startswith("jobs/00002/")
    assert bucket["jobs"] == [1, 2, 3]


def test_passes_and_known_failures_have_no_bucket():
    assert (
        triage.buckets([record(1, "", verdict="pass"), record(2, "bad", expected="known"), record(3, "", "notrun")])
        == []
    )
