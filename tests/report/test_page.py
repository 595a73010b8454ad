# SPDX-License-Identifier: BSD-3-Clause
"""The document as text: one file, nothing from outside, nobody's markup but ours."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest
from tests.report import made_up

from vaiven.errors import VaivenError
from vaiven.report.html import tied
from vaiven.report.page import Told, page, pair_sections, pictures, told
from vaiven.report.verdicts import summary
from vaiven.results.costs import StackCost
from vaiven.results.findings import PAIRS_TOLD_MAX, Findings
from vaiven.results.results import Results
from vaiven.results.warnings import Notice
from vaiven.store.query import Run

SIZE_BYTES_MAX = 1_500_000
MANY_BYTES_MAX = 4_000_000  # of the page of many pairs


class Parts(HTMLParser):
    """Scripts (attributes, text), ids, and every tag with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.classes: list[str | None] = []
        self._script: dict[str, str | None] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.classes.append(dict(attrs).get("class"))
        self._script = dict(attrs) if tag == "script" else None

    def handle_endtag(self, tag: str) -> None:
        self._script = None

    def handle_data(self, data: str) -> None:
        if self._script is not None:
            self.scripts.append((self._script, data))
        else:
            self.text += data


@pytest.fixture(scope="module")
def text(found: Findings) -> str:
    return page(found)


@pytest.fixture(scope="module")
def parts(text: str) -> Parts:
    return Parts(text)


@pytest.fixture(scope="module")
def hostile(few: Findings) -> Parts:
    return Parts(page(few))


def test_one_file_small_enough_for_a_mail(text: str) -> None:
    assert len(text.encode()) <= SIZE_BYTES_MAX


def test_nothing_is_fetched(parts: Parts) -> None:
    for tag, attributes in parts.tags:
        for name in ("src", "href", "srcset", "action", "data"):
            value = attributes.get(name)
            assert value is None or value.startswith("#") or value == "data:,", (tag, name, value)


def test_the_policy_names_exactly_the_two_scripts(parts: Parts) -> None:
    """The page's own, and what it unpacks."""
    policy = next(a["content"] for t, a in parts.tags if t == "meta" and a.get("http-equiv"))
    assert policy and "default-src 'none'" in policy
    (own,) = (text for attributes, text in parts.scripts if "type" not in attributes)
    digests = [base64.b64encode(hashlib.sha256(script).digest()).decode() for script in (own.encode(), unpacked(parts))]
    assert re.findall(r"'sha256-([^']+)'", policy) == digests
    script_policy = next(part for part in policy.split(";") if "script-src" in part)
    assert "unsafe" not in script_policy


def unpacked(parts: Parts) -> bytes:
    packed = next(text for attributes, text in parts.scripts if attributes.get("id") == "library")
    return gzip.decompress(base64.b64decode(packed, validate=True))


def test_the_plotting_library_comes_with_its_licence(parts: Parts) -> None:
    banner = unpacked(parts)[:300].decode()
    assert "plotly.js (basic - minified)" in banner and "MIT license" in banner
    assert "plotly.js, © Plotly, Inc., MIT licence" in parts.text
    assert "Permission is hereby granted" in (files("vaiven.report") / "vendored" / "plotly-LICENSE").read_text()


def test_the_same_findings_give_the_same_page(found: Findings, text: str) -> None:
    assert page(found) == text


def test_every_figure_has_a_table_and_a_text_alternative(parts: Parts) -> None:
    figures = json.loads(next(text for attributes, text in parts.scripts if attributes.get("id") == "figures"))
    ids = {attributes["id"] for _, attributes in parts.tags if attributes.get("id")}
    assert set(figures) == {"p1-time", "p1-rate", "p1-ladder", "p1-spread", "p1-residuals"}
    for name, choices in figures.items():
        assert {f"{name}-table-{number}" for number in range(len(choices))} <= ids
    assert parts.classes.count("still") == len(figures) == sum(tag == "svg" and "role" in a for tag, a in parts.tags)
    plots = [attributes for tag, attributes in parts.tags if attributes.get("class") == "plot"]
    assert len(plots) == len(figures) and all(plot["aria-label"] and plot["tabindex"] == "0" for plot in plots)


