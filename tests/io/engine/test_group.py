# SPDX-License-Identifier: BSD-3-Clause
"""Groups of real processes over real sockets: every byte, whoever is slow, deaf, lossy, foreign or dead."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests import forged
from tests.io.engine.conftest import Group

from vaiven.lab import faults
from vaiven.lab.hosts import LabHost
from vaiven.lab.lab import Lab
from vaiven.lab.topology import Fault

# Of the kernel, behind those of another C library.
KERNEL_HEADERS = ["-idirafter", "/usr/include", "-idirafter", f"/usr/include/{platform.machine()}-linux-gnu"]
SIZES = [1, 8, 100, 1445, 1446, 1447, 60000, 1_000_000]


def everybody_is_root(group, sizes=SIZES) -> None:
    """Each size from each root in turn, so that every rank is first, middle and last."""
    ranks = len(group.ranks)
    for i, size in enumerate(sizes):
        for root in (i % ranks, (i + 1) % ranks):
            group.cast(root, size)
            assert group.done() == ["done"] * ranks, f"{size} B from rank {root}"


def counted(host: LabHost, protocol: str, what: str) -> int:
    """A counter of that host's kernel."""
    snmp = subprocess.run(host.argv(["cat", "/proc/net/snmp"]), capture_output=True, text=True, check=True).stdout
    names, values = (line.split() for line in snmp.splitlines() if line.startswith(f"{protocol}:"))
    return int(dict(zip(names, values, strict=True))[what])


def lost_in_kernels(lab: Lab) -> int:
    """Datagrams that found no room in a receive buffer, on all hosts."""
    return sum(counted(host, "Udp", "RcvbufErrors") for host in lab.hosts)


@pytest.fixture
def cured(lab: Lab):
    """The lab, without faults before and after."""
    faults.cure(lab, "*")
    yield lab
    faults.cure(lab, "*")


# One host


@pytest.mark.parametrize("route", ["multicast", "broadcast", "unicast"])
@pytest.mark.parametrize("ranks", [2, 5])
def test_ranks_on_one_host(make_group, rank_program: Path, ranks: int, route: str) -> None:
    address = "127.0.0.1"
    group = make_group(
        [[str(rank_program), str(ranks), str(i), address, f"{address}:7001", "9", route] for i in range(ranks)]
    )
    assert group.opened() == {f"open {route}"}
    everybody_is_root(group)
    assert group.leave() == ["left"] * ranks


def test_a_wait_ends_when_the_application_wants_it_and_goes_on_later(make_group, rank_program: Path) -> None:
    """Without any signal: Linux may report one that comes late in a wait as the end of the wait."""
    group = make_group([[str(rank_program), "2", str(i), "127.0.0.1", "127.0.0.1:7005", "9", "any"] for i in range(2)])
    assert group.opened() == {"open multicast"}
    everybody_is_root(group, [1000])
    rank = group.ranks[1]
    for waits in (0, 1, 5):
        rank.tell(f"patience {waits}")
        rank.tell("cast 0 1000 77")
        assert rank.hear() == "stopped"
    rank.tell("patience 1000000")
    group.cast(0, 1000)
    assert group.done() == ["done"] * 2
    assert group.leave() == ["left"] * 2


def test_a_group_of_one_has_nobody_to_wait_for(make_group, rank_program: Path) -> None:
    group = make_group([[str(rank_program), "1", "0", "127.0.0.1", "127.0.0.1:7002", "9", "any"]])
    assert group.opened() == {"open multicast"}
    group.cast(0, 1000)
    assert group.done() == ["done"]
    assert group.leave() == ["left"]


def test_who_has_another_key_is_not_let_in(make_group, rank_program: Path) -> None:
    """And does not disturb those who have the right one."""
    arguments = ["127.0.0.1", "127.0.0.1:7003"]
    stranger = make_group([[str(rank_program), "3", "1", *arguments, "8", "any"]])
    group = make_group([[str(rank_program), "3", str(i), *arguments, "9", "any"] for i in range(3)])
    assert group.opened() == {"open multicast"}
    everybody_is_root(group, [1000])
    assert not stranger.ranks[0].has_spoken()
    assert group.leave() == ["left"] * 3


