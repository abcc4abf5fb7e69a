# SPDX-License-Identifier: Apache-2.0
"""A made-up regression for tests of the page: every verdict, hostile texts, and the files that it links to."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from scripts.regress.records import UNEXPECTED, Attempt, Job, Plan, Record, job_dir
from scripts.regress.trend import entry
from scripts.regress.views import PageData
from scripts.report import Figure, Latency

BLOCKS: dict[str, list[str]] = {
    "doorbell": ["smoke", "ring_order", "back_pressure", "known_after_reset"],
    "fabric": ["latency", "account", "account_roce", "moe_dispatch"],
    "link": ["smoke", "random_traffic", "replay", "near_wrap"],
    "rdma": ["smoke", "psn_wrap", "key_bounds", "random_stall"],
    "switch": ["zero_load", "incast", "hot_spot", "gaps"],
    "wire": ["smoke", "protocol", "icrc", "random_back_pressure"],
}
SIMS = ("verilator", "icarus")
HOSTILE = (
    '</pre><script>document.title="broken"</script> <b>&amp; "quoted" \'single\' \x1b[31mred\x1b[0m \x00\x07 \u202eback'
)
MESSAGES = (
    "3 comparisons failed: first at frame 17, byte 0x40: got 0xAB, want 0xCD",
    f"a hostile text: {HOSTILE}",
    "%Error: tb_link.sv:88: Assertion failed in tb_link.u_dut.a_credit: credits below zero",
    "größer als erlaubt: Ω ≠ 日本語 🚀 " + "x" * 400,
)
STAMP = "2026-11-{:02d} 08:30:00"


def _figures(rng: random.Random, block: str, test: str) -> dict[str, Figure]:
    def ns(value: float, target: float | None, **conditions: Any) -> Figure:
        measured = value + rng.randint(0, 2)
        common = {"clock_ns": 1.0, "fec": "RS(272,257) LL-FEC", "load": "zero", **conditions}
        passed = None if target is None else measured <= target
        return Figure(value=measured, unit="ns", target=target, passed=passed, conditions=common)

    if block == "fabric" and test != "moe_dispatch":
        more = 58 if test == "account_roce" else 0
        found = {"hop_ns": ns(101 + more / 2, 260, hops=1)}
        for n, base in ((0, 348), (1, 459), (3, 681)):
            name = f"e2e_{n}hop_ns" if n else "e2e_direct_ns"
            found[name] = ns(base + more, 1000, hops=n, host="PCIe 5 x16", size_bytes=64)
            found[f"{name}_d2d_inline_8B"] = ns(base + more - 101, 1000, hops=n, host="UCIe die-to-die", size_bytes=8)
        return found
    if (block, test) == ("switch", "zero_load"):
        return {"switch_cycles": Figure(value=8, unit="cycles", target=40, passed=True, conditions={"load": "zero"})}
    if (block, test) == ("rdma", "random_stall"):
        rate = 9.5 + rng.random()
        conditions = {"load": "full"}
        return {"messages_per_us": Figure(value=rate, unit="1/us", target=10, passed=rate >= 10, conditions=conditions)}
    return {"cycles": Figure(value=1000, unit="cycles")}


def _record(rng: random.Random, job: Job) -> Record:
    place = f"jobs/{job.number:05d}/a1"
    fields: dict[str, Any] = {
        "job": job, "verdict": "pass", "command": job.request().command, "build_s": rng.random() * 20,
        "run_s": rng.random() * 9, "wall_s": 10.0, "cycle": 5000 + job.number, "latency": Latency(checked=100),
        "attempts": [Attempt(host="host1", pid=9, started=1.0, ended="done")], "run_dir": place,
        "log": f"{place}/sim.log", "figures": _figures(rng, job.block, job.test),
    }  # fmt: skip
    n = job.number
    if job.expected is not None:
        fields |= {"verdict": "fail", "reason": MESSAGES[0] if n % 2 else f"{UNEXPECTED}: {job.expected}"}
    elif n % 37 == 5:
        message = MESSAGES[n % len(MESSAGES)]
        fields |= {"verdict": "fail", "reason": message, "lines": [f"{n}.00ns ERROR {message}", HOSTILE, "a" * 300]}
        fields |= {"waves": f"jobs/{n:05d}/waves/waves.fst"}
    elif n % 101 == 7:
        fields |= {"verdict": "timeout", "reason": "killed at its limit of 60 s of wall-clock time"}
    elif n % 151 == 9:
        fields |= {"verdict": "error", "reason": "its worker was lost 3 times: <gone>", "run_dir": None, "log": None}
        fields |= {"attempts": [Attempt(host="host2", ended="killed by signal 9")]}
    elif n % 211 == 11:
        fields |= {"verdict": "notrun", "reason": "interrupted", "run_dir": None, "log": None, "attempts": []}
        fields |= {"figures": {}, "run_s": 0.0}
    return Record(**fields)


def _buckets(records: list[Record]) -> list[dict[str, Any]]:
    groups: dict[str, list[Record]] = {}
    for r in records:
        if r.bad:
            groups.setdefault(f"{r.verdict}: {r.job.block}: {r.reason}", []).append(r)
    return [
        {
            "key": key, "title": rs[0].reason, "verdict": rs[0].verdict, "count": len(rs), "first": rs[0].job.number,
            "jobs": [r.job.number for r in rs], "seed": rs[0].job.seed, "lines": [rs[0].reason, *rs[0].lines],
            "waves": rs[0].waves, "command": rs[0].command, "log": rs[0].log,
        }
        for key, rs in sorted(groups.items(), key=lambda item: -len(item[1]))
    ]  # fmt: skip


def _kinds(rng: random.Random, size: int) -> dict[str, dict[str, int]]:
    found = {}
    for kind, factor in (("line", 1), ("branch", 0.5), ("toggle", 4), ("expr", 0.4)):
        total = max(1, int(size * factor))
        hit = int(total * (0.8 + 0.2 * rng.random()))
        found[kind] = {"hit": hit, "total": total, "waived": min(total - hit, rng.randint(0, 2))}
    return found


def _sum(parts: list[dict[str, dict[str, int]]]) -> dict[str, dict[str, int]]:
    return {k: {f: sum(p[k][f] for p in parts) for f in ("hit", "total", "waived")} for k in parts[0]}


def _holes(rng: random.Random) -> list[dict[str, Any]]:
    names = ["count[7:5] 0->1, 1->0"], ["else"], ["(a<b && !c) => 1", "(a<b && c) => 0"]
    kinds = ("toggle", "branch", "expr")
    return [
        {
            "line": 10 * n + rng.randint(1, 9),
            "kind": kinds[n % 3],
            "names": names[n % 3],
            "waived": None if n else "why",
        }
        for n in range(5)
    ]


def _code(rng: random.Random) -> dict[str, Any]:
    files = {f"rtl/{b}/{b}_{part}.sv": _kinds(rng, 120) for b in BLOCKS for part in ("top", "rx", "tx", "fifo")}
    blocks = {b: _sum([t for path, t in files.items() if path.startswith(f"rtl/{b}/")]) for b in BLOCKS}
    del blocks["doorbell"]["expr"]
    instances = {f"tb_{b}": {f"tb_{b}.u_dut.g_lane[{n}].u_fifo": _kinds(rng, 30) for n in range(8)} for b in BLOCKS}
    waivers = [
        {"file": "rtl/link/link_rx.sv", "kind": "branch", "lines": "40-44", "reason": "reset arm <never taken>",
         "date": "2026-11-20", "matched": 3},
        {"file": "rtl/wire/wire_tx.sv", "kind": "line", "lines": "9", "reason": "default of a full case",
         "date": "2026-11-21", "matched": 1},
    ]  # fmt: skip
    return {
        "measured": True, "runs": 900, "kinds": list(next(iter(files.values()))), "totals": _sum(list(files.values())),
        "blocks": blocks, "instances": instances, "waivers": waivers, "errors": [],
        "not_measured": {
            "wider_than": 256, "signals": [{"file": "rtl/link/link_rx.sv", "line": 9, "name": "data", "bits": 512}],
        },
        "files": {p: {"totals": t, "page": f"source/{p}.html", "holes": _holes(rng)} for p, t in files.items()},
    }  # fmt: skip


def _functional(rng: random.Random) -> dict[str, Any]:
    blocks: dict[str, Any] = {}
    holes = []
    for b, tests in BLOCKS.items():
        covers: dict[str, Any] = {}
        for name, bins in (("frame.size", 6), ("frame.gap", 4), ("frame.size_x_gap", 24)):
            kind = "cross" if "_x_" in name else "cover"
            found: dict[str, dict[str, Any]] = {}
            for n in range(bins):
                hits = 0 if rng.random() < 0.06 else rng.randint(1, 90_000)
                waived = "cannot occur at this width" if name == "frame.gap" and n == 3 else None
                points = [f"{tests[n % 2]}_point"] if kind == "cover" else [f"{tests[3]}_point"]
                bin_name = f"{n}..{n + 8} <bytes>" if kind == "cover" else f"({n % 6}, {n // 6})"
                found[bin_name] = {"hits": hits, "at_least": 1, "points": points, "waived": waived}
                if not hits and not waived:
                    holes.append({"block": b, "cover": name, "bin": bin_name, "points": points})
            covers[name] = {
                "kind": kind, "bins": found, "total": bins, "hit": sum(x["hits"] > 0 for x in found.values()),
            }  # fmt: skip
        blocks[b] = {
            "hit": sum(c["hit"] for c in covers.values()), "total": sum(c["total"] for c in covers.values()),
            "waived": 0, "covers": covers,
        }  # fmt: skip
    return {"blocks": blocks, "holes": holes, "errors": []}


def _mutants(rng: random.Random) -> dict[str, Any]:
    blocks: dict[str, Any] = {}
    for b, tests in list(BLOCKS.items())[1:]:
        found = []
        for n in range(40):
            hand = n < 8
            draw = rng.random()
            state = "killed" if hand or draw < 0.9 else "survived" if draw < 0.95 else "equivalent"
            found.append(
                {
                    "name": f"{b}_fault_{n}" if hand else f"rtl/{b}/{b}_rx.sv:{n * 7}:relational", "state": state,
                    "origin": "hand" if hand else "operator", "file": f"rtl/{b}/{b}_rx.sv", "line": n * 7 + 1,
                    "operator": None if hand else "relational", "before": "if (a < b && c)",
                    "after": "if (a <= b && c)",
                    "killed_by": f"{b}/{tests[n % 4]}" if state == "killed" else None,
                    "reason": "both arms write the same value" if state == "equivalent" else "",
                    "why": "credits returned twice" if hand else "",
                    "command": f"make mutate BLOCK={b} NAME={n}",
                }
            )  # fmt: skip
        sampled = [m["state"] for m in found if m["origin"] == "operator"]
        ops = {s: sampled.count(s) for s in ("killed", "survived", "equivalent", "error")}
        blocks[b] = {
            "when": "2026-11-29 22:00:00", "fresh": b != "wire", "hand": {"killed": 8, "total": 8},
            "operators": {**ops, "total": 32}, "mutants": found,
        }  # fmt: skip
    return {"blocks": blocks, "errors": [], "targets": {"hand": 100, "operators": 95}}


def _testplan(records: list[Record], functional: dict[str, Any], mutants: dict[str, Any]) -> dict[str, Any]:
    counts = dict.fromkeys(("open", "failing", "passing", "closed"), 0)
    blocks: dict[str, Any] = {}
    for b, tests in BLOCKS.items():
        points = []
        for n, test in enumerate(tests):
            rs = [r for r in records if (r.job.block, r.job.test) == (b, test)]
            bad = sum(r.bad for r in rs)
            covers = functional["blocks"][b]["covers"].items()
            bins = [
                {
                    "block": b, "cover": c, "bin": name, "hits": None if b == "doorbell" else x["hits"],
                    "hit": b != "doorbell" and x["hits"] > 0, "waived": x["waived"],
                }
                for c, part in covers for name, x in part["bins"].items() if f"{test}_point" in x["points"]
            ]  # fmt: skip
            state = "open" if not bins else "failing" if bad else "closed" if all(x["hit"] for x in bins) else "passing"
            counts[state] += 1
            known = mutants["blocks"].get(b, {"mutants": []})["mutants"][n * 2 : n * 2 + 2]
            why = {"open": "it has no bin", "failing": f"{bad} jobs of {b}/{test} did not pass"}
            passed, left = (sum(r.verdict == v for r in rs) for v in ("pass", "notrun"))
            jobs = [r.job.number for r in rs]
            points.append(
                {
                    "id": f"{test}_point", "feature": "frames" if n < 2 else "order <of frames>", "kind": "random",
                    "intent": f"{test.replace('_', ' ')}: right bytes & at the right cycle", "rules": ["R05"],
                    "state": state, "why": why.get(state, "a bin is not hit"),
                    "tests": [{"name": f"{b}/{test}", "pass": passed, "bad": bad, "notrun": left, "jobs": jobs}],
                    "bins": bins, "mutants": [{"name": m["name"], "state": m["state"] if n else None} for m in known],
                }
            )  # fmt: skip
        blocks[b] = points
    return {"counts": counts, "blocks": blocks}


def make(jobs: int = 200, *, good: bool = False) -> PageData:
    """A regression of `jobs` jobs, the same each time; `good`: every one passed."""
    rng = random.Random(7)
    names = [(b, t) for b, tests in BLOCKS.items() for t in tests]
    records = []
    for n in range(1, jobs + 1):
        block, test = names[n % len(names)]
        expected = "known since R05: psn wraps too early" if test == "psn_wrap" and n % 60 < 30 and not good else None
        job = Job(
            number=n, block=block, test=test, params=("default", "wide", "near_wrap")[n % 3], sim=SIMS[n // 24 % 2],
            seed=n * 7919, coverage=n % 2 == 0, build_limit_s=300, run_limit_s=60, expected=expected,
        )  # fmt: skip
        records.append(_record(rng, job))
    if good:
        records = [r.model_copy(update={"verdict": "pass", "reason": "", "lines": [], "waves": None}) for r in records]
    plan = Plan(
        id="20261130-083000-nightly", profile="nightly", settings={"PROFILE": "nightly", "SEEDS": "3"},
        started=STAMP.format(30), commit="5e654fa12224", jobs=[r.job for r in records],
    )  # fmt: skip
    code, functional, mutants = _code(rng), _functional(rng), _mutants(rng)
    trend = []
    for day in range(1, 31):
        e = entry(plan, records, code, functional).model_dump()
        e |= {"id": f"202611{day:02d}-083000-nightly", "when": STAMP.format(day)}
        e["passed"] = min(e["jobs"], e["passed"] + rng.randint(-jobs // 60, jobs // 80))
        for kind, value in e["coverage"].items():
            e["coverage"][kind] = None if kind == "expr" and day < 9 else value - (30 - day) * 0.6
        e["functional"] -= (30 - day) * 1.1
        e["figures"] = {k: v + rng.randint(0, 4) for k, v in e["figures"].items()}
        trend.append(e)
    return PageData(
        plan=plan, records=records, buckets=_buckets(records), code=code, functional=functional, mutants=mutants,
        testplan=_testplan(records, functional, mutants), trend=trend,
        summary={"seconds": 754.2, "interrupted": any(r.verdict == "notrun" for r in records), "builds": [
            {"name": f"{b} default for {s}", "verdict": "pass", "seconds": 3.0 + len(b), "cached": s == "icarus"}
            for b in BLOCKS for s in SIMS
        ]},
    )  # fmt: skip


def files(folder: Path, data: PageData) -> None:
    """Make what the page links to, each file with a few bytes."""
    wanted = ["results.json", "junit.xml", "lcov.info", "cobertura.xml", "functional.json", "testplan.json"]
    for r in data.records:
        wanted += [p for p in (r.log, r.waves) if p]
        if r.run_dir:
            wanted.append(f"{r.run_dir}/report.html")
    wanted += [f["page"] for f in (data.code or {}).get("files", {}).values()]
    for name in wanted:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(name))
    assert job_dir(folder, 1).is_dir()
    earlier = folder.parent / "20261129-083000-nightly" / "index.html"
    earlier.parent.mkdir(exist_ok=True)
    earlier.write_text("<p>yesterday</p>")
