# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven model`: what a run says a message costs, as tables or as JSON."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from vaiven.cli.document import document
from vaiven.cli.parameters import JSON
from vaiven.cli.terminal import rich_table
from vaiven.errors import VaivenError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from vaiven.cli.messages import Messages
    from vaiven.model.explain import Declared, Explanation
    from vaiven.model.frames import Path
    from vaiven.model.knees import Knees
    from vaiven.model.line import Line
    from vaiven.model.refine import Span
    from vaiven.model.times import LaunchTimes, Statistic
    from vaiven.report.findings import SizePoint, StackCost
    from vaiven.report.tables import Table
    from vaiven.store.query import Run

Question = Literal["pingpong", "connect", "oneway"]
Notation = Literal["alpha-beta", "beta-tau", "ts-tw", "latency-bandwidth"]
COLUMNS = {"TYPICAL": "ns_median", "FLOOR": "ns_min", "MEAN": "ns_mean", "P95": "ns_p95", "P99": "ns_p99"}


def model(
    run: str = "last",
    /,
    *,
    sizes: bool = False,
    papers: bool = False,
    notation: Notation | None = None,
    loggp: Annotated[bool, Parameter(negative="")] = False,
    overlap: Annotated[bool, Parameter(negative="")] = False,
    several: Annotated[bool, Parameter(negative="")] = False,
    steps: Annotated[bool, Parameter(negative="")] = False,
    link: str = "",
    as_json: Annotated[bool, JSON] = False,
    runs: pathlib.Path | None = None,
) -> None:
    """What a message costs: t(n) = alpha + beta n of every stack, one way, with intervals, against the wire.

    Parameters
    ----------
    run
        A run directory, the start of a run's id, or "last".
    sizes
        Also every size of every stack.
    papers
        Also the estimators of the published measurements: empty message, (t - latency)/n, unweighted line.
    notation
        Also one straight line through the whole times, wire included, as others publish it: in one of the four
        notations in use, with what its letters mean and how far it is off.
    loggp
        Instead, where the time goes: L, o_s, o_r, g and G, of a run that asked prtt. With --sizes by size too.
    overlap
        Instead, which share of a message is hidden behind a computation, of a run that asked overlap.
    several
        Instead, the questions with several far ends: time, ratios and rate against how many they are.
    steps
        Instead, what encoding, sending, decoding and translating take, of a run that asked steps.
    link
        The rate of the link, "100 Mb/s", instead of what the run says: the wire's times are computed again.
    as_json
        All of it as one JSON document instead.
    runs
        Where runs are kept; without it $VAIVEN_RUNS, or ./runs.
    """
    from vaiven.cli.footer import footer
    from vaiven.cli.link import read_again
    from vaiven.cli.terminal import open_console
    from vaiven.store import query

    found = read_again(query.find(run, runs or query.root()), link)
    console = open_console()
    chosen = {"loggp": loggp, "overlap": overlap, "several": several, "steps": steps}
    if instead := next((name for name, wanted in chosen.items() if wanted), None):
        table, as_text = _instead(found, sizes)[instead]
        print(as_text()) if as_json else console.print(table())
        return
    costs = stack_costs(found)
    if as_json:
        print(cost_json(found, costs))
        return
    console.print(cost_table(found, costs))
    for table in _more(costs, sizes, papers):
        console.print(rich_table(table))
    console.print(footer(found), style="dim", soft_wrap=True)
    if notation:
        console.print(_written(costs, notation), soft_wrap=True)


def _instead(run: Run, sizes: bool) -> dict[str, tuple[Callable[[], RenderableType], Callable[[], str]]]:
    """Question -> (its tables, its JSON)."""
    from vaiven.cli.loggp import loggp_json
    from vaiven.cli.overlap import overlap_json, overlap_table
    from vaiven.cli.several import audience_tables, audiences_json
    from vaiven.cli.steps import steps_json, steps_table

    return {
        "loggp": (lambda: loggp_table(run, sizes), lambda: loggp_json(run)),
        "overlap": (lambda: overlap_table(run), lambda: overlap_json(run)),
        "several": (lambda: audience_tables(run), lambda: audiences_json(run)),
        "steps": (lambda: steps_table(run), lambda: steps_json(run)),
    }


def loggp_table(run: Run, sizes: bool = False) -> RenderableType:
    """LogGP of every stack that was asked prtt, to be printed by rich; sizes: every size too."""
    from rich.console import Group

    from vaiven.cli.loggp import loggp_of
    from vaiven.report import tables

    found = loggp_of(run)
    several = (tables.loggp_table(found), *(map(tables.overhead_table, found) if sizes else ()))
    return Group(*map(rich_table, several))