def test_who_does_not_come_is_named(make_group, rank_program: Path, tmp_path: Path) -> None:
    group = make_group(
        [[str(rank_program), "3", str(i), "127.0.0.1", "127.0.0.1:7004", "9", "any", "5000"] for i in (0, 1)]
    )
    host = group.ranks[0].hear()
    assert host.startswith("failed timeout 2 ") and "rank 2" in host
    assert group.ranks[1].hear().startswith("failed ")


def test_a_key_of_zeros_is_refused(make_group, rank_program: Path) -> None:
    group = make_group([[str(rank_program), "2", str(i), "127.0.0.1", "127.0.0.1:7007", "0", "any"] for i in range(2)])
    assert [rank.hear().split(" ")[:2] for rank in group.ranks] == [["failed", "bad-key"]] * 2


def test_a_rank_that_is_started_again_before_all_have_come_takes_its_place(make_group, rank_program: Path) -> None:
    def ranks(*which: int) -> list[list[str]]:
        return [[str(rank_program), "3", str(i), "127.0.0.1", "127.0.0.1:7008", "9", "any"] for i in which]

    early = make_group(ranks(0, 1))
    time.sleep(0.5)  # rank 1 is in by then, or else this test is easy
    early.ranks[1].signal(signal.SIGKILL)
    late = make_group(ranks(1, 2))
    assert early.ranks[0].hear() == late.ranks[0].hear() == late.ranks[1].hear() == "open multicast"


def test_a_child_does_not_keep_a_dead_rank_alive(make_group, rank_program: Path) -> None:
    """It inherits nothing of the group: the kernel closes the links with the process, and all others hear of it."""
    group = make_group([[str(rank_program), "3", str(i), "127.0.0.1", "127.0.0.1:7006", "9", "any"] for i in range(3)])
    assert group.opened() == {"open multicast"}
    group.ranks[0].tell("child")
    child = int(group.ranks[0].hear().split(" ")[1])
    try:
        group.cast(0, 1000, only=[1, 2])
        group.ranks[0].signal(signal.SIGKILL)
        assert [rank.hear().split(" ")[:3] for rank in group.ranks[1:]] == [["failed", "rank-died", "0"]] * 2
    finally:
        os.kill(child, signal.SIGKILL)


def make_among(group: Group, *ranks: int) -> list[str]:
    """What these ranks say when they make a group of theirs."""
    for rank in ranks:
        group.ranks[rank].tell("among " + ",".join(map(str, ranks)))
    return [group.ranks[rank].hear() for rank in ranks]


def test_a_rank_that_dies_while_a_group_is_made_is_named(make_group, rank_program: Path) -> None:
    """Or before; and a group of others is none of its affair."""
    group = make_group([[str(rank_program), "4", str(i), "127.0.0.1", "127.0.0.1:7009", "9", "any"] for i in range(4)])
    assert group.opened() == {"open multicast"}
    assert make_among(group, 2, 1) == ["made"] * 2
    group.ranks[0].tell("among 0,2,3")
    group.ranks[3].signal(signal.SIGKILL)
    assert group.ranks[0].hear().startswith("failed rank-died 3 ")
    assert not group.ranks[1].has_spoken()


def test_groups_of_others_survive_a_rank_that_dies(make_group, rank_program: Path) -> None:
    group = make_group([[str(rank_program), "4", str(i), "127.0.0.1", "127.0.0.1:7010", "9", "any"] for i in range(4)])
    assert group.opened() == {"open multicast"}
    assert make_among(group, 2, 1, 0) == ["made"] * 3
    group.ranks[3].signal(signal.SIGKILL)
    group.ranks[3].process.wait()
    for seed, size in enumerate([1, 100_000]):
        for rank in (0, 1, 2):
            group.ranks[rank].tell(f"cast 1 {size} {seed}")
        assert [group.ranks[rank].hear().split(" ")[0] for rank in (0, 1, 2)] == ["done"] * 3
    for rank in (0, 1, 2):
        group.ranks[rank].tell("drop")
    assert [group.ranks[rank].hear() for rank in (0, 1, 2)] == ["dropped"] * 3
    assert make_among(group, 0, 1) == ["made"] * 2
    group.ranks[2].tell("among 2,3")
    assert group.ranks[2].hear().startswith("failed rank-died 3 ")


