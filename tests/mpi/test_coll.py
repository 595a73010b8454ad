# SPDX-License-Identifier: BSD-3-Clause
"""Broadcasts of unmodified programs of both libraries by multicast, every byte checked, and what becomes of what goes
wrong."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from tests.lab.texts import lab_text

from vaiven import resources
from vaiven.lab import lab as labs
from vaiven.run import mpi
from vaiven.run.mpi import Manner
from vaiven.run.place import Place

from ..joined import hosts_of, processes, until
from ..pvm.frames import captured

EIGHT = lab_text("coll-test", 8, prefix="m")
TIMED = lab_text("coll-timed-test", 4, prefix="m", class_="timed", rate_mbps=100)
LOSSY = lab_text("coll-loss-test", 4, prefix="m") + '[[faults]]\nhost = "*"\nkind = "loss"\nprobability = 0.005\n'
DEAF = lab_text("coll-deaf-test", 4, prefix="m")
GROUP = Manner(yields=True, group=True)
FOUR = ("m1", "m2", "m3", "m4")


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The hosts m1 to m8."""
    with hosts_of(EIGHT, tmp_path_factory.mktemp("state")) as found:
        yield found


@pytest.fixture(scope="module")
def lossy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The hosts m1 to m4, on a network that loses one frame in 200."""
    with hosts_of(LOSSY, tmp_path_factory.mktemp("state")) as found:
        yield found


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The hosts m1 to m4, at 100 Mb/s."""
    with hosts_of(TIMED, tmp_path_factory.mktemp("state")) as found:
        yield found


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """collectives.c, built by each library's compiler and nothing else."""
    home = tmp_path_factory.mktemp("programs")
    source = Path(__file__).parent / "collectives.c"
    for library in mpi.LIBRARIES:
        subprocess.run([f"mpicc.{library}", "-O2", "-pthread", source, "-o", home / library], check=True)
    return {library: str(home / library) for library in mpi.LIBRARIES}


