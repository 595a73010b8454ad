# SPDX-License-Identifier: BSD-3-Clause
"""The table of questions with several far ends, from made-up numbers."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from tests.report import made_up

from vaiven.cli.terminal import rich_table
from vaiven.model.several import Audience, Ratio, sent_once
from vaiven.report.several import audience_table
from vaiven.results.audiences import audiences
from vaiven.stats.estimate import Estimate, refusal

NO_RATIO = Ratio(None, refusal("no raw sender in this run", ""))
ONE = Audience(
    ask="fanout", stack="tcp", near="a", far="b+c", fars=2, size_bytes=1_000_000, typical_ns=170e6,
    time=Estimate(170e6, 169e6, 172e6, "ns"), to_one=Ratio(2.0, Estimate(2.0, 1.98, 2.02, "")),
    to_raw=Ratio(2.01, refusal("too few launches: 2 of 6", "")), wire_ns=169_000_000, lost=0, rounds=40, resent=3,
    clock="common", clock_error_ns=0, once_ns=85_000_000,
)  # fmt: skip


def row(one: Audience) -> dict[str, str]:
    table = audience_table([one])
    return dict(zip([column.name for column in table.columns], table.rows[0], strict=True))


def test_a_row_says_time_ratios_and_the_rate_of_the_message_counted_once() -> None:
    found = row(ONE)
    assert found["to"] == "2" and found["time"].startswith("170 ms\n")
    assert found["T(k)/T(1)"] == "2.00 ×\n1.98 – 2.02"
    assert found["over raw"] == "2.01 ×" and found["over wire"] == "2.00 ×" and found["over its frames"] == "1.01 ×"
    assert found["rate"] == "5.88 MB/s" and found["lost"] == "0"


def test_hosts_that_were_sent_to_alone_are_named() -> None:
    one, other = (replace(ONE, far=far, fars=1) for far in ("b", "c"))
    assert [row[2] for row in audience_table([one, other, ONE]).rows] == ["b", "c", "2"]
    assert [row[2] for row in audience_table([one, ONE]).rows] == ["1", "2"]


def test_what_is_not_known_is_a_dash() -> None:
    found = row(
        replace(ONE, fars=1, stack="raw", wire_ns=None, once_ns=None, to_one=NO_RATIO, to_raw=NO_RATIO, lost=10)
    )
    assert [found[name] for name in ("T(k)/T(1)", "over raw", "over wire", "over its frames")] == ["–"] * 4
    assert found["lost"] == "25 %"


def test_what_is_doubtful_stands_below() -> None:
    rough = replace(ONE, clock="bounded", clock_error_ns=9_000_000, resent=None)
    told = " ".join(audience_table([ONE, rough, replace(ONE, fars=7, clock="barrier")]).notes)
    for words in ("3 segments were sent again", "too few launches: 2 of 6", "right to 9.00 ms", "tcp to 7, 1 MB: no"):
        assert words in told


def test_nothing_is_said_of_a_ratio_to_itself() -> None:
    alike = Ratio(1.0, refusal("constant data: every launch gave the same value", ""))
    itself = replace(ONE, stack="raw", fars=1, to_one=alike, to_raw=alike)
    assert not any("ratios" in note for note in audience_table([itself]).notes)


def test_what_sessions_take_before_each_message_is_told_once() -> None:
    slow, quick = (replace(ONE, stack="uftp", fars=fars, setup_ns=ns) for fars, ns in ((7, 90e6), (1, 30e6)))
    notes = audience_table([ONE, slow, quick]).notes
    assert [note for note in notes if "session" in note] == [
        "uftp sets up a session before each message: 30.0 ms to 90.0 ms, which its times leave out"
    ]


def test_a_library_that_chooses_its_frames_is_held_against_one_transmission_only() -> None:
    found = row(replace(ONE, stack="openmpi:default", wire_ns=85_000_000))
    assert found["over wire"] == "2.00 ×" and found["over its frames"] == "–"
    assert sent_once("raw", 7) and sent_once("group", 7) and sent_once("tcp", 1)
    assert not (sent_once("tcp", 7) or sent_once("udp", 2) or sent_once("raw[to=each]", 2))


def test_over_wire_has_one_reference_whatever_the_stack(tmp_path: Path) -> None:
    found = audiences(made_up.write_fanout(tmp_path))
    for size in (8, 1000, 60_000, 1_000_000):
        assert {one.once_ns for one in found if one.size_bytes == size} == {made_up.wire_ns(size)}
    to_seven = {one.stack: one for one in found if (one.size_bytes, one.fars) == (10**6, 7)}
    assert round(to_seven["tcp"].to_wire) == 7 and round(to_seven["tcp"].to_frames) == 1
    assert round(to_seven["group"].to_wire) == 1


def test_each_half_of_a_split_table_says_which_row_is_whose(tmp_path: Path) -> None:
    console = Console(file=io.StringIO(), width=80)
    console.print(rich_table(audience_table(audiences(made_up.write_fanout(tmp_path, blocks=8)))))
    text = console.file.getvalue()
    assert text.count("size") == text.count("stack") == 2
    assert text.count(" group ") == 16 * 2 and "same in every launch" not in text
