# SPDX-License-Identifier: BSD-3-Clause
"""What is said of where a run was measured."""

from __future__ import annotations

import pytest

from vaiven.results.facts import calibration_text

CHECKED = {"door_ns": 1_200, "error_ns": 1_640, "checked_utc": "2026-01-31T12:00:00Z"}


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (CHECKED, "lone frames within 1.6 µs by lab check on 2026-01-31"),
        (CHECKED | {"by": "trial"}, "lone frames within 1.6 µs by a trial on 2026-01-31"),
        ({"door_ns": 1000, "error_ns": None, "checked_utc": ""}, "lone frames not checked by lab check"),
        ({"door_ns": 1000}, "lone frames not checked by lab check"),
        (CHECKED | {"error_ns": "1640"}, "lone frames not checked by lab check"),
        ({"door_ns": "1000"}, ""),
        (None, ""),
    ],
)
def test_what_error_remains_is_named_with_the_day_of_the_check(found: object, said: str) -> None:
    assert calibration_text(found) == said