def cost_table(run: Run, costs: Sequence[StackCost] | None = None) -> RenderableType:
    """The cost of every stack of a run and how it stands to the wire, to be printed by rich; made for 80 columns on."""
    from rich.console import Group

    from vaiven.cli.link import doubt_texts
    from vaiven.report import tables

    costs = stack_costs(run) if costs is None else costs
    return Group(
        *doubt_texts(run, costs), rich_table(tables.measured_table(costs)), "", rich_table(tables.cost_table(costs))
    )


def stack_costs(run: Run) -> tuple[StackCost, ...]:
    """One StackCost per (pair of hosts, stack) of a run, in the order of the plan.

    Raises VaivenError: "nothing-measured" for a run without a finished ping-pong.
    """
    from vaiven.cli.claims import claimed
    from vaiven.cli.declared import declared
    from vaiven.cli.link import believed
    from vaiven.cli.messages import messages
    from vaiven.store import query

    table = claimed(run, believed(run, query.launches(run)))
    refined = [one for look in query.refined(run) for one in look.additions if one.knee and one.ask == "pingpong"]
    pingpong = table.filter(ask="pingpong")
    if pingpong.is_empty():
        raise VaivenError(
            f"the run {run.id} has no finished launch of a ping-pong",
            "measure again, or see `vaiven model --help` for what else it was asked",
            "nothing-measured",
        )
    connect = table.filter(ask="connect")
    seed = int(run.manifest.design.get("seed", 1))
    keys = pingpong.select("near", "far", "stack").unique(maintain_order=True).rows()
    place = place_in_plan(run)
    keys.sort(key=lambda key: (key[0], key[1], place(key[2])))
    said = declared(run, keys)
    sent = messages(run)
    again = {key: [(one.low_bytes, one.high_bytes) for one in refined if (one.near, one.far, one.stack) == key]
             for key in keys}  # fmt: skip
    return tuple(
        _stack_cost(of_stack(pingpong, key), of_stack(connect, key), key, seed, said[key], again[key],
                    {size: one for (*of, ask, size), one in sent.items() if (*of, ask) == (*key, "pingpong")})
        for key in keys
    )  # fmt: skip


def place_in_plan(run: Run) -> Callable[[str], tuple[int, str]]:
    """What to sort stacks by, to have them in the order of the plan."""
    order = {course.get("stack"): number for number, course in enumerate(run.manifest.design.get("courses", []))}
    return lambda stack: (order.get(stack, len(order)), stack)


def cost_json(run: Run, costs: Sequence[StackCost]) -> str:
    """{"schema", "run", "link", "doubts", "costs"}: the fields of StackCost and what is in it; times one way in ns, NaN
    as null. doubts: what speaks against the link, as code, text and where."""
    from vaiven.cli.link import doubts

    said = {"link": run.manifest.link, "doubts": doubts(run, costs)}
    return document({"schema": 2, "run": run.id, **said, "costs": costs})


def of_stack(table: Any, key: tuple[str, str, str]) -> Any:
    """The rows of one (near, far, stack) of a frame of the store."""
    return table.filter(**dict(zip(("near", "far", "stack"), key, strict=True)))


def _stack_cost(
    table: Any, connect: Any, key: tuple[str, str, str], seed: int, said: Declared, again: Sequence[Span],
    sent: Mapping[int, Messages],
) -> StackCost:  # fmt: skip
    import numpy as np

    from vaiven.model.half import half_rate
    from vaiven.model.line import fit_cost
    from vaiven.model.papers import papers_model
    from vaiven.model.residuals import residuals
    from vaiven.model.times import Statistic
    from vaiven.report.findings import StackCost
    from vaiven.stats.median import median_interval

    near, far, stack = key
    typical, floor, mean = (
        launch_times(table, key, kind) for kind in (Statistic.TYPICAL, Statistic.FLOOR, Statistic.MEAN)
    )
    claimed = np.unique(table.filter("claimed")["size_bytes"].to_numpy())
    lawful = typical.at_sizes(claimed)
    cost = fit_cost(lawful, floor.at_sizes(claimed), np.random.default_rng(seed))
    connects = connect["ns_median"].drop_nulls().to_numpy()
    return StackCost(
        near=near,
        far=far,
        stack=stack,
        points=_points(table, typical, sent),
        cost=cost,
        half=half_rate(typical, np.random.default_rng(seed)),
        residuals=residuals(cost.typical),
        papers=papers_model(mean),
        knees=_explained(lawful, seed, said, again),
        connect=median_interval(connects, "ns") if connects.size else None,
    )


