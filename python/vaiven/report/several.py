# SPDX-License-Identifier: BSD-3-Clause
"""Questions with several far ends as tables: what a wider audience costs, and what the software costs on top."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vaiven import questions
from vaiven.model.numbers import DASH, count_text, digits, percent_text, rate_text, size_text, time_text
from vaiven.model.several import RAW, Audience, Ratio
from vaiven.report.table import ERROR_NOTE, Column, Table, block_ratio_text, value_text, with_error


def audience_tables(found: Sequence[Audience]) -> tuple[Table, ...]:
    """One for each question, in which one message is for many first."""
    asked = sorted(dict.fromkeys(one.ask for one in found), key=lambda ask: not questions.several(ask).to_all)
    return tuple(audience_table([one for one in found if one.ask == ask]) for ask in asked)


def audience_table(found: Sequence[Audience]) -> Table:
    """One row per size, stack and number of far ends, all of one question."""
    ask = questions.ALL[found[0].ask]
    several = questions.several(ask.name)
    if not several.rounds:
        return _together_table(found)
    assert several.rate
    by_pair = several.counted == "at_once"
    which = "connections" if by_pair else "far ends"
    columns = (
        Column("size", "payload of the message"),
        Column("stack", "the way the message travels", number=False),
        *((Column("hosts", "near → far", number=False),) if by_pair else ()),
        Column("hosts" if several.counted == "hosts_at_once" else "to", f"how many {which} take part"),
        Column("time", "the median of launch medians, and its interval"),
        Column("T(k)/T(1)", f"over the time with one of the {which}"),
        *((Column("over raw", "over an unreliable sender of the same payload in the same frames, in the same run"),
           Column("over wire", "over what one transmission to all takes of the wire: the same for every stack"))
          if several.to_all else ()),
        Column("over its frames", "over what its own frames take of the busiest link, where they are known"),
        Column(*several.rate),
        *(() if several.to_all else (Column("each", "the slowest and the fastest of them"),)),
        Column("lost", "rounds in which somebody did not get everything"),
        *(() if several.to_all else (Column("again", "segments that were sent again"),)),
    )  # fmt: skip
    known = any(one.lab_error_ns is not None for one in found)
    notes = (*((ERROR_NOTE,) if known else ()), *dict.fromkeys(_notes(found)), *_setups(found))
    rows, several_alone = [_row(one) for one in found], asked_alone(found)
    if several.to_all and several_alone:
        rows = [(*row[:2], aim_text(one, several_alone), *row[3:]) for row, one in zip(rows, found, strict=True)]
    return Table(ask.says, columns, tuple(rows), notes, labels=4 if by_pair else 3)


def asked_alone(found: Iterable[Audience]) -> bool:
    """Whether several hosts were each sent to alone (receivers = "each"): "to 1" does not say which, then."""
    return len({one.far for one in found if one.fars == 1}) > 1


def aim_text(one: Audience, several_alone: bool) -> str:
    """Who is sent to: how many, or the host that is one of several alone."""
    return one.far if several_alone and one.fars == 1 else count_text(one.fars)


def _together_table(found: Sequence[Audience]) -> Table:
    by_pair = questions.several(found[0].ask).counted == "at_once"
    columns = (
        Column("size", "payload of one message"),
        Column("stack", "the way the message travels", number=False),
        *((Column("hosts", "near → far", number=False),) if by_pair else ()),
        Column("at once", "how many ping-pongs ran together"),
        Column("round trip", "of one of them: the median of launch medians, and its interval"),
        Column("each", "the quickest and the slowest of them"),
        Column("over one", "over a ping-pong alone"),
        Column("over its frames", "over what its own frames take, there and back"),
        Column("overlap", "the share of their time in which all of them ran, at least"),
    )
    rows = tuple(
        (
            size_text(one.size_bytes),
            one.stack,
            *((_hosts(one),) if by_pair else ()),
            count_text(one.at_once),
            value_text(one.typical_ns, one.time),
            _quickest_and_slowest(one.each_ns),
            block_ratio_text(one.to_one) if one.fars > 1 else DASH,
            _times(one.to_frames),
            percent_text(one.overlap),
        )
        for one in found
    )
    return Table(questions.ALL[found[0].ask].says, columns, rows, tuple(dict.fromkeys(_notes(found))),
                 labels=4 if by_pair else 3)  # fmt: skip


def _row(one: Audience) -> tuple[str, ...]:
    several = questions.several(one.ask)
    raw = (block_ratio_text(one.to_raw) if one.stack != RAW else DASH,) if several.to_all else ()
    each = () if several.to_all else (_each(one.each_bytes_per_s),)
    again = () if several.to_all else (DASH if one.resent is None else count_text(one.resent),)
    return (
        size_text(one.size_bytes),
        one.stack,
        *((_hosts(one),) if several.counted == "at_once" else ()),
        count_text(one.fars + (several.counted == "hosts_at_once")),
        value_text(one.typical_ns, one.time),
        block_ratio_text(one.to_one) if one.fars > 1 else DASH,
        *raw,
        *((_of_wire(one, one.to_wire),) if several.to_all else ()),
        _of_wire(one, one.to_frames),
        rate_text(one.bytes_per_s),
        *each,
        percent_text(one.lost / one.rounds) if one.lost else "0",
        *again,
    )


def _hosts(one: Audience) -> str:
    return f"{one.near} → {one.far.partition('*')[0]}"


def _times(ratio: float | None) -> str:
    return f"{digits(ratio)} ×" if ratio else DASH


def _of_wire(one: Audience, ratio: float | None) -> str:
    """A ratio to what the wire takes, and what of that may be the lab's."""
    if not ratio or one.lab_error_ns is None:
        return _times(ratio)
    return with_error(_times(ratio), digits(ratio * one.lab_error_ns / one.typical_ns))


