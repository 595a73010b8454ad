# SPDX-License-Identifier: BSD-3-Clause
"""Questions with several far ends as tables: what a wider audience costs, and what the software costs on top."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vaiven.model.numbers import DASH, count_text, digits, percent_text, rate_text, size_text, time_text
from vaiven.model.several import RAW, Audience, Ratio
from vaiven.report.tables import ERROR_NOTE, Column, Table, times_text, value_text, with_error

_CAPTIONS = {
    "fanout": "One message for many: the time until the last has it",
    "stream": "Several connections at once: the time until the last message is there",
    "exchange": "Everybody to everybody at once: the time until all have everything",
    "pingpongs": "Several ping-pongs at once: the round trip of one of them",
}
_BY_PAIR = ("stream", "pingpongs")  # questions that are asked of pairs of hosts, of which there may be several
_RATES = {
    "fanout": ("rate", "the message counted once: size over time"),
    "stream": ("all", "the rate of all connections together"),
    "exchange": ("a host", "what each host sends, and receives, per second"),
}


def audience_table(found: Sequence[Audience]) -> Table:
    """One row per size, stack and number of far ends, all of one question."""
    ask = found[0].ask
    if ask == "pingpongs":
        return _together_table(found)
    several = "connections" if ask == "stream" else "far ends"
    columns = (
        Column("size", "payload of the message"),
        Column("stack", "the way the message travels", number=False),
        *((Column("hosts", "near → far", number=False),) if ask == "stream" else ()),
        Column("hosts" if ask == "exchange" else "to", f"how many {several} take part"),
        Column("time", "the median of launch medians, and its interval"),
        Column("T(k)/T(1)", f"over the time with one of the {several}"),
        *((Column("over raw", "over an unreliable sender of the same payload in the same frames, in the same run"),)
          if ask == "fanout" else ()),
        *((Column("over wire", "over what one transmission to all takes of the wire: the same for every stack"),)
          if ask == "fanout" else ()),
        Column("over its frames", "over what its own frames take of the busiest link, where they are known"),
        Column(*_RATES[ask]),
        *(() if ask == "fanout" else (Column("each", "the slowest and the fastest of them"),)),
        Column("lost", "rounds in which somebody did not get everything"),
        *(() if ask == "fanout" else (Column("again", "segments that were sent again"),)),
    )  # fmt: skip
    known = any(one.lab_error_ns is not None for one in found)
    notes = (*((ERROR_NOTE,) if known else ()), *dict.fromkeys(_notes(found)), *_setups(found))
    rows, several_alone = [_row(one) for one in found], asked_alone(found)
    if ask == "fanout" and several_alone:
        rows = [(*row[:2], aim_text(one, several_alone), *row[3:]) for row, one in zip(rows, found, strict=True)]
    return Table(_CAPTIONS[ask], columns, tuple(rows), notes, labels=4 if ask == "stream" else 3)


def asked_alone(found: Iterable[Audience]) -> bool:
    """Whether several hosts were each sent to alone (receivers = "each"): "to 1" does not say which, then."""
    return len({one.far for one in found if one.fars == 1}) > 1


def aim_text(one: Audience, several_alone: bool) -> str:
    """Who is sent to: how many, or the host that is one of several alone."""
    return one.far if several_alone and one.fars == 1 else count_text(one.fars)


def _together_table(found: Sequence[Audience]) -> Table:
    columns = (
        Column("size", "payload of one message"),
        Column("stack", "the way the message travels", number=False),
        Column("hosts", "near → far", number=False),
        Column("at once", "how many ping-pongs ran together"),
        Column("round trip", "of one of them: the median of launch medians, and its interval"),
        Column("over one", "over a ping-pong alone"),
        Column("over its frames", "over what its own frames take, there and back"),
        Column("overlap", "the share of their time in which all of them ran, at least"),
    )
    rows = tuple(
        (
            size_text(one.size_bytes),
            one.stack,
            _hosts(one),
            count_text(one.fars),
            value_text(one.typical_ns, one.time),
            _ratio(one.to_one) if one.fars > 1 else DASH,
            _times(one.to_frames),
            percent_text(one.overlap),
        )
        for one in found
    )
    return Table(_CAPTIONS["pingpongs"], columns, rows, tuple(dict.fromkeys(_notes(found))), labels=4)


def _row(one: Audience) -> tuple[str, ...]:
    fanout = one.ask == "fanout"
    raw = (_ratio(one.to_raw) if one.stack != RAW else DASH,) if fanout else ()
    each = () if fanout else (_each(one.each_bytes_per_s),)
    again = () if fanout else (DASH if one.resent is None else count_text(one.resent),)
    return (
        size_text(one.size_bytes),
        one.stack,
        *((_hosts(one),) if one.ask == "stream" else ()),
        count_text(one.fars + (one.ask == "exchange")),
        value_text(one.typical_ns, one.time),
        _ratio(one.to_one) if one.fars > 1 else DASH,
        *raw,
        *((_of_wire(one, one.to_wire),) if fanout else ()),
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


def _ratio(ratio: Ratio) -> str:
    return DASH if ratio.value is None else times_text(ratio.value, ratio.interval)


def _setups(found: Sequence[Audience]) -> Iterable[str]:
    """What is not in the times of programs that set up a session before each message."""
    for stack in dict.fromkeys(one.stack for one in found if one.setup_ns is not None):
        took_ns = [one.setup_ns for one in found if one.stack == stack and one.setup_ns is not None]
        span = " to ".join(dict.fromkeys((time_text(min(took_ns)), time_text(max(took_ns)))))
        yield f"{stack} sets up a session before each message: {span}, which its times leave out"


def _notes(found: Sequence[Audience]) -> Iterable[str]:
    several = found[0].ask in _BY_PAIR and len({_hosts(one) for one in found}) > 1
    for one in found:
        who = f"{one.stack} to {one.fars}, {size_text(one.size_bytes)}{f', {_hosts(one)}' if several else ''}"
        if one.clock == "barrier":
            yield f"{who}: no clock good enough: every end counts from when it heard that all are there"
        elif one.clock_error_ns:
            yield f"{who}: right to {time_text(one.clock_error_ns)}, within which the hosts' clocks are known"
        if one.resent and one.ask == "fanout":
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
    if one.ask == "fanout" and one.stack != RAW:
        yield one.to_raw