def _explained(times: LaunchTimes, seed: int, said: Declared, again: Sequence[Span]) -> tuple[Explanation, ...]:
    """Where the stack's cost changes its law, and why. again: where it was measured once more for a knee's sake."""
    from vaiven.model.explain import explain, limits_of

    limits = limits_of(_path(times.stack), said)
    return tuple(explain(knee, limits, again) for knee in knees(times, seed, said.mtu_bytes).knees)


def knees(times: LaunchTimes, seed: int, mtu_bytes: int | None) -> Knees:
    """Where the stack's cost changes its law, after its frames have been tried as the reason."""
    import numpy as np

    from vaiven.model.frames import frame_limits
    from vaiven.model.knees import find_knees

    path = _path(times.stack)
    frames = (frame_limits(path, mtu_bytes),) if path and mtu_bytes else ()
    return find_knees(times, np.random.default_rng(seed), frames)


def _path(stack: str) -> Path | None:
    """What its messages are on the wire: the path of that name, or the one that its name begins with (tcp-nagle)."""
    from vaiven.model.frames import Path, stack_id

    name = stack_id(stack)
    paths = [path for path in Path if name == path.value or name.startswith(f"{path.value}-")]
    return max(paths, key=len, default=None)


def launch_times(
    table: Any, key: tuple[str, str, str], statistic: Statistic, ask: Question = "pingpong"
) -> LaunchTimes:
    """One statistic of one stack; a cell without any answer is NaN. table: the rows of that stack and question.

    A ping-pong is given one way; a train of oneway is one way as it stands; opening a connection is a round trip.
    """
    from vaiven.model.times import Direction, LaunchTimes

    near, far, stack = key
    ns = table[COLUMNS[statistic.name]].fill_null(float("nan")).to_numpy()
    columns = [table[name].to_numpy() for name in ("launch", "block", "size_bytes")]
    counts = table["count"].to_numpy()
    stored = Direction.ONE_WAY if ask == "oneway" else Direction.ROUND_TRIP
    times = LaunchTimes.from_columns(stack, stored, statistic, *columns, ns, counts, near=near, far=far, ask=ask)
    return replace(times.one_way(), wire_ns=_wire_ns(table, times.sizes_bytes)) if ask == "pingpong" else times


def _wire_ns(table: Any, sizes_bytes: Any) -> Any:
    """(S,) what the frames of each size take, one way; None unless it is known of all."""
    import numpy as np

    known = dict(table.drop_nulls("wire_ns").select("size_bytes", "wire_ns").unique("size_bytes").rows())
    wire = [known.get(int(size)) for size in sizes_bytes]
    return None if None in wire else np.array(wire, dtype=np.float64)


def _points(table: Any, typical: LaunchTimes, sent: Mapping[int, Messages]) -> tuple[SizePoint, ...]:
    """Every size that has an answer, in rising order."""
    import numpy as np

    found = []
    for size, ns in zip(typical.sizes_bytes, typical.ns.T, strict=True):
        there = ns[np.isfinite(ns)]
        if there.size:
            found.append(_point(int(size), there, table.filter(size_bytes=int(size)), sent[int(size)]))
    return tuple(found)


def _point(size_bytes: int, launch_ns: Any, cells: Any, sent: Messages) -> SizePoint:
    """cells: the rows of that size, one per launch."""
    import numpy as np

    from vaiven.report.findings import SizePoint
    from vaiven.stats.median import median_interval

    whole = {name: int(cells[name].sum()) for name in ("lost", "late", "corrupt")}
    wire = {name: cells[name].drop_nulls().first() for name in ("wire_ns", "wire_frames", "wire_bytes")}
    return SizePoint(
        size_bytes=size_bytes,
        typical_ns=float(np.median(launch_ns)),
        typical=median_interval(launch_ns, "ns"),
        floor_ns=cells["ns_min"].min() / 2,
        p95=sent.quantile(0.95).scaled(0.5, "ns"),
        p99=sent.quantile(0.99).scaled(0.5, "ns"),
        samples=int(cells["count"].sum()),
        launches=len(launch_ns),
        batch=int(cells["batch"].max()),
        claimed=bool(cells["claimed"].all()),
        cpu_near_ns=_half(cells["cpu_near_ns"].median()),
        cpu_far_ns=_half(cells["cpu_far_ns"].median()),
        quantiles_ns=tuple(value / 2 for value in sent.spread_ns),
        **whole,
        **wire,
    )


def _half(ns: float | None) -> float | None:
    """One way, of a round trip."""
    return None if ns is None else ns / 2


def _more(costs: Sequence[StackCost], sizes: bool, papers: bool) -> Iterable[Table]:
    from vaiven.report import tables

    if sizes:
        yield from map(tables.size_table, costs)
    if papers:
        yield tables.papers_table(costs)


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
