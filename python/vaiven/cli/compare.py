# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven compare`: is one stack really faster than another, or one run than another? Words first, then numbers."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from vaiven.cli.model import Question, launch_times, of_stack, place_in_plan, plain_json
from vaiven.cli.terminal import rich_table
from vaiven.errors import VaivenError

if TYPE_CHECKING:
    from vaiven.model.times import LaunchTimes
    from vaiven.report.findings import Comparison, Versus
    from vaiven.stats.verdict import Rules
    from vaiven.store.query import Run

Statistic = Literal["median", "minimum", "mean", "p95", "p99"]
Key = tuple[str, str, str]  # near, far, stack
_STATISTICS = {"median": "TYPICAL", "minimum": "FLOOR", "mean": "MEAN", "p95": "P95", "p99": "P99"}
SLOWER, CANNOT_TELL = 3, 4  # exit statuses of --fail-if-slower


def compare(
    run: str = "last",
    later: str = "",
    /,
    *,
    stacks: Annotated[str, Parameter(name=["--stacks", "--stack"])] = "",
    pair: str = "",
    ask: Question = "pingpong",
    statistic: Statistic = "median",
    margin: float = 0.02,
    alpha: float = 0.01,
    sizes: bool = False,
    fail_if_slower: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> None:
    """Is A really faster than B? Every two stacks of one run; or every stack of a later run against an earlier one.

    Exit status with --fail-if-slower: 3 when something is slower, 4 when there are too few launches to call
    anything slower.

    Parameters
    ----------
    run
        A run directory, the start of a run's id, or "last"; with a second run, the earlier one: what was before.
    later
        The run that is compared with the first one, stack by stack.
    stacks
        Only these, with commas between: the first is compared with the others, and so on.
    pair
        Only between these two hosts: NEAR,FAR.
    ask
        Which question's times are compared.
    statistic
        Which number stands for a launch.
    margin
        What counts as the same: 0.02 is 2 % more or less.
    alpha
        How often a difference may be called that is none, among those called: 0.01 is 1 %.
    sizes
        Also everything behind each verdict, size by size: ratio, p, Welch's test, gain, launches, how often one side's
        launch is done before the other's.
    fail_if_slower
        End with status 3 when the later run (or the first of --stacks) is slower at any size, by more than the margin.
    as_json
        All of it as one JSON document instead, with the P-P curves of the launches.
    """
    from vaiven.store import query

    runs = [query.find(name, query.root()) for name in (run, later) if name]
    wanted = _words(stacks)
    if fail_if_slower and len(runs) == 1 and len(wanted) < 2:
        raise VaivenError("which stack must not be slower?", "--stacks OURS,OTHER names it first", code="bad-value")
    found = comparison(runs, wanted, pair_of_hosts(pair), ask, statistic, _rules(margin, alpha))
    slower = _slower(found, wanted)
    if as_json:
        print(comparison_json(found, slower))
    else:
        _print(found, sizes)
    if fail_if_slower:
        _fail(found, slower)


def comparison(
    runs: Sequence[Run],
    stacks: Sequence[str] = (),
    hosts: Sequence[tuple[str, str]] = (),
    ask: Question = "pingpong",
    statistic: Statistic = "median",
    rules: Rules | None = None,
) -> Comparison:
    """Every two stacks of one run, or every stack that two runs share, judged together.

    hosts: only between those (near, far), in that order; without them all. With two runs they are the later one's.

    Raises VaivenError: "same-run", "nothing-measured", "no-stack", "no-pair", "too-few" (nothing to compare),
    "different-kind" (batches), "no-common-size", "no-common-block".
    """
    from vaiven.stats.verdict import Rules

    rules = rules or Rules()
    if len(runs) == 2 and runs[0].id == runs[1].id:
        raise VaivenError("the same run twice", "`vaiven compare RUN` compares its stacks", code="same-run")
    tables = [*(_table(run, ask, ()) for run in runs[:-1]), _table(runs[-1], ask, hosts)]
    if len(runs) == 1:
        pairs, notes = _within(runs[0], tables[0], stacks, statistic, ask)
    else:
        pairs, notes = _between(runs, tables, stacks, statistic, ask)
        notes = [*_differences(*runs), *notes]
    return _judged(pairs, rules, runs, statistic, ask, notes)


def comparison_json(found: Comparison, slower: Sequence[tuple[Versus, tuple[int, ...]]]) -> str:
    """{"schema", "runs", "ask", "statistic", "rules", "could_tell", "slower", "summary", "notes", "versus"}: `versus`
    holds the fields of report.findings.Versus, verdicts and P-P curves in the order of its sizes_bytes."""
    from vaiven.report.verdicts import summary

    return plain_json(
        {
            "schema": 1,
            "runs": found.runs,
            "ask": found.ask,
            "statistic": found.statistic,
            "rules": found.rules,
            "could_tell": found.could_tell,
            "slower": [
                {"near": one.near, "far": one.far, "stack": one.compared.first, "than": one.compared.second,
                 "sizes_bytes": where}
                for one, where in slower
            ],
            "summary": summary(found),
            "notes": found.notes,
            "versus": found.versus,
        }
    )  # fmt: skip


def _words(text: str) -> list[str]:
    """Names of stacks between commas; commas inside [...] belong to the name. In the spelling that runs use."""
    from vaiven.plan import stack as names

    return [names.parse(word.strip()).name for word in re.split(r",(?![^\[]*\])", text) if word.strip()]


def pair_of_hosts(pair: str) -> list[tuple[str, str]]:
    """What --pair says: one (near, far), or none. Raises VaivenError ("bad-value")."""
    near, comma, far = pair.partition(",")
    if pair and not (near and comma and far):
        raise VaivenError(f"--pair {pair!r}", "NEAR,FAR, for example h1,h2", code="bad-value")
    return [(near.strip(), far.strip())] if pair else []


def _rules(margin: float, alpha: float) -> Rules:
    from vaiven.stats.verdict import Rules

    for name, value in (("--margin", margin), ("--alpha", alpha)):
        if not 0 < value < 0.5:
            raise VaivenError(f"{name} {value:g}", "a share above 0 and below 0.5: 0.02 is 2 %", code="bad-value")
    return Rules(alpha=alpha, delta=margin)


def _table(run: Run, ask: Question, hosts: Sequence[tuple[str, str]]) -> Any:
    """The rows of one question of a run, between those hosts, or between all."""
    from vaiven.store import query

    whole = query.launches(run)
    table = whole.filter(ask=ask)
    if table.is_empty():
        asked = ", ".join(sorted(whole["ask"].unique().to_list())) or "nothing: no launch has finished"
        raise VaivenError(
            f"the run {run.id} has no {ask}; it has {asked}", "compare runs of one question", "nothing-measured"
        )
    known = _distinct(table, "near", "far")
    for pair in hosts:
        if pair not in known:
            there = "; ".join(",".join(one) for one in known)
            raise VaivenError(f"the run {run.id} has no pair {','.join(pair)}", f"it has {there}", code="no-pair")
    wanted = [pair in hosts for pair in table.select("near", "far").rows()] if hosts else None
    return table if wanted is None else table.filter(wanted)


def _distinct(table: Any, *columns: str) -> list[Any]:
    return table.select(columns).unique(maintain_order=True).sort(columns[:2]).rows()


def _stacks_of(table: Any, run: Run) -> list[str]:
    """In the order of the plan."""
    return sorted(table["stack"].unique().to_list(), key=place_in_plan(run))


def _chosen(table: Any, run: Run, stacks: Sequence[str]) -> list[str]:
    """The wanted stacks, all of which must be there; without a wish, all."""
    there = _stacks_of(table, run)
    for name in stacks:
        if name not in there:
            raise VaivenError(f"the run {run.id} has no {name}", f"it has {', '.join(there)}", code="no-stack")
    return list(stacks) or there


Prepared = list[tuple["LaunchTimes", "LaunchTimes"]]


def _within(
    run: Run, table: Any, stacks: Sequence[str], statistic: Statistic, ask: Question
) -> tuple[Prepared, list[str]]:
    names = _chosen(table, run, stacks)
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
        wanted += [(_rows(table, one), _rows(table, other)) for one, other in combinations(keys, 2)]
    return _prepared(wanted, statistic, ask, same_blocks=True)


def _between(
    runs: Sequence[Run], tables: Sequence[Any], stacks: Sequence[str], statistic: Statistic, ask: Question
) -> tuple[Prepared, list[str]]:
    """The later run first: it is what is judged."""
    before, after = tables
    for table, run in zip(tables, runs, strict=True):
        _chosen(table, run, stacks)
    earlier, notes = _same_hosts(before, after)
    keys = [set(earlier), set(_distinct(after, "near", "far", "stack"))]
    common = [key for key in sorted(keys[0] & keys[1]) if not stacks or key[2] in stacks]
    order = {name: number for number, name in enumerate(stacks or _stacks_of(after, runs[1]))}
    common.sort(key=lambda key: (key[0], key[1], order[key[2]]))
    for number, (ours, theirs) in enumerate((keys, keys[::-1]), start=1):
        for name in sorted({key[2] for key in ours - theirs if not stacks or key[2] in stacks}):
            where = " between some hosts" if any(key[2] == name for key in theirs) else ""
            notes.append(f"only run {number} has {name}{where}")
    if not common:
        raise VaivenError("the two runs share no stack between the same hosts", "; ".join(notes), code="too-few")
    wanted = [(_rows(after, key, " (run 2)"), _rows(before, earlier[key], " (run 1)")) for key in common]
    prepared, more = _prepared(wanted, statistic, ask, same_blocks=False)
    return prepared, [*notes, *more]


def _same_hosts(before: Any, after: Any) -> tuple[dict[Key, Key], list[str]]:
    """(later run's key -> earlier run's, of what the earlier has): hosts by name, or one pair of each whatever its
    names."""
    (old, *others), (new, *more) = (_distinct(table, "near", "far") for table in (before, after))
    keys = _distinct(before, "near", "far", "stack")
    if old == new or others or more:
        return {key: key for key in keys}, []
    note = f"run 1 was measured from {' to '.join(old)}, run 2 from {' to '.join(new)}"
    return {(*new, key[2]): key for key in keys}, [note]


Rows = tuple[Any, Key, str]


def _rows(table: Any, key: Key, run: str = "") -> Rows:
    """(rows of one stack, its key, what to call its run)."""
    return of_stack(table, key), key, run


def _prepared(
    wanted: Sequence[tuple[Rows, Rows]], statistic: Statistic, ask: Question, same_blocks: bool
) -> tuple[Prepared, list[str]]:
    """Times of all that can be compared, and a note for what cannot."""
    from vaiven.model.compare import matched

    pairs: Prepared = []
    refusals: list[VaivenError] = []
    notes: list[str] = []
    for one, other in wanted:
        try:
            tables, dropped = _same_batches(one, other)
            first, second = (
                _times(rows, side, statistic, ask) for rows, side in zip(tables, (one, other), strict=True)
            )
            pairs.append(matched(first, second, same_blocks))
            notes += dropped
        except VaivenError as error:
            refusals.append(error)
    if not pairs:
        raise refusals[0]
    return pairs, list(dict.fromkeys([*notes, *(f"not compared: {error.what}" for error in refusals)]))


def _times(rows: Any, side: Rows, statistic: Statistic, ask: Question) -> LaunchTimes:
    from dataclasses import replace

    from vaiven.model.times import Statistic as Statistics

    _, key, run = side
    times = launch_times(rows, key, Statistics[_STATISTICS[statistic]], ask)
    return replace(times, stack=f"{key[2]}{run}")


def _same_batches(one: Rows, other: Rows) -> tuple[tuple[Any, Any], list[str]]:
    """Without the sizes at which one side timed messages singly and the other in batches: other statistics."""
    batches = [dict(side[0].group_by("size_bytes").max().select("size_bytes", "batch").rows()) for side in (one, other)]
    unlike = sorted(size for size in batches[0].keys() & batches[1].keys() if batches[0][size] != batches[1][size])
    if not unlike:
        return (one[0], other[0]), []
    names = [f"{side[1][2]}{side[2]}" for side in (one, other)]
    where = f"{names[0]} and {names[1]} were timed in unlike batches at {', '.join(map(str, unlike))} bytes"
    kept = [side[0].filter(~side[0]["size_bytes"].is_in(unlike)) for side in (one, other)]
    if kept[0].is_empty() or kept[1].is_empty():
        raise VaivenError(f"{where}: a mean of a batch is not a message's time", code="different-kind")
    return (kept[0], kept[1]), [f"not compared: {where}"]


def _judged(
    pairs: Prepared, rules: Rules, runs: Sequence[Run], statistic: Statistic, ask: Question, notes: Sequence[str]
) -> Comparison:
    import numpy as np

    from vaiven.model.compare import compare_pairs, pp_points
    from vaiven.model.crossover import crossover
    from vaiven.model.gain import gain
    from vaiven.report.findings import Comparison, Versus
    from vaiven.stats.planner import launches_to_reach

    same_blocks = len(runs) == 1
    matrix = compare_pairs(pairs, same_blocks, rules)
    versus = []
    for (first, second), compared in zip(pairs, matrix.pairs, strict=True):
        curves = tuple(
            pp_points(x[np.isfinite(x)], y[np.isfinite(y)]) for x, y in zip(first.ns.T, second.ns.T, strict=True)
        )
        rng = np.random.default_rng(int(runs[-1].manifest.design.get("seed", 1)))
        met = crossover(first, second, rng, same_blocks=same_blocks)
        gained = gain(first, second, rng, same_blocks=same_blocks)
        versus.append(Versus(first.near, first.far, compared, met, gained, curves))
    launches = [min(verdict.evidence.launches) for verdict in matrix.verdicts]
    needed = launches_to_reach(rules.alpha, len(launches), same_blocks)
    ids = tuple(run.id for run in runs)
    return Comparison(ids, ask, statistic, rules, tuple(versus), needed, min(launches), tuple(notes))


def _differences(before: Run, after: Run) -> Iterator[str]:
    """What is not the same in two runs, and may be why their times are not."""
    for what, facts in (("link", _link), ("place", _place), ("vaiven", _version)):
        old, new = facts(before), facts(after)
        if old != new:
            yield f"the runs differ in their {what}: {old}, then {new}"
    for number, run in enumerate((before, after), start=1):
        if run.state != "ended":
            yield f"run {number} did not finish: what it had is compared"


def _link(run: Run) -> str:
    link = run.manifest.link or {}
    rate = f"{link['rate_bps'] / 1e6:g} Mb/s" if link.get("rate_bps") else "rate not known"
    parts = (rate, f"{link['hops']} links" if link.get("hops") else "", f"MTU {link.get('mtu_bytes', 'not known')}")
    return " ".join(filter(None, parts))


def _place(run: Run) -> str:
    lab = run.manifest.place.get("lab")
    if not isinstance(lab, dict):
        return f"lab {lab}" if lab else "real hosts"
    fabric = lab.get("fabric", {})
    return f"lab {lab.get('name', '')} ({fabric.get('kind', '')}, {fabric.get('class', '')})"


def _version(run: Run) -> str:
    return run.manifest.versions.get("vaiven", "not known")


def _slower(found: Comparison, stacks: Sequence[str]) -> list[tuple[Versus, tuple[int, ...]]]:
    """What is slower by more than the margin: the later run; within a run the first of the named stacks."""
    judged = [one for one in found.versus if len(found.runs) == 2 or not stacks or one.compared.first == stacks[0]]
    return [(one, where) for one in judged if (where := one.slower(found.rules.delta))]


def _fail(found: Comparison, slower: Sequence[tuple[Versus, tuple[int, ...]]]) -> None:
    from vaiven.report.verdicts import ranges

    for one, where in slower:
        text = ranges([int(size) for size in one.compared.sizes_bytes], where)
        print(f"vaiven: {one.compared.first} is slower than {one.compared.second} at {text}", file=sys.stderr)
    if slower:
        sys.exit(SLOWER)
    if not found.could_tell:
        print(f"vaiven: {too_few_text(found)}", file=sys.stderr)
        sys.exit(CANNOT_TELL)


def too_few_text(found: Comparison) -> str:
    """What a design that can call nothing is told."""
    return (
        f"nothing could be called faster or slower: {found.fewest} launches; one lone difference among "
        f"{len(found.verdicts)} comparisons needs {found.launches_needed}, and launches that vary"
    )


def _print(found: Comparison, sizes: bool) -> None:
    from rich.console import Console
    from rich.text import Text

    from vaiven.report import verdicts

    console = Console(highlight=False, markup=False)
    for number, run in enumerate(found.runs, start=1):
        console.print(Text(f"run {number}: {run}" if len(found.runs) > 1 else f"run: {run}", style="dim"))
    for line in verdicts.summary(found):
        console.print(Text(f"• {line}"))
    for note in (*([] if found.could_tell else [too_few_text(found)]), *found.notes):
        console.print(Text(f"! {note}", style="yellow"))
    console.print()
    for pair in dict.fromkeys(one.pair for one in found.versus):
        console.print(rich_table(verdicts.matrix_table(found, pair), _style))
    if sizes or len(found.versus) == 1:
        for one in found.versus:
            console.print(rich_table(verdicts.verdict_table(one)))
            if sizes:
                console.print(rich_table(verdicts.race_table(one)))


def _style(cell: str) -> str:
    if cell.startswith(("(", "=")):
        return "dim"
    return {"+": "red", "−": "green", "?": "yellow"}.get(cell[:1], "dim")
