# SPDX-License-Identifier: Apache-2.0
"""Our merge against Verilator's own: python -m scripts.coverage.outsider PROGRAM a.dat b.dat ...

PROGRAM is a verilator_coverage, for one Debian's, unpacked without installing it:
    apt-get download verilator && dpkg-deb -x verilator_*.deb there     (there/usr/bin/verilator_coverage_bin_dbg)
It merges the files; its result must have our sums at every spot and our totals in every instance. A run in
build/runs keeps its coverage.dat; runs of a regression do not. Exit code 1: they differ.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from scripts.common import EXIT_ERROR, EXIT_FAIL, EXIT_PASS, UserError
from scripts.coverage import dat, points
from scripts.coverage.merged import Merged, merge
from scripts.coverage.sums import Group
from scripts.coverage.totals import Totals


def merged(files: list[Path]) -> Merged:
    """The files as runs of one block."""
    groups = []
    for file in files:
        read = dat.read(file)
        groups.append(Group("a", "default", points.of(read), read.counts))
    return merge(groups, [])


def _instances(found: Merged) -> dict[str, Totals]:
    """Of all bench tops."""
    return {name: own for top in found.instances.values() for name, own in top.items()}


def differences(program: Path, files: list[Path]) -> list[str]:
    """Every spot and instance at which the two merges differ; UserError when the program fails."""
    with tempfile.TemporaryDirectory() as place:
        theirs = Path(place) / "merged.dat"
        done = subprocess.run(
            [str(program), "--write", str(theirs), *map(str, files)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise UserError(f"{program}: {(done.stdout + done.stderr).strip()}")
        other = merged([theirs])
    ours = merged(files)
    one = dict(zip(ours.spots, ours.hits.tolist(), strict=True))
    two = dict(zip(other.spots, other.hits.tolist(), strict=True))
    found = [
        f"{spot}: {one.get(spot)}, theirs {two.get(spot)}" for spot in {**one, **two} if one.get(spot) != two.get(spot)
    ]
    a, b = _instances(ours), _instances(other)
    found += [f"{name}: {a.get(name)}, theirs {b.get(name)}" for name in {**a, **b} if a.get(name) != b.get(name)]
    print(f"{len(files)} files, {len(one)} spots, {sum(one.values())} hits, {len(found)} differences")
    return found


def main(words: list[str]) -> int:
    """Compare and say what differs."""
    if len(words) < 2:
        print(__doc__)
        return EXIT_ERROR
    try:
        found = differences(Path(words[0]), [Path(w) for w in words[1:]])
    except UserError as e:
        print(e, file=sys.stderr)
        return EXIT_ERROR
    print(*found[:20], sep="\n")
    return EXIT_FAIL if found else EXIT_PASS


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
