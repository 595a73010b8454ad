# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven measure` with the real probe: on this machine, in a lab, stopped and resumed, with bad input."""

from __future__ import annotations

import csv
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.lab.texts import lab_text

from vaiven.cli.status import Status
from vaiven.lab import calibration, topology
from vaiven.lab import lab as labs
from vaiven.store import query

Vaiven = Callable[..., subprocess.CompletedProcess[str]]
HERE = ["--hosts", "localhost,localhost", "--stacks", "tcp,udp", "--sizes", "8,1000", "--quick"]
LAB = lab_text("measured", 3, prefix="m")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of its own, where runs and pages go, and labs that nobody else sees."""
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.delenv("VAIVEN_RUNS", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lab.toml").write_text(LAB)
    return tmp_path


def only_run(place: Path) -> query.Run:
    (run,) = query.runs(place / "runs")
    assert isinstance(run, query.Run), run
    return run


def probes(word: str) -> list[str]:
    """Probes that still run with that word on their command line."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = process.read_text().split("\0")
        except OSError:
            continue
        if any(Path(one).name == "vaiven-probe" for one in words) and word in words:
            found.append(" ".join(words))
    return found


def test_one_command_measures_and_tells(vaiven: Vaiven, place: Path) -> None:
    done = vaiven("measure", *HERE)
    assert done.returncode == 0, done.stderr
    assert "tcp" in done.stdout and done.stdout.splitlines()[-1].startswith("Done: 24 launches in ")
    run = only_run(place)
    assert (place / f"{run.id}.html").stat().st_size > 1000
    assert run.state == "ended"
    found = query.launches(run)
    assert found.height == 8 * 2 * 2
    assert found["ns_min"].min() > 0
    assert set(found["corrupt"]) == {0}
    inventory = run.manifest.hosts["localhost"]
    assert inventory["kernel"] == os.uname().release
    assert inventory["byte_order"] == sys.byteorder
    assert run.manifest.versions["probe"]
    assert "lost" not in [one["code"] for one in query.warnings(run)]


def test_the_list_and_the_csv_show_it(vaiven: Vaiven, place: Path) -> None:
    vaiven("measure", *HERE, "--no-page")
    run = only_run(place)
    listed = vaiven("runs")
    assert run.id in listed.stdout
    done = vaiven("export", "csv", run.id[:-2], "--output", "out")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((place / "out" / "samples.csv").open()))
    assert len(rows) == query.samples(run).height
    assert {row["stack"] for row in rows} == {"tcp", "udp"}
    assert not list(place.glob("*.html"))


def test_a_dry_run_says_what_would_be_done_and_does_nothing(vaiven: Vaiven, place: Path) -> None:
    done = vaiven("measure", "--hosts", "no-such-host-a,no-such-host-b", "--dry-run", "--ports", "40000-40100")
    assert done.returncode == 0, done.stderr
    assert "about" in done.stdout
    assert "no-such-host-b: vaiven-probe far tcp" in done.stdout
    assert "--port 40000-40100" in done.stdout
    assert not (place / "runs").exists()


def test_a_dry_run_says_what_long_messages_cost(vaiven: Vaiven, place: Path) -> None:
    (place / "long.toml").write_text(
        'hosts = ["a", "b"]\nstacks = ["tcp"]\nsizes = [10000000]\n[link]\nrate_bps = 10000000\nhops = 1\n'
        "[effort]\ncell_ms = 1\nlaunch_s = 60\n"
    )
    said = vaiven("measure", "long.toml", "--dry-run").stdout
    assert "tcp pingpong takes about 2 min" in said and "8 samples of each size at least" in said
    assert "ended after launch_s = 60" in said
    assert "takes about" not in vaiven("measure", "long.toml", "--sizes", "64", "--dry-run").stdout


