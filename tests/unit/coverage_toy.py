# SPDX-License-Identifier: Apache-2.0
"""Small hand-made coverage.dat files of one design file, and regressions of such runs."""

from __future__ import annotations

import json
from pathlib import Path

from scripts.coverage.collect import collect
from scripts.regress.records import Job, Record, job_dir

FILE = "rtl/a/a.sv"
SOURCE = """module a;
  always_ff @(posedge clk)
    if (rst) q <= '0;
    else begin
      if (en) q <= d;
      p <= q && d;
      r <= s; end
endmodule
"""


def point(line: int, kind: str, name: str, block: str = "", instance: str = "tb.dut.a", file: str = FILE) -> str:
    """A point's keys and values, as Verilator writes them."""
    keys = {"f": file, "l": str(line), "n": "5", "t": kind, "page": f"v_{kind}/a", "o": name, "S": block, "h": instance}
    return "".join(f"\x01{key}\x02{value}" for key, value in keys.items() if value)


def at(instance: str, other: str) -> str:
    """The same point in another instance."""
    return other.partition("\x01h\x02")[0] + f"\x01h\x02{instance}"


ALWAYS = point(2, "line", "block", "2")
IF = point(3, "branch", "if", "3")
ELSE = point(3, "branch", "else", "4,6-7")
ELSIF = point(5, "line", "elsif", "5")
TERM = point(6, "expr", "(q==1 && d==1) => 1")
BIT_UP = point(7, "toggle", "q[0]:0->1")
BIT_DOWN = point(7, "toggle", "q[0]:1->0")
BENCH = point(9, "line", "block", "9", file="tb/hdl/tb.sv")


def text(counts: dict[str, int]) -> bytes:
    """A file's bytes."""
    return ("# SystemC::Coverage-3\n" + "".join(f"C '{p}' {n}\n" for p, n in counts.items())).encode()


def write(path: Path, counts: dict[str, int]) -> Path:
    """A file of these points."""
    path.write_bytes(text(counts))
    return path


class Regression:
    """A regression's folder into which runs are put one by one, of the project at `root`."""

    def __init__(self, folder: Path, root: Path) -> None:
        (root / FILE).parent.mkdir(parents=True)
        (root / "waivers").mkdir()
        self.folder, self.root = folder, root
        self.source, self.waivers = root / FILE, root / "waivers" / "a.toml"
        self.source.write_text(SOURCE)
        self.records: list[Record] = []

    def run(self, counts: dict[str, int] | None, params: str = "default", block: str = "a") -> Record:
        """A run with these counts; None: one that measured nothing."""
        job = Job(
            number=len(self.records) + 1, block=block, test="t", params=params, sim="verilator" if counts else "icarus",
            seed=1, coverage=counts is not None, build_limit_s=1, run_limit_s=1,
        )  # fmt: skip
        place = job_dir(self.folder, job.number) / "a1"
        place.mkdir(parents=True)
        made = None
        if counts is not None:
            (place / "run.json").write_text(json.dumps({"sim": "verilator"}))
            write(place / "coverage.dat", counts)
            made = collect(place)
        inside = str(made.relative_to(self.folder)) if made else None
        self.records.append(Record(job=job, verdict="pass", command="make sim", code_coverage=inside))
        return self.records[-1]
