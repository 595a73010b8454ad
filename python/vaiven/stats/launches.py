# SPDX-License-Identifier: BSD-3-Clause
"""How many launches and messages it takes. Plans ask too, before anything is measured: no more than arithmetic."""

from __future__ import annotations

from math import ceil, log2

LAUNCHES_MIN = 8  # below it a bootstrap over launches promises more than it keeps
BEYOND_MIN = 5  # messages expected beyond a quantile: with fewer it is the largest message by another name


def launches_needed(level: float) -> int:
    """The fewest values with an exact median interval of that level: 2^(1-n) <= 1 - level. 6 at 95 %, 8 at 99 %."""
    return ceil(1 - log2(1 - level) - 1e-12)


def messages_needed(share: float) -> int:
    """The fewest messages that carry the quantile of that share: 100 for 0.95, 500 for 0.99."""
    return ceil(BEYOND_MIN / (1 - share) - 1e-9)