def run(
    library: str,
    where: Place,
    names: Sequence[str],
    command: Sequence[str],
    manner: Manner = GROUP,
    *,
    verbose: bool = True,
) -> subprocess.CompletedProcess[str]:
    """A rank of that command on each of these hosts, which say what is served; a host may have several."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VAIVEN_VERBOSE", str(int(verbose)))
        ranks = [mpi.Rank(where.hosts[name], tuple(command)) for name in names]
        with mpi.job(library, ranks, manner) as words:
            argv = where.hosts[names[0]].argv(words)
            return subprocess.run(
                argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False
            )


def preloading(*libraries: str) -> tuple[str, str]:
    """Before a command: with these, and nothing else."""
    return "env", "LD_PRELOAD=" + ":".join(libraries)


def ours() -> list[str]:
    """What `vaiven run` preloads for MPICH."""
    return [str(resources.program(name)) for name in (mpi.ENDS, mpi.GROUP["mpich"])]


def check(done: subprocess.CompletedProcess[str], ranks: int) -> None:
    """All ranks were there, and no byte was wrong."""
    assert (done.returncode, done.stdout) == (0, f"{ranks} ranks, 0 wrong\n"), done.stderr


def served(done: subprocess.CompletedProcess[str]) -> int:
    """Broadcasts that went by multicast."""
    return sum(int(count) for count in re.findall(r"vaiven: (\d+) collective operations among", done.stderr))


both = pytest.mark.parametrize("library", list(mpi.LIBRARIES))


FORTRAN = ["F08", *(pytest.param(one, marks=pytest.mark.slow) for one in ("INCLUDED", "MODULE"))]  # its interfaces
UNEQUAL = ["unequal-calls", *(pytest.param(f"unequal-{one}", marks=pytest.mark.slow) for one in ("sizes", "roots"))]
OFTEN = ("sizes", "types", "gathers", "reduces")
SELDOM = [
    pytest.param(what, marks=pytest.mark.slow) for what in ("communicators", "mixed", "persistent", "threads", "passes")
]


@both
@pytest.mark.parametrize("what", [*OFTEN, *SELDOM])
def test_every_byte_arrives(hosts: Place, programs: dict[str, str], library: str, what: str) -> None:
    done = run(library, hosts, FOUR, (programs[library], what))
    check(done, 4)
    assert served(done) >= 2, done.stderr


@both
@pytest.mark.parametrize("interface", FORTRAN)
def test_every_number_of_a_program_in_fortran_arrives(
    hosts: Place, library: str, interface: str, tmp_path: Path
) -> None:
    source, program = Path(__file__).parent / "fortran.F90", tmp_path / "fortran"
    words = ["-O1", "-w", "-fallow-argument-mismatch"]  # mpif.h declares no arguments, and those of calls differ
    subprocess.run([f"mpifort.{library}", *words, f"-D{interface}", source, "-o", program], check=True)
    done = run(library, hosts, FOUR, (str(program),))
    check(done, 4)
    assert served(done) >= 4 + 1 + 2, done.stderr
    assert begun(done) == 3, done.stderr


@both
def test_no_broadcast_of_a_communicator_that_is_served_goes_another_way(
    hosts: Place, programs: dict[str, str], library: str
) -> None:
    done = run(library, hosts, tuple(hosts.hosts), (programs[library], "sizes"))
    check(done, 8)
    small, large = 8 * 8, 3 * 4  # rank 0 counts those of MPI_COMM_WORLD; one without bytes is none
    assert served(done) == small + large + 199, done.stderr
    assert "go by multicast from 10.1.0.1" in done.stderr


@both
@pytest.mark.parametrize("what", ["gathers", "reduces"])
def test_little_of_each_of_many_ranks_arrives(hosts: Place, programs: dict[str, str], library: str, what: str) -> None:
    """In rounds, which fewer ranks leave to their MPI."""
    done = run(library, hosts, tuple(hosts.hosts), (programs[library], what))
    check(done, 8)
    assert served(done) >= 2, done.stderr


def opened(done: subprocess.CompletedProcess[str]) -> tuple[int, int]:
    """Communicators that got a further group, and those that share the group of others."""
    said = "collective operations of [0-9]+ ranks go by a "
    return len(re.findall(f"{said}further group", done.stderr)), len(re.findall(f"{said}group that they", done.stderr))


def begun(done: subprocess.CompletedProcess[str]) -> int:
    """Broadcasts that were only begun, and went by multicast."""
    found = re.findall(r"vaiven: (\d+) broadcasts that are only begun among 4 ranks went by multicast", done.stderr)
    return sum(map(int, found))


@both
def test_a_broadcast_that_is_begun_goes_on_while_its_program_is_elsewhere(
    hosts: Place, programs: dict[str, str], library: str
) -> None:
    """From the second on, in whatever order communicators come, and whatever is freed before it has ended."""
    done = run(library, hosts, FOUR, (programs[library], "begun"))
    check(done, 4)
    across, elsewhere, freed, in_all_ways = 8, 2, 2, 6 * 30
    assert begun(done) == 1 + across + elsewhere + freed + in_all_ways, done.stderr


@pytest.mark.slow
@both
@pytest.mark.parametrize("what", ["begun", "threads"])
def test_what_is_begun_arrives_though_frames_are_lost(
    lossy: Place, programs: dict[str, str], library: str, what: str
) -> None:
    done = run(library, lossy, FOUR, (programs[library], what))
    check(done, 4)
    assert begun(done) > 100, done.stderr


@pytest.mark.slow
@both
@pytest.mark.parametrize(("what", "further"), [("copies", 0), ("turned", 1)])
def test_communicators_of_the_same_ranks_share_a_group(
    hosts: Place, programs: dict[str, str], library: str, what: str, further: int
) -> None:
    """However many there are at once, and one agreement at most is made for them."""
    done = run(library, hosts, FOUR, (programs[library], what))
    check(done, 4)
    assert served(done) == 1 + 2 * 80, done.stderr
    assert opened(done) == (further, 80 - further)


@both
def test_a_group_stays_for_the_next_communicator_of_its_ranks(
    hosts: Place, programs: dict[str, str], library: str
) -> None:
    done = run(library, hosts, FOUR, (programs[library], "parts"))
    check(done, 4)
    assert opened(done) == (4, 4)


@pytest.mark.slow
@both
def test_what_is_more_than_a_rank_may_have_groups_stays_with_the_mpi(
    hosts: Place, programs: dict[str, str], library: str
) -> None:
    done = run(library, hosts, tuple(hosts.hosts), (programs[library], "many"))
    check(done, 8)
    assert opened(done) == (64, 0) and done.stderr.count("stay with the MPI") >= 16


@pytest.mark.slow
@both
@pytest.mark.parametrize("what", ["rendezvous", "leaves"])
def test_nobody_waits_for_whom_nothing_keeps(lossy: Place, programs: dict[str, str], library: str, what: str) -> None:
    """On a network that loses frames: a rank that waits lets messages of its MPI through; a root that has returned
    answers who has lost something, whatever it does."""
    check(run(library, lossy, FOUR, (programs[library], what)), 4)


@pytest.mark.slow
@both
@pytest.mark.parametrize("what", ["sizes", "gathers", "reduces", "communicators"])
def test_every_byte_arrives_though_one_frame_in_200_is_lost(
    lossy: Place, programs: dict[str, str], library: str, what: str
) -> None:
    check(run(library, lossy, FOUR, (programs[library], what)), 4)


_CLASS = re.compile(
    r"vaiven: (\d+) broadcasts from others among 4 ranks, (\d+) B each: median ([\d.]+) ms at rank 0; (.*)"
)
_WIRE_MS = (3000 + 10 + 3 * (16 + 28 + 38)) * 8 / 100e3  # three datagrams: ours, of UDP and IP, of Ethernet


@both
def test_it_says_what_is_served_and_why_with_the_time_foretold_and_measured(
    timed: Place, programs: dict[str, str], library: str
) -> None:
    """Once for each kind of operation. The first size has nothing but the wire to go by."""
    done = run(library, timed, FOUR, (programs[library], "foretold"))
    check(done, 4)
    said = done.stderr
    assert said.count("vaiven: broadcasts from others among 4 ranks go by multicast: what all get is sent once") == 1
    left = "vaiven: allreduces of 8 B among 4 ranks stay with the MPI: below 100000 B its own messages are quicker"
    assert said.count(left) == 1 and said.count("vaiven: broadcasts from rank 0 among 4 ranks go by") == 1
    classes = {int(size): (int(calls), float(ms), foretold) for calls, size, ms, foretold in _CLASS.findall(said)}
    assert {size: calls for size, (calls, _, _) in classes.items()} == {3000: 9, 30_000: 9, 300_000: 9}, said
    assert classes[3000][2] == f"{_WIRE_MS:.3f} ms foretold, the wire's at 100 Mb/s"
    foretold = [told for _, ms, told in classes.values() if ms > 0 and re.match(r"[\d.]+ ms foretold", told)]
    assert len(foretold) == 3, said


@both
def test_it_foretells_nothing_that_nothing_carries(hosts: Place, programs: dict[str, str], library: str) -> None:
    """On a network without a rate, of the first size."""
    done = run(library, hosts, FOUR, (programs[library], "foretold"))
    check(done, 4)
    assert "3000 B each" in done.stderr and "the wire's" not in done.stderr
    assert {foretold for _, size, _, foretold in _CLASS.findall(done.stderr) if size == "3000"} == {
        "nothing was foretold"
    }


@both
def test_nothing_is_said_unasked(hosts: Place, programs: dict[str, str], library: str) -> None:
    done = run(library, hosts, FOUR, (programs[library], "foretold"), verbose=False)
    check(done, 4)
    assert "vaiven" not in done.stderr


@both
def test_several_ranks_of_a_host_are_each_served(hosts: Place, programs: dict[str, str], library: str) -> None:
    done = run(library, hosts, ("m1", "m2", "m3", "m4") * 3, (programs[library], "sizes"))
    check(done, 12)
    assert served(done) > 200, done.stderr


@both
def test_two_hosts_stay_with_their_mpi(hosts: Place, programs: dict[str, str], library: str) -> None:
    done = run(library, hosts, ("m1", "m2") * 2, (programs[library], "sizes"))
    check(done, 4)
    assert served(done) == 0
    assert "stay with the MPI: they are on fewer than three hosts" in done.stderr


@pytest.fixture(scope="module")
def deaf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The hosts m1 to m4, of which m2 hears nothing that goes to groups, or to all, but what finds its address."""
    with hosts_of(DEAF, tmp_path_factory.mktemp("state")) as found:
        (status,) = labs.running()
        lab = labs.find(status.instance)
        port = f"p{next(host.number for host in lab.hosts if host.name == 'm2')}"
        quiet = ["mcast_flood", "off", "bcast_flood", "off"]
        subprocess.run(lab.switch.argv(["bridge", "link", "set", "dev", port, *quiet]), check=True)
        yield found


