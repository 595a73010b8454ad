# SPDX-License-Identifier: BSD-3-Clause
"""Verdicts on published results in words: what a table of the terminal and a page say of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from vaiven.papers.closest import Closest
    from vaiven.papers.judge import Candidate, Verdict
    from vaiven.plan.schema import LengthName
    from vaiven.report.published import Paper, Result
    from vaiven.stats.estimate import Estimate

    Plans = Mapping[str, tuple[str, LengthName]]  # by the id of a claim, as lengths.settling has them


def word_text(one: Verdict) -> str:
    """The verdict; one that speaks of hosts that a lab makes slow or defective says so."""
    from vaiven.papers.judge import TOLD

    return f"{one.word} (of a model)" if one.models and one.word in TOLD else str(one.word)


def printed_text(one: Verdict) -> str:
    """The number of the paper, and what it must have been; "" where it has none."""
    if not one.claim.value:
        return ""
    printed = f"{one.claim.value} {one.claim.unit}".strip()
    return f"{printed}{f', meant: {one.claim.corrected}' if one.claim.corrected else ''}"


def measured_text(closest: Closest | None) -> str:
    """What was measured on both sides of the comparison that decides, and which that is; "" where there is none."""
    if closest is None:
        return ""
    sides = " against ".join(_side_text(side) for side in (closest.left, closest.right))
    return f"{sides}: {closest.text}"


def plan_text(id: str, plans: Plans) -> str:
    """How to measure what settles a claim; "" where no ready plan does on this machine."""
    if id not in plans:
        return ""
    names, length = plans[id]
    return " && ".join(
        f"vaiven measure {name}{f' --length {length}' if length != 'full' else ''}" for name in names.split(" and ")
    )


def page(verdicts: Sequence[Verdict], candidates: Sequence[Candidate], plans: Plans) -> str:
    """The HTML page of all that."""
    from vaiven.papers.claims import papers
    from vaiven.papers.figures import draw, figures
    from vaiven.report.published import Paper, Picture, published_page

    drawn = [draw(figure, candidates) for figure in figures()]
    found: list[Paper] = []
    for letter, paper in papers().items():
        of_paper = tuple(result(one, plans) for one in verdicts if one.claim.paper == letter)
        cited = {name for one in of_paper for name in one.figure.split(", ")}
        pictures = tuple(
            Picture(one.figure.name, one.figure.title, one.chart, one.missing)
            for one in drawn
            if one.figure.paper == letter and cited & set(one.figure.numbers)
        )
        if of_paper:
            found.append(Paper(letter, paper.title, paper.language, of_paper, pictures))
    return published_page(found, sorted({run for one in verdicts for run in one.runs}))


def result(one: Verdict, plans: Plans) -> Result:
    """What a page says of a verdict."""
    from vaiven.report.published import Result

    claim = one.claim
    facts = tuple((heading, text) for heading, text in _facts(one, plan_text(claim.id, plans)) if text)
    return Result(
        claim.id, word_text(one), claim.says, claim.figure, printed_text(one), measured_text(one.closest),
        _rests_text(one), facts,
    )  # fmt: skip


def _facts(one: Verdict, plan: str) -> Iterator[tuple[str, str]]:
    from vaiven.papers.claims import today

    claim = one.claim
    yield "why not told", one.interval.refused
    yield "of a model", f"{', '.join(one.models)} are slow, or have a defect, as the lab makes them" * bool(one.models)
    yield "where the paper erred" if claim.corrected else "note", claim.note
    yield "today", today().get(claim.id, "")
    whose = {"published": "its numbers are the paper's", "ours": "numbers that the paper does not print are ours"}
    yield "inequality", f"{claim.check} ({whose[claim.tolerance]})" if claim.tolerance else ""
    yield "not tested", claim.left_out
    yield "measured by", plan
    yield "judged on", ", ".join(one.runs)
    yield "stands in", f"line {claim.line} of the text"


def _rests_text(one: Verdict) -> str:
    """What the verdict rests on: margin, interval, p."""
    from vaiven.model.numbers import digits

    if one.margin is None or one.interval.low is None or one.interval.high is None:
        return ""
    if one.claim.kind == "fact":
        return "a fact: it is so, or is not"
    text = f"margin {digits(one.margin)} [{digits(one.interval.low)}, {digits(one.interval.high)}]"
    return text if one.p_adjusted is None else f"{text}; p = {one.p_adjusted:.2g}, adjusted for all that were tested"


def _side_text(side: Estimate) -> str:
    """A number with its unit, and its interval where that has a width."""
    from vaiven.model.numbers import DASH, digits, estimate_text, rate_text, time_text

    if side.value is None or side.low is None or side.high is None:
        return DASH
    if side.low < side.high:
        ends = f"[{digits(side.low)}, {digits(side.high)}]"
        return estimate_text(side) if side.unit else f"{digits(side.value)} {ends}"
    texts = {"ns": time_text, "byte/s": rate_text}
    return texts[side.unit](side.value) if side.unit in texts else f"{digits(side.value)} {side.unit}".strip()
