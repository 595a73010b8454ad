# SPDX-License-Identifier: BSD-3-Clause
"""The runs that there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from vaiven.errors import VaivenError
from vaiven.results.result import Result, columns, integer, text
from vaiven.store import query
from vaiven.store.query import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """What a list says of a run. state: how it ended, or that it is running or was stopped."""

    id: str
    path: str
    created_utc: str
    title: str
    state: str
    launches: int
    warnings: int


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Listing(Result[Listed]):
    """Runs, oldest first. unreadable: why others cannot be read."""

    kind: ClassVar[str] = "listing"
    columns: ClassVar = columns(
        text("run", "its id", lambda one: one.id),
        text("path", "its directory", lambda one: one.path),
        text("created_utc", "when it was made", lambda one: one.created_utc),
        text("title", "of its plan", lambda one: one.title),
        text("state", "done, not-achieved; running, or stopped: it can be resumed", lambda one: one.state),
        integer("launches", "finished launches", lambda one: one.launches),
        integer("warnings", "warnings that it has", lambda one: one.warnings),
    )  # fmt: skip

    unreadable: tuple[str, ...]

    def facts(self) -> dict[str, Any]:
        return {"unreadable": self.unreadable}


def listing(found: Sequence[Run | VaivenError]) -> Listing:
    """Of what query.runs found."""
    readable, why = [], []
    for one in found:
        try:
            readable.append(_listed(one))
        except VaivenError as error:
            why.append(str(error))
    return Listing(runs=tuple(one.id for one in readable), items=tuple(readable), unreadable=tuple(why))


def _listed(found: Run | VaivenError) -> Listed:
    if isinstance(found, VaivenError):
        raise found
    return Listed(
        id=found.id,
        path=str(found.path),
        created_utc=found.manifest.created_utc,
        title=found.manifest.title,
        state=found.end.reason if found.end else found.state,
        launches=query.launch_count(found),
        warnings=len(query.warnings(found)),
    )
