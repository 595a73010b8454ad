# SPDX-License-Identifier: BSD-3-Clause
"""The stack llc between hosts of a lab: every size, loss, its addresses, and what bad surroundings get."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.lab.texts import lab_text

from vaiven.lab.hosts import LabHost
from vaiven.lab.lab import Lab

pytestmark = pytest.mark.lab

TWO = lab_text("two", 2)
BAD = """\
{two}
[[faults]]
host = "h2"
kind = "{kind}"
direction = "both"
probability = 0.02
"""
PATIENCE_S = 180
RAW_ALONE = "-all,+net_raw"


@dataclass
class Ended:
    """An end that has ended. near first."""

    status: int
    records: list[dict]

    @property
    def error(self) -> str:
        return self.records[-1].get("code", "")

    @property
    def cells(self) -> list[dict]:
        return [record for record in self.records if record["type"] == "cell"]


@dataclass
class Ends:
    """Starts near ends on the first host, far ends on the second; none outlives the test."""

    lab: Lab
    probe: str
    key: str
    running: list[subprocess.Popen[str]] = field(default_factory=list)

    def run(self, host: int, *words: str, prefix: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        """A probe that needs no key; it has a standard input all the same."""
        command = self.lab.hosts[host].argv((*prefix, self.probe, *words))
        started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.running.append(started)
        return started

    def start(self, host: int, *words: str, prefix: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        started = self.run(host, *words, "--key-stdin", prefix=prefix)
        started.stdin.write(self.key)
        started.stdin.flush()
        return started

    def far(self, *options: str, host: int = 1, stack: str = "llc") -> tuple[subprocess.Popen[str], str]:
        """A far end that is ready, and where to find it."""
        address = self.lab.hosts[host].address
        far = self.start(host, "far", stack, "--bind", address, *options)
        return far, f"{address}:{json.loads(far.stdout.readline())['port']}"

    def near(self, peer: str, *options: str, prefix: tuple[str, ...] = (), stack: str = "llc") -> subprocess.Popen[str]:
        return self.start(0, "near", stack, "--peer", peer, *options, prefix=prefix)

    @staticmethod
    def end(end: subprocess.Popen[str]) -> Ended:
        records = [json.loads(line) for line in end.stdout]
        return Ended(end.wait(PATIENCE_S), records)


@pytest.fixture
def ends(raise_lab: Callable[..., Lab], vaiven_programs: Callable[[str], Path]) -> Iterator:
    """Makes the ends of a lab: ends(text of the lab)."""
    made: list[Ends] = []

    def call(text: str) -> Ends:
        made.append(Ends(raise_lab(text), str(vaiven_programs("vaiven-probe")), secrets.token_hex(16) + "\n"))
        return made[-1]

    yield call
    for process in (process for one in made for process in one.running):
        with process:
            process.kill()


JUMBO = TWO.replace('class = "free"', 'class = "free"\nmtu = 9000')
SIZES = (0, 1, 1482, 1483, 1495, 1497, 16384, 16385, 65535, 200_000, 1_000_000)
EFFORT = ("--samples", "3", "--cell-ms", "50", "--timeout-ms", "60000")


@pytest.mark.parametrize("wait", ["block", "spin"])
def test_messages_of_any_size_arrive_whole(ends, wait: str) -> None:
    here = ends(TWO)
    far, peer = here.far("--wait", wait)
    near = here.end(here.near(peer, "--wait", wait, "--sizes", ",".join(map(str, SIZES)), *EFFORT))
    assert near.status == 0, near.records[-1]
    assert [cell["size_bytes"] for cell in near.cells] == list(SIZES)
    assert all(cell["rtt_ns"] and cell["corrupt"] == cell["lost"] == 0 for cell in near.cells)
    assert here.end(far).status == 0


@pytest.mark.parametrize("kind", ["loss", "duplicate", "corrupt"])
def test_what_a_bad_network_does_is_mended(ends, kind: str) -> None:
    here = ends(BAD.format(two=TWO, kind=kind))
    far, peer = here.far()
    near = here.end(here.near(peer, "--sizes", "1,3000,300000", *EFFORT))
    assert near.status == 0, near.records[-1]
    assert all(cell["rtt_ns"] and cell["corrupt"] == cell["lost"] == 0 for cell in near.cells)
    assert here.end(far).status == 0


def test_one_for_many_arrives_though_nobody_answers(ends) -> None:
    """The far ends say by another way what they got: the near end's station must go on working until all have it."""
    here = ends(BAD.format(two=TWO, kind="loss"))
    fars = [here.far() for _ in range(3)]
    (_, peer), *others = fars
    also = [word for _, other in others for word in ("--also", other)]
    effort = ("--samples", "20", "--cell-ms", "60000", "--timeout-ms", "60000", "--one-clock")
    near = here.end(here.near(peer, *also, "--ask", "fanout", "--sizes", "1,1000,20000", *effort))
    assert near.status == 0, near.records[-1]
    assert [len(cell["last_ns"]) for cell in near.cells] == [20] * 3
    assert all(cell["corrupt"] == cell["lost"] == 0 for cell in near.cells)
    assert [here.end(far).status for far, _ in fars] == [0] * 3