@both
def test_where_no_address_reaches_all_they_stay_with_their_mpi(
    deaf: Place, programs: dict[str, str], library: str
) -> None:
    """Which one rank says, once, whether anybody has asked or not."""
    done = run(library, deaf, FOUR, (programs[library], "sizes"), verbose=False)
    check(done, 4)
    assert done.stderr.count("vaiven: ") == 1, done.stderr
    assert "stay with the MPI: neither multicast nor broadcast reaches all of them" in done.stderr


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """tool.c, of each library."""
    home = tmp_path_factory.mktemp("tools")
    source = Path(__file__).parent / "tool.c"
    for library in mpi.LIBRARIES:
        words = [f"mpicc.{library}", "-O2", "-shared", "-fPIC", source, "-o", home / f"{library}.so"]
        subprocess.run(words, check=True)
    return {library: str(home / f"{library}.so") for library in mpi.LIBRARIES}


ASKED, EMPTY = 4 * 9 + 2 * 3 + 200, 4 + 1  # broadcasts of `sizes` among four, and those of them without bytes


@both
def test_a_tool_before_us_sees_every_broadcast_and_they_are_served(
    hosts: Place, programs: dict[str, str], tools: dict[str, str], library: str
) -> None:
    first = preloading(tools[library], *(ours() if library == "mpich" else []))
    done = run(library, hosts, FOUR, (*first, programs[library], "sizes"))
    check(done, 4)
    assert (f"tool: {ASKED} broadcasts" in done.stderr, served(done)) == (True, ASKED - EMPTY), done.stderr


