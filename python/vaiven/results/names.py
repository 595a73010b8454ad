# SPDX-License-Identifier: BSD-3-Clause
"""The words by which results are asked for; without any import that costs time."""

from __future__ import annotations

from typing import Literal

Question = Literal["pingpong", "connect", "oneway"]  # whose times are compared
Answered = Literal[
    "pingpong", "prtt", "overlap", "steps", "first", "fanout", "stream", "exchange", "pingpongs"
]  # what has an answer of its own
StatisticWord = Literal["median", "minimum", "mean", "p95", "p99"]  # which number stands for a launch

# Each question that has an answer of its own -> the part of the results that is it, in the order to be shown.
ANSWERS: dict[Answered, str] = {
    "pingpong": "costs", "prtt": "loggp", "overlap": "overlaps", "steps": "steps", "first": "openings",
    "fanout": "audiences", "stream": "audiences", "exchange": "audiences", "pingpongs": "audiences",
}  # fmt: skip
