# SPDX-License-Identifier: BSD-3-Clause
"""Which headers a stack's messages travel under, for the knees of its curve."""

from __future__ import annotations

import pytest

from vaiven.model.frames import Path
from vaiven.results.costs import path_of


@pytest.mark.parametrize(
    ("stack", "path"),
    [
        ("tcp", Path.TCP),
        ("tcp-nagle", Path.TCP),
        ("tcp[write=split]", Path.TCP),
        ("llc", Path.LLC),
        ("llc-jumbo", Path.LLC_JUMBO),
        ("llc-kernel[idle_ms=1]", Path.LLC_KERNEL),
        ("udpcast", None),
        ("openmpi", None),
    ],
)
def test_a_stack_has_the_limits_of_its_own_path(stack: str, path: Path | None) -> None:
    assert path_of(stack) is path
