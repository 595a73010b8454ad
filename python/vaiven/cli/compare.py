# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven compare`: is one stack faster than another, or later runs than earlier ones? Words first, then numbers."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from vaiven.cli import between
from vaiven.cli.claims import claimed
from vaiven.cli.document import document
from vaiven.cli.model import COLUMNS, Question, launch_times, of_stack, place_in_plan
from vaiven.cli.parameters import JSON
from vaiven.cli.status import Status
from vaiven.cli.terminal import rich_table
from vaiven.errors import VaivenError

if TYPE_CHECKING:
    from vaiven.cli.between import Side
    from vaiven.model.compare import Matrix
    from vaiven.model.times import LaunchTimes
    from vaiven.report.findings import Comparison, Versus
    from vaiven.stats.verdict import Rules
    from vaiven.store.query import Run

Statistic = Literal["median", "minimum", "mean", "p95", "p99"]
Key = tuple[str, str, str]  # near, far, stack
_SIDES = ("before", "after")
_STATISTICS = {"median": "TYPICAL", "minimum": "FLOOR", "mean": "MEAN", "p95": "P95", "p99": "P99"}
_SHARES = {"p95": 0.95, "p99": 0.99}  # of messages that such a statistic leaves behind


def compare(
    *names: str,
    before: Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative="")] = (),
    after: Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative="")] = (),
    stacks: Annotated[str, Parameter(name=["--stacks", "--stack"])] = "",
    pair: str = "",
    ask: Question = "pingpong",
    statistic: Statistic = "median",
    margin: float = 0.02,
    alpha: float = 0.01,
    sizes: bool = False,
    fail_if_slower: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, JSON] = False,
    runs: Path | None = None,
) -> None:
    """Is A really faster than B? Every two stacks of one run; every stack of later runs against earlier ones.

    In a run with sides (measure --before CMD --after CMD) each stack on a later side against itself on an earlier one.

    The launches of one run share its day. So one run is held against the history of runs like the earlier one, 8 of
    them or more, among the runs that are kept; several runs of each side, 5 or more, are held against each other.

    Exit status with --fail-if-slower: 3 when something is slower, 4 when there are too few launches or runs to call
    anything slower.

    Parameters
    ----------
    names
        A run (a directory, the start of an id, or "last", which is also meant without one), or two: the earlier one,
        what was before, and the later one, which is compared with its history stack by stack.
    before
        Several runs that were measured before something changed, instead of names.
    after
        And those that were measured after it.
    stacks
        Only these, with commas between: the first is compared with the others, and so on. Of a run with sides tcp is
        all of its sides, tcp@after one.
    pair
        Only between these two hosts: NEAR,FAR.
    ask
        Which question's times are compared.
    statistic
        Which number stands for a launch; p95 takes 100 messages of a launch, p99 takes 500.
    margin
        What counts as the same: 0.02 is 2 % more or less.
    alpha
        How often a difference may be called that is none, among those called: 0.01 is 1 %.
    sizes
        Also everything behind each verdict, size by size: ratio, p, Welch's test, gain, launches, how often one side's
        launch is done before the other's.
    fail_if_slower
        End with status 3 when the later run or side (else the first of --stacks) is slower at any size, by more than
        the margin.
    as_json
        All of it as one JSON document instead, with the P-P curves of the launches.
    runs
        Where runs are kept; without it $VAIVEN_RUNS, or ./runs.
    """
    from vaiven.store import query

    if len(names) > 2:
        last = shlex.join(names[-2:])
        raise VaivenError(
            f"{len(names)} runs were named, and two can be compared",
            f"the last two: vaiven compare {last}; or sides of several: --before RUN... --after RUN...",
            "usage",
        )
    if (before or after) and (names or not (before and after)):
        raise VaivenError("both sides are wanted", "vaiven compare --before RUN... --after RUN...", code="usage")
    root, wanted = runs or query.root(), stack_names(stacks)
    how = (wanted, pair_of_hosts(pair), ask, statistic, _rules(margin, alpha))
    if before:
        found = sides_compared(before, after, root, *how)
    else:
        given = [query.find(name, root) for name in names or ("last",)]
        if fail_if_slower and len(given) == 1 and len(wanted) < 2 and not given[0].manifest.plan.get("sides"):
            raise VaivenError("which stack must not be slower?", "--stacks OURS,OTHER names it first", code="bad-value")
        found = comparison(given, *how, root=root)
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
    root: Path | None = None,
) -> Comparison:
    """Every two stacks of one run, or every stack that two runs share, judged together.

    hosts: only between those (near, far), in that order; without them all. With two runs they are the later one's.
    root: where the history of the earlier one is looked for; without it there is none.

    Raises VaivenError: "same-run", "nothing-measured", "no-stack", "no-pair", "too-few" (nothing to compare),
    "different-kind" (batches), "too-few-messages" (for that statistic), "no-common-size", "no-common-block".
    """
    from vaiven.stats.verdict import Rules

    rules = rules or Rules()
    if len(runs) == 2 and runs[0].id == runs[1].id:
        raise VaivenError("the same run twice", "`vaiven compare RUN` compares its stacks", code="same-run")
    if len(runs) == 1:
        pairs, notes = _within(runs[0], _table(runs[0], ask, hosts), stacks, statistic, ask)
        return _judged(pairs, rules, runs[0], statistic, ask, notes)
    earlier, later = runs
    column = COLUMNS[_STATISTICS[statistic]]
    history, left_out = between.history_of(earlier, later, root) if root else ([earlier], [])
    before, after = between.side(history, column, left_out, required=runs), between.side([later], column, required=runs)
    return _against(before, after, stacks, hosts, ask, statistic, rules)


