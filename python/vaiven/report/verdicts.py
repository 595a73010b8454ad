# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons -> words and tables: who is faster, where, by how much, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import exp

import numpy as np

from vaiven.model.gain import Gain
from vaiven.model.numbers import (
    DASH,
    change_interval_text,
    change_text,
    estimate_text,
    percent_text,
    ranges_text,
    size_text,
)
from vaiven.report.table import Column, Table, two_lines
from vaiven.results.comparison import Comparison, Versus
from vaiven.results.pairing import Contender
from vaiven.stats.arrays import Floats
from vaiven.stats.estimate import Estimate
from vaiven.stats.planner import launches_to_reach
from vaiven.stats.runs import PREDICTION, RUNS_ADVISED
from vaiven.stats.verdict import Verdict, Word
from vaiven.stats.welch import Welch

_SIZE = Column("size", "payload of one message")
_MARKS = {Word.EQUIVALENT: "=", Word.INCONCLUSIVE: "?"}


def summary(comparison: Comparison) -> tuple[str, ...]:
    """One sentence for each two sides: what a reader takes away in ten seconds."""
    several = len({one.pair for one in comparison}) > 1
    return tuple(f"{pair_prefix(one) if several else ''}{headline(one)}" for one in comparison)


def headline(one: Versus) -> str:
    """One sentence: the first against the second, by ranges of sizes, and where they change sides.

    A difference that is certain but within the margin counts as equivalent here; the matrix shows it.
    """
    first, second, verdicts = one.first, one.second, one.compared.verdicts
    words = [word for word in Word if any(_word(verdict) is word for verdict in verdicts)]
    if len(words) == 1:
        where = f"at {_sizes_text(one, words[0])}" if len(verdicts) == 1 else f"at all {len(verdicts)} sizes"
        return f"{_alone(first, second, words[0], verdicts)} {where}{_more(one)}."
    parts = [f"{word} at {_sizes_text(one, word)}{_by(word, _of(verdicts, word))}" for word in words]
    return f"{first} against {second}: {', '.join(parts)}{_more(one)}{_crossing(one)}."


def pair_prefix(one: Versus) -> str:
    return f"{one.near} → {one.far}: "


def whole_summary(found: Comparison) -> Iterator[str]:
    """What several runs say beyond their verdicts: the whole, and how much would be found."""
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


def wanted_text(first: int, second: int, cells: int, alpha: float) -> str:
    """How many runs are wanted for what."""
    lone, all_of_them = (launches_to_reach(alpha, count, paired=False) for count in (cells, 1))
    return (
        f"{first} and {second} runs: a change of all {cells} cells together takes {all_of_them} and {all_of_them}, "
        f"of one cell alone {lone} and {lone}; {RUNS_ADVISED} and {RUNS_ADVISED} find most changes of 5 %"
    )


def matrix_table(comparison: Comparison, pair: tuple[str, str]) -> Table:
    """One row per size, one column per two sides: by how much longer or shorter the first takes, and how sure."""
    versus = comparison.of_pair(pair)
    sizes = sorted({int(size) for one in versus for size in one.compared.sizes_bytes})
    columns = (_SIZE, *(Column(_column_name(one), "the first against the second") for one in versus))
    margin = comparison.rules.delta
    rows = tuple((size_text(size), *(mark(one.verdict(size), margin) for one in versus)) for size in sizes)
    notes = (
        "+24 %: slower, the first takes 24 % longer than the second; −19 %: faster; in brackets: different for "
        f"certain, but by no more than {100 * comparison.rules.delta:g} %; =: equivalent within that; ?: inconclusive.",
        method_text(comparison),
    )
    return Table(f"Verdicts, {pair[0]} → {pair[1]}", columns, rows, notes)


def mark(verdict: Verdict | None, margin: float) -> str:
    """A verdict as it stands in the matrix: in brackets if the change is no more than the margin."""
    if verdict is None:
        return DASH
    if not verdict.different:
        return _MARKS[verdict.word]
    ratio = verdict.evidence.ratio.number()
    change = ratio - 1
    small = abs(change) <= margin
    places = 0 if abs(change) >= 0.0995 else 1
    while not small and places < 4 and round(abs(change), places + 2) <= margin:  # 2.04 % is not shown as 2.0 %
        places += 1
    text = change_text(ratio, places)
    return f"({text})" if small else text


