# SPDX-License-Identifier: Apache-2.0
"""A Slurm of one node, from Debian's packages, without systemd: for tests, as root, all in one folder.

It has a munged of its own with its own key, free ports, and ends with everything that it runs.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from scripts.proc import kill_trees

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo")
PACKAGES = "munge slurmctld slurmd slurm-client"
SBIN = "/usr/sbin"
START_S = 30
CONFIGURATION = """
ClusterName=microhop
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=1000 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def path() -> str:
    """PATH with the folder of the daemons, which not everybody has on it."""
    return f"{os.environ.get('PATH', '')}{os.pathsep}{SBIN}"


def why_not() -> str:
    """Why there can be no Slurm here; empty when there can."""
    if os.geteuid() != 0:
        return "slurmd wants to be started by root"
    missing = [p for p in PROGRAMS if shutil.which(p, path=path()) is None]
    return f"no {', '.join(missing)}: apt-get install {PACKAGES}" if missing else ""


def _ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]


def _wait(what: str, ready: object, processes: list[subprocess.Popen[bytes]], folder: Path) -> None:
    limit = time.monotonic() + START_S
    while not ready():  # type: ignore[operator]
        ended = [p.args for p in processes if p.poll() is not None]
        if ended or time.monotonic() > limit:
            logs = "\n".join(f"{p.name}: {p.read_text(errors='replace')[-600:]}" for p in sorted(folder.glob("*.log")))
            raise AssertionError(f"{what} does not come up; ended: {ended}\n{logs}")
        time.sleep(0.1)


@contextmanager
def slurm_node(folder: Path, cpus: int = 2) -> Iterator[dict[str, str]]:
    """Start it; yields the environment in which sbatch finds it. `folder`: a short path, root's."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    for name in ("state", "spool"):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.touch(0o600)
    key.write_bytes(os.urandom(128))
    host = socket.gethostname().partition(".")[0]
    conf = folder / "slurm.conf"
    conf.write_text(CONFIGURATION.format(host=host, folder=folder, ports=_ports(2), cpus=cpus).lstrip())
    env = {**os.environ, "PATH": path(), "SLURM_CONF": str(conf)}
    version = subprocess.run(["slurmd", "-V"], env=env, capture_output=True, text=True, check=False).stdout
    found = re.search(r"(\d+)\.(\d+)", version)
    if found and (int(found[1]), int(found[2])) >= (23, 11):
        # from here on slurmd looks for cgroups even when no plugin wants them
        (folder / "cgroup.conf").write_text("CgroupPlugin=disabled\n")
    processes: list[subprocess.Popen[bytes]] = []

    def start(*command: str) -> None:
        with (folder / f"{command[0]}.out.log").open("w") as out:
            processes.append(
                subprocess.Popen(
                    command,
                    env=env,
                    cwd=folder,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=out,
                    start_new_session=True,
                )
            )

    def idle() -> bool:
        try:
            done = subprocess.run(["sinfo", "-h", "-o", "%T"], env=env, capture_output=True, text=True, timeout=10)
        except subprocess.TimeoutExpired:
            return False
        return done.stdout.strip() == "idle"

    try:
        munge = [f"--{name}-file={folder}/munge.{name}" for name in ("key", "pid", "log", "seed")]
        start("munged", "--foreground", "--force", f"--socket={folder}/munge.socket", *munge)
        _wait("munged", (folder / "munge.socket").exists, processes, folder)
        start("slurmctld", "-D", "-f", str(conf))
        start("slurmd", "-D", "-f", str(conf))
        _wait("Slurm", idle, processes, folder)
        yield env
    finally:
        # the jobs first: their steps are nobody's children
        steps = _jobs(folder)
        kill_trees([p.pid for p in reversed(processes)])
        kill_trees(steps)
        for p in processes:
            p.wait()


def _jobs(folder: Path) -> list[int]:
    """The jobs' processes, by this Slurm's configuration in their environment, and slurmstepd, by its folder."""
    import psutil

    ours = {os.getpid(), *(p.pid for p in psutil.Process().children(recursive=True))}
    found = []
    for process in psutil.process_iter():
        try:
            inside = process.cwd() == str(folder) or process.environ().get("SLURM_CONF") == str(folder / "slurm.conf")
            if inside and process.pid not in ours:
                found.append(process.pid)
        except psutil.Error:
            continue
    return found
