# SPDX-License-Identifier: BSD-3-Clause
"""Launches that go well and badly, and the way through all blocks, with a probe that only pretends."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from vaiven.errors import VaivenError
from vaiven.plan import design as designs
from vaiven.plan import order
from vaiven.plan.order import Launch
from vaiven.plan.schema import Effort, Plan, Side, Stop
from vaiven.plan.stack import Stack, parse
from vaiven.plan.stop import Look
from vaiven.run import carry, collect, hosts, launchers, lost, signals
from vaiven.run.carry import Carrying
from vaiven.run.hosts import Host
from vaiven.run.launchers import Outcome, Setting
from vaiven.run.place import Place
from vaiven.store import query
from vaiven.store.record import Addition, Cell, DesignRecord, HostsPlace, LostLaunch, Manifest, Record, Refined

FAKE = str(Path(__file__).with_name("fake_probe.py"))
KNOWN = collect.stacks(hosts.call("here", list, [sys.executable, FAKE, "well", "stacks"]))
EFFORT = Effort(samples=7, launch_s=60)
HASTE = Effort(samples=7, launch_s=1)


def host(name: str, mode: str = "well", **changes: object) -> Host:
    return replace(Host(name, "127.0.0.1", "", "x", (sys.executable, FAKE, mode), list), **changes)


def work(sizes: Sequence[int] = (8, 64, 1), stack: str = "tcp", ask: str = "pingpong") -> Launch:
    return Launch(0, 0, parse(stack), ask, "a", "b", tuple(sizes))


def launch(near: str = "well", far: str = "well", job: Launch | None = None, effort: Effort = EFFORT) -> Outcome:
    setting = Setting(KNOWN.stacks, effort, None, time.monotonic())
    return launchers.launch(job or work(), host("a", near), [host("b", far)], setting, lambda _cell: None)


def children() -> list[str]:
    """The fake probes of this process that still run."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            line = (process / "cmdline").read_text()
        except OSError:
            continue
        found += [line] if parent == os.getpid() and FAKE in line else []
    return found


@pytest.fixture(autouse=True)
def _nothing_stays() -> object:
    yield
    assert children() == []


def test_a_launch_brings_its_cells_in_order() -> None:
    outcome = launch()
    assert outcome.failure is None
    assert [cell.size_bytes for cell in outcome.cells] == [8, 64, 1]
    assert outcome.cells[0].ns == [20_080 + k for k in range(7)] + [None]
    assert str(outcome.hello["peer"]).startswith("127.0.0.1:")
    assert all(cell.started_s >= 0 for cell in outcome.cells)


def test_where_the_kernel_answers_there_is_no_far_end() -> None:
    outcome = launch(far="no-ready", job=work(stack="icmp"))
    assert outcome.failure is None
    assert outcome.hello["peer"] == "127.0.0.1"


def test_connect_has_no_sizes() -> None:
    outcome = launch(job=work((0,), ask="connect"))
    assert outcome.failure is None
    assert outcome.cells[0].ns[0] == 20_000


@pytest.mark.parametrize(
    ("near", "far", "code", "words"),
    [
        ("die", "well", "probe-gone", "the near probe on a was ended by SIGKILL"),
        ("no-bye", "well", "probe-gone", "ended with status 0"),
        ("no-cell", "well", "no-cell", "no cell for 8 bytes"),
        ("garbage", "well", "bad-record", "Segmentation fault"),
        ("newer", "well", "probe-schema", "schema 2"),
        ("error", "well", "permission", "no permission"),
        ("well", "far-error", "no-port", "no port is free"),
        ("well", "far-newer", "probe-schema", "schema 2"),
        ("well", "far-version", "peer-version", "near is 0.0.0, far is 9.9.9"),
        ("gone", "far-die", "probe-gone", "the far probe on b was ended by SIGKILL"),
        ("hang", "well", "too-long", "launch_s = 1"),
    ],
)
def test_a_launch_that_fails_says_why(near: str, far: str, code: str, words: str) -> None:
    outcome = launch(near, far, effort=HASTE if near == "hang" else EFFORT)
    assert outcome.failure is not None
    assert (outcome.failure.code, words in str(outcome.failure)) == (code, True), outcome.failure