def test_a_dry_run_knows_the_probes_of_libraries(vaiven: Vaiven) -> None:
    done = vaiven("measure", "--hosts", "here,there", "--stacks", "tcp,openmpi", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "there: vaiven-probe-openmpi far openmpi" in done.stdout


def test_to_a_program_it_tells_one_document_and_to_people_the_rest(vaiven: Vaiven, place: Path) -> None:
    planned = json.loads(vaiven("measure", *HERE, "--dry-run", "--json").stdout)
    assert planned["schema"] == 1 and 0 < planned["least_s"] <= planned["most_s"]
    assert {one["stack"] for one in planned["launches"]} == {"tcp", "udp"}
    done = vaiven("measure", *HERE, "--json")
    assert done.returncode in (0, 4), done.stderr  # 4: too busy a machine to know it well enough
    said = json.loads(done.stdout)
    assert said["runs"] == [only_run(place).id] and {one["stack"] for one in said["costs"]} == {"tcp", "udp"}
    assert f"{only_run(place).name}.html" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing"], "there is no plan 'nothing'"),
        (["./nothing.toml"], "nothing.toml"),
        ([], "measure where?"),
        (["--hosts", "localhost,localhost", "--stacks", "tpc"], "did you mean tcp?"),
        (["--hosts", "localhost,localhost", "--sizes", "$(touch owned)"], "is not a size"),
        (["--hosts", "localhost,localhost", "--stacks", "icmp", "--sizes", "65508"], "icmp carries 0 to 65507 bytes"),
        (["--hosts", "a;touch owned,b"], "is not the name of a host"),
        (["--hosts=-oProxyCommand=touch owned,b"], "is not the name of a host"),
        (["--hosts", "localhost,localhost", "--ports", "x"], "ports"),
        (["--hosts", "localhost,localhost", "--bind", "c=1"], "bind names 'c'"),
        (["--hosts", "localhost", "--bind", "localhost=$(touch owned)"], "is not an address"),
        (["--hosts", "localhost", "--iface", "none;touch owned"], "has no address"),
        (["--hosts", "localhost,localhost", "--launches", "2"], "never give an interval"),
        (["--hosts", "localhost,localhost", "--questions", "foo"], "--questions: questions = 'foo' is not possible"),
        (["--lab", "no-such-lab"], "no lab called 'no-such-lab'"),
        (["--hosts", "localhost,localhost", "--before", "true"], "before and after belong together"),
        (["--hosts", "localhost,localhost", "--stacks", "tcp@after"], "'tcp@after' is not a stack"),
        (["--resume", "nothing"], "no run 'nothing'"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_started(
    vaiven: Vaiven, place: Path, arguments: list[str], words: str
) -> None:
    done = vaiven("measure", *arguments)
    # What is there to be found may be missing; what no word can be is a mistake of the command line.
    never = ("not a size", "ports", "bind names", "never give", "not possible", "belong together", "is not a stack")
    assert done.returncode == (2 if any(one in words for one in never) else 1)
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(one.name for one in place.iterdir() if one.name != "state") == ["lab.toml"]


def test_a_broken_plan_is_named_with_its_line(vaiven: Vaiven, place: Path) -> None:
    (place / "my plan.toml").write_text('title = "x"\nstacks = [\n "tcp",\n "upd[wait=spin",\n]\n')
    for verb in (["plan", "check"], ["plan", "show"], ["measure"]):
        done = vaiven(*verb, "my plan.toml")
        assert done.returncode == 1
        assert "my plan.toml:4: " in done.stderr


def test_hostile_words_in_a_plan_are_only_words(vaiven: Vaiven, place: Path) -> None:
    name = "a b'; $(touch owned) <b>.toml"
    title = "[bold]`touch owned`[/bold] <script>alert(1)</script> $(touch owned)"
    (place / name).write_text(
        f'title = "{title}"\nstacks = ["tcp"]\nsizes = [8]\n'
        'hosts = ["localhost"]\npairs = [["localhost", "localhost"]]\n'
    )
    done = vaiven("measure", name, "--quick")
    assert done.returncode == 0, done.stderr
    run = only_run(place)
    assert run.manifest.title == title
    assert "<script>alert(1)" not in (place / f"{run.id}.html").read_text()
    assert "[bold]" in vaiven("runs", env=os.environ | {"COLUMNS": "200"}).stdout
    assert not (place / "owned").exists()


def test_a_probe_that_is_killed_costs_one_launch_at_most(place: Path) -> None:
    (place / "slow.toml").write_text(  # long enough to be found
        'stacks = ["tcp[idle_ms=10]", "udp[idle_ms=10]"]\nsizes = [8, 1000]\n[effort]\ncell_ms = 200\n'
    )
    command = [sys.executable, "-m", "vaiven", "measure", "./slow.toml", *HERE[:2], "--launches", "6"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        killed = kill_one_near(str(process.pid))
        _, said = process.communicate(timeout=120)
    assert killed
    assert process.returncode == 0, said
    run = only_run(place)
    assert "launch-failed" in [one["code"] for one in query.warnings(run)]
    assert set(query.launches(run)["launch"]) | set(query.sentinels(run)["launch"]) == set(range(18))


def kill_one_near(parent: str) -> bool:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for status in Path("/proc").glob("[0-9]*/stat"):
            try:
                words = status.read_text().rpartition(")")[2].split()
                line = (status.parent / "cmdline").read_text().split("\0")
            except OSError:
                continue
            if words[1] == parent and "near" in line and Path(line[0]).name == "vaiven-probe":
                os.kill(int(status.parent.name), signal.SIGKILL)
                return True
        time.sleep(0.002)
    return False


@pytest.fixture
def long_plan(place: Path) -> Path:
    """A plan whose run takes much longer than anybody waits."""
    plan = place / "long.toml"
    plan.write_text(
        'lab = "./lab.toml"\nstacks = ["tcp", "udp"]\nsizes = [64]\n'
        "[effort]\nsamples = 1000000\ncell_ms = 300\n[stop]\nlaunches_min = 500\nlaunches_max = 500\n"
    )
    return plan


def stopped_after_some(plan: Path, number: signal.Signals) -> subprocess.CompletedProcess[str]:
    """Starts the plan, waits for some launches, sends the signal; how it ended."""
    command = [sys.executable, "-m", "vaiven", "measure", str(plan), "--no-page"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 120
        while len(list(plan.parent.glob("runs/*/launches/*.json"))) < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(number)
        out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


@pytest.mark.lab
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stopped_run_is_whole_and_leaves_nothing(long_plan: Path, number: signal.Signals) -> None:
    done = stopped_after_some(long_plan, number)
    assert done.returncode == 130, done.stderr
    assert "vaiven measure --resume" in done.stderr
    assert labs.running() == []
    run = only_run(long_plan.parent)
    assert run.state == "stopped"
    assert query.cells(run).height >= 3
    assert query.samples(run).height > 0


@pytest.mark.lab
def test_a_stopped_run_is_resumed_in_its_own_order(vaiven: Vaiven, place: Path) -> None:
    (place / "short.toml").write_text(
        'lab = "./lab.toml"\nstacks = ["tcp"]\nsizes = [64, "decades"]\nquestions = ["pingpong", "connect"]\n'
        "[effort]\nsamples = 50\ncell_ms = 40\n[stop]\nlaunches_min = 6\nlaunches_max = 6\n"
    )
    done = stopped_after_some(place / "short.toml", signal.SIGINT)
    assert done.returncode == 130, done.stderr
    before = only_run(place)
    kept = {path.name: path.read_bytes() for path in before.path.glob("samples/*")}
    (place / "lab.toml").unlink()  # the run knows its lab
    again = vaiven("measure", "--resume", before.id, "--no-page")
    assert again.returncode == 0, again.stderr
    run = only_run(place)
    assert run.state == "ended"
    assert query.launch_count(run) == 6 * 5
    assert all((run.path / "samples" / name).read_bytes() == data for name, data in kept.items())
    assert vaiven("measure", "--resume", run.id).stderr.count("has ended") == 1
    assert labs.running() == []


@pytest.mark.lab
def test_a_run_that_goes_on_with_another_calibration_says_so(vaiven: Vaiven, place: Path) -> None:
    timed = lab_text("timed", 2, prefix="m", class_="timed", rate_mbps=100)
    (place / "lab.toml").write_text(timed)
    (place / "short.toml").write_text(
        'lab = "./lab.toml"\nstacks = ["tcp"]\nsizes = [64]\n[effort]\nsamples = 1000000\ncell_ms = 200\n'
        "[stop]\nlaunches_min = 12\nlaunches_max = 12\n"
    )
    assert stopped_after_some(place / "short.toml", signal.SIGINT).returncode == 130
    calibration.store(topology.parse(timed).fabric, calibration.found_now(1900, 1500, 9000))
    again = vaiven("measure", "--resume", only_run(place).id, "--no-page")
    assert "calibration" in [one["code"] for one in query.warnings(only_run(place))], again.stderr
    assert "1900" in again.stdout + again.stderr


@pytest.mark.slow
@pytest.mark.lab
def test_two_runs_at_once_do_not_collide(place: Path) -> None:
    command = [sys.executable, "-m", "vaiven", "measure", "--lab", "./lab.toml", *HERE[2:], "--no-page"]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [one.communicate(timeout=300)[1] for one in both]
    assert [one.returncode for one in both] == [0, 0], said
    runs = query.runs(place / "runs")
    assert [one.state for one in runs if isinstance(one, query.Run)] == ["ended", "ended"]
    assert labs.running() == []


@pytest.mark.lab
def test_a_lab_takes_the_messages_over_its_own_cable(vaiven: Vaiven, place: Path) -> None:
    stacks = "icmp,eth,udp,tcp,tcp-nagle"
    done = vaiven("measure", "--lab", "./lab.toml", "--quick", "--stacks", stacks, "--sizes", "8,1000,60000")
    assert done.returncode == 0, done.stderr
    run = only_run(place)
    found = query.launches(run)
    assert set(found["stack"]) == set(stacks.split(","))
    assert {(row["near"], row["far"]) for row in found.iter_rows(named=True)} == {("m1", "m2"), ("m1", "m3")}
    assert found["wire_frames"].null_count() == 0
    for launch in query.launch_records(run):
        assert launch.path["tx_bytes"] > launch.path["expected_tx_bytes"] / 2
    assert "another-path" not in [one["code"] for one in query.warnings(run)]


@pytest.mark.lab
def test_a_lab_that_is_up_stays_up(vaiven: Vaiven, place: Path, lab_up: labs.Lab) -> None:
    done = vaiven("measure", "--lab", "./lab.toml", *HERE[2:], "--no-page")
    assert done.returncode == 0, done.stderr
    assert [one.instance for one in labs.running()] == [lab_up.instance]


@pytest.fixture
def lab_up(place: Path) -> Iterator[labs.Lab]:
    from vaiven.lab import topology

    lab = labs.up(topology.load(place / "lab.toml"))
    yield lab
    labs.down(lab)


@pytest.mark.lab
def test_a_big_endian_host_answers_a_native_one(vaiven: Vaiven, place: Path) -> None:
    """Its probe runs under qemu, which knows no packet sockets (eth); every payload is checked at both ends."""
    (place / "lab.toml").write_text(LAB + '[[hosts]]\nname = "sofia"\nbyte_order = "big"\n')
    lab = ["--lab", "./lab.toml", "--hosts", "m1,sofia"]
    done = vaiven("measure", *lab, "--stacks", "icmp,udp,tcp", "--sizes", "8,5000", "--quick", "--no-page")
    assert done.returncode == 0, done.stderr
    run = only_run(place)
    found = query.launches(run)
    assert set(found["stack"]) == {"icmp", "udp", "tcp"}
    assert set(found["corrupt"]) == {0}
    assert run.manifest.hosts["sofia"]["byte_order"] == "big"
    fars = [launch.hello["far"] for launch in query.launch_records(run) if launch.stack == "tcp"]
    assert {far["byte_order"] for far in fars} == {"big"}


def test_no_probe_is_left(place: Path) -> None:
    assert probes(str(place)) == []


@pytest.mark.lab
def test_before_and_after_a_change_in_one_run(vaiven: Vaiven, place: Path, lab_up: labs.Lab) -> None:
    """The change makes a host of the lab send at 10 Mb/s: a difference that no load of this machine makes."""
    host = lab_up.host("m2")
    slow = ["tc", "qdisc", "replace", "dev", "eth0", "root", "tbf", "rate", "10mbit", "burst", "2k", "latency", "1s"]
    after = shlex.join(host.argv(slow))
    before = f"{shlex.join(host.argv(['tc', 'qdisc', 'del', 'dev', 'eth0', 'root']))} 2>/dev/null; true"
    lab = ["--lab", "./lab.toml", "--hosts", "m1,m2", "--stacks", "udp", "--sizes", "1400", "--quick", "--no-page"]
    done = vaiven("measure", *lab, "--before", before, "--after", after)
    assert done.returncode == 0, done.stderr
    assert "before each launch of after this machine runs" in done.stderr
    run = only_run(place)
    assert [side["name"] for side in run.manifest.plan["sides"]] == ["before", "after"]
    records = query.launch_records(run)
    for block in range(8):
        launched = sorted(one.stack for one in records if one.block == block and not one.sentinel)
        assert launched == ["udp@after", "udp@before"]
    assert {one.stack for one in records if one.sentinel} == {"udp@before"}
    assert "udp@after" in done.stdout and "udp@before" in done.stdout
    told = vaiven("compare", "last", "--fail-if-slower")
    assert told.returncode == Status.NO, told.stdout + told.stderr
    assert "udp@after is slower than udp@before" in told.stderr


def test_a_dry_run_shows_what_sides_do(vaiven: Vaiven, place: Path) -> None:
    (place / "sides.toml").write_text(
        'hosts = ["a", "b"]\nstacks = ["tcp"]\nsizes = [8]\n[[sides]]\nname = "one"\ncommand = "touch owned; exit 1"\n'
        '[[sides]]\nname = "two"\nenvironment = {LD_LIBRARY_PATH = "/opt/it\'s"}\n'
    )
    done = vaiven("measure", "sides.toml", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "here: sh -c 'touch owned; exit 1'" in done.stdout
    assert """b: env 'LD_LIBRARY_PATH=/opt/it'"'"'s' vaiven-probe far tcp""" in done.stdout
    assert "before each launch of one this machine runs 'touch owned; exit 1'" in done.stdout
    assert not (place / "owned").exists()
