# SPDX-License-Identifier: Apache-2.0
"""What the page says of jobs: verdict, failures, figures, tests, builds. Plain values for the template."""

from __future__ import annotations

import os
import platform
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scripts.regress import figures
from scripts.regress.links import Links
from scripts.regress.records import BAD, Plan, Record
from scripts.report import conditions_text, number

OPEN_BUCKETS = 6
SHOWN_FIGURES = 10
SHOWN_TESTS = 10
SHOWN_JOBS = 12


@dataclass
class PageData:
    """What the page is made of; docs/regression.md has the shapes. None: not measured.

    `summary`: id, counts, interrupted, seconds, builds. `problems`: errors of the tool itself, in words.
    """

    plan: Plan
    records: list[Record]
    summary: dict[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    buckets: list[dict[str, Any]] = field(default_factory=list)
    code: dict[str, Any] | None = None
    functional: dict[str, Any] | None = None
    testplan: dict[str, Any] | None = None
    mutants: dict[str, Any] | None = None
    trend: list[dict[str, Any]] | None = None


def plural(count: int, word: str) -> str:
    """A count with its noun: 1 job, 2 jobs, 2,000 jobs."""
    return f"{count:,} {word}" + ("" if count == 1 else "s")


def duration(seconds: float) -> str:
    """Seconds in words: 9.5 s, 4 min 10 s, 2 h 5 min."""
    if seconds < 60:
        return f"{number(float(seconds))} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def verdict(data: PageData) -> tuple[str, str]:
    """pass, fail or error, and the sentence that says why."""
    total = len(data.records)
    counts = Counter(r.verdict for r in data.records)
    known = sum(r.known for r in data.records)
    bad = Counter(r.verdict for r in data.records if r.bad)
    said = []
    if bad:
        kinds = ", ".join(f"{bad[v]:,} {v}" for v in BAD if bad[v]) if set(bad) != {"fail"} else ""
        text = f"{bad.total():,} of {plural(total, 'job')} failed" + (f" ({kinds})" if kinds else "")
        said.append(text + (f" in {plural(len(data.buckets), 'bucket')}" if data.buckets else ""))
    elif total and counts["pass"] + known == total:
        said.append(f"all {plural(total, 'job')} passed" if not known else f"{counts['pass']:,} jobs passed")
    elif total:
        said.append(f"{counts['pass']:,} of {plural(total, 'job')} passed")
    else:
        said.append("there was no job to run")
    if known:
        said.append(f"{known:,} failed as expected")
    if counts["notrun"]:
        said.append(f"{counts['notrun']:,} not run")
    missed = data.summary.get("missed", [])
    said += missed
    if data.problems:
        said.append(f"the tool met {plural(len(data.problems), 'problem')}")
    sentence = "; ".join(said)
    sentence = sentence[0].upper() + sentence[1:] + "."
    if bad or missed:
        return "fail", sentence
    return ("error" if data.problems or counts["notrun"] or not total else "pass"), sentence


def facts(data: PageData) -> list[tuple[str, str]]:
    """What was run, when and on what."""
    plan = data.plan
    hosts = sorted({a.host for r in data.records for a in r.attempts if a.host})
    machine = f"{os.cpu_count()} processors, {platform.system()} {platform.machine()}"
    if len(hosts) > 1:
        machine = f"{len(hosts)} hosts: " + ", ".join(hosts[:6]) + (" ..." if len(hosts) > 6 else "")
    elif hosts:
        machine = f"{hosts[0]}: {machine}"
    ran = sum(r.verdict != "notrun" for r in data.records)
    run_s = sum(r.run_s for r in data.records)
    given = " ".join(f"{k}={v}" for k, v in plan.settings.items() if k not in ("PROFILE", "RESUME"))
    command = f"make regress PROFILE={plan.settings.get('PROFILE') or plan.profile}" + (f" {given}" if given else "")
    seconds = data.summary.get("seconds")
    return [
        ("profile", plan.profile),
        ("regression", plan.id),
        ("commit", plan.commit or "unknown"),
        ("started", plan.started),
        ("took", "not known" if seconds is None else duration(float(seconds))),
        ("runs took", f"{duration(run_s)} in {plural(ran, 'run')}"),
        ("simulators", ", ".join(sorted({j.sim for j in plan.jobs})) or "none"),
        ("machine", machine),
        ("repeat", command),
    ]


def job_ref(record: Record, links: Links) -> dict[str, Any]:
    """A job as the page names it: its number, the link to its row, its own report, log and waves."""
    place = record.run_dir
    return {
        "number": record.job.number,
        "href": links.to("j", str(record.job.number)),
        "name": record.job.name,
        "report": links.file(f"{place}/report.html") if place else None,
        "log": links.file(record.log),
        "waves": links.file(record.waves),
    }


def buckets(data: PageData, by_number: Mapping[int, Record], links: Links) -> list[dict[str, Any]]:
    """Failures by bucket, as buckets.json has them, with links."""
    found = []
    for n, b in enumerate(data.buckets):
        jobs = [by_number[j] for j in b.get("jobs", []) if j in by_number]
        first = by_number.get(b.get("first", 0))
        waves = links.file(b.get("waves"))
        found.append(
            {
                "title": b.get("title") or b.get("key") or "no message",
                "verdict": b.get("verdict", "fail"),
                "count": b.get("count", len(jobs)),
                "blocks": sorted({r.job.block for r in jobs}),
                "sims": sorted({r.job.sim for r in jobs}),
                "seed": b.get("seed"),
                "lines": _excerpt(b),
                "command": b.get("command", ""),
                "first": job_ref(first, links) if first else None,
                "log": links.file(b.get("log")),
                "waves": waves,
                "waves_path": b.get("waves") if waves else None,
                "jobs": [job_ref(r, links) for r in jobs],
                "open": n < OPEN_BUCKETS,
            }
        )
    return found


def _excerpt(bucket: Mapping[str, Any]) -> list[str]:
    """The log's lines, where they say more than the title."""
    lines = [str(x) for x in bucket.get("lines") or []]
    return [] if lines == [bucket.get("title")] else lines


def not_run(records: Sequence[Record]) -> list[tuple[str, int]]:
    """Reasons for not running, with counts."""
    return Counter(r.reason or "no reason given" for r in records if r.verdict == "notrun").most_common()


def expected(records: Sequence[Record], links: Links) -> list[dict[str, Any]]:
    """Jobs that failed as they are known to."""
    return [{"job": job_ref(r, links), "expected": r.job.expected, "reason": r.reason} for r in records if r.known]


def figure_rows(records: Sequence[Record], links: Links) -> dict[str, Any]:
    """Figures with a target. `rows`: the worst of each name; `tests`: of each name and test. Tightest first.

    `shared`: conditions that are the same wherever they are given, said once.
    """
    found = figures.worst(records)
    seen: dict[str, set[str]] = defaultdict(set)
    times: Counter[str] = Counter(k for w in found for k in w.conditions)
    for w in found:
        for k, v in w.conditions.items():
            seen[k].add(str(v))
    shared = {k: next(iter(v)) for k, v in seen.items() if len(v) == 1 and 2 * times[k] > len(found)}
    rows = [_figure_row(w, shared, links) for w in found]
    first: dict[str, dict[str, Any]] = {}
    for row in rows:
        first.setdefault(row["name"], row)
    several = len(first) < len(rows)
    by_name = list(first.values())
    shown = max(SHOWN_FIGURES, sum(not row["ok"] for row in by_name))
    return {
        "rows": by_name[:shown],
        "more": by_name[shown:],
        "tests": rows if several else [],
        "shared": conditions_text(shared),
        "met": sum(w.ok for w in found),
        "total": len(found),
        "names": len(by_name),
    }


def _figure_row(w: figures.Worst, shared: Mapping[str, Any], links: Links) -> dict[str, Any]:
    return {
        "name": w.name,
        "test": f"{w.block}/{w.test}",
        "test_href": links.to("t", w.block, w.test),
        "value": number(w.value),
        "target": number(w.target),
        "bound": "at least" if figures.more_is_better(w.figure) else "at most",
        "unit": w.figure.unit,
        "ok": w.ok,
        "used": w.used,
        "runs": w.runs,
        "missed": w.missed,
        "range": f"{number(w.low)} to {number(w.high)}" if w.low != w.high else "",
        "conditions": conditions_text({k: v for k, v in w.conditions.items() if k not in shared}),
        "job": job_ref(w.record, links),
        "params": w.record.job.params,
        "sim": w.record.job.sim,
        "seed": w.record.job.seed,
    }


def test_rows(
    records: Sequence[Record], points: Mapping[tuple[str, str], list[tuple[str, str]]], links: Links
) -> list[dict[str, Any]]:
    """Every test with its jobs: how many passed, the slowest run, its test points. The slowest first."""
    groups: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for r in records:
        groups[r.job.block, r.job.test].append(r)
    rows = []
    for (block, test), members in groups.items():
        ran = [r for r in members if r.verdict != "notrun"]
        slowest = max(ran, key=lambda r: r.run_s, default=None)
        rows.append(
            {
                "id": links.place("t", block, test),
                "name": f"{block}/{test}",
                "jobs": len(members),
                "passed": sum(r.verdict == "pass" for r in members),
                "bad": [job_ref(r, links) for r in members if r.bad][:SHOWN_JOBS],
                "bad_count": sum(r.bad for r in members),
                "known": sum(r.known for r in members),
                "max_s": slowest.run_s if slowest else None,
                "sum_s": sum(r.run_s for r in ran),
                "slowest": job_ref(slowest, links) if slowest else None,
                "points": [
                    (p if where == block else f"{where}/{p}", links.to("p", where, p))
                    for where, p in points.get((block, test), [])
                ],
            }
        )
    return sorted(rows, key=lambda r: (-(r["max_s"] or 0), r["name"]))


def build_rows(data: PageData) -> list[dict[str, Any]]:
    """Builds and their seconds, the slowest first; from the jobs' records where the summary has none."""
    rows = [
        {
            "name": str(b.get("name", "")),
            "seconds": float(b.get("seconds") or 0),
            "cached": bool(b.get("cached")),
            "verdict": b.get("verdict", "pass"),
        }
        for b in data.summary.get("builds") or []
    ]
    if not rows:
        took: dict[str, float] = {}
        for r in data.records:
            if r.verdict != "notrun":
                kind = ", coverage" if r.job.coverage else ""
                name = f"{r.job.block} {r.job.params} for {r.job.sim}{kind}"
                took[name] = max(took.get(name, 0.0), r.build_s)
        rows = [{"name": n, "seconds": s, "cached": False, "verdict": "pass"} for n, s in took.items()]
    return sorted(rows, key=lambda r: (r["verdict"] == "pass", -r["seconds"], r["name"]))


def job_rows(records: Sequence[Record], links: Links) -> list[dict[str, Any]]:
    """Every job, in the plan's order."""
    rows = []
    for r in records:
        ref = job_ref(r, links)
        reason = "" if r.verdict == "pass" else (r.reason.splitlines() or [""])[0][:160]
        if r.verdict == "timeout" and r.cycle is not None and "cycle" not in reason:
            reason += f"; reached cycle {r.cycle:,}"
        lost = [a for a in r.attempts if a.ended != "done"]
        if lost:
            reason = "; ".join(filter(None, [reason, f"started again {len(lost)} x: {lost[-1].ended[:100]}"]))
        rows.append(
            {
                **ref,
                "id": links.place("j", str(r.job.number)),
                "verdict": "expected" if r.known else r.verdict,
                "test": f"{r.job.block}/{r.job.test}",
                "params": r.job.params,
                "sim": r.job.sim,
                "seed": r.job.seed,
                "seconds": "" if r.verdict == "notrun" else f"{r.run_s:.1f}",
                "reason": reason,
            }
        )
    return rows