def set_link(host: LabHost, *words: str) -> None:
    """Changes the interface of a host."""
    subprocess.run(host.argv(["ip", "link", "set", "dev", host.interface, *words]), check=True)


@pytest.mark.parametrize("far_mtu", ["9000", "3000"])
def test_jumbo_frames_are_as_long_as_both_ends_can(ends, on, far_mtu: str) -> None:
    here = ends(JUMBO)
    near_host, far_host = here.lab.hosts
    set_link(far_host, "mtu", far_mtu)
    far, peer = here.far(stack="llc-jumbo")
    sizes = f"1,1482,1483,{int(far_mtu) - 18},{int(far_mtu) - 17},1000000"
    near = here.end(here.near(peer, "--sizes", sizes, *EFFORT, stack="llc-jumbo"))
    assert near.status == 0, near.records[-1]
    assert all(cell["rtt_ns"] and cell["corrupt"] == cell["lost"] == 0 for cell in near.cells)
    assert here.end(far).status == 0
    bytes_sent, frames_sent = (
        int(on(near_host, "cat", f"/sys/class/net/{near_host.interface}/statistics/tx_{what}"))
        for what in ("bytes", "packets")
    )
    assert bytes_sent / frames_sent > 0.3 * int(far_mtu), "most frames are full ones and their acknowledgements"


def test_jumbo_frames_are_refused_where_the_mtu_is_less(ends) -> None:
    here = ends(TWO)
    _, peer = here.far(stack="llc-jumbo")
    refused = here.end(here.near(peer, "--sizes", "1", stack="llc-jumbo"))
    assert refused.status == 1 and refused.error == "no-jumbo" and "mtu" in refused.records[-1]["remedy"]


@pytest.mark.slow
def test_64_mib_arrive(ends) -> None:
    here = ends(TWO)
    far, peer = here.far()
    near = here.end(here.near(peer, "--sizes", str(64 << 20), "--samples", "1", "--timeout-ms", "120000"))
    assert near.status == 0 and near.cells[0]["corrupt"] == 0, near.records[-1]
    assert here.end(far).status == 0


def test_connecting_is_measured(ends) -> None:
    here = ends(TWO)
    far, peer = here.far()
    near = here.end(here.near(peer, "--ask", "connect", "--samples", "20"))
    assert near.status == 0 and 1 <= len(near.cells[0]["connect_ns"]) <= 20, near.records[-1]
    assert here.end(far).status == 0