def sides_compared(
    before: Sequence[str],
    after: Sequence[str],
    root: Path,
    stacks: Sequence[str] = (),
    hosts: Sequence[tuple[str, str]] = (),
    ask: Question = "pingpong",
    statistic: Statistic = "median",
    rules: Rules | None = None,
) -> Comparison:
    """Every stack that the runs of both sides share. Raises as `comparison`, and "too-few-runs"."""
    from dataclasses import replace

    from vaiven.stats.verdict import Rules

    rules = replace(rules or Rules(), unit="runs")
    column = COLUMNS[_STATISTICS[statistic]]
    earlier, later = (between.named(names, root, column) for names in (before, after))
    between.require_sides(earlier.runs, later.runs, rules)
    return _against(earlier, later, stacks, hosts, ask, statistic, rules)


def _against(
    before: Side, after: Side, stacks: Sequence[str], hosts: Sequence[tuple[str, str]], ask: Question,
    statistic: Statistic, rules: Rules,
) -> Comparison:  # fmt: skip
    """The later runs, or the one, against the earlier ones: each row is a run."""
    tables = [between.table_of(side, ask) for side in (before, after)]
    _require_messages(tables, statistic)
    last = (before.runs[-1], after.runs[-1])
    tables[1] = _between_hosts(tables[1], last[1], hosts)
    pairs, more = _between(last, tables, stacks, statistic, ask)
    notes = [*_differences(*last), *before.notes, *after.notes, *between.notes(before, after, tables[0]), *more]
    return _judged_runs(pairs, rules, before.runs, after.runs, statistic, ask, notes)


def _require_messages(tables: Sequence[Any], statistic: Statistic) -> None:
    """VaivenError ("too-few-messages"): a side has no cell with enough of them."""
    from vaiven.stats.launches import messages_needed

    if statistic in _SHARES and any(table.is_empty() for table in tables):
        needed = messages_needed(_SHARES[statistic])
        remedy = f"measure with samples = {needed}, and a cell_ms for so many, in the plan's [effort]"
        raise VaivenError(
            f"{statistic} takes {needed} messages of a launch; no cell has them", remedy, "too-few-messages"
        )


def comparison_json(found: Comparison, slower: Sequence[tuple[Versus, tuple[int, ...]]]) -> str:
    """The fields of report.findings.Comparison, "schema", "slower" and the words of "summary". `versus` holds those of
    Versus, verdicts and P-P curves in the order of its sizes_bytes."""
    from vaiven.report.verdicts import summary

    return document(
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
            "before": found.before,
            "after": found.after,
            "whole": found.whole,
            "found": found.found,
            "alarms": found.alarms,
            "versus": found.versus,
        }
    )  # fmt: skip


def stack_names(text: str) -> list[str]:
    """Names of stacks between commas; commas inside [...] belong to the name. In the spelling that runs use."""
    from vaiven.plan import stack as names

    return [names.named(word.strip()).name for word in re.split(r",(?![^\[]*\])", text) if word.strip()]


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
    from vaiven.cli.link import believed
    from vaiven.store import query

    whole = claimed(run, believed(run, query.launches(run)))
    table = whole.filter(ask=ask)
    if table.is_empty():
        asked = ", ".join(sorted(whole["ask"].unique().to_list())) or "nothing: no launch has finished"
        raise VaivenError(
            f"the run {run.id} has no {ask}; it has {asked}", "compare runs of one question", "nothing-measured"
        )
    return _between_hosts(table, run, hosts)


