# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven model`: what a run says a message costs, as tables or as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from vaiven.cli.parameters import Json, RunName, Runs
from vaiven.cli.terminal import rich_table
from vaiven.questions import PLAIN, Answered

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from vaiven.model.line import Line
    from vaiven.report.table import Table
    from vaiven.results.costs import StackCost
    from vaiven.results.result import Result
    from vaiven.results.results import Results
    from vaiven.results.warnings import Warnings
    from vaiven.store.query import Run

Notation = Literal["alpha-beta", "beta-tau", "ts-tw", "latency-bandwidth"]


def model(
    run: RunName = "last",
    /,
    *,
    ask: Answered = PLAIN,
    by_size: bool = False,
    papers: bool = False,
    blame: bool = False,
    notation: Notation | None = None,
    link: str = "",
    as_json: Json = False,
    runs: Runs = None,
) -> None:
    """What a message costs: t(n) = alpha + beta n of every stack, one way, with intervals, against the wire.

    Parameters
    ----------
    ask
        The question whose answers are shown; without it what a message costs (pingpong). prtt: where the time goes, L,
        o_s, o_r, g and G. overlap: which share of a message is hidden behind a computation. first: what the first
        messages of a connection take, beside TCP's slow start. steps: what encoding, sending, decoding and translating
        take. The others have several far ends: time, ratios and rate against how many they are.
    by_size
        Also every size; of every stack, and of LogGP.
    papers
        Also the estimators of the published measurements: empty message, (t - latency)/n, unweighted line.
    blame
        Also who is to blame: what each layer adds, from the wire by ICMP, Ethernet, UDP and TCP to a library and its
        encoding; hosts that are unlike the others, and the layer that makes them so; what each host adds; and from
        which size on the wire takes more than the hosts.
    notation
        Also one straight line through the whole times, wire included, as others publish it: in one of the four
        notations in use, with what its letters mean and how far it is off.
    link
        The rate of the link, "100 Mb/s" or 1G; instead of what the run says: the wire's times are computed again.
    as_json
        One JSON document instead: costs, sizes, knees and warnings, or what was asked for.
    """
    from vaiven.cli.footer import footer
    from vaiven.cli.terminal import open_console
    from vaiven.results.costs import Costs
    from vaiven.results.link import read_again
    from vaiven.results.results import Results
    from vaiven.store import query

    found = read_again(query.find(run, runs or query.root()), link)
    console = open_console()
    said = Results(found)
    answer = said.answer(ask)
    if not isinstance(answer, Costs):
        print(answer.to_json()) if as_json else console.print(question_tables(answer, by_size))
        return
    if as_json:
        print(said.costs_json())
        return
    console.print(cost_table(said))
    for table in _more(said, by_size, papers):
        console.print(rich_table(table))
    if blame:
        console.print(_blame(found, said))
    console.print(footer(found), style="dim", soft_wrap=True)
    if notation:
        console.print(_written(said.costs, notation), soft_wrap=True)


def question_tables(answer: Result[Any], by_size: bool = False) -> RenderableType:
    """The tables of what a question that is no ping-pong says, to be printed by rich. by_size: of LogGP every size."""
    from rich.console import Group

    from vaiven.report.views import tables

    shown = tables(answer)
    return Group(*map(rich_table, shown if by_size or answer.kind != "loggp" else shown[:1]))


def cost_table(said: Results) -> RenderableType:
    """The cost of every stack of a run and how it stands to the wire, to be printed by rich; made for 80 columns on."""
    from rich.console import Group

    from vaiven.report.views import tables

    measured, law = map(rich_table, tables(said.costs))
    return Group(*_doubt_texts(said.doubts), measured, "", law)


def _doubt_texts(doubts: Warnings) -> list[Text]:
    """The doubts for a terminal, to stand above the table: in red where a number on it would be wrong."""
    from rich.text import Text

    from vaiven.results.warnings import ALARMS

    styles = ["bold red" if one.code in ALARMS else "yellow" for one in doubts]
    words = [f"{one.code}: {f'{one.where}: ' if one.where else ''}{one.text}\n" for one in doubts]
    return [Text(text, style) for text, style in zip(words, styles, strict=True)]


def _more(said: Results, every: bool, papers: bool) -> Sequence[Table]:
    from vaiven.report.costs import papers_table
    from vaiven.report.views import tables

    by_size = tables(said.sizes) if every else ()
    return (*by_size, papers_table(said.costs)) if papers else by_size


def _blame(run: Run, said: Results) -> RenderableType:
    """Who is to blame for the time of a message, to be printed by rich."""
    from rich.console import Group

    from vaiven.report.blame import blame_tables
    from vaiven.results.blame import blame

    return Group(*map(rich_table, blame_tables(blame(run, said.costs, said.ladders))))


def _written(costs: Sequence[StackCost], notation: Notation) -> str:
    """The straight line through every stack's whole times in that notation, after what its letters mean."""
    from vaiven.model.notation import Notation as Notations

    chosen = Notations[notation.upper().replace("-", "_")]
    symbols = chosen.value
    lines = [symbols.formula]
    lines.append(f"  {symbols.constant}: {symbols.constant_means}")
    lines.append(f"  {symbols.slope}: {symbols.slope_means}")
    lines += [f"{cost.near} → {cost.far} {cost.stack}: {_line(cost.cost.whole, chosen)}" for cost in costs]
    return "\n".join(lines)


def _line(line: Line, notation: Any) -> str:
    """Both letters with their intervals, and how far such a line is off."""
    from vaiven.model.notation import letters
    from vaiven.model.numbers import estimate_text, percent_text

    why = line.refused or line.alpha.refused or line.beta.refused
    if why:
        return f"no model: {why}"
    constant, slope = (estimate_text(one) for one in letters(line, notation))
    text = f"{notation.value.constant} = {constant}, {notation.value.slope} = {slope}"
    return f"{text} (one way, wire included; misses a size by up to {percent_text(line.misfit)} of its time)"