# Where every SYN is lost: at the other end of the cable is nobody.
BLACK_HOLE = """ip link add hole type veth peer name bottom && ip addr add 10.77.0.2/24 dev hole &&
ip link set bottom up && ip link set hole up && ip neigh add 10.77.0.1 lladdr 02:00:00:00:00:77 dev hole && exec"""


@pytest.mark.root
def test_who_answers_nothing_is_waited_for_no_longer_than_agreed(make_group, rank_program: Path) -> None:
    """One second is agreed, and a kernel alone would try for more than two minutes."""
    rank = f"{rank_program} 2 1 10.77.0.2 10.77.0.1:7000 9 any 1000"

    began_s = time.monotonic()
    said = make_group([["unshare", "--net", "sh", "-c", f"{BLACK_HOLE} {rank}"]]).ranks[0].hear()
    assert said.startswith("failed timeout 0 ") and time.monotonic() - began_s < 60


@pytest.mark.parametrize("port", [0, 65535])
def test_a_port_without_another_after_it_is_refused_by_every_rank(make_group, rank_program: Path, port: int) -> None:
    group = make_group(
        [[str(rank_program), "2", str(i), "127.0.0.1", f"127.0.0.1:{port}", "9", "any"] for i in range(2)]
    )
    for said in (rank.hear() for rank in group.ranks):
        assert said.startswith("failed bad-port -1 ") and "1 to 65534" in said


# Hosts in a network of their own that is nothing but loopback


@pytest.fixture
def in_net() -> Iterator[Callable[[str], list[str]]]:
    """Makes a network namespace by a shell's words, and tells what to put before a command that is to run in it."""
    holders: list[subprocess.Popen] = []

    def call(words: str) -> list[str]:
        shell = f"{words} && echo up && exec sleep 600"
        holders.append(subprocess.Popen(["unshare", "--net", "sh", "-c", shell], stdout=subprocess.PIPE, text=True))
        stdout = holders[-1].stdout
        assert stdout and stdout.readline() == "up\n"
        return ["nsenter", f"--net=/proc/{holders[-1].pid}/ns/net"]

    yield call
    for holder in holders:
        holder.kill()
        holder.communicate()


@pytest.mark.root
@pytest.mark.parametrize("mtu", [68, 100, 140, 150, 155])
def test_an_mtu_too_small_is_told_by_every_rank(make_group, rank_program: Path, in_net, mtu: int) -> None:
    net = in_net(f"ip link set lo up mtu {mtu}")
    address = "127.0.0.1"
    group = make_group(
        [[*net, str(rank_program), "3", str(i), address, f"{address}:7001", "9", "any"] for i in range(3)]
    )
    for said in (rank.hear() for rank in group.ranks):
        assert said.startswith("failed mtu-too-small -1 ") and f"{mtu} bytes" in said and "needs 156" in said


@pytest.mark.root
def test_the_smallest_mtu_that_there_may_be(make_group, rank_program: Path, in_net) -> None:
    net = in_net("ip link set lo up mtu 156")
    address = "127.0.0.1"
    group = make_group(
        [[*net, str(rank_program), "3", str(i), address, f"{address}:7001", "9", "any"] for i in range(3)]
    )
    assert group.opened() == {"open multicast"}
    everybody_is_root(group, [1, 103, 104, 105, 5000])
    assert group.leave() == ["left"] * 3


# A lab


@pytest.mark.lab
@pytest.mark.parametrize("route", ["multicast", "broadcast", "unicast"])
def test_ranks_on_hosts_of_their_own(cured: Lab, on_lab, route: str) -> None:
    before = lost_in_kernels(cured)
    group = on_lab(route=route)
    assert group.opened() == {f"open {route}"}
    everybody_is_root(group)
    assert group.leave() == ["left"] * 4
    assert lost_in_kernels(cured) == before


