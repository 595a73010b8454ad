# SPDX-License-Identifier: BSD-3-Clause
"""Questions with several far ends as tables: what a wider audience costs, and what the software costs on top."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vaiven.model.several import RAW, Audience, Ratio
from vaiven.plot.units import DASH, count_text, digits, percent_text, rate_text, size_text, time_text
from vaiven.report.tables import Column, Table, value_text

_CAPTIONS = {"fanout": "One message for many: the time until the last has it"}
_CLOCK_TOLD = 0.02  # of a result: an error of the clock above it is told


def audience_table(found: Sequence[Audience]) -> Table:
    """One row per size, stack and number of far ends, all of one question."""
    columns = (
        Column("size", "payload of the message"),
        Column("stack", "the way the message travels", number=False),
        Column("to", "how many get it"),
        Column("time", "until the last has it: the median of launch medians, and its interval"),
        Column("T(k)/T(1)", "over the time to one of them"),
        Column("over raw", "over an unreliable sender of the same payload in the same frames, in the same run"),
        Column("over wire", "over what its frames alone take"),
        Column("rate", "the message counted once: size over time"),
        Column("lost", "rounds in which somebody did not get everything"),
    )
    caption = _CAPTIONS.get(found[0].ask, found[0].ask) if found else ""
    return Table(caption, columns, tuple(map(_row, found)), tuple(dict.fromkeys(_notes(found))))


def _row(one: Audience) -> tuple[str, ...]:
    return (
        size_text(one.size_bytes),
        one.stack,
        count_text(one.fars),
        value_text(one.typical_ns, one.time),
        _ratio(one.to_one) if one.fars > 1 else DASH,
        _ratio(one.to_raw) if one.stack != RAW else DASH,
        f"{digits(one.to_wire)} ×" if one.to_wire else DASH,
        rate_text(one.bytes_per_s),
        percent_text(one.lost / one.rounds) if one.lost else "0",
    )


def _ratio(ratio: Ratio) -> str:
    if ratio.value is None:
        return DASH
    low, high = ratio.interval.low, ratio.interval.high
    below = "" if low is None or high is None else f"\n{digits(low)} – {digits(high)}"
    return f"{digits(ratio.value)} ×{below}"


def _notes(found: Iterable[Audience]) -> Iterable[str]:
    for one in found:
        who = f"{one.stack} to {one.fars}, {size_text(one.size_bytes)}"
        if one.clock == "barrier":
            yield f"{who}: no clock good enough: every end counts from when it heard that all are there"
        elif one.clock_error_ns > _CLOCK_TOLD * one.typical_ns:
            yield f"{who}: the hosts' clocks were compared to within {time_text(one.clock_error_ns)}"
        if one.resent:
            yield f"{who}: {count_text(one.resent)} segments were sent again"
        for ratio in (one.to_one, one.to_raw):
            if ratio.value is not None and ratio.interval.refused:
                yield f"ratios have no interval: {ratio.interval.refused}"
