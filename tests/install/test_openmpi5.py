# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI 5.0, which Debian 13 has: vaiven is installed there from its sources as the manual says, and programs go by
its components."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.install.conftest import ROOT, Debian

pytestmark = [pytest.mark.slow, pytest.mark.lab, pytest.mark.needs("mmdebstrap", "dpkg-buildpackage", "dh")]
PACKAGES = ("build-essential", "pkg-config", "python3-venv", "libopenmpi-dev", "openmpi-bin")
HEADERS = """
sed 's/^deb /deb-src /' /etc/apt/sources.list >/etc/apt/sources.list.d/sources.list
apt-get update
apt-get source --download-only openmpi
tar xf openmpi_*.orig.tar.xz --wildcards '*/opal/mca/threads/pthreads/*.h' --strip-components 1
"""


@pytest.fixture(scope="module")
def home(debian, given: Path) -> Debian:
    """A Debian 13 with vaiven in /opt/vaiven, and a program that checks every byte it gets."""
    there = debian("trixie")
    there.said("apt-get", "update")
    there.said("apt-get", "install", "-y", "--no-install-recommends", *PACKAGES, timeout_s=900)
    there.said("sh", "-euc", HEADERS)
    sources, _ = there.take(*(given / "dist").glob("*.tar.gz"), ROOT / "tests/mpi/collectives.c")
    there.said("python3", "-m", "venv", "/opt/vaiven")
    option = "--config-settings=setup-args=-Dopenmpi_sources=/root"
    there.said("pip", "install", "-q", option, sources, timeout_s=900)
    there.said("mpicc", "-O2", "-pthread", "collectives.c", "-o", "collectives")
    return there


def test_it_is_that_release(home: Debian) -> None:
    assert "Open MPI) 5.0." in home.said("mpirun", "--version")


@pytest.mark.parametrize("what", ["sizes", "types", "gathers", "reduces", "communicators", "many", "begun", "threads"])
def test_collective_operations_go_by_multicast(home: Debian, what: str) -> None:
    verbose = ("env", "VAIVEN_VERBOSE=1", "vaiven", "run", "--lab", "free", "-n", "4")
    done = home.run(*verbose, "--stack", "openmpi:group", "--", "./collectives", what)
    assert (done.returncode, done.stdout) == (0, "4 ranks, 0 wrong\n"), done.stderr
    assert "vaiven: collective operations of 4 ranks go by multicast from" in done.stderr


@pytest.mark.parametrize("what", ["sizes", "types", "mixed", "threads"])
def test_messages_go_over_llc(home: Debian, what: str) -> None:
    """With TCP in the list, but no rank that says that it has no LLC."""
    done = home.run("vaiven", "run", "--lab", "free", "-n", "4", "--stack", "openmpi-llc", "--", "./collectives", what)
    assert (done.returncode, done.stdout) == (0, "4 ranks, 0 wrong\n"), done.stderr
    assert "vaiven:" not in done.stderr


def test_both_are_measured_beside_its_own(home: Debian) -> None:
    """In a measurement there is no TCP in the list of openmpi-llc."""
    home.said("vaiven", "measure", "--lab", "free", "--quick", "--stacks", "tcp,openmpi,openmpi-llc")
    costs = json.loads(home.said("vaiven", "model", "last", "--json"))["costs"]
    assert {one["stack"] for one in costs} >= {"tcp", "openmpi", "openmpi-llc"}
