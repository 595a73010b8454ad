# SPDX-License-Identifier: BSD-3-Clause
"""How a run ended, in one sentence and as an exit status: how much was done, and how exactly it is known."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from vaiven.cli.status import Status

if TYPE_CHECKING:
    from vaiven.plan.schema import Plan, Stop
    from vaiven.store.query import Run

_NAMED = 2  # cells that are known badly; of more, the worst is named and the others counted


def status(run: Run) -> Status:
    """Whether all that the run was to find out is there."""
    short = run.end is not None and run.end.reason == "not-achieved"
    return Status.CANNOT_TELL if short or unmeasured(run) else Status.OK


def unmeasured(run: Run) -> list[str]:
    """Stacks, questions and hosts of the plan that no finished launch is of, in words; empty when there is nothing."""
    from vaiven.store import query

    there = {(one.stack, one.ask) for one in query.launch_records(run) if not one.sentinel}
    courses = [(course["stack"], course["ask"]) for course in run.manifest.design["courses"]]
    planned = [stack.name for stack in _plan(run).launched]
    missing = [stack for stack in planned if not any(stack == one for one, _ in there)]
    missing += [f"{stack} {ask}" for stack, ask in courses if (stack, ask) not in there and stack not in missing]
    return missing + sorted({line["host"] for line in query.warnings(run) if line.get("host")})


def closing(run: Run) -> str:
    """The last words of a run."""
    from vaiven.store import query

    stop = stop_of(run)
    records = query.launch_records(run)
    seconds = sum(one.took_s / (1 + len(one.beside)) for one in records)
    found = widths(run, stop)
    said = [closing_text(len(records), seconds, found, stop.half_width, achieved=status_of_end(run))]
    if missing := unmeasured(run):
        said.append(f"Not measured: {', '.join(missing)} (the warnings say why).")
    return " ".join(said)


def stop_of(run: Run) -> Stop:
    """What its plan wanted of its launches."""
    return _plan(run).stop


def _plan(run: Run) -> Plan:
    import msgspec

    from vaiven.plan.schema import Plan

    return msgspec.convert(run.manifest.plan, Plan)


def status_of_end(run: Run) -> bool:
    """Whether its stopping rule got what it wanted."""
    return run.end is not None and run.end.reason == "done"


def widths(run: Run, stop: Stop) -> dict[str, float]:
    """Cell in words -> relative half-width of its median's interval, infinite where there is none."""
    from vaiven.plan.stop import half_width
    from vaiven.stats.median import bounds
    from vaiven.store import query

    cells: dict[tuple[str, str, str, str, int], list[float]] = {}
    for row in query.launches(run).iter_rows(named=True):
        key = row["stack"], row["ask"], row["near"], row["far"], row["size_bytes"]
        ns = row["ns_median"]
        cells.setdefault(key, []).append(math.inf if ns is None else ns)
    names = cell_names(list(cells))
    return {names[key]: half_width(values, bounds, stop.level_per_look) for key, values in cells.items()}


def cell_names(keys: Sequence[tuple[str, str, str, str, int]]) -> dict[tuple[str, str, str, str, int], str]:
    """Each cell by no more than what tells it from the others: "tcp at 100 B"."""
    from vaiven.model.numbers import size_text

    asks, pairs = {key[1] for key in keys}, {key[2:4] for key in keys}
    return {
        (stack, ask, near, far, size): stack
        + (f" {ask}" if len(asks) > 1 else "")
        + (f" at {_plain(size_text(size))}" if ask != "connect" else "")
        + (f" from {near} to {far}" if len(pairs) > 1 else "")
        for stack, ask, near, far, size in keys
    }


def _plain(text: str) -> str:
    """With spaces that a log can show."""
    return " ".join(text.split())


def closing_text(launches: int, seconds: float, widths: Mapping[str, float], wanted: float, *, achieved: bool) -> str:
    """ "Done: 144 launches in 22 s; every median is known to 2 % but tcp at 100 B (12 %)." """
    from vaiven.model.numbers import duration_text

    begin = "Done" if achieved else f"Not achieved, {_percent(wanted)} was wanted"
    return f"{begin}: {launches} launches in {duration_text(seconds)}; {''.join(_known(widths, wanted))}."


def _known(widths: Mapping[str, float], wanted: float) -> Iterator[str]:
    """How exactly the medians are known."""
    worse = sorted(((width, name) for name, width in widths.items() if width > wanted), reverse=True)
    good = [width for width in widths.values() if width <= wanted]
    if not widths:
        yield "nothing was measured"
    elif not good:
        yield f"no median is known to {_percent(wanted)}, the worst is {_badly(*worse[0])}"
    else:
        yield f"every median is known to {_percent(max(good))}"
        if 0 < len(worse) <= _NAMED:
            yield f" but {' and '.join(_badly(*one) for one in worse)}"
        elif worse:
            yield f" but {len(worse)} of {len(widths)}, the worst {_badly(*worse[0])}"


def _badly(width: float, name: str) -> str:
    return f"{name} ({'not at all' if math.isinf(width) else _percent(width)})"


def _percent(share: float) -> str:
    """Two digits: "1.9 %", "5 %", "120 %"."""
    return f"{float(f'{100 * share:.2g}'):g} %"
