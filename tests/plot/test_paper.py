# SPDX-License-Identifier: BSD-3-Clause
"""SVG for papers: valid, repeatable, with text that stays text."""

from __future__ import annotations

import math
from xml.etree import ElementTree

from vaiven.plot.curves import Curve
from vaiven.plot.paper import rate_svg, time_svg

NAN = math.nan
WIRE = (12e3, 15e3, 90e3)
CURVES = [
    Curve("tcp", (0, 64, 1024), (4e4, 4.5e4, 12e4), (3.9e4, NAN, 11e4), (4.2e4, NAN, 13e4), (3.8e4, 4e4, 1e5), WIRE),
    Curve("a <b> $x^2$ & $(reboot)", (64, 1024), (50e3, 130e3), (NAN, NAN), (NAN, NAN), (49e3, 129e3), (None, None)),
]


def _texts(svg: str) -> set[str]:
    found = (("".join(node.itertext())).strip() for node in ElementTree.fromstring(svg).iter())
    return {text for text in found if text}


def test_the_same_curves_give_the_same_bytes() -> None:
    assert time_svg("t", CURVES) == time_svg("t", CURVES)
    assert rate_svg("t", CURVES, 12.5e6) == rate_svg("t", CURVES, 12.5e6)


def test_axes_legend_and_link_are_text_in_readable_units() -> None:
    time, rate = _texts(time_svg("h1 to h2", CURVES)), _texts(rate_svg("h1 to h2", CURVES, 12.5e6))
    assert {"h1 to h2", "tcp", "the wire alone", "time, one way", "message size (payload)"} <= time
    assert any(text.endswith("µs") for text in time)
    assert "the link: 100 Mb/s" in rate and any("MB/s" in text for text in rate)


def test_hostile_names_are_shown_as_they_are() -> None:
    svg = time_svg("</title><script>1</script>", CURVES)
    assert "a <b> $x^2$ & $(reboot)" in _texts(svg)
    assert "<script" not in svg
