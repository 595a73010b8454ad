# SPDX-License-Identifier: BSD-3-Clause
"""Far ends whose clock is another one: it is found between bounds that hold the truth, or no time is made of it.

On one machine all clocks are one. So the far end's lines pass through a hand that tells another time than it did, and
holds lines up, as queues do.
"""

from __future__ import annotations

import random
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

LONG_NS = 10**15  # what is longer is a time of day

Delay = Callable[[random.Random], float]


class Clock:
    """`ahead_ns` ahead of CLOCK_REALTIME, faster by `drift`; set by step_ns when it has been read step_at times."""

    def __init__(self, ahead_ns: int, drift: float, step_ns: int = 0, step_at: int = 0) -> None:
        self.ahead_ns, self.drift, self.step_ns, self.step_at = ahead_ns, drift, step_ns, step_at
        self.began_ns = time.time_ns()
        self.readings = 0

    def ahead(self, real_ns: int) -> float:
        return self.ahead_ns + self.drift * (real_ns - self.began_ns)

    def shown(self, real_ns: int) -> int:
        stepped = self.step_ns if 0 < self.step_at <= self.readings else 0
        return real_ns + round(self.ahead(real_ns)) + stepped

    def real(self, shown_ns: int) -> int:
        since_ns = shown_ns - self.ahead_ns - self.began_ns
        return self.began_ns + round(since_ns / (1 + self.drift))


class Hand(threading.Thread):
    """Between a near end and the far end at `peer`, whose times of day become those of `clock`."""

    def __init__(self, peer: str, clock: Clock, there: Delay, back: Delay) -> None:
        super().__init__(daemon=True)
        host, port = peer.rsplit(":", 1)
        self.clock, self.there, self.back = clock, there, back
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.far = socket.create_connection((host, int(port)))
        self.peer = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.start()

    def run(self) -> None:
        near, _ = self.listener.accept()
        back = threading.Thread(target=self.pass_on, args=(self.far, near, self.to_near, self.back), daemon=True)
        back.start()
        self.pass_on(near, self.far, self.to_far, self.there)
        back.join()
        for one in (near, self.far, self.listener):
            one.close()

    def pass_on(self, source: socket.socket, to: socket.socket, told: Callable[[str], str], delay: Delay) -> None:
        rng = random.Random(1)
        to.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            for line in source.makefile("r"):
                told_now = told(line)
                time.sleep(delay(rng))
                to.sendall(told_now.encode())
            to.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def to_near(self, line: str) -> str:
        self.clock.readings += line.startswith("clock ")
        return self.replaced(line, self.clock.shown)

    def to_far(self, line: str) -> str:
        return self.replaced(line, self.clock.real)

    @staticmethod
    def replaced(line: str, other: Callable[[int], int]) -> str:
        def one(found: re.Match[str]) -> str:
            ns = int(found[2])
            return found[1] + str(other(ns) if ns > LONG_NS else ns)

        return re.sub(r"((?:real|at|first|last)_ns=)(\d+)", one, line)


def at_once(_: random.Random) -> float:
    return 0


def queued(rng: random.Random) -> float:
    """Mostly waits, and never not at all."""
    return 0.0001 + rng.expovariate(1 / 0.0003)


@pytest.fixture
def ask(probe) -> Iterator[Callable[..., tuple[dict, list[dict]]]]:
    """A question about one size whose far end has that clock: the cell, and the warnings."""

    def call(ask: str, stack: str, clock: Clock, *options: str, there: Delay = at_once, back: Delay = at_once):
        far, peer = probe.far(stack)
        hand = Hand(peer, clock, there, back)
        near = probe.near(stack, hand.peer, "--ask", ask, *options, "--cell-ms", "20000")
        hand.join(60)
        assert near.status == 0, near.error
        assert far.end().status == 0
        (cell,) = near.cells
        return cell, near.of("warning")

    return call


def told(ask, *arguments, **options) -> dict:
    """A cell whose clocks could be compared: a machine that is busy with other things may take a few tries."""
    for _ in range(5):
        cell, _ = ask(*arguments, **options)
        if cell["clock"]["kind"] == "bounded":
            return cell
    pytest.fail("the clocks could not be compared in five cells")


@pytest.mark.parametrize("drift", [50e-6, -50e-6])
@pytest.mark.parametrize("question", ["fanout", "stream", "exchange"])
def test_the_bounds_hold_the_truth_where_one_way_waits(ask, question: str, drift: float) -> None:
    clock = Clock(3_000_000_000 if drift > 0 else -7_000_000_000, drift)
    effort = ("--sizes", "30000000", "--samples", "3")
    there, back = (queued, at_once) if drift > 0 else (at_once, queued)
    cell = told(ask, question, "tcp", clock, *effort, there=there, back=back)
    (end,) = cell["clock"]["ends"]
    for at_ns, low_ns, high_ns in zip(end["at_ns"], end["low_ns"], end["high_ns"], strict=True):
        assert low_ns <= clock.ahead(at_ns) <= high_ns
        assert high_ns - low_ns <= 2 * cell["clock"]["error_ns"] + 1
    assert end["drift_ppb"][0] <= 1e9 * drift <= end["drift_ppb"][1]
    middle_ns = sorted(cell["last_ns"])[len(cell["last_ns"]) // 2]
    assert 10 * cell["clock"]["error_ns"] <= middle_ns < 10**9


def test_a_clock_that_is_set_meanwhile_is_named_and_not_believed(ask) -> None:
    clock = Clock(0, 0, step_ns=-1_000_000_000, step_at=33)  # of 48 readings the last 16 are after the rounds
    cell, warnings = ask("fanout", "tcp", clock, "--sizes", "100000", "--samples", "3")
    assert cell["clock"]["kind"] == "barrier" and len(cell["last_ns"]) == 3
    (said,) = [one["text"] for one in warnings if one["code"] == "barrier-clock"]
    assert "127.0.0.1 was set meanwhile" in said


@pytest.mark.native
def test_a_time_one_way_that_the_clocks_do_not_tell_is_refused(ask) -> None:
    wire = ("--mtu", "1500", "--rate-bps", "1000000000", "--hops", "2")
    effort = ("--sizes", "1000", "--samples", "5", *wire)
    cell, warnings = ask("oneway", "udp", Clock(10**12, 0), *effort, back=lambda _: 0.02)
    assert cell["clock"]["kind"] == "refused" and cell["clock"]["error_ns"] >= 10_000_000
    assert cell["last_ns"] == cell["first_ns"] == [None] * 5
    (said,) = [one for one in warnings if one["code"] == "rough-clock"]
    assert "more than a tenth of the result" in said["text"]
