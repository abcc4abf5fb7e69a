# SPDX-License-Identifier: Apache-2.0
"""From a bare machine to a running verb: the virtual environment and the system's packages.

Started by the Makefile with whatever python3 there is; standard library only, and readable by old
versions of Python, so that those get a message and not a syntax error. When everything is there, a
call costs a hash of the lock file and a few look-ups on PATH.

usage: bootstrap.py <verb> [KEY=value]...   (make hands its command-line variables in MAKEFLAGS)
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

HERE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE))

from scripts import cell_library, needs  # noqa: E402  (the project's folder must be on the path first)

VENV = HERE / ".venv"
MARKER = VENV / "microhop.json"
LOCK = HERE / "requirements.txt"
LOG = HERE / "build" / "setup.log"
OLDEST = (3, 11)
CANDIDATES = ("python3", "/usr/bin/python3", "python3.13", "python3.12", "python3.11")
MAKE_ONLY = ("PYTHON",)
Facts = Dict[str, Any]

PROBE = """
import json, os, sys, sysconfig
names = {sysconfig.get_config_var(k) for k in ("INSTSONAME", "LDLIBRARY")}
dirs = [sysconfig.get_config_var("LIBDIR") or "", "/usr/lib", "/usr/local/lib"]
dirs.append(os.path.join("/usr/lib", sysconfig.get_config_var("MULTIARCH") or ""))
paths = [os.path.join(d, n) for d in dirs for n in names if n and ".so" in n]
lib = next((p for p in paths if os.path.exists(p)), None)
try:
    import ensurepip, venv
    pip = True
except ImportError:
    pip = False
print(json.dumps({"exe": sys.executable, "version": sys.version_info[:3], "lib": lib, "venv": pip}))
"""


def say(text: str) -> None:
    """One line to the person who waits."""
    print(text, file=sys.stderr, flush=True)


def stop(text: str) -> None:
    """End with the code for `could not be run`."""
    say(f"error: {text}")
    raise SystemExit(2)


def make_variables(flags: str) -> Dict[str, str]:
    """The variables on make's command line, from MAKEFLAGS: `flags -- A=1 B=two\\ words`."""
    _, dashes, text = (" " + flags).partition(" -- ")
    found: Dict[str, str] = {}
    words: List[str] = [""]
    chars = iter(text if dashes else "")
    for c in chars:
        if c == "\\":
            words[-1] += next(chars, "")
        elif c == " ":
            words.append("")
        else:
            words[-1] += c
    for word in words:
        key, equals, value = word.replace("$$", "$").partition("=")
        if equals and key not in MAKE_ONLY:
            found[key.rstrip(":+?")] = value
    return found


def probe(python: str) -> Optional[Facts]:
    """What a Python interpreter offers; None when it does not start."""
    try:
        out = subprocess.run([python, "-c", PROBE], capture_output=True, text=True, timeout=30)
        facts: Facts = json.loads(out.stdout)
        return facts
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None


def choose_python(candidates: Tuple[str, ...]) -> Tuple[Facts, List[str]]:
    """The interpreter for the environment, and the Debian packages it still wants.

    One that wants nothing is best; cocotb needs a shared libpython, which Debian packs apart.
    """
    usable: List[Tuple[Facts, List[str]]] = []
    oldest = ""
    for name in candidates:
        facts = probe(name)
        if facts is None:
            continue
        if tuple(facts["version"][:2]) < OLDEST:
            oldest = f" (found {'.'.join(map(str, facts['version']))})"
            continue
        minor = "python{}.{}".format(*facts["version"][:2])
        missing = [] if facts["venv"] else [minor + "-venv"]
        if facts["lib"] is None:
            missing.append("lib" + minor)
        if not missing:
            return facts, []
        # packages only help Debian's own interpreter
        if facts["exe"].startswith("/usr/bin/"):
            usable.append((facts, missing))
    if not usable:
        stop(
            f"no suitable Python{oldest}: wanted is Python 3.11 or newer with a shared libpython."
            " On Debian 12 or 13: " + needs.command(["python3", "python3-venv", "python3-dev"])
        )
    return usable[0]


def wanted_hash() -> str:
    """What the environment is made from; another value means that it is made anew."""
    return hashlib.sha256(LOCK.read_bytes()).hexdigest()


def environment() -> Optional[Facts]:
    """The marker of a finished environment that fits the lock; None when there is none."""
    try:
        marker: Facts = json.loads(MARKER.read_text())
    except (OSError, ValueError):
        return None
    if marker.get("lock") != wanted_hash() or marker.get("path") != str(VENV):
        return None
    return marker if os.path.exists(marker["lib"]) else None