def _between_hosts(table: Any, run: Run, hosts: Sequence[tuple[str, str]]) -> Any:
    """The rows between those hosts of the run, or all."""
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
    """The wanted stacks, all of which must be there, one without its side on every one; without a wish, all."""
    there = _stacks_of(table, run)
    found = [one for name in stacks for one in there if name in (one, one.partition("@")[0])]
    for name in stacks:
        if name not in there and not any(one.startswith(f"{name}@") for one in there):
            raise VaivenError(f"the run {run.id} has no {name}", f"it has {', '.join(there)}", code="no-stack")
    return found or there


Prepared = list[tuple["LaunchTimes", "LaunchTimes", tuple[int, ...]]]  # two sides, the sizes that no lab claims


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
        wanted += [(_rows(table, one), _rows(table, other)) for one, other in _opposed(keys, stacks)]
    if not wanted:
        raise VaivenError(
            f"the run {run.id} has no two stacks between the same hosts, nor one on two sides",
            "the warnings on its page say what failed",
            "too-few",
        )
    return _prepared(wanted, statistic, ask, same_blocks=True)


def _opposed(keys: Sequence[Key], stacks: Sequence[str]) -> Iterator[tuple[Key, Key]]:
    """Who is compared with whom: those that --stacks names with their sides as it names them; else every two stacks, or
    a stack on a later side with itself on an earlier one."""
    from vaiven.plan.stack import opposed

    for one, other in combinations(keys, 2):
        if any("@" in name for name in stacks):
            yield one, other
        elif opposed(one[2], other[2]):
            yield (other, one) if "@" in one[2] else (one, other)


def _between(
    runs: Sequence[Run], tables: Sequence[Any], stacks: Sequence[str], statistic: Statistic, ask: Question
) -> tuple[Prepared, list[str]]:
    """The later run first: it is what is judged."""
    before, after = tables
    chosen = [_chosen(table, run, stacks) for table, run in zip(tables, runs, strict=True)]
    stacks = chosen[1] if stacks else ()
    earlier, notes = _same_hosts(before, after)
    keys = [set(earlier), set(_distinct(after, "near", "far", "stack"))]
    common = [key for key in sorted(keys[0] & keys[1]) if not stacks or key[2] in stacks]
    order = {name: number for number, name in enumerate(stacks or _stacks_of(after, runs[1]))}
    common.sort(key=lambda key: (key[0], key[1], order[key[2]]))
    for side, (ours, theirs) in zip(_SIDES, (keys, keys[::-1]), strict=True):
        for name in sorted({key[2] for key in ours - theirs if not stacks or key[2] in stacks}):
            where = " between some hosts" if any(key[2] == name for key in theirs) else ""
            notes.append(f"only {side} has {name}{where}")
    if not common:
        raise VaivenError("the runs share no stack between the same hosts", "; ".join(notes), code="too-few")
    wanted = [(_rows(after, key, " (after)"), _rows(before, earlier[key], " (before)")) for key in common]
    prepared, more = _prepared(wanted, statistic, ask, same_blocks=False)
    return prepared, [*notes, *more]


def _same_hosts(before: Any, after: Any) -> tuple[dict[Key, Key], list[str]]:
    """(later run's key -> earlier run's, of what the earlier has): hosts by name, or one pair of each whatever its
    names."""
    (old, *others), (new, *more) = (_distinct(table, "near", "far") for table in (before, after))
    keys = _distinct(before, "near", "far", "stack")
    if old == new or others or more:
        return {key: key for key in keys}, []
    note = f"before was measured from {' to '.join(old)}, after from {' to '.join(new)}"
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
            one, other, unclaimed = _claimed(one, other)
            (one, other), few = _founded((one, other), statistic) if same_blocks else ((one, other), [])
            notes += few
            tables, dropped = _same_batches(one, other)
            first, second = (
                _times(rows, side, statistic, ask) for rows, side in zip(tables, (one, other), strict=True)
            )
            pairs.append((*matched(first, second, same_blocks), unclaimed))
            notes += dropped
        except VaivenError as error:
            refusals.append(error)
    if not pairs:
        raise refusals[0]
    return pairs, list(dict.fromkeys([*notes, *(f"not compared: {error.what}" for error in refusals)]))