def test_times_the_wire_come_first_and_have_its_steps(parts: Parts) -> None:
    figures = json.loads(next(text for attributes, text in parts.scripts if attributes.get("id") == "figures"))
    assert next(iter(figures)) == "p1-time"
    lines = [trace for trace in figures["p1-time"][0]["data"] if trace["meta"]["role"] == "between"]
    assert [line["name"] for line in lines] == list(made_up.START_NS)
    for line in lines:  # the second frame is a step
        steps = {size: y for size, y in zip(line["x"], line["y"], strict=True) if 1400 < size < 1600}
        assert len(steps) >= 2 and max(steps.values()) > 1.002 * min(steps.values())


def test_ids_are_unique(parts: Parts) -> None:
    ids = [attributes["id"] for _, attributes in parts.tags if attributes.get("id")]
    assert len(ids) == len(set(ids))


def test_the_page_tells_how_to_repeat_it(parts: Parts, found: Findings) -> None:
    for words in (
        found.run.id,
        "vaiven measure demo --seed 7",
        f"vaiven compare {found.run.id}",
        "lab demo, switch, timed",
        made_up.PLAN,
        "seed of every random order",
    ):
        assert words in parts.text


def test_verdicts_stand_in_words_and_as_a_matrix(parts: Parts, found: Findings) -> None:
    assert found.comparison and len(found.comparison) == 10
    for line in summary(found.comparison):
        assert tied(line) in parts.text
    marks = [attributes["class"] for tag, attributes in parts.tags if tag == "td" and attributes.get("class")]
    assert any("faster" in mark for mark in marks) and any("slower" in mark for mark in marks)
    assert "after Benjamini-Hochberg over 160 comparisons" in parts.text


def test_the_page_of_many_pairs_still_fits_in_a_mail(found: Findings) -> None:
    """Between six pairs, five stacks: curves are drawn of some pairs, the cost table has them all."""
    pairs = [{"near": f"h{number}", "far": f"h{number + 1}"} for number in range(1, 7)]
    assert found.comparison

    def between(cost: StackCost, pair: dict[str, str]) -> StackCost:
        return replace(cost, cost=replace(cost.cost, whole=replace(cost.cost.whole, **pair)), **pair)

    many = replace(
        found,
        costs=tuple(between(cost, pair) for pair in pairs for cost in found.costs),
        ladders=tuple(replace(one, **pair) for pair in pairs for one in found.ladders),
        comparison=replace(
            found.comparison, items=tuple(replace(one, **pair) for pair in pairs for one in found.comparison)
        ),
    )
    text = page(many)
    assert len(text.encode()) <= MANY_BYTES_MAX
    assert f"Curves of {PAIRS_TOLD_MAX} pairs are drawn here" in text and "h6 → h7" in text


def test_warnings_of_a_kind_stand_together(few: Findings) -> None:
    ours = [
        Notice(code="tail", text="too late", where="tcp"),
        Notice(code="drift", text="it drifted", where=""),
        Notice(code="tail", text="too late", where="udp"),
    ]
    assert told(ours) == (Told(ours[0], (ours[2],)), Told(ours[1], ()))
    text = Parts(page(replace(few, warnings=tuple(ours)))).text
    assert "and 1 more like it" in text and text.count("too late") == 2


def test_loggp_is_on_the_page_where_it_was_measured(tmp_path: Path, parts: Parts) -> None:
    ns = {"o_s": 3e3, "o_r": 2e3, "g": 5e3, "L": 20e3}
    run = made_up.write_run(tmp_path, stacks=("tcp",), sizes=(1, 64, 4096), samples=9, loggp_ns=ns, spread=0.0)
    found = Results(run).findings()
    (one,) = found.loggp
    assert [round(each.value) for each in (one.o_s, one.o_r, one.L)] == [3001, 2000, 20000]
    text = Parts(page(found)).text
    assert "LogGP: where the time of a message goes" in text and "overheads and gap by size" in text
    assert tied("Sending the smallest tcp message costs the processor 3.00 µs, receiving it 2.00 µs; 20.0 µs") in text
    assert "LogGP" not in parts.text
    alone = Parts(page(replace(found, costs=(), ladders=(), comparison=None))).text  # of a run that asked nothing else
    assert "LogGP: where the time of a message goes" in alone and "Nothing was measured" not in alone


