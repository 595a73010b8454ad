# SPDX-License-Identifier: BSD-3-Clause
"""What is said of where a run was measured."""

from __future__ import annotations

import pytest

from vaiven.results.facts import calibration_text

CHECKED = {"lead_ns": 12_500, "checked_utc": "2026-01-31T12:00:00Z"}


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (CHECKED, "calibrated to 12.5 µs by lab check on 2026-01-31"),
        ({"lead_ns": 8000, "checked_utc": ""}, "not calibrated by lab check (8 µs)"),
        ({"lead_ns": 8000}, "not calibrated by lab check (8 µs)"),
        ({"lead_ns": "8000"}, ""),
        ("damaged", ""),
        (None, ""),
    ],
)
def test_the_calibration_is_named_with_its_day(found: object, said: str) -> None:
    assert calibration_text({"lab": {}, "calibration": found}) == said