def test_two_services_on_two_saps_do_not_mix(ends) -> None:
    """Two launches at once between the same hosts, each end with a SAP of its own."""
    here = ends(TWO)
    fars = [here.far("--sap", sap) for sap in ("32", "36")]
    nears = [
        here.near(peer, "--sap", sap, "--sizes", "3000", *EFFORT)
        for (_, peer), sap in zip(fars, ("32", "36"), strict=True)
    ]
    assert [here.end(near).status for near in nears] == [0, 0]
    assert [here.end(far).status for far, _ in fars] == [0, 0]


def test_two_jobs_on_one_sap_are_refused(ends) -> None:
    """The first has it from its first near end on."""
    here = ends(TWO)
    _, first = here.far("--sap", "32")
    holder = here.near(first, "--sap", "32", "--sizes", "1", "--samples", "10000000", "--cell-ms", "600000")
    assert json.loads(holder.stdout.readline())["type"] == "hello"
    _, second = here.far("--sap", "36")
    refused = here.end(here.near(second, "--sap", "32", "--sizes", "1"))
    assert refused.status == 1 and refused.error == "sap-taken"


@pytest.mark.parametrize("sap", ["4", "6", "240"])
def test_a_sap_that_is_nobodys_to_take_is_refused(ends, sap: str) -> None:
    here = ends(TWO)
    _, peer = here.far()
    refused = here.end(here.near(peer, "--sap", sap, "--sizes", "1"))
    assert refused.status == 1 and refused.error == "bad-sap"


def test_everybody_on_the_ethernet_is_found(ends, on) -> None:
    """By TEST to all: hosts (the null SAP), and the SAP of each station on them. A station ends with its input."""
    here = ends(TWO.replace("count = 2", "count = 4"))
    hosts = here.lab.hosts
    stations = [
        here.run(host, "station", "--iface", "eth0", "--sap", sap) for host, sap in ((1, "32"), (1, "36"), (2, "32"))
    ]
    told = [json.loads(station.stdout.readline()) for station in stations]
    assert [(one["mac"], one["sap"]) for one in told] == [(hosts[1].mac, 32), (hosts[1].mac, 36), (hosts[2].mac, 32)]
    expected = [{"mac": hosts[host].mac, "sap": sap} for host, sap in ((1, 0), (1, 32), (1, 36), (2, 0), (2, 32))]

    def find() -> list[dict]:
        (found,) = here.end(here.run(0, "map", "--iface", "eth0", "--timeout-ms", "300")).records
        assert found["mac"] == hosts[0].mac
        return found["stations"]

    deadline = time.monotonic() + PATIENCE_S
    while (found := find()) != expected and time.monotonic() < deadline:
        assert all(station in expected for station in found)
    assert found == expected
    for station in stations:
        station.stdin.close()
        assert station.wait(PATIENCE_S) == 0


def test_two_ends_on_one_host_are_told_so(ends) -> None:
    here = ends(TWO)
    _, peer = here.far(host=0)
    near = here.end(here.near(peer, "--iface", "eth0", "--sizes", "1"))
    assert near.status == 1 and near.error == "one-host"


def test_cap_net_raw_is_all_it_takes(ends) -> None:
    """An ordinary user with that one capability, then without it: told how to get it."""
    here = ends(TWO)
    with tempfile.TemporaryDirectory() as directory:  # where that user may look
        Path(directory).chmod(0o755)
        here.probe = shutil.copy(here.probe, directory)
        _as_an_ordinary_user(here)


def _as_an_ordinary_user(here: Ends) -> None:
    user = ("setpriv", "--reuid", "65534", "--clear-groups", "--inh-caps")
    far, peer = here.far()
    capable = here.near(peer, "--sizes", "1", *EFFORT, prefix=(*user, RAW_ALONE, "--ambient-caps", RAW_ALONE))
    assert here.end(capable).status == 0
    assert here.end(far).status == 0
    _, peer = here.far()
    plain = here.end(here.near(peer, "--sizes", "1", prefix=(*user, "-all")))
    assert plain.status == 1 and plain.error == "no-permission" and "setcap" in plain.records[-1]["remedy"]


