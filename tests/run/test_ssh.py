# SPDX-License-Identifier: BSD-3-Clause
"""Real hosts: real sshd in three hosts of a lab. The probe is copied, checked, and gone at the end."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.run.conftest import Cluster

from vaiven import resources
from vaiven.errors import VaivenError
from vaiven.run import ssh
from vaiven.store import query

QUICK = ["--quick", "--sizes", "8,1000", "--stacks", "udp,tcp", "--no-page"]


def only_run(cluster: Cluster) -> query.Run:
    (run,) = query.runs(cluster.home / "runs")
    assert isinstance(run, query.Run), run
    return run


@pytest.mark.lab
def test_hosts_are_measured_over_ssh_and_nothing_stays(cluster: Cluster) -> None:
    done = cluster.vaiven("measure", "--hosts", "node1,node2", "--stacks", "icmp,eth,udp,tcp", "--quick", "--no-page")
    assert done.returncode == 0, done.stderr
    run = only_run(cluster)
    found = query.launches(run)
    assert set(found["stack"]) == {"icmp", "eth", "udp", "tcp"}
    assert set(found["near"]) == {"node1"}
    addresses = {name: (host["address"], host["interface"]) for name, host in run.manifest.hosts.items()}
    assert addresses == {"node1": ("10.1.0.1", "eth0"), "node2": ("10.1.0.2", "eth0")}
    assert run.manifest.hosts["node2"]["hostname"] == "node2"
    for launch in query.launch_records(run):
        assert launch.path["tx_bytes"] > launch.path["expected_tx_bytes"] / 2
    assert list(cluster.remote.iterdir()) == []


@pytest.mark.slow
@pytest.mark.lab
@pytest.mark.needs("mpirun.openmpi", "mpiexec.hydra")
@pytest.mark.parametrize(
    ("stack", "setting"), [("openmpi", "btl_tcp_if_include=eth0"), ("mpich", "UCX_NET_DEVICES=eth0")]
)
def test_mpi_is_started_by_its_own_launcher_over_ssh(cluster: Cluster, stack: str, setting: str) -> None:
    done = cluster.vaiven("measure", "--hosts", "localhost,node2", *QUICK[:3], "--stacks", stack, "--no-page")
    assert done.returncode == 0, done.stderr
    run = only_run(cluster)
    records = [one for one in query.launch_records(run) if one.stack == stack]
    assert len(records) == 8 and all(setting in one.hello["way"] for one in records)
    assert all(one.hello["far"]["hostname"] == "node2" for one in records)
    assert all(one.path["tx_bytes"] > one.path["expected_tx_bytes"] / 2 for one in records)
    assert list(cluster.remote.iterdir()) == []


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize("near", ["localhost", "node3"])
def test_the_daemons_of_pvm_are_started_over_ssh(cluster: Cluster, near: str) -> None:
    """By our connections where the first runs here, else by those of its host."""
    words = [*QUICK[:3], "--stacks", "pvm-default-xdr", "--no-page"]
    done = cluster.vaiven("measure", "--hosts", f"{near},node2", *words)
    assert done.returncode == 0, done.stderr
    records = [one for one in query.launch_records(only_run(cluster)) if one.stack.startswith("pvm")]
    assert len(records) == 8 and all("PVM 3.4" in one.hello["way"] for one in records)
    assert all(one.hello["far"]["hostname"] == "node2" for one in records)
    assert all(one.path["tx_bytes"] > one.path["expected_tx_bytes"] / 2 for one in records)
    assert list(cluster.remote.iterdir()) == []


@pytest.mark.slow
@pytest.mark.lab
def test_interface_ports_and_addresses_are_obeyed(cluster: Cluster) -> None:
    place = ["--iface", "eth0", "--ports", "41000-41020", "--bind", "node2=10.1.0.2"]
    done = cluster.vaiven("measure", "--hosts", "node1,node2", *QUICK, *place)
    assert done.returncode == 0, done.stderr
    assert query.launches(only_run(cluster)).height == 8 * 2 * 2


@pytest.mark.slow
@pytest.mark.lab
def test_a_host_that_does_not_answer_is_named_and_the_others_are_kept(cluster: Cluster) -> None:
    done = cluster.vaiven("measure", "--hosts", "node1,node2,10.1.0.99", *QUICK)
    assert done.returncode == 4, done.stderr
    assert "the host 10.1.0.99 does not answer" in done.stderr and "Not measured: 10.1.0.99" in done.stdout
    assert "this must work, and ask nothing: ssh -o BatchMode=yes 10.1.0.99 true" in done.stderr
    run = only_run(cluster)
    assert set(query.launches(run)["far"]) == {"node2"}
    assert "host-down" in [one["code"] for one in query.warnings(run)]
    alone = cluster.vaiven("measure", "--hosts", "10.1.0.98,10.1.0.99", *QUICK)
    assert alone.returncode == 1
    assert "the host 10.1.0.98 does not answer" in alone.stderr
    assert len(query.runs(cluster.home / "runs")) == 1
    assert list(cluster.remote.iterdir()) == []


def begun(cluster: Cluster, hosts: str) -> subprocess.Popen[str]:
    """A long run that has some launches already."""
    words = ["--sizes", "64", "--stacks", "udp,tcp", "--launches", "14", "--no-page"]
    process = subprocess.Popen(
        cluster.command("measure", "--hosts", hosts, *words), env=cluster.environment(),
        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while len(list(cluster.home.glob("runs/*/launches/*.json"))) < 6:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return process


def vaiven_pid(cluster: Cluster) -> int:
    """The process that runs `vaiven` on node1, whatever stands before it."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_text().split("\0")
            if words[1:4] == ["-m", "vaiven", "measure"] and (process / "cwd").readlink() == cluster.home:
                return int(process.name)
        except OSError:
            continue
    raise AssertionError("vaiven does not run")


