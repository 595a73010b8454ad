# SPDX-License-Identifier: BSD-3-Clause
"""One message for many on the page: its figures, its sentences, and the page of a run that asked nothing else."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from tests.report import made_up

from vaiven.model.several import Audience
from vaiven.report.fanout import many_section, sentences
from vaiven.report.page import answer_sections, page, pictures
from vaiven.report.words import answer
from vaiven.results.findings import Findings
from vaiven.results.results import Results


@pytest.fixture(scope="module")
def fan(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    """Three stacks to 1, 2, 4 and 7 hosts, four sizes, six launches."""
    return Results(made_up.write_fanout(tmp_path_factory.mktemp("runs"))).findings()


def audiences_of(fan: Findings) -> list[Audience]:
    (audiences,) = fan.answers
    return list(audiences)


def lines(figure: dict) -> dict[str, dict]:
    return {trace["name"]: trace for trace in figure["data"]}


def test_by_size_there_is_a_picture_for_each_number_of_receivers(fan: Findings) -> None:
    by_size, _ = many_section(audiences_of(fan), fan.run).widgets
    assert [choice.label for choice in by_size.choices] == ["7", "4", "2", "1"]
    drawn = lines(by_size.choices[0].figure)
    assert list(drawn) == ["the wire alone", "raw", "group", "tcp"]
    assert drawn["group"]["x"] == [8, 1000, 60_000, 1_000_000]
    assert drawn["tcp"]["y"][-1] == pytest.approx(7 * made_up.wire_ns(10**6), rel=0.02)
    assert drawn["the wire alone"]["y"][-1] == pytest.approx(made_up.wire_ns(10**6), rel=1e-4)
    assert {row[2] for row in by_size.choices[0].table.rows} == {"7"}


def test_by_receivers_one_transmission_is_level_and_one_for_each_rises(fan: Findings) -> None:
    _, by_receivers = many_section(audiences_of(fan), fan.run).widgets
    assert [choice.label for choice in by_receivers.choices] == ["1 MB", "60 kB", "1 kB", "8 B"]
    figure = by_receivers.choices[0].figure
    drawn = lines(figure)
    assert drawn["tcp"]["x"] == [1, 2, 4, 7] and figure["layout"]["xaxis"]["ticktext"] == ["1", "2", "4", "7"]
    assert drawn["tcp"]["y"][-1] / drawn["tcp"]["y"][0] == pytest.approx(7, rel=0.05)
    assert drawn["group"]["y"][-1] / drawn["group"]["y"][0] == pytest.approx(1, rel=0.05)
    assert drawn["tcp"]["customdata"][3][0] == "to 7"
    assert len(set(drawn["the wire alone"]["y"])) == 1


def test_hosts_that_were_sent_to_alone_are_not_drawn_as_one(fan: Findings) -> None:
    """receivers = "each" beside several receivers: a picture for each host, and none where "1" would be all of them."""
    alone = [one for one in audiences_of(fan) if one.fars == 1]
    each = [
        replace(one, far=far, typical_ns=one.typical_ns * times)
        for far, times in (("h2", 1), ("h3", 9))
        for one in alone
    ]
    by_size, by_receivers = many_section([*each, *(one for one in audiences_of(fan) if one.fars > 1)], fan.run).widgets
    assert [choice.label for choice in by_size.choices] == ["7", "4", "2", "h2", "h3"]
    assert lines(by_size.choices[3].figure)["group"]["x"] == [8, 1000, 60_000, 1_000_000]
    assert lines(by_receivers.choices[0].figure)["tcp"]["x"] == [2, 4, 7]
    assert len(many_section(each, fan.run).widgets) == 1
    assert sentences(each)[0].startswith("A message of 1 MB has reached h2 after")


def test_the_wire_of_one_for_many_is_drawn_step_by_step(fan: Findings) -> None:
    by_size, _ = many_section(audiences_of(fan), fan.run).widgets
    line, marks = (one for one in by_size.choices[0].figure["data"] if one["name"] == "the wire alone")
    assert line["y"][line["x"].index(1473)] - line["y"][line["x"].index(1472)] == 84 * 80
    assert marks["x"] == [8, 1000, 60_000, 1_000_000] and marks["mode"] == "markers"


def test_pictures_for_slides_are_of_one_for_many_too(fan: Findings) -> None:
    drawn = pictures(fan)
    assert list(drawn) == ["fanout-size.svg", "fanout-receivers.svg"]
    assert "What more receivers cost, message size 1 MB</title>" in drawn["fanout-receivers.svg"]
    assert 'fill="#ffffff"' in drawn["fanout-receivers.svg"] and "light-dark" not in drawn["fanout-receivers.svg"]


def test_the_sentences_name_the_first_the_last_and_the_floor(fan: Findings) -> None:
    first, last, floor = sentences(audiences_of(fan))
    assert re.match(r"A message of 1 MB has reached the last of 7 receivers after 8\d\.\d ms over group\.", first)
    assert "Over tcp it takes" in last and "6.9" in last
    assert "group takes 1.0" in floor


def test_a_stack_looks_the_same_in_every_picture(fan: Findings) -> None:
    """Even where one before it carries no message of that size."""
    some = [one for one in audiences_of(fan) if one.stack != "raw" or one.size_bytes < 10**6]
    choices = [choice for widget in many_section(some, fan.run).widgets for choice in widget.choices]
    colours = {lines(choice.figure)["group"]["line"]["color"]["light"] for choice in choices}
    assert len(choices) == 8 and len(colours) == 1
    assert lines(many_section(some, fan.run).widgets[1].choices[0].figure)["raw"]["visible"] is False


def test_a_run_that_asked_nothing_else_has_a_page(fan: Findings) -> None:
    text = page(fan)
    said = answer(fan, answer_sections(fan))
    assert said.question == "What does one message for many cost?" and said.lead == sentences(audiences_of(fan))[0]
    assert {host.name for host in fan.hosts} == {f"h{n}" for n in range(1, 9)}
    assert 'id="fanout-size"' in text and 'id="many"' in text and 'id="cost"' not in text
    assert "vaiven model" in text and "--ask fanout" in text and fan.run.samples == 9 * 6 * 3 * 4 * 4


def test_ping_pongs_and_fanouts_stand_on_one_page(fan: Findings, found: Findings) -> None:
    both = page(replace(found, answers=fan.answers))
    assert (
        'id="cost"' in both and 'id="many"' in both and sentences(audiences_of(fan))[1] in both.replace("\u00a0", " ")
    )


def streams_of(fan: Findings) -> list[Audience]:
    return [replace(one, ask="stream", far="h2*2") for one in audiences_of(fan) if one.fars == 1]


def test_without_several_receivers_there_is_one_figure_and_without_fanout_none(fan: Findings) -> None:
    alone = [one for one in audiences_of(fan) if one.fars == 1]
    (widget,) = many_section(alone, fan.run).widgets
    assert widget.choose == "" and "its receiver" in sentences(alone)[0]
    streams = many_section(streams_of(fan), fan.run)
    assert streams.widgets == () and streams.tables[0].caption.startswith("Several connections")
    both = many_section([*streams_of(fan), *audiences_of(fan)], fan.run)
    assert both.tables[0].caption.startswith("One message for many") and len(both.tables) == 2