def test_a_file_capability_is_enough(ends, on) -> None:
    """An ordinary user without any, and the program has it: what setcap writes. On a file system of the host's own."""
    here = ends(TWO)
    host = here.lab.hosts[0]
    on(host, "sh", "-c", f"mount -t tmpfs -o mode=755 none /mnt && cp {here.probe} /mnt/probe")
    effective_v2, net_raw = 0x02000001, 1 << 13  # linux/capability.h: vfs_cap_data
    file = f"/proc/{host.namespace.pid}/root/mnt/probe"
    os.setxattr(file, "security.capability", struct.pack("<5I", effective_v2, net_raw, 0, 0, 0))
    assert Path(file).stat().st_mode & 0o6000 == 0, "nothing is setuid"
    far, peer = here.far()
    here.probe = "/mnt/probe"
    user = ("setpriv", "--reuid", "65534", "--clear-groups", "--inh-caps", "-all")
    capable = here.end(here.near(peer, "--sizes", "1", *EFFORT, prefix=user))
    assert capable.status == 0, capable.records[-1]
    assert here.end(far).status == 0


def await_frames(host: LabHost, count: int) -> None:
    """Until the host has sent so many: more than a launch takes to begin."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        table = subprocess.run(host.argv(["cat", "/proc/net/dev"]), capture_output=True, text=True, check=True).stdout
        (line,) = [line for line in table.splitlines() if line.split(":")[0].strip() == host.interface]
        if int(line.split(":")[1].split()[9]) >= count:  # packets transmitted
            return
        time.sleep(0.05)
    raise AssertionError(f"{host.full_name} has not sent {count} frames")


CHANGES = {
    "down": (["down"], "iface-down"),
    "mtu": (["mtu", "1000"], "iface-changed"),
    "mac": (["address", "02:76:76:00:00:99"], "iface-changed"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_an_interface_that_changes_under_a_launch_is_named(ends, change: str) -> None:
    """It is the near host's, and messages are being timed."""
    here = ends(TWO)
    words, code = CHANGES[change]
    host = here.lab.hosts[0]
    _, peer = here.far()
    near = here.near(peer, "--sizes", "1", "--samples", "10000000", "--cell-ms", "600000", "--timeout-ms", "60000")
    assert json.loads(near.stdout.readline())["type"] == "hello"
    await_frames(host, 2000)
    subprocess.run(host.argv(["ip", "link", "set", "dev", host.interface, *words]), check=True)
    ended = here.end(near)
    assert ended.status == 1 and ended.error == code


def test_a_new_name_of_the_interface_does_not_matter(ends) -> None:
    here = ends(TWO)
    host = here.lab.hosts[0]
    far, peer = here.far()
    near = here.near(peer, "--sizes", "1", "--samples", "10000000", "--cell-ms", "1500")
    assert json.loads(near.stdout.readline())["type"] == "hello"
    subprocess.run(host.argv(["ip", "link", "set", "dev", host.interface, "name", "other0"]), check=True)
    ended = here.end(near)
    assert ended.status == 0 and ended.cells[0]["lost"] == 0, ended.records[-1]
    assert here.end(far).status == 0


def test_the_llc_of_the_kernel_is_there_or_said_not_to_be(ends) -> None:
    """Most kernels have none in a network namespace; tests/uml has one that has."""
    here = ends(TWO)
    far = here.start(1, "far", "llc-kernel", "--bind", here.lab.hosts[1].address)
    peer = f"{here.lab.hosts[1].address}:{json.loads(far.stdout.readline())['port']}"
    near = here.end(here.start(0, "near", "llc-kernel", "--peer", peer, "--sizes", "1", *EFFORT))
    assert near.status == 0 or near.error == "no-llc"