def method_text(comparison: Comparison) -> str:
    """How the verdicts came about, in one sentence."""
    rules, count = comparison.rules, len(comparison.verdicts)
    paired = all(one.compared.paired for one in comparison)
    how = "paired by block" if paired else "unpaired"
    if any(verdict.evidence.test.name == PREDICTION for verdict in comparison.verdicts):
        return (
            f"Prediction intervals from {len(comparison.before)} runs, of their {comparison.statistic} "
            f"({comparison.ask}): {100 * (1 - rules.alpha):g} % over all {count} cells together."
        )
    unit = comparison[0].compared.unit
    adjust = "Benjamini-Yekutieli" if rules.dependent else "Benjamini-Hochberg"
    return (
        f"Rank test of the {unit}' {comparison.statistic} ({comparison.ask}), {how}, at {100 * rules.alpha:g} % "
        f"after {adjust} over {count} comparison{'s' * (count != 1)}."
    )


def verdict_table(one: Versus) -> Table:
    """Everything behind the verdicts of two sides, one row per size."""
    columns = (
        _SIZE,
        Column("verdict", "of the first against the second", number=False),
        Column("time ratio", "first over second: Hodges-Lehmann, with the exact interval of the rank test"),
        Column("p", "of the rank test, adjusted for all comparisons made together"),
        Column("Welch at 1 %", "t test of log times: ratio of means and what it says; it decides nothing"),
        Column(
            "time saved, rate gained",
            "(t second − t first)/t second of the medians, 95 % interval; t second/t first − 1",
        ),
    )
    gains = dict(zip(map(int, one.gain.sizes_bytes), range(one.gain.sizes_bytes.size), strict=True))
    found = list(zip(map(int, one.compared.sizes_bytes), one.compared.verdicts, strict=True))
    rows = tuple(
        (size_text(size), *_row(verdict, one.compared.unit), _gain_text(one.gain, gains[size]))
        for size, verdict in found
    )
    caption = f"{pair_prefix(one)}{one.first} against {one.second}"
    return Table(caption, columns, rows, tuple(_verdict_notes(one)))


def _verdict_notes(one: Versus) -> Iterable[str]:
    counts = sorted({verdict.evidence.launches for verdict in one.compared.verdicts})
    least, most = (" and ".join(map(str, dict.fromkeys(count))) for count in (counts[0], counts[-1]))
    yield f"{one.compared.unit.capitalize()}: {least if least == most else f'{least} to {most}'}."
    sizes = [int(size) for size in one.compared.sizes_bytes]
    for why in dict.fromkeys(v.why for v in one.compared.verdicts if v.why and v.more_launches is None):
        where = [size for size, v in zip(sizes, one.compared.verdicts, strict=True) if v.why == why]
        yield f"{ranges_text(sizes, where)}: {why}."
    if one.gain.refused:
        yield f"No interval of the gain: {one.gain.refused}."
    if one.compared.whole is not None and one.compared.whole.p is not None:
        yield f"All sizes together, one test of the mean log ratio of each block: p = {_p_text(one.compared.whole.p)}."
    yield crossing_text(one)


def crossing_text(one: Versus) -> str:
    """Where the two sides change places, by their verdicts."""
    size, where = one.crossover.size, _between(one.crossover.between)
    if size.known:
        return f"They change places at {estimate_text(size)}, between {where}."
    return f"No crossover: {size.refused}{f', between {where}' if where else ''}."


def crossover_table(versus: Sequence[Versus]) -> Table:
    """Two sides that change places: between which sizes for certain, and where the curves meet there."""
    columns = (
        Column("first", number=False),
        Column("second", number=False),
        Column("the verdict turns between", "from faster to slower or back, neighbouring certain sizes", number=False),
        Column("the curves meet at", "straight between measured sizes, 95 % interval over launches"),
    )
    rows = []
    for one in versus:
        where = one.crossover.between
        if where:
            at = two_lines(estimate_text(one.crossover.size))
            rows.append((str(one.first), str(one.second), _between(where), at))
    return Table("Where one overtakes the other", columns, tuple(rows))


def race_table(one: Versus) -> Table:
    """The numbers of the P-P figure: how often a launch of the first side is done before one of the second."""
    columns = (
        _SIZE,
        Column("done first", f"of all pairs of {one.compared.unit}, those in which {one.first} is faster"),
    )
    found = zip(one.compared.sizes_bytes, one.pp, strict=True)
    rows = tuple((size_text(int(size)), percent_text(first_wins(*curve))) for size, curve in found)
    caption = f"{one.first} before {one.second}"
    return Table(caption, columns, rows, ("50 %: neither; 100 %: each of the first before each of the second.",))


def first_wins(first: Floats, second: Floats) -> float:
    """The area under a P-P curve: the chance that the first side takes less time, ties counted half."""
    x, y = (np.concatenate(([0.0], side)) for side in (first, second))
    return float(np.sum((x[1:] + x[:-1]) / 2 * np.diff(y)))


