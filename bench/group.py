# SPDX-License-Identifier: BSD-3-Clause
"""What `group` costs beside its time on a good network: attacked, with losses, at 1 Gb/s, in memory, in processor time.

Its ranks are tests/io/engine/group_rank.c on hosts of a lab, told what to do by lines; or `vaiven measure`; or, where a
thousand ranks are asked for, the simulator.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import broadcast
from broadcast import LAUNCHES, MB, MIB, Measured
from ratio import Ratio, anchor, bound, ratio

from vaiven import resources
from vaiven.lab import faults, topology
from vaiven.lab import lab as labs
from vaiven.lab.lab import Lab

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = ("vaiven-core", "vaiven-io")  # of src/*/meson.build: all that a program over the product is made of
PORT, KEY = 7000, 7
OPENING_MS_MOST = {"lidi": 20.0, "inpe": 40.0, "hub8": 80.0}
AMONG_MS_MOST, AMONG_MANY = {"lidi": 1.0, "inpe": 2.0}, 1000
ROADS = {8: 300, 1024: 300, 65536: 60, 1048576: 10}  # size in bytes -> samples of a round
COUNTED, COUNTED_CASTS = "vv_group_broadcast", (100, 500)  # what they differ by is so many broadcasts and no opening
SETTLED_NS = 200_000_000  # the group before has been left everywhere
ATTACK, ATTACK_S = 100_000, 10  # datagrams a second, and how long


@contextmanager
def raised(what: topology.Topology) -> Iterator[Lab]:
    lab = labs.up(what, f"bench-{os.getpid()}", bound=True)
    try:
        yield lab
    finally:
        labs.down(lab)


def built(directory: str, name: str, *options: str, source: str = "tests/io/engine/group_rank.c") -> Path:
    """That program, built as the product is."""
    program = Path(directory) / name
    command = ["cc", "-std=gnu17", "-O2", "-pthread", "-D_GNU_SOURCE", '-DVV_VERSION="bench"', "-Isrc", "-Iinclude"]
    command += [*options, source, *_sources(), "-o", str(program), "-lm"]
    subprocess.run(command, cwd=ROOT, check=True)
    return program


def _sources() -> list[str]:
    """What the libraries of the product are built from, as the build knows it."""
    asked = ["meson", "introspect", "--targets", "build"]
    targets = json.loads(subprocess.run(asked, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    libraries = [target for target in targets if target["name"] in LIBRARIES]
    return [path for library in libraries for part in library["target_sources"] for path in part.get("sources", ())]


class Ranks:
    """A group of one rank on each host. watched, watcher: that rank is run by those words, such as valgrind's."""

    def __init__(self, lab: Lab, program: Path, watched: int = -1, watcher: Sequence[str] = ()) -> None:
        meeting, self._casts = f"{lab.hosts[0].address}:{PORT}", 0
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        self.processes = []
        for rank, host in enumerate(lab.hosts):
            words = [str(program), str(len(lab.hosts)), str(rank), host.address, meeting, str(KEY), "any"]
            words = [*watcher, *words] if rank == watched else words
            self.processes.append(subprocess.Popen(host.argv(words), **pipes))
        self._hear("open")

    def _hear(self, word: str) -> list[str]:
        lines = [process.stdout.readline() for process in self.processes]
        if not all(line.startswith(word) for line in lines):
            raise RuntimeError(f"a rank did not say '{word}': {lines}")
        return lines

    def cast(self, size: int) -> float:
        """Seconds of a broadcast from rank 0 until the last has it; every byte is checked."""
        self._casts += 1
        begun = time.perf_counter()
        for process in self.processes[::-1]:
            process.stdin.write(f"cast 0 {size} {self._casts}\n")
            process.stdin.flush()
        self._hear("done")
        return time.perf_counter() - begun

    def groups(self, many: int) -> float:
        """Seconds in which the last rank has made and left so many groups of all."""
        for process in self.processes:
            process.stdin.write(f"groups {many}\n")
            process.stdin.flush()
        return max(int(line.split()[1]) for line in self._hear("grouped")) / 1e6

    def processor_ns(self) -> int:
        """What the thread of rank 0 has had of a processor."""
        self.processes[0].stdin.write("counts\n")
        self.processes[0].stdin.flush()
        return int(self.processes[0].stdout.readline().split()[3])

    def leave(self) -> None:
        """All ranks leave the group and end."""
        for process in self.processes:
            process.stdin.write("leave\n")
            process.stdin.flush()
        for process in self.processes:
            process.wait()

    def end(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


@contextmanager
def _ranks(lab: Lab, program: Path, watched: int = -1, watcher: Sequence[str] = ()) -> Iterator[Ranks]:
    ranks = Ranks(lab, program, watched, watcher)
    try:
        yield ranks
    finally:
        ranks.end()


def instructions() -> list[Ratio]:
    """What a broadcast takes of the processor in the library, whatever else the machine does: counted by callgrind."""
    found = []
    with tempfile.TemporaryDirectory() as scratch, raised(topology.ready("free")) as lab:
        program, counts = built(scratch, "group_rank", "-g"), Path(scratch) / "callgrind"
        watcher = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}", f"--toggle-collect={COUNTED}"]
        for size in (1, 1000):
            for rank, name in enumerate(("root", "a receiver")):
                spent = []
                for casts in COUNTED_CASTS:
                    with _ranks(lab, program, rank, watcher) as ranks:
                        for _ in range(casts):
                            ranks.cast(size)
                        ranks.leave()
                    spent.append(_total(counts))
                each = (spent[1] - spent[0]) / (COUNTED_CASTS[1] - COUNTED_CASTS[0])
                what = f"instructions of a broadcast of {size} B at {name}"
                found.append(Ratio(what, each, each, each, 1, "none", True))
    return found


