# SPDX-License-Identifier: BSD-3-Clause
"""Both ends of the real probe on loopback, and what they printed."""

from __future__ import annotations

import json
import secrets
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

# Of this process alone: addresses and ports of multicasts follow from the key, and others may test on this machine.
KEY = secrets.token_hex(16)
PATIENCE_S = 120.0  # a bound for machines with much else to do, and for sanitizers, not an expectation


@dataclass
class Ended:
    """One end that has ended: its records, its exit status, and how long it ran."""

    records: list[dict]
    status: int
    seconds: float = 0.0

    def of(self, kind: str) -> list[dict]:
        return [record for record in self.records if record["type"] == kind]

    @property
    def cells(self) -> list[dict]:
        return self.of("cell")

    @property
    def error(self) -> dict:
        """The last record, which must be an error."""
        assert self.records[-1]["type"] == "error", self.records
        return self.records[-1]


class Running:
    """One end that runs, started with the key on its standard input, which stays open until `end`."""

    def __init__(self, command: list[str], key: str | None, beside: list[Running]) -> None:
        self.beside = beside  # all ends of the test, which may wait for each other
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.started = time.monotonic()
        self.lines: list[bytes] = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        if key is not None:
            self.process.stdin.write(key.encode() + b"\n")
            self.process.stdin.flush()

    def ready(self) -> dict:
        """The first record."""
        self.lines.append(self.process.stdout.readline())
        return json.loads(self.lines[0])

    @property
    def seconds(self) -> float:
        """Since it was started."""
        return time.monotonic() - self.started

    def read(self) -> None:
        self.lines += self.process.stdout.readlines()

    def end(self, timeout_s: float = PATIENCE_S) -> Ended:
        """Waits for its end, with standard input open, and returns what it printed."""
        self.reader.start()
        try:
            self.process.wait(timeout_s)
        except subprocess.TimeoutExpired as late:
            for end in self.beside:
                late.add_note(end.how_it_waits())
            raise
        finally:
            self.process.kill()
            self.process.wait()
            self.reader.join()
        seconds = self.seconds
        self.process.stdin.close()
        self.process.stdout.close()
        return Ended([json.loads(line) for line in self.lines], self.process.returncode, seconds)

    def how_it_waits(self) -> str:
        """In the kernel's words: a signal that is blocked and pending (SigBlk, ShdPnd) wakes nobody."""
        command = " ".join(self.process.args)
        if self.process.poll() is not None:
            return f"{command}: ended with status {self.process.returncode}"
        status = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return ", ".join([command, *(line for line in status if line.startswith(("State", "Sig", "ShdPnd")))])


class Probe:
    """Starts ends of a probe and sees to it that none outlives the test."""

    def __init__(self, program: list[str]) -> None:
        self.program = program
        self.running: list[Running] = []

    def start(self, *arguments: str, key: str | None = KEY, program: list[str] | None = None) -> Running:
        command = [*(program or self.program), *arguments, *(["--key-stdin"] if key is not None else [])]
        self.running.append(Running(command, key, self.running))
        return self.running[-1]

    def far(self, stack: str, *options: str, bind: str = "127.0.0.1", **how) -> tuple[Running, str]:
        """A far end, and its address as --peer wants it."""
        far = self.start("far", stack, "--bind", bind, *options, **how)
        port = far.ready()["port"]
        return far, f"[{bind}]:{port}" if ":" in bind else f"{bind}:{port}"

    def near(self, stack: str, peer: str | None, *options: str, **how) -> Ended:
        place = ["--peer", peer] if peer else []
        return self.start("near", stack, *place, *options, **how).end()

    def alone(self, *arguments: str) -> Ended:
        """An end or a command that needs no key."""
        return self.start(*arguments, key=None).end()

    def pair(self, stack: str, *options: str, both: tuple[str, ...] = (), **where) -> tuple[Ended, Ended]:
        """A whole launch: (near, far). `options` are the near end's, `both` go to both."""
        far, peer = self.far(stack, *both, **where)
        near = self.near(stack, peer, *options, *both)
        return near, far.end()

    def close(self) -> None:
        for end in self.running:
            end.process.kill()
            end.process.wait()


@pytest.fixture
def probe(vaiven_programs: Callable[[str], Path]) -> Iterator[Probe]:
    probe = Probe([str(vaiven_programs("vaiven-probe"))])
    yield probe
    probe.close()


@pytest.fixture
def ask_many(probe: Probe) -> Callable[..., tuple[Ended, list[Ended]]]:
    """A whole launch with so many far ends: (what the near end printed, what each far end did)."""

    def call(ask: str, stack: str, ends: int, *options: str, both: tuple[str, ...] = (), sizes=(8,), samples: int = 4):
        fars = [probe.far(stack, *both) for _ in range(ends)]
        also = [word for _, peer in fars[1:] for word in ("--also", peer)]
        patience_ms = int(1000 * PATIENCE_S)
        effort = ("--samples", str(samples), "--cell-ms", str(patience_ms // 2), "--timeout-ms", str(patience_ms))
        asked = ("--ask", ask, "--sizes", ",".join(map(str, sizes)), *effort)
        near = probe.near(stack, fars[0][1], *also, *asked, *options, *both)
        return near, [far.end() for far, _ in fars]

    return call
