# SPDX-License-Identifier: BSD-3-Clause
"""Collective operations by multicast under MPIs of PyPI, which vaiven was not built with: MPICH 4 and 5, Intel MPI.
Of programs in C and of mpi4py's."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from vaiven import resources
from vaiven.run import mpi, rsh
from vaiven.run.hosts import Host
from vaiven.run.place import Place

from .test_coll import FOUR, begun, check, hosts, run, served  # noqa: F401

pytestmark = pytest.mark.slow
INTEL = "impi-rt==2021.18.*"  # the last one that brings all that it needs
SOURCE = Path(__file__).parent / "collectives.c"
IN_PYTHON = """\
import numpy as np
from mpi4py import MPI
all, wrong = MPI.COMM_WORLD, 0
for count in (10, 1000, 100000):
    for root in range(all.size):
        numbers = np.arange(count) * (root + 1.0) if all.rank == root else np.zeros(count)
        all.Bcast(numbers, root=root)
        wrong += int((numbers != np.arange(count) * (root + 1)).sum())
        numbers *= all.rank == root
        all.Ibcast(numbers, root=root).Wait()
        wrong += int((numbers != np.arange(count) * (root + 1)).sum())
    all.Barrier()
thing = all.bcast({"list": list(range(1000))} if all.rank == 1 else None, root=1)
wrong += thing["list"][-1] != 999
gathered = np.empty((all.size, 8000))
all.Allgather(np.full(8000, all.rank + 0.0), gathered)
wrong += int((gathered != np.arange(all.size)[:, None]).sum())
summed = np.empty(50000)
all.Allreduce(np.full(50000, all.rank + 1.0), summed)
wrong += int((summed != all.size * (all.size + 1) / 2).sum())
wrong = all.reduce(wrong)
if all.rank == 0:
    print(f"{all.size} ranks, {wrong} wrong")
"""


@dataclass(frozen=True)
class Wheel:
    """An MPI of PyPI in an environment of its own, with mpi4py."""

    name: str
    home: Path
    program: str
    script: str


@pytest.fixture(scope="module", params=["mpich==4.3.*", "mpich==5.*", INTEL])
def wheel(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Wheel:
    """collectives.c, built against its library, and the same in Python."""
    scratch = tmp_path_factory.mktemp("wheel")
    home, program, script = scratch / "home", scratch / "program", scratch / "script.py"
    subprocess.run([sys.executable, "-m", "venv", home], check=True)
    install = [home / "bin" / "pip", "install", "-q", "--disable-pip-version-check", request.param, "mpi4py", "numpy"]
    subprocess.run(install, check=True)
    asked = ["pkg-config", "--cflags", "mpich"]  # all MPIs of this ABI have the same headers
    headers = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.split()
    library = [f"-L{home}/lib", "-lmpi", f"-Wl,-rpath,{home}/lib"]
    subprocess.run(["cc", "-O2", "-pthread", *headers, SOURCE, "-o", program, *library], check=True)
    script.write_text(IN_PYTHON)
    return Wheel(request.param, home, str(program), str(script))


def started(wheel: Wheel, where: Place, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """The command on four hosts, by the wheel's own launcher."""
    path = f"{wheel.home}/bin:/usr/bin:/bin"
    command = ("env", "-u", "PYTHONPATH", *command)  # that of these tests
    if wheel.name != INTEL:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PATH", path)
            return run("mpich", where, FOUR, command)
    members = [where.hosts[name] for name in FOUR]
    with rsh.serving(members, lambda _host, private: {"TMPDIR": str(private), "PATH": path}) as shell:
        return subprocess.run(
            members[0].argv(_intel(wheel, members, shell, path, command)), capture_output=True, text=True, timeout=120
        )


def _intel(wheel: Wheel, members: Sequence[Host], shell: Path, path: str, command: Sequence[str]) -> list[str]:
    """`vaiven run` does not know Intel's launcher, which wants its own programs first, and its transports named."""
    assigned = {
        "PATH": path, "TMPDIR": str(shell.parent), "LD_LIBRARY_PATH": f"{wheel.home}/lib", "FI_PROVIDER": "tcp",
        "FI_PROVIDER_PATH": f"{wheel.home}/lib", "FI_TCP_IFACE": "eth0", "I_MPI_FABRICS": "ofi",
        "I_MPI_HYDRA_IFACE": "eth0", "I_MPI_THREAD_YIELD": "2",
    }  # fmt: skip
    words = ["env", *(f"{key}={value}" for key, value in assigned.items()), f"{wheel.home}/bin/mpiexec.hydra"]
    words += ["-hosts", ",".join(host.name for host in members), "-launcher", "rsh", "-launcher-exec", str(shell)]
    words += ["-ppn", "1", "-n", str(len(members)), "-genv", "VAIVEN_VERBOSE", "1"]
    return [*words, "-genv", "LD_PRELOAD", str(resources.program(mpi.GROUP["mpich"])), *command]


@pytest.mark.parametrize("what", ["sizes", "types", "gathers", "reduces", "communicators", "mixed", "begun", "threads"])
def test_every_byte_of_a_program_in_c_arrives(hosts: Place, wheel: Wheel, what: str) -> None:  # noqa: F811
    done = started(wheel, hosts, (wheel.program, what))
    check(done, 4)
    assert served(done) >= 2, done.stderr


def test_every_number_of_a_program_in_python_arrives(hosts: Place, wheel: Wheel) -> None:  # noqa: F811
    """mpi4py's modules load the library for themselves, call MPI_Bcast_c, and want all threads."""
    done = started(wheel, hosts, (str(wheel.home / "bin" / "python"), wheel.script))
    check(done, 4)
    assert served(done) >= 15, done.stderr
    assert begun(done) >= 8, done.stderr