def _total(counts: Path) -> int:
    """The instructions in that file of callgrind."""
    line = next(line for line in counts.read_text().splitlines() if line.startswith("totals:"))
    return int(line.split()[1])


def opening(rounds: int) -> list[Ratio]:
    """How long `vv_group_open` takes, from the call of the last rank until the last rank has returned."""
    found = []
    with tempfile.TemporaryDirectory() as scratch:
        program = built(scratch, "open", source="bench/open.c")
        for name, most in OPENING_MS_MOST.items():
            with raised(topology.ready(name)) as lab:
                spent = _openings(lab, program, rounds)
                found.append(bound(f"`{name}`, open of a group of {len(lab.hosts)}, ms", spent, most, "ms"))
    return found


def further(rounds: int) -> list[Ratio]:
    """How long it takes to make and leave a group of all ranks of one, and another, a thousand in a row."""
    found = []
    with tempfile.TemporaryDirectory() as scratch:
        program = built(scratch, "group_rank")
        for name, most in AMONG_MS_MOST.items():
            with raised(topology.ready(name)) as lab, _ranks(lab, program) as ranks:
                spent = [ranks.groups(AMONG_MANY) * 1000 / AMONG_MANY for _ in range(rounds)]
                ranks.leave()
            found.append(bound(f"`{name}`, a further group of {len(lab.hosts)} made and left, ms", spent, most, "ms"))
    return found


def _openings(lab: Lab, program: Path, rounds: int) -> list[float]:
    """Milliseconds, round by round."""
    spent = []
    with started(lab, program, len(lab.hosts)) as processes:
        for _ in range(rounds):
            said = asked(processes, str(time.monotonic_ns() + SETTLED_NS), "opened")
            spent.append((max(int(to) for _, to in said) - max(int(begun) for begun, _ in said)) / 1e6)
    return spent


@contextmanager
def started(lab: Lab, program: Path, count: int, *more: str) -> Iterator[list[subprocess.Popen]]:
    """A rank of that program on each of so many hosts, told RANKS RANK ADDRESS MEETING and more: bench/open.c and the
    like."""
    meeting = f"{lab.hosts[0].address}:{PORT}"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with ExitStack() as ending:
        processes = []
        for rank, host in enumerate(lab.hosts[:count]):
            words = [str(program), str(count), str(rank), host.address, meeting, *more]
            processes.append(ending.enter_context(subprocess.Popen(host.argv(words), **pipes)))
        for process in processes:  # all, before any is waited for: a rank that leaves waits for the others
            ending.callback(process.stdin.close)
        yield processes


