# SPDX-License-Identifier: BSD-3-Clause
"""Launches of the PVM stacks: which path messages take, what they carry, and what becomes of what goes wrong."""

from __future__ import annotations

import glob
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from vaiven import resources
from vaiven.errors import VaivenError
from vaiven.lab import faults, topology
from vaiven.lab import lab as labs
from vaiven.lab.topology import Fault
from vaiven.run import place, pvm
from vaiven.run.place import Place

from ..joined import counters, processes, until
from .frames import captured

ENCODINGS = ("xdr", "raw", "inplace", "trans")
PROGRAM = """\
#include <pvm3.h>
#include <stdio.h>
#include <string.h>
int main(void) {
  static char data[8] = "before", got[8];
  int self = pvm_mytid();
  pvm_initsend(MODE);
  pvm_pkbyte(data, sizeof data, 1);
  strcpy(data, "after");
  pvm_send(self, 1);
  pvm_recv(self, 1);
  pvm_upkbyte(got, sizeof got, 1);
  puts(got);
  return pvm_exit();
}
"""
KEY = b"000102030405060708090a0b0c0d0e0f\n"


def daemons(where: Place) -> dict[int, list[str]]:
    """The pvmds there, and their command lines."""
    return {pid: words for pid, words in processes(where).items() if words[0] == "pvmd"}


def slaves(where: Place) -> set[int]:
    """The daemons there that another one has started."""
    return {pid for pid, words in daemons(where).items() if "-s" in words}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("route", ["default", "direct"])
def test_each_mode_brings_its_messages_and_takes_its_route(launch, two, route: str, encoding: str) -> None:
    with captured(two.hosts["m1"]) as seen:
        outcome = launch(f"pvm-{route}-{encoding}", 0, 1, 7, 1000, 100_000)
    assert outcome.failure is None, outcome.failure
    assert [cell.size_bytes for cell in outcome.cells] == [0, 1, 7, 1000, 100_000]
    assert all(cell.corrupt == cell.lost == 0 and min(cell.ns) > 0 for cell in outcome.cells)
    messages_bytes = sum(2 * len(cell.ns) * cell.size_bytes for cell in outcome.cells)
    through, beside = ("udp", "tcp") if route == "default" else ("tcp", "udp")
    assert seen[through] > messages_bytes > 0
    assert seen[beside] < 20_000  # daemons among themselves, or our control connection
    assert seen["busy_connections"] == (route == "direct")
    assert "PVM 3.4" in outcome.hello["way"] and str(pvm.SLACK_NS) in outcome.hello["way"]


@pytest.mark.parametrize(
    ("mode", "copies"), [("default-xdr", 1), ("direct-raw", 1), ("default-inplace", 0), ("direct-trans", 0)]
)
def test_the_steps_of_a_message_are_told_apart(launch, mode: str, copies: int) -> None:
    size = 800_000
    outcome = launch(f"pvm-{mode}", size, ask="steps", samples=8, cell_ms=1000)
    assert outcome.failure is None, outcome.failure
    (whole, *steps) = outcome.cells
    assert whole.corrupt == 0 and [len(step.ns) for step in steps] == [len(whole.ns)] * 4
    assert copies * size <= whole.out_bytes < copies * size + 100_000  # what lies in buffers of the library
    assert size <= whole.in_bytes < size + 100_000
    assert whole.translations == (2 if mode.endswith("xdr") else 0)  # its numbers are turned on the way out and back in
    encode_ns, send_ns, decode_ns, translate_ns = (min(step.ns) for step in steps)
    assert send_ns > 0 and decode_ns > translate_ns  # between equal hosts nothing is turned
    assert (encode_ns > decode_ns / 10) == bool(copies)  # a description alone is made in no time


@pytest.mark.parametrize("call", pvm.BROADCASTS)
def test_a_message_for_all_arrives_by_each_route_in_each_encoding(launch, two, call: str) -> None:
    sizes = (1, 9, 100_000)
    with captured(two.hosts["m1"]) as seen:
        outcome = launch(f"pvm-{call}", *sizes, fanout=2, cell_ms=1000)
    assert outcome.failure is None, outcome.failure
    whole = [cell for cell in outcome.cells if cell.whole]
    assert [cell.size_bytes for cell in whole] == list(sizes)
    assert all(cell.corrupt == cell.lost == 0 and cell.ns and min(cell.ns) > 0 for cell in whole)
    last_bytes = (len(whole[-1].ns) + whole[-1].warmup) * 2 * sizes[-1]
    through, beside = ("udp", "tcp") if "-default-" in call else ("tcp", "udp")
    assert seen[through] > last_bytes / 2 > seen[beside]


