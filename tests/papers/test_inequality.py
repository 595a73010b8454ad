# SPDX-License-Identifier: BSD-3-Clause
"""Inequalities as texts, and the margin by which they are so."""

from __future__ import annotations

import numpy as np
import pytest

from vaiven.errors import VaivenError
from vaiven.papers.inequality import MARGIN_MOST, Inequality

WORDS = {
    "two": 2.0,
    "eight": 8.0,
    "many": np.array([2.0, 4.0, 16.0]),
    "square": lambda x: x * x,
    "HOSTS": ("a", "b"),
    "NOBODY": (),
    "t": lambda host: {"a": 1.0, "b": 4.0}[host],
}


def margin(text: str) -> float | list[float]:
    return Inequality(text).margin(WORDS).tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("two < eight", 4.0),
        ("two <= eight", 4.0),
        ("eight < two", 0.25),
        ("two > eight", 0.25),
        ("two >= 1", 2.0),
        ("two < two", 1.0),
        ("1 < two < eight", 2.0),
        ("1 < two <= 3", 1.5),
        ("two < eight and 1 < two", 2.0),
        ("two < eight or 1 < two", 4.0),
        ("not two < eight", 0.25),
        ("2 * two + 4 < eight * 10 ** 1", 10.0),
        ("two - 1 < square(two) / 2", 2.0),
        ("all(t(h) < 8 for h in HOSTS)", 2.0),
        ("any(t(h) < 8 for h in HOSTS)", 8.0),
        ("all(t(h) < n for n in (8, 16) for h in HOSTS)", 2.0),
        ("all(a < b for a, b in ((1, 2), (4, 5)))", 1.25),
        ("max(t(h) for h in HOSTS) < 2 * min(two, eight)", 1.0),
        ("spread(t(h) for h in HOSTS) > 2", 2.0),
        ("many < 8", [4.0, 2.0, 0.5]),
        ("all(n < many for n in (1, 2))", [1.0, 2.0, 8.0]),
    ],
)
def test_margins(text: str, expected: float | list[float]) -> None:
    assert margin(text) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 < two", MARGIN_MOST), ("two < 0", 1 / MARGIN_MOST), ("0 < 0", 1.0), ("two - eight < 1", MARGIN_MOST),
        ("two - eight > 0", 1 / MARGIN_MOST), ("two - eight < two - 4", 3.0), ("two - 4 < two - eight", 1 / 3),
        ("two - 4 < two - 4", 1.0),
    ],
)  # fmt: skip
def test_a_side_that_is_nothing_or_less(text: str, expected: float) -> None:
    assert margin(text) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "so"),
    [("two == 2", True), ("two == eight", False), ("HOSTS == ('a', 'b')", True), ("(1, 2) == (1,)", False)],
)
def test_what_is_equal_is_a_fact(text: str, so: bool) -> None:
    assert margin(text) == (MARGIN_MOST if so else 1 / MARGIN_MOST)


def test_the_words_of_an_inequality_are_those_that_it_does_not_explain() -> None:
    assert Inequality("all(t(h) < two for h in HOSTS for a, b in NOBODY)").words == {"t", "two", "HOSTS", "NOBODY"}


@pytest.mark.parametrize("text", ["all(t(h) < 8 for h in NOBODY)", "max(t(h) for h in NOBODY) < 8"])
def test_what_is_said_of_nobody_is_not_measured(text: str) -> None:
    with pytest.raises(VaivenError, match="no host of that kind") as caught:
        margin(text)
    assert caught.value.code == "not-measured"


def test_one_value_has_no_spread() -> None:
    with pytest.raises(VaivenError, match="no spread"):
        margin("spread(t(h) for h in ('a',)) > 1")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("two <", "invalid syntax"),
        ("two != eight", "two != eight|NotEq"),
        ("all(t(h) < 8 for h in HOSTS if h)", "cannot stand"),
        ("square.__class__ < 8", "cannot stand"),
        ("(lambda: 1)() < 8", "cannot stand"),
        ("t(host='a') < 8", "cannot stand"),
        ("HOSTS[0] < 8", "cannot stand"),
        ("two < nine", "'nine' means nothing"),
    ],
)
def test_what_is_no_inequality_is_refused(text: str, why: str) -> None:
    with pytest.raises(VaivenError, match=why) as caught:
        margin(text)
    assert caught.value.code == "bad-claim"
