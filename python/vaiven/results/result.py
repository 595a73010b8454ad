# SPDX-License-Identifier: BSD-3-Clause
"""Results: typed values that also have one public form, rows of columns with a name, a type and a meaning.

The dataclasses behind a result may change with the program. Its columns may not: programs of others read them, as
frames and as JSON. They are a contract with a number, SCHEMA: a column that goes, or means something else, takes a new
number; a column more does not. A time is one way in ns unless its name says otherwise; an interval has a level of 95 %
unless its meaning says otherwise; what was not measured, or has no value, is null.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar, overload

import numpy as np

from vaiven.results.document import document
from vaiven.results.frames import to_pandas
from vaiven.stats.estimate import Estimate

if TYPE_CHECKING:
    import pandas
    import polars as pl

SCHEMA = 3
T = TypeVar("T")
R = TypeVar("R")
Kind = Literal["text", "integer", "number", "true or false", "list of numbers"]

_JSON: dict[Kind, dict[str, Any]] = {
    "text": {"type": ["string", "null"]}, "integer": {"type": ["integer", "null"]},
    "number": {"type": ["number", "null"]}, "true or false": {"type": ["boolean", "null"]},
    "list of numbers": {"type": ["array", "null"], "items": {"type": ["number", "null"]}},
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Column(Generic[R]):
    """name: its unit stands last in it. of: what a row has there. why: why it has none, where that is known."""

    name: str
    kind: Kind
    meaning: str
    of: Callable[[R], object]
    why: Callable[[R], str] | None = None


def text(name: str, meaning: str, of: Callable[[R], str]) -> Column[R]:
    """A column of words."""
    return Column(name=name, kind="text", meaning=meaning, of=of)


def integer(name: str, meaning: str, of: Callable[[R], int | None]) -> Column[R]:
    """A column of counts, or of bytes."""
    return Column(name=name, kind="integer", meaning=meaning, of=of)


def number(name: str, meaning: str, of: Callable[[R], float | None]) -> Column[R]:
    """A column of measured numbers."""
    return Column(name=name, kind="number", meaning=meaning, of=of)


def flag(name: str, meaning: str, of: Callable[[R], bool]) -> Column[R]:
    """A column of what is so or not."""
    return Column(name=name, kind="true or false", meaning=meaning, of=of)


def numbers(name: str, meaning: str, of: Callable[[R], Iterable[float]]) -> Column[R]:
    """A column of lists."""
    return Column(name=name, kind="list of numbers", meaning=meaning, of=of)


def estimate(name: str, unit: str, meaning: str, of: Callable[[R], Estimate | None]) -> tuple[Column[R], ...]:
    """Three columns: alpha_ns, and alpha_low_ns to alpha_high_ns, its interval. unit: "" of a ratio or a share."""

    def part(end: str) -> Callable[[R], float | None]:
        return lambda row: None if (found := of(row)) is None else getattr(found, end)

    def why(row: R) -> str:
        found = of(row)
        return f"{name}: {found.refused}" if found is not None and found.refused else ""

    unit = f"_{unit}" if unit else ""
    return (
        Column(name=f"{name}{unit}", kind="number", meaning=meaning, of=part("value"), why=why),
        number(f"{name}_low{unit}", "the low end of its interval", part("low")),
        number(f"{name}_high{unit}", "the high end of its interval", part("high")),
    )


STACK: tuple[Column[Any], ...] = (
    text("near", "the host that keeps the clock", lambda one: one.near),
    text("far", "the host that answers", lambda one: one.far),
    text("stack", "the way the message travels", lambda one: one.stack),
)  # what a row is of that has these three
CELL: tuple[Column[Any], ...] = (*STACK, integer("size_bytes", "payload of a message", lambda one: one.size_bytes))


def columns(*several: Column[R] | tuple[Column[R], ...]) -> tuple[Column[R], ...]:
    """The columns of a result; where some are estimates, with a last one that says why they have no number."""
    found = tuple(one for each in several for one in (each if isinstance(each, tuple) else (each,)))
    reasons = [one.why for one in found if one.why]
    if not reasons:
        return found
    meaning = "why an estimate of the row has no number; empty where all have one"
    return (*found, text("refused", meaning, lambda row: "; ".join(filter(None, (why(row) for why in reasons)))))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Result(Sequence[T]):
    """A sequence of typed values of one kind, of one run or of several, with their public form.

    items: what it is a sequence of. runs: the ids of the runs that say so, the earlier ones first.
    """

    kind: ClassVar[str]  # its name in a document
    columns: ClassVar[tuple[Column[Any], ...]]

    items: tuple[T, ...]
    runs: tuple[str, ...]

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def rows(self) -> Iterable[Any]:
        """What the columns are columns of: the items, where a result does not say otherwise."""
        return self.items

    def facts(self) -> dict[str, Any]:
        """What a document says beside the rows: key -> what JSON can hold."""
        return {}

    def to_frame(self) -> pl.DataFrame:
        """One row for each of `rows`, a column for each of `columns`."""
        import polars as pl

        there = list(self.rows())
        types: dict[Kind, Any] = {
            "text": pl.String, "integer": pl.Int64, "number": pl.Float64, "true or false": pl.Boolean,
            "list of numbers": pl.List(pl.Float64),
        }  # fmt: skip
        return pl.DataFrame(
            {one.name: pl.Series([_plain(one.of(row)) for row in there], dtype=types[one.kind]) for one in self.columns}
        )

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a frame of pandas. Raises VaivenError ("no-pandas") where that is not installed."""
        return to_pandas(self.to_frame())

    def to_json(self) -> str:
        """A document of this result alone: {"schema", "runs", what `facts` says, KIND: its rows}."""
        return to_json([self])

    def __repr__(self) -> str:
        return f"{type(self).__name__} of {', '.join(self.runs) or 'no run'}\n{self.to_frame()}"

    def _repr_html_(self) -> str:
        from vaiven.results import views

        return views.html(self)


def to_json(several: Sequence[Result[Any]]) -> str:
    """One document of several results of the same runs."""
    value: dict[str, Any] = {"schema": SCHEMA, "runs": list(several[0].runs)}
    for one in several:
        named = [(column.name, column.of) for column in one.columns]
        value |= one.facts() | {one.kind: [{name: _plain(of(row)) for name, of in named} for row in one.rows()]}
    return document(value)


def json_schema(kinds: Iterable[type[Result[Any]]]) -> dict[str, Any]:
    """The JSON Schema of every document that can be made of results of these kinds."""
    tables = {
        one.kind: {
            "type": "array",
            "description": " ".join((one.__doc__ or "").split()),
            "items": {
                "type": "object",
                "properties": {each.name: {**_JSON[each.kind], "description": each.meaning} for each in one.columns},
                "required": [each.name for each in one.columns],
            },
        }
        for one in kinds
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What vaiven's results say",
        "type": "object",
        "properties": {"schema": {"const": SCHEMA}, "runs": {"type": "array", "items": {"type": "string"}}, **tables},
        "required": ["schema", "runs"],
    }


def _plain(value: object) -> object:
    """A value as a cell holds it: no number of numpy's, and None for what is not a number."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, np.ndarray | tuple | list):
        return [_plain(one) for one in value]
    return value
