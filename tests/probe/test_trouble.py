# SPDX-License-Identifier: BSD-3-Clause
"""Networks that lose, delay, repeat and spoil, and ends that die: counted or said, never a hang, never timed."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import threading
import time

import pytest

from . import by_hand, conftest

KEY = bytes.fromhex(conftest.KEY)
SHORT = ("--samples", "40", "--cell-ms", "60000", "--timeout-ms", "150")
PATIENT = ("--timeout-ms", "60000")  # where nothing is lost: nobody who answers slowly is taken for lost
LATE_S = 0.5  # later than the time-out, which is twice as long where a slow clock (of an emulator) asks for batches


def near_udp(probe, answers: by_hand.Answers, size: int, *options: str):
    far = by_hand.UdpFar(KEY, answers)
    ended = probe.near("udp", far.peer, "--sizes", str(size), *SHORT, *options)
    assert ended.status == 0, ended.records
    return far, ended.cells[0]


@pytest.mark.parametrize("size", [0, 1, 7, 8, 1000])
def test_lost_answers_are_counted(probe, size: int) -> None:
    _, cell = near_udp(probe, lambda i, message: [] if i % 40 == 39 else [(0, message)], size)
    assert len(cell["rtt_ns"]) == 40 and cell["lost"] >= 1
    assert cell["late"] < cell["lost"] and cell["corrupt"] == 0  # what a busy machine answers late is lost, too


@pytest.mark.parametrize("size", [8, 1000])
def test_late_answers_are_counted_and_not_timed(probe, size: int) -> None:
    """Six are lost, each for a time-out: while the last ones are, the first one's answer comes."""
    _, cell = near_udp(probe, lambda i, message: [(LATE_S if i % 40 == 39 else 0, message)], size, "--samples", "240")
    assert len(cell["rtt_ns"]) == 240 and cell["lost"] >= 6
    assert cell["late"] >= 1 and cell["corrupt"] == 0
    assert max(cell["rtt_ns"]) < LATE_S * 1e9


def test_an_answer_that_came_too_late_is_late_even_if_nobody_looked_before(probe) -> None:
    """The near end is stopped until both its time-out is over and the answer is there.

    Where a slow clock, of an emulator, asks for batches, such an answer goes to an end that is closed, as others do.
    """

    def answers(i: int, message: bytes):
        if i != 1500:  # a warm-up has 20 windows of 64 and one more at most, where other work disturbs it
            return [(0, message)]
        near = probe.running[-1].process
        near.send_signal(signal.SIGSTOP)
        threading.Timer(2 * LATE_S, near.send_signal, [signal.SIGCONT]).start()
        return [(LATE_S, message)]

    _, cell = near_udp(probe, answers, 64, "--samples", "2000", "--wait", "spin")
    assert len(cell["rtt_ns"]) == 2000 and max(cell["rtt_ns"]) < LATE_S * 1e9
    assert cell["lost"] >= 1 and cell["corrupt"] == 0
    assert cell["late"] >= 1 or cell["batch"] > 1


@pytest.mark.parametrize("size", [0, 1, 7])
def test_late_answers_to_short_messages_reach_nobody(probe, size: int) -> None:
    """They carry too little to tell them apart, so they must go to an end that is closed."""
    far, cell = near_udp(probe, lambda i, message: [(LATE_S if i % 40 == 39 else 0, message)], size)
    assert cell["lost"] >= 1 and cell["late"] == 0 and cell["corrupt"] == 0
    assert far.opened > cell["lost"]


def test_repeated_answers_are_not_taken_for_fresh_ones(probe) -> None:
    _, cell = near_udp(probe, lambda i, message: [(0, message), (0, message)], 64, *PATIENT)
    assert len(cell["rtt_ns"]) == 40 and cell["late"] >= 39
    assert cell["lost"] == 0 and cell["corrupt"] == 0


def test_spoilt_answers_are_counted_and_not_timed(probe) -> None:
    def spoil(i: int, message: bytes):
        """An odd and an even one in ten: of a batch of two the last is looked at."""
        return [(0, message[:-1] + bytes([message[-1] ^ 1]) if i % 10 in (4, 9) else message)]

    _, cell = near_udp(probe, spoil, 64, *PATIENT)
    assert len(cell["rtt_ns"]) == 40 and 8 <= cell["corrupt"] <= 12


def test_answers_of_another_size_are_dropped(probe) -> None:
    def answers(i: int, message: bytes):
        return [(0, message[:-1]), (0, message + b"x"), (0, message)]

    _, cell = near_udp(probe, answers, 64, *PATIENT)
    assert len(cell["rtt_ns"]) == 40 and cell["lost"] == cell["corrupt"] == 0