@pytest.mark.lab
def test_a_group_of_some_hosts_beside_the_first(cured: Lab, on_lab) -> None:
    """Who is not in it does not hear of it; who sleeps stops it, and loses nothing."""
    before = lost_in_kernels(cured)
    group = on_lab()
    group.opened()
    assert make_among(group, 3, 0, 2) == ["made"] * 3
    heard = counted(cured.hosts[1], "Udp", "InDatagrams")
    for seed, size in enumerate([1, 1_000_000]):
        for rank in (0, 2, 3):
            group.ranks[rank].tell(f"cast {seed} {size} {seed}")
        assert [group.ranks[rank].hear().split(" ")[0] for rank in (0, 2, 3)] == ["done"] * 3
    assert counted(cured.hosts[1], "Udp", "InDatagrams") - heard < 10
    fall_asleep(group.ranks[2])
    for rank in (0, 3):
        group.ranks[rank].tell("cast 0 300000 9")
    time.sleep(0.3)
    assert not group.ranks[3].has_spoken(), "the root ran ahead of what the sleeper's buffer holds"
    group.ranks[2].tell("go")
    group.ranks[2].tell("cast 0 300000 9")
    assert [group.ranks[rank].hear().split(" ")[0] for rank in (0, 2, 3)] == ["done"] * 3
    for rank in (0, 2, 3):
        group.ranks[rank].tell("drop")
    assert [group.ranks[rank].hear() for rank in (0, 2, 3)] == ["dropped"] * 3
    everybody_is_root(group, [1, 100_000])
    for rank in group.ranks:
        rank.tell("groups 30")
    assert {rank.hear().split(" ")[0] for rank in group.ranks} == {"grouped"}
    assert group.leave() == ["left"] * 4
    assert lost_in_kernels(cured) == before


@pytest.mark.lab
@pytest.mark.parametrize(
    "fault",
    [
        Fault(host="*", kind="loss", probability=0.02, direction="both"),
        Fault(host="h3", kind="burst-loss", probability=0.005, burst_frames=20, direction="in"),
        Fault(host="*", kind="duplicate", probability=0.1, direction="in"),
        Fault(host="h2", kind="reorder", probability=0.1, delay_us=300, direction="in"),
    ],
    ids=lambda fault: fault.kind,
)
def test_every_byte_comes_over_a_bad_network(cured: Lab, on_lab, fault: Fault) -> None:
    group = on_lab()
    assert group.opened() == {"open multicast"}
    faults.change(cured, fault)
    everybody_is_root(group)
    faults.cure(cured, "*")
    assert group.leave() == ["left"] * 4


def fall_asleep(rank) -> None:
    """The process stops, with its thread that answers peers, until it is told to go."""
    rank.tell("stop")
    assert rank.hear() == "stopping"


@pytest.mark.lab
def test_a_sleeping_rank_loses_nothing_and_stops_the_root(cured: Lab, on_lab) -> None:
    """With the buffers that Linux gives anybody: the message is many times longer than they are."""
    before = lost_in_kernels(cured)
    group = on_lab()
    group.opened()
    fall_asleep(group.ranks[2])
    group.cast(0, 3_000_000, only=[0, 1, 3])
    time.sleep(0.3)
    assert not group.ranks[0].has_spoken(), "the root ran ahead of what the sleeper's buffer holds"
    group.ranks[2].tell("go")
    group.cast(0, 3_000_000, only=[2])
    assert group.done() == ["done"] * 4
    assert group.leave() == ["left"] * 4
    assert lost_in_kernels(cured) == before


def sent_again(group: Group, many: int, size: int, seed: int) -> float:
    """Broadcasts among ranks that nap: the share of the datagrams that was sent again."""
    before = given(group)
    for rank in group.ranks:
        rank.tell(f"naps {many} {size} {seed}")
    said = [rank.hear().split(" ") for rank in group.ranks]
    assert [words[0] for words in said] == ["napped"] * len(group.ranks), said
    return (given(group) - before) / (int(said[0][1]) / 1456 + many)


def given(group: Group) -> int:
    """How many datagrams its ranks have sent again so far."""
    for rank in group.ranks:
        rank.tell("counts")
    return sum(int(rank.hear().split(" ")[1]) for rank in group.ranks)


