# SPDX-License-Identifier: BSD-3-Clause
"""What of two costs is hidden."""

from __future__ import annotations

import pytest

from vaiven.model.overlap import hidden_share


@pytest.mark.parametrize(
    ("talk", "work", "both", "share"),
    [
        (100, 100, 200, 0.0),  # one after the other
        (100, 100, 100, 1.0),  # all of it
        (100, 60, 130, 0.5),
        (100, 100, 90, 1.0),  # noise made both shorter than either
        (100, 100, 230, 0.0),  # and here longer than the sum
    ],
)
def test_the_share_is_between_nothing_and_all(talk: float, work: float, both: float, share: float) -> None:
    assert hidden_share(talk, work, both) == pytest.approx(share)
