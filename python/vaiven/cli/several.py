# SPDX-License-Identifier: BSD-3-Clause
"""The launches of a run that had several far ends, as what they cost: model.several of its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vaiven.errors import VaivenError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from vaiven.model.several import Audience, Blocks
    from vaiven.store.query import Run

ASKED = ("fanout", "stream", "exchange", "pingpongs")


def audiences(run: Run) -> tuple[Audience, ...]:
    """One Audience per (question, size, stack, far ends), by size, stack in the order of the plan, number of far ends.

    Empty for a run that asked no such question; a cell that lost half of its rounds has no time and is left out.
    """
    from vaiven.store import query

    table = query.launches(run)
    table = table.filter(table["ask"].is_in(ASKED))
    order = {course.get("stack"): number for number, course in enumerate(run.manifest.design.get("courses", []))}
    by = ["ask", "size_bytes", "stack", "fars", "near", "far"]
    ends = {key: rows for key, rows in query.ends(run).group_by(by)}
    setups = {key: rows["ns_median"].median() for key, rows in query.setups(run).group_by(by)}
    groups = {key: rows for key, rows in table.group_by(by, maintain_order=True)}
    blocks = {key: _blocks(rows) for key, rows in groups.items()}
    found = _with_once(
        [
            _audience(key, rows, blocks, _each(ends.get(key)), setups.get(key))
            for key, rows in groups.items()
            if blocks[key]
        ]
    )
    return tuple(sorted(found, key=lambda one: (one.ask, one.size_bytes, order.get(one.stack, len(order)), one.fars)))


def _with_once(found: list[Audience]) -> list[Audience]:
    """The same, each fanout with what one transmission of its size takes of the wire."""
    from dataclasses import replace

    from vaiven.model.several import sent_once

    once: dict[int, int] = {}
    for one in found:
        if one.ask == "fanout" and one.wire_ns and sent_once(one.stack, one.fars):
            once[one.size_bytes] = min(one.wire_ns, once.get(one.size_bytes, one.wire_ns))
    return [replace(one, once_ns=once.get(one.size_bytes)) if one.ask == "fanout" else one for one in found]


def audience_tables(run: Run) -> RenderableType:
    """A table for each question with several far ends, to be printed by rich. VaivenError ("nothing-measured")."""
    from rich.console import Group

    from vaiven.cli.terminal import rich_table
    from vaiven.report.several import audience_table

    found = audiences(run)
    if not found:
        raise VaivenError(
            f"the run {run.id} has no finished launch with several far ends",
            'measure a plan with questions = ["fanout"]',
            "nothing-measured",
        )
    asked = dict.fromkeys(one.ask for one in found)
    return Group(*(rich_table(audience_table([one for one in found if one.ask == ask])) for ask in asked))


def audiences_json(run: Run) -> str:
    """{"schema", "run", "audiences"}: the fields of Audience; times in ns."""
    from vaiven.cli.document import document

    return document({"schema": 1, "run": run.id, "audiences": audiences(run)})


def _blocks(rows: Any) -> Blocks:
    known = rows.drop_nulls("ns_median")
    return dict(zip(known["block"].to_list(), known["ns_median"].to_list(), strict=True))


def _each(ends: Any) -> tuple[float, ...]:
    """The median of launch medians of every end, by its number."""
    if ends is None:
        return ()
    medians = {int(part.partition(":")[2]): rows["ns_median"].median() for (part,), rows in ends.group_by("part")}
    return tuple(medians[number] for number in sorted(medians) if medians[number] is not None)


def _audience(
    key: tuple[Any, ...], rows: Any, blocks: dict[tuple[Any, ...], Blocks], each_ns: tuple[float, ...],
    setup_ns: float | None,
) -> Audience:  # fmt: skip
    import statistics

    from vaiven.model.several import RAW, Audience, block_ratio
    from vaiven.stats.median import median_interval

    ask, size, stack, fars, near, far = key
    times = blocks[key]
    single = [blocks[one] for one in blocks if one[:3] == key[:3] and one[3] == 1]
    # Of several hosts that were each sent to alone (receivers = "each") none is the one to be held against.
    alone = {} if ask == "fanout" and len(single) > 1 else next(iter(single), {})
    side = "".join(stack.partition("@")[1:])
    raw = blocks.get((ask, size, f"{RAW}{side}", fars, near, far), {})
    resent = rows["resent"].drop_nulls()
    return Audience(
        ask=ask,
        stack=stack,
        near=near,
        far=far,
        fars=fars,
        size_bytes=size,
        typical_ns=statistics.median(times.values()),
        time=median_interval(list(times.values()), "ns"),
        to_one=block_ratio(times, alone, "launch with one far end"),
        to_raw=block_ratio(times, raw, "raw sender"),
        wire_ns=rows["wire_ns"].drop_nulls().first(),
        lost=int(rows["lost"].sum()),
        rounds=int(rows["count"].sum()) + int(rows["lost"].sum()),
        resent=int(resent.sum()) if len(resent) else None,
        clock=rows["clock"].drop_nulls().first() or "",
        clock_error_ns=int(rows["clock_error_ns"].fill_null(0).max()),
        each_ns=each_ns,
        overlap=rows["overlap"].min(),
        setup_ns=setup_ns,
    )
