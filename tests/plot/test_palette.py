# SPDX-License-Identifier: BSD-3-Clause
"""Lines that everybody can tell apart, on white and on dark."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from vaiven.plot.palette import _LOOKS, WIRE, looks

PAPER = {"light": "#ffffff", "dark": "#171d24"}
# What is left of a linear RGB colour without red or without green cones (Viénot, Brettel and Mollon 1999).
BLIND = {
    "protan": np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]]),
    "deutan": np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]),
}


def _linear(colour: str) -> np.ndarray:
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def _contrast(one: str, other: str) -> float:
    bright, dim = sorted((float(_linear(c) @ [0.2126, 0.7152, 0.0722]) for c in (one, other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_line_stands_out_from_the_page(theme: str) -> None:
    for look in (*_LOOKS, WIRE):
        assert _contrast(getattr(look, theme), PAPER[theme]) >= 3.0, look


def test_no_two_lines_look_the_same_even_without_colour() -> None:
    assert len({(look.dash, look.marker) for look in _LOOKS}) == len(_LOOKS)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kind", list(BLIND))
def test_the_first_colours_differ_for_the_colour_blind(theme: str, kind: str) -> None:
    seen = [np.clip(BLIND[kind] @ _linear(getattr(look, theme)), 0, 1) ** (1 / 2.2) for look in _LOOKS[:4]]
    for one, other in combinations(seen, 2):
        assert np.linalg.norm(one - other) > 0.08


def test_a_stack_looks_the_same_on_every_page() -> None:
    assert looks(["udp", "tcp"])["tcp"] == looks(["tcp"])["tcp"]
    assert looks(["tcp[write=split]", "tcp"])["tcp"] == looks(["tcp"])["tcp"]


def test_more_stacks_than_looks_still_get_one_each() -> None:
    names = [f"stack {number}" for number in range(20)]
    assert list(looks(names)) == names