def get_packages(packages: List[str], what_for: str) -> None:
    """Install Debian packages or stop with the one command that does."""
    if needs.prefix() is not None:
        say(f"installing {' '.join(packages)} ({what_for}); output in {LOG.relative_to(HERE)}")
        if needs.install(packages, LOG):
            return
        say("".join(f"  {x}\n" for x in LOG.read_text(errors="replace").splitlines()[-5:]).rstrip())
        stop(f"apt-get failed; try it by hand: {needs.command(packages)}{needs.hints(packages)}")
    how = needs.command(packages) + needs.hints(packages)
    stop(f"missing for {what_for}: {' '.join(packages)}. Install with:\n  {how}")


def make_environment(extra: List[str], what_for: str) -> None:
    """Make .venv from the lock, with the packages of the system that it and the verb need."""
    first = os.environ.get("MICROHOP_PYTHON")
    facts, missing = choose_python((first,) if first else (sys.executable, *CANDIDATES))
    if missing or extra:
        get_packages(missing + extra, what_for)
    if missing:
        facts = probe(facts["exe"]) or facts
        if not facts["lib"] or not facts["venv"]:
            stop(f"{facts['exe']} still lacks its shared library or venv after installing {missing}")
    version = ".".join(map(str, facts["version"]))
    say(f"making .venv with Python {version}: a minute or two, once; output in build/setup.log")
    steps = (
        [facts["exe"], "-m", "venv", "--clear", str(VENV)],
        [str(VENV / "bin/python"), "-m", "pip", "install", "--no-deps", "-r", str(LOCK)],
    )
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    with LOG.open("a") as log:
        for step in steps:
            if subprocess.run(step, stdout=log, stderr=log, env=env, check=False).returncode:
                log.flush()
                tail = LOG.read_text(errors="replace").splitlines()[-8:]
                say("\n".join("  " + x for x in tail))
                stop(f"setting up .venv failed at: {' '.join(step)}; all of its output: {LOG}")
    marker = {"lock": wanted_hash(), "path": str(VENV), "lib": facts["lib"], "python": version}
    MARKER.write_text(json.dumps(marker) + "\n")


def ensure(verb: str, given: Dict[str, str]) -> None:
    """Everything that `verb` needs, installed where that is allowed."""
    names = [n for n in needs.needed(verb, given) if needs.NEEDS[n].found() is None]
    if "osu018" in names and cell_library.release() != cell_library.RELEASE and not os.environ.get(needs.NO_INSTALL):
        LOG.parent.mkdir(exist_ok=True)
        say(f"fetching {cell_library.PACKAGE} of Debian 12 into .tools/; output in {LOG.relative_to(HERE)}")
        if cell_library.fetch(LOG):
            names.remove("osu018")
    must = [needs.NEEDS[n].package for n in names if needs.must(n)]
    nice = [needs.NEEDS[n].package for n in names if not needs.must(n)]
    if nice and (must or environment() is None) and needs.prefix() is not None:
        must += nice
    if environment() is None:
        LOG.parent.mkdir(exist_ok=True)
        with open(LOG.parent / ".venv.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if environment() is None:
                make_environment(must, f"make {verb}")
                return
    if must:
        get_packages(must, f"make {verb}")


def main(argv: List[str]) -> None:
    """Set up what is missing, then become the verb's process."""
    verb = argv[0]
    given = make_variables(os.environ.get("MAKEFLAGS", ""))
    for word in argv[1:]:
        key, _, value = word.partition("=")
        given[key] = value
    for name in (*given, "MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "MAKE_TERMERR"):
        os.environ.pop(name, None)
    os.chdir(HERE)
    settings = [f"{k}={v}" for k, v in given.items()]
    if verb == "doctor":
        # works on a bare machine too, and changes nothing
        python = str(VENV / "bin/python") if environment() else sys.executable
        os.execv(python, [python, "-m", "scripts.doctor", *settings])
    if verb == "clean" and not settings:
        shutil.rmtree(HERE / "build", ignore_errors=True)
        return
    ensure(verb, given)
    os.environ["PATH"] = f"{VENV / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"
    os.environ["VIRTUAL_ENV"] = str(VENV)
    python = str(VENV / "bin/python")
    os.execv(python, [python, "-m", "scripts.cli", verb, *settings])


if __name__ == "__main__":
    main(sys.argv[1:])