@pytest.mark.parametrize(("stack", "receivers"), [("pvm-mcast", 1), ("pvm-mcast", 3), ("pvm-bcast", 3)])
def test_a_message_for_all_is_one_for_each_on_the_cable(launch, two, stack: str, receivers: int) -> None:
    with captured(two.hosts["m1"]) as seen:
        outcome = launch(stack, 100_000, fanout=receivers, cell_ms=1000)
    assert outcome.failure is None, outcome.failure
    whole = next(cell for cell in outcome.cells if cell.whole)
    assert whole.corrupt == whole.lost == 0 and whole.ns
    each = (len(whole.ns) + whole.warmup) * whole.size_bytes
    assert receivers * each < seen["tcp"] < (receivers + 0.5) * each
    assert seen["udp"] < each / 2  # daemons among themselves, and with the server of groups


@pytest.mark.parametrize("stack", ["pvm-default-raw", "pvm-direct-inplace"])
def test_a_message_of_ten_megabytes_arrives_whole(launch, stack: str) -> None:
    outcome = launch(stack, 10_000_000, samples=1, timeout_ms=60_000)
    assert outcome.failure is None, outcome.failure
    assert outcome.cells[0].corrupt == 0 and outcome.cells[0].size_bytes == 10_000_000


@pytest.mark.parametrize(("mode", "arrives"), [("PvmDataRaw", "before"), ("PvmDataInPlace", "after")])
def test_data_in_place_are_those_of_when_they_are_sent(two, tmp_path: Path, mode: str, arrives: str) -> None:
    (tmp_path / "program.c").write_text(PROGRAM)
    subprocess.run(["gcc", f"-DMODE={mode}", "program.c", "-o", "program", "-lpvm3"], check=True, cwd=tmp_path)
    with pvm.machine([two.hosts["m1"]]) as (host,):
        *environment, _probe = host.libraries["pvm"]
        command = host.argv([*environment, str(tmp_path / "program")])
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stdout == f"{arrives}\n", done.stderr


def test_the_daemons_make_good_what_is_lost(launch, two) -> None:
    lab = labs.running()[0].lab
    faults.change(lab, Fault(host="*", kind="loss", probability=0.01, seed=7))
    try:
        outcome = launch("pvm-default-raw", 100_000, samples=8, cell_ms=30_000, timeout_ms=60_000)
    finally:
        faults.cure(lab, "*")
    assert outcome.failure is None, outcome.failure
    assert outcome.cells[0].corrupt == 0 and len(outcome.cells[0].ns) == 8


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """The hosts m1 and m2, of which m2 has a memory of 32 MB for all its programs.

    Each large piece is a mapping of its own: left alone, the C library takes the second message in one piece from its
    heap, and now and then puts something small where the first was, so that the third needs room of its own.
    """
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("MALLOC_MMAP_THRESHOLD_", "131072")
    hosts = '[[hosts]]\nname = "m1"\n[[hosts]]\nname = "m2"\nmemory_mb = 32\n'
    with place.in_lab(
        topology.parse(f'name = "small"\n[fabric]\nkind = "switch"\nclass = "free"\n{hosts}'), ()
    ) as found:
        yield found


@pytest.mark.alone  # how much a program needs beside its message depends on what else the machine does
@pytest.mark.parametrize(("encoding", "fits"), [("xdr", False), ("raw", False), ("inplace", True), ("trans", True)])
def test_a_host_of_32_mb_holds_a_large_message_twice_and_not_three_times(
    launched, small, encoding: str, fits: bool
) -> None:
    """The program has it, PVM as it came, and PVM again to be sent unless that is done from where it lies."""
    outcome = launched(small, f"pvm-direct-{encoding}", 11_000_000, samples=2, timeout_ms=60_000)
    assert (outcome.failure is None) == fits, outcome.failure
    if not fits:
        assert "the far probe on m2 was ended by SIGKILL" in outcome.failure.what
        assert "memory" in outcome.failure.remedy


