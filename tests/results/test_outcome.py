# SPDX-License-Identifier: BSD-3-Clause
"""The last words of a run, and the exit status that goes with them."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from pathlib import Path

import msgspec
import pytest
from tests.store import made

from vaiven.cli.measure import status_of
from vaiven.cli.status import Status
from vaiven.plan.schema import Plan
from vaiven.report.outcome import closing
from vaiven.results.outcome import Outcome, Width, cell_names, outcome
from vaiven.store import query
from vaiven.store.query import Run
from vaiven.store.record import CourseRecord, DesignRecord, End, Record


def found(known: dict[str, float], *, achieved: bool, launches: int = 144, seconds: float = 21.6) -> Outcome:
    widths = (Width(cell=("tcp", "pingpong", "a", "b", 8), name=name, half_width=one) for name, one in known.items())
    return Outcome(
        runs=("run",), items=tuple(widths), launches=launches, seconds=seconds, wanted=0.05, achieved=achieved,
        unmeasured=(),
    )  # fmt: skip


def test_one_sentence_says_how_much_was_done_and_how_exactly_it_is_known() -> None:
    text = closing(found({"udp at 8 B": 0.01, "tcp at 8 B": 0.019}, achieved=True))
    assert text == "Done: 144 launches in 22 s; every median is known to 1.9 %."


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"tcp at 100 B": 0.12}, "every median is known to 2 % but tcp at 100 B (12 %)."),
        (
            {"tcp at 100 B": 0.12, "udp at 100 B": inf},
            "every median is known to 2 % but udp at 100 B (not at all) and tcp at 100 B (12 %).",
        ),
        (
            {f"tcp at {n} B": n / 100 for n in (6, 7, 8)},
            "every median is known to 2 % but 3 of 4, the worst tcp at 8 B (8 %).",
        ),
    ],
)
def test_what_is_known_badly_is_named(more: dict[str, float], said: str) -> None:
    text = closing(found({"udp at 8 B": 0.02} | more, achieved=False))
    assert text == f"Not achieved, 5 % was wanted: 144 launches in 22 s; {said}"


def test_where_nothing_is_known_as_well_the_worst_is_named() -> None:
    text = closing(found({"udp at 8 B": inf, "tcp at 8 B": 0.3}, achieved=True))
    assert text.endswith("no median is known to 5 %, the worst is udp at 8 B (not at all).")
    assert closing(found({}, achieved=True, launches=0)).endswith("nothing was measured.")


def ended(where: Path, stacks: tuple[str, ...], *, reason: str = "done", lost: str = "") -> Run:
    """A run of these stacks, of which tcp alone was measured: 8 launches; lost: a host that did not answer."""
    courses = tuple(CourseRecord(stack=stack) for stack in stacks if stack != "udpcast")
    plan = msgspec.to_builtins(Plan(stacks=stacks))
    facts = msgspec.structs.replace(made.manifest(), plan=plan, design=DesignRecord(courses=courses))
    with Record.create(where, facts) as record:
        for number in range(8):
            record.add(replace(made.launch(number), block=number), [made.cell(8, [1000 + number])])
        if lost:
            record.warn("host-down", "it does not answer", host=lost)
        record.end(End(reason=reason, blocks=8, launches=8, failed=0, half_width=0.01, cell="tcp"))
    return query.open_run(record.path)


def test_a_cell_is_named_in_characters_that_a_log_can_show() -> None:
    assert list(cell_names([("udp", "pingpong", "a", "b", 65_507)]).values()) == ["udp at 65 507 B"]


def test_all_that_was_asked_for_and_known_is_ok(tmp_path: Path) -> None:
    said = outcome(ended(tmp_path, ("tcp",)))
    assert (status_of(said), list(said.unmeasured)) == (Status.OK, [])
    assert closing(said) == "Done: 8 launches in 4 s; every median is known to 0.33 %."


def test_a_stack_that_was_asked_for_and_not_measured_is_not_ok(tmp_path: Path) -> None:
    said = outcome(ended(tmp_path, ("tcp", "openmpi", "udpcast")))
    assert (status_of(said), list(said.unmeasured)) == (Status.CANNOT_TELL, ["openmpi", "udpcast"])
    assert closing(said).endswith("Not measured: openmpi, udpcast (the warnings say why).")


def test_a_host_that_did_not_answer_is_not_ok(tmp_path: Path) -> None:
    said = outcome(ended(tmp_path, ("tcp",), lost="node7"))
    assert (status_of(said), list(said.unmeasured)) == (Status.CANNOT_TELL, ["node7"])


def test_not_achieved_is_not_ok(tmp_path: Path) -> None:
    said = outcome(ended(tmp_path, ("tcp",), reason="not-achieved"))
    assert status_of(said) == Status.CANNOT_TELL == 4
    assert closing(said).startswith("Not achieved, 2 % was wanted: 8 launches")
