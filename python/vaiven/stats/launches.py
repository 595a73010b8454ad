# SPDX-License-Identifier: BSD-3-Clause
"""How many launches it takes. Plans ask too, before anything is measured: nothing here needs more than arithmetic."""

from __future__ import annotations

from math import ceil, log2

LAUNCHES_MIN = 8  # below it a bootstrap over launches promises more than it keeps


def launches_needed(level: float) -> int:
    """The fewest values with an exact median interval of that level: 2^(1-n) <= 1 - level. 6 at 95 %, 8 at 99 %."""
    return ceil(1 - log2(1 - level) - 1e-12)
