# SPDX-License-Identifier: BSD-3-Clause
"""What is remembered of this machine, for which labs, and what of it is believed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vaiven.errors import VaivenError
from vaiven.lab import calibration, topology
from vaiven.lab.calibration import DOOR_DEFAULT_NS, DOOR_MAX_NS, Calibration
from vaiven.lab.topology import Topology

CHECKED = "2026-01-31T12:00:00Z"


def lab(kind: str, rate_mbps: float, hosts: int = 2) -> Topology:
    fabric = f'kind = "{kind}"\nclass = "timed"\nrate_mbps = {rate_mbps}'
    return topology.parse(f'name = "x"\n[fabric]\n{fabric}\n[[hosts]]\nprefix = "h"\ncount = {hosts}\n')


HUB = lab("hub", 10).fabric


def earned(door_ns: int) -> Calibration:
    return Calibration(door_ns=door_ns, error_ns=1_500, checked_utc=CHECKED)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "state" / "vaiven" / "calibration.json"


def test_how_early_doors_open_is_remembered_for_its_kind_and_rate(place: Path) -> None:
    fast, slow, hub = (lab(*what).fabric for what in (("switch", 100), ("switch", 10), ("hub", 100)))
    assert calibration.known(fast) == Calibration() and calibration.path() == place
    calibration.store(fast, earned(2_345))
    calibration.store(slow, earned(0))
    assert [calibration.known(each) for each in (fast, slow, hub)] == [earned(2_345), earned(0), Calibration()]
    assert [calibration.trouble(each) for each in (fast, slow, hub)] == ["", "", ""]


def test_what_a_lab_carries_is_remembered_for_its_number_of_hosts() -> None:
    assert calibration.frames_per_s(lab("switch", 100)) is None
    calibration.store_frames_per_s(lab("switch", 100), 76_000.5)
    calibration.store(lab("switch", 100).fabric, earned(7))
    assert calibration.frames_per_s(lab("switch", 100)) == 76_000.5
    assert calibration.frames_per_s(lab("switch", 100, hosts=8)) is None
    assert calibration.known(lab("switch", 100).fabric) == earned(7)


def test_without_a_state_directory_it_is_in_the_users_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VAIVEN_STATE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    calibration.store(HUB, earned(5))
    assert (tmp_path / "cache" / "vaiven" / "calibration.json").is_file() and calibration.known(HUB) == earned(5)


@pytest.mark.parametrize("damaged", ["{broken", "[]", "7", "null", "", "\xff"])
def test_a_damaged_file_knows_nothing_is_told_of_and_written_anew(place: Path, damaged: str) -> None:
    place.parent.mkdir(parents=True)
    place.write_text(damaged, encoding="latin-1")
    assert calibration.known(HUB) == Calibration() and str(place) in calibration.trouble(HUB)
    calibration.store(HUB, earned(5))
    assert calibration.known(HUB) == earned(5) and calibration.trouble(HUB) == ""


@pytest.mark.parametrize(("rate_mbps", "most_ns"), [(10, DOOR_MAX_NS), (100, 6719), (1000, 671), (10_000, 66)])
def test_doors_open_by_less_early_than_the_shortest_frame_takes(rate_mbps: float, most_ns: int) -> None:
    fabric = lab("switch", rate_mbps).fabric
    assert calibration.door_max_ns(fabric) == most_ns
    calibration.store(fabric, earned(most_ns))
    assert calibration.known(fabric) == earned(most_ns)
    calibration.store(fabric, earned(most_ns + 1))
    assert calibration.known(fabric) == Calibration(door_ns=min(DOOR_DEFAULT_NS, most_ns))
    assert "us can be right" in calibration.trouble(fabric)


@pytest.mark.parametrize(
    "wild",
    ["1e308", "1e999", "Infinity", "NaN", "-1", "true", '"800"', "null", "[]", "800.5", f"{2**70}", "54500"],
)
def test_a_wild_number_from_outside_is_ignored_with_a_word(place: Path, wild: str) -> None:
    fast = lab("switch", 100).fabric
    calibration.store(fast, earned(800))
    place.write_text(place.read_text().replace("800", wild))
    assert calibration.known(fast) == Calibration()
    assert str(place) in calibration.trouble(fast) and "is ignored" in calibration.trouble(fast)


@pytest.mark.parametrize(
    "entry",
    [
        "5",
        '{"door_ns": 545}',
        '{"calibration": {"door_ns": 7}}',
        '{"calibration": 5}',
        f'{{"calibration": {{"door_ns": 7, "checked_utc": "{CHECKED}"}}}}',
    ],
)
def test_what_no_check_earned_is_not_believed(place: Path, entry: str) -> None:
    """Such as what was written before it was asked whether the class was earned."""
    calibration.store(HUB, earned(5))
    (key,) = json.loads(place.read_text())
    place.write_text(json.dumps({key: json.loads(entry)}))
    assert calibration.known(HUB) == Calibration()


@pytest.mark.parametrize("wild", ["0", "-5", "1e999", "NaN", '"many"'])
def test_a_wild_number_of_frames_is_none(place: Path, wild: str) -> None:
    calibration.store_frames_per_s(lab("hub", 10), 1234.5)
    place.write_text(place.read_text().replace("1234.5", wild))
    assert calibration.frames_per_s(lab("hub", 10)) is None


def test_forgetting_removes_the_file_and_nothing_else(place: Path) -> None:
    assert not calibration.forget()
    calibration.store(HUB, earned(5))
    (place.parent / "other").write_text("mine")
    assert calibration.forget() and calibration.known(HUB) == Calibration()
    assert [path.name for path in place.parent.iterdir()] == ["other"]
    place.mkdir()
    with pytest.raises(VaivenError) as refused:
        calibration.forget()
    assert refused.value.code == "bad-state" and place.is_dir()
    with pytest.raises(VaivenError, match="cannot write"):
        calibration.store(HUB, earned(5))
    assert sorted(path.name for path in place.parent.iterdir()) == ["calibration.json", "other"]


def test_a_trial_lies_in_the_cache_and_gives_way_to_a_check(tmp_path: Path) -> None:
    assert calibration.tried(HUB) is None
    tried = calibration.tried_now(900, 2_500, in_time=True)
    calibration.store(HUB, tried)
    assert (tmp_path / "cache" / "vaiven" / "trials.json").is_file() and not calibration.path().exists()
    assert calibration.known(HUB) == calibration.tried(HUB) == tried
    calibration.store(HUB, earned(5))
    assert calibration.known(HUB) == earned(5) and calibration.tried(HUB) == tried
    assert calibration.forget() and calibration.known(HUB) == Calibration() and not calibration.forget()


def test_a_trial_that_found_nothing_is_remembered_and_moves_no_door() -> None:
    nothing = calibration.tried_now(1_000, None, in_time=False)
    calibration.store(HUB, nothing)
    assert calibration.known(HUB) == Calibration() and calibration.tried(HUB) == nothing
    assert 0 <= calibration.age_s(nothing) < 3600


def test_a_date_that_is_none_is_long_ago() -> None:
    assert calibration.age_s(Calibration(checked_utc="2026-99-31T12:00:00Z")) == float("inf")