def asked(processes: Sequence[subprocess.Popen], line: str, answer: str) -> list[list[str]]:
    """What each says behind that word when all are told that line. RuntimeError where it says another one."""
    for process in processes:
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
    said = [process.stdout.readline().split() for process in processes]
    if any(words[:1] != [answer] for words in said):
        raise RuntimeError(f"a rank was to say {answer!r}: {said}")
    return [words[1:] for words in said]


def _own_port(lab: Lab, number: int) -> str:
    """The UDP port of that rank's own socket: the last one that is bound to the host's own address."""
    table = subprocess.run(lab.hosts[number].argv(["cat", "/proc/net/udp"]), capture_output=True, text=True, check=True)
    own = bytes(int(part) for part in reversed(lab.hosts[number].address.split("."))).hex().upper()
    ports = [line.split()[1].split(":") for line in table.stdout.splitlines()[1:]]
    return str(int(next(port for address, port in reversed(ports) if address == own), 16))


def attacked(rounds: int) -> list[Ratio]:
    """1 MB to three while one of them gets 100000 forged datagrams a second for 10 s, against in peace."""
    pairs, sent = [], []
    with tempfile.TemporaryDirectory() as scratch, raised(topology.ready("free")) as lab:
        hostile = built(scratch, "hostile", source="tests/io/engine/hostile.c")
        with _ranks(lab, built(scratch, "group_rank")) as ranks:
            places = [lab.hosts[3].address, lab.hosts[1].address, _own_port(lab, 1), str(PORT)]
            # An attacker has a machine of its own: here it goes before the ranks that share its processors.
            words = ["nice", "-n", "-10", str(hostile), *places, str(ATTACK_S), str(ATTACK)]
            for _ in range(rounds):
                peace = statistics.median(ranks.cast(MB) for _ in range(30))
                flood = subprocess.Popen(lab.hosts[3].argv(words), stdout=subprocess.PIPE, text=True)
                flood.stdout.readline()
                war = []
                while flood.poll() is None:
                    war.append(ranks.cast(MB))
                sent.append(int(flood.stdout.read().split()[1]) / ATTACK_S)
                pairs.append((statistics.median(war), peace))
    what = f"free: 1 MB to 3, one of them gets {statistics.median(sent):.0f} forged datagrams a second / in peace"
    return [ratio(what, pairs, 2)]


def flat(seed: int) -> list[Ratio]:
    """Small messages to 15 against to one: of `group`, and of the raw sender, which no goal is about."""
    sizes = (8, 100, 1000)
    times = broadcast.medians(Measured("inpe", broadcast.OURS, (1, 15), sizes, 100, 400, LAUNCHES), seed)
    found = []
    for stack in broadcast.OURS:
        for size in sizes:
            what = f"inpe: {size} B, {stack} to 15 / to 1"
            found.append(anchor(what, broadcast.pairs(what, times, (stack, 15, size), (stack, 1, size)), None))
    return found


