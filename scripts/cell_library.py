# SPDX-License-Identifier: Apache-2.0
"""The cell library of `make timing` where the system's Debian has no package of it. Standard library only.

qflow-tech-osu018 is in Debian 12 and not in 13. apt itself fetches Debian 12's package from the archive that
the machine already uses, signatures checked, with lists of its own; nothing is installed.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

PACKAGE = "qflow-tech-osu018"
RELEASE = "bookworm"
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
INSIDE = "usr/share/qflow/tech/osu018/osu018_stdcells.lib"
COPY = Path(__file__).resolve().parents[1] / ".tools" / "osu018_stdcells.lib"
LIMIT_S = 300


def release() -> str:
    """Code name of this system's release, empty when it does not say."""
    try:
        lines = Path("/etc/os-release").read_text().splitlines()
    except OSError:
        return ""
    return next((x.split("=", 1)[1].strip('"') for x in lines if x.startswith("VERSION_CODENAME=")), "")


def fetch(log: Path) -> bool:
    """Put the library at ``COPY``; False when that failed. Output goes to `log`."""
    with tempfile.TemporaryDirectory() as name, log.open("a") as out:
        folder = Path(name)

        def run(command: list[str]) -> bool:
            try:
                done = subprocess.run(command, cwd=folder, stdout=out, stderr=out, check=False, timeout=LIMIT_S)
            except (OSError, subprocess.TimeoutExpired) as e:
                out.write(f"{e}\n")
                return False
            return done.returncode == 0

        try:
            sites = subprocess.run(
                ["apt-get", "indextargets", "--format", "$(SITE)", "Identifier: Packages"],
                capture_output=True, text=True, check=False, timeout=LIMIT_S,
            ).stdout.split()  # fmt: skip
        except (OSError, subprocess.TimeoutExpired):
            return False
        for part in ("lists/partial", "cache/archives/partial", "parts"):
            (folder / part).mkdir(parents=True)
        apt = ["apt-get", "-q", "-o", f"Dir::Etc::sourcelist={folder}/sources.list"]
        apt += ["-o", f"Dir::Etc::sourceparts={folder}/parts", "-o", f"Dir::State::lists={folder}/lists"]
        apt += ["-o", f"Dir::Cache={folder}/cache", "-o", "APT::Sandbox::User="]
        for site in dict.fromkeys(sites):
            (folder / "sources.list").write_text(f"deb [signed-by={KEYS}] {site} {RELEASE} main\n")
            if run([*apt, "update"]) and run([*apt, "download", PACKAGE]):
                break
        packages = list(folder.glob(f"{PACKAGE}_*.deb"))
        if not packages or not run(["dpkg-deb", "-x", str(packages[0]), "unpacked"]):
            return False
        COPY.parent.mkdir(exist_ok=True)
        COPY.write_bytes((folder / "unpacked" / INSIDE).read_bytes())
    return True