def _claimed(one: Rows, other: Rows) -> tuple[Rows, Rows, tuple[int, ...]]:
    """Without the sizes of which the lab of either side claims nothing; and these."""
    from vaiven.model.numbers import size_text

    sides = (one, other)
    sizes = sorted({int(size) for table, _, _ in sides for size in table.filter(~table["claimed"])["size_bytes"]})
    kept = [(table.filter(~table["size_bytes"].is_in(sizes)), key, run) for table, key, run in sides]
    if any(table.is_empty() for table, _, _ in kept):
        names, where = " and ".join(f"{key[2]}{run}" for _, key, run in kept), ", ".join(map(size_text, sizes))
        raise VaivenError(
            f"the lab claims nothing of lone frames like those of {names} at {where}",
            "measure sizes of a full frame and more, or very short ones",
            code="not-claimed",
        )
    return kept[0], kept[1], tuple(sizes)


def _founded(sides: tuple[Rows, Rows], statistic: Statistic) -> tuple[tuple[Rows, Rows], list[str]]:
    """Without the cells that have too few messages to carry the statistic, and a note of them."""
    from vaiven.model.numbers import size_text
    from vaiven.stats.launches import messages_needed

    if statistic not in _SHARES:
        return sides, []
    needed = messages_needed(_SHARES[statistic])
    kept, notes = [], []
    for table, key, run in sides:
        few = table["count"] + table["lost"] < needed
        sizes = ", ".join(size_text(size) for size in sorted(set(table.filter(few)["size_bytes"])))
        text = f"{statistic} takes {needed} messages of a launch; {key[2]}{run} has fewer at {sizes}"
        if few.all():
            remedy = f"measure with samples = {needed}, and a cell_ms for so many, in the plan's [effort]"
            raise VaivenError(text, remedy, code="too-few-messages")
        kept.append((table.filter(~few), key, run))
        notes += [f"not compared: {text}"] if sizes else []
    return (kept[0], kept[1]), notes


def _times(rows: Any, side: Rows, statistic: Statistic, ask: Question) -> LaunchTimes:
    from dataclasses import replace

    from vaiven.model.times import Statistic as Statistics

    _, key, run = side
    times = launch_times(rows, key, Statistics[_STATISTICS[statistic]], ask)
    return replace(times, stack=f"{key[2]}{run}", unit="runs" if run else "launches")


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
    pairs: Prepared, rules: Rules, run: Run, statistic: Statistic, ask: Question, notes: Sequence[str]
) -> Comparison:
    """Stacks of one run, paired by block."""
    from vaiven.model.compare import compare_pairs
    from vaiven.report.findings import Comparison
    from vaiven.stats.planner import launches_to_reach

    matrix = compare_pairs([(first, second) for first, second, _ in pairs], True, rules)
    versus = _versus(pairs, matrix, run)
    launches = [min(verdict.evidence.launches) for verdict in matrix.verdicts]
    needed = launches_to_reach(rules.alpha, len(launches), True)
    return Comparison((run.id,), ask, statistic, rules, versus, needed, min(launches), tuple(notes))


def _judged_runs(
    pairs: Prepared, rules: Rules, earlier: Sequence[Run], later: Sequence[Run], statistic: Statistic, ask: Question,
    notes: Sequence[str],
) -> Comparison:  # fmt: skip
    """Runs of two sides, or one run against its history."""
    from vaiven.model.compare import compare_pairs, compare_run, side_by_side
    from vaiven.report.findings import Comparison
    from vaiven.stats.planner import launches_to_reach
    from vaiven.stats.runs import CHANGES, RUNS_MIN, found_share, own_alarms, whole_run, whole_sides

    times = [(first, second) for first, second, _ in pairs]
    sides = rules.unit == "runs"
    matrix = compare_pairs(times, False, rules) if sides else compare_run(times, rules)
    after, before = side_by_side(times)
    evidence = [verdict.evidence for verdict in matrix.verdicts]
    told = any(one.test.p is not None for one in evidence)
    return Comparison(
        runs=(earlier[-1].id, later[-1].id),
        ask=ask,
        statistic=statistic,
        rules=rules,
        versus=_versus(pairs, matrix, later[-1]),
        launches_needed=launches_to_reach(rules.alpha, len(evidence), False) if sides else RUNS_MIN,
        fewest=min(min(one.launches) if sides else one.launches[1] for one in evidence),
        notes=tuple(notes),
        before=tuple(run.id for run in earlier),
        after=tuple(run.id for run in later),
        whole=whole_sides(after, before, rules) if sides else whole_run(before, after[0], rules),
        found=() if sides or not told else tuple((one, found_share(evidence, one, rules)) for one in CHANGES),
        alarms=(0, 0) if sides else own_alarms(before, rules.alpha),
    )


