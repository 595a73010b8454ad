# SPDX-License-Identifier: BSD-3-Clause
"""The first screen says what the numbers say."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from tests.report import made_up

from vaiven.report.words import answer, layer_text
from vaiven.results.findings import Findings
from vaiven.results.ladders import PairLadder
from vaiven.results.results import Results


def test_the_lead_is_the_smallest_and_the_largest_message_over_tcp(found: Findings) -> None:
    said = answer(found)
    assert said.question == "What does a message cost between h1 and h2?"
    assert "A message of 0 B takes 53.4 µs one way over tcp; the wire needs 13.4 µs of it." in said.lead
    assert "1 MiB moves at 12.0 MB/s, 100 % of what the wire allows." in said.lead


def test_the_layer_to_blame_is_the_one_that_adds_most(found: Findings) -> None:
    blame = next(point for point in answer(found).points if "takes most" in point)
    assert "the card, its driver and the kernel's network path, answered by the far kernel: 31.9 µs" in blame
    assert any(point.startswith("From 256 B on the wire itself takes more than half") for point in answer(found).points)


def test_the_lowest_layer_has_the_card_in_it() -> None:
    assert "card" in layer_text("udp", "wire") and "card" in layer_text("udp", "")
    assert layer_text("udp", "eth") == "IP and UDP"


def test_half_the_full_rate_is_read_off_the_curve_with_its_interval(found: Findings) -> None:
    tile = next(tile for tile in answer(found).tiles if tile.label == "half the full rate at")
    assert re.fullmatch(r"[\d.,\u202f]{4,} k?B", tile.number)
    assert re.fullmatch(r"\[.+, .+\]; n½, read off the curve from 1472 B to 2 KiB", tile.note), tile.note


def test_too_few_launches_are_said_and_no_model_is_shown(few: Findings) -> None:
    said = answer(few)
    assert any("There is no cost model for udp: too few launches: 5 of 8." in point for point in said.points)
    assert not any("n½" in tile.note for tile in said.tiles)
    assert "wire" not in said.lead


def test_several_pairs_are_spread_out_and_the_middle_one_speaks(few: Findings) -> None:
    said = answer(few)
    assert said.question == "What does a message cost between these 4 hosts?"
    assert few.middle.pair == ("h1", "h3")
    assert any("h2 → h3" in point and made_up.HOSTILE in point for point in said.points)


def test_a_link_that_is_unlike_its_hosts_is_named(tmp_path: Path) -> None:
    hosts = ("h1", "h2", "h3", "h4")
    options = {"stacks": ("udp",), "sizes": (1, 64, 1024, 4096), "blocks": 8, "samples": 20}
    run = made_up.write_run(tmp_path, pairs=tuple(permutations(hosts, 2)), slow_link=("h2", "h3"), **options)
    unlike = [point for point in answer(Results(run).findings()).points if point.startswith("Unlike")]
    assert unlike == ["Unlike what their hosts cost elsewhere: h2 → h3; look at these cables and ports."]


def test_nothing_measured_is_said(found: Findings) -> None:
    assert "Nothing was measured" in answer(replace(found, costs=())).lead


@pytest.mark.parametrize("size", [0, 64])
def test_leanest_and_heaviest_are_named(found: Findings, size: int) -> None:
    text = next(point for point in answer(found).points if "leanest" in point)
    assert "leanest way is eth" in text and "heaviest tcp" in text


def test_what_is_faster_than_the_wire_is_not_explained_by_it(found: Findings) -> None:
    slow = tuple(replace(c, points=tuple(replace(p, wire_ns=2 * p.typical_ns) for p in c.points)) for c in found.costs)
    said = answer(replace(found, costs=slow, ladders=()))
    assert "the wire needs" not in said.lead
    assert not any("share" in tile.label for tile in said.tiles)


def test_a_difference_that_no_verdict_bears_out_is_doubted(tmp_path: Path) -> None:
    alike = made_up.write_run(tmp_path, stacks=("tcp", "udp"), sizes=(1, 64, 4096), start_ns={"udp": 39e3}, samples=20)
    lean = next(point for point in answer(Results(alike).findings()).points if "the leanest way is" in point)
    assert re.search(r"Whether they differ is not certain: (equivalent|inconclusive)\.$", lean)


def test_a_certain_difference_is_not(found: Findings) -> None:
    assert not any("not certain" in point for point in answer(found).points)


def test_from_which_size_on_the_wire_takes_most(found: Findings) -> None:
    """At every size, at none, or from one on beyond which it always does."""
    ladder = found.ladder(("h1", "h2"))
    assert ladder is not None

    def said(*shares: float) -> list[str]:
        wire = replace(ladder.rungs[0], share=np.array(shares))
        few = replace(ladder, sizes_bytes=ladder.sizes_bytes[:4], rungs=(wire, *ladder.rungs[1:]))
        points = answer(replace(found, ladders=(PairLadder(near="h1", far="h2", ladder=few),))).points
        return [point.partition(":")[0] for point in points if "the wire" in point and "half" in point]

    assert said(0.5, 0.6, 0.7, 0.9) == ["At every size measured the wire takes more than half of the time"]
    assert said(0.1, 0.2, 0.3, 0.4) == ["At no size does the wire take half of the time"]
    assert said(0.1, 0.6, 0.4, 0.9) == ["From 64 B on the wire itself takes more than half of the time"]
    assert said(0.1, 0.6, 0.6, 0.4) == []
