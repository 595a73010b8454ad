# SPDX-License-Identifier: BSD-3-Clause
"""Stacks that are programs of others, udpcast and uftp: the real ones on a lab, and what becomes of what goes wrong."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.joined import hosts_of
from tests.lab.texts import lab_text
from tests.pvm.frames import captured

from vaiven.plan import ends
from vaiven.plan import stack as stacks
from vaiven.plan.design import Available
from vaiven.plan.order import Launch
from vaiven.plan.schema import Effort
from vaiven.plan.sweep import Limits
from vaiven.run import collect, launchers, libraries, place
from vaiven.run.hosts import Host
from vaiven.run.launchers import Outcome, Setting
from vaiven.run.place import Place
from vaiven.store.record import SETUP_PART

LAB = lab_text("programs", 3, prefix="p")
SIZES = (1, 1456, 1457, 300_000)  # 1456 and 1448 bytes fill a datagram of theirs
PROGRAMS = "udp-sender|udp-receiver|uftp|uftpd"


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with hosts_of(LAB, tmp_path_factory.mktemp("state")) as found:
        yield found


def launch(hosts: Place, stack: str, *sizes: int, fars: tuple[str, ...] = ("p2", "p3")) -> Outcome:
    """A fanout from p1."""
    work = Launch(0, 0, stacks.parse(stack), "fanout", "p1", ends.join(fars), sizes)
    effort = Effort(samples=3, cell_ms=60_000, timeout_ms=60_000, launch_s=300)
    setting = Setting(place.known_stacks().stacks, effort, None, 0.0, one_clock=True)
    near, *ends_there = (hosts.hosts[name] for name in ("p1", *fars))
    return launchers.launch(work, near, ends_there, setting, lambda _cell: None)


def running(hosts: Place, name: str) -> list[str]:
    """The process ids of such programs on that host, as it numbers them."""
    found = subprocess.run(hosts.hosts[name].argv(["pgrep", "-x", PROGRAMS]), capture_output=True, text=True)
    return found.stdout.split()


@pytest.fixture
def nothing_left(hosts: Place) -> Iterator[None]:
    yield
    assert [running(hosts, name) for name in hosts.hosts] == [[], [], []]
    for host in hosts.hosts.values():
        held = subprocess.run(host.argv(["ls", "/dev/shm"]), capture_output=True, text=True, check=True)
        assert "vaiven-" not in held.stdout


@pytest.mark.lab
@pytest.mark.parametrize("stack", ["udpcast", "uftp"])
def test_one_transmission_brings_everybody_the_right_bytes(hosts: Place, nothing_left, stack: str) -> None:
    with captured(hosts.hosts["p1"]) as seen:
        outcome = launch(hosts, stack, *SIZES)
    assert outcome.failure is None, outcome.failure
    whole = [cell for cell in outcome.cells if cell.whole]
    assert [cell.size_bytes for cell in whole] == list(SIZES)
    for cell in whole:
        assert (len(cell.ns), cell.lost, cell.corrupt, cell.cpu_near_ns) == (3, 0, 0, None)
        assert all(ns > 0 for ns in cell.ns)
    setups = [cell.ns for cell in outcome.cells if cell.part == SETUP_PART]
    assert len(setups) == len(SIZES) and all(ns > 0 for each in setups for ns in each)
    messages_bytes = sum((len(cell.ns) + cell.warmup) * cell.size_bytes for cell in whole)
    assert seen["udp"] > messages_bytes > 2 * seen["to_single_hosts"]


@pytest.mark.lab
@pytest.mark.parametrize("stack", ["udpcast", "uftp"])
def test_one_receiver_is_enough(hosts: Place, nothing_left, stack: str) -> None:
    outcome = launch(hosts, stack, 1000, fars=("p2",))
    assert outcome.failure is None, outcome.failure


def with_path(hosts: Place, directory: Path, *, alone: bool) -> Place:
    """The same hosts, but p2 finds programs in this directory, first or alone."""
    p2 = hosts.hosts["p2"]
    words = f"PATH={directory}" if alone else f"PATH={directory}:/usr/bin:/bin"
    return replace(hosts, hosts=hosts.hosts | {"p2": replace(p2, probe=("/usr/bin/env", words, *p2.probe))})


@pytest.mark.lab
@pytest.mark.parametrize(
    ("stack", "program", "words"),
    [("udpcast", "udp-receiver", "status 3 and said last: out of order"), ("uftp", "uftpd", "its program ended with")],
)
def test_a_program_that_dies_ends_the_launch(
    hosts: Place, nothing_left, tmp_path: Path, stack: str, program: str, words: str
) -> None:
    (tmp_path / program).write_text("#!/bin/sh\necho out of order >&2\nexit 3\n")
    (tmp_path / program).chmod(0o755)
    outcome = launch(with_path(hosts, tmp_path, alone=False), stack, 8)
    assert outcome.failure and outcome.failure.code == "program-failed", outcome.failure
    assert f"{stack}: " in outcome.failure.what and words in outcome.failure.what


@pytest.mark.lab
def test_two_receivers_on_one_host_are_refused(hosts: Place, nothing_left) -> None:
    outcome = launch(hosts, "udpcast", 8, fars=("p2", "p2"))
    assert outcome.failure and outcome.failure.code == "one-host" and "one far end on each" in outcome.failure.remedy


@pytest.mark.parametrize(("stack", "program"), [("udpcast", "udp-sender"), ("uftp", "uftp")])
def test_what_is_not_installed_is_left_out_with_its_package(monkeypatch, tmp_path, stack: str, program: str) -> None:
    (tmp_path / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(tmp_path))
    absent = place.known_stacks().stacks[stack].absent
    assert absent == f"this machine has no program {program}; there: apt-get install {stack}"


@pytest.mark.parametrize(("stack", "program"), [("udpcast", "udp-sender"), ("uftp", "uftp")])
def test_programs_are_looked_for_where_they_will_run(tmp_path: Path, stack: str, program: str) -> None:
    """Not here: h1 and h3 have it, whatever this machine has, and h2 has not."""
    (tmp_path / program).write_text("#!/bin/sh\n")
    (tmp_path / program).chmod(0o755)

    def host(name: str, path: Path) -> Host:
        return Host(name, "10.0.0.1", "", "", (), lambda words: ["env", f"PATH={path}", f"/bin/{words[0]}", *words[1:]])

    known = collect.Known({stack: Available(Limits(1, 9), ("fanout",), program=program, absent="not here")}, "")
    h1, h2, h3 = host("h1", tmp_path), host("h2", tmp_path / "nothing"), host("h3", tmp_path)
    assert libraries.at_hosts(known, [h1, h3], [stack]).stacks[stack].absent == ""
    absent = libraries.at_hosts(known, [h1, h2, h3], [stack]).stacks[stack].absent
    assert absent == f"h2 has no program {program}; there: apt-get install {stack}"
    assert libraries.at_hosts(known, [h2], ["tcp"]) == known  # nobody wants it


@pytest.mark.lab
@pytest.mark.parametrize(("stack", "program"), [("udpcast", "udp-receiver"), ("uftp", "uftpd")])
def test_a_host_without_it_is_named(hosts: Place, nothing_left, tmp_path: Path, stack: str, program: str) -> None:
    outcome = launch(with_path(hosts, tmp_path, alone=True), stack, 8)
    assert outcome.failure and outcome.failure.code == "no-program", outcome.failure
    assert f"{hosts.hosts['p2'].address} has no program {program}: apt-get install {stack}" in outcome.failure.what
