# SPDX-License-Identifier: BSD-3-Clause
"""Processes that are the ranks of a group, on hosts of a lab or on this one."""

from __future__ import annotations

import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from tests.lab.texts import lab_text

from vaiven.lab import lab as labs
from vaiven.lab import topology
from vaiven.lab.lab import Lab

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_S = 120  # how long a busy machine may take for anything that takes milliseconds


# Whole rooms, so that a file more in one of them is no matter of the tests.
_PARTS = (
    "core/base/*",
    "core/wire/*",
    "core/group/*",
    "core/coll/*",
    "core/road/*",
    "io/os/*",
    "io/boot/*",
    "io/port/cast",
    "io/job/*",
)
_OF_LINUX = {"inventory", "tcp"}  # what the probe alone asks, of Linux alone: a linker that takes no more than it needs
_SECTIONS = ["-ffunction-sections", "-Wl,--gc-sections"]  # does without


def sources() -> list[str]:
    """What libvaiven is made of, for a compiler."""
    found = [path for part in _PARTS for path in sorted((ROOT / "src").glob(f"{part}.c"))]
    return [*_SECTIONS, *(str(path) for path in found if path.stem not in _OF_LINUX)]


@pytest.fixture(scope="session")
def compile_rank(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Builds group_rank, or what that source is, with that compiler, static, so that it runs anywhere."""

    def call(compiler: str, *options: str, source: str = "group_rank.c") -> Path:
        program = tmp_path_factory.mktemp("rank") / Path(source).stem
        command = [compiler, "-std=gnu17", "-O1", "-static", "-pthread", "-D_GNU_SOURCE", *options]
        paths = ["-I", str(ROOT / "src"), "-I", str(ROOT / "include")]
        rank = str(Path(__file__).with_name(source))
        subprocess.run([*command, *paths, rank, *sources(), "-o", str(program)], check=True)
        return program

    return call


@pytest.fixture(scope="session")
def rank_program(compile_rank: Callable[..., Path]) -> Path:
    return compile_rank("gcc", "-Wall", "-Wextra", "-Werror")


class Rank:
    """A rank, and what it says."""

    def __init__(self, command: Sequence[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self._unread = b""

    def tell(self, line: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(line.encode() + b"\n")

    def hear(self, patience_s: float = PATIENCE_S) -> str:
        """The next line; empty when the process has ended."""
        assert self.process.stdout
        deadline = time.monotonic() + patience_s
        while b"\n" not in self._unread:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"silence for {patience_s} s"
            some = self.process.stdout.read(4096)
            if not some:
                return ""
            self._unread += some
        line, _, self._unread = self._unread.partition(b"\n")
        return line.decode()

    def has_spoken(self) -> bool:
        assert self.process.stdout
        return bool(self._unread or select.select([self.process.stdout], [], [], 0)[0])

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                stream.close()


class Group:
    """All ranks of a group: rank i is the i-th command."""

    def __init__(self, commands: Sequence[Sequence[str]]) -> None:
        self.ranks = [Rank(command) for command in commands]
        self._seed = 0

    def opened(self) -> set[str]:
        """What they say of how they reach each other."""
        return {rank.hear() for rank in self.ranks}

    def cast(self, root: int, size: int, only: Sequence[int] | None = None) -> None:
        """Tells ranks (all by default) to take part in the next broadcast."""
        self._seed += 1 if only is None else 0
        for i in range(len(self.ranks)) if only is None else only:
            self.ranks[i].tell(f"cast {root} {size} {self._seed}")

    def done(self) -> list[str]:
        """The first words of their answers."""
        return [rank.hear().split(" ")[0] for rank in self.ranks]

    def leave(self) -> list[str]:
        for rank in self.ranks:
            rank.tell("leave")
        return [rank.hear() for rank in self.ranks]

    def end(self) -> None:
        for rank in self.ranks:
            rank.end()


@pytest.fixture
def make_group() -> Iterator[Callable[[Sequence[Sequence[str]]], Group]]:
    """Starts a group, and ends whatever is left of it."""
    groups: list[Group] = []

    def call(commands: Sequence[Sequence[str]]) -> Group:
        groups.append(Group(commands))
        return groups[-1]

    yield call
    for group in groups:
        group.end()


LAB = lab_text("ranks", 4, class_="timed", rate_mbps=1000)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Four hosts, whose links can be given faults."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VAIVEN_STATE_DIR", str(tmp_path_factory.mktemp("state")))
        yield labs.up(topology.parse(LAB))
        labs.down_all()


@pytest.fixture
def on_lab(lab: Lab, make_group: Callable[..., Group], rank_program: Path) -> Callable[..., Group]:
    """A group with one rank on each host: on_lab(programs={2: [...]}, route="broadcast")."""

    def call(
        programs: dict[int, list[str]] | None = None, route: str = "any", prefix: dict[int, list[str]] | None = None
    ) -> Group:
        meeting = f"{lab.hosts[0].address}:7000"
        commands = []
        for rank, host in enumerate(lab.hosts):
            program = (programs or {}).get(rank, [str(rank_program)])
            arguments = [str(len(lab.hosts)), str(rank), host.address, meeting, "7", route]
            commands.append(host.argv([*(prefix or {}).get(rank, []), *program, *arguments]))
        return make_group(commands)

    return call
