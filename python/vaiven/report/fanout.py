# SPDX-License-Identifier: BSD-3-Clause
"""One message for many, on the page: the time until the last receiver has it, by size and by number of receivers.

The other questions with several far ends stand beside it as tables.
"""

from __future__ import annotations

from collections.abc import Sequence

from vaiven import questions
from vaiven.model.frames import stack_id
from vaiven.model.numbers import digits, size_text, time_text
from vaiven.model.several import RAW, Audience
from vaiven.plot.curves import Curve, Fan, Staircase
from vaiven.plot.interactive import fan_figure, time_figure
from vaiven.report.several import aim_text, asked_alone, audience_table, audience_tables
from vaiven.report.staircase import staircase
from vaiven.report.widget import SIZES_DRAWN_MAX, Choice, Section, Widget
from vaiven.results.facts import Facts
from vaiven.stats.arrays import spread_out

_UNTIL_LAST = "time until the last has it"
_WIRE = (("wire", "the wire alone"),)


_METHOD = (
    "With several far ends a time runs from just before the first send until the last end has its whole message; a "
    "message counts once, however many get it. The stack raw sends the same payload in the same frames once to "
    "everybody and repeats nothing: it is what the wire itself does."
)


def many_section(audiences: Sequence[Audience], run: Facts) -> Section:
    """Everything that the page says of several far ends. Figures, and sentences, are of one message for many."""
    fanouts = [one for one in audiences if questions.several(one.ask).to_all]
    once = {one.size_bytes: one.once_ns for one in fanouts if one.once_ns}
    said: tuple[str, ...]
    asks, said = "What do many messages at once cost?", ("The tables below have every size.",)
    if fanouts:
        asks, said = "What does one message for many cost?", sentences(fanouts)
    return Section(
        id="many",
        title="Many at once",
        short="many at once",
        asks=asks,
        lead=said[0],
        points=said[1:],
        widgets=_widgets(fanouts, staircase(run, [once])) if fanouts else (),
        tables=audience_tables(audiences),
        folded=bool(fanouts),
        method=_METHOD,
    )


def sentences(fanouts: Sequence[Audience]) -> tuple[str, ...]:
    """The longest message to most receivers: who is first, who is last, and what the wire and the raw sender take."""
    (aim, most), *_ = _by_aim(fanouts)
    width, size = most[0].fars, max(one.size_bytes for one in most)
    found = sorted((one for one in most if one.size_bytes == size), key=lambda one: one.typical_ns)
    reliable = [one for one in found if stack_id(one.stack) != RAW]
    first = (reliable or found)[0]
    who = f"the last of {width} receivers" if width > 1 else aim if asked_alone(fanouts) else "its receiver"
    said = [f"A message of {size_text(size)} has reached {who} after {time_text(first.typical_ns)} over {first.stack}."]
    if len(reliable) > 1:
        last = reliable[-1]
        ratio = digits(last.typical_ns / first.typical_ns)
        said.append(f"Over {last.stack} it takes {time_text(last.typical_ns)}, {ratio} times as long.")
    if first.to_raw.value is not None and reliable:
        said.append(
            f"It is held against an unreliable sender of the same frames, which repeats nothing: {first.stack} takes "
            f"{digits(first.to_raw.value)} times as long."
        )
    return tuple(said)


def _widgets(fanouts: Sequence[Audience], wire: Staircase) -> tuple[Widget, ...]:
    """A stack that has no point in a picture still takes its look there, so that the others look the same in all."""
    stacks = list(dict.fromkeys(one.stack for one in fanouts))
    aims, several_alone = _by_aim(fanouts), asked_alone(fanouts)
    counted = [one for one in fanouts if one.fars > 1 or not several_alone]
    by_size = Widget(
        "fanout-size",
        "One message for many, by its size",
        "Time from the first send until the last receiver has the whole message, one line per stack; both axes are "
        "logarithmic.",
        tuple(_by_size(aim, found, stacks, wire) for aim, found in aims),
        "receivers" if len(aims) > 1 else "",
        _WIRE,
    )
    return (by_size, _by_receivers(counted, stacks)) if len({one.fars for one in counted}) > 1 else (by_size,)


def _by_aim(fanouts: Sequence[Audience]) -> list[tuple[str, list[Audience]]]:
    """Whom it is for, in words, with its audiences: most receivers first, and hosts that were asked alone by name."""
    several_alone, found = asked_alone(fanouts), dict[tuple[int, str], list[Audience]]()
    for one in fanouts:
        found.setdefault((-one.fars, aim_text(one, several_alone)), []).append(one)
    return [(aim, found[fars, aim]) for fars, aim in sorted(found)]


def _by_size(aim: str, found: Sequence[Audience], stacks: Sequence[str], wire: Staircase) -> Choice:
    curves = [
        Curve(
            stack,
            tuple(one.size_bytes for one in own),
            tuple(one.typical_ns for one in own),
            *_intervals(own),
            (),
            tuple(one.once_ns for one in own),
        )
        for stack, own in _by_stack(found, stacks)
    ]
    return Choice(aim, time_figure(curves, wire, _UNTIL_LAST), audience_table(found))


def _by_receivers(fanouts: Sequence[Audience], stacks: Sequence[str]) -> Widget:
    sizes = sorted({one.size_bytes for one in fanouts}, reverse=True)
    choices = []
    for size in (sizes[index] for index in spread_out(len(sizes), SIZES_DRAWN_MAX)):
        found = sorted((one for one in fanouts if one.size_bytes == size), key=lambda one: one.fars)
        fans = [
            Fan(
                stack,
                tuple(one.fars for one in own),
                tuple(one.typical_ns for one in own),
                *_intervals(own),
                tuple(one.once_ns for one in own),
            )
            for stack, own in _by_stack(found, stacks)
        ]
        choices.append(Choice(size_text(size), fan_figure(fans, _UNTIL_LAST), audience_table(found)))
    return Widget(
        "fanout-receivers",
        "What more receivers cost",
        "The same time against the number of receivers, for one size; both axes are logarithmic. Where one "
        "transmission is for all the line is level; where each receiver is sent its own, it rises as their number.",
        tuple(choices),
        "message size",
        _WIRE,
    )


def _by_stack(found: Sequence[Audience], stacks: Sequence[str]) -> list[tuple[str, list[Audience]]]:
    """The audiences of each stack, in their order."""
    return [(stack, [one for one in found if one.stack == stack]) for stack in stacks]


def _intervals(found: Sequence[Audience]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The low and the high ends of their times; NaN where there is no interval."""
    lows = tuple(float("nan") if one.time.low is None else one.time.low for one in found)
    highs = tuple(float("nan") if one.time.high is None else one.time.high for one in found)
    return lows, highs