def test_a_tool_behind_us_sees_what_is_not_served(
    hosts: Place, programs: dict[str, str], tools: dict[str, str]
) -> None:
    done = run("mpich", hosts, FOUR, (*preloading(*ours(), tools["mpich"]), programs["mpich"], "sizes"))
    check(done, 4)
    assert (f"tool: {EMPTY} broadcasts" in done.stderr, served(done)) == (True, ASKED - EMPTY), done.stderr


@both
def test_errors_of_the_program_are_those_of_its_mpi(hosts: Place, programs: dict[str, str], library: str) -> None:
    done = run(library, hosts, FOUR, (programs[library], "errors"))
    check(done, 4)
    assert served(done) == 2


@both
@pytest.mark.parametrize("what", UNEQUAL)
def test_ranks_that_do_not_do_the_same_all_hear_of_it(
    hosts: Place, programs: dict[str, str], library: str, what: str
) -> None:
    """By an error of their MPI, and by a sentence which names a rank."""
    done = run(library, hosts, FOUR, (programs[library], what))
    check(done, 4)
    for rank in range(4):
        assert re.search(rf"at rank {rank}: rank \d \(10\.1\.0\.\d\) .*; all ranks must", done.stderr), done.stderr


@both
def test_a_rank_that_ends_ends_the_others(hosts: Place, programs: dict[str, str], library: str) -> None:
    began_s = time.monotonic()
    done = run(library, hosts, FOUR, (programs[library], "ends"))
    assert done.returncode != 0 and "0 wrong" not in done.stdout
    assert time.monotonic() - began_s < 60
    until(lambda: not any(programs[library] in words for words in processes(hosts).values()))