def _versus(pairs: Prepared, matrix: Matrix, run: Run) -> tuple[Versus, ...]:
    import numpy as np

    from vaiven.model.compare import pp_points
    from vaiven.model.crossover import crossover
    from vaiven.model.gain import gain
    from vaiven.report.findings import Versus

    versus = []
    for (first, second, unclaimed), compared in zip(pairs, matrix.pairs, strict=True):
        curves = tuple(
            pp_points(x[np.isfinite(x)], y[np.isfinite(y)]) for x, y in zip(first.ns.T, second.ns.T, strict=True)
        )
        rng = np.random.default_rng(int(run.manifest.design.get("seed", 1)))
        met = crossover(compared, first, second, rng)
        gained = gain(first, second, rng, same_blocks=compared.paired)
        versus.append(Versus(first.near, first.far, compared, met, gained, unclaimed, curves))
    return tuple(versus)


def _differences(before: Run, after: Run) -> Iterator[str]:
    """What is not the same in two runs, and may be why their times are not."""
    of = {"link": _link, "place": _place, "calibration": _calibration, "TCP": _tcp, "vaiven": _version}
    for what, facts in of.items():
        old, new = facts(before), facts(after)
        if old != new:
            yield f"the runs differ in their {what}: {old}, then {new}"
    for side, run in zip(_SIDES, (before, after), strict=True):
        if run.state != "ended":
            yield f"the run {side} did not finish: what it had is compared"


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


def _calibration(run: Run) -> str:
    from vaiven.cli.footer import calibration

    return calibration(run.manifest.place) or "not known"


def _tcp(run: Run) -> str:
    from vaiven.cli.tcp import tcp_text

    return tcp_text(run) or "not known"


def _version(run: Run) -> str:
    return run.manifest.versions.get("vaiven", "not known")


def _slower(found: Comparison, stacks: Sequence[str]) -> list[tuple[Versus, tuple[int, ...]]]:
    """What is slower by more than the margin: the later run, or the later side; else the first of the named stacks."""
    sided = "@" in found.versus[0].compared.first and not any("@" in name for name in stacks)
    later = len(found.runs) == 2 or sided
    judged = [one for one in found.versus if later or not stacks or one.compared.first == stacks[0]]
    return [(one, where) for one in judged if (where := one.slower(found.rules.delta))]


def _fail(found: Comparison, slower: Sequence[tuple[Versus, tuple[int, ...]]]) -> None:
    from vaiven.cli.terminal import say
    from vaiven.report.verdicts import ranges

    for one, where in slower:
        text = ranges([int(size) for size in one.compared.sizes_bytes], where)
        say(f"vaiven: {one.compared.first} is slower than {one.compared.second} at {text}", sys.stderr)
    if found.slower_as_a_whole:
        say(f"vaiven: {next(between.summary(found))}", sys.stderr)
    if slower or found.slower_as_a_whole:
        sys.exit(Status.NO)
    if not found.could_tell:
        print(f"vaiven: {too_few_text(found)}", file=sys.stderr)
        sys.exit(Status.CANNOT_TELL)


def too_few_text(found: Comparison) -> str:
    """What a design that can call nothing is told."""
    from vaiven.stats.runs import ONE_EACH

    if found.before:
        missing = found.launches_needed - found.fewest
        wanted = (
            f"{missing} more runs of the plan as it was before are wanted" if missing > 0 else "its times do not vary"
        )
        return f"inconclusive: {ONE_EACH}; {wanted}"
    return (
        f"nothing could be called faster or slower: {found.fewest} launches; one lone difference among "
        f"{len(found.verdicts)} comparisons needs {found.launches_needed}, and launches that vary"
    )


def _print(found: Comparison, sizes: bool) -> None:
    from rich.text import Text

    from vaiven.cli.terminal import open_console
    from vaiven.report import verdicts

    console = open_console()
    for line in _runs_text(found):
        console.print(Text(line, style="dim"))
    for line in (*between.summary(found), *verdicts.summary(found)):
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


def _runs_text(found: Comparison) -> Iterator[str]:
    """Which runs they are."""
    if not found.before:
        yield f"run: {found.runs[0]}"
        return
    for side, runs in (("before", found.before), ("after", found.after)):
        yield f"{side}: {runs[0]}" if len(runs) == 1 else f"{side}: {len(runs)} runs, {runs[0]} to {runs[-1]}"
    if found.rules.unit == "runs":
        yield between.wanted_text(len(found.before), len(found.after), len(found.verdicts), found.rules.alpha)


def _style(cell: str) -> str:
    if cell.startswith(("(", "=")):
        return "dim"
    return {"+": "red", "−": "green", "?": "yellow"}.get(cell[:1], "dim")
