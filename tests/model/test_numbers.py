# SPDX-License-Identifier: BSD-3-Clause
"""Numbers as people read them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaiven.model import numbers
from vaiven.stats.estimate import Estimate, refusal


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (12_300, "12.3 µs"),
        (999.4, "999 ns"),
        (999.7, "1.00 µs"),
        (999_600, "1.00 ms"),
        (1e6, "1.00 ms"),
        (1.5e9, "1.50 s"),
        (0, "0 ns"),
        (-300, "−300 ns"),
        (None, numbers.DASH),
        (math.nan, numbers.DASH),
    ],
)
def test_times(ns: float | None, text: str) -> None:
    assert numbers.time_text(ns) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (64, "64 B"),
        (1000, "1 kB"),
        (1024, "1 KiB"),
        (1472, "1472 B"),
        (1500, "1500 B"),
        (3072, "3072 B"),
        (60_000, "60 kB"),
        (65_507, "65\u202f507 B"),
        (1_000_000, "1 MB"),
        (1_048_576, "1 MiB"),
        (1_500_000, "1.5 MB"),
        (2**31, "2 GiB"),
    ],
)
def test_sizes_are_exact_and_binary_only_for_powers_of_two(size: int, text: str) -> None:
    assert numbers.size_text(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "less than a second"), (42.4, "42 s"), (94, "1 min 34 s"), (7325, "2 h 2 min")]
)
def test_durations(seconds: float, text: str) -> None:
    assert numbers.duration_text(seconds) == text


@pytest.mark.parametrize(("ratio", "text"), [(1.06, "+6.0 %"), (0.81, "−19.0 %"), (1.0, "+0.0 %")])
def test_a_ratio_is_shown_as_the_change_that_it_is(ratio: float, text: str) -> None:
    assert numbers.change_text(ratio) == text


def test_a_change_has_its_interval_or_says_why_not() -> None:
    assert numbers.change_interval_text(Estimate(1.06, 0.991, 1.072, "ratio", 0.99)) == "+6.0 % (99 %: −0.9 to +7.2 %)"
    assert numbers.change_interval_text(refusal("too few runs: 3 of 8", "ratio")) == "too few runs: 3 of 8"
    assert numbers.change_text(1.0204, 2) == "+2.04 %"


def test_ticks_have_no_empty_digits() -> None:
    assert [numbers.tick_text(ns) for ns in (1e6, 2500, 5e8)] == ["1 ms", "2.5 µs", "500 ms"]


def test_rates_are_decimal() -> None:
    assert numbers.rate_text(1.25e6) == "1.25 MB/s"
    assert numbers.bits_text(1.25e6) == "10.0 Mb/s"
    assert numbers.bits_text(12.5e6, 2) == "100 Mb/s"


@pytest.mark.parametrize(
    ("three", "text"),
    [
        ((45_234, 45_100, 45_301), "45.2 [45.1, 45.3] µs"),
        ((45_234, 45_230, 45_240), "45.23 [45.23, 45.24] µs"),
        ((45_234, math.nan, math.nan), "45.2 µs"),
        ((-300, -900, 200), "−300 [−900, 200] ns"),
    ],
)
def test_value_and_interval_share_unit_and_decimals(three: tuple[float, float, float], text: str) -> None:
    assert numbers.time_interval_text(*three) == text


def test_an_estimate_is_shown_in_its_own_unit_or_as_a_dash() -> None:
    assert numbers.estimate_text(Estimate(81.9, 81.5, 82.3, "ns/byte")) == "81.9 [81.5, 82.3] ns/B"
    assert numbers.estimate_text(Estimate(540.2, 520, 560, "byte")) == "540 [520, 560] B"
    assert numbers.estimate_text(Estimate(54_020, 52_000, 56_000, "byte")) == "54.0 [52.0, 56.0] kB"
    assert numbers.estimate_text(Estimate(11.84e6, 11.8e6, 11.9e6, "byte/s")) == "11.84 [11.80, 11.90] MB/s"
    assert numbers.estimate_text(refusal("too few launches", "ns")) == numbers.DASH
    assert numbers.estimate_text(None) == numbers.DASH


@given(st.floats(1e-3, 1e13))
def test_a_time_is_read_back_within_half_a_digit(ns: float) -> None:
    number, unit = numbers.time_text(ns).split(" ")
    scale = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[unit]
    assert float(number.replace("\u202f", "")) * scale == pytest.approx(ns, rel=0.0051)


@given(st.floats(1, 1e10), st.floats(1.0001, 1e6))
def test_ticks_are_few_and_lie_around_the_times(low: float, factor: float) -> None:
    ticks = numbers.time_ticks(low, low * factor)
    inside = [tick for tick in ticks if low <= tick <= low * factor]
    assert ticks == sorted(ticks) and len(inside) <= 10
    assert len(inside) >= (2 if factor > 300 or factor < 8 else 1)


def test_sizes_that_are_powers_of_two_are_marked_by_powers_of_two() -> None:
    assert numbers.size_ticks([0, 1, 2, 4, 8, 64, 1024, 2**19])[:3] == [1, 8, 64]
    assert numbers.size_ticks([8, 100, 1000, 60_000, 10**6]) == [1, 10, 100, 1000, 10_000, 100_000, 1_000_000]
    assert numbers.size_ticks([0]) == []


@pytest.mark.parametrize(
    ("sizes", "labels"),
    [
        ([8, 1024, 65536], ["8 B", "1 KiB", "64 KiB"]),
        ([8, 1000, 4096, 10**6], ["8 B", "1 kB", "4.1 kB", "1 MB"]),
        ([100_000, 100_001], ["100\u202f000 B", "100\u202f001 B"]),
    ],
)
def test_sizes_as_names_are_in_one_notation_and_all_different(sizes: list[int], labels: list[str]) -> None:
    assert numbers.size_labels(sizes) == labels
