# SPDX-License-Identifier: BSD-3-Clause
"""What fresh connections cost, as a table and figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vaiven.model.numbers import DASH, percent_text, size_text, time_text
from vaiven.model.slow_start import Opening, Step, Windows
from vaiven.plot.curves import Course
from vaiven.plot.interactive import sequence_figure
from vaiven.report.table import MESSAGE, Column, Table, message_cells, share_text
from vaiven.report.widget import SIZES_DRAWN_MAX, Choice, Section, Widget
from vaiven.results.facts import Facts
from vaiven.stats.arrays import spread_out

_BURSTS_SHOWN = 6
_POINTS_TOLD = 24  # of each course, in the table beside its figure


_METHOD = (
    "Each sample of a first message is a connection of its own. One more connection is looked at by a packet socket at "
    "both ends, and counts for nothing: looking costs each segment a little. A round of its segments ends when one of "
    "them is acknowledged."
)


def first_table(found: Sequence[Opening]) -> Table:
    """One row per size and stack."""
    columns = (
        *MESSAGE,
        Column("connect", "until the connection stands: a round trip"),
        Column("first", "the first message of a connection, one way"),
        Column("second", "the one after it"),
        Column("warm", "one when TCP's window has grown"),
        Column("idled", "one after a pause in which TCP forgets its window"),
        Column("over warm", "by how much the first is slower than the warm one"),
        Column("by the rule", "what the doubling of the window alone would make of that, on this link"),
        Column("window", "segments that may be on their way: when the connection stands, behind the first message"),
        Column("bursts", "segments of the first message in each round; below, by the rule", number=False),
    )
    rows = tuple(
        (
            *message_cells(one.size_bytes, one.stack, one.near, one.far),
            *map(time_text, (one.connect_ns, one.first_ns, one.second_ns, one.warm_ns, one.idled_ns)),
            share_text(one.typical_over_warm, one.over_warm),
            DASH if one.rule_over_warm is None else percent_text(one.rule_over_warm),
            _window_text(one.windows),
            f"{bursts_text(one.bursts)}\n{bursts_text(one.rule)}",
        )
        for one in found
    )
    return Table("What the first messages of a connection take", columns, rows)


def bursts_text(bursts: Sequence[int]) -> str:
    """ "1 2 4 8 16 32 ..."; a dash where nothing was seen."""
    shown = " ".join(map(str, bursts[:_BURSTS_SHOWN]))
    return f"{shown} …" if len(bursts) > _BURSTS_SHOWN else shown or DASH


def first_section(found: Sequence[Opening], _run: Facts) -> Section:
    """What a page says of a run that asked it: where the first message pays most, and how a connection begins."""
    worst = max(found, key=lambda one: one.typical_over_warm)
    where = f"{size_text(worst.size_bytes)} over {worst.stack} from {worst.near} to {worst.far}"
    return Section(
        id="first",
        title="The first messages of a connection",
        short="first messages",
        asks="What does the first message of a connection cost?",
        lead="The first message of a connection takes up to "
        f"{percent_text(worst.typical_over_warm)} more than a warm one: {time_text(worst.first_ns)} instead of "
        f"{time_text(worst.warm_ns)}, one way, for {where}.",
        widgets=_widgets([one for one in found if one.look]),
        tables=(first_table(found),),
        method=_METHOD,
    )


def _widgets(seen: Sequence[Opening]) -> tuple[Widget, ...]:
    """Segments against time; none where nothing was looked at."""
    choices = tuple(_choice(seen[index]) for index in spread_out(len(seen), SIZES_DRAWN_MAX))
    says = (
        "Bytes of the first message of one connection against time: what left the near host, what came to the far "
        "one, what was acknowledged, and what the doubling of the window would make of it. Steps are bursts; a level "
        "line is a sender that waits for acknowledgements."
    )
    return (Widget("first-sequence", "How a connection begins", says, choices, "what to show"),) if choices else ()


def courses(one: Opening) -> tuple[Course, ...]:
    """What left the near end against time, what came to the far one, what was acknowledged, and what the rule says.

    Empty courses are left out.
    """
    if one.look is None:
        return ()
    drawn = (
        _course("sent", _sent(one.look.steps)),
        _course("arrived", one.look.came),
        _course("acknowledged", ((step.at_ns, step.acked_bytes) for step in one.look.steps if step.acked_bytes)),
        _course("by the rule", _sent(one.expected)),
    )
    return tuple(course for course in drawn if course.at_ns)


def _sent(steps: Iterable[Step]) -> Iterable[tuple[float, int]]:
    return ((step.at_ns, step.sent_bytes) for step in steps if step.sent_bytes)


def _course(name: str, points: Iterable[tuple[float, int]]) -> Course:
    found = list(points)
    return Course(name, tuple(at_ns for at_ns, _ in found), tuple(count for _, count in found))


def _choice(one: Opening) -> Choice:
    label = f"{one.stack}, {one.near} → {one.far}, {size_text(one.size_bytes)}"
    columns = (Column("what", number=False), Column("time", "since the message was begun"), Column("bytes", "of it"))
    drawn = courses(one)
    rows = tuple(
        (course.name, time_text(course.at_ns[index]), size_text(course.sizes_bytes[index]))
        for course in drawn
        for index in spread_out(len(course.at_ns), _POINTS_TOLD)
    )
    return Choice(label, sequence_figure(drawn), Table(label, columns, rows))


def _window_text(windows: Windows) -> str:
    known = [DASH if value is None else f"{value:g}" for value in (windows.initial, windows.first)]
    return " → ".join(known)