def _each(rates: Sequence[float]) -> str:
    return f"{rate_text(rates[0])}\n{rate_text(rates[-1])}" if rates else DASH


def _quickest_and_slowest(each_ns: Sequence[float]) -> str:
    return f"{time_text(min(each_ns))}\n{time_text(max(each_ns))}" if len(each_ns) > 1 else DASH


def _setups(found: Sequence[Audience]) -> Iterable[str]:
    """What is not in the times of programs that set up a session before each message."""
    for stack in dict.fromkeys(one.stack for one in found if one.setup_ns is not None):
        took_ns = [one.setup_ns for one in found if one.stack == stack and one.setup_ns is not None]
        span = " to ".join(dict.fromkeys((time_text(min(took_ns)), time_text(max(took_ns)))))
        yield f"{stack} sets up a session before each message: {span}, which its times leave out"


def _notes(found: Sequence[Audience]) -> Iterable[str]:
    several = questions.several(found[0].ask).counted == "at_once" and len({_hosts(one) for one in found}) > 1
    for one in found:
        who = f"{one.stack} to {one.fars}, {size_text(one.size_bytes)}{f', {_hosts(one)}' if several else ''}"
        if one.clock == "barrier":
            yield f"{who}: no clock good enough: every end counts from when it heard that all are there"
        elif one.clock_error_ns:
            yield f"{who}: right to {time_text(one.clock_error_ns)}, within which the hosts' clocks are known"
        if one.resent and questions.several(one.ask).to_all:
            yield f"{who}: {count_text(one.resent)} segments were sent again"
        for ratio in _shown_ratios(one):
            if ratio.value is not None and ratio.interval.refused:
                few = ratio.interval.refused.startswith("too few")
                why = ratio.interval.refused if few else "some were the same in every launch"
                yield f"ratios have no interval: {why}"


def _shown_ratios(one: Audience) -> Iterable[Ratio]:
    """Those of its row: one far end is not compared with itself, nor the raw sender."""
    if one.fars > 1:
        yield one.to_one
    if questions.several(one.ask).to_all and one.stack != RAW:
        yield one.to_raw
