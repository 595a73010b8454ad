# SPDX-License-Identifier: BSD-3-Clause
"""A question is one entry: what carries it out, reads it, computes it and shows it asks the entry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest
from tests.store import made

from vaiven import questions
from vaiven.plan import design as designs
from vaiven.plan.schema import Plan, Sentinel
from vaiven.plan.sweep import Limits
from vaiven.questions import Answer, Question, Times
from vaiven.report.page import page
from vaiven.report.views import tables
from vaiven.results import recorded
from vaiven.results.parts import Key, by_cell, medians_by_part
from vaiven.results.result import CELL, Result, columns, number
from vaiven.results.results import Results
from vaiven.run.collect import cells
from vaiven.store import query
from vaiven.store.query import Run
from vaiven.store.record import CourseRecord, DesignRecord, Record


@dataclass(frozen=True)
class Waited:
    near: str
    far: str
    stack: str
    size_bytes: int
    waited_ns: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Waits(Result[Waited]):
    """What of a message is waiting."""

    kind: ClassVar[str] = "waits"
    columns: ClassVar = columns(*CELL, number("waited_ns", "asleep, one way", lambda one: one.waited_ns))


def waits(run: Run) -> Waits:
    def made(key: Key, rows) -> Waited:
        return Waited(*key, min(medians_by_part(rows)["asleep"].values()))

    return Waits(runs=(run.id,), items=by_cell(run, "waiting", "measure --questions waiting", made))


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> Iterator[Question]:
    """A question that nobody has heard of, whose half of an exchange is asleep."""
    answer = Answer(kind="waits", estimator="made_up:waits")
    entry = Question(
        name="waiting", says="Waiting", answered=lambda stack: stack.own_tcp, times=Times.MESSAGE,
        records={"": "rtt_ns"}, beside={"asleep": "warm_ns"}, messages=("asleep",), answer=answer,
    )  # fmt: skip
    loaded = questions.loaded
    monkeypatch.setitem(questions.ALL, "waiting", entry)
    monkeypatch.setattr(questions, "loaded", lambda place: waits if place == answer.estimator else loaded(place))
    yield entry


def test_an_entry_and_its_estimator_are_a_question(waiting: Question, tmp_path: Path) -> None:
    """It is read, kept, computed, and shown on a terminal and on a page by what its entry says, and by nothing else."""
    record = {
        "type": "cell",
        "ask": "waiting",
        "size_bytes": 64,
        "rtt_ns": [300, 320],
        "warm_ns": [100, 120],
        "lost": 0,
    }
    whole, asleep = cells(record, 0.0)
    assert (whole.ns, asleep.part, asleep.ns) == ([300, 320], "asleep", [100, 120])
    manifest = msgspec.structs.replace(
        made.manifest(), design=DesignRecord(courses=(CourseRecord(stack="tcp", ask="waiting"),))
    )
    with Record.create(tmp_path, manifest) as kept:
        kept.add(replace(made.launch(0), ask="waiting"), [whole, asleep])
    said = Results(query.open_run(kept.path))
    (found,) = said.answer("waiting")
    assert found == Waited("a", "b", "tcp", 64, 55.0)  # one way
    (table,) = tables(said.answer("waiting"))
    assert table.caption == "Waiting" and table.rows == (("a", "b", "tcp", "64 B", "55.0 ns"),)
    assert [column.name for column in table.columns] == ["near", "far", "stack", "size", "waited"]
    assert 'id="waits"' in page(said.findings())


def test_what_a_stack_can_be_asked_its_entry_says(waiting: Question) -> None:
    known = {"tcp": designs.Available(Limits(0, 9000), questions.named(lambda one: one is waiting))}
    plan = Plan(stacks=("tcp",), questions=("waiting",), sizes=(64,), sentinel=Sentinel(stack="tcp"))
    assert [course.ask for course in designs.resolve(plan, ("a", "b"), known, lab=True).courses] == ["waiting"]


def test_the_first_message_of_a_connection_is_half_of_its_round_trip(tmp_path: Path) -> None:
    with Record.create(tmp_path, made.manifest()) as record:
        record.add(replace(made.launch(0), ask="first"), [replace(made.cell(64, [300, 300]), ask="first")])
    assert recorded.samples(query.open_run(record.path))["one_way_ns"].to_list() == [150, 150]


def test_every_part_of_a_question_is_told_from_the_others() -> None:
    for one in questions.ALL.values():
        assert not set(one.records) & set(one.beside) and set(one.messages) <= set(one.beside)
        assert one.whole in questions.WHOLE_PARTS
