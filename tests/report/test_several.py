# SPDX-License-Identifier: BSD-3-Clause
"""The table of questions with several far ends, from made-up numbers."""

from __future__ import annotations

from dataclasses import replace

from vaiven.model.several import Audience, Ratio
from vaiven.report.several import audience_table
from vaiven.stats.estimate import Estimate, refusal

NO_RATIO = Ratio(None, refusal("no raw sender in this run", ""))
ONE = Audience(
    ask="fanout", stack="tcp", near="a", far="b+c", fars=2, size_bytes=1_000_000, typical_ns=170e6,
    time=Estimate(170e6, 169e6, 172e6, "ns"), to_one=Ratio(2.0, Estimate(2.0, 1.98, 2.02, "")),
    to_raw=Ratio(2.01, refusal("too few launches: 2 of 6", "")), wire_ns=169_000_000, lost=0, rounds=40, resent=3,
    clock="common", clock_error_ns=0,
)  # fmt: skip


def row(one: Audience) -> dict[str, str]:
    table = audience_table([one])
    return dict(zip([column.name for column in table.columns], table.rows[0], strict=True))


def test_a_row_says_time_ratios_and_the_rate_of_the_message_counted_once() -> None:
    found = row(ONE)
    assert found["to"] == "2" and found["time"].startswith("170 ms\n")
    assert found["T(k)/T(1)"] == "2.00 ×\n1.98 – 2.02"
    assert found["over raw"] == "2.01 ×" and found["over wire"] == "1.01 ×"
    assert found["rate"] == "5.88 MB/s" and found["lost"] == "0"


def test_what_is_not_known_is_a_dash() -> None:
    found = row(replace(ONE, fars=1, stack="raw", wire_ns=None, to_one=NO_RATIO, to_raw=NO_RATIO, lost=10))
    assert [found[name] for name in ("T(k)/T(1)", "over raw", "over wire")] == ["–"] * 3
    assert found["lost"] == "25 %"


def test_what_is_doubtful_stands_below() -> None:
    rough = replace(ONE, clock="estimated", clock_error_ns=9_000_000, resent=None)
    told = " ".join(audience_table([ONE, rough, replace(ONE, fars=7, clock="barrier")]).notes)
    for words in ("3 segments were sent again", "too few launches: 2 of 6", "to within 9.00 ms", "tcp to 7, 1 MB: no"):
        assert words in told


def test_what_sessions_take_before_each_message_is_told_once() -> None:
    slow, quick = (replace(ONE, stack="uftp", fars=fars, setup_ns=ns) for fars, ns in ((7, 90e6), (1, 30e6)))
    notes = audience_table([ONE, slow, quick]).notes
    assert [note for note in notes if "session" in note] == [
        "uftp sets up a session before each message: 30.0 ms to 90.0 ms, which its times leave out"
    ]
