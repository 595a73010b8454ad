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
    lead_ns=3,
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
    """A check of a fabric whose single frames are found that many ns late, one look after the other, with no lead."""

    def __init__(self, late_ns: list[int]) -> None:
        self.lab = SimpleNamespace(topology=topology.parse(HUB), calibration=Calibration())
        self._late_ns, self._lead_ns = late_ns, 0

    def _singles(self, *_: object) -> list[Row]:
        return [replace(GOOD, median=GOOD.expected + self._late_ns.pop(0) - self._lead_ns, limit=15_000)]

    def set_lead(self, _: object, lead_ns: int) -> None:
        self._lead_ns = lead_ns


@pytest.mark.parametrize(
    ("late_ns", "lead_ns", "moved_ns"),
    [
        ([40_000, 40_000, 40_000, 40_000], 40_000, 0),
        ([40_000, 40_000, 25_000, 30_000], 40_000, 15_000),  # it was slow while it was calibrated
        ([30_000, 30_000, 30_000, 45_000], 30_000, 15_000),
        ([400_000, 400_000, 400_000, 400_000], 67_200, 0),  # a shorter frame would be there before it was sent
        ([-900_000, -900_000, -900_000, -900_000], 0, 0),  # a wrong fabric stays so: no lead makes frames later
    ],
)
def test_what_the_looks_differ_by_is_what_the_machine_moved(
    state_dir, monkeypatch, late_ns: list[int], lead_ns: int, moved_ns: int
) -> None:
    looked = Scripted(late_ns)
    monkeypatch.setattr(check.fabric, "set_lead", looked.set_lead)
    assert looked.calibrate() == pytest.approx(lead_ns, abs=500)
    looked._look()
    looked._look()
    assert looked.moved_ns == pytest.approx(moved_ns, abs=500)


# What is kept


@pytest.fixture
def tried(state_dir, monkeypatch) -> tuple[Lab, list[int]]:
    """A lab with the record of one that is up, and the leads that were brought into force there."""
    here = Namespace(pid=1, started_ticks=1)
    described = topology.parse(PAIR)
    hosts = tuple(LabHost(lab="checked", number=n, spec=s, namespace=here) for n, s in enumerate(described.hosts, 1))
    lab = Lab(instance="checked", topology=described, switch=here, hosts=hosts, ready=True)
    with state.reserved("checked"):
        pass
    labs.recalibrated(lab, lab.calibration)
    leads: list[int] = []
    monkeypatch.setattr(check.fabric, "set_lead", lambda _, lead_ns: leads.append(lead_ns))
    return lab, leads


def finding(row: Row | VaivenError) -> type[check._Check]:
    """A check that calibrates a fabric to 54.5 us and then measures that row."""

    class Found(check._Check):
        def calibrate(self) -> int:
            check.fabric.set_lead(self.lab, 54_500)
            return 54_500

        def timed(self) -> Iterator[Row]:
            if isinstance(row, VaivenError):
                raise row
            yield row

    return Found


def recorded() -> Calibration:
    lab, _ = labs._recorded("checked")
    assert lab
    return lab.calibration


def test_a_calibration_is_kept_where_the_class_was_earned(tried, monkeypatch) -> None:
    lab, leads = tried
    monkeypatch.setattr(check, "_Check", finding(GOOD))
    monkeypatch.setattr(calibration, "store_frames_per_s", lambda *_: None)  # it carried none
    report = check.run(lab)
    assert report.passed and report.kept_in == str(calibration.path())
    known = calibration.known(lab.topology.fabric)
    assert (known.lead_ns, recorded()) == (54_500, known) and known.checked_utc and leads[-1] == 54_500


@pytest.mark.parametrize("row", [BAD, BAD_TRAIN, VaivenError("nothing arrives")])
def test_of_a_failed_check_nothing_is_kept_and_the_lab_stays_as_it_was(tried, monkeypatch, row) -> None:
    lab, leads = tried
    monkeypatch.setattr(check, "_Check", finding(row))
    if isinstance(row, Row):
        report = check.run(lab)
        assert (report.passed, report.kept_in, report.lead_ns) == (False, None, 54_500)
    else:
        with pytest.raises(VaivenError):
            check.run(lab)
    assert leads == [54_500, calibration.LEAD_DEFAULT_NS]
    assert not calibration.path().exists() and recorded() == Calibration()


def test_a_report_is_plain_json() -> None:
    value = json.loads(json.dumps(REPORT.as_json()))
    assert (value["passed"], value["decided"], value["earned"], value["lead_ns"]) == (False, True, "paced", 3)
    assert [(row["error"], row["verdict"]) for row in value["rows"]] == [(20, "ok"), (31, "off")]


# Real fabrics


def exact(report: CheckReport) -> dict[str, Row]:
    """The rows that count frames, but for those that this machine drops: whatever else it does, they are right."""
    return {row.what: row for row in report.rows if row.unit == "frames" and "this machine" not in row.what}


def assert_sound(lab: Lab, report: CheckReport) -> None:
    """Every row is there, counts are exact, nothing came earlier than frames were freed, what it learned is kept."""
    what = " ".join(row.what for row in report.rows)
    for word in ("60 B, UDP", "1514 B, 802.3", "UDP_SEGMENT", "to all", "at once", "3 to 1", "ping -s", "captured"):
        assert word in what
    assert all(row.verdict == "ok" for row in exact(report).values()), exact(report)
    kept = calibration.known(lab.topology.fabric)
    assert labs.find(lab.instance).calibration == kept and report.lead_ns >= 0
    assert kept.lead_ns == report.lead_ns if report.passed else kept == Calibration()
    singles = [row for row in report.rows if row.unit == "ns" and not row.throughput and "ping" not in row.what]
    assert all(row.error > -report.lead_ns - 10_000 for row in singles), singles
    assert report.passed or report.earned in ("paced", "free", None)
    assert calibration.frames_per_s(lab.topology) == (report.frames_per_s if report.passed else None)


@pytest.mark.lab
def test_a_hub_is_measured_in_every_way(raise_lab) -> None:
    lab = raise_lab(HUB)
    assert_sound(lab, check.run(lab, quick=True))


@pytest.mark.lab
def test_a_switch_is_measured_in_every_way_while_faults_and_slow_hosts_stand_aside(raise_lab) -> None:
    more = '[[hosts]]\nname = "old"\nframe_us = 1e5\n[[faults]]\nhost = "h2"\nkind = "loss"\nprobability = 1.0\n'
    lab = raise_lab(SWITCH + more)
    report = check.run(lab, quick=True)
    assert_sound(lab, report)
    singles = [row for row in report.rows if row.what.startswith("1514 B")]
    assert len(singles) == 3 and all(row.median < row.expected + 50_000_000 for row in singles)
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
    assert (report.earned, report.lead_ns, report.passed) == ("free", None, True)
    assert report.frames_per_s > 0


@pytest.mark.lab
def test_one_host_cannot_be_checked(raise_lab) -> None:
    lab = raise_lab(FREE.replace("count = 4", "count = 1"))
    with pytest.raises(VaivenError, match="needs two") as refused:
        check.run(lab)
    assert refused.value.code == "too-few-hosts"