def test_hosts_without_a_common_network_stay_with_their_mpi(hosts: Place, programs: dict[str, str]) -> None:
    done = run("openmpi", hosts, FOUR, ("env", "VAIVEN_IFACE=eth7", programs["openmpi"], "sizes"))
    check(done, 4)
    assert "there is no IPv4 network that all are on" in done.stderr


def test_a_rank_without_the_component_leaves_all_to_their_mpi(hosts: Place, programs: dict[str, str]) -> None:
    """Nobody waits for it: all know before the first call."""
    text = 'test "$OMPI_COMM_WORLD_RANK" = 2 && unset OMPI_MCA_mca_base_component_path; exec "$0" sizes'
    done = run("openmpi", hosts, FOUR, ("sh", "-c", text, programs["openmpi"]))
    check(done, 4)
    assert served(done) == 0
    assert "one of them is of another job, or has no vaiven" in done.stderr


@both
def test_it_is_a_stack_of_fanout(hosts: Place, launched: Callable, library: str) -> None:
    with captured(hosts.hosts["m1"]) as seen:
        outcome = launched(hosts, f"{library}:group", 1, 100_000, ask="fanout", to=FOUR[1:], cell_ms=30_000)
    assert outcome.failure is None, outcome.failure
    whole = [cell for cell in outcome.cells if cell.whole]
    assert [cell.size_bytes for cell in whole] == [1, 100_000]
    assert all(cell.corrupt == cell.lost == 0 and len(cell.ns) == 3 for cell in whole)
    assert seen["group_frames"] > 20 and seen["tcp"] < 3 * 100_000  # trains are seen as one frame


@pytest.mark.slow
def test_a_program_of_the_other_mpi_goes_on_without_us(hosts: Place, programs: dict[str, str]) -> None:
    """Whoever preloads what is MPICH's before a rank of Open MPI."""
    done = run("openmpi", hosts, FOUR, (*preloading(ours()[-1]), programs["openmpi"], "sizes"), Manner(yields=True))
    check(done, 4)
    assert served(done) == 0
    assert done.stderr.count("vaiven: this is Open MPI, which goes on without vaiven-mpich-group.so") == 1


@pytest.mark.slow
@both
def test_where_one_rank_cannot_meet_the_others_all_stay_with_their_mpi(
    hosts: Place, programs: dict[str, str], library: str
) -> None:
    """It has no descriptor left for a group. Nobody tries again."""
    done = run(library, hosts, FOUR, (programs[library], "lacks"))
    check(done, 4)
    assert served(done) == 0
    assert done.stderr.count("vaiven: rank 2 cannot be in a group") == 1
    assert "stay with the MPI: they could not meet as a group" in done.stderr


@pytest.mark.slow
def test_its_parameters_are_listed() -> None:
    places = f"{resources.program(mpi.GROUP['openmpi']).parent}:SYS_DEFAULT"
    listed = subprocess.run(
        ["ompi_info", "--param", "coll", "group", "--level", "9", "--parsable"],
        env=os.environ | {"OMPI_MCA_mca_base_component_path": places}, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert "param:coll_group_priority:value" in listed