def test_a_far_end_that_is_not_ready_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launchers, "_START_S", 0.5)
    outcome = launch(far="no-ready")
    assert outcome.failure is not None
    assert "the far probe on b is not ready" in outcome.failure.what


def test_a_probe_that_is_not_there_is_named() -> None:
    setting = Setting(KNOWN.stacks, EFFORT, None, 0.0)
    nothing = host("b", probe=("/nowhere/vaiven-probe",))
    outcome = launchers.launch(work(), host("a"), [nothing], setting, lambda _cell: None)
    assert outcome.failure is not None
    assert "b: cannot start the far probe" in outcome.failure.what


def test_strange_words_arrive_as_they_are(tmp_path: Path) -> None:
    """A stack could only come from a plan that was checked; even so no shell may ever see it."""
    strange = Launch(
        0, 0, Stack(f"; touch {tmp_path}/owned; $(touch {tmp_path}/owned) '\""), "pingpong", "a", "b", (8,)
    )
    setting = Setting({strange.stack.id: KNOWN.stacks["tcp"]}, EFFORT, None, 0.0)
    outcome = launchers.launch(strange, host("a"), [host("b")], setting, lambda _cell: None)
    assert outcome.hello["stack"] == strange.stack.id
    assert list(tmp_path.iterdir()) == []


class Notes:
    """A watcher that writes down what it is told."""

    def __init__(self, on_cell: Callable[[Launch, Cell], None] = lambda *_: None) -> None:
        self.launches: list[Launch] = []
        self.left: list[tuple[int, float]] = []
        self.codes: list[str] = []
        self.looks: list[Look] = []
        self.additions: list[Addition] = []
        self.losses: list[tuple[int, int, bool]] = []
        self._on_cell = on_cell

    def launch_begins(self, launch: Launch, block: int, launches_left: int, left_s: float) -> None:
        self.launches.append(launch)
        self.left.append((launches_left, left_s))

    def cell(self, launch: Launch, cell: Cell, median_ns: float) -> None:
        self._on_cell(launch, cell)

    def warning(self, code: str, text: str) -> None:
        self.codes.append(code)

    def looked(self, look: Look) -> None:
        self.looks.append(look)

    def refined(self, refined: Refined) -> None:
        self.additions += refined.additions

    def lost(self, lost: LostLaunch, again: bool) -> None:
        self.losses.append((lost.launch, lost.time, again))


PLAN = Plan(
    stacks=("tcp", "icmp"), sizes=(8, 64), effort=EFFORT,
    stop=Stop(launches_min=3, launches_max=4, looks=(3, 4), level=0.5, half_width=0.1),
)  # fmt: skip


NO_KERNEL = Plan(stacks=("tcp",), sizes=(8,), effort=EFFORT, stop=PLAN.stop)


def carrying(root: Path, notes: Notes, members: dict[str, Host], plan: Plan = PLAN) -> Carrying:
    design = designs.resolve(plan, list(members), KNOWN.stacks, lab=False)
    manifest = Manifest(
        title="", plan_name="", plan_text="", plan={}, design=msgspec.convert(designs.to_facts(design), DesignRecord),
        place=HostsPlace(), hosts={}, link=None, versions={}, environment={},
    )  # fmt: skip
    place = Place(members, {}, {}, None, HostsPlace())
    record = Record.create(root, manifest)
    return Carrying(plan, design, place, KNOWN.stacks, record, notes, lambda values, _: (min(values), max(values)))


def test_a_run_goes_through_its_blocks_in_order_until_it_is_enough(tmp_path: Path) -> None:
    notes = Notes()
    run = carrying(tmp_path, notes, {"a": host("a"), "b": host("b")})
    with run.record:
        end = run.carry_out()
    expected = [one for number in range(3) for one in order.block(run.design, number)]
    assert notes.launches == expected
    assert (end.reason, end.blocks, end.launches, end.failed, end.half_width) == ("done", 3, 9, 0, 0.0)
    assert [(look.launches, look.half_width) for look in end.looks] == [(3, 0.0)]
    assert [left for left, _ in notes.left] == [9, 8, 7, 6, 5, 4, 3, 2, 1]
    found = query.launches(query.open_run(run.record.path))
    assert found.height == 3 * 4
    assert set(found["count"]) == {7}
    assert query.sentinels(query.open_run(run.record.path)).height == 3


