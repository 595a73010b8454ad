# SPDX-License-Identifier: BSD-3-Clause
"""Still pictures: valid, repeatable, with text that stays text, and the same numbers as the figures that move."""

from __future__ import annotations

import math
import re
from datetime import datetime
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from vaiven.plot import interactive
from vaiven.plot.curves import Curve, Distribution, Fan, HostMap, Layer, Residuals, Staircase, Trend
from vaiven.plot.palette import _LOOKS
from vaiven.plot.still import HEIGHT, WIDTH, still

NAN = math.nan
WIRE = (12e3, 15e3, 90e3)
HOSTILE = "a <b> $x^2$ & $(reboot)\x00</svg><script>1</script>"
CURVES = [
    Curve("tcp", (0, 64, 1024), (4e4, 4.5e4, 12e4), (3.9e4, NAN, 11e4), (4.2e4, NAN, 13e4), (3.8e4, 4e4, 1e5), WIRE),
    Curve(HOSTILE, (64, 1024), (50e3, 130e3), (NAN, NAN), (NAN, NAN), (49e3, 129e3), (None, None)),
]
STEPS = Staircase((0, 64, 1024), WIRE)
LAYERS = [Layer("wire", (1e4, 9e4), (1e4, 9e4), (1e4, 9e4)), Layer("tcp", (3e4, -1e3), (2e4, -2e3), (4e4, 0))]
FIGURES = {
    "time": interactive.time_figure(CURVES, STEPS),
    "rate": interactive.rate_figure(CURVES, 12.5e6, STEPS),
    "times the wire": interactive.ratio_figure(CURVES),
    "residuals": interactive.residual_figure([Residuals("tcp", (0, 1024), (-0.02, 0.01))]),
    "distribution": interactive.distribution_figure([Distribution("tcp", (40e3, 41e3, 60e3))]),
    "nothing": interactive.time_figure([]),
    "ladder": interactive.ladder_figure(
        [64, 1024],
        [Layer("wire", (1e4, 9e4), (1e4, 9e4), (1e4, 9e4)), Layer("tcp", (3e4, -1e3), (2e4, -2e3), (4e4, 0))],
    ),
    "hosts": interactive.host_figure(HostMap((HOSTILE,), ("b", "c"), ((1.0, None),), (("1 µs", "–"),), "time")),
    "by date": interactive.trend_figure([Trend(HOSTILE, (datetime(2026, 1, 1), datetime(2026, 1, 9)), (4e4, 5e4))]),
    "fan": interactive.fan_figure([Fan("raw", (1, 2), (1e6, 1e6), (NAN, NAN), (NAN, NAN), (1e6, 1e6))], "time"),
}


def _texts(svg: str) -> set[str]:
    found = (("".join(node.itertext())).strip() for node in ElementTree.fromstring(svg).iter())
    return {text for text in found if text}


def _numbers(svg: str) -> list[float]:
    """Every absolute place that is drawn at."""
    places = re.findall(r"[MLVH]([\d.-]+)(?:,([\d.-]+))?", svg)
    return [float(number) for pair in places for number in pair if number]


@pytest.mark.parametrize("name", list(FIGURES))
def test_every_figure_is_a_picture_with_all_it_says_inside_it(name: str) -> None:
    svg = still(FIGURES[name])
    root = ElementTree.fromstring(svg)
    assert root.attrib["viewBox"] == f"0 0 {WIDTH} {HEIGHT}" and svg == still(FIGURES[name])
    assert {FIGURES[name]["layout"][axis]["title"]["text"] for axis in ("xaxis", "yaxis")} <= _texts(svg)
    assert all(-1 <= number <= WIDTH + 1 for number in _numbers(svg))
    assert "nan" not in svg and "None" not in svg


def test_axes_legend_and_link_are_text_in_readable_units() -> None:
    time, rate = _texts(still(FIGURES["time"], "h1 to h2")), _texts(still(FIGURES["rate"]))
    assert {"h1 to h2", "tcp", "the wire alone", "time, one way", "100 µs", "1 KiB"} <= time
    assert "the link: 100 Mb/s = 12.5 MB/s" in rate and "rate, MB/s (MB = 10⁶ bytes)" in rate
    assert {"10.0 µs", "30.0 µs", "90.0 µs"} <= _texts(still(FIGURES["ladder"]))


def test_hostile_names_are_shown_as_they_are() -> None:
    for svg in (still(FIGURES["time"], HOSTILE), still(FIGURES["hosts"])):
        assert any("a <b> $x^2$ & $(reboot) </svg><script>1</script>" in text for text in _texts(svg))
        assert "<script" not in svg and svg.count("</svg>") == 2


def test_a_logarithmic_axis_is_one() -> None:
    """Times of 1, 10 and 100 µs stand at equal distances."""
    curve = Curve("udp", (1, 10, 100), (1e3, 1e4, 1e5), (NAN,) * 3, (NAN,) * 3, (), (None,) * 3)
    svg = still(interactive.time_figure([curve]))
    path = next(
        one for one in re.findall(r'<path d="([^"]*)" fill="none" stroke-width="2"', svg) if one.count("L") == 2
    )
    places = [tuple(map(float, point[1:].split(","))) for point in re.findall(r"[ML][\d.,-]+", path)]
    steps = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(places)]
    assert steps[0] == pytest.approx(steps[1], abs=0.3) and steps[0][0] > 0 > steps[0][1]


def test_a_gap_is_a_gap() -> None:
    curve = Curve("udp", (1, 10, 100, 1000), (1e3, NAN, 1e5, 1e5), (NAN,) * 4, (NAN,) * 4, (), (None,) * 4)
    assert re.search(r'<path d="M[\d.,]+M[\d.,]+L[\d.,]+" fill="none"', still(interactive.time_figure([curve])))


def test_colours_follow_the_page_and_are_one_in_a_file() -> None:
    followed, one = still(FIGURES["time"]), still(interactive.themed(FIGURES["time"], "dark"))
    assert f'stroke="{_LOOKS[0].light}" style="stroke:light-dark({_LOOKS[0].light},{_LOOKS[0].dark})"' in followed
    assert "style=" not in one and _LOOKS[0].light not in one and _LOOKS[0].dark in one


def test_every_mark_has_a_shape_and_long_lines_no_point_that_nobody_sees() -> None:
    names = [f"stack {number}" for number in range(len(_LOOKS))]
    curves = [Curve(name, (1, 2), (1e3, 2e3), (NAN, NAN), (NAN, NAN), (), (None, None)) for name in names]
    assert all(name in _texts(still(interactive.time_figure(curves))) for name in names)
    steps = Staircase(tuple(range(1, 20_001)), tuple(1e3 + size for size in range(1, 20_001)))
    curve = Curve("udp", (1, 20_000), (1e4, 3e4), (NAN, NAN), (NAN, NAN), (), (1e3, 21e3))
    assert len(still(interactive.time_figure([curve], steps))) < 40_000
