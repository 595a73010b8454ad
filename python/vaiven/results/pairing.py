# SPDX-License-Identifier: BSD-3-Clause
"""What is held against what: the times of both of each pair, and in words what cannot be compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import polars as pl

from vaiven.errors import VaivenError
from vaiven.model.compare import matched
from vaiven.model.numbers import size_text
from vaiven.model.times import LaunchTimes
from vaiven.plan.stack import named, opposed
from vaiven.questions import PLAIN, Compared
from vaiven.results import rows
from vaiven.results.link import believed
from vaiven.results.names import StatisticWord
from vaiven.results.rows import Key
from vaiven.stats.launches import messages_needed
from vaiven.store.query import Run

SIDES: tuple[Literal["before"], Literal["after"]] = ("before", "after")
_SHARES = {"p95": 0.95, "p99": 0.99}  # of messages that such a statistic leaves behind


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """One of two that are compared: a stack; between runs that of the earlier side or of the later one."""

    stack: str
    side: Literal["", "before", "after"] = ""

    def __str__(self) -> str:
        return f"{self.stack} ({self.side})" if self.side else self.stack


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is compared. stacks: only these, the first with the others, and so on; of none all. hosts: only between
    these (near, far), in that order; of none all. Between runs these are the later one's."""

    stacks: Sequence[str] = ()
    hosts: Sequence[tuple[str, str]] = ()
    ask: Compared = PLAIN
    statistic: StatisticWord = "median"

    @property
    def column(self) -> str:
        """Of the rows of a run: where that statistic of a launch stands."""
        return rows.COLUMNS[rows.STATISTICS[self.statistic]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Prepared:
    """Two with their times, at the sizes that both have."""

    near: str
    far: str
    first: Contender
    second: Contender
    times: tuple[LaunchTimes, LaunchTimes]


@dataclass(frozen=True, eq=False, kw_only=True)
class _Cells:
    """The rows of one of two."""

    table: pl.DataFrame
    key: Key
    who: Contender

    def kept(self, which: pl.Series) -> _Cells:
        return replace(self, table=self.table.filter(which))


def spelled(name: str) -> str:
    """The name of a stack in the spelling that runs use. Raises VaivenError for what is no such name."""
    return named(name.strip()).name


def of_run(run: Run, asked: Asked) -> tuple[list[Prepared], list[str]]:
    """Every two stacks of a run, and a note for what is not compared. Raises VaivenError: "nothing-measured",
    "no-stack", "no-pair", "too-few", "different-kind", "too-few-messages", "no-common-size",
    "no-common-block"."""
    whole = believed(run, rows.launches(run))
    table = between_hosts(require_asked(run, whole, asked.ask), run, asked.hosts)
    names = _chosen(table, run, asked.stacks)
    if len(names) < 2:
        raise VaivenError(
            f"the run {run.id} has one stack, {names[0]}: nothing to compare it with",
            "measure two, or `vaiven compare RUN1 RUN2`",
            code="too-few",
        )
    wanted = []
    for near, far in _distinct(table, "near", "far"):
        here = set(_stacks_of(table.filter(near=near, far=far), run))
        keys = [(near, far, name) for name in names if name in here]
        wanted += [(_cells(table, one), _cells(table, other)) for one, other in _opposed(keys, asked.stacks)]
    if not wanted:
        raise VaivenError(
            f"the run {run.id} has no two stacks between the same hosts, nor one on two sides",
            "the warnings on its page say what failed",
            "too-few",
        )
    return _prepared(wanted, asked, same_blocks=True)


def of_sides(
    last: tuple[Run, Run], tables: tuple[pl.DataFrame, pl.DataFrame], asked: Asked
) -> tuple[list[Prepared], list[str]]:
    """Every stack that both sides have, the later side first: it is what is judged. last: the last run of each side.
    Raises as `of_run`."""
    before, after = tables
    _require_messages(tables, asked)
    after = between_hosts(after, last[1], asked.hosts)
    chosen = [_chosen(table, run, asked.stacks) for table, run in zip((before, after), last, strict=True)]
    stacks = chosen[1] if asked.stacks else ()
    earlier, notes = _same_hosts(before, after)
    keys = [set(earlier), set(_distinct(after, "near", "far", "stack"))]
    common = [key for key in sorted(keys[0] & keys[1]) if not stacks or key[2] in stacks]
    order = {name: number for number, name in enumerate(stacks or _stacks_of(after, last[1]))}
    common.sort(key=lambda key: (key[0], key[1], order[key[2]]))
    for side, (ours, theirs) in zip(SIDES, (keys, keys[::-1]), strict=True):
        for name in sorted({key[2] for key in ours - theirs if not stacks or key[2] in stacks}):
            where = " between some hosts" if any(key[2] == name for key in theirs) else ""
            notes.append(f"only {side} has {name}{where}")
    if not common:
        raise VaivenError("the runs share no stack between the same hosts", "; ".join(notes), code="too-few")
    wanted = [(_cells(after, key, "after"), _cells(before, earlier[key], "before")) for key in common]
    prepared, more = _prepared(wanted, asked, same_blocks=False)
    return prepared, [*notes, *more]


def require_asked(run: Run, whole: pl.DataFrame, ask: str) -> pl.DataFrame:
    """The rows of one question. Raises VaivenError ("nothing-measured"): the run has none of it."""
    table = whole.filter(ask=ask)
    if table.is_empty():
        there = ", ".join(sorted(whole["ask"].unique().to_list())) or "nothing: no launch has finished"
        raise VaivenError(
            f"the run {run.id} has no {ask}; it has {there}", "compare runs of one question", "nothing-measured"
        )
    return table


def between_hosts(table: pl.DataFrame, run: Run, hosts: Sequence[tuple[str, str]]) -> pl.DataFrame:
    """The rows between those hosts of the run, or all. Raises VaivenError ("no-pair")."""
    known = _distinct(table, "near", "far")
    for pair in hosts:
        if pair not in known:
            there = "; ".join(",".join(one) for one in known)
            raise VaivenError(f"the run {run.id} has no pair {','.join(pair)}", f"it has {there}", code="no-pair")
    wanted = [pair in hosts for pair in table.select("near", "far").rows()] if hosts else None
    return table if wanted is None else table.filter(wanted)


def _require_messages(tables: Sequence[pl.DataFrame], asked: Asked) -> None:
    """VaivenError ("too-few-messages"): a side has no cell with enough of them."""
    if asked.statistic in _SHARES and any(table.is_empty() for table in tables):
        raise _too_few_messages(asked.statistic, "no cell has them")


def _too_few_messages(statistic: StatisticWord, who: str) -> VaivenError:
    needed = messages_needed(_SHARES[statistic])
    remedy = f"measure with samples = {needed}, and a cell_ms for so many, in the plan's [effort]"
    return VaivenError(f"{statistic} takes {needed} messages of a launch; {who}", remedy, code="too-few-messages")


def _distinct(table: pl.DataFrame, *columns: str) -> list[Any]:
    return table.select(columns).unique(maintain_order=True).sort(columns[:2]).rows()


def _stacks_of(table: pl.DataFrame, run: Run) -> list[str]:
    """In the order of the plan."""
    return sorted(table["stack"].unique().to_list(), key=rows.place_in_plan(run))


def _chosen(table: pl.DataFrame, run: Run, stacks: Sequence[str]) -> list[str]:
    """The wanted stacks, all of which must be there, one without its side on every one; without a wish, all."""
    there = _stacks_of(table, run)
    found = [one for name in stacks for one in there if name in (one, one.partition("@")[0])]
    for name in stacks:
        if name not in there and not any(one.startswith(f"{name}@") for one in there):
            raise VaivenError(f"the run {run.id} has no {name}", f"it has {', '.join(there)}", code="no-stack")
    return found or there


def _opposed(keys: Sequence[Key], stacks: Sequence[str]) -> Iterator[tuple[Key, Key]]:
    """Who is compared with whom: those that were named with their sides as they were named; else every two stacks, or a
    stack on a later side with itself on an earlier one."""
    for one, other in combinations(keys, 2):
        if any("@" in name for name in stacks):
            yield one, other
        elif opposed(one[2], other[2]):
            yield (other, one) if "@" in one[2] else (one, other)


def _same_hosts(before: pl.DataFrame, after: pl.DataFrame) -> tuple[dict[Key, Key], list[str]]:
    """(later run's key -> earlier run's, of what the earlier has): hosts by name, or one pair of each whatever its
    names."""
    (old, *others), (new, *more) = (_distinct(table, "near", "far") for table in (before, after))
    keys = _distinct(before, "near", "far", "stack")
    if old == new or others or more:
        return {key: key for key in keys}, []
    note = f"before was measured from {' to '.join(old)}, after from {' to '.join(new)}"
    return {(*new, key[2]): key for key in keys}, [note]


def _cells(table: pl.DataFrame, key: Key, side: Literal["", "before", "after"] = "") -> _Cells:
    return _Cells(table=rows.of_key(table, key), key=key, who=Contender(stack=key[2], side=side))


def _prepared(
    wanted: Sequence[tuple[_Cells, _Cells]], asked: Asked, *, same_blocks: bool
) -> tuple[list[Prepared], list[str]]:
    """Times of all that can be compared, and a note for what cannot."""
    found: list[Prepared] = []
    refusals: list[VaivenError] = []
    notes: list[str] = []
    for one, other in wanted:
        try:
            (one, other), few = _founded((one, other), asked.statistic) if same_blocks else ((one, other), [])
            notes += few
            (one, other), dropped = _same_batches((one, other))
            first, second = matched(_times(one, asked), _times(other, asked), same_blocks)
            near, far, _ = one.key
            found.append(Prepared(near=near, far=far, first=one.who, second=other.who, times=(first, second)))
            notes += dropped
        except VaivenError as error:
            refusals.append(error)
    if not found:
        raise refusals[0]
    return found, list(dict.fromkeys([*notes, *(f"not compared: {error.what}" for error in refusals)]))


def _founded(pair: tuple[_Cells, _Cells], statistic: StatisticWord) -> tuple[tuple[_Cells, _Cells], list[str]]:
    """Without the cells that have too few messages to carry the statistic, and a note of them."""
    if statistic not in _SHARES:
        return pair, []
    kept, notes = [], []
    for one in pair:
        few = one.table["count"] + one.table["lost"] < messages_needed(_SHARES[statistic])
        sizes = ", ".join(size_text(size) for size in sorted(set(one.table.filter(few)["size_bytes"])))
        error = _too_few_messages(statistic, f"{one.who} has fewer at {sizes}")
        if few.all():
            raise error
        kept.append(one.kept(~few))
        notes += [f"not compared: {error.what}"] if sizes else []
    return (kept[0], kept[1]), notes


def _times(one: _Cells, asked: Asked) -> LaunchTimes:
    times = rows.launch_times(one.table, one.key, rows.STATISTICS[asked.statistic], asked.ask)
    return replace(times, stack=str(one.who), unit="runs" if one.who.side else "launches")


def _same_batches(pair: tuple[_Cells, _Cells]) -> tuple[tuple[_Cells, _Cells], list[str]]:
    """Without the sizes at which one of them timed messages singly and the other in batches: other statistics."""
    one, other = (
        dict(each.table.group_by("size_bytes").max().select("size_bytes", "batch").iter_rows()) for each in pair
    )
    unlike = sorted(size for size in one.keys() & other.keys() if one[size] != other[size])
    if not unlike:
        return pair, []
    where = f"{pair[0].who} and {pair[1].who} were timed in unlike batches at {', '.join(map(str, unlike))} bytes"
    first, second = (each.kept(~each.table["size_bytes"].is_in(unlike)) for each in pair)
    if first.table.is_empty() or second.table.is_empty():
        raise VaivenError(f"{where}: a mean of a batch is not a message's time", code="different-kind")
    return (first, second), [f"not compared: {where}"]