def test_a_tcp_defect_of_a_host_slows_the_direct_route_alone(
    launched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PVM chooses its send buffers itself. The kernel limits them too where it knows the peer from before."""
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path / "state"))
    hosts = '[[hosts]]\nname = "m1"\n[[hosts]]\nname = "m2"\ntcp_defect = "small-window"\n'
    with place.in_lab(topology.parse(f'name = "sick"\n[fabric]\nkind = "switch"\nclass = "free"\n{hosts}'), ()) as sick:
        routes = ("direct", "default", "direct")
        _, sound, slow = (launched(sick, f"pvm-{route}-raw", 6000, cell_ms=3000) for route in routes)
    assert sound.failure is slow.failure is None
    assert min(slow.cells[0].ns) > 5 * min(sound.cells[0].ns)  # a delayed acknowledgement for each segment but the last


def test_a_daemon_that_dies_ends_the_launch_and_nothing_is_left(launch, two, monkeypatch: pytest.MonkeyPatch) -> None:
    homes = f"/tmp/vaiven-pvm-{os.getpid()}"  # of this test alone
    monkeypatch.setattr(pvm, "_HOMES", homes)
    assert not daemons(two)
    sent = counters(two)
    found = []
    work = {"samples": 1_000_000, "cell_ms": 90_000, "timeout_ms": 3_000}
    launching = threading.Thread(target=lambda: found.append(launch("pvm-default-raw", 1000, **work)))
    with captured(two.hosts["m1"]) as seen:
        launching.start()
        until(lambda: slaves(two) and counters(two).since(sent).tx_bytes > 500_000)  # messages are on their way
        assert glob.glob(f"{homes}-*")
        for pid in slaves(two):
            os.kill(pid, signal.SIGKILL)
        launching.join(80)
    assert seen["udp"] > 0 and found and found[0].failure is not None
    until(lambda: not daemons(two))
    until(lambda: not glob.glob(f"{homes}-*"))


@pytest.mark.parametrize(
    ("says", "why"),
    [
        ("", 'got "PvmCantStart"'),
        ("ddpro<9999> arch<LINUX64> ip<0a010002:1234> mtu<4080> dsig<4229185>", "protocol mismatch \\(9999/"),
    ],
)
def test_a_daemon_that_does_not_come_up_is_named(
    two, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, why: str
) -> None:
    """It is broken, or it is that of another version of PVM."""
    other = tmp_path / "pvmd"
    other.write_text(f"#!/bin/sh\necho '{says}'\n")
    other.chmod(0o755)
    monkeypatch.setattr(pvm, "_daemon", lambda host: "pvmd" if host.name == "m1" else str(other))
    members = list(two.hosts.values())
    with pytest.raises(VaivenError, match=f"pvmd of m2 does not come up: .*{why}") as caught, pvm.machine(members):
        pass
    assert caught.value.code == "no-pvmd" and "the same version" in caught.value.remedy


@pytest.mark.parametrize("without", ["m1", "m2"])
def test_a_host_without_pvm_is_named_with_its_package(two, monkeypatch: pytest.MonkeyPatch, without: str) -> None:
    monkeypatch.setattr(pvm, "_daemon", lambda host: "pvmd-nowhere" if host.name == without else "pvmd")
    with pytest.raises(VaivenError, match=f"{without} has no pvmd") as caught, pvm.machine(list(two.hosts.values())):
        pass
    assert caught.value.code == "no-pvm" and "apt-get install pvm" in caught.value.remedy


def test_what_an_older_daemon_left_is_not_in_the_way(launch) -> None:
    """PVM's own place for the address of the daemon of this user: one that finds it there takes itself for a second."""
    left = Path(f"/tmp/pvmd.{os.geteuid()}")
    ours = not left.exists()
    if ours:
        left.write_text("7f000001:0001\n")
    try:
        outcome = launch("pvm-default-raw", 8)
    finally:
        if ours:
            left.unlink()
    assert outcome.failure is None, outcome.failure


def test_a_probe_without_a_daemon_says_where_it_looked(tmp_path: Path) -> None:
    probe = str(resources.program("vaiven-probe-pvm"))
    surroundings = os.environ | {"PVM_TMP": str(tmp_path), "PVM_ALLOW_ROOT": "1"}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [probe, "far", "pvm-direct-raw", "--bind", "127.0.0.1", "--key-stdin"],
        env=surroundings,
        stdin=pipe,
        stdout=pipe,
    ) as far:
        far.stdin.write(KEY)
        far.stdin.flush()
        port = far.stdout.readline().decode().partition('"port":')[2].partition("}")[0]
        words = ["near", "pvm-direct-raw", "--peer", f"127.0.0.1:{port}", "--sizes", "1"]
        key = tmp_path / "key"
        key.write_bytes(KEY)
        near = subprocess.run(
            [probe, *words, "--key-file", str(key)], env=surroundings, capture_output=True, timeout=60
        )
    assert near.returncode == 1 and b'"code":"no-pvmd"' in near.stdout and str(tmp_path).encode() in near.stdout
