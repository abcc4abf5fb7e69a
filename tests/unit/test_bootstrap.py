# SPDX-License-Identifier: Apache-2.0
"""Set-up on machines that lack something: one clear message with one command, code 2, nothing changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import bootstrap, cell_library, needs
from scripts.common import ROOT

FILES = ("__init__.py", "bootstrap.py", "common.py", "doctor.py", "cell_library.py", "needs.py", "tools.py")


@pytest.fixture
def bare(tmp_path):
    """A clone without its environment, and a PATH with nothing on it but Python."""
    (tmp_path / "scripts").mkdir()
    for name in FILES:
        shutil.copy(ROOT / "scripts" / name, tmp_path / "scripts" / name)
    for name in ("requirements.txt", "requirements.in"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "bin").mkdir()
    return tmp_path


def call(bare: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    fields = {"PATH": str(bare / "bin"), "HOME": str(bare), needs.NO_INSTALL: "1", **env}
    command = [os.path.realpath(sys.executable), str(bare / "scripts" / "bootstrap.py"), *words]
    return subprocess.run(command, cwd=bare, env=fields, capture_output=True, text=True, check=False, timeout=60)


def fake_python(bare: Path, facts: str) -> str:
    """An interpreter that answers the probe with `facts`."""
    path = bare / "bin" / "fakepython"
    path.write_text(f"#!/bin/sh\necho '{facts}'\n")
    path.chmod(0o755)
    return str(path)


def test_missing_packages_come_with_one_command(bare):
    done = call(bare, "test", MICROHOP_PYTHON=os.path.realpath(sys.executable))
    assert done.returncode == 2
    sudo = "" if os.geteuid() == 0 else "sudo "
    command = f"{sudo}apt-get update && {sudo}apt-get install -y --no-install-recommends"
    assert done.stderr.count(command) == 1
    for package in ("g++", "make", "git", "iverilog", "tshark"):
        assert package in done.stderr
    assert "ccache" not in done.stderr, "what is only faster is not demanded"
    assert not (bare / ".venv").exists()


def test_only_what_the_verb_wants(bare):
    done = call(bare, "sim", "SIM=icarus", MICROHOP_PYTHON=os.path.realpath(sys.executable))
    assert "iverilog" in done.stderr
    assert "tshark" not in done.stderr
    assert needs.needed("sim", {}) == ["g++", "make", "ccache"]
    assert "lz4" in needs.needed("sim", {"WAVES": "1"})
    assert "lz4" not in needs.needed("sim", {"WAVES": "1", "SIM": "icarus"})


def test_what_only_root_can_use_is_installed_for_root(monkeypatch):
    """Slurm's daemons: where they cannot be used or installed, the test that wants them skips."""
    for user, prefix, wanted in ((0, [], True), (0, None, False), (1000, ["sudo", "-n"], False)):
        with monkeypatch.context() as m:
            m.setattr(os, "geteuid", lambda user=user: user)
            m.setattr(needs, "prefix", lambda prefix=prefix: prefix)
            assert ("slurmd" in needs.needed("test", {})) is wanted
    assert needs.must("slurmd")
    assert not needs.must("ccache")
    assert "sbatch" not in needs.needed("regress", {"ENGINE": "slurm"})


@pytest.mark.skipif(Path("/run/systemd/system").is_dir(), reason="services run here")
def test_no_services_are_started_in_a_container(tmp_path, monkeypatch):
    monkeypatch.setattr(needs, "POLICY", tmp_path / "policy-rc.d")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with needs._no_services():
        assert subprocess.run([str(needs.POLICY)], check=False).returncode == 101
    assert not needs.POLICY.exists()
    with pytest.raises(OSError, match="full"), needs._no_services():
        raise OSError("full")
    assert not needs.POLICY.exists()
    # one that was there is not ours
    needs.POLICY.touch()
    with needs._no_services():
        pass
    assert needs.POLICY.exists()


def test_an_old_python_is_named(bare):
    fake = fake_python(bare, '{"exe": "/usr/bin/python3.9", "version": [3, 9, 2], "lib": "/x", "venv": true}')
    done = call(bare, "lint", MICROHOP_PYTHON=fake)
    assert done.returncode == 2
    assert "found 3.9.2" in done.stderr
    assert "Python 3.11 or newer" in done.stderr
    assert "Traceback" not in done.stderr


def test_debians_python_gets_its_library_and_venv(bare):
    fake = fake_python(bare, '{"exe": "/usr/bin/python3.13", "version": [3, 13, 5], "lib": null, "venv": false}')
    done = call(bare, "lint", MICROHOP_PYTHON=fake)
    assert done.returncode == 2
    assert "python3.13-venv libpython3.13" in done.stderr


def test_the_probe_knows_this_python():
    facts = bootstrap.probe(sys.executable)
    assert facts is not None
    assert facts["version"] == list(sys.version_info[:3])
    assert os.path.exists(facts["lib"])


def test_doctor_runs_on_nothing_and_says_what_is_missing(bare):
    done = call(bare, "doctor")
    assert done.returncode == 2
    rows = {line.split()[0]: line for line in done.stdout.splitlines() if line.strip()}
    for tool in ("iverilog", "tshark", "g++", "verilator", "cocotb"):
        assert "MISSING" in rows[tool]
    assert "apt-get install" in done.stdout
    assert not (bare / ".venv").exists()


def test_the_lock_is_exact_and_covers_what_is_used():
    lines = [x for x in (ROOT / "requirements.txt").read_text().splitlines() if x and not x.startswith("#")]
    assert all(x.count("==") == 1 for x in lines)
    wanted = [x for x in (ROOT / "requirements.in").read_text().splitlines() if x and not x.startswith("#")]
    assert {x.lower() for x in wanted} <= {x.lower() for x in lines}


def test_library_that_cannot_be_fetched_is_no_success(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(cell_library, "COPY", tmp_path / "lib")
    log = tmp_path / "log"
    assert cell_library.fetch(log) is False
    assert not (tmp_path / "lib").exists()
