# SPDX-License-Identifier: BSD-3-Clause
"""MPI over LLC: an unmodified program of Open MPI by our component, every byte checked, and what becomes of what goes
wrong. There is no TCP among the transports but where a test says so."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.lab.texts import lab_text

from vaiven import resources
from vaiven.errors import VaivenError
from vaiven.run import mpi
from vaiven.run.mpi import Manner
from vaiven.run.place import Place

from ..joined import hosts_of, processes, until
from ..recorded import recorded

FOUR = lab_text("btl-test", 4, prefix="m")
LOSSY = lab_text("btl-loss-test", 3, prefix="m") + '[[faults]]\nhost = "*"\nkind = "loss"\nprobability = 0.005\n'
SLOW = lab_text("btl-slow-test", 4, prefix="m", rate_mbps=10, class_="timed")
LLC = Manner(yields=True, llc=True)
SPARE = replace(LLC, spare=True)
EACH = ("m1", "m2", "m3", "m4")
CLAIM = """
import socket, sys, time
held = []
for sap in range(4, 256, 4):
    held.append(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
    name = f"\\0vaiven/sap/{socket.if_nametoindex('eth0')}/{sap:02x}"
    try:
        held[-1].bind(name)
    except OSError:
        pass
print("claimed", flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The hosts m1 to m4."""
    with hosts_of(FOUR, tmp_path_factory.mktemp("state")) as found:
        yield found


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """ranks.c, built by the compiler of Open MPI and nothing else."""
    built = tmp_path_factory.mktemp("program") / "ranks"
    source = Path(__file__).parent / "ranks.c"
    subprocess.run(["mpicc.openmpi", "-O2", "-pthread", source, "-o", built], check=True)
    return str(built)


def run(
    where: Place, names: Sequence[str], command: Sequence[str], manner: Manner = LLC, *, patience_s: float = 90
) -> subprocess.CompletedProcess[str]:
    """A rank of that command on each of these hosts; a host may have several."""
    ranks = [mpi.Rank(where.hosts[name], tuple(command)) for name in names]
    with mpi.job("openmpi", ranks, manner) as words:
        argv = where.hosts[names[0]].argv(words)
        return subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=patience_s, check=False
        )


def check(done: subprocess.CompletedProcess[str], ranks: int) -> None:
    """All ranks were there, and no byte was wrong."""
    assert (done.returncode, done.stdout) == (0, f"{ranks} ranks, 0 wrong\n"), done.stderr


@pytest.mark.parametrize(
    "what", ["sizes", "any", pytest.param("sleeps", marks=pytest.mark.slow), "together", "threads"]
)
def test_every_byte_arrives(four: Place, program: str, what: str) -> None:
    check(run(four, EACH, (program, what)), 4)


@pytest.mark.slow
def test_a_rank_that_computes_for_a_minute_loses_nothing(
    tmp_path_factory: pytest.TempPathFactory, program: str
) -> None:
    """Nobody takes it for dead, and frames that are lost meanwhile are sent again when it calls MPI."""
    with hosts_of(LOSSY, tmp_path_factory.mktemp("state")) as lossy:
        check(run(lossy, EACH[:3], (program, "sleeps", "60"), patience_s=240), 3)


def test_what_was_sent_arrives_though_its_sender_calls_mpi_no_more(
    tmp_path_factory: pytest.TempPathFactory, program: str
) -> None:
    with hosts_of(SLOW, tmp_path_factory.mktemp("state")) as slow:
        check(run(slow, EACH, (program, "leaves")), 4)


def test_who_sends_goes_on_though_the_receiver_calls_no_mpi(four: Place, program: str) -> None:
    check(run(four, EACH[:2], (program, "rests")), 2)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["sizes", "together"])
def test_every_byte_arrives_though_one_frame_in_200_is_lost(
    tmp_path_factory: pytest.TempPathFactory, program: str, what: str
) -> None:
    with hosts_of(LOSSY, tmp_path_factory.mktemp("state")) as lossy:
        check(run(lossy, EACH[:3], (program, what)), 3)


def dissected(file: Path, which: str) -> list[str]:
    """The frames of which that is true, as Wireshark has them: a line each. It would take our messages for IPX, for
    programs of NetWare had the SAP that the first rank of a host gets."""
    command = ["tshark", "-n", "--disable-protocol", "ipx", "-r", str(file), "-Y", which]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.slow
@pytest.mark.needs("tshark")
def test_every_frame_is_well_formed_to_others(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, program: str
) -> None:
    """Greetings, data, acknowledgements, what asks for lost frames again, and good-byes."""
    state, capture = tmp_path_factory.mktemp("state"), tmp_path / "job"
    with hosts_of(LOSSY, state) as lossy, recorded(lossy.hosts["m1"].argv, capture, "llc"):
        check(run(lossy, EACH[:3], (program, "sizes")), 3)
    for kind in ("SABME", "UA", "DISC", "N(S)", "RR", "REJ"):
        assert any(kind in line for line in dissected(capture, "llc")), kind
    assert dissected(capture, "_ws.malformed") == []


@pytest.mark.slow
@pytest.mark.needs("NPopenmpi")
def test_netpipe_finds_its_bytes_whole(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    """Its own check of what came, over a network that loses frames."""
    command = ("env", f"--chdir={tmp_path}", "NPopenmpi", "-i", "-n", "5", "-u", "200000")
    with hosts_of(LOSSY, tmp_path_factory.mktemp("state")) as lossy:
        done = run(lossy, EACH[:2], command, patience_s=240)
    assert done.returncode == 0, done.stderr
    assert "Integrity check" in done.stderr and "passed" in done.stderr.lower()


def test_ranks_of_one_host_share_its_memory_and_have_saps_of_their_own(four: Place, program: str) -> None:
    check(run(four, ("m1", "m1", "m2", "m2"), (program, "together")), 4)


def test_two_jobs_on_one_network_do_not_hear_each_other(four: Place, program: str) -> None:
    found: list[subprocess.CompletedProcess[str]] = []
    jobs = [threading.Thread(target=lambda: found.append(run(four, EACH[:2], (program, "together")))) for _ in range(2)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert len(found) == 2
    for done in found:
        check(done, 2)


def test_the_same_program_runs_over_tcp(four: Place, program: str) -> None:
    check(run(four, EACH[:2], (program, "together"), Manner(yields=True)), 2)


def test_the_interface_is_by_itself_the_one_that_leads_to_the_others(four: Place, program: str) -> None:
    unnamed = ("env", "OMPI_MCA_btl_llc_if=", program, "together")
    check(run(four, EACH[:2], unnamed), 2)


def test_a_rank_that_is_killed_in_a_rendezvous_ends_the_others(four: Place, program: str) -> None:
    done = run(four, EACH[:3], (program, "ends", "killed"))
    assert done.returncode != 0 and "wrong" not in done.stdout
    until(lambda: not any(program in words for words in processes(four).values()))


def test_a_silent_rank_is_an_error_that_names_it_where_that_was_asked_for(four: Place, program: str) -> None:
    """A stopped process: nobody else can know that it is none that computes."""
    done = run(four, EACH[:2], (program, "ends", "stopped"), replace(LLC, settings=(("btl_llc_silence", "2"),)))
    assert done.returncode != 0 and "wrong" not in done.stdout
    assert "vaiven: MPI over LLC: rank 1 on m2 is gone: the other end did not answer" in done.stderr
    until(lambda: not any(program in words for words in processes(four).values()))


@pytest.mark.slow
def test_an_interface_that_goes_down_ends_the_job(tmp_path_factory: pytest.TempPathFactory, program: str) -> None:
    """The rank behind it ends by itself, the others when mpirun finds that a host is gone. For that TCP takes minutes,
    and a quarter of an hour where something was under way: here it has less patience."""
    keepalive = {"time": "3", "intvl": "1", "probes": "3"}
    soon = tuple((f"oob_tcp_keepalive_{name}", value) for name, value in keepalive.items())
    with hosts_of(FOUR, tmp_path_factory.mktemp("state")) as unplugged:
        for host in unplugged.hosts.values():
            give_up = "echo 3 >/proc/sys/net/ipv4/tcp_retries2"
            subprocess.run(host.argv(["sh", "-c", give_up]), stdin=subprocess.DEVNULL, check=True)
        done = run(unplugged, EACH[:3], (program, "ends", "unplugged"), replace(LLC, settings=soon))
        assert done.returncode != 0 and "wrong" not in done.stdout
        until(lambda: not any(program in words for words in processes(unplugged).values()))


WITHOUT = ("setpriv", "--bounding-set=-net_raw", "--inh-caps=-net_raw")


def test_without_permission_messages_go_over_tcp_and_it_is_said_once_a_host(four: Place, program: str) -> None:
    done = run(four, ("m1", "m1", "m2"), (*WITHOUT, program, "together"), SPARE)
    check(done, 3)
    said = [line for line in done.stderr.splitlines() if "vaiven" in line]
    assert sorted(line.split()[1] for line in said) == ["m1", "m2"], done.stderr
    assert all("has no MPI over LLC: raw Ethernet frames need CAP_NET_RAW" in line for line in said)


def test_ranks_without_permission_get_it_by_vaiven_raw(four: Place, program: str) -> None:
    """A root that is one by name only, and a copy with the capability, on a file system of each host."""
    effective, net_raw = 0x02000000, 1 << 13  # linux/capability.h: vfs_cap_data, +p
    for name in EACH[:2]:
        host = four.hosts[name]
        script = "mountpoint -q /mnt || mount -t tmpfs -o mode=755 none /mnt; cp $0 /mnt/vaiven-raw"
        subprocess.run(host.argv(["sh", "-c", script, resources.program(mpi.RAW)]), check=True)
        file = host.proc_net.parent / "root/mnt/vaiven-raw"
        os.setxattr(file, "security.capability", struct.pack("<5I", effective, net_raw, 0, 0, 0))
    user = ("setpriv", "--bounding-set=+net_raw", "--inh-caps=-all", "--ambient-caps=-all", "--securebits=+noroot")
    check(run(four, EACH[:2], (*user, "/mnt/vaiven-raw", program, "together")), 2)
    done = run(four, EACH[:2], (*user, program, "together"), SPARE)
    check(done, 2)
    assert "raw Ethernet frames need CAP_NET_RAW" in done.stderr


def test_without_permission_and_without_tcp_nobody_is_reached(four: Place, program: str) -> None:
    done = run(four, EACH[:2], (*WITHOUT, program, "together"))
    assert done.returncode != 0 and "has no MPI over LLC" in done.stderr


def test_another_open_mpi_than_that_it_was_built_for_is_refused(four: Place, program: str, tmp_path: Path) -> None:
    (tmp_path / "other.c").write_text('const char opal_version_string[] = "4.0.7";')
    subprocess.run(["cc", "-shared", "-fPIC", tmp_path / "other.c", "-o", tmp_path / "other.so"], check=True)
    done = run(four, EACH[:2], ("env", f"LD_PRELOAD={tmp_path / 'other.so'}", program, "together"), SPARE)
    check(done, 2)
    assert "mca_btl_llc.so was built for Open MPI 4.1, and this is 4.0.7" in done.stderr


@contextmanager
def claimed(where: Place, name: str) -> Iterator[None]:
    """All SAPs of that host are taken meanwhile."""
    argv = where.hosts[name].argv(["python3", "-c", CLAIM])
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"claimed\n"
        yield
        process.stdin.close()


def test_ranks_without_a_sap_go_over_tcp(four: Place, program: str) -> None:
    with claimed(four, "m2"):
        done = run(four, EACH[:3], (program, "together"), SPARE)
    check(done, 3)
    assert "m2 has no MPI over LLC: all SAPs of this interface are taken" in done.stderr


def test_an_interface_that_is_none_is_said(four: Place, program: str) -> None:
    done = run(four, EACH[:2], ("env", "OMPI_MCA_btl_llc_if=eth7", program, "together"), SPARE)
    check(done, 2)
    assert "m2 has no MPI over LLC: interface 'eth7': No such device" in done.stderr


def test_its_parameters_are_listed() -> None:
    places = f"{resources.program(mpi.LLC).parent}:SYS_DEFAULT"
    environment = os.environ | {"OMPI_MCA_mca_base_component_path": places}
    listed = subprocess.run(
        ["ompi_info", "--param", "btl", "llc", "--level", "9", "--parsable"],
        env=environment, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    found = set(re.findall(r"param:btl_llc_(\w+):value", listed))
    assert {"if", "window", "silence", "eager_limit", "max_send_size", "exclusivity"} <= found


def test_a_host_without_the_component_is_named(four: Place) -> None:
    far = replace(four.hosts["m2"], here=False, files={})
    ranks = [mpi.Rank(four.hosts["m1"], ("true",)), mpi.Rank(far, ("true",))]
    with pytest.raises(VaivenError, match=f"m2 has no {mpi.LLC}"), mpi.job("openmpi", ranks, LLC):
        pass


def test_messages_of_the_stack_come_back_sound(launch: Callable) -> None:
    outcome = launch("openmpi-llc", 0, 1, 1400, 70_000, 1_000_000)
    assert outcome.failure is None, outcome.failure
    assert [cell.size_bytes for cell in outcome.cells] == [0, 1, 1400, 70_000, 1_000_000]
    assert all(cell.corrupt == cell.lost == 0 and min(cell.ns) > 0 for cell in outcome.cells)
    assert " btl=llc,vader,self " in outcome.hello["way"] and "btl_llc_if=eth0" in outcome.hello["way"]