def test_a_far_end_that_says_nothing_costs_the_time_of_the_cell(probe) -> None:
    far = by_hand.UdpFar(KEY, lambda i, message: [])
    ended = probe.near("udp", far.peer, "--sizes", "64", "--cell-ms", "600", "--timeout-ms", "50")
    assert ended.status == 0 and ended.seconds < 30
    assert ended.cells[0]["rtt_ns"] == [] and ended.cells[0]["lost"] > 0


def running_pair(probe, stack: str, *options: str):
    far, peer = probe.far(stack, *options)
    arguments = ("--sizes", "64", "--cell-ms", "60000", "--samples", "10000000", "--timeout-ms", "500")
    near = probe.start("near", stack, "--peer", peer, *arguments, *options)
    assert near.ready()["type"] == "hello"
    time.sleep(0.2)
    return near, far


@pytest.mark.parametrize("stack", ["tcp", "udp"])
@pytest.mark.parametrize("wait", ["block", "spin"])
def test_a_peer_killed_in_a_cell_is_an_error_in_time(probe, stack: str, wait: str) -> None:
    near, far = running_pair(probe, stack, "--wait", wait)
    far.process.kill()
    ended = near.end()  # the cell alone would take twice as long
    assert ended.status == 1 and ended.error["code"] == "peer-gone" and ended.error["remedy"]


@pytest.mark.parametrize("stack", ["tcp", "udp"])
def test_a_near_end_killed_in_a_cell_frees_the_far_end(probe, stack: str) -> None:
    near, far = running_pair(probe, stack)
    near.process.kill()
    ended = far.end()
    assert ended.status == 1 and ended.error["code"] == "peer-gone"


def test_a_tcp_peer_that_stops_is_an_error_in_time(probe) -> None:
    near, far = running_pair(probe, "tcp")
    far.process.send_signal(signal.SIGSTOP)
    ended = near.end()
    far.process.kill()
    assert ended.status == 1 and ended.error["code"] == "no-answer"


def test_a_far_host_that_is_not_there(probe) -> None:
    ended = probe.near("tcp", "127.0.0.1:9", "--sizes", "64")
    assert ended.status == 1 and ended.error["code"] == "refused" and "127.0.0.1:9" in ended.error["text"]


def test_signals_do_not_matter(probe) -> None:
    near, far = running_pair(probe, "tcp")
    for _ in range(200):
        near.process.send_signal(signal.SIGALRM)
        far.process.send_signal(signal.SIGIO)
        near.process.send_signal(signal.SIGPIPE)
        time.sleep(0.001)
    assert near.process.poll() is None and far.process.poll() is None


def test_a_reader_that_goes_away_ends_the_probe(probe, tmp_path) -> None:
    """The pipe breaks while cells are printed: no signal, no endless measuring."""
    command = [*probe.program, "near", "null", "--sizes", ",".join(["64"] * 1000), "--samples", "2000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=30) == 1


def test_a_full_disk_is_noticed(probe) -> None:
    with open("/dev/full", "wb") as full:
        command = [*probe.program, "near", "null", "--sizes", "64"]
        assert subprocess.run(command, stdout=full, stdin=subprocess.DEVNULL, timeout=30, check=False).returncode == 1


def test_names_are_never_more_than_names(probe) -> None:
    """A stack's, an option's or a file's name comes back as text."""
    evil = "$(touch /tmp/x)<b>\"';"
    ended = probe.alone("near", evil, "--sizes", "1")
    assert ended.status == 2 and evil in ended.error["text"]
    assert evil in json.dumps(ended.error["text"]).encode().decode("unicode_escape")


def test_no_port_left_in_the_range(probe) -> None:
    far, peer = probe.far("tcp")
    port = peer.rsplit(":", 1)[1]
    ended = probe.start("far", "tcp", "--bind", "127.0.0.1", "--port", port).end()
    assert ended.status == 1 and ended.error["code"] == "no-port" and port in ended.error["text"]
    far.process.kill()


@pytest.mark.parametrize("stack", ["tcp", "udp"])
def test_one_fixed_port_serves_one_launch_after_the_other(probe, stack: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    for _ in range(3):
        far, peer = probe.far(stack, "--port", port)
        assert peer == f"127.0.0.1:{port}"
        near = probe.near(stack, peer, "--sizes", "64", "--samples", "10")
        assert near.status == 0, near.records
        assert far.end().status == 0


def test_an_address_of_another_host(probe) -> None:
    ended = probe.start("far", "tcp", "--bind", "192.0.2.1").end()
    assert ended.status == 1 and ended.error["code"] == "bad-address" and "192.0.2.1" in ended.error["text"]


def test_an_end_that_does_not_end_says_how_it_waits(probe) -> None:
    far, _ = probe.far("udp")
    with pytest.raises(subprocess.TimeoutExpired) as late:
        far.end(timeout_s=0.1)
    (note,) = late.value.__notes__
    assert " far udp " in note and "State:" in note and "SigBlk:" in note and "ShdPnd:" in note
