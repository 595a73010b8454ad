# SPDX-License-Identifier: BSD-3-Clause
"""Libraries that are half there: their probe was built or copied, and does not start."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from vaiven.errors import VaivenError
from vaiven.plan.design import Available
from vaiven.plan.sweep import Limits
from vaiven.run import collect, libraries
from vaiven.run.hosts import Host

FFT = Available(Limits(0, 100), ("pingpong", "fft"), library="openmpi", ranked=True)
LOST = "error while loading shared libraries: libmpi.so.40: cannot open shared object file"


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A probe without its library."""
    probe = tmp_path / "vaiven-probe-openmpi"
    probe.write_text(f'#!/bin/sh\necho "$0: {LOST}" >&2\nexit 127\n')
    probe.chmod(0o755)
    return probe


def test_here_its_stacks_are_left_out_with_the_package(broken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "probes", lambda: {"openmpi": broken})
    stacks = libraries.known(collect.Known({}, "")).stacks
    absent = stacks["openmpi-nagle"].absent
    assert LOST in absent and "apt-get install openmpi-bin" in absent
    assert "vaiven-probe-pvm is not installed" in stacks["pvm-mcast"].absent


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (None, "vaiven-fft-openmpi is not installed; apt-get install libkissfft-dev, then install vaiven again"),
        ("libkissfft-float.so.131 => not found", "vaiven-fft-openmpi needs libkissfft-float.so.131; apt-get install"),
        ("libkissfft-float.so.131 => /usr/lib/libkissfft-float.so.131 (0x1)", ""),
    ],
)
def test_a_program_that_is_not_here_is_named_with_what_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str | None, why: str
) -> None:
    monkeypatch.setattr(libraries, "_stacks", lambda name, here: {"openmpi": FFT} if name == "openmpi" else {})
    monkeypatch.setattr(libraries, "probes", lambda: dict.fromkeys(libraries.LIBRARIES, tmp_path))
    found = {"vaiven-fft-openmpi": tmp_path} if program else {}
    monkeypatch.setattr(libraries.resources, "find", found.get)
    ldd = tmp_path / "ldd"
    ldd.write_text(f"#!/bin/sh\necho '\t{program}'\n")
    ldd.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    lacking = libraries.known(collect.Known({}, "")).stacks["openmpi"].lacking
    assert lacking("fft").startswith(why) and bool(lacking("fft")) == bool(why)
    assert lacking("pingpong") == ""


def test_nobody_looks_for_whole_programs_before_a_plan_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """That takes a process for each, of every verb that knows the stacks."""

    def call(*_words: object, **_options: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(libraries, "_stacks", lambda name, here: {"openmpi": FFT} if name == "openmpi" else {})
    monkeypatch.setattr(libraries.child, "call", call)
    assert "openmpi" in libraries.known(collect.Known({}, "")).stacks


def test_on_another_host_that_host_is_named(broken: Path) -> None:
    found = libraries.that_do_not_start("h2", list, {"openmpi": (str(broken),), "mpich": ("true",)})
    assert list(found) == ["openmpi"]
    host = Host("h2", "10.0.0.2", "", "", (), list, libraries={"mpich": ("true",)}, lacking=found)
    assert host.library_probe("mpich") == ("true",)
    with pytest.raises(VaivenError, match=f"vaiven-probe-openmpi does not start on h2: .*{LOST}") as caught:
        host.library_probe("openmpi")
    assert "there: apt-get install openmpi-bin" in caught.value.remedy


LAUNCHER = """#!/bin/sh
echo "mpirun (Open MPI) 4.1.4"
"""
OPENMPI = Available(Limits(0, 100), ("pingpong",), library="openmpi", ranked=True)


@pytest.fixture
def hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with a shell's own programs, and no launcher: its directory."""
    for name in ("sh", "sed", "ldd", "bash"):
        if found := shutil.which(name):
            (tmp_path / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    return tmp_path


def test_a_library_without_its_launcher_is_not_here(hidden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {name: hidden / f"vaiven-probe-{name}" for name in ("openmpi", "pvm")}
    monkeypatch.setattr(libraries, "probes", lambda: found)
    here = Available(Limits(0, 100), ("pingpong",))
    monkeypatch.setattr(libraries, "_stacks", lambda name, _here: dict.fromkeys(libraries.LIBRARIES[name].stacks, here))
    stacks = libraries.known(collect.Known({}, "")).stacks
    assert stacks["openmpi"].absent == "this machine has no mpirun.openmpi; there: apt-get install openmpi-bin"
    assert stacks["pvm-mcast"].absent == "this machine has no pvmd; there: apt-get install pvm"
    for name in ("mpirun.openmpi", "pvmd"):
        (hidden / name).write_text(LAUNCHER)
        (hidden / name).chmod(0o755)
    stacks = libraries.known(collect.Known({}, "")).stacks
    assert (stacks["openmpi"].absent, stacks["pvm-mcast"].absent) == ("", "")


def test_a_launcher_is_looked_for_on_the_hosts_before_anything_runs(hidden: Path) -> None:
    own = collect.Known(dict.fromkeys(libraries.LIBRARIES["openmpi"].stacks, OPENMPI), "")
    two = [Host(name, "10.0.0.1", "", "", ("probe",), list, libraries={"openmpi": ("probe-x",)}) for name in ("a", "b")]
    found = libraries.at_hosts(own, two, ["openmpi", "udp"]).stacks
    assert found["openmpi"].absent == "a has no mpirun.openmpi; there: apt-get install openmpi-bin"
    (hidden / "mpirun.openmpi").write_text(LAUNCHER)
    (hidden / "mpirun.openmpi").chmod(0o755)
    assert libraries.at_hosts(collect.Known(found, ""), two, ["openmpi"]).stacks["openmpi"].absent == ""


def test_where_one_host_has_a_launcher_the_stack_is_tried(hidden: Path) -> None:
    (hidden / "mpirun.openmpi").write_text(LAUNCHER)
    (hidden / "mpirun.openmpi").chmod(0o755)
    own = collect.Known(dict.fromkeys(libraries.LIBRARIES["openmpi"].stacks, OPENMPI), "")
    without = lambda command: ["/usr/bin/env", "PATH=/nowhere", str(hidden / "sh"), *command[1:]]  # noqa: E731
    two = [Host("a", "10.0.0.1", "", "", ("probe",), argv) for argv in (without, list)]
    assert libraries.at_hosts(own, two, ["openmpi"]).stacks["openmpi"].absent == ""
    assert "no mpirun" in libraries.at_hosts(own, two[:1], ["openmpi"]).stacks["openmpi"].absent