def _between(where: Iterable[tuple[int, int]]) -> str:
    return ", ".join(f"{size_text(low)} and {size_text(high)}" for low, high in where)


def _column_name(one: Versus) -> str:
    """The two stacks; the stack alone where it is compared with itself of earlier runs."""
    return one.first.stack if one.first.side and one.first.stack == one.second.stack else f"{one.first} / {one.second}"


def _word(verdict: Verdict) -> Word:
    return Word.EQUIVALENT if verdict.negligible else verdict.word


def _sizes_text(one: Versus, word: Word) -> str:
    sizes = [int(size) for size in one.compared.sizes_bytes]
    found = zip(sizes, one.compared.verdicts, strict=True)
    return ranges_text(sizes, [size for size, verdict in found if _word(verdict) is word])


def _of(verdicts: Sequence[Verdict], word: Word) -> list[Verdict]:
    return [verdict for verdict in verdicts if _word(verdict) is word]


def _alone(first: Contender, second: Contender, word: Word, verdicts: Sequence[Verdict]) -> str:
    """The sentence for two sides that have one word at every size."""
    if word is Word.EQUIVALENT:
        return f"{first} and {second} are equivalent"
    if word is Word.INCONCLUSIVE:
        return f"{first} against {second} is inconclusive"
    return f"{first} is {word} than {second}{_by(word, verdicts, brackets=False)}"


def _by(word: Word, verdicts: Sequence[Verdict], brackets: bool = True) -> str:
    """By how much: the range of the effects."""
    if word not in (Word.FASTER, Word.SLOWER):
        return ""
    changes = sorted(abs(verdict.evidence.ratio.number() - 1) for verdict in verdicts)
    low, high = percent_text(changes[0]), percent_text(changes[-1])
    text = f"by {high}" if low == high else f"by {low.removesuffix(' %')} to {high}"
    return f" ({text})" if brackets else f" {text}"


def _more(one: Versus) -> str:
    """What would settle the inconclusive ones, or why nothing would."""
    open_ones = _of(one.compared.verdicts, Word.INCONCLUSIVE)
    more = [verdict.more_launches for verdict in open_ones if verdict.more_launches is not None]
    if more:
        return f" (some {max(more)} more {one.compared.unit})"
    return f" ({open_ones[0].why})" if open_ones else ""


def _crossing(one: Versus) -> str:
    size = one.crossover.size
    return f"; they change places at {estimate_text(size)}" if size.known else ""


def _row(verdict: Verdict, unit: str) -> tuple[str, ...]:
    evidence = verdict.evidence
    below = "within margin" if verdict.negligible else ""
    if verdict.more_launches is not None:
        below = f"+{verdict.more_launches} {unit}"
    return (
        f"{verdict.word}\n{below}" if below else str(verdict.word),
        _ratio_text(evidence.ratio),
        DASH if verdict.p_adjusted is None else _p_text(verdict.p_adjusted),
        _welch_text(evidence.welch),
    )


def _ratio_text(ratio: Estimate) -> str:
    if ratio.value is None or ratio.low is None or ratio.high is None:
        return DASH
    return _three(ratio.value, ratio.low, ratio.high)


def _welch_text(welch: Welch) -> str:
    if welch.p is None or welch.difference is None or welch.low is None or welch.high is None:
        return DASH
    word = ("faster" if welch.difference < 0 else "slower") if welch.p <= 1 - welch.level else "unsure"
    return _three(exp(welch.difference), exp(welch.low), exp(welch.high), word)


def _three(ratio: float, low: float, high: float, word: str = "") -> str:
    """A ratio and its interval, with enough decimals to differ from 1."""
    places = 3 if abs(ratio - 1) >= 0.005 else 4 if abs(ratio - 1) >= 0.0005 else 5
    return f"{f'{ratio:.{places}f} {word}'.strip()}\n[{low:.{places}f}, {high:.{places}f}]"


def _p_text(p: float) -> str:
    return "<.0001" if p < 1e-4 else f"{p:.4f}".lstrip("0") if p < 1 else "1"


def _gain_text(gain: Gain, at: int) -> str:
    """Time saved, rate gained, and the interval of the time saved, at one size."""
    text = f"{percent_text(gain.time[at])}, {percent_text(gain.rate[at])}"
    between = f"[{percent_text(gain.time_low[at])}, {percent_text(gain.time_high[at])}]".replace(" %,", ",")
    return text if DASH in between else f"{text}\n{between}"