def test_one_stack_alone_has_no_verdicts(tmp_path: Path) -> None:
    alone = Results(made_up.write_run(tmp_path, stacks=("tcp",), sizes=(1, 64, 4096), samples=9)).findings()
    assert alone.comparison is None and not any("compare" in command for command in alone.run.commands)
    assert "Who is faster" not in Parts(page(alone)).text


def test_what_the_sentinel_and_the_two_ways_say_is_on_the_first_screen(disturbed: Run) -> None:
    found = Results(disturbed).findings()
    said = {warning.code: warning for warning in found.warnings}
    assert said["drift"].where == "udp 64 B, h1 → h2" and "the sentinel drifted by +" in said["drift"].text
    assert "h2 to h1 takes" in said["asymmetric"].text
    text = Parts(page(found)).text
    assert "in 12 blocks: the sentinel drifted" in text and "One way, h1 to h2 and back: h2 to h1 takes" in text


def test_a_steady_sentinel_and_equal_ways_are_no_warning(tmp_path: Path) -> None:
    ways = {("h1", "h2"): 30e3, ("h2", "h1"): 30e3}
    found = Results(
        made_up.write_run(tmp_path, sizes=(1, 64), samples=9, sentinel_change=0, one_way_ns=ways)
    ).findings()
    assert not {warning.code for warning in found.warnings} & {"drift", "block-off", "asymmetric"}
    text = Parts(page(found)).text
    assert "in 12 blocks: the sentinel held still; from the first block to the last" in text
    assert "both ways cost the same" in text


def test_what_the_run_found_out_itself_is_not_told_twice(tmp_path: Path) -> None:
    run = made_up.write_run(
        tmp_path, sizes=(1, 64), samples=9, sentinel_change=0.05, warnings=(("drift", "it drifted"),)
    )
    assert [one.text for one in Results(run).findings().warnings if one.code == "drift"] == ["it drifted"]


def test_the_reader_chooses_the_pair_that_comes_first(disturbed: Run) -> None:
    chosen = Results(disturbed).findings(("h2", "h3"))
    assert pair_sections(chosen)[0].title == "From h2 to h3"
    assert "the numbers above are of h2 → h3" in Parts(page(chosen)).text
    with pytest.raises(VaivenError, match="has no pair h9,h1") as caught:
        Results(disturbed).findings(("h9", "h1"))
    assert "h1,h2" in caught.value.remedy


def test_hostile_strings_are_text(hostile: Parts) -> None:
    assert made_up.HOSTILE in hostile.text
    assert len(hostile.scripts) == 3 and not any(tag in ("img", "b") and "src" in a for tag, a in hostile.tags)
    assert not any(name.startswith("on") for _, attributes in hostile.tags for name in attributes)


def test_an_unfinished_run_and_repeated_warnings_are_said(hostile: Parts) -> None:
    assert "The run did not finish" in hostile.text and "(2 times)" in hostile.text


def test_many_pairs_have_a_map(hostile: Parts) -> None:
    figures = json.loads(next(text for attributes, text in hostile.scripts if attributes.get("id") == "figures"))
    assert len(figures["hosts-map"]) == 4  # two stacks, two numbers each
    assert "h1" in figures["hosts-map"][0]["data"][0]["y"]


def test_the_map_says_when_pairs_were_measured_at_the_same_time(few: Findings) -> None:
    rounds = replace(
        few,
        warnings=(Notice(code="pairs-at-once", text="in each round 2 pairs are measured at the same time", where=""),),
    )
    assert "at the same time, in rounds" in page(rounds) and "in rounds" not in page(few)


def test_pictures_are_the_two_formats_of_every_pair(found: Findings, few: Findings) -> None:
    assert list(pictures(found)) == ["time-1.svg", "rate-1.svg"]
    assert len(pictures(few)) == 6


def test_explanations_are_not_by_mouse_alone(parts: Parts, text: str) -> None:
    """Every heading with a hint has it in a list below some table of the same columns, too."""
    hinted = {a["title"] for tag, a in parts.tags if tag == "th" and a.get("title")}
    below = set(re.findall(r"<dd>([^<]*)</dd>", text))
    own = {"payload of one message", "the way the message travels", "the first against the second"}
    assert {html.escape(hint, quote=False) for hint in hinted} - below <= own and len(hinted) > 30
