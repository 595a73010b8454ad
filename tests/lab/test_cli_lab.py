# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven lab` as a person types it: what is printed, and the exit status."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import termios

import pytest
from tests.lab.texts import lab_text

from vaiven import resources
from vaiven.errors import VaivenError
from vaiven.lab import lab as labs
from vaiven.lab import topology

TWO = lab_text("two", 2)


@pytest.fixture
def two(raise_lab):
    """A lab of the hosts two/h1 and two/h2."""
    return raise_lab(TWO)


def test_list_shows_the_ready_labs(vaiven, state_dir) -> None:
    done = vaiven("lab", "list", env=os.environ | {"COLUMNS": "200"})
    assert done.returncode == 0, done.stderr
    assert "Paper A, CeTAD: ten unlike hosts on a 10 Mb/s hub" in done.stdout
    assert "hub 10 Mb/s, timed" in done.stdout


def test_show_prints_the_file_to_copy(vaiven) -> None:
    assert vaiven("lab", "show", "cetad").stdout == (resources.ready("labs") / "cetad.toml").read_text()
    unknown = vaiven("lab", "show", "nosuch")
    assert unknown.returncode == 1 and "the ready ones are" in unknown.stderr


def test_a_mistake_in_a_file_starts_nothing(vaiven, state_dir, tmp_path) -> None:
    (tmp_path / "bad.toml").write_text(TWO.replace('class = "free"', 'class = "fre"'))
    done = vaiven("lab", "up", "./bad.toml", cwd=tmp_path)
    assert done.returncode == 1 and "bad.toml:4" in done.stderr and "'free'" in done.stderr
    assert "Traceback" not in done.stderr
    assert not state_dir.exists() or list(state_dir.iterdir()) == []


@pytest.mark.lab
def test_up_list_and_down(vaiven, state_dir, tmp_path) -> None:
    (tmp_path / "two.toml").write_text(TWO)
    raised = vaiven("lab", "up", "./two.toml", "--as", "mine", cwd=tmp_path)
    assert raised.returncode == 0, raised.stderr
    assert "mine/h1" in raised.stdout and "10.1.0.2" in raised.stdout
    again = vaiven("lab", "up", "./two.toml", "--as", "mine", cwd=tmp_path)
    assert again.returncode == 1 and "lab down mine" in again.stderr
    assert "mine" in vaiven("lab", "list").stdout
    assert vaiven("lab", "down", "mine").returncode == 0
    assert list(state_dir.iterdir()) == []
    gone = vaiven("lab", "down", "mine")
    assert gone.returncode == 1 and "no lab called 'mine'" in gone.stderr


@pytest.mark.lab
def test_down_all_takes_whole_and_broken_labs(vaiven, raise_lab, state_dir) -> None:
    broken = raise_lab(TWO, "broken")
    raise_lab(TWO, "whole")
    os.kill(broken.hosts[0].namespace.pid, signal.SIGKILL)
    listed = vaiven("lab", "list", env=os.environ | {"COLUMNS": "200"})
    assert listed.returncode == 1 and "BROKEN: gone: h1" in listed.stdout
    done = vaiven("lab", "down", "--all")
    assert done.returncode == 0 and "broken, whole" in done.stdout
    assert "no lab is up" in vaiven("lab", "down", "--all").stdout
    assert list(state_dir.iterdir()) == []


@pytest.mark.parametrize("arguments", [[], ["x", "--all"]])
def test_down_wants_one_lab_or_all(vaiven, state_dir, arguments) -> None:
    done = vaiven("lab", "down", *arguments)
    assert done.returncode == 2 and "which lab?" in done.stderr


@pytest.mark.lab
def test_check_prints_what_it_measured_and_what_was_earned(vaiven, two) -> None:
    done = vaiven("lab", "check", "two", "--quick")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "earned: free" in done.stdout and "frames/s" in done.stdout
    assert "calibration.json (vaiven lab check --forget removes it)" in "".join(done.stdout.split("\n"))
    report = json.loads(vaiven("lab", "check", "two", "--quick", "--json").stdout)
    assert report["passed"] and report["instance"] == "two" and report["rows"]


