# SPDX-License-Identifier: BSD-3-Clause
"""Children: started in sessions of their own, told and heard by lines, ended with what they have started."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from vaiven import child
from vaiven.child import Child

ECHO = ["sh", "-c", 'while read -r word; do echo "heard $word"; done; echo bye']
DEAF = ["sh", "-c", 'trap "" TERM; echo $$; (sleep 60; echo late) & echo $!; while :; do sleep 60; done']


def gone(pid: int) -> bool:
    """Whether that process has ended, within a moment: a zombie has."""
    for _ in range(200):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in "ZX":
            return True
        time.sleep(0.01)
    return False


def test_a_child_answers_by_lines_and_ends_with_its_input() -> None:
    with Child(ECHO) as one:
        one.tell("a")
        one.tell("b c")
        assert (one.hear(), one.hear(9)) == ("heard a", "heard b c")
        one.end_input()
        assert (one.hear(), one.hear(), one.wait()) == ("bye", "", 0)


def test_lines_come_whole_whatever_pieces_they_travel_in() -> None:
    text = "import sys,time\nfor _ in range(5): print('x' * 200_000, end='', flush=True)\nprint();print('end', end='')"
    with Child([sys.executable, "-c", text]) as one:
        assert [len(line) for line in one.lines()] == [1_000_001, 3]


def test_one_that_is_silent_is_waited_for_so_long_and_heard_later() -> None:
    with Child(["sh", "-c", "printf half; read -r go; echo ' whole'"]) as one:
        began_s = time.monotonic()
        assert one.hear(0.2) == "" and 0.2 <= time.monotonic() - began_s < 5
        assert one.wait(0) is None
        one.tell("go")
        assert one.hear() == "half whole"


def test_who_has_gone_hears_nothing_and_says_nothing() -> None:
    with Child(["true"]) as one:
        one.wait()
        one.tell("are you there?")
        assert one.hear() == ""


def test_the_rest_has_a_deadline() -> None:
    with Child(["sh", "-c", "echo first; echo second; read -r never"]) as one:
        assert one.hear() == "first"
        with pytest.raises(TimeoutError, match=r"no answer within 0\.1 s"):
            one.rest(0.1)
        one.end_input()
        assert one.rest(9) == b"second\n"


def test_complaints_are_kept_apart_however_long_they_are() -> None:
    with Child(["sh", "-c", "yes why | head -c 3000000 >&2; echo last >&2; echo done"]) as one:
        assert one.hear() == "done"
        said = one.complaint()
        assert said.endswith("why\nlast") and len(said) < 2_000_000


def test_both_streams_may_be_kept() -> None:
    with Child(["sh", "-c", "echo one; echo two >&2; exit 3"], stdin=child.NOWHERE, stdout=child.KEPT) as one:
        assert one.wait() == 3
        assert one.complaint() == "one\ntwo"


def test_the_end_takes_what_the_child_has_started() -> None:
    with Child(DEAF) as one:
        pids = [int(one.hear()), int(one.hear())]
        one.terminate()
        assert one.wait(0.1) is None
        assert one.end(0.1) == -9
        assert [gone(pid) for pid in pids] == [True, True]


def test_no_child_outlives_an_exception() -> None:
    with pytest.raises(KeyboardInterrupt), Child(DEAF) as one:
        began_s = time.monotonic()
        raise KeyboardInterrupt
    assert gone(one.pid) and time.monotonic() - began_s < child.END_S


def test_one_that_is_let_go_lives_on() -> None:
    one = Child(["sh", "-c", "sleep 60"])
    one.let_go()
    assert one.wait(0.1) is None
    assert one.close(0) == -9


def test_a_child_that_is_not_alone_is_ended_alone() -> None:
    with Child(["sh", "-c", "ps -o pgid= -p $$; exec sleep 60"], alone=False) as one:
        assert int(one.hear()) == os.getpgrp()
        assert one.end(0) == -9


def test_a_program_that_is_not_there_leaves_no_descriptor() -> None:
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(FileNotFoundError):
        Child(["/nowhere/at/all"])
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_closed_child_leaves_no_descriptor() -> None:
    before = len(os.listdir("/proc/self/fd"))
    with Child(ECHO) as one:
        one.tell("x")
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_call_feeds_and_hears_more_than_a_pipe_holds() -> None:
    text = b"0123456789abcdef\n" * 100_000
    done = child.call(["sh", "-c", "cat; echo why >&2; exit 4"], stdin=text)
    assert (done.status, done.output == text, done.complaint) == (4, True, "why")


def test_a_call_that_takes_too_long_is_ended_with_all_that_it_started() -> None:
    with tempfile.NamedTemporaryFile() as named:
        script = f"sleep 60 & echo $! >{named.name}; sleep 60"
        with pytest.raises(TimeoutError):
            child.call(["sh", "-c", script], within_s=0.5)
        assert gone(int(Path(named.name).read_text()))


def test_a_call_that_only_closes_its_output_is_waited_for_no_longer_than_the_others() -> None:
    began_s = time.monotonic()
    with pytest.raises(TimeoutError):
        child.call(["sh", "-c", "sleep 1; exec >&-; sleep 60"], within_s=2)
    assert time.monotonic() - began_s < 2.8


def test_descriptors_are_lent_by_name_only() -> None:
    read, write = os.pipe()
    try:
        writes = [sys.executable, "-c", f"import os; os.write({write}, b'lent')"]  # a shell knows one digit only
        assert child.call(writes, lent=[write]).status == 0
        assert os.read(read, 16) == b"lent"
        assert child.call(writes).status != 0
    finally:
        os.close(read)
        os.close(write)


def test_children_end_with_a_parent_that_is_killed() -> None:
    text = (
        "import os, signal\nfrom vaiven.child import Child\n"
        "one = Child(['sh', '-c', 'read -r end'])\nprint(one.pid, flush=True)\nos.kill(os.getpid(), signal.SIGKILL)\n"
    )
    parent = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert gone(int(parent.stdout))
