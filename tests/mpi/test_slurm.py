# SPDX-License-Identifier: BSD-3-Clause
"""Inside a real Slurm allocation: a slurmctld, and a slurmd on each host of a lab, start the ranks."""

from __future__ import annotations

import os
import secrets
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from vaiven.plan.stack import Stack
from vaiven.run import mpi
from vaiven.run.place import Place

from ..joined import until
from .test_ends import ended
from .test_recipe import built_on_pmix

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs("slurmctld", "munged"),
]
CONFIG = """\
ClusterName=lab
SlurmctldHost=m1(10.1.0.1)
AuthType=auth/munge
AuthInfo=socket={home}/munge.socket
SlurmUser=root
StateSaveLocation={home}/state
SlurmdSpoolDir={home}/spool.%n
SlurmctldPidFile={home}/slurmctld.pid
SlurmdPidFile={home}/slurmd.%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
ReturnToService=2
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
NodeName=m1 NodeAddr=10.1.0.1 CPUs=2 State=UNKNOWN
NodeName=m2 NodeAddr=10.1.0.2 CPUs=2 State=UNKNOWN
"""


@pytest.fixture(scope="module")
def allocation(two, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A job that holds m1 and m2. Daemons on the hosts end with them, munged here."""
    home = tmp_path_factory.mktemp("slurm")
    home.chmod(0o755)
    (home / "state").mkdir()
    (home / "slurm.conf").write_text(CONFIG.format(home=home))
    (home / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nCgroupMountpoint=/sys/fs/cgroup\n")
    (home / "mpi.conf").write_text("PMIxCliTmpDirBase=/dev/shm\n")  # each host has its own
    started: list[subprocess.Popen[bytes]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLURM_CONF", str(home / "slurm.conf"))
        try:
            _start_munge(home, started)
            near, far = two.hosts.values()
            for host, command in ((near, "slurmctld"), (near, "slurmd"), (far, "slurmd")):
                _start(home, started, host.argv([command, "-D"]), f"{command}.{host.name}")
            job = _allocated(near)
            patch.setenv("SLURM_JOB_ID", job)
            yield job
        finally:
            for process in reversed(started):
                process.kill()
                process.wait()


def _start(home: Path, started: list[subprocess.Popen[bytes]], command: list[str], name: str) -> None:
    with open(home / f"{name}.log", "wb") as log:
        started.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log))


def _start_munge(home: Path, started: list[subprocess.Popen[bytes]]) -> None:
    key = home / "munge.key"
    key.write_bytes(secrets.token_bytes(1024))
    key.chmod(0o400)
    files = {"key-file": key, "socket": home / "munge.socket", "pid-file": home / "munge.pid"}
    files |= {"log-file": home / "munge.log", "seed-file": home / "munge.seed"}
    words = [f"--{name}={path}" for name, path in files.items()]
    _start(home, started, ["munged", "--foreground", "--force", *words], "munged")
    until(lambda: (home / "munge.socket").exists())


def _allocated(near) -> str:
    """The number of a job on both hosts, as soon as both daemons have registered."""
    said = []

    def held() -> bool:
        command = ["salloc", "--no-shell", "--nodes=2", "--immediate=5"]
        done = subprocess.run(near.argv(command), capture_output=True, text=True, timeout=60)
        said[:] = [done.stderr]
        return done.returncode == 0

    until(held)
    return said[0].split("Granted job allocation ")[1].split()[0]


@pytest.mark.parametrize("stack", ["openmpi", "openmpi-nagle"])
def test_srun_starts_the_ranks_of_a_launch(launch, allocation: str, stack: str) -> None:
    assert os.environ["SLURM_JOB_ID"] == allocation
    outcome = launch(stack, 1, 1000, 100_000)
    assert outcome.failure is None, outcome.failure
    assert all(cell.corrupt == cell.lost == 0 for cell in outcome.cells)
    hello = outcome.hello
    assert (hello["near"]["hostname"], hello["far"]["hostname"]) == ("m1", "m2")
    assert f"use_nagle={int(stack.endswith('nagle'))}" in hello["way"] and "btl=tcp,self" in hello["way"]


def test_its_ranks_open_a_group_by_pmix(two: Place, allocation: str, tmp_path: Path) -> None:
    program = built_on_pmix(tmp_path)
    ranks = [mpi.Rank(host, (str(program), host.address)) for host in two.hosts.values()]
    lines = ended("openmpi", ranks, mpi.manner(Stack("openmpi"), ranks))
    assert lines == [f"rank {n}: once for everybody" for n in range(2)]
