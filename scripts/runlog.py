# SPDX-License-Identifier: Apache-2.0
"""What a simulation said: its log as it grows, cocotb's results, and the lines that say why it failed."""

from __future__ import annotations

import json
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from scripts.common import ROOT, tail

PROGRESS = "@progress "
TELLING = re.compile(r"\b(ERROR|CRITICAL|FATAL|\w*Error|%Error|\w+Exception|Assertion|Traceback|mismatch)|FAILED")
RAISED = re.compile(r"\b(\w+(?:Error|Exception): .+)")
HDL_STOP = re.compile(r"^FATAL:|^ERROR: \S+:\d+:|%Fatal:|%Error: .*Assertion failed")


class LogFollower:
    """Reads the bench's progress lines from the growing log."""

    def __init__(self, log: Path, show: Callable[[dict[str, Any] | None], None]) -> None:
        self.log, self.show = log, show
        self.offset = 0
        self.latest: dict[str, Any] | None = None

    def tick(self) -> None:
        with suppress(OSError), self.log.open("rb") as f:
            f.seek(self.offset)
            chunk = f.read(1 << 20)
            whole = chunk.rfind(b"\n") + 1
            self.offset += whole
            for line in chunk[:whole].decode("utf-8", "replace").splitlines():
                at = line.find(PROGRESS)
                if at >= 0:
                    with suppress(json.JSONDecodeError):
                        self.latest = json.loads(line[at + len(PROGRESS) :])
        self.show(self.latest)


def read_xml(path: Path) -> tuple[int, list[str]]:
    """Number of tests that ran and the text of each failure; FileNotFoundError, ET.ParseError."""
    ran, failures = 0, []
    for case in ET.parse(path).getroot().iter("testcase"):
        if case.find("skipped") is not None:
            continue
        ran += 1
        for bad in (*case.iter("failure"), *case.iter("error")):
            text = (bad.get("message") or bad.get("error_msg") or bad.text or "").strip()
            failures.append(f"{case.get('name')}: {text or 'no message'}")
    return ran, failures


def hdl_stop(run_dir: Path) -> str:
    """The log's line with which the HDL itself ended the simulation (an assertion); empty if none."""
    return next((x.strip() for x in tail(run_dir / "sim.log", 500) if HDL_STOP.search(x)), "")


def raised(run_dir: Path) -> str:
    """The last exception that the log names; empty if none."""
    found = [m[1] for x in tail(run_dir / "sim.log", 200) if (m := RAISED.search(x))]
    return found[-1][:200] if found else ""


def telling_lines(run_dir: Path, count: int = 24) -> list[str]:
    """What went wrong: the rest of a failed test's message, else the log's last lines that say so."""
    with suppress(OSError, ET.ParseError):
        _, failures = read_xml(run_dir / "results.xml")
        said = [x[:180] for x in (failures or [""])[0].splitlines()[1:] if x.strip()]
        if said:
            return said[:count]
    lines = [x for x in tail(run_dir / "sim.log", 2000) if PROGRESS not in x]
    telling = [x for x in lines if TELLING.search(x)]
    return [x.strip().replace(f"{ROOT}{os.sep}", "")[:240] for x in (telling or lines)[-12:]]