def test_counters_come_from_a_file_or_from_a_process_alike(tmp_path: Path) -> None:
    """Where this machine shows a host's /proc/net, no process is started on the host to read it."""
    (tmp_path / "dev").write_text("  eth7: 1000 10 0 3 0 0 0 0 2000 20 0 0 0 0 0 0\n")
    (tmp_path / "softnet_stat").write_text("00000001 0000000a 00000000 00000000\n")
    near = host("a", interface="eth7", proc_net=tmp_path)
    run = carrying(tmp_path / "runs", Notes(), {"a": near, "b": host("b", interface="lo")})
    run.carry_out()
    (launch_file, *_) = sorted((run.record.path / "launches").glob("*.json"))
    facts = json.loads(launch_file.read_text())["path"]
    assert (facts["tx_bytes"], facts["rx_dropped"], facts["softnet_dropped"]) == (0, 0, 0)
    assert facts["far"]["rx_frames"] >= 0


ROUNDS = Plan(
    stacks=("tcp",), sizes=(8, 64), pairs="rounds", effort=EFFORT,
    stop=Stop(launches_min=2, launches_max=2, level=0.5, half_width=0.1),
)  # fmt: skip


def test_pairs_of_a_round_run_at_the_same_time_and_each_knows_who_else(tmp_path: Path) -> None:
    """Each near end waits for another one, so a launch alone would not end."""
    met = tmp_path / "met"
    met.mkdir()
    names = ("a", "b", "c", "d")
    run = carrying(tmp_path, Notes(), {name: host(name, f"meet:{met}") for name in names}, ROUNDS)
    with run.record:
        end = run.carry_out()
    opened = query.open_run(run.record.path)
    assert (end.reason, end.failed, len(list(met.iterdir()))) == ("done", 0, 2 * 6)
    beside = {one.launch: (one.near, one.far, one.beside) for one in query.launch_records(opened)}
    for together in order.rounds(one for number in range(2) for one in order.block(run.design, number)):
        pairs = [(one.near, one.far) for one in together]
        assert all(beside[one.number][2] == tuple(p for p in pairs if p != (one.near, one.far)) for one in together)
    assert query.launches(opened).height == 2 * 6 * 2


def test_what_fails_in_a_round_is_tried_again_without_the_others(tmp_path: Path) -> None:
    members = {name: host(name) for name in ("a", "b", "c", "d")}
    members["a"] = host("a", f"once:{tmp_path}/died")
    run = carrying(tmp_path / "runs", Notes(), members, ROUNDS)
    with run.record:
        assert run.carry_out().failed == 0
    (again,) = (one for one in query.launch_records(query.open_run(run.record.path)) if one.attempts == 2)
    assert (again.near, again.beside) == ("a", ())


def test_one_pair_of_a_round_that_fails_leaves_the_others(tmp_path: Path) -> None:
    members = {name: host(name) for name in ("a", "b", "c", "d")} | {"c": host("c", "error")}
    run = carrying(tmp_path, Notes(), members, ROUNDS)
    with run.record:
        end = run.carry_out()
    found = query.launches(query.open_run(run.record.path))
    pairs = set(zip(found["near"], found["far"], strict=True))
    assert pairs == {("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")} and end.failed == 2


