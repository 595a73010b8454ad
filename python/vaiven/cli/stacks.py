# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven stacks`: the ways for a message to travel, what each needs, and whether it is here."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from vaiven.cli.parameters import Json

if TYPE_CHECKING:
    from vaiven.plan.design import Available
    from vaiven.report.table import Table


def stacks(*, as_json: Json = False) -> None:
    """List the stacks: what each is, the sizes it carries, what it needs, and why one is not here.

    Parameters
    ----------
    as_json
        One JSON document instead: schema, stacks (by id; absent: why one is not here, "" if it is; lacking: why it
        cannot be asked a question, by question).
    """
    from vaiven.cli.terminal import open_console, rich_table
    from vaiven.results.document import document
    from vaiven.run import place

    known = place.known_stacks().stacks
    if as_json:
        print(document({"schema": 1, "stacks": {name: _facts(stack) for name, stack in known.items()}}))
        return
    console = open_console()
    console.print(rich_table(_table({name: stack for name, stack in known.items() if not stack.absent})))
    for name, stack in known.items():
        if stack.absent:
            console.print(f"not here: {name}: {stack.absent}", soft_wrap=True)


def _facts(stack: Available) -> dict[str, Any]:
    facts = {one.name: getattr(stack, one.name) for one in fields(stack)}
    return facts | {"lacking": {ask: why for ask in stack.questions if (why := stack.lacking(ask))}}


def _table(here: dict[str, Available]) -> Table:
    from vaiven.report.table import Column, Table

    columns = Column("stack", number=False), Column("what it is; what it carries, answers and needs", number=False)
    return Table("", columns, tuple((name, _words(stack)) for name, stack in here.items()))


def _words(stack: Available) -> str:
    """What it is, and below that the rest."""
    from vaiven.model.numbers import size_text

    limits = size_text(stack.limits.size_bytes_min), size_text(stack.limits.size_bytes_max)
    needs = f"; needs {stack.needs}" if stack.needs else ""
    return f"{stack.summary}\n{' to '.join(limits)}; {', '.join(stack.questions)}{needs}"