@pytest.mark.lab
def test_an_interrupted_run_leaves_no_copy_and_no_probe(cluster: Cluster) -> None:
    process = begun(cluster, "node1,node2")
    assert len(list(cluster.remote.glob("vaiven-*/vaiven-probe"))) == 2
    os.kill(vaiven_pid(cluster), signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert "vaiven measure --resume" in said
    assert only_run(cluster).state == "stopped"
    assert list(cluster.remote.iterdir()) == []
    assert [path for path in Path("/proc").glob("[0-9]*/exe") if str(cluster.remote) in os.path.realpath(path)] == []


@pytest.fixture
def private() -> Iterator[Path]:
    """A directory for temporary files whose name leaves room for that of a socket of ssh, 108 bytes in all."""
    with tempfile.TemporaryDirectory(dir="/tmp") as path:
        yield Path(path)


@pytest.mark.lab
def test_a_run_that_is_killed_leaves_nothing_on_its_hosts_and_the_next_one_cleans_up_here(
    cluster: Cluster, private: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(private))
    process = begun(cluster, "node1,node2")
    assert len(list(cluster.remote.glob("vaiven-*/vaiven-probe"))) == 2
    os.kill(vaiven_pid(cluster), signal.SIGKILL)
    process.communicate(timeout=120)
    deadline = time.monotonic() + 60
    while list(cluster.remote.iterdir()) or connections(private):
        assert time.monotonic() < deadline, (list(cluster.remote.iterdir()), connections(private))
        time.sleep(0.05)
    assert len(list(private.glob("vaiven-ssh-*"))) == 2
    monkeypatch.setattr(ssh.tempfile, "tempdir", str(private))
    while left := list(private.glob("vaiven-ssh-*")):  # an ssh that is still ending holds its directory, and touches it
        assert time.monotonic() < deadline, left
        for path in left:
            os.utime(path, (0, 0))
        ssh._sweep()
        time.sleep(0.05)


def connections(private: Path) -> list[str]:
    """The ssh that still run for this directory."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = process.read_text().replace("\0", " ")
        except OSError:
            continue
        if words.startswith("ssh ") and str(private) in words:
            found.append(words)
    return found


@pytest.mark.lab
@pytest.mark.slow
def test_a_host_that_dies_in_the_middle_costs_its_own_results(cluster: Cluster) -> None:
    process = begun(cluster, "node1,node2,node3")
    os.kill(cluster.lab.hosts[2].namespace.pid, signal.SIGKILL)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    run = only_run(cluster)
    assert "the host node3 does not answer" in said
    found = query.launches(run)
    assert set(found.filter(found["far"] == "node2")["block"]) == set(range(14))
    assert 0 < found.filter(found["far"] == "node3").height < 28


class Here(ssh.Connection):
    """A connection that stays on this machine."""

    def argv(self, command: Sequence[str]) -> list[str]:
        return list(command)


def test_a_connection_of_a_run_that_goes_on_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ssh.tempfile, "tempdir", str(tmp_path))
    for name in ("vaiven-ssh-held", "vaiven-ssh-left", "vaiven-ssh-young", "vaiven-ssh-nothing", "vaiven-other"):
        (tmp_path / name).mkdir()
        if name != "vaiven-ssh-nothing":
            (tmp_path / name / "log").touch()
        if name != "vaiven-ssh-young":
            os.utime(tmp_path / name, (0, 0))
    with (tmp_path / "vaiven-ssh-held" / "log").open() as log:
        fcntl.flock(log, fcntl.LOCK_EX)
        ssh._sweep()
    assert {path.name for path in tmp_path.iterdir()} == {
        "vaiven-ssh-held", "vaiven-ssh-young", "vaiven-ssh-nothing", "vaiven-other",
    }  # fmt: skip


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Here:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return Here("here", tmp_path / "none")


def test_a_copy_is_whole_private_and_removed(here: Here, tmp_path: Path) -> None:
    program = resources.program("vaiven-probe")
    with ssh.installed(here, {"vaiven-probe": program, "another": program}) as copies:
        for name, copy in copies.items():
            assert Path(copy).name == name and Path(copy).read_bytes() == program.read_bytes()
            assert Path(copy).parent.parent == tmp_path
            assert Path(copy).stat().st_mode & 0o777 == 0o700
            assert Path(copy).parent.stat().st_mode & 0o777 == 0o700
    assert list(tmp_path.iterdir()) == []


def test_a_copy_that_differs_is_refused_and_removed(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "sha256sum").write_text("#!/bin/sh\necho 0000 -\n")
    (tools / "sha256sum").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    with pytest.raises(VaivenError) as caught, ssh.installed(here, {"vaiven-probe": resources.program("vaiven-probe")}):
        pass
    assert caught.value.code == "bad-copy"
    assert list(tmp_path.iterdir()) == [tools]


def test_a_copy_is_removed_when_work_fails(here: Here, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), ssh.installed(here, {"vaiven-probe": resources.program("vaiven-probe")}):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["", "-oProxyCommand=id", "a b", "a;id", "$(id)", "`id`", "a\nb", "a/b", "root@-x", "a'b", "@a", "ünï"]
)
def test_a_name_that_ssh_could_misread_is_refused(name: str) -> None:
    with pytest.raises(VaivenError) as caught, ssh.connected(name):
        pass
    assert caught.value.code == "bad-host"


@pytest.mark.parametrize("name", ["node1", "user@node-1.example.org", "10.1.0.2", "fe80::1", "NODE_1"])
def test_usual_names_are_taken(name: str) -> None:
    assert ssh.checked_name(name) == name


def test_arguments_are_quoted_for_the_other_side() -> None:
    command = ssh.Connection("h", Path("/s")).argv(["echo", "a b", "$(id)", "it's", ";"])
    assert command[-3:-1] == ["--", "h"]
    said = subprocess.run(["sh", "-c", command[-1]], capture_output=True, text=True, check=True)
    assert said.stdout == "a b $(id) it's ;\n"
