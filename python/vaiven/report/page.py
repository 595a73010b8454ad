# SPDX-License-Identifier: BSD-3-Clause
"""Findings -> the page of one run: the answer in words, tables, figures, how to repeat it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from vaiven import questions
from vaiven.model.ladder import Ladder
from vaiven.model.numbers import bits_text, count_text, duration_text, rate_text, several_text, size_text, time_text
from vaiven.plot.curves import Curve, Distribution, HostMap, Layer, Residuals, Staircase
from vaiven.plot.interactive import (
    distribution_figure,
    host_figure,
    ladder_figure,
    rate_figure,
    ratio_figure,
    residual_figure,
    time_figure,
)
from vaiven.report.costs import (
    cost_table,
    curve_table,
    distribution_table,
    host_table,
    knee_table,
    ladder_table,
    loggp_table,
    measured_table,
    off_line,
    overhead_table,
    papers_table,
    ratio_table,
    residual_table,
    size_table,
)
from vaiven.report.html import document, picture
from vaiven.report.outcome import lost_text
from vaiven.report.staircase import staircase
from vaiven.report.table import Column, Table
from vaiven.report.verdicts import crossover_table, headline, matrix_table, verdict_table
from vaiven.report.views import tables
from vaiven.report.widget import SIZES_DRAWN_MAX, Choice, Section, Widget
from vaiven.report.words import answer, where
from vaiven.results.costs import StackCost, knees_in
from vaiven.results.facts import Facts
from vaiven.results.findings import Findings, Pair
from vaiven.results.result import Result
from vaiven.results.sentinel import Sentinel
from vaiven.results.warnings import Notice
from vaiven.stats.arrays import spread_out


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Who is faster between two hosts. says: one sentence for each two stacks. crossovers: without rows if there are
    none. details: everything behind the verdicts, a table for each two stacks."""

    says: tuple[str, ...]
    matrix: Table
    crossovers: Table
    details: tuple[Table, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """Warnings of one kind: the first of them, and the others, which a reader may open."""

    first: Notice
    others: tuple[Notice, ...]


@dataclass(frozen=True, slots=True)
class PairSection:
    """All figures between two hosts. knees: where straight lines break, without rows if they do not. verdicts: None
    where there is only one stack. loggp: the parameters first, then every size; empty where prtt was not asked."""

    id: str
    title: str
    widgets: tuple[Widget, ...]
    verdicts: Verdicts | None
    knees: Table
    loggp: tuple[Table, ...]
    tables: tuple[Table, ...]


def page(findings: Findings) -> str:
    """The whole document as text; about 1 MB, half of it the plotting library."""
    sections = pair_sections(findings)
    maps = host_widget(findings)
    answers = answer_sections(findings)
    found = answer(findings, answers)
    return document(
        "page.html",
        [*_widgets(sections, answers), *([maps] if maps else [])],
        question=found.question,
        about=f"run {findings.run.id}",
        findings=findings,
        answer=found,
        where=where(findings.run),
        cost_table=cost_table(_by_middle(findings)),
        measured_table=measured_table(_by_middle(findings)),
        papers_table=papers_table(_by_middle(findings)),
        sections=sections,
        map_widget=maps,
        answers=answers,
        host_table=host_table(findings.hosts),
        facts=run_facts(findings),
        told=told([one for one in findings.warnings if one not in findings.alarms]),
        hidden_pairs=len(findings.pairs) - len(sections),
    )


def pictures(findings: Findings) -> dict[str, str]:
    """File name -> SVG document: the papers' two formats for each pair of hosts that the page shows, what one message
    for many costs, and how connections began."""
    found = {}
    line = _line_bytes_per_s(findings)
    for number, pair in enumerate(findings.told, start=1):
        title = f"{pair[0]} to {pair[1]}"
        costs = findings.of_pair(pair)
        drawn, wire = curves(costs), staircase(findings.run, map(wire_times, costs))
        found[f"time-{number}.svg"] = picture(time_figure(drawn, wire), title)
        found[f"rate-{number}.svg"] = picture(rate_figure(drawn, line, wire), title)
    for widget in (widget for section in answer_sections(findings) for widget in section.widgets):
        which = f", {widget.choose} {widget.choices[0].label}" if widget.choose else ""
        found[f"{widget.id}.svg"] = picture(widget.choices[0].figure, f"{widget.title}{which}")
    return found


def answer_sections(findings: Findings) -> tuple[Section, ...]:
    """What the page says to every question that has an answer of its own; not what it shows of each pair of hosts."""
    of_pairs = {one.kind for one in findings.answers if questions.answered_by(one.kind)[1].section is None}
    shown = (one for one in findings.answers if not (findings.costs and one.kind in of_pairs))
    return tuple(_section(one, findings.run) for one in shown)


def _section(said: Result[Any], run: Facts) -> Section:
    """That of its entry; else its tables."""
    asked, answer = questions.answered_by(said.kind)
    if answer.section:
        found: Section = questions.loaded(answer.section)(said, run)
        return found
    shown = tables(said)
    return Section(
        id=said.kind,
        title=asked.says,
        short=said.kind,
        asks=asked.says,
        lead="The table below has every size.",
        tables=shown,
    )


def pair_sections(findings: Findings) -> tuple[PairSection, ...]:
    """The pair of the answer first, then the others that are told."""
    return tuple(_pair_section(f"p{number}", findings, pair) for number, pair in enumerate(findings.told, start=1))


def run_facts(findings: Findings) -> tuple[tuple[str, str], ...]:
    """(what, value) of the run, for the part "how to repeat this"."""
    run = findings.run
    lasted = duration_text(run.lasted_s) if run.lasted_s is not None else "not known"
    link = bits_text(run.rate_bits_per_s / 8) if run.rate_bits_per_s else "rate not known"
    return (
        ("run", run.id),
        ("started", run.started),
        ("lasted", lasted if run.finished else f"{lasted}; it did not finish, this is what it had"),
        ("launches", f"{run.launches}, with {count_text(run.samples)} timed exchanges{lost_text(run)}"),
        ("seed of every random order", str(run.seed)),
        *((("sentinel", sentinel_text(findings.sentinel)),) if findings.sentinel else ()),
        ("link", ", ".join(filter(None, (link, run.fabric)))),
        *(() if run.mtu_bytes is None else (("MTU", f"{run.mtu_bytes} B"),)),
        *(() if run.hops is None else (("links on the path", str(run.hops)),)),
        *run.versions,
    )


def told(warnings: Sequence[Notice]) -> tuple[Told, ...]:
    """The warnings by kind, in the order in which the kinds appear."""
    kinds: dict[str, list[Notice]] = {}
    for one in warnings:
        kinds.setdefault(one.code, []).append(one)
    return tuple(Told(first, tuple(others)) for first, *others in kinds.values())


def sentinel_text(sentinel: Sentinel) -> str:
    """What the cell that every block holds says of the network while it was measured."""
    change = sentinel.drift.change
    span = ""
    if change.low is not None and change.high is not None and not sentinel.drift.drifting:
        span = f"; from the first block to the last {100 * change.low - 100:+.1f} % to {100 * change.high - 100:+.1f} %"
    return f"{sentinel.cell}, in {sentinel.drift.blocks} blocks: {sentinel.drift.text}{span}"


def curves(costs: Sequence[StackCost], floors: bool = True) -> tuple[Curve, ...]:
    """What the time and rate figures are drawn from. floors: whether they are shown."""
    return tuple(
        Curve(
            name=cost.stack,
            sizes_bytes=tuple(point.size_bytes for point in cost.points),
            typical_ns=tuple(point.typical_ns for point in cost.points),
            low_ns=tuple(_or_nan(point.typical.low) for point in cost.points),
            high_ns=tuple(_or_nan(point.typical.high) for point in cost.points),
            floor_ns=tuple(point.floor_ns for point in cost.points if floors),
            wire_ns=tuple(point.wire_ns for point in cost.points),
        )
        for cost in costs
        if cost.points
    )


def wire_times(cost: StackCost) -> dict[int, float]:
    """What the wire takes of each size that it is known of."""
    return {point.size_bytes: point.wire_ns for point in cost.points if point.wire_ns}


def _by_middle(findings: Findings) -> tuple[StackCost, ...]:
    order = {pair: number for number, pair in enumerate(findings.told)}
    return tuple(sorted(findings.costs, key=lambda cost: order.get(cost.pair, len(order))))


def _pair_section(name: str, findings: Findings, pair: Pair) -> PairSection:
    costs = tuple(cost for cost in findings.of_pair(pair) if cost.points)
    ladder, wire = findings.ladder(pair), staircase(findings.run, map(wire_times, costs))
    makers: tuple[Callable[[], Widget | None], ...] = (
        lambda: _time_widget(name, costs, findings.run, wire),
        lambda: _rate_widget(name, costs, wire, _line_bytes_per_s(findings)),
        lambda: _ladder_widget(name, ladder, findings.ladder_error_ns(pair)),
        lambda: _distribution_widget(name, costs),
        lambda: _residual_widget(name, costs),
    )
    widgets = tuple(widget for maker in makers if (widget := maker()))
    title, sizes = f"From {pair[0]} to {pair[1]}", tuple(map(size_table, costs))
    found = findings.loggp_of(pair)
    loggp = (loggp_table(found), *map(overhead_table, found)) if found else ()
    return PairSection(name, title, widgets, _verdicts(name, findings, pair), knee_table(knees_in(costs)), loggp, sizes)


def _verdicts(name: str, findings: Findings, pair: Pair) -> Verdicts | None:
    comparison = findings.comparison
    versus = comparison.of_pair(pair) if comparison else ()
    if comparison is None or not versus:
        return None
    return Verdicts(
        says=tuple(map(headline, versus)),
        matrix=matrix_table(comparison, pair),
        crossovers=crossover_table(versus),
        details=tuple(map(verdict_table, versus)),
    )


WIRE_SWITCH = ("wire", "the wire alone")
_SWITCHES = (("floor", "floor (smallest time, thin dots)"), WIRE_SWITCH)


def time_choices(
    costs: Sequence[StackCost], timed: Sequence[StackCost], runs: Sequence[Facts], wire: Staircase, floors: bool = True
) -> tuple[Choice, ...]:
    """Times of messages as times the wire, where that is known, and as they are. timed: the same costs for the second,
    which has one wire for all of them, and none where theirs are not alike. runs: of each cost the run that it is of.
    """
    drawn = curves(costs, floors)
    time = Choice("time", time_figure(curves(timed, floors), wire), curve_table(timed, rates=False))
    if not any(ns for curve in drawn for ns in curve.wire_ns):
        return (time,)
    wires = [staircase(run, [wire_times(cost)]) for cost, run in zip(costs, runs, strict=True)]
    ratio = Choice("times the wire", ratio_figure(drawn, wires), ratio_table(costs))
    return ratio, time  # over several decades times of all stacks look alike


def times_said(costs: Sequence[StackCost]) -> str:
    """What the choices are, and whose line is in one of them alone."""
    without = [cost.stack for cost in costs if not wire_times(cost)]
    if len(without) == len(costs):
        return "; both axes are logarithmic."
    lacking = f" Of {several_text(without, 4)} nobody knows the wire: only the times have their lines."
    return (
        ": as times what the wire alone would take, with each step of the wire between the measured sizes, or as it "
        f"is; both axes are logarithmic.{lacking if without else ''}"
    )


def _time_widget(name: str, costs: Sequence[StackCost], run: Facts, wire: Staircase) -> Widget:
    choices = time_choices(costs, costs, [run] * len(costs), wire)
    says = f"Time of a message, one way, against its size, one line per stack{times_said(costs)}"
    choose = "show" if len(choices) > 1 else ""
    return Widget(f"{name}-time", "How long a message takes", says, choices, choose, _SWITCHES)


def _rate_widget(name: str, costs: Sequence[StackCost], wire: Staircase, line_bytes_per_s: float | None) -> Widget:
    choice = Choice("", rate_figure(curves(costs), line_bytes_per_s, wire), curve_table(costs, rates=True))
    says = "Bytes per second that a message of each size achieves, one line per stack; sizes are logarithmic."
    return Widget(f"{name}-rate", "How fast the bytes go", says, (choice,), roles=_SWITCHES)


def _ladder_widget(name: str, ladder: Ladder | None, lab_error_ns: Sequence[int | None]) -> Widget | None:
    if ladder is None or not ladder.sizes_bytes.size:
        return None
    layers = [Layer(rung.name, tuple(rung.ns), tuple(rung.low_ns), tuple(rung.high_ns)) for rung in ladder.rungs]
    figure = ladder_figure([int(size) for size in ladder.sizes_bytes], layers)
    says = "What each layer adds to the one below it, as a share of the whole time, one bar per message size."
    table = ladder_table(ladder, lab_error_ns)
    return Widget(f"{name}-ladder", "Which layer takes the time", says, (Choice("", figure, table),))


def _distribution_widget(name: str, costs: Sequence[StackCost]) -> Widget:
    sizes = sorted(set.intersection(*({point.size_bytes for point in cost.points} for cost in costs)))
    sizes = sizes or sorted({point.size_bytes for cost in costs for point in cost.points})
    choices = []
    for size in (sizes[i] for i in spread_out(len(sizes), SIZES_DRAWN_MAX)):
        points = [(cost.stack, cost.point(size)) for cost in costs]
        drawn = [Distribution(stack, point.quantiles_ns) for stack, point in points if point and point.quantiles_ns]
        choices.append(Choice(size_text(size), distribution_figure(drawn), distribution_table(costs, size)))
    says = (
        "The share of messages that took at most so long, one line per stack, for one message size at a time; the "
        "slowest hundredth may lie beyond the right edge."
    )
    return Widget(f"{name}-spread", "How much messages differ", says, tuple(choices), choose="message size")


def _residual_widget(name: str, costs: Sequence[StackCost]) -> Widget | None:
    found = [(cost.stack, off_line(cost)) for cost in costs if off_line(cost)]
    drawn = [Residuals(stack, *map(tuple, zip(*values, strict=True))) for stack, values in found]
    if not drawn:
        return None
    says = "How far each size lies off its stack's law, in per cent of the measured time."
    choice = Choice("", residual_figure(drawn), residual_table(costs))
    return Widget(f"{name}-residuals", "How well the law tells it", says, (choice,))


def host_widget(findings: Findings) -> Widget | None:
    """Maps of hosts, where there are several pairs: the smallest message, and the rate of the largest."""
    if len(findings.pairs) < 2:
        return None
    choices = []
    for stack in findings.stacks:
        costs = {cost.pair: cost for cost in findings.costs if cost.stack == stack and cost.points}
        small = {pair: cost.points[0].typical_ns for pair, cost in costs.items()}
        last = {pair: cost.points[-1] for pair, cost in costs.items()}
        rate = {pair: point.size_bytes / point.typical_ns * 1e9 for pair, point in last.items()}
        choices.append(_host_choice(f"{stack}: time of the smallest message", small, time_text))
        choices.append(_host_choice(f"{stack}: rate of the largest message", rate, rate_text))
    says = "One number for every pair of hosts: rows are near hosts, columns far hosts."
    if any(warning.code == "pairs-at-once" for warning in findings.warnings):
        says += " Pairs without a common host were measured at the same time, in rounds; who beside whom was drawn."
    return Widget("hosts-map", "Pair by pair", says, tuple(choices), choose="what to show")


def _host_choice(label: str, values: dict[Pair, float], text: Callable[[float | None], str]) -> Choice:
    hosts = sorted(dict.fromkeys(host for pair in values for host in pair), key=_natural)
    rows = tuple(host for host in hosts if any(host == near for near, _ in values))
    columns = tuple(host for host in hosts if any(host == far for _, far in values))
    numbers = tuple(tuple(values.get((near, far)) for far in columns) for near in rows)
    texts = tuple(tuple(text(number) for number in row) for row in numbers)
    table = _map_table(label, rows, columns, texts)
    return Choice(label, host_figure(HostMap(rows, columns, numbers, texts, label)), table)


def _natural(name: str) -> list[tuple[int, str]]:
    """h2 comes before h10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def _map_table(label: str, rows: Sequence[str], columns: Sequence[str], texts: Sequence[tuple[str, ...]]) -> Table:
    heads = (Column("near ↓ far →", number=False), *(Column(name) for name in columns))
    return Table(label, heads, tuple((row, *cells) for row, cells in zip(rows, texts, strict=True)))


def _line_bytes_per_s(findings: Findings) -> float | None:
    return None if findings.run.rate_bits_per_s is None else findings.run.rate_bits_per_s / 8


def _widgets(sections: Sequence[PairSection], answers: Sequence[Section]) -> list[Widget]:
    return [
        *(widget for section in sections for widget in section.widgets),
        *(widget for section in answers for widget in section.widgets),
    ]


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value
