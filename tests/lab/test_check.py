# SPDX-License-Identifier: BSD-3-Clause
"""The check of a fabric tells a good one from a bad one, and leaves it as it was."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from vaiven.errors import VaivenError
from vaiven.lab import check, exits, faults, topology
from vaiven.lab.check import CheckReport, Row
from vaiven.lab.lab import Lab

LAB = """\
name = "checked"
[fabric]
kind = "{kind}"
class = "{class_}"
{rate}
[[hosts]]
prefix = "h"
count = 4
"""
HUB = LAB.format(kind="hub", class_="timed", rate="rate_mbps = 10")
SWITCH = LAB.format(kind="switch", class_="timed", rate="rate_mbps = 100")
FREE = LAB.format(kind="switch", class_="free", rate="")

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


def test_the_calibration_balances_the_claims_by_their_limits() -> None:
    early = replace(GOOD, median=1_000_000, expected=1_010_000, limit=10_000)
    late = replace(GOOD, median=1_040_000, expected=1_000_000, limit=10_000)
    assert check._best_shift([early, late]) == pytest.approx(15_000, abs=500)
    loose = replace(late, limit=90_000)
    assert check._best_shift([early, loose]) == pytest.approx(-5_000, abs=500)
    assert check._best_shift([early, late, replace(BAD, median=10**9, limit=None)]) == pytest.approx(15_000, abs=500)


def test_a_report_is_plain_json() -> None:
    report = CheckReport(
        instance="x",
        said="timed",
        earned="paced",
        rate_mbps=10.0,
        hosts=2,
        rows=(GOOD, BAD),
        frames_per_s=1.5,
        lead_ns=3,
    )
    value = json.loads(json.dumps(report.as_json()))
    assert (value["passed"], value["earned"], value["lead_ns"]) == (False, "paced", 3)
    assert [(row["error"], row["verdict"]) for row in value["rows"]] == [(20, "ok"), (31, "off")]


# Real fabrics


def earned(lab: Lab, quick: bool) -> CheckReport:
    """The report that passed. The limits are those of the product; a machine that is busy with other things gets a
    second and a third try."""
    reports: list[CheckReport] = []
    while len(reports) < 3 and not any(report.passed for report in reports):
        reports.append(check.run(lab, quick=quick))
    off = [[(row.what, row.error, row.limit) for row in report.rows if row.verdict == "off"] for report in reports]
    assert reports[-1].passed, off
    return reports[-1]


@pytest.mark.lab
@pytest.mark.parametrize("text", [HUB, SWITCH], ids=["hub", "switch"])
def test_a_timed_fabric_earns_its_class(raise_lab, text: str) -> None:
    lab = raise_lab(text)
    report = earned(lab, quick=True)
    assert report.frames_per_s > 1000
    assert exits.lead_ns(lab.topology.fabric) == report.lead_ns


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize("name", ["lqt", "lidi", "inpe"])
def test_the_ready_labs_keep_their_promise(raise_lab, name: str) -> None:
    """6 hosts on a hub of 10 Mb/s, 8 on a switch of 100, 16 on a switch of 50: every row of the whole check."""
    assert earned(raise_lab(topology.ready_path(name).read_text()), quick=False).earned == "timed"


@pytest.mark.lab
def test_a_fabric_of_another_rate_than_it_says_is_found_out(raise_lab) -> None:
    lab = raise_lab(HUB)
    exits.command(lab, [f"exit hub byte_ns_q16={round(800 * 1.05) << 16}"])
    report = check.run(lab, quick=True)
    assert not report.passed
    assert any(row.verdict == "off" and row.throughput for row in report.rows)


@pytest.mark.lab
def test_a_fabric_that_frees_frames_at_the_start_of_their_time_is_found_out(raise_lab) -> None:
    """What a token bucket does: the throughput is right, single frames come too early."""
    lab = raise_lab(HUB)
    exits.command(lab, ["exit hub byte_ns_q16=65536"])
    report = check.run(lab, quick=True)
    assert report.earned in (None, "free")


@pytest.mark.lab
def test_a_free_fabric_only_has_to_deliver(raise_lab) -> None:
    lab = raise_lab(FREE)
    report = check.run(lab, quick=True)
    assert (report.earned, report.lead_ns, report.passed) == ("free", None, True)
    assert report.frames_per_s > 10_000


@pytest.mark.lab
def test_faults_and_slow_hosts_stand_aside_and_come_back(raise_lab) -> None:
    more = '[[hosts]]\nname = "old"\nframe_us = 3000\n[[faults]]\nhost = "h2"\nkind = "loss"\nprobability = 1.0\n'
    lab = raise_lab(SWITCH + more)
    report = check.run(lab, quick=True)
    assert all(row.verdict != "off" for row in report.rows if row.throughput and "to all" not in row.what)
    assert [(row.host, row.kind, row.seen) for row in faults.hits(lab)] == [("h2", "loss", 0)]


@pytest.mark.lab
def test_one_host_cannot_be_checked(raise_lab) -> None:
    lab = raise_lab(FREE.replace("count = 4", "count = 1"))
    with pytest.raises(VaivenError, match="needs two") as refused:
        check.run(lab)
    assert refused.value.code == "too-few-hosts"
