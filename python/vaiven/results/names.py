# SPDX-License-Identifier: BSD-3-Clause
"""The words by which results are asked for; without any import that costs time."""

from __future__ import annotations

from typing import Literal

StatisticWord = Literal["median", "minimum", "mean", "p95", "p99"]  # which number stands for a launch
