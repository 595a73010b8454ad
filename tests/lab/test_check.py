# SPDX-License-Identifier: BSD-3-Clause
"""The check of a fabric tells a good one from a bad one, and leaves it as it was.

Whether a good one earns its class depends on what else the machine does, so no test asks a real fabric that: tests of
verdicts have rows made up, test_timing.py judges real frames by what noise cannot spoil, tools/soak checks every lab.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import pytest
from tests.lab.texts import lab_text

from vaiven.errors import VaivenError
from vaiven.lab import calibration, check, exits, faults, state, topology
from vaiven.lab import lab as labs
from vaiven.lab.calibration import Calibration
from vaiven.lab.check import CheckReport, Row
from vaiven.lab.hosts import LabHost
from vaiven.lab.lab import Lab
from vaiven.lab.lone import Lone
from vaiven.lab.namespace import Namespace

HUB = lab_text("checked", 4, kind="hub", class_="timed", rate_mbps=10)
PAIR = HUB.replace("count = 4", "count = 2")
SWITCH = lab_text("checked", 4, class_="timed", rate_mbps=100)
FREE = lab_text("checked", 4)

GOOD = Row(what="a frame", unit="ns", expected=1000, median=1020, p95=1100, limit=30)
BAD = replace(GOOD, median=1031)
BAD_TRAIN = replace(BAD, throughput=True)


# Verdicts


@pytest.mark.parametrize(("median", "verdict"), [(970, "ok"), (1030, "ok"), (969, "off"), (1031, "off")])
def test_a_row_is_off_beyond_its_limit_to_either_side(median: int, verdict: str) -> None:
    assert replace(GOOD, median=median).verdict == verdict


def test_a_row_without_limit_claims_nothing() -> None:
    assert replace(BAD, limit=None).verdict == "not claimed"


@pytest.mark.parametrize(
    ("said", "rows", "earned"),
    [
        ("timed", [GOOD, replace(BAD, limit=None)], "timed"),
        ("timed", [GOOD, BAD], "paced"),
        ("timed", [BAD, BAD_TRAIN], "free"),
        ("timed", [BAD_TRAIN, replace(BAD_TRAIN, median=0)], None),
        ("paced", [GOOD, BAD_TRAIN], "free"),
        ("free", [GOOD], "free"),
        ("free", [replace(GOOD, unit="share", expected=1, median=0.5, limit=0.01)], None),
    ],
)
def test_a_fabric_earns_the_best_class_whose_rows_are_good(said, rows: list[Row], earned) -> None:
    assert check._earned(said, rows) == earned


REPORT = CheckReport(
    instance="x",
    said="timed",
    earned="paced",
    rate_mbps=10.0,
    hosts=2,
    rows=(GOOD, BAD),
    frames_per_s=1.5,
    door_ns=3,
    error_ns=4,
    trains_ns=5,
    moved_ns=0,
)


def test_what_the_machine_moved_is_allowed_to_times_alone() -> None:
    assert BAD.allowing(1) == "ok" and BAD.allowing(0) == "off"
    share = replace(BAD, unit="share", expected=1, median=0.9, limit=0.01)
    assert share.allowing(10**9) == "off"
    assert replace(BAD, limit=None).allowing(10**9) == "not claimed"


@pytest.mark.parametrize(
    ("rows", "earned", "moved_ns", "decided"),
    [
        ((GOOD,), "timed", 10**6, True),  # it passed: what moved did no harm
        ((BAD,), "paced", 0, True),
        ((BAD,), "paced", 1, False),
        ((BAD, replace(BAD, median=1040)), "paced", 5, True),  # one is off by more than that
        ((BAD_TRAIN,), "free", 1, False),
        ((replace(BAD, unit="frames", median=3, expected=0, limit=0),), "paced", 10**6, True),
    ],
)
def test_a_failure_within_what_the_machine_moved_is_not_decided(rows, earned, moved_ns: int, decided: bool) -> None:
    assert replace(REPORT, rows=rows, earned=earned, moved_ns=moved_ns).decided is decided


def test_the_calibration_balances_the_claims_by_their_limits() -> None:
    early = replace(GOOD, median=1_000_000, expected=1_010_000, limit=10_000)
    late = replace(GOOD, median=1_040_000, expected=1_000_000, limit=10_000)
    assert check._best_shift([early, late]) == pytest.approx(15_000, abs=500)
    loose = replace(late, limit=90_000)
    assert check._best_shift([early, loose]) == pytest.approx(-5_000, abs=500)
    assert check._best_shift([early, late, replace(BAD, median=10**9, limit=None)]) == pytest.approx(15_000, abs=500)


class Scripted(check._Check):
    """A check of a fabric whose ping-pongs, and single frames after them, are found that many ns late, look by look."""

    def __init__(self, late_ns: list[int]) -> None:
        self.lab = SimpleNamespace(topology=topology.parse(HUB), calibration=Calibration())
        self._late_ns, self.effort = late_ns, check._QUICK
        self._shifts_ns = []

    def _lone(self, launches: int) -> list[Lone]:
        wire_ns = 100_000
        came_ns = (wire_ns + self._late_ns.pop(0),) * launches
        return [Lone(stack="udp", wait="spin", frame_bytes=60, wire_ns=wire_ns, free_ns=(0,), launches_ns=came_ns)]

    def _singles(self, *_: object) -> list[Row]:
        return [replace(GOOD, median=GOOD.expected + self._late_ns.pop(0), limit=15_000)]


@pytest.mark.parametrize(
    ("late_ns", "door_ns", "moved_ns"),
    [
        ([1_500, 4_000, 4_000, 4_000], 2_500, 0),  # 1000 is the default
        ([-400, 4_000, 25_000, 30_000], 600, 26_000),
        ([-1_500, 4_000, 4_000, 1_000], 0, 3_000),  # no door opens later than a frame has crossed
        ([400_000, 0, 0, 0], calibration.DOOR_MAX_NS, 0),  # that is no software
    ],
)
def test_what_the_looks_differ_by_is_what_the_machine_moved(
    monkeypatch, late_ns: list[int], door_ns: int, moved_ns: int
) -> None:
    looked = Scripted(late_ns)
    opened: list[int] = []
    monkeypatch.setattr(check.fabric, "set_doors", lambda _, ns: opened.append(ns))
    assert looked.calibrate() == opened[-1] == pytest.approx(door_ns, abs=100)
    for _ in range(3):
        looked._look()
    assert looked.moved_ns == pytest.approx(moved_ns, abs=100)


# What is kept


@pytest.fixture
def tried(state_dir, monkeypatch) -> tuple[Lab, list[int]]:
    """A lab with the record of one that is up, and how early doors were made to open there."""
    here = Namespace(pid=1, started_ticks=1)
    described = topology.parse(PAIR)
    hosts = tuple(LabHost(lab="checked", number=n, spec=s, namespace=here) for n, s in enumerate(described.hosts, 1))
    lab = Lab(instance="checked", topology=described, switch=here, hosts=hosts, ready=True)
    with state.reserved("checked"):
        pass
    labs.recalibrated(lab, lab.calibration)
    opened: list[int] = []
    monkeypatch.setattr(check.fabric, "set_doors", lambda _, door_ns: opened.append(door_ns))
    return lab, opened


def finding(row: Row | VaivenError) -> type[check._Check]:
    """A check that calibrates a fabric to 545 ns and then measures that row."""

    class Found(check._Check):
        def calibrate(self) -> int:
            check.fabric.set_doors(self.lab, 545)
            return 545

        def timed(self) -> Iterator[Row]:
            if isinstance(row, VaivenError):
                raise row
            self.error_ns = 1_640
            yield row

    return Found


def recorded() -> Calibration:
    lab, _ = labs._recorded("checked")
    assert lab
    return lab.calibration


def test_a_calibration_is_kept_where_the_class_was_earned(tried, monkeypatch) -> None:
    lab, opened = tried
    monkeypatch.setattr(check, "_Check", finding(GOOD))
    monkeypatch.setattr(calibration, "store_frames_per_s", lambda *_: None)  # it carried none
    report = check.run(lab)
    assert report.passed and report.kept_in == str(calibration.path())
    known = calibration.known(lab.topology.fabric)
    assert (known.door_ns, known.error_ns, recorded()) == (545, 1_640, known) and known.checked_utc
    assert opened[-1] == 545


@pytest.mark.parametrize("row", [BAD, BAD_TRAIN, VaivenError("nothing arrives")])
def test_of_a_failed_check_nothing_is_kept_and_the_lab_stays_as_it_was(tried, monkeypatch, row) -> None:
    lab, opened = tried
    monkeypatch.setattr(check, "_Check", finding(row))
    if isinstance(row, Row):
        report = check.run(lab)
        assert (report.passed, report.kept_in, report.door_ns) == (False, None, 545)
    else:
        with pytest.raises(VaivenError):
            check.run(lab)
    assert opened == [545, calibration.DOOR_DEFAULT_NS]
    assert not calibration.path().exists() and recorded() == Calibration()


def test_a_report_is_plain_json() -> None:
    value = json.loads(json.dumps(REPORT.as_json()))
    assert (value["passed"], value["decided"], value["earned"], value["door_ns"]) == (False, True, "paced", 3)
    assert [(row["error"], row["verdict"]) for row in value["rows"]] == [(20, "ok"), (31, "off")]


# Real fabrics


def exact(report: CheckReport) -> dict[str, Row]:
    """The rows that count frames, but for those that this machine drops: whatever else it does, they are right."""
    return {row.what: row for row in report.rows if row.unit == "frames" and "this machine" not in row.what}


def assert_sound(lab: Lab, report: CheckReport) -> None:
    """Every row is there, counts are exact, nothing came earlier than frames were freed, what it learned is kept."""
    what = " ".join(row.what for row in report.rows)
    for word in (
        "60 B, ping-pong asleep",
        "1514 B, ping-pong spinning",
        "60 B, UDP",
        "1514 B, 802.3",
        "UDP_SEGMENT",
        "to all",
        "at once",
        "3 to 1",
        "ping -s",
        "captured",
    ):
        assert word in what
    assert all(row.verdict == "ok" for row in exact(report).values()), exact(report)
    kept = calibration.known(lab.topology.fabric)
    assert labs.find(lab.instance).calibration == kept and report.door_ns >= 0 and report.error_ns >= 0
    if report.passed:
        assert (kept.by, kept.door_ns, kept.error_ns) == ("check", report.door_ns, report.error_ns)
    else:  # what a trial has found on this machine, before another test measured, stays
        assert kept.by == "trial" or kept == Calibration()
    singles = [row for row in report.rows if row.unit == "ns" and not row.throughput and "ping" not in row.what]
    assert all(row.error > -report.door_ns - 20_000 for row in singles), singles
    assert report.passed or report.earned in ("paced", "free", None)
    assert calibration.frames_per_s(lab.topology) == (report.frames_per_s if report.passed else None)


@pytest.mark.lab
def test_a_hub_is_measured_in_every_way(raise_lab) -> None:
    lab = raise_lab(HUB)
    assert_sound(lab, check.run(lab, quick=True))


@pytest.mark.slow
@pytest.mark.lab
def test_a_switch_is_measured_in_every_way_while_faults_and_slow_hosts_stand_aside(raise_lab) -> None:
    more = '[[hosts]]\nname = "old"\nframe_us = 1e5\n[[faults]]\nhost = "h2"\nkind = "loss"\nprobability = 1.0\n'
    lab = raise_lab(SWITCH + more)
    report = check.run(lab, quick=True)
    assert_sound(lab, report)
    singles = [row for row in report.rows if row.what.startswith("1514 B")]
    assert len(singles) == 5 and all(row.median < row.expected + 50_000_000 for row in singles)
    assert [(row.host, row.kind, row.seen) for row in faults.hits(lab)] == [("h2", "loss", 0)]


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize("name", ["lqt", "lidi", "inpe"])
def test_the_ready_labs_are_measured_whole(raise_lab, name: str) -> None:
    """6 hosts on a hub of 10 Mb/s, 8 on a switch of 100, 16 on a switch of 50."""
    lab = raise_lab(topology.ready_path(name).read_text())
    assert_sound(lab, check.run(lab))


@pytest.mark.lab
def test_a_fabric_of_another_rate_than_it_says_is_found_out(raise_lab) -> None:
    lab = raise_lab(PAIR)
    exits.command(lab, [f"exit hub byte_ns_q16={round(800 * 1.05) << 16}"])
    report = check.run(lab, quick=True)
    assert not report.passed
    assert any(row.verdict == "off" and row.throughput for row in report.rows)


@pytest.mark.lab
@pytest.mark.slow
def test_a_fabric_that_frees_frames_at_the_start_of_their_time_is_found_out(raise_lab) -> None:
    """What a token bucket does: the throughput is right, single frames come too early."""
    lab = raise_lab(PAIR)
    exits.command(lab, ["exit hub byte_ns_q16=65536"])
    report = check.run(lab, quick=True)
    assert report.earned in (None, "free")


@pytest.mark.lab
def test_a_fabric_that_loses_frames_is_found_out(raise_lab) -> None:
    """A queue of five frames drops the rest of a train, and nothing of what two ends tell each other about it."""
    lab = raise_lab(PAIR)
    exits.command(lab, [f"exit hub queue_ns={5 * 1538 * 800}"])
    try:  # where a sender pauses in each train, as on a busy machine, some of them arrive to the end
        assert not check.run(lab, quick=True).passed
    except VaivenError as error:
        assert error.what.startswith("nothing arrives: 30 x 1514 B")


@pytest.mark.lab
def test_a_free_fabric_only_has_to_deliver(raise_lab) -> None:
    lab = raise_lab(FREE)
    report = check.run(lab, quick=True)
    assert (report.earned, report.door_ns, report.passed) == ("free", None, True)
    assert report.frames_per_s > 0


@pytest.mark.lab
def test_one_host_cannot_be_checked(raise_lab) -> None:
    lab = raise_lab(FREE.replace("count = 4", "count = 1"))
    with pytest.raises(VaivenError, match="needs two") as refused:
        check.run(lab)
    assert refused.value.code == "too-few-hosts"