def test_ctrl_c_ends_all_launches_of_a_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The signal comes when the first has said a cell; all of them hang, and end because they are told to."""
    outcomes: list[Outcome] = []
    heard: list[Cell] = []

    def kept(*arguments: object) -> Outcome:
        outcomes.append(launch_really(*arguments))
        return outcomes[-1]

    def on_cell(launch: Launch, cell: Cell) -> None:
        heard.extend([] if launch.sentinel else [cell])
        if not launch.sentinel and len(heard) == 1:
            os.kill(os.getpid(), signal.SIGTERM)

    launch_really: Callable[..., Outcome] = launchers.launch
    monkeypatch.setattr(launchers, "launch", kept)
    run = carrying(tmp_path, Notes(on_cell), {name: host(name, "hang") for name in ("a", "b", "c", "d")}, ROUNDS)
    with run.record, pytest.raises(KeyboardInterrupt), signals.interruptible():
        run.carry_out()
    assert {str(one.failure) for one in outcomes[-2:]} == {"the launch was ended"}


def test_a_launch_that_fails_once_is_tried_again(tmp_path: Path) -> None:
    notes = Notes()
    run = carrying(tmp_path / "runs", notes, {"a": host("a", f"once:{tmp_path}/died"), "b": host("b")})
    with run.record:
        end = run.carry_out()
    assert (end.reason, end.failed) == ("done", 0)
    assert notes.codes == ["launch-failed"]
    opened = query.open_run(run.record.path)
    assert sorted(one.attempts for one in query.launch_records(opened)) == [1] * 8 + [2]
    (warning,) = query.warnings(opened)
    assert "SIGKILL" in warning["text"]
    assert isinstance(warning["launch"], int)


def test_what_lacks_something_for_good_is_left_out_with_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = launchers.launch

    def without_mpi(work: Launch, *rest: object, **named: object) -> launchers.Outcome:
        found = real(work, *rest, **named)
        return replace(found, failure=VaivenError("b has no mpirun", "", "no-mpi")) if work.stack.id == "tcp" else found

    monkeypatch.setattr(launchers, "launch", without_mpi)
    notes = Notes()
    run = carrying(tmp_path, notes, {"a": host("a"), "b": host("b")})
    with run.record:
        end = run.carry_out()
    assert (notes.codes, end.failed) == (["given-up"], 1)
    (warning,) = query.warnings(query.open_run(run.record.path))
    assert warning["text"].endswith("left out from now on: b has no mpirun")


def test_what_never_works_is_left_out_and_the_rest_goes_on(tmp_path: Path) -> None:
    notes = Notes()
    run = carrying(tmp_path, notes, {"a": host("a"), "b": host("b", "far-error")})
    with run.record:
        end = run.carry_out()
    assert notes.codes.count("given-up") == 2  # tcp, and udp the sentinel
    found = query.launches(query.open_run(run.record.path))
    assert set(found["stack"]) == {"icmp"}
    assert (end.reason, end.failed) == ("done", 4)


@pytest.mark.parametrize(("mode", "words"), [("far-newer", "schema 2"), ("far-version", "far is 9.9.9")])
def test_a_host_with_a_probe_of_another_version_is_named_and_the_others_are_measured(
    tmp_path: Path, mode: str, words: str
) -> None:
    run = carrying(tmp_path, Notes(), {"a": host("a"), "b": host("b", mode), "c": host("c")}, NO_KERNEL)
    with run.record:
        end = run.carry_out()
    opened = query.open_run(run.record.path)
    assert set(query.launches(opened)["far"]) == {"c"}
    failed = [one["text"] for one in query.warnings(opened) if one["code"] == "launch-failed"]
    assert failed and all("a b: attempt" in text and words in text for text in failed)
    assert end.failed > 0
    alone = carrying(tmp_path / "alone", Notes(), {"a": host("a"), "b": host("b", mode)}, NO_KERNEL)
    with alone.record, pytest.raises(VaivenError, match="nothing can be measured"):
        alone.carry_out()


def test_when_nothing_works_the_run_ends(tmp_path: Path) -> None:
    run = carrying(tmp_path, Notes(), {"a": host("a", "error"), "b": host("b")})
    with run.record, pytest.raises(VaivenError, match="nothing can be measured"):
        run.carry_out()
    assert query.open_run(run.record.path).state == "stopped"


def test_a_host_that_goes_down_takes_only_its_pairs_along(tmp_path: Path) -> None:
    """Host c stops to run commands in the second block: its name and the command tried are recorded."""
    down = tmp_path / "c-is-down"

    def argv(command: Sequence[str]) -> list[str]:
        return ["sh", "-c", 'echo "no route" >&2; exit 255'] if down.exists() else list(command)

    def on_cell(launch: Launch, _cell: Cell) -> None:
        if launch.block == 1:
            down.touch()

    notes = Notes(on_cell)
    run = carrying(tmp_path / "runs", notes, {"a": host("a"), "b": host("b"), "c": host("c", argv=argv)})
    with run.record:
        end = run.carry_out()
    assert end.reason == "done"
    opened = query.open_run(run.record.path)
    found = query.launches(opened)
    assert set(found.filter(found["far"] == "b")["block"]) == {0, 1, 2}
    assert 2 not in set(found.filter((found["far"] == "c") & (found["stack"] == "tcp"))["block"])
    (warning,) = [one for one in query.warnings(opened) if one["code"] == "host-down"]
    assert "the host c does not answer: no route" in warning["text"]
    assert "tried: sh -c" in warning["text"]


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def on_cell(launch: Launch, _cell: Cell) -> None:
        if launch.number == 4:
            raise Enough

    first = carrying(tmp_path, Notes(on_cell), {"a": host("a"), "b": host("b")})
    with first.record, pytest.raises(Enough):
        first.carry_out()
    assert children() == []
    stopped = query.open_run(first.record.path)
    assert stopped.state == "stopped"
    kept = query.samples(stopped)
    assert set(kept["launch"]) == {0, 1, 2, 3}
    again = designs.from_facts(msgspec.to_builtins(stopped.manifest.design))
    notes = Notes()
    with Record.resume(stopped.path, stopped.manifest) as record:
        second = Carrying(PLAN, again, first.place, KNOWN.stacks, record, notes, first.interval)
        second.recall(query.launches(stopped).iter_rows(named=True))
        record.end(second.carry_out())
    assert [one.number for one in notes.launches] == [4, 5, 6, 7, 8]
    ended = query.open_run(stopped.path)
    assert ended.end is not None
    assert (ended.end.launches, ended.end.reason) == (9, "done")
    assert query.samples(ended).head(kept.height).equals(kept)
    assert all(len(values) == 3 for values in second.medians_ns.values())


def test_a_resumed_run_looks_at_the_blocks_of_each_look_alone(tmp_path: Path) -> None:
    """Three wide blocks are not enough; that a fourth would narrow the median must not make them so."""
    seen: list[int] = []

    def interval(values: Sequence[float], _level: float) -> tuple[float, float] | None:
        seen.append(len(values))
        return (0.0, 1e9) if len(values) < 4 else (1.0, 1.0)

    run = carrying(tmp_path, Notes(), {"a": host("a"), "b": host("b")})
    rows = [
        {"stack": stack, "ask": "pingpong", "near": "a", "far": "b", "size_bytes": size, "ns_median": 20e3,
         "wire_ns": None, "block": block}
        for stack in ("tcp", "icmp") for size in (8, 64) for block in range(4)
    ]  # fmt: skip
    run.interval = interval
    run.recall(rows)
    with run.record:
        end = run.carry_out()
    assert [look.launches for look in end.looks] == [3, 4]
    assert set(seen) == {3, 4}


class Thief:
    """A witness that says of the launches of that number, whenever they run, that all of their time was lost."""

    def __init__(self, notes: Notes, victims: Mapping[int, int]) -> None:
        self._notes, self._left, self._ns = notes, dict(victims), 0

    def lost_ns(self) -> dict[int, int]:
        """Is asked before and after each attempt; victims: launch -> how often it shall be robbed."""
        number = self._notes.launches[-1].number
        if self._left.get(number, 0) > 0:
            self._left[number] -= 0.5
            self._ns += 10**12
        return {1: self._ns}


def robbed(root: Path, victims: Mapping[int, int], members: dict[str, Host], plan: Plan = PLAN) -> Carrying:
    notes = Notes()
    run = carrying(root, notes, members, plan)
    run.place = replace(run.place, witnesses=Thief(notes, victims))
    return run


def test_a_launch_that_loses_its_time_is_done_again_later_in_its_block(tmp_path: Path) -> None:
    run = robbed(tmp_path, {3: 1}, {"a": host("a"), "b": host("b")})
    with run.record:
        end = run.carry_out()
    expected = [one.number for number in range(3) for one in order.block(run.design, number)]
    launch = order.block(run.design, 1)[0]
    expected.insert(4 + order.later(run.design, launch, 1, 2), 3)
    notes = run.watcher
    assert [one.number for one in notes.launches] == expected and (end.launches, end.failed) == (9, 0)
    assert notes.losses == [(3, 1, True)] and [left for left, _ in notes.left][:5] == [9, 8, 7, 6, 6]
    opened = query.open_run(run.record.path)
    (thrown,) = query.lost(opened)
    assert (thrown.launch, thrown.time, thrown.stack, thrown.block) == (3, 1, launch.stack.name, 1)
    assert [(one.witness, one.where, one.share) for one in thrown.losses] == [("real-time", "cpu1", 1.0)]
    records = query.launch_records(opened)
    assert [one.launch for one in records] == list(range(9)) and not any(one.losses for one in records)
    assert set(query.launches(opened)["count"]) == {7} and all(len(ns) == 3 for ns in run.medians_ns.values())


def test_who_loses_it_again_and_again_is_kept_and_marked(tmp_path: Path) -> None:
    run = robbed(tmp_path, {8: 99}, {"a": host("a"), "b": host("b")})
    with run.record:
        assert run.carry_out().launches == 9
    assert run.watcher.losses == [*((8, time, True) for time in range(1, lost.AGAIN_MAX + 1)), (8, 3, False)]
    opened = query.open_run(run.record.path)
    assert [one.launch for one in query.launch_records(opened) if one.losses] == [8]
    assert [(one.launch, one.time) for one in query.lost(opened)] == [(8, 1), (8, 2)]


def test_what_ran_at_the_same_time_is_done_again_together(tmp_path: Path) -> None:
    """Each near end waits for another one, so a launch alone would not end."""
    met = tmp_path / "met"
    met.mkdir()
    members = {name: host(name, f"meet:{met}") for name in ("a", "b", "c", "d")}
    run = robbed(tmp_path / "runs", {}, members, ROUNDS)
    together = next(one for one in order.rounds(order.block(run.design, 0)) if len(one) == 2)
    robbed_now = {one.number for one in together}
    run.place = replace(run.place, witnesses=Thief(run.watcher, {max(robbed_now): 1}))
    with run.record:
        assert run.carry_out().failed == 0
    assert {number for number, _, again in run.watcher.losses if again} == robbed_now
    opened = query.open_run(run.record.path)
    assert {one.launch for one in query.lost(opened)} == robbed_now
    assert query.launches(opened).height == 2 * 6 * 2 and len(list(met.iterdir())) == 2 * 6 + 2


def test_a_failure_is_no_lost_time_whatever_was_lost_meanwhile(tmp_path: Path) -> None:
    run = robbed(tmp_path, dict.fromkeys(range(9), 99), {"a": host("a"), "b": host("b", "far-error")}, NO_KERNEL)
    with run.record, pytest.raises(VaivenError, match="nothing can be measured"):
        run.carry_out()
    assert run.watcher.losses == [] and query.lost(query.open_run(run.record.path)) == []


def test_a_resumed_run_knows_how_often_a_launch_lost_its_time(tmp_path: Path) -> None:
    first = robbed(tmp_path, {3: 99}, {"a": host("a"), "b": host("b")})
    told = first.watcher.lost

    def enough(thrown: LostLaunch, again: bool) -> None:
        told(thrown, again)
        if thrown.time == 2:
            raise KeyboardInterrupt

    first.watcher.lost = enough
    with first.record, pytest.raises(KeyboardInterrupt):
        first.carry_out()
    stopped = query.open_run(first.record.path)
    assert [one.time for one in query.lost(stopped)] == [1] and 3 not in first.record.finished
    notes = Notes()
    with Record.resume(stopped.path, stopped.manifest) as record:
        place = replace(first.place, witnesses=Thief(notes, {3: 99}))
        second = Carrying(PLAN, first.design, place, KNOWN.stacks, record, notes, first.interval)
        second.recall(query.launches(stopped).iter_rows(named=True), put_back=query.lost(stopped))
        record.end(second.carry_out())
    assert notes.losses == [(3, 2, True), (3, 3, False)]
    ended = query.open_run(stopped.path)
    assert ended.state == "ended" and [one.launch for one in query.launch_records(ended) if one.losses] == [3]


def test_the_place_where_it_is_done_again_is_any_that_is_left_and_each_as_likely(tmp_path: Path) -> None:
    design = carrying(tmp_path, Notes(), {"a": host("a"), "b": host("b")}).design
    launch = order.block(design, 0)[0]
    places = [order.later(design, replace(launch, number=number), 1, 3) for number in range(4000)]
    counts = [places.count(place) for place in range(4)]
    assert sum(counts) == 4000 and all(abs(count - 1000) < 150 for count in counts)
    assert order.later(design, launch, 1, 0) == 0 and order.later(design, launch, 1, 9) == order.later(
        design, launch, 1, 9
    )


def one_size_more(
    key: order.Key, curve: Mapping[int, Mapping[int, float]], _wire: Mapping[int, int], past: Sequence[Addition]
) -> Sequence[Addition]:
    """Adds 32 to tcp, once, seeing two blocks of both sizes."""
    if key[0] != "tcp" or past:
        return []
    assert {size: sorted(blocks) for size, blocks in curve.items()} == {8: [0, 1], 64: [0, 1]}
    stack, ask, near, far = key
    return [Addition(stack=stack, ask=ask, near=near, far=far, sizes_bytes=(32,), why="for a test", knee=False,
                     low_bytes=8, high_bytes=64)]  # fmt: skip


MORE = Plan(
    stacks=("tcp", "icmp"), sizes=(8, 64), effort=EFFORT,
    stop=Stop(launches_min=2, launches_max=10, looks=(2, 4), level=0.5, half_width=0.1),
)  # fmt: skip


def test_a_look_adds_sizes_to_the_launches_after_it_and_a_resumed_run_has_them_too(tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def on_cell(launch: Launch, _cell: Cell) -> None:
        if launch.block == 3:
            raise Enough

    notes = Notes(on_cell)
    first = carrying(tmp_path, notes, {"a": host("a"), "b": host("b")}, MORE)
    first.refiner = one_size_more
    with first.record, pytest.raises(Enough):
        first.carry_out()
    assert [one.sizes_bytes for one in notes.additions] == [(32,)]
    stopped = query.open_run(first.record.path)
    assert query.refined(stopped) == first.refined
    again = Notes()
    with Record.resume(stopped.path, stopped.manifest) as record:
        second = Carrying(MORE, first.design, first.place, KNOWN.stacks, record, again, first.interval, one_size_more)
        second.recall(query.launches(stopped).iter_rows(named=True), query.refined(stopped))
        end = second.carry_out()
    assert again.additions == [] and (end.reason, end.blocks) == ("done", 4)
    found = query.launches(query.open_run(record.path))
    tcp = {block: sorted(cells["size_bytes"]) for (block,), cells in found.filter(stack="tcp").group_by("block")}
    assert tcp == {0: [8, 64], 1: [8, 64], 2: [8, 32, 64], 3: [8, 32, 64]}
    assert set(found.filter(stack="icmp")["size_bytes"]) == {8, 64}


def test_a_look_that_comes_too_late_adds_nothing(tmp_path: Path) -> None:
    """What it added could not get launches enough; nor may a run that went on without sizes get them afterwards."""
    late = Plan(
        stacks=MORE.stacks,
        sizes=MORE.sizes,
        effort=EFFORT,
        stop=Stop(launches_min=2, launches_max=9, looks=(2, 4), level=0.5, half_width=0.1),
    )
    run = carrying(tmp_path / "late", Notes(), {"a": host("a"), "b": host("b")}, late)
    run.refiner = one_size_more
    with run.record:
        assert run.carry_out().blocks == 2
    gone_on = carrying(tmp_path / "gone-on", Notes(), {"a": host("a"), "b": host("b")}, MORE)
    with gone_on.record:
        for number in range(3):
            gone_on._block(number)
        gone_on.refiner = one_size_more
        assert not gone_on._refine(2)


def test_a_cell_has_a_name_in_words() -> None:
    assert carry.cell_name("tcp", "pingpong", "a", "b", 64) == "tcp pingpong 64 B a b"


def test_lost_messages_make_a_median_long() -> None:
    def of(ns: list[int | None]) -> float:
        return carry._median_ns(Cell(ask="pingpong", size_bytes=8, ns=ns))

    assert of([1, 2, 3]) == 2
    assert of([1, None, None]) == float("inf")
    assert of([]) == float("inf")


def on_sides(*sides: Side, **changes: object) -> Plan:
    """That plan on these sides, whose launches are few."""
    stop = Stop(launches_min=3, launches_max=3, level=0.5, half_width=0.1)
    return Plan(
        **({"stacks": ("tcp", "icmp"), "sizes": (8,), "effort": EFFORT, "stop": stop, "sides": sides} | changes)
    )


def test_each_launch_comes_after_the_command_of_its_side_in_random_blocks(tmp_path: Path) -> None:
    log = tmp_path / "log"
    plan = on_sides(*(Side(name=name, command=f"echo {name} >>{log}") for name in ("before", "after")))
    notes = Notes()
    run = carrying(tmp_path / "runs", notes, {"a": host("a"), "b": host("b")}, plan)
    with run.record:
        assert run.carry_out().reason == "done"
    assert log.read_text().split() == [launch.stack.side for launch in notes.launches]
    every = {"tcp@before", "tcp@after", "icmp@before", "icmp@after"}
    for block in range(3):
        launched = [launch for launch in notes.launches if launch.block == block]
        assert {launch.stack.name for launch in launched if not launch.sentinel} == every
        assert [launch.stack.name for launch in launched if launch.sentinel] == ["udp@before"]
    assert len({tuple(one.stack.name for one in notes.launches if one.block == block) for block in range(3)}) > 1
    opened = query.open_run(run.record.path)
    for table in (query.launches(opened), query.samples(opened).filter(sentinel=False)):
        assert set(table["stack"]) == every


def test_the_environment_of_a_side_reaches_its_ends_alone(tmp_path: Path) -> None:
    plan = on_sides(Side(name="before"), Side(name="after", environment={"FAKE_SLOWER_NS": "5000"}))
    run = carrying(tmp_path, Notes(), {"a": host("a"), "b": host("b")}, plan)
    with run.record:
        run.carry_out()
    found = query.launches(query.open_run(run.record.path))
    fastest = {row["stack"]: row["ns_min"] for row in found.iter_rows(named=True)}
    assert {name: fastest[name] for name in ("tcp@before", "tcp@after")} == {"tcp@before": 20_080, "tcp@after": 25_080}


@pytest.mark.slow
def test_a_round_is_prepared_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    members = {name: host(name) for name in ("a", "b", "c", "d")}
    sides = [Side(name=name, command=f"echo {name} >>{log}") for name in ("x", "y")]
    run = carrying(tmp_path / "runs", Notes(), members, on_sides(*sides, stacks=("tcp",), pairs="rounds"))
    with run.record:
        assert run.carry_out().failed == 0
    assert len(log.read_text().split()) == 3 * (2 * 3 + 1)  # three rounds on either side, and the sentinel


@pytest.mark.parametrize(
    ("command", "words"), [("echo 'no such card' >&2; false", "no such card"), ("sleep 60", "has not ended after 1 s")]
)
def test_a_side_whose_command_fails_costs_its_own_launches_alone(tmp_path: Path, command: str, words: str) -> None:
    broken = Side(name="after", command=command, timeout_s=1)
    notes = Notes()
    plan = on_sides(Side(name="before"), broken, stacks=("tcp",))
    run = carrying(tmp_path, notes, {"a": host("a"), "b": host("b")}, plan)
    with run.record:
        end = run.carry_out()
    opened = query.open_run(run.record.path)
    assert set(query.launches(opened)["stack"]) == {"tcp@before"} and end.failed == 2
    assert notes.codes == ["launch-failed"] * 3 + ["launch-failed", "given-up"]
    told = [one["text"] for one in query.warnings(opened) if one["code"] == "launch-failed"]
    assert all(text.startswith("tcp@after") and "the command of the side after" in text for text in told)
    assert all(words in text for text in told)


def test_a_command_that_fails_once_is_tried_again(tmp_path: Path) -> None:
    once = Side(name="after", command=f"test -e {tmp_path}/tried || {{ touch {tmp_path}/tried; exit 1; }}")
    run = carrying(tmp_path / "runs", Notes(), {"a": host("a"), "b": host("b")}, on_sides(Side(name="before"), once))
    with run.record:
        assert run.carry_out().failed == 0
    records = query.launch_records(query.open_run(run.record.path))
    assert [one.stack.partition("@")[2] for one in records if one.attempts == 2] == ["after"]
