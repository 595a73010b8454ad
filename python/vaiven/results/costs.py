# SPDX-License-Identifier: BSD-3-Clause
"""What a message costs between two hosts, stack by stack: every size, the law through them, and where that changes.

Every time is one way in ns; sizes are payload bytes; rates are bytes per second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from vaiven.errors import VaivenError
from vaiven.model.explain import Declared, Explanation, explain, limits_of
from vaiven.model.frames import Path, frame_limits, stack_id
from vaiven.model.half import HalfRate, half_rate
from vaiven.model.knees import Knees as Found
from vaiven.model.knees import find_knees
from vaiven.model.line import Cost, fit_cost
from vaiven.model.papers import PapersModel, papers_model
from vaiven.model.refine import Span
from vaiven.model.residuals import Residuals, residuals
from vaiven.model.times import LaunchTimes, Statistic
from vaiven.questions import CONNECT, PLAIN
from vaiven.results import rows
from vaiven.results.declared import declared
from vaiven.results.lab_error import LabError, lab_error
from vaiven.results.link import believed
from vaiven.results.messages import Messages, messages
from vaiven.results.result import STACK, Result, columns, estimate, flag, integer, number, numbers, text
from vaiven.results.rows import Key
from vaiven.stats.arrays import Floats
from vaiven.stats.estimate import Estimate
from vaiven.stats.median import median_interval
from vaiven.store import query
from vaiven.store.query import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class SizePoint:
    """One size of one stack between two hosts.

    typical_ns: median over launches of the launch medians; typical: the same with its interval, or why there is none.
    floor_ns: smallest time of all. p95, p99: of all its messages together, or why they have none.
    batch: how many messages one timed exchange was, more than 1 only where the clock is too coarse.
    lab_error_ns: by how much a timed lab may be wrong about it, one way (results.lab_error).
    wire_*: what the message becomes on the wire, over all hops, by formula. cpu_*: CPU time that end spends on one
    message, half of what an exchange takes it.
    marked: how many of its launches lost their time and are kept all the same (results.lost).
    quantiles_ns: equally spaced quantiles of all samples, from the smallest to the largest: its distribution.
    """

    size_bytes: int
    typical_ns: float
    typical: Estimate
    floor_ns: float
    p95: Estimate
    p99: Estimate
    samples: int
    launches: int
    marked: int
    lost: int
    late: int
    corrupt: int
    batch: int
    wire_ns: float | None
    wire_frames: int | None
    wire_bytes: int | None
    lab_error_ns: int | None
    cpu_near_ns: float | None
    cpu_far_ns: float | None
    quantiles_ns: tuple[float, ...]

    @property
    def rate_bytes_per_s(self) -> float:
        return self.size_bytes / self.typical_ns * 1e9

    @property
    def above_wire_ns(self) -> float | None:
        """What the message takes beyond its time on the wire."""
        return None if self.wire_ns is None else self.typical_ns - self.wire_ns

    @property
    def below_wire(self) -> bool:
        """Faster than the wire allows by more than 2 %: something that was said of the link is wrong."""
        return self.wire_ns is not None and self.typical_ns < 0.98 * self.wire_ns

    @property
    def share_of_wire(self) -> float | None:
        """The wire's part of the time: 1 is the physical limit."""
        return None if self.wire_ns is None else self.wire_ns / self.typical_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class StackCost:
    """What messages of one stack cost between two hosts: its sizes in rising order, and the fits through them.

    cost: one way. half: the rate of the largest message and the size that gets half of it. residuals: of the typical
    law. papers: what the published estimators make of the same launches.
    knees: sizes at which the cost changes its law, each with what is known to lie there.
    connect: opening a connection, in ns, where the stack has one and it was asked.
    """

    near: str
    far: str
    stack: str
    points: tuple[SizePoint, ...]
    cost: Cost
    half: HalfRate
    residuals: Residuals
    papers: PapersModel
    knees: tuple[Explanation, ...]
    connect: Estimate | None

    @property
    def pair(self) -> tuple[str, str]:
        return (self.near, self.far)

    @property
    def lab_error_ns(self) -> int | None:
        """What of alpha may be the lab's: that of the smallest message, of which alpha is most."""
        return self.points[0].lab_error_ns if self.points else None

    def point(self, size_bytes: int) -> SizePoint | None:
        return next((point for point in self.points if point.size_bytes == size_bytes), None)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Costs(Result[StackCost]):
    """What messages cost, one row per pair of hosts and stack: the law t(n) = wire(n) + alpha + beta n through the
    medians of its launches, and what else is said of the stack as a whole."""

    kind: ClassVar[str] = "costs"
    columns: ClassVar = columns(
        *STACK,
        estimate("alpha", "ns", "what a message of no bytes takes beyond the wire", lambda one: one.cost.typical.alpha),
        estimate("beta", "ns_per_byte", "what each byte adds to that", lambda one: one.cost.typical.beta),
        number("lab_error_ns", "so much of alpha may be the lab's own error, either way, by lab check; null of real "
               "hosts, of a lab that keeps no time, or was never checked", lambda one: one.lab_error_ns),
        flag("beyond_wire", "whether the wire is known and left out of both; else they are of the whole time",
             lambda one: one.cost.typical.wire_ns is not None),
        number("misfit", "the most by which the law misses a size, as a share of its time",
               lambda one: one.cost.typical.misfit),
        text("law_refused", "why there is no law; empty where there is one", lambda one: one.cost.typical.refused),
        estimate("floor_alpha", "ns", "alpha of the smallest times", lambda one: one.cost.floor.alpha),
        estimate("floor_beta", "ns_per_byte", "beta of the smallest times", lambda one: one.cost.floor.beta),
        estimate("whole_alpha", "ns", "alpha of a straight line through the whole times, wire and all",
                 lambda one: one.cost.whole.alpha),
        estimate("whole_beta", "ns_per_byte", "beta of that line", lambda one: one.cost.whole.beta),
        number("whole_misfit", "the most by which that line misses a size", lambda one: one.cost.whole.misfit),
        estimate("full_rate", "bytes_per_s", "the rate of the largest message", lambda one: one.half.full),
        estimate("half_rate", "bytes", "the size that gets half of it, off the measured curve",
                 lambda one: one.half.size),
        number("left_out_max", "the most by which a law drawn without a size misses its time, as a share of it",
               lambda one: one.residuals.left_out_max),
        flag("bends", "whether the sizes bend away from any straight line", lambda one: one.residuals.bends),
        number("papers_latency_ns", "as published: the mean time of the empty, or one-byte, message",
               lambda one: one.papers.latency_ns),
        number("papers_tau_ns_per_byte", "as published: (t - latency)/n at the largest size",
               lambda one: one.papers.tau_ns_per_byte[-1] if one.papers.tau_ns_per_byte.size else None),
        number("papers_intercept_ns", "as published: the constant of the unweighted line through means",
               lambda one: one.papers.intercept_ns),
        number("papers_slope_ns_per_byte", "as published: its slope", lambda one: one.papers.slope_ns_per_byte),
        estimate("connect", "ns", "opening a connection, there and back", lambda one: one.connect),
        integer("lost", "messages of all sizes that did not come back in time",
                lambda one: sum(point.lost for point in one.points)),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeCost:
    """One size of a stack, with the stack that it is of."""

    of: StackCost
    point: SizePoint

    @property
    def near(self) -> str:
        return self.of.near

    @property
    def far(self) -> str:
        return self.of.far

    @property
    def stack(self) -> str:
        return self.of.stack


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Sizes(Result[SizeCost]):
    """What messages of each size take, one row per pair of hosts, stack and size."""

    kind: ClassVar[str] = "sizes"
    columns: ClassVar = columns(
        *STACK,
        integer("size_bytes", "payload of a message", lambda one: one.point.size_bytes),
        number("one_way_ns", "the typical time: the median over launches of each launch's median",
               lambda one: one.point.typical_ns),
        number("one_way_low_ns", "the low end of its interval", lambda one: one.point.typical.low),
        number("one_way_high_ns", "the high end of its interval", lambda one: one.point.typical.high),
        number("floor_ns", "the smallest time of all", lambda one: one.point.floor_ns),
        estimate("p95", "ns", "what 95 % of all messages do not exceed", lambda one: one.point.p95),
        estimate("p99", "ns", "what 99 % of all messages do not exceed", lambda one: one.point.p99),
        number("rate_bytes_per_s", "size over typical time", lambda one: one.point.rate_bytes_per_s),
        number("wire_ns", "what its frames take, over all hops, by formula", lambda one: one.point.wire_ns),
        number("above_wire_ns", "typical time less that", lambda one: one.point.above_wire_ns),
        number("lab_error_ns", "so much of these times may be the lab's own error, either way, by lab check: of a lone "
               "frame, or of a train; null as in costs", lambda one: one.point.lab_error_ns),
        integer("wire_frames", "frames that it becomes", lambda one: one.point.wire_frames),
        integer("wire_bytes", "and their bytes, with preamble, check sequence and gap",
                lambda one: one.point.wire_bytes),
        number("cpu_near_ns", "processor time of the near end for a message", lambda one: one.point.cpu_near_ns),
        number("cpu_far_ns", "processor time of the far end for a message", lambda one: one.point.cpu_far_ns),
        integer("launches", "launches that have an answer", lambda one: one.point.launches),
        integer("marked", "of these, launches that lost their time and are kept all the same",
                lambda one: one.point.marked),
        integer("samples", "timed exchanges that have one", lambda one: one.point.samples),
        integer("lost", "messages that did not come back in time", lambda one: one.point.lost),
        integer("late", "answers to earlier messages", lambda one: one.point.late),
        integer("corrupt", "answers with other bytes than were sent", lambda one: one.point.corrupt),
        integer("batch", "messages of one timed exchange", lambda one: one.point.batch),
        text("interval_refused", "why the typical time has no interval", lambda one: one.point.typical.refused),
        numbers("quantiles_ns", "0 %, 1 %, ... 100 % of all messages that were answered",
                lambda one: one.point.quantiles_ns),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class StackKnee:
    """Where a stack's cost changes its law, with the stack."""

    near: str
    far: str
    stack: str
    explained: Explanation


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Knees(Result[StackKnee]):
    """Where costs change their law, one row per pair of hosts, stack and knee."""

    kind: ClassVar[str] = "knees"
    columns: ClassVar = columns(
        *STACK,
        text("what", "jump: of the time; bend: of the slope", lambda one: one.explained.knee.kind.value),
        estimate("at", "bytes", "its place", lambda one: one.explained.knee.size),
        integer("before_bytes", "the measured size below", lambda one: one.explained.knee.before_bytes),
        integer("after_bytes", "the measured size above", lambda one: one.explained.knee.after_bytes),
        estimate("jump", "ns", "by how much the time jumps there, beyond the wire where that is known",
                 lambda one: one.explained.knee.step),
        number("slope_before_ns_per_byte", "time per byte below", lambda one: one.explained.knee.slope_before),
        number("slope_after_ns_per_byte", "time per byte above", lambda one: one.explained.knee.slope_after),
        flag("confirmed", "whether it was found again in sizes that were added around it",
             lambda one: one.explained.confirmed),
        text("causes", "limits of frames, segments and buffers that lie there",
             lambda one: "; ".join(limit.cause for limit in one.explained.limits)),
    )  # fmt: skip


def costs(run: Run) -> Costs:
    """Of every stack and pair of hosts, in the order of the plan.

    Raises VaivenError: "nothing-measured" for a run without a finished ping-pong.
    """
    table = _marked(run, believed(run, rows.launches(run)))
    pingpong = table.filter(ask=PLAIN)
    if pingpong.is_empty():
        raise VaivenError(
            f"the run {run.id} has no finished launch of a ping-pong",
            "measure again, or see `vaiven model --help` for what else it was asked",
            "nothing-measured",
        )
    connect = table.filter(ask=CONNECT.name)
    keys = rows.keys_of(run, pingpong)
    said, sent, again, error = declared(run, keys), messages(run), _measured_again(run), lab_error(run)
    return Costs(
        runs=(run.id,),
        items=tuple(
            _stack_cost(rows.of_key(pingpong, key), rows.of_key(connect, key), key, rows.seed_of(run), said[key],
                        again.get(key, ()), error,
                        {size: one for (*of, ask, size), one in sent.items() if (*of, ask) == (*key, PLAIN)})
            for key in keys
        ),
    )  # fmt: skip


def sizes(found: Costs) -> Sizes:
    """Every size of every stack."""
    return Sizes(runs=found.runs, items=tuple(SizeCost(of=one, point=point) for one in found for point in one.points))


def knees(found: Costs) -> Knees:
    """Every knee of every stack."""
    return Knees(runs=found.runs, items=knees_in(found))


def knees_in(several: Sequence[StackCost]) -> tuple[StackKnee, ...]:
    """Every knee of these stacks."""
    return tuple(
        StackKnee(near=one.near, far=one.far, stack=one.stack, explained=knee) for one in several for knee in one.knees
    )


def knees_of(times: LaunchTimes, seed: int, mtu_bytes: int | None) -> Found:
    """Where the stack's cost changes its law, after its frames have been tried as the reason."""
    path = path_of(times.stack)
    frames = (frame_limits(path, mtu_bytes),) if path and mtu_bytes else ()
    return find_knees(times, np.random.default_rng(seed), frames)


def path_of(stack: str) -> Path | None:
    """What its messages are on the wire: the path of that name, or the one that its name begins with (tcp-nagle)."""
    name = stack_id(stack)
    paths = [path for path in Path if name == path.value or name.startswith(f"{path.value}-")]
    return max(paths, key=len, default=None)


def _marked(run: Run, table: pl.DataFrame) -> pl.DataFrame:
    """With a column that says whether the launch lost its time and is kept all the same."""
    kept = [one.launch for one in query.launch_records(run) if one.losses]
    return table.with_columns(marked=pl.col("launch").is_in(kept))


def _measured_again(run: Run) -> dict[Key, list[Span]]:
    """The spans of each stack that looks measured once more for a knee's sake."""
    again: dict[Key, list[Span]] = {}
    for look in query.refined(run):
        for one in look.additions:
            if one.knee and one.ask == PLAIN:
                again.setdefault((one.near, one.far, one.stack), []).append((one.low_bytes, one.high_bytes))
    return again


def _stack_cost(
    table: pl.DataFrame, connect: pl.DataFrame, key: Key, seed: int, said: Declared, again: Sequence[Span],
    error: LabError | None, sent: Mapping[int, Messages],
) -> StackCost:  # fmt: skip
    near, far, stack = key
    typical, floor, mean = (
        rows.launch_times(table, key, kind) for kind in (Statistic.TYPICAL, Statistic.FLOOR, Statistic.MEAN)
    )
    cost = fit_cost(typical, floor, np.random.default_rng(seed))
    connects = connect["ns_median"].drop_nulls().to_numpy()
    return StackCost(
        near=near,
        far=far,
        stack=stack,
        points=_points(table, typical, sent, error),
        cost=cost,
        half=half_rate(typical, np.random.default_rng(seed)),
        residuals=residuals(cost.typical),
        papers=papers_model(mean),
        knees=_explained(typical, seed, said, again),
        connect=median_interval(connects, "ns") if connects.size else None,
    )


def _explained(times: LaunchTimes, seed: int, said: Declared, again: Sequence[Span]) -> tuple[Explanation, ...]:
    """Where the stack's cost changes its law, and why. again: where it was measured once more for a knee's sake."""
    limits = limits_of(path_of(times.stack), said)
    return tuple(explain(knee, limits, again) for knee in knees_of(times, seed, said.mtu_bytes).knees)


def _points(
    table: pl.DataFrame, typical: LaunchTimes, sent: Mapping[int, Messages], error: LabError | None
) -> tuple[SizePoint, ...]:
    """Every size that has an answer, in rising order."""
    found = []
    for size, ns in zip(typical.sizes_bytes, typical.ns.T, strict=True):
        there = ns[np.isfinite(ns)]
        if there.size:
            found.append(_point(int(size), there, table.filter(size_bytes=int(size)), sent[int(size)], error))
    return tuple(found)


def _point(
    size_bytes: int, launch_ns: Floats, cells: pl.DataFrame, sent: Messages, error: LabError | None
) -> SizePoint:
    """cells: the rows of that size, one per launch."""
    lost, late, corrupt = (int(cells[name].sum()) for name in ("lost", "late", "corrupt"))
    wire_ns, frames, wire_bytes = (
        rows.count(cells[name].drop_nulls().first()) for name in ("wire_ns", "wire_frames", "wire_bytes")
    )
    floor_ns = rows.known(cells["ns_min"].min())
    assert floor_ns is not None, "a size that has an answer has a smallest one"
    return SizePoint(
        size_bytes=size_bytes,
        typical_ns=float(np.median(launch_ns)),
        typical=median_interval(launch_ns, "ns"),
        floor_ns=floor_ns,
        p95=sent.quantile(0.95),
        p99=sent.quantile(0.99),
        samples=int(cells["count"].sum()),
        launches=len(launch_ns),
        marked=int(cells["marked"].sum()),
        batch=rows.count(cells["batch"].max()) or 1,
        cpu_near_ns=rows.known(cells["cpu_near_ns"].median()),
        cpu_far_ns=rows.known(cells["cpu_far_ns"].median()),
        quantiles_ns=sent.spread_ns,
        lab_error_ns=error.of_message(frames) if error else None,
        lost=lost,
        late=late,
        corrupt=corrupt,
        wire_ns=wire_ns,
        wire_frames=frames,
        wire_bytes=wire_bytes,
    )