@pytest.fixture
def checked(monkeypatch):
    """checked(moved_ns, earned): `lab check` will have measured a frame 53.9 us late, and the machine moved so much."""
    from vaiven.lab import check

    def call(moved_ns: int, earned: str | None = "paced") -> None:
        row = check.Row(what="1514 B", unit="ns", expected=246_100, median=300_000, p95=310_000, limit=9_844)
        facts = {"instance": "two", "said": "timed", "earned": earned, "rate_mbps": 100, "hosts": 2}
        report = check.CheckReport(
            **facts, rows=(row,), frames_per_s=1e5, door_ns=2_200, error_ns=3_140, trains_ns=9_000, moved_ns=moved_ns
        )

        def run(lab, *, quick, say):
            say(row)
            return report

        monkeypatch.setattr(check, "run", run)

    return call


@pytest.mark.lab
@pytest.mark.parametrize(("earned", "word"), [("paced", "paced"), (None, "nothing")])
def test_a_class_that_was_not_earned_is_an_error(two, checked, capsys, earned: str | None, word: str) -> None:
    """A machine that cannot keep any class is told so, and what was measured is shown."""
    from vaiven.cli import lab as verbs

    checked(moved_ns=44_000, earned=earned)
    with pytest.raises(VaivenError, match=f"says timed and earned {word}"):
        verbs.check("two")
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("1514 B"))
    assert line.split() == ["1514", "B", "246.1", "300.0", "310.0", "+53.9", "9.8", "OFF"]


@pytest.mark.lab
def test_what_the_machine_may_have_spoilt_is_not_decided(two, checked, capsys) -> None:
    from vaiven.cli import lab as verbs

    checked(moved_ns=44_100)
    with pytest.raises(SystemExit) as ended:
        verbs.check("two")
    said = capsys.readouterr()
    assert ended.value.code == verbs.Status.CANNOT_TELL == 4
    assert "not decided; carries" in said.out and "earned" not in said.out
    found = "doors 2.2 us early, lone frames within 3.1 us, trains within 9.0 us"
    assert f"{found}: not kept, the lab stays at 1 us" in said.out
    assert "the machine moved by 44.1 us" in said.err and "try again" in said.err


TIMED = lab_text("two", 2, class_="timed", rate_mbps=100)
MEASURE = ("--stacks", "udp", "--sizes", "64,1000", "--quick")


@pytest.mark.lab
def test_measure_knows_a_lab_by_the_name_it_was_raised_under_and_names_its_calibration(
    vaiven, raise_lab, tmp_path
) -> None:
    from vaiven.lab.calibration import Calibration

    raise_lab(TIMED, "other")
    known = {"door_ns": 1_200, "error_ns": 1_640, "trains_ns": 9_000, "checked_utc": "2026-01-31T12:00:00Z"}
    labs.recalibrated(labs.find("other"), Calibration(**known))
    done = vaiven("measure", "--lab", "other", *MEASURE, cwd=tmp_path)
    assert done.returncode in (0, 4), done.stderr
    (run,) = (tmp_path / "runs").iterdir()
    place = json.loads((run / "manifest.json").read_text())["place"]
    assert (place["instance"], place["lab"]["name"]) == ("other", "two")
    assert place["calibration"] == known | {"by": "check", "in_time": True}
    assert labs.find("other")
    said = "lone frames within 1.6 µs by lab check on 2026-01-31"
    table = " ".join(vaiven("model", str(run), cwd=tmp_path, env=os.environ | {"COLUMNS": "200"}).stdout.split())
    assert said in table and "± 1.64 µs" in table and said in (tmp_path / f"{run.name}.html").read_text()


@pytest.mark.lab
def test_names_of_labs_mean_files_and_ready_ones_first(raise_lab) -> None:
    raise_lab(TWO, "other")
    assert labs.described("other")[0] == labs.find("other").topology and labs.described("other")[1] == "other"
    assert labs.described("demo") == (topology.ready("demo"), "demo")
    with pytest.raises(VaivenError, match="no lab called 'another'"):
        labs.described("another")


@pytest.mark.parametrize("verb", ["check", "down"])
def test_a_lab_that_is_not_up_is_answered_with_that_alone(vaiven, state_dir, verb) -> None:
    done = vaiven("lab", verb, "nosuch")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no lab called 'nosuch' up\n  no lab is up" in done.stderr and "lab up nosuch" not in done.stderr


