# SPDX-License-Identifier: BSD-3-Clause
"""Runs against runs: sides with what each run says, as tables of one row a run, and the words that only they need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vaiven.errors import VaivenError

if TYPE_CHECKING:
    from vaiven.report.findings import Comparison
    from vaiven.stats.verdict import Rules
    from vaiven.store.query import Run


@dataclass(frozen=True, eq=False)
class Side:
    """runs: oldest first, each of them whole. column: the statistic of a launch that is looked at. tables: for each run
    its medians of that (store.medians), read once. notes: a sentence for each run that is not among them."""

    runs: tuple[Run, ...]
    column: str
    tables: tuple[Any, ...]
    notes: tuple[str, ...] = ()


def named(names: Sequence[str], root: Path, column: str) -> Side:
    """The side of the runs that were named for it, without those that cannot be read.

    Raises VaivenError ("same-run"): one is named twice; of a name that means no run what query.find says.
    """
    from vaiven.store import history, query

    runs: list[Run] = []
    notes = []
    for name in names:
        try:
            runs.append(query.find(name, root))
        except VaivenError as error:
            if error.code not in ("run-damaged", "run-older", "run-newer"):
                raise
            notes.append(f"not compared: {error.what}")
    for run in runs:
        if [one.id for one in runs].count(run.id) > 1:
            raise VaivenError(f"{run.id} is named twice", "name each run once", code="same-run")
    return side(sorted(runs, key=history.made_at), column, notes)


def side(runs: Sequence[Run], column: str, notes: Sequence[str] = (), required: Sequence[Run] = ()) -> Side:
    """Those runs with what they say, but for those whose cells cannot be read, which are notes after the others.

    Raises VaivenError where a run of `required` cannot be read.
    """
    from vaiven.store.medians import medians

    kept, tables, left_out = [], [], list(notes)
    for run in runs:
        try:
            tables.append(medians(run, column))
            kept.append(run)
        except VaivenError as error:
            if run in required:
                raise
            left_out.append(f"not compared: {error.what}")
    return Side(tuple(kept), column, tuple(tables), tuple(left_out))


def require_sides(before: Sequence[Run], after: Sequence[Run], rules: Rules) -> None:
    """VaivenError: "same-run" on both sides; "too-few-runs" to reach alpha, whatever they hold."""
    from vaiven.stats.runs import RUNS_ADVISED, p_least

    both = {run.id for run in before} & {run.id for run in after}
    if both:
        raise VaivenError(f"{min(both)} is on both sides", "name each run once", code="same-run")
    least = p_least(len(before), len(after)) if before and after else 1.0
    if least > rules.alpha:
        needed = next(n for n in range(1, 1000) if p_least(n, n) <= rules.alpha)
        raise VaivenError(
            f"{len(before)} and {len(after)} runs can never reach {100 * rules.alpha:g} %: were all times of one side "
            f"longer, chance alone would do that in {100 * least:.2g} % of cases",
            f"{needed} and {needed} runs at the least, {RUNS_ADVISED} and {RUNS_ADVISED} to find a change of 5 %; "
            "of one run each `vaiven compare EARLIER LATER` says what their history allows",
            code="too-few-runs",
        )


def wanted_text(first: int, second: int, cells: int, alpha: float) -> str:
    """How many runs are wanted for what."""
    from vaiven.stats.planner import launches_to_reach
    from vaiven.stats.runs import RUNS_ADVISED

    lone, all_of_them = (launches_to_reach(alpha, count, paired=False) for count in (cells, 1))
    return (
        f"{first} and {second} runs: a change of all {cells} cells together takes {all_of_them} and {all_of_them}, "
        f"of one cell alone {lone} and {lone}; {RUNS_ADVISED} and {RUNS_ADVISED} find most changes of 5 %"
    )


def table_of(side: Side, ask: str) -> Any:
    """One row per (run, cell), as query.launches has one per launch: `launch` and `block` are the number of the run.

    The cells that a run lacks, or of which it has no such statistic, are not there. Raises VaivenError
    ("nothing-measured"): no run has that question.
    """
    from vaiven.cli.claims import claimed
    from vaiven.store.medians import stacked

    whole = stacked([claimed(run, table) for run, table in zip(side.runs, side.tables, strict=True)], side.column)
    table = whole.filter(ask=ask)
    if table.is_empty():
        asked = ", ".join(sorted(whole["ask"].unique().to_list())) or "nothing: no launch has finished"
        raise VaivenError(
            f"the run {side.runs[-1].id} has no {ask}; it has {asked}", "compare runs of one question",
            "nothing-measured",
        )  # fmt: skip
    return table.drop_nulls(side.column)


def history_of(earlier: Run, later: Run, root: Path) -> tuple[list[Run], list[str]]:
    """The runs like the earlier one up to it, and it, oldest first; and sentences on what was left out."""
    from vaiven.store import history

    found = history.like(earlier, root)
    return [run for run in found.runs if run.id != later.id], list(found.left_out)


def summary(found: Comparison) -> Iterator[str]:
    """What several runs say beyond their verdicts: the whole, and how much would be found."""
    from vaiven.model.numbers import change_interval_text, percent_text
    from vaiven.stats.verdict import Word

    whole = found.whole
    if whole is None or not whole.ratio.known:
        return
    later = "the later runs are" if len(found.after) > 1 else "the later run is"
    word, by = whole.word(found.rules), change_interval_text(whole.ratio)
    if word is Word.INCONCLUSIVE:
        yield f"as a whole {later} not told from the earlier: {by}"
    else:
        yield f"as a whole {later} {word}: {by}, in what all cells have in common"
    if found.found:
        shares = ", ".join(f"+{percent_text(change)} in {percent_text(share)}" for change, share in found.found)
        yield f"of a change of one cell such a history finds {shares} of the cells"
    called, runs = found.alarms
    if runs:
        yield f"its own false alarms: of these {runs} runs, which are alike, the others would call {called} different"


def notes(before: Side, after: Side, table: Any) -> Iterator[str]:
    """What must be known of the sides: what differs in each of them, and which runs stand out before, by that table."""
    from vaiven.store.history import changes, settings

    for name, one in (("before", before), ("after", after)):
        *others, last = map(settings, one.runs)
        if unlike := dict.fromkeys(setting for other in others for setting in changes(other, last)):
            yield f"the runs {name} are not alike: they differ in {several(list(unlike), 5)}"
    yield from standing_out(before, table)


def standing_out(side: Side, table: Any) -> Iterator[str]:
    """The runs that are unlike the others of their side as a whole, by the table of that side."""
    from vaiven.model.numbers import percent_text
    from vaiven.stats import runs as statistics

    for row, ratio in statistics.standing_out(grid(table, len(side.runs), side.column)):
        word = "slower" if ratio > 1 else "faster"
        yield f"{side.runs[row].id} stands out: {percent_text(abs(ratio - 1))} {word} than the others as a whole"


def grid(table: Any, runs: int, column: str) -> Any:
    """(runs, cells) of a table of runs: the cells that all of them have."""
    import numpy as np

    key = ["near", "far", "fars", "stack", "size_bytes"]
    whole = table.select(*key, "launch", column).pivot("launch", index=key, values=column).drop_nulls()
    columns = [str(number) for number in range(runs)]
    return whole.select(columns).to_numpy().T if set(columns) <= set(whole.columns) else np.empty((runs, 0))


def several(names: Sequence[str], most: int) -> str:
    """The first few of many names, and how many more there are."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
