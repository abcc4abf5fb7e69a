# SPDX-License-Identifier: Apache-2.0
"""What the engines' tests let workers do: small functions, in a module that worker processes can import."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from scripts.proc import run_group


def work(payload: dict[str, Any]) -> dict[str, Any]:
    """One task: `do` says what.

    square: x * x; hang: writes the worker's pid to `file` and sleeps, unless the file is there already;
    die: kills its own worker; raise: raises; child: as hang, but runs a simulator's stand-in, whose pids it writes.
    """
    match payload["do"]:
        case "square":
            time.sleep(payload.get("s", 0.0))
            return {"y": payload["x"] ** 2, "pid": os.getpid()}
        case "hang":
            file = Path(payload["file"])
            if not file.exists():
                file.write_text(str(os.getpid()))
                time.sleep(600)
            return {"y": "second time", "pid": os.getpid()}
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "raise":
            raise Unpicklable("no such", "thing")
        case "child":
            return child(Path(payload["file"]))
    raise AssertionError(payload)


class Unpicklable(Exception):
    """An exception that cannot be sent as it is: pickle would call it with one argument."""

    def __init__(self, a: str, b: str) -> None:
        super().__init__(f"{a} {b}")


# as make does: a process in the group that starts another one and waits
FAMILY = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
fresh = sys.argv[1] + ".new"
open(fresh, "w").write(f"{sys.argv[2]} {os.getpid()} {child.pid}")
os.rename(fresh, sys.argv[1])
child.wait()
"""


def child(file: Path) -> dict[str, Any]:
    """Run a process that has a child, as a build does; `file` gets the pids of worker, process and child."""
    if not file.exists():
        command = [sys.executable, "-c", FAMILY, str(file), str(os.getpid())]
        run_group(command, limit_s=600, cwd=file.parent, env=os.environ)
    return {"y": "second time"}