@pytest.mark.lab
def test_one_card_on_a_hub_makes_roots_slow_down(lab: Lab, on_lab, tmp_path: Path) -> None:
    """The lab has 1 Gb/s; the words of one host's card about itself are another's, on a hub of 10 Mb/s."""
    (tmp_path / "duplex").write_text("half\n")
    (tmp_path / "speed").write_text("10\n")
    mounts = " && ".join(f"mount --bind {tmp_path}/{file} /sys/class/net/eth0/{file}" for file in ("duplex", "speed"))
    group = on_lab(prefix={2: ["unshare", "--mount", "sh", "-c", f'{mounts} && exec "$@"', "sh"]})
    assert group.opened() == {"open multicast shared 10000000"}
    group.cast(0, 500_000)
    said = [rank.hear().split(" ") for rank in group.ranks]
    assert {words[0] for words in said} == {"done"}
    assert max(int(words[1]) for words in said) > 0.8 * 500_000 * 8 / 10  # us on the wire
    assert group.leave() == ["left"] * 4


SLEEPS_MOST = 4


@pytest.mark.lab
@pytest.mark.parametrize("seed", [1, 2])
def test_who_merely_sleeps_is_not_called_deaf(cured: Lab, on_lab, capfd, seed: int) -> None:
    """Any roots, any sizes, one rank in four asleep for up to 30 ms, nothing lost: nothing is said or sent again.

    Nothing on a quiet machine; on a busy one two sockets may be filled in another order, so the best of some tries.
    """
    before = lost_in_kernels(cured)
    group = on_lab()
    group.opened()
    assert any(sent_again(group, 20, 1_000_000, seed) < 0.01 for _ in range(SLEEPS_MOST))
    assert lost_in_kernels(cured) == before
    told = capfd.readouterr().err
    assert "no multicast" not in told, told
    assert group.leave() == ["left"] * 4


@pytest.mark.lab
def test_many_roots_at_a_sleeping_rank(cured: Lab, on_lab) -> None:
    before = lost_in_kernels(cured)
    group = on_lab()
    group.opened()
    fall_asleep(group.ranks[3])
    for i in range(60):
        group.cast(i % 3, 20_000, only=[0, 1, 2])
    time.sleep(0.3)
    group.ranks[3].tell("go")
    for i in range(60):
        group.cast(i % 3, 20_000, only=[3])
    for _ in range(60):
        assert group.done() == ["done"] * 4
    assert lost_in_kernels(cured) == before


@pytest.mark.lab
@pytest.mark.parametrize("size", [1, 5000])
def test_who_owes_a_repair_gives_it_while_its_application_is_elsewhere(cured: Lab, on_lab, size: int) -> None:
    """The root has returned and calls nothing more; what it sent was lost at one rank, then at all."""
    group = on_lab()
    group.opened()
    for victims in ("h3", "*"):
        for host in ["h2", "h3", "h4"] if victims == "*" else [victims]:
            faults.change(cured, Fault(host=host, kind="cut", direction="in"))
        group.cast(0, size, only=[0])
        assert group.ranks[0].hear().startswith("done")
        faults.cure(cured, "*")
        group.cast(0, size, only=[1, 2, 3])
        assert [rank.hear().split(" ")[0] for rank in group.ranks[1:]] == ["done"] * 3
    assert group.leave() == ["left"] * 4


@pytest.mark.lab
@pytest.mark.parametrize("victim", [0, 2])
def test_a_dead_rank_is_named_to_everybody(cured: Lab, on_lab, victim: int) -> None:
    group = on_lab()
    group.opened()
    waiting = [i for i in range(4) if i != victim]
    group.cast(victim, 1000, only=waiting)
    group.ranks[victim].signal(signal.SIGKILL)
    for i in waiting:
        said = group.ranks[i].hear()
        assert said.startswith(f"failed rank-died {victim} ") and cured.hosts[victim].address in said


@pytest.mark.lab
def test_unequal_calls_are_an_error_of_everybody(cured: Lab, on_lab) -> None:
    group = on_lab()
    group.opened()
    for i, size in enumerate([5000, 5000, 4999, 5000]):
        group.ranks[i].tell(f"cast 0 {size} 1")
    assert group.ranks[2].hear().startswith("failed sizes-differ 2 ")
    for rank in (group.ranks[i] for i in (0, 1, 3)):  # a root need not hear of it before it has sent another one
        said = rank.hear()
        for _ in range(1000):
            if not said.startswith("done"):
                break
            rank.tell("cast 0 10 2")
            said = rank.hear()
        assert said.startswith("failed sizes-differ 2 ")


