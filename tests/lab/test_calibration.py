# SPDX-License-Identifier: BSD-3-Clause
"""What is remembered of this machine, and for which labs."""

from __future__ import annotations

from pathlib import Path

import pytest

from vaiven.lab import calibration, topology
from vaiven.lab.topology import Topology


def lab(kind: str, rate_mbps: int, hosts: int = 2) -> Topology:
    fabric = f'kind = "{kind}"\nclass = "timed"\nrate_mbps = {rate_mbps}'
    return topology.parse(f'name = "x"\n[fabric]\n{fabric}\n[[hosts]]\nprefix = "h"\ncount = {hosts}\n')


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state" / "calibration.json"


def test_a_lead_is_remembered_for_its_kind_and_rate() -> None:
    fast, slow, hub = (lab(*what).fabric for what in (("switch", 100), ("switch", 10), ("hub", 100)))
    assert calibration.lead_ns(fast) == calibration.LEAD_DEFAULT_NS
    calibration.store_lead(fast, 12_345)
    calibration.store_lead(slow, 0)
    assert [calibration.lead_ns(each) for each in (fast, slow, hub)] == [12_345, 0, calibration.LEAD_DEFAULT_NS]


def test_what_a_lab_carries_is_remembered_for_its_number_of_hosts() -> None:
    assert calibration.frames_per_s(lab("switch", 100)) is None
    calibration.store_frames_per_s(lab("switch", 100), 76_000.5)
    calibration.store_lead(lab("switch", 100).fabric, 7)
    assert calibration.frames_per_s(lab("switch", 100)) == 76_000.5
    assert calibration.frames_per_s(lab("switch", 100, hosts=8)) is None
    assert calibration.lead_ns(lab("switch", 100).fabric) == 7


@pytest.mark.parametrize("damaged", ["{broken", "[]", "7", "null"])
def test_a_damaged_file_knows_nothing_and_is_written_anew(place: Path, damaged: str) -> None:
    place.parent.mkdir()
    place.write_text(damaged)
    assert calibration.lead_ns(lab("hub", 10).fabric) == calibration.LEAD_DEFAULT_NS
    calibration.store_lead(lab("hub", 10).fabric, 5)
    assert calibration.lead_ns(lab("hub", 10).fabric) == 5


def test_an_entry_of_another_shape_is_none(place: Path) -> None:
    calibration.store_lead(lab("hub", 10).fabric, 5)
    place.write_text(place.read_text().replace('{"lead_ns": 5}', "5"))
    assert calibration.lead_ns(lab("hub", 10).fabric) == calibration.LEAD_DEFAULT_NS
