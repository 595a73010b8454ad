# SPDX-License-Identifier: BSD-3-Clause
"""A timed lab that nobody checked tries ping-pongs once, within seconds; the record says what they found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.lab.texts import lab_text

from vaiven.lab import calibration, fabric, lone, topology, trial
from vaiven.lab import lab as labs
from vaiven.lab.lab import Lab
from vaiven.lab.lone import WAITS, Lone
from vaiven.lab.trial import FRAMES_BYTES, Found

POSSIBLE = range(-1000, 5720)
TIMED = lab_text("trial", 2, class_="timed", rate_mbps=100)


def found(*errors_ns: float, frames: tuple[int, ...] = FRAMES_BYTES) -> list[Lone]:
    """Launches of all kinds, that late each."""
    return [
        Lone(stack="udp", wait=wait, frame_bytes=size, wire_ns=50_000, free_ns=(6_000.0,),
             launches_ns=tuple(56_000 + error for error in errors_ns))
        for size in frames for wait in WAITS
    ]  # fmt: skip


def test_doors_open_earlier_by_what_all_kinds_are_late() -> None:
    assert trial.judged(found(2900, 3000, 3500), POSSIBLE) == Found(shift_ns=3000, error_ns=500, in_time=True)


def test_doors_open_no_earlier_than_can_be_right() -> None:
    assert trial.judged(found(6700, 6700), POSSIBLE) == Found(shift_ns=5719, error_ns=981, in_time=True)
    assert trial.judged(found(-1700, -1700), POSSIBLE) == Found(shift_ns=-1000, error_ns=700, in_time=True)


def test_doors_that_cannot_bring_all_in_time_stay_and_the_error_is_said() -> None:
    both = [*found(4000, 4000, frames=(60,)), *found(-4000, -4500, frames=(542, 1514))]
    assert trial.judged(both, POSSIBLE) == Found(shift_ns=0, error_ns=4500, in_time=False)


def test_too_few_launches_say_nothing() -> None:
    assert trial.judged([], POSSIBLE) == Found()
    assert trial.judged(found(3000), POSSIBLE) == Found()
    assert trial.judged(found(3000, 3000)[1:], POSSIBLE) == Found()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "vaiven" / "trials.json"


@pytest.fixture
def tries(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What ping-pongs were asked for; each time they are found 3 us late."""
    asked: list[dict[str, Any]] = []

    def measure(*_: object, **effort: Any) -> list[Lone]:
        asked.append(effort)
        return found(3000, 3000)

    monkeypatch.setattr(lone, "measure", measure)
    return asked


@pytest.mark.lab
def test_a_lab_is_tried_once_for_its_kind_and_rate_and_its_doors_moved(
    raise_lab: Callable[..., Lab], cache: Path, tries: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    moved: list[int] = []
    monkeypatch.setattr(fabric, "set_doors", lambda _lab, door_ns: moved.append(door_ns))
    tried = trial.calibrated(raise_lab(TIMED))
    assert tries == [{"launches": 12, "samples": 12, "within_s": trial.BUDGET_S}] and moved[-1] == 4000
    now = tried.calibration
    assert (now.door_ns, now.error_ns, now.trains_ns, now.by, now.in_time) == (4000, 0, None, "trial", True)
    assert labs.find("trial").calibration == now and cache.is_file()
    assert trial.calibrated(tried) is tried and len(tries) == 1
    labs.down("trial")
    assert raise_lab(TIMED).calibration == now


@pytest.mark.lab
def test_what_is_checked_free_or_alone_is_not_tried(
    raise_lab: Callable[..., Lab], cache: Path, tries: list[dict[str, Any]]
) -> None:
    for text in (lab_text("trial", 2), lab_text("trial", 1, class_="timed", rate_mbps=100)):
        lab = raise_lab(text)
        assert trial.calibrated(lab) is lab
        labs.down(lab)
    calibration.store(topology.parse(TIMED).fabric, calibration.found_now(900, 1500, 9000))
    lab = raise_lab(TIMED)
    assert trial.calibrated(lab) is lab and lab.calibration.by == "check"
    assert not tries and not cache.exists()


@pytest.mark.lab
def test_a_trial_that_found_nothing_is_not_repeated_at_once_but_later(
    raise_lab: Callable[..., Lab], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(lone, "measure", lambda *_, **__: asked.append(1) or [])
    lab = trial.calibrated(raise_lab(TIMED))
    assert lab.calibration.error_ns is None and lab.calibration.door_ns == calibration.DOOR_DEFAULT_NS
    assert trial.calibrated(lab) is lab and asked == [1]
    old = msgspec.structs.replace(lab.calibration, checked_utc="2026-01-31T12:00:00Z")
    calibration.store(lab.topology.fabric, old)
    trial.calibrated(lab)
    assert asked == [1, 1]


@pytest.mark.lab
def test_ping_pongs_end_with_their_time(raise_lab: Callable[..., Lab], cache: Path) -> None:
    lab = raise_lab(TIMED)
    effort = {"launches": 1000, "samples": 8}
    assert lone.measure(*lab.hosts, lab.topology, ["udp"], FRAMES_BYTES, **effort, within_s=0.0) == []