@pytest.mark.lab
def test_multicast_that_stops_arriving_is_noticed_and_survived(cured: Lab, on_lab, capfd) -> None:
    group = on_lab()
    group.opened()
    everybody_is_root(group, [100_000])
    with_multicast(cured, 2, False)
    try:
        everybody_is_root(group, [100_000, 1, 1_000_000])
    finally:
        with_multicast(cured, 2, True)
    group.ranks[2].tell("counts")
    given_asked = group.ranks[2].hear().split(" ")
    assert int(given_asked[2]) > 0
    everybody_is_root(group, [100_000])
    assert group.leave() == ["left"] * 4
    told = capfd.readouterr().err
    assert re.findall(r"no multicast reaches rank (\d)", told) == ["2"], told
    assert re.findall(r"multicast reaches rank (\d) \(\S+\) again", told) == ["2"], told


@pytest.mark.slow
@pytest.mark.lab
def test_hostile_datagrams_neither_deceive_nor_kill(cured: Lab, on_lab, compile_rank) -> None:
    """From a host of the same network that sees everything but the key: forged, cut, empty, of another group."""
    group = on_lab()
    group.opened()
    ports = own_ports(cured, 1)
    hostile = compile_rank("gcc", source="hostile.c")
    attacker, victim = cured.hosts[3], cured.hosts[1]
    command = [str(hostile), attacker.address, victim.address, str(ports[-1]), "7000", "3"]
    with subprocess.Popen(attacker.argv(command), stdout=subprocess.PIPE, text=True) as flood:
        assert flood.stdout and flood.stdout.readline() == "begun\n"
        while flood.poll() is None:
            everybody_is_root(group, [1, 5000, 100_000])
        assert int(flood.stdout.read().split(" ")[1]) > 1000
    everybody_is_root(group, [1000])
    group.ranks[1].tell("counts")
    assert int(group.ranks[1].hear().split(" ")[4]) > 1000, "vv_group_foreign"
    assert group.leave() == ["left"] * 4