def gigabit(seed: int) -> list[Ratio]:
    """8 MiB to 4 at 1 Gb/s, paced, against the raw sender, which sends 64 datagrams by one call."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as lab:
        lab.write('name = "gigabit"\n[fabric]\nkind = "switch"\nclass = "paced"\nrate_mbps = 1000\n')
        lab.write('[[hosts]]\nprefix = "g"\ncount = 5\n')
        lab.flush()
        times = broadcast.medians(Measured(lab.name, broadcast.OURS, (4,), (8 * MIB,), 5, 2000, LAUNCHES), seed)
    what = "1 Gb/s paced: 8 MiB to 4, group / raw"
    return [ratio(what, broadcast.pairs(what, times, ("group", 4, 8 * MIB), ("raw", 4, 8 * MIB)), 1 / 0.95)]


def sender(rounds: int) -> list[Ratio]:
    """Processor time of a root for 8 MiB: sixteen datagrams by one system call, against one by one."""
    spent: dict[str, list[int]] = {"batched": [], "plain": []}
    with tempfile.TemporaryDirectory() as scratch, raised(topology.ready("free")) as lab:
        programs = {"batched": built(scratch, "batched"), "plain": built(scratch, "plain", "-DVV_PORTABLE")}
        for _ in range(rounds):
            for name, program in programs.items():
                with _ranks(lab, program) as ranks:
                    ranks.cast(8 * MIB)
                    before = ranks.processor_ns()
                    for _ in range(4):
                        ranks.cast(8 * MIB)
                    spent[name].append(ranks.processor_ns() - before)
    each = statistics.median(spent["batched"]) / (4 * 8 * MIB / 1456)
    what = f"free: processor time of the root for 8 MiB, batched ({each:.0f} ns a datagram) / one by one"
    return [anchor(what, list(zip(spent["batched"], spent["plain"], strict=True)), None)]


def lossy(rounds: int) -> list[Ratio]:
    """8 MiB to 15 at 50 Mb/s with 1 % of all frames lost at each host, against without loss."""
    pairs = []
    with (
        tempfile.TemporaryDirectory() as scratch,
        raised(topology.ready("inpe")) as lab,
        _ranks(lab, built(scratch, "group_rank")) as ranks,
    ):
        ranks.cast(MB)
        for _ in range(rounds):
            good = ranks.cast(8 * MIB)
            faults.change(lab, topology.Fault(host="*", kind="loss", probability=0.01, direction="in"))
            bad = ranks.cast(8 * MIB)
            faults.cure(lab, "*")
            pairs.append((bad, good))
    return [ratio("inpe: 8 MiB to 15, 1 % lost at each / none", pairs, 1 / 0.95)]


def roads(rounds: int) -> list[Ratio]:
    """A message there and back between two ranks: by the road of a job, which is TCP, over a broadcast to one, which is
    the group's own protocol; mean times, with nothing lost and with 1 % of all frames."""
    found = []
    with tempfile.TemporaryDirectory() as scratch, raised(topology.ready("free")) as lab:
        program = built(scratch, "road", source="bench/road.c")
        for lost in (0.0, 0.01):
            if lost:
                faults.change(lab, topology.Fault(host="*", kind="loss", probability=lost, direction="in"))
            for size, samples in ROADS.items():
                what = f"`free`, {size} B between two, {lost:.0%} lost: road / broadcast"
                found.append(anchor(what, _round_trips(lab, program, size, samples, rounds), None))
    return found


def _round_trips(lab: Lab, program: Path, size: int, samples: int, rounds: int) -> list[tuple[float, float]]:
    """(road, broadcast): mean round trips in ns of each round."""
    meeting = f"{lab.hosts[0].address}:{PORT}"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    ranks = [subprocess.Popen(host.argv([str(program), str(rank), host.address, meeting]), **pipes)
             for rank, host in enumerate(lab.hosts[:2])]  # fmt: skip
    for process in ranks:
        process.stdin.write(f"{size} {samples}\n" * rounds)
        process.stdin.close()
    said, *_ = [process.stdout.read().splitlines() for process in ranks]
    for process in ranks:
        process.wait()
    if len(said) != rounds or not all(line.startswith("took") for line in said):
        raise RuntimeError(f"a rank did not send or take: {said}")
    return [(float(line.split()[1]), float(line.split()[2])) for line in said]


def _simulated(*words: str) -> tuple[dict, float, float]:
    """(what the simulator says, seconds of processor time, MiB) of a thousand ranks."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [str(resources.program("vaiven-sim")), "group", "--ranks", "1000", *words]
    said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = usage.ru_utime + usage.ru_stime - before.ru_utime - before.ru_stime
    return said, seconds, usage.ru_maxrss / 1024


def thousand() -> list[Ratio]:
    """A thousand ranks, simulated: memory of each, what repair costs the busiest link, and a message of 64 MiB."""
    _, _, whole_mib = _simulated("--size", str(MIB))
    said, _, _ = _simulated("--size", str(8 * MB), "--loss", "0.0001")
    _, seconds, _ = _simulated("--size", str(64 * MIB))
    return [
        bound("1000 ranks, simulated: memory of each, 1 MiB of its user, MiB", [whole_mib / 1000], 16, "MiB"),
        bound(
            "1000 ranks, loss 1e-4: repair and control on the busiest link, %",
            [said["busiest_overhead_percent"]],
            1.5,
            "%",
        ),
        bound("1000 ranks x 64 MiB simulated, processor seconds", [seconds], 60, "s"),
    ]
