# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven compare`: is one stack faster than another, or later runs than earlier ones? Words first, then numbers."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from vaiven.cli.parameters import Json, Runs, pair_of_hosts, stack_names
from vaiven.cli.status import Status
from vaiven.cli.terminal import rich_table
from vaiven.errors import VaivenError
from vaiven.questions import PLAIN, Compared
from vaiven.results.names import StatisticWord

if TYPE_CHECKING:
    from vaiven.results.comparison import Comparison, Versus

Slower = Sequence[tuple["Versus", tuple[int, ...]]]  # and the sizes at which it is


def compare(
    *names: str,
    earlier: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    later: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    stacks: str = "",
    pair: str = "",
    ask: Compared = PLAIN,
    statistic: StatisticWord = "median",
    margin: float = 0.02,
    alpha: float = 0.01,
    by_size: bool = False,
    fail_if_slower: bool = False,
    junit: Path | None = None,
    as_json: Json = False,
    runs: Runs = None,
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
    earlier
        Several runs that were measured before something changed, instead of names.
    later
        And those that were measured after it.
    stacks
        Stacks, with commas between; only these: the first is compared with the others, and so on. Of a run with sides
        tcp is all of its sides, tcp@after one.
    pair
        Two hosts, NEAR,FAR; only what is between them.
    ask
        The question whose answers are shown.
    statistic
        Which number stands for a launch; p95 takes 100 messages of a launch, p99 takes 500.
    margin
        What counts as the same: 0.02 is 2 % more or less.
    alpha
        How often a difference may be called that is none, among those called: 0.01 is 1 %.
    by_size
        Also every size; everything behind each verdict: ratio, p, Welch's test, gain, launches, how often one side's
        launch is done before the other's.
    fail_if_slower
        End with status 3 when the later run or side (else the first of --stacks) is slower at any size, by more than
        the margin.
    junit
        Also write the verdicts to this file as JUnit XML: what --fail-if-slower is about has failed.
    as_json
        One JSON document instead: all of it, with the P-P curves of the launches.
    """
    from vaiven.results import between, comparison
    from vaiven.results.pairing import Asked
    from vaiven.store import query

    if len(names) > 2:
        last = shlex.join(names[-2:])
        raise VaivenError(
            f"{len(names)} runs were named, and two can be compared",
            f"the last two: vaiven compare {last}; or sides of several: --earlier RUN... --later RUN...",
            "usage",
        )
    if (earlier or later) and (names or not (earlier and later)):
        raise VaivenError("both sides are wanted", "vaiven compare --earlier RUN... --later RUN...", code="usage")
    root, wanted = runs or query.root(), stack_names(stacks)
    asked = Asked(stacks=wanted, hosts=pair_of_hosts(pair), ask=ask, statistic=statistic)
    rules = comparison.rules(margin, alpha)
    if earlier:
        before, after = (between.named(names, root, asked.column) for names in (earlier, later))
        found = comparison.sides_compared(before, after, asked, rules)
    else:
        given = [query.find(name, root) for name in names or ("last",)]
        if fail_if_slower and len(given) == 1 and len(wanted) < 2 and not given[0].manifest.plan.get("sides"):
            raise VaivenError("which stack must not be slower?", "--stacks OURS,OTHER names it first", code="bad-value")
        found = comparison.comparison(given, asked, rules, root)
    slower = _slower(found, wanted)
    if as_json:
        print(found.to_json())
    else:
        _print(found, by_size)
    if junit:
        _write_junit(found, slower, junit)
    if fail_if_slower:
        _fail(found, slower)


def _slower(found: Comparison, stacks: Sequence[str]) -> Slower:
    """What is slower by more than the margin: the later run, or the later side; else the first of the named stacks."""
    sided = "@" in found[0].first.stack and not any("@" in name for name in stacks)
    later = len(found.runs) == 2 or sided
    judged = [one for one in found if later or not stacks or one.first.stack == stacks[0]]
    return [(one, where) for one in judged if (where := one.slower(found.rules.delta))]


def _write_junit(found: Comparison, slower: Slower, output: Path) -> None:
    from vaiven.cli.terminal import say
    from vaiven.report import junit

    text = junit.document(found, dict(slower), "" if found.could_tell else too_few_text(found))
    say(str(junit.write(text, output)), sys.stderr)


def _fail(found: Comparison, slower: Slower) -> None:
    from vaiven.cli.terminal import say
    from vaiven.model.numbers import ranges_text
    from vaiven.report.verdicts import whole_summary

    for one, where in slower:
        text = ranges_text([int(size) for size in one.compared.sizes_bytes], where)
        say(f"vaiven: {one.first} is slower than {one.second} at {text}", sys.stderr)
    if found.slower_as_a_whole:
        say(f"vaiven: {next(whole_summary(found))}", sys.stderr)
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


def _print(found: Comparison, by_size: bool) -> None:
    from rich.text import Text

    from vaiven.cli.terminal import open_console
    from vaiven.report import verdicts

    console = open_console()
    for line in _runs_text(found):
        console.print(Text(line, style="dim"), soft_wrap=True)  # an id will be copied: it stays in one line
    if found.before and found.rules.unit == "runs":
        sides = len(found.before), len(found.after)
        console.print(Text(verdicts.wanted_text(*sides, len(found.verdicts), found.rules.alpha), style="dim"))
    for line in (*verdicts.whole_summary(found), *verdicts.summary(found)):
        console.print(Text(f"• {line}"))
    for note in (*([] if found.could_tell else [too_few_text(found)]), *found.notes):
        console.print(Text(f"! {note}", style="yellow"))
    console.print()
    for pair in dict.fromkeys(one.pair for one in found):
        console.print(rich_table(verdicts.matrix_table(found, pair), _style))
    if by_size or len(found) == 1:
        for one in found:
            console.print(rich_table(verdicts.verdict_table(one)))
            if by_size:
                console.print(rich_table(verdicts.race_table(one)))


def _runs_text(found: Comparison) -> Iterator[str]:
    """Which runs they are."""
    if not found.before:
        yield f"run: {found.runs[0]}"
        return
    for side, runs in (("earlier", found.before), ("later", found.after)):
        yield f"{side}: {runs[0]}" if len(runs) == 1 else f"{side}: {len(runs)} runs, {runs[0]}"
        if len(runs) > 1:
            yield f"  to {runs[-1]}"


def _style(cell: str) -> str:
    if cell.startswith(("(", "=")):
        return "dim"
    return {"+": "red", "−": "green", "?": "yellow"}.get(cell[:1], "dim")
