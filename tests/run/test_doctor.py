# SPDX-License-Identifier: BSD-3-Clause
"""Asking hosts: several at once, and some that do not answer. A recorded machine is a host whose shell is `cat`."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from tests.lab.texts import lab_text
from tests.run.conftest import Cluster

from vaiven.errors import VaivenError
from vaiven.run import doctor
from vaiven.run.doctor import Patient

ANSWERS = Path(__file__).parent / "machines"


def patient(name: str, interface: str = "") -> Patient:
    def argv(command: Sequence[str]) -> list[str]:
        return ["cat", str(ANSWERS / f"{name}.txt")] if command[0] == "sh" else ["true"]

    return Patient(name, argv, ("vaiven-probe",), interface)


def test_two_nodes_are_judged_by_the_card_between_them() -> None:
    found = doctor.examine([patient("node1", "eno2"), patient("node2", "eno2")], listen_s=0)
    assert {name: link.name for name, link in found.links.items() if link} == {"node1": "eno2", "node2": "eno2"}
    assert {f.code for f in found.findings} == {"mtu-mismatch", "speed-mismatch"} and found.silent == []


def test_without_a_card_the_way_out_is_judged() -> None:
    assert doctor.examine([patient("node1"), patient("node2")], listen_s=0).findings == []


def test_hosts_that_cannot_take_part_in_multicast_are_told_so() -> None:
    found = doctor.examine([patient("node1"), patient("node2")], listen_s=1)
    assert {(f.host, f.code) for f in found.findings} == {
        ("node1", "multicast-unknown"),
        ("node2", "multicast-unknown"),
    }


def test_a_host_that_does_not_answer_is_named_and_the_others_are_judged() -> None:
    away = Patient("away", lambda _: ["sh", "-c", "echo warming up >&2; echo no route to host >&2; exit 255"], ())
    gone = Patient("gone", lambda _: ["/nowhere/ssh", "gone"], ())
    found = doctor.examine([away, gone, patient("notebook")])
    assert found.silent == ["away", "gone"] and list(found.machines) == ["notebook"]
    assert "wireless" in {f.code for f in found.findings}
    told = next(f for f in found.findings if f.host == "away")
    assert told.what == "the host away does not answer: no route to host" and told.remedy.startswith("tried: sh -c")


def test_a_name_that_can_be_no_host_is_refused() -> None:
    with pytest.raises(VaivenError, match="not the name of a host"):
        doctor.visit(["-oProxyCommand=reboot"])


def test_a_host_that_ssh_cannot_reach_is_a_finding() -> None:
    found = doctor.visit(["localhost", "no-such-host.invalid"])
    assert found.silent == ["no-such-host.invalid"] and list(found.machines) == ["localhost"]
    assert doctor.visit(["nor-this.invalid", "nor-that.invalid"]).silent == ["nor-this.invalid", "nor-that.invalid"]


def test_this_machine_as_text_and_as_json(vaiven: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    text = vaiven("doctor")
    assert text.returncode == 0 and "localhost" in text.stdout, text.stderr
    said = json.loads(vaiven("doctor", "--json").stdout)
    assert said["schema"] == 1 and said["hosts"]["localhost"]["cpus"] >= 1
    assert all({"host", "code", "severity", "what", "effect", "remedy"} <= set(f) for f in said["findings"])


def test_a_silent_host_is_an_error_status(vaiven: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = vaiven("doctor", "--hosts", "localhost,no-such-host.invalid")
    assert done.returncode == 1 and "no-such-host.invalid does not answer" in " ".join(done.stdout.split())


@pytest.fixture
def lab(vaiven: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, monkeypatch) -> Iterator[str]:
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path / "state"))
    (tmp_path / "ward.toml").write_text(lab_text("ward", 3, prefix="ward"))
    done = vaiven("lab", "up", str(tmp_path / "ward.toml"))
    assert done.returncode == 0, done.stderr
    yield "ward"
    vaiven("lab", "down", "ward")


@pytest.mark.lab
def test_hosts_of_a_lab_hear_each_other(lab: str) -> None:
    """For so long that one which begins a second after another one hears it in the second half of its time, too."""
    found = doctor.visit([f"{lab}/ward{n}" for n in (1, 2, 3)], listen_s=4)
    assert found.silent == [] and [link.name for link in found.links.values() if link] == ["eth0"] * 3
    assert [f for f in found.findings if f.code.startswith(("multicast", "mtu"))] == []


@pytest.mark.lab
def test_a_host_of_a_lab_that_drops_multicast_is_found(lab: str, vaiven) -> None:
    assert vaiven("lab", "run", f"{lab}/ward2", "--", "ip", "link", "set", "eth0", "mtu", "1400").returncode == 0
    done = vaiven(
        "lab", "run", f"{lab}/ward3", "--", "ip", "link", "set", "eth0", "allmulticast", "off", "multicast", "off"
    )
    assert done.returncode == 0, done.stderr
    found = {(f.host, f.code) for f in doctor.visit([f"{lab}/ward{n}" for n in (1, 2, 3)], listen_s=2).findings}
    assert {
        (f"{lab}/ward1", "mtu-mismatch"),
        (f"{lab}/ward3", "mtu-mismatch"),
        (f"{lab}/ward3", "multicast-off"),
    } <= found


@pytest.mark.lab
def test_machines_are_examined_over_ssh_and_nothing_stays_on_them(cluster: Cluster) -> None:
    """Two machines behind real daemons: one has another MTU, and the switch keeps multicast from the other."""
    cluster.on("node2", "ip", "link", "set", "eth0", "mtu", "1400")
    cluster.on("node2", "sysctl", "-qw", "net.ipv4.tcp_slow_start_after_idle=0")
    cluster.on("node3", "sysctl", "-qw", "net.ipv4.tcp_slow_start_after_idle=1")
    cluster.deafen("node3")
    done = cluster.vaiven("doctor", "--hosts", "node2,node3,10.1.0.99", "--listen-s", "4", "--json")
    assert done.returncode == 1, done.stderr  # one host is not there
    said = json.loads(done.stdout)
    assert set(said["hosts"]) == {"node2", "node3"} and said["hosts"]["node3"]["hostname"] == "node3"
    assert {name: link["mtu_bytes"] for name, link in said["links"].items()} == {"node2": 1400, "node3": 1500}
    found = {(one["host"], one["code"]): one for one in said["findings"]}
    assert {key for key in found if key[1].startswith(("mtu", "slow", "multicast", "no-answer"))} == {
        ("10.1.0.99", "no-answer"),
        ("node3", "mtu-mismatch"),
        ("node3", "slow-start-after-idle"),
        ("node3", "multicast-deaf"),
    }
    assert all(one["what"] and one["effect"] and one["remedy"] for one in said["findings"])
    assert list(cluster.remote.iterdir()) == []
    # What it says to type mends it.
    for code in ("mtu-mismatch", "slow-start-after-idle"):
        cluster.on("node3", *shlex.split(found["node3", code]["remedy"])[1:])  # without sudo
    again = json.loads(cluster.vaiven("doctor", "--hosts", "node2,node3", "--listen-s", "0", "--json").stdout)
    assert not {"mtu-mismatch", "slow-start-after-idle"} & {one["code"] for one in again["findings"]}
