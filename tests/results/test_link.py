# SPDX-License-Identifier: BSD-3-Clause
"""The link that nobody said: what a run's own times say against it, and the same run read again with another one."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from rich.console import Console
from tests.report import made_up

from vaiven.cli.model import cost_table
from vaiven.errors import VaivenError
from vaiven.report.page import page
from vaiven.report.words import answer
from vaiven.results.costs import costs
from vaiven.results.link import assumed_bps, link_bps, read_again
from vaiven.results.results import Results
from vaiven.store import query
from vaiven.store.query import Run
from vaiven.store.record import LinkRecord

SIZES = (1, 1024, 65536, 262144, 1048576)


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Cards of 10 Gb/s, and a path of 100 Mb/s."""
    root = tmp_path_factory.mktemp("runs")
    return made_up.write_run(root, stacks=("eth", "udp", "tcp"), sizes=SIZES, blocks=8, samples=9, cards_bps=10**10)


def terminal(run: Run) -> str:
    console = Console(width=120, force_terminal=True, color_system="standard")
    with console.capture() as caught:
        console.print(cost_table(Results(run)))
    return caught.get()


def test_cards_that_are_faster_than_the_path_are_doubted_and_not_the_software(slow: Run) -> None:
    found = Results(slow).findings()
    assert [one.code for one in found.alarms] == ["slow-path"]
    text = found.alarms[0].text
    assert "about 100 Mb/s although the cards say 10 Gb/s" in text and "switch port, uplink and cable" in text
    said = answer(found)
    words = " ".join((said.lead, *said.points, *(f"{tile.label} {tile.note}" for tile in said.tiles)))
    assert "wire" not in words and "faster software" not in words
    html = page(found)
    assert html.index('class="alarm"') < html.index('class="lead"') and "the link: 10" not in html


def test_the_terminal_says_it_too_in_red_above_the_table(slow: Run) -> None:
    text = terminal(slow)
    assert text.index("\x1b[1;31mslow-path") < text.index("Cost of a message") and "assumed-link" in text
    assert 'say it with --link "100 Mb/s"' in " ".join(re.sub("\x1b\\[[0-9;]*m", "", text).split())
    document = json.loads(Results(slow).costs_json())
    assert [one["code"] for one in document["warnings"]] == ["slow-path", "assumed-link"]
    assert {size["wire_ns"] for size in document["sizes"]} == {None}


def test_the_run_is_read_again_with_the_right_link(slow: Run) -> None:
    again = read_again(slow, "100 Mb/s")
    assert not Results(again).doubts and again.manifest.link.rate_bps == 10**8
    for cost in costs(again):
        assert [point.wire_ns for point in cost.points] == pytest.approx([*map(made_up.wire_ns, SIZES)], rel=5e-3)
    found = Results(again).findings()
    assert "% of what the wire allows" in answer(found).lead and found.alarms == ()
    assert read_again(slow, "") is slow and costs(slow)[0].points[0].wire_ns is None


def test_a_link_that_nobody_knew_is_computed_from_the_frames(tmp_path: Path) -> None:
    run = made_up.write_run(tmp_path, stacks=("tcp",), sizes=(1, 65536), blocks=2, samples=3, cards_bps=10**8)
    blind = replace(run, manifest=msgspec.structs.replace(run.manifest, link=None))
    assert not Results(blind).doubts
    assert costs(read_again(blind, "100 Mb/s"))[0].points[-1].wire_ns == pytest.approx(made_up.wire_ns(65536), rel=1e-2)


def test_a_link_that_somebody_said_is_not_doubted_but_for_what_is_faster(tmp_path: Path) -> None:
    run = made_up.write_run(tmp_path, stacks=("udp", "tcp"), sizes=SIZES, blocks=8, samples=5, wire_factor=1.5)
    found = Results(run).findings()
    assert [one.code for one in found.alarms] == ["below-wire"]
    said = answer(found)
    assert said.lead.startswith("No answer") and said.tiles == () and said.points == ()
    assert "\x1b[1;31mbelow-wire" in terminal(run)


@pytest.mark.parametrize(
    ("text", "bps"),
    [
        ("100 Mb/s", 10**8),
        ("10Gb/s", 10**10),
        ("100 Mbps", 10**8),
        ("12.5 MB/s", 10**8),
        ("2.5 Gb/s", 25 * 10**8),
        ("1G", 10**9),
        ("100M", 10**8),
        ("64 K", 64_000),
        ("10Gbps", 10**10),
    ],
)
def test_links_are_read(text: str, bps: int) -> None:
    assert link_bps(text) == bps


@pytest.mark.parametrize("text", ["fast", "100", "100 Mb", "0 Mb/s", "-1 Mb/s", "9e9 Gb/s", "5 us/byte", "nan Mb/s"])
def test_what_is_no_rate_is_refused_in_words(text: str) -> None:
    with pytest.raises(VaivenError, match="the link") as caught:
        link_bps(text)
    assert caught.value.code == "bad-value"


def test_a_link_that_is_said_to_measure_is_that_of_the_run(vaiven, tmp_path: Path) -> None:
    few = ["--stacks", "udp", "--sizes", "64,1000", "--launches", "6", "--no-page", "--runs", str(tmp_path)]
    done = vaiven("measure", "--hosts", "localhost,localhost", "--link", "100 Mb/s", *few)
    assert done.returncode == 0, done.stderr
    (run,) = query.runs(tmp_path)
    assert isinstance(run, query.Run) and run.manifest.link == LinkRecord(rate_bps=10**8, hops=2, mtu_bytes=1500)
    assert run.manifest.plan["link"]["rate_bps"] == 10**8 and assumed_bps(run) is None
    wire_ns = set(query.launches(run).filter(size_bytes=1000)["wire_ns"])
    assert wire_ns == {2 * (1000 + 28 + 38) * 80}  # two hops at 80 ns a byte
    assert "below-wire" in done.stdout  # for loopback has no wire: what is said is believed, and held against the times


def test_a_lab_says_its_link_itself(vaiven) -> None:
    done = vaiven("measure", "--lab", "free", "--link", "100 Mb/s")
    assert done.returncode == 2 and "a lab says itself how fast it is" in done.stderr