@pytest.mark.slow
@pytest.mark.lab
def test_a_launch_tells_of_strangers(cured: Lab, compile_rank, vaiven_programs: Callable[[str], Path]) -> None:
    """Each end of it that they came to, and an end that nobody disturbed says nothing."""
    probe, hostile = str(vaiven_programs("vaiven-probe")), str(compile_rank("gcc", source="hostile.c"))
    near, far, attacker = cured.hosts[0], cured.hosts[1], cured.hosts[3]

    def start(host: LabHost, *command: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen(host.argv(list(command)), stdin=pipe, stdout=pipe, text=True)

    def told(disturbed: bool) -> list[str]:
        with start(far, probe, "far", "group", "--bind", far.address, "--key-stdin") as there:
            assert there.stdin and there.stdout
            print("00" * 15 + "01", file=there.stdin, flush=True)
            peer = f"{far.address}:{json.loads(there.stdout.readline())['port']}"
            asked = ["--ask", "fanout", "--sizes", "1000", "--samples", "2000", "--cell-ms", "2000"]
            words = [
                probe,
                "near",
                "group",
                "--peer",
                peer,
                "--port",
                "7000-7001",
                "--one-clock",
                *asked,
                "--key-stdin",
            ]
            with contextlib.ExitStack() as stack:
                if disturbed:
                    command = [hostile, attacker.address, far.address, "9", "7000", "1"]
                    stranger = stack.enter_context(start(attacker, *command))
                    assert stranger.stdout and stranger.stdout.readline() == "begun\n"
                here = stack.enter_context(start(near, *words))
                assert here.stdin and here.stdout
                print("00" * 15 + "01", file=here.stdin, flush=True)
                records = [json.loads(line) for end in (here, there) for line in end.stdout]
        assert [one["cells"] for one in records if one["type"] == "bye"] == [1], records
        return [one["text"] for one in records if one.get("code") == "foreign-datagrams"]

    assert told(disturbed=False) == []
    both = told(disturbed=True)
    for text, host in zip(both, (near, far), strict=True):
        assert re.match(rf"[1-9]\d+ datagrams of strangers came to {re.escape(host.address)} ", text)


@pytest.mark.lab
def test_who_lies_about_the_mtu_changes_no_datagram(cured: Lab, on_lab) -> None:
    group = on_lab()
    assert group.opened() == {"open multicast"}
    root, liar = cured.hosts[0], cured.hosts[3]
    everybody = group_address(cured, 0)
    believed = forged.lie(
        liar.argv([]), root.argv([]), root.address, everybody, [(port, 7000) for port in own_ports(cured, 0)]
    )
    assert f"mtu {forged.MTU}" in believed, "the kernel does not believe the liar, so this test proves nothing"
    before = counted(root, "Ip", "FragCreates")
    group.cast(0, 1_000_000)
    assert group.done() == ["done"] * 4
    assert counted(root, "Ip", "FragCreates") == before
    assert group.leave() == ["left"] * 4


@pytest.mark.slow
@pytest.mark.lab
def test_a_flood_is_called_a_flood(cured: Lab, on_lab, compile_rank, capfd) -> None:
    """Every rank that it comes to says how much, and none looks for the fault in switches."""
    group = on_lab()
    group.opened()
    hostile = compile_rank("gcc", source="hostile.c")
    attacker, victim = cured.hosts[3], cured.hosts[1]
    command = [str(hostile), attacker.address, victim.address, str(own_ports(cured, 1)[-1]), "7000", "2"]
    with subprocess.Popen(attacker.argv(command), stdout=subprocess.PIPE, text=True) as flood:
        assert flood.stdout and flood.stdout.readline() == "begun\n"
        while flood.poll() is None:
            everybody_is_root(group, [1, 5000, 100_000])
    told = capfd.readouterr().err
    assert re.search(
        rf"\d+ foreign datagrams a second come to rank 1 \({victim.address}\), UDP ports 7000 and 7001", told
    )
    assert told.count("foreign datagrams a second come to rank 1 ") == 1
    flooded = [told.find(f"foreign datagrams a second come to rank {rank} ") for rank in range(4)]
    blamed = [told.rfind(f"no multicast reaches rank {rank} ") for rank in range(4)]
    assert all(b < f for b, f in zip(blamed, flooded, strict=True) if f >= 0), told  # who knows of it blames no switch
    assert group.leave() == ["left"] * 4


def group_address(lab: Lab, number: int) -> str:
    """Where a host hears what goes to all: the address that its socket at the meeting's UDP port has."""
    table = subprocess.run(lab.hosts[number].argv(["cat", "/proc/net/udp"]), capture_output=True, text=True, check=True)
    places = [line.split()[1].split(":") for line in table.stdout.splitlines()[1:]]
    return next(socket.inet_ntoa(bytes.fromhex(at)[::-1]) for at, port in places if int(port, 16) == 7000)


def own_ports(lab: Lab, number: int) -> list[int]:
    """The UDP ports of a host that are bound to its own address."""
    host = lab.hosts[number]
    table = subprocess.run(host.argv(["cat", "/proc/net/udp"]), capture_output=True, text=True, check=True).stdout
    own = socket.inet_aton(host.address)[::-1].hex().upper()
    return [int(line.split()[1].split(":")[1], 16) for line in table.splitlines()[1:] if own in line.split()[1]]


def flood(lab: Lab, number: int, kind: str, *, arrives: bool) -> None:
    """Whether a host gets frames of a kind: "mcast_flood", that go to groups, or "bcast_flood", to all."""
    word = "on" if arrives else "off"
    port = ["bridge", "link", "set", "dev", f"p{lab.hosts[number].number}", kind, word]
    subprocess.run(lab.switch.argv(port), check=True)


def with_multicast(lab: Lab, number: int, arrives: bool) -> None:
    """Whether a host gets frames that go to groups."""
    flood(lab, number, "mcast_flood", arrives=arrives)


# Networks that are not as they should be


def ip(lab: Lab, number: int, words: str) -> None:
    subprocess.run(lab.hosts[number].argv(["ip", *words.split()]), check=True)


@pytest.mark.lab
def test_a_host_that_hears_no_multicast_makes_all_take_broadcasts(cured: Lab, on_lab) -> None:
    """And is an error of everybody where nothing else is allowed."""
    with_multicast(cured, 2, False)
    try:
        group = on_lab(route="any")
        assert group.opened() == {"open broadcast"}
        everybody_is_root(group, [1, 100_000])
        assert group.leave() == ["left"] * 4
        assert all(said.startswith("failed no-multicast ") for said in on_lab(route="multicast").opened())
    finally:
        with_multicast(cured, 2, True)


@pytest.mark.lab
def test_where_neither_reaches_a_host_all_send_to_each(cured: Lab, on_lab, capfd) -> None:
    """Which is told; and nothing is sent where something else was asked for."""
    flood(cured, 2, "mcast_flood", arrives=False)
    flood(cured, 2, "bcast_flood", arrives=False)
    try:
        group = on_lab(route="any")
        assert group.opened() == {"open unicast"}
        everybody_is_root(group, [1, 1500, 100_000])
        assert "neither multicast nor broadcast reaches all ranks" in capfd.readouterr().err
        assert group.leave() == ["left"] * 4
        assert all(said.startswith("failed no-multicast ") for said in on_lab(route="broadcast").opened())
    finally:
        flood(cured, 2, "mcast_flood", arrives=True)
        flood(cured, 2, "bcast_flood", arrives=True)


@pytest.mark.lab
def test_the_address_says_which_interface(cured: Lab, on_lab) -> None:
    """Though another one of that host has the route of all groups."""
    ip(cured, 1, "link add second type veth peer name other")
    try:
        ip(cured, 1, "addr add 192.168.77.1/24 dev second")
        ip(cured, 1, "link set other up")
        ip(cured, 1, "link set second up")
        ip(cured, 1, "route add 239.0.0.0/8 dev second")
        group = on_lab(route="multicast")
        assert group.opened() == {"open multicast"}
        everybody_is_root(group, [1, 100_000])
        assert group.leave() == ["left"] * 4
    finally:
        ip(cured, 1, "link del second")


@pytest.mark.lab
def test_the_smallest_mtu_counts(cured: Lab, on_lab) -> None:
    ip(cured, 2, "link set eth0 mtu 1000")
    try:
        group = on_lab(route="multicast")
        assert group.opened() == {"open multicast"}
        everybody_is_root(group, [1, 972, 973, 100_000])
        assert group.leave() == ["left"] * 4
    finally:
        ip(cured, 2, "link set eth0 mtu 1500")


@pytest.mark.lab
def test_one_rank_with_an_mtu_too_small_is_an_error_of_everybody(cured: Lab, on_lab) -> None:
    ip(cured, 2, "link set eth0 mtu 100")
    try:
        for said in (rank.hear() for rank in on_lab().ranks):
            assert said.startswith("failed mtu-too-small -1 ") and "100 bytes" in said
    finally:
        ip(cured, 2, "link set eth0 mtu 1500")


# Other machines, other users, other libraries


@pytest.mark.lab
def test_nobody_may_be_a_rank(cured: Lab, on_lab, rank_program: Path) -> None:
    """Without any privilege, with the default sysctls."""
    prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]
    program = Path("/tmp") / f"group-rank-{rank_program.stat().st_ino}"  # where anybody may go
    shutil.copy(rank_program, program)
    try:
        program.chmod(0o755)
        group = on_lab(programs={i: [str(program)] for i in range(4)}, prefix={i: prefix for i in range(4)})
        assert group.opened() == {"open multicast"}
        everybody_is_root(group, [1, 100_000])
        assert group.leave() == ["left"] * 4
    finally:
        program.unlink()


@pytest.mark.slow
@pytest.mark.lab
def test_little_and_big_endian_ranks_in_one_group(cured: Lab, on_lab, compile_rank) -> None:
    big = ["qemu-s390x-static", str(compile_rank("s390x-linux-gnu-gcc"))]
    group = on_lab(programs={1: big, 3: big})
    assert group.opened() == {"open multicast"}
    everybody_is_root(group, [1, 5000, 200_000])
    assert group.leave() == ["left"] * 4


@pytest.mark.slow
@pytest.mark.lab
@pytest.mark.parametrize("compiler", ["gcc", "musl-gcc"])
def test_without_what_only_linux_has(cured: Lab, on_lab, compile_rank, compiler: str) -> None:
    """Beside ranks that use all of it."""
    options = ["-DVV_PORTABLE"] if compiler == "gcc" else ["-DVV_PORTABLE", *KERNEL_HEADERS]
    group = on_lab(programs={2: [str(compile_rank(compiler, *options))]})
    assert group.opened() == {"open multicast"}
    everybody_is_root(group, [1, 5000, 200_000])
    assert group.leave() == ["left"] * 4
