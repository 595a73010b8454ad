# SPDX-License-Identifier: BSD-3-Clause
"""Every kind of result has tables: of none a terminal or a notebook would have to say nothing."""

from __future__ import annotations

import pytest
from tests.report import made_up

from vaiven import questions
from vaiven.report.table import Table
from vaiven.report.views import tables
from vaiven.results.listing import listing
from vaiven.results.result import Result
from vaiven.results.results import KINDS, Results
from vaiven.store.query import Run


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_every_kind_has_tables(kind: type[Result]) -> None:
    answers = {one.answer.kind for one in questions.ALL.values() if one.answer}
    assert kind.kind in answers or tables.dispatch(kind) is not tables.dispatch(object)


def test_tables_have_a_cell_for_each_column(run: Run) -> None:
    several = [*Results(run), Results(run).warnings, listing([run])]
    shown = [table for one in several for table in tables(one)]
    assert len(shown) > 10 and all(isinstance(one, Table) for one in shown)
    assert all(len(row) == len(table.columns) for table in shown for row in table.rows)


def test_a_hostile_name_is_only_a_name(tmp_path) -> None:
    there = made_up.write_run(
        tmp_path, stacks=("udp",), sizes=(8,), blocks=2, samples=3, warnings=[("x", made_up.HOSTILE)]
    )
    (table,) = tables(Results(there).warnings)
    assert table.rows == (("", made_up.HOSTILE, "x"),)