def test_what_checks_found_is_forgotten_on_demand(vaiven, state_dir, tmp_path, monkeypatch) -> None:
    from vaiven.lab import calibration, topology

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # where trials are kept
    calibration.store_frames_per_s(topology.ready("demo"), 5.0)
    done = vaiven("lab", "check", "--forget")
    assert done.returncode == 0 and f"{calibration.path()}: forgotten" in done.stdout
    assert not calibration.path().exists()
    assert "nothing was kept there" in vaiven("lab", "check", "--forget").stdout


@pytest.mark.parametrize("arguments", [[], ["two", "--forget"]])
def test_check_wants_one_lab_or_to_forget(vaiven, state_dir, arguments) -> None:
    done = vaiven("lab", "check", *arguments)
    assert done.returncode == 2 and "which lab?" in done.stderr


@pytest.mark.lab
def test_run_passes_arguments_output_and_status_through(vaiven, two) -> None:
    awkward = ["a b", "$(id)", "`id`", '"', "'", ";", "*", "", "-x", "--help", "--", "<b>", "[red]"]
    script = 'for word in "$@"; do printf "%s|" "$word"; done; echo problem >&2; exit 7'
    done = vaiven("lab", "run", "two/h1", "--", "sh", "-c", script, "sh", *awkward)
    assert done.returncode == 7
    assert done.stdout == "|".join(awkward) + "|"
    assert done.stderr == "problem\n"


@pytest.mark.lab
def test_run_gets_standard_input_and_reports_a_signal(vaiven, two) -> None:
    assert vaiven("lab", "run", "two/h1", "--", "cat", input="as it is\n").stdout == "as it is\n"
    assert vaiven("lab", "run", "two/h1", "--", "sh", "-c", "kill -9 $$").returncode == -signal.SIGKILL
    assert vaiven("lab", "run", "two/h1", "--", "/nosuch").returncode == 127


@pytest.mark.lab
@pytest.mark.parametrize(
    ("arguments", "text", "status"),
    [
        (["two/h9", "--", "true"], "its hosts are h1, h2", 1),
        (["h1", "--", "true"], "write LAB/HOST", 1),
        (["three/h1", "--", "true"], "no lab called 'three'", 1),
        (["two/h1"], "which command?", 2),
    ],
)
def test_run_says_what_is_wrong(vaiven, two, arguments, text, status) -> None:
    done = vaiven("lab", "run", *arguments)
    assert done.returncode == status and text in done.stderr and "Traceback" not in done.stderr


@pytest.mark.lab
def test_an_interrupt_is_for_the_command_alone(two) -> None:
    """Ctrl-C at a terminal reaches every process of the foreground; ping must live to print its summary."""
    command = [sys.executable, "-m", "vaiven", "lab", "run", "two/h1", "--", "ping", "-i0.2", "h2"]
    child, terminal = pty.fork()
    if child == 0:
        os.execv(command[0], command)
    attributes = termios.tcgetattr(terminal)
    attributes[3] |= termios.NOFLSH  # else the kernel may throw the summary away with what was printed before Ctrl-C
    termios.tcsetattr(terminal, termios.TCSANOW, attributes)
    output = b""
    interrupted = False
    with contextlib.suppress(OSError):  # the terminal's end when the command has ended
        while piece := os.read(terminal, 4096):
            output += piece
            if output.count(b"icmp_seq=") >= 3 and not interrupted:
                interrupted = True
                os.write(terminal, b"\x03")
    assert b"statistics" in output, output
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.close(terminal)


@pytest.mark.lab
def test_shell_is_the_users_on_that_host(vaiven, two) -> None:
    done = vaiven("lab", "shell", "two/h2", input="hostname; exit 3\n", env=os.environ | {"SHELL": "/bin/sh"})
    assert (done.returncode, done.stdout) == (3, "h2\n")


@pytest.mark.lab
def test_a_lab_being_raised_is_called_so(vaiven, two) -> None:
    from vaiven.lab import state

    with state.held("two"):
        assert "being raised or taken down" in vaiven("lab", "list").stdout
    assert labs.find("two")


def test_the_verbs_load_nothing_heavy_until_they_are_used() -> None:
    heavy = "('pyroute2', 'msgspec', 'numpy', 'polars')"
    script = f"import sys; from vaiven.cli import lab; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
