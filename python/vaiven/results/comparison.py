# SPDX-License-Identifier: BSD-3-Clause
"""Is one stack faster than another, or are later runs than earlier ones? Verdicts that are judged together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from vaiven.errors import VaivenError
from vaiven.model.compare import Compared, Matrix, compare_pairs, compare_run, pp_points, side_by_side
from vaiven.model.crossover import Crossover, crossover
from vaiven.model.gain import Gain, gain
from vaiven.results import between, pairing, rows
from vaiven.results.between import Side
from vaiven.results.facts import calibration_text
from vaiven.results.names import StatisticWord
from vaiven.results.pairing import SIDES, Asked, Contender, Prepared
from vaiven.results.result import Result, columns, estimate, flag, integer, number, numbers, text
from vaiven.results.tcp import tcp_text
from vaiven.stats.arrays import Floats
from vaiven.stats.planner import launches_to_reach
from vaiven.stats.runs import CHANGES, RUNS_MIN, Whole, found_share, own_alarms, whole_run, whole_sides
from vaiven.stats.verdict import Evidence, Rules, Verdict, Word
from vaiven.store.query import Run
from vaiven.store.record import LinkRecord

MARGIN, ALPHA = Rules().delta, Rules().alpha


@dataclass(frozen=True, eq=False, kw_only=True)
class Versus:
    """One against the other between two hosts: two stacks of a run, or one stack on two sides of runs.

    gain: of the first over the second.
    pp: for each size of `compared`, the P-P curve of both sides' launch times, (shares of the first, shares of the
    second) that are at most t, for every t.
    """

    near: str
    far: str
    first: Contender
    second: Contender
    compared: Compared
    crossover: Crossover
    gain: Gain
    pp: tuple[tuple[Floats, Floats], ...]

    @property
    def pair(self) -> tuple[str, str]:
        return (self.near, self.far)

    def verdict(self, size_bytes: int) -> Verdict | None:
        found = zip(self.compared.sizes_bytes, self.compared.verdicts, strict=True)
        return next((verdict for size, verdict in found if size == size_bytes), None)

    def slower(self, margin: float) -> tuple[int, ...]:
        """The sizes at which the first is slower for certain, and by more than the margin."""
        found = zip(self.compared.sizes_bytes, self.compared.verdicts, strict=True)
        return tuple(
            int(size)
            for size, verdict in found
            if verdict.word is Word.SLOWER and not verdict.negligible and verdict.evidence.ratio.number() > 1 + margin
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeVersus:
    """One size of two. at: its place in what is compared. margin: what counts as the same."""

    of: Versus
    size_bytes: int
    at: int
    margin: float

    @property
    def verdict(self) -> Verdict:
        return self.of.compared.verdicts[self.at]

    @property
    def evidence(self) -> Evidence:
        return self.verdict.evidence

    @property
    def beyond(self) -> bool:
        """Whether the difference is certain, and more than the margin."""
        if not self.verdict.different or self.verdict.negligible:
            return False
        ratio = self.evidence.ratio.number()
        return ratio > 1 + self.margin or ratio < 1 / (1 + self.margin)

    def gained(self, name: str) -> float | None:
        """Of Gain, its array of that name."""
        sizes = self.of.gain.sizes_bytes.tolist()
        return float(getattr(self.of.gain, name)[sizes.index(self.size_bytes)]) if self.size_bytes in sizes else None

    def raced(self, which: int) -> Sequence[float]:
        found: list[float] = self.of.pp[self.at][which].tolist()
        return found


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Comparison(Result[Versus]):
    """Verdicts that were judged together, one row per pair of hosts, two stacks (or one on two sides) and size.

    ask, statistic: what is compared. runs: one; or the earlier and the later; or the last ones of two sides of several.
    launches_needed: so many of each side could tell one lone difference from chance; fewest: what the poorest
    comparison has. notes: sentences on what was not compared, and on what differs between runs.
    Between runs, of which each is one value: before: those of the earlier side, or the history of the earlier run,
    oldest first; after: those of the later. whole: what all cells together say. found: (change, the share of the cells
    in which it would be found), of one run against a history. alarms: how many runs of that history its others would
    call different, of how many.
    """

    kind: ClassVar[str] = "comparison"
    columns: ClassVar = columns(
        text("near", "the host that keeps the clock", lambda row: row.of.near),
        text("far", "the host that answers", lambda row: row.of.far),
        text("first", "the stack that is judged", lambda row: row.of.first.stack),
        text("first_side", "between runs: after; of one run empty", lambda row: row.of.first.side),
        text("second", "the stack that it is held against", lambda row: row.of.second.stack),
        text("second_side", "between runs: before; of one run empty", lambda row: row.of.second.side),
        integer("size_bytes", "payload of a message; of a connection 0", lambda row: row.size_bytes),
        text("verdict", "of the first: faster, slower, equivalent, inconclusive",
             lambda row: row.verdict.word.value),
        estimate("ratio", "", "time of the first over that of the second (Hodges-Lehmann), at the level 1 - alpha",
                 lambda row: row.evidence.ratio),
        flag("beyond_margin", "faster or slower for certain, and by more than the margin", lambda row: row.beyond),
        flag("negligible", "different for certain, but by no more than the margin",
             lambda row: row.verdict.negligible),
        number("p", "of the test alone", lambda row: row.evidence.test.p),
        number("p_adjusted", "of the test among all that were judged together", lambda row: row.verdict.p_adjusted),
        text("test", "its name", lambda row: row.evidence.test.name),
        integer("more_launches", "how many more of each would likely settle an inconclusive one",
                lambda row: row.verdict.more_launches),
        text("why", "why it is inconclusive, if more would not settle it", lambda row: row.verdict.why),
        integer("first_launches", "launches, or runs, of the first",
                lambda row: row.evidence.launches[0]),
        integer("second_launches", "and of the second",
                lambda row: row.evidence.launches[1]),
        number("p_faster", "of all pairs of launches, the share in which that of the first is faster",
               lambda row: row.evidence.p_faster),
        number("welch_p", "of Welch's test of log times, which decides nothing",
               lambda row: row.evidence.welch.p),
        number("time_saved", "(second - first)/second, of medians", lambda row: row.gained("time")),
        number("time_saved_low", "the low end of its interval", lambda row: row.gained("time_low")),
        number("time_saved_high", "the high end of its interval", lambda row: row.gained("time_high")),
        number("rate_gained", "second/first - 1", lambda row: row.gained("rate")),
        numbers("pp_first", "the P-P curve: shares of the launches of the first that take at most t, for every t",
                lambda row: row.raced(0)),
        numbers("pp_second", "and of the second", lambda row: row.raced(1)),
    )  # fmt: skip

    ask: str
    statistic: StatisticWord
    rules: Rules
    launches_needed: int
    fewest: int
    notes: tuple[str, ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    whole: Whole | None = None
    found: tuple[tuple[float, float], ...] = ()
    alarms: tuple[int, int] = (0, 0)

    def rows(self) -> Iterable[SizeVersus]:
        for one in self:
            for at, size in enumerate(one.compared.sizes_bytes):
                yield SizeVersus(of=one, size_bytes=int(size), at=at, margin=self.rules.delta)

    def facts(self) -> dict[str, Any]:
        return {
            "ask": self.ask,
            "statistic": self.statistic,
            "rules": {"alpha": self.rules.alpha, "margin": self.rules.delta, "repeated": self.rules.unit},
            "could_tell": self.could_tell,
            "launches_needed": self.launches_needed,
            "notes": self.notes,
            "before": self.before,
            "after": self.after,
            "whole": None if self.whole is None else {
                "verdict": self.whole.word(self.rules).value, "ratio": self.whole.ratio.value,
                "ratio_low": self.whole.ratio.low, "ratio_high": self.whole.ratio.high, "p": self.whole.p,
                "refused": self.whole.ratio.refused,
            },
            "would_find": [{"change": change, "share_of_cells": share} for change, share in self.found],
            "own_alarms": {"runs": self.alarms[1], "called_different": self.alarms[0]},
        }  # fmt: skip

    @property
    def slower_as_a_whole(self) -> bool:
        """Whether the later side is slower for certain, and by more than the margin, in all that its cells share."""
        if self.whole is None or self.whole.word(self.rules) is not Word.SLOWER:
            return False
        return self.whole.ratio.number() > 1 + self.rules.delta

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        return tuple(verdict for one in self for verdict in one.compared.verdicts)

    @property
    def could_tell(self) -> bool:
        """Whether any verdict at all could have been "faster" or "slower" with so many launches."""
        tests = [verdict.evidence.test for verdict in self.verdicts]
        return any(test.p is not None and test.p_least <= self.rules.alpha for test in tests)

    def of_pair(self, pair: tuple[str, str]) -> tuple[Versus, ...]:
        return tuple(one for one in self if one.pair == pair)


def comparison(
    runs: Sequence[Run], asked: Asked | None = None, rules: Rules | None = None, root: Path | None = None
) -> Comparison:
    """Every two stacks of one run, or every stack that two runs share, judged together.

    root: where the history of the earlier of two runs is looked for; without it there is none.

    Raises VaivenError: "same-run", "nothing-measured", "no-stack", "no-pair", "too-few" (nothing to compare),
    "different-kind" (batches), "too-few-messages" (for that statistic), "no-common-size", "no-common-block".
    """
    asked, rules = asked or Asked(), rules or Rules()
    if len(runs) == 2 and runs[0].id == runs[1].id:
        raise VaivenError("the same run twice", "`vaiven compare RUN` compares its stacks", code="same-run")
    if len(runs) == 1:
        return _judged(*pairing.of_run(runs[0], asked), rules, runs[0], asked)
    earlier, later = runs
    history, left_out = between.history_of(earlier, later, root) if root else ([earlier], [])
    before = between.side(history, asked.column, left_out, required=runs)
    return _against(before, between.side([later], asked.column, required=runs), asked, rules)


def rules(margin: float, alpha: float) -> Rules:
    """What decides. Raises VaivenError ("bad-value") for what is no share."""
    for name, value in (("margin", margin), ("alpha", alpha)):
        if not 0 < value < 0.5:
            raise VaivenError(f"{name} {value:g}", "a share above 0 and below 0.5: 0.02 is 2 %", code="bad-value")
    return Rules(alpha=alpha, delta=margin)


def sides_compared(before: Side, after: Side, asked: Asked | None = None, rules: Rules | None = None) -> Comparison:
    """Every stack that the runs of both sides share. Raises as `comparison`, and "too-few-runs"."""
    rules = replace(rules or Rules(), unit="runs")
    between.require_sides(before.runs, after.runs, rules)
    return _against(before, after, asked or Asked(), rules)


def _against(before: Side, after: Side, asked: Asked, rules: Rules) -> Comparison:
    """The later runs, or the one, against the earlier ones: each row is a run."""
    tables = between.table_of(before, asked.ask), between.table_of(after, asked.ask)
    last = (before.runs[-1], after.runs[-1])
    pairs, more = pairing.of_sides(last, tables, asked)
    notes = [*_differences(*last), *before.notes, *after.notes, *between.notes(before, after, tables[0]), *more]
    return _judged_runs(pairs, notes, rules, before.runs, after.runs, asked)


def _judged(pairs: Sequence[Prepared], notes: Sequence[str], rules: Rules, run: Run, asked: Asked) -> Comparison:
    """Stacks of one run, paired by block."""
    matrix = compare_pairs([one.times for one in pairs], True, rules)
    launches = [min(verdict.evidence.launches) for verdict in matrix.verdicts]
    return Comparison(
        runs=(run.id,),
        items=_versus(pairs, matrix, run),
        ask=asked.ask,
        statistic=asked.statistic,
        rules=rules,
        launches_needed=launches_to_reach(rules.alpha, len(launches), True),
        fewest=min(launches),
        notes=tuple(notes),
    )


def _judged_runs(
    pairs: Sequence[Prepared], notes: Sequence[str], rules: Rules, earlier: Sequence[Run], later: Sequence[Run],
    asked: Asked,
) -> Comparison:  # fmt: skip
    """Runs of two sides, or one run against its history."""
    times = [one.times for one in pairs]
    sides = rules.unit == "runs"
    matrix = compare_pairs(times, False, rules) if sides else compare_run(times, rules)
    after, before = side_by_side(times)
    evidence = [verdict.evidence for verdict in matrix.verdicts]
    told = any(one.test.p is not None for one in evidence)
    return Comparison(
        runs=(earlier[-1].id, later[-1].id),
        items=_versus(pairs, matrix, later[-1]),
        ask=asked.ask,
        statistic=asked.statistic,
        rules=rules,
        launches_needed=launches_to_reach(rules.alpha, len(evidence), False) if sides else RUNS_MIN,
        fewest=min(min(one.launches) if sides else one.launches[1] for one in evidence),
        notes=tuple(notes),
        before=tuple(run.id for run in earlier),
        after=tuple(run.id for run in later),
        whole=whole_sides(after, before, rules) if sides else whole_run(before, after[0], rules),
        found=() if sides or not told else tuple((one, found_share(evidence, one, rules)) for one in CHANGES),
        alarms=(0, 0) if sides else own_alarms(before, rules.alpha),
    )


def _versus(pairs: Sequence[Prepared], matrix: Matrix, run: Run) -> tuple[Versus, ...]:
    versus = []
    for one, compared in zip(pairs, matrix.pairs, strict=True):
        first, second = one.times
        curves = tuple(
            pp_points(x[np.isfinite(x)], y[np.isfinite(y)]) for x, y in zip(first.ns.T, second.ns.T, strict=True)
        )
        rng = np.random.default_rng(rows.seed_of(run))
        met = crossover(compared, first, second, rng)
        gained = gain(first, second, rng, same_blocks=compared.paired)
        versus.append(
            Versus(near=one.near, far=one.far, first=one.first, second=one.second, compared=compared, crossover=met,
                   gain=gained, pp=curves)
        )  # fmt: skip
    return tuple(versus)


def _differences(before: Run, after: Run) -> Iterator[str]:
    """What is not the same in two runs, and may be why their times are not."""
    of = {"link": _link, "place": _place, "calibration": _calibration, "TCP": _tcp, "vaiven": _version}
    for what, facts in of.items():
        old, new = facts(before), facts(after)
        if old != new:
            yield f"the runs differ in their {what}: {old}, then {new}"
    for side, run in zip(SIDES, (before, after), strict=True):
        if run.state != "ended":
            yield f"the run {side} did not finish: what it had is compared"


def _link(run: Run) -> str:
    link = run.manifest.link or LinkRecord()
    rate = f"{link.rate_bps / 1e6:g} Mb/s" if link.rate_bps else "rate not known"
    parts = (rate, f"{link.hops} links" if link.hops else "", f"MTU {link.mtu_bytes or 'not known'}")
    return " ".join(filter(None, parts))


def _place(run: Run) -> str:
    lab = run.manifest.lab
    if lab is None:
        return "real hosts"
    fabric = lab.get("fabric", {})
    return f"lab {lab.get('name', '')} ({fabric.get('kind', '')}, {fabric.get('class', '')})"


def _calibration(run: Run) -> str:
    return calibration_text(run.manifest.calibration) or "not known"


def _tcp(run: Run) -> str:
    return tcp_text(run) or "not known"


def _version(run: Run) -> str:
    return run.manifest.versions.get("vaiven", "not known")
