# SPDX-License-Identifier: BSD-3-Clause
"""What messages cost -> tables: the same table on a terminal, on a page and beside each figure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from vaiven.model.ladder import WIRE, Ladder
from vaiven.model.loggp import LogGP
from vaiven.model.numbers import (
    DASH,
    count_text,
    digits,
    estimate_text,
    percent_text,
    rate_text,
    several_text,
    size_text,
    time_interval_text,
    time_text,
)
from vaiven.report.table import ERROR_NOTE, HOSTS, STACK, Column, Table, two_lines, value_text, with_error
from vaiven.results.costs import SizePoint, StackCost, StackKnee
from vaiven.results.facts import Host

_PAIRS_NAMED = 4  # of those that a note is about; more are counted
MISFIT_TOLD = 0.1  # a line that misses a size by more than this is called into question in words

_SIZE = Column("size", "payload of one message")
_LAB_ERROR = "± what of it may be an error of the lab"


def cost_table(costs: Sequence[StackCost]) -> Table:
    """One row per stack (and pair of hosts, where there are several): the law through its medians, its full rate."""
    pairs = len({cost.pair for cost in costs}) > 1
    columns = (
        *((HOSTS,) if pairs else ()),
        STACK,
        Column("start α", f"what an empty message takes beyond the wire, by the law through the medians; {_LAB_ERROR}"),
        Column("per byte β", "what each byte adds to that"),
        Column("misfit", "the most by which the law misses a measured time, as a share of that time"),
        Column("full rate", "of the largest message, as measured"),
        Column("n½", "the size that gets half of the full rate, read off the measured curve"),
    )
    rows = tuple((*((pair_text(cost),) if pairs else ()), *_cost_row(cost)) for cost in costs)
    wire = [cost.cost.typical.wire_ns is not None for cost in costs]
    law = "t(n) = wire(n) + α + β n" if all(wire) else "t(n) = α + β n"
    notes = (*_letters(any(wire), all(wire)), *_of_whom(costs, _cost_notes), *misfit_notes(costs))
    return Table(f"Cost of a message, one way: {law}", columns, rows, notes)


def _letters(some: bool, every: bool) -> Iterable[str]:
    """What the letters of the table mean, where they stand. Of how many stacks the wire is known: some, every one."""
    beyond = "the software of a message takes beyond its frames on the wire" if some else "an empty message takes"
    yield (
        f"α is what {beyond}, β what each byte adds to that; n½ is the size that gets half of the full rate, which is "
        "that of the largest message: both are read off the measured curve"
    )
    if some and not every:
        yield "where no wire is known the law is one straight line through the whole times: t(n) = α + β n"


def measured_table(costs: Sequence[StackCost]) -> Table:
    """One row per stack (and pair of hosts): its smallest and its largest message, as measured, against the wire."""
    pairs = len({cost.pair for cost in costs}) > 1
    opened = any(cost.connect for cost in costs)
    costs = [cost for cost in costs if cost.points]
    sizes = {cost.points[0].size_bytes for cost in costs}
    columns = (
        *((HOSTS,) if pairs else ()),
        STACK,
        Column("smallest", "time of the smallest message: median over launches, 95 % interval"),
        Column("floor", "the smallest time of all of them"),
        Column("above wire", f"its typical time less its time on the wire; {_LAB_ERROR}"),
        Column("CPU", "CPU time for each of them, of both ends"),
        Column("largest", "rate of the largest message: its size over its typical time"),
        Column("of wire", f"that rate over what the wire allows: 100 % is the physical limit; {_LAB_ERROR}"),
        Column("lost", "messages of all sizes that did not come back in time"),
        *((Column("connect", "opening a connection"),) if opened else ()),
    )
    rows = tuple(
        (
            *((pair_text(cost),) if pairs else ()),
            *_measured_row(cost, len(sizes) > 1),
            *((two_lines(estimate_text(cost.connect)),) if opened else ()),
        )
        for cost in costs
    )
    smallest = f" ({size_text(min(sizes))})" if len(sizes) == 1 else ""
    caption = f"Smallest{smallest} and largest message, as measured, one way"
    words = _measured_words(any(cost.points[0].wire_ns for cost in costs))
    return Table(caption, columns, rows, (*words, *_error_notes(costs)))


def _measured_words(wire: bool) -> tuple[str, ...]:
    """What the words of the table mean, where they stand. wire: whether that of any stack is known."""
    floor = "floor is the smallest time of all, what remains when nothing disturbs"
    rate = "of wire is the rate over what the frames of such messages allow on this link: 100 % is the physical limit"
    return (f"{floor}; {rate}",) if wire else (floor,)


def size_table(cost: StackCost) -> Table:
    """Every size of one stack between two hosts."""
    columns = (
        _SIZE,
        Column("typical", "median over launches, 95 % interval"),
        Column("floor", "smallest time of all"),
        Column("p95", "95 % of messages took at most this, with its 95 % interval"),
        Column("p99", "99 % of messages took at most this, with its 95 % interval"),
        Column("rate", "size over the typical time"),
        Column("wire", "what the wire alone would take"),
        Column("above the wire", f"typical less wire; {_LAB_ERROR}"),
        Column("frames", "on the wire, each way"),
        Column("CPU near", "CPU time per message of the end that keeps the clock"),
        Column("CPU far", "CPU time per message of the end that answers"),
        Column("samples", "timed exchanges, in so many launches"),
        Column("lost", "messages that did not come back in time"),
    )
    rows = tuple(map(_size_row, cost.points))
    notes = (*_error_notes([cost]), *_batch_notes(cost), *_quantile_notes(cost))
    return Table(f"{cost.stack}, {pair_text(cost)}: every size, one way", columns, rows, notes)


def curve_table(costs: Sequence[StackCost], rates: bool) -> Table:
    """The numbers of the time figure, or of the rate figure: one row per size, one column per stack and the wire."""
    sizes = sorted({point.size_bytes for cost in costs for point in cost.points})
    columns = (_SIZE, *(Column(cost.stack) for cost in costs), Column("the wire alone"))
    rows = []
    for size in sizes:
        points = [cost.point(size) for cost in costs]
        wires = [point.wire_ns for point in points if point and point.wire_ns]
        times = [point.typical_ns if point else None for point in points] + [min(wires, default=None)]
        if rates:
            texts = [rate_text(size / ns * 1e9) if ns else DASH for ns in times]
        else:
            texts = [value_text(point.typical_ns, point.typical) if point else DASH for point in points]
            texts.append(time_text(times[-1]))
        rows.append((size_text(size), *texts))
    caption = "Rate by size (MB = 10⁶ bytes)" if rates else "Time by size, one way, median with 95 % interval"
    return Table(caption, columns, tuple(rows))


def ratio_table(costs: Sequence[StackCost]) -> Table:
    """The numbers of the ratio figure: typical time over the wire's own."""
    sizes = sorted({point.size_bytes for cost in costs for point in cost.points if point.wire_ns})
    rows = []
    for size in sizes:
        points = [cost.point(size) for cost in costs]
        texts = (_ratio_text(point) if point and point.share_of_wire else DASH for point in points)
        rows.append((size_text(size), *texts))
    columns = (_SIZE, *(Column(cost.stack) for cost in costs))
    return Table("Typical time over what the wire alone would take", columns, tuple(rows), _error_notes(costs))


def _ratio_text(point: SizePoint) -> str:
    """Typical time over the wire's, which is known."""
    assert point.wire_ns
    error = DASH if point.lab_error_ns is None else digits(point.lab_error_ns / point.wire_ns)
    return with_error(digits(point.typical_ns / point.wire_ns), error)


def _error_notes(costs: Sequence[StackCost]) -> tuple[str, ...]:
    """What ± means, where it stands."""
    known = any(point.lab_error_ns is not None for cost in costs for point in cost.points)
    return (ERROR_NOTE,) if known else ()


def ladder_table(ladder: Ladder, lab_error_ns: Sequence[int | None] = (), hosts: str = "") -> Table:
    """What each layer adds over the one below it, one row per size. lab_error_ns: by size, of the layer on the wire.
    hosts: "near → far", where it is one of several."""
    top = ladder.rungs[-1]
    columns = (
        _SIZE,
        *(Column(rung.name, _over(rung.over)) for rung in ladder.rungs),
        Column("together"),
        Column("CPU", f"work of both ends for {top.name}, over the whole time: above 100 % both work at once"),
    )
    rows = []
    for i, size in enumerate(ladder.sizes_bytes):
        errors = [lab_error_ns[i] if lab_error_ns and rung.over == WIRE else None for rung in ladder.rungs]
        texts = (
            with_error(two_lines(time_interval_text(rung.ns[i], rung.low_ns[i], rung.high_ns[i])), time_text(error))
            for rung, error in zip(ladder.rungs, errors, strict=True)
        )
        rows.append((size_text(size), *texts, time_text(ladder.total_ns[i]), percent_text(top.cpu_share[i])))
    notes = [f"no intervals: {ladder.refused}"] if ladder.refused else []
    for rung in ladder.rungs:
        if rung.below_zero.size:
            sizes = ", ".join(map(size_text, rung.below_zero))
            notes.append(f"{rung.name} is faster than {rung.over} at {sizes}: there it is not a layer on top of it")
    caption = f"What each layer adds, one way{f', {hosts}' if hosts else ''}"
    return Table(caption, columns, tuple(rows), tuple(notes))


def distribution_table(costs: Sequence[StackCost], size_bytes: int) -> Table:
    """How the messages of one size spread, one row per stack."""
    marks = ((0.0, "smallest"), (0.25, "25 %"), (0.5, "half"), (0.75, "75 %"))
    columns = (STACK, *(Column(name) for _, name in marks), Column("95 %"), Column("99 %"), Column("largest"))
    rows = []
    for cost in costs:
        point = cost.point(size_bytes)
        if point and point.quantiles_ns:
            last = len(point.quantiles_ns) - 1
            known: list[float | None] = [point.quantiles_ns[round(share * last)] for share, _ in marks]
            known += [point.p95.value, point.p99.value, point.quantiles_ns[-1]]
            rows.append((cost.stack, *map(time_text, known)))
    return Table(f"Messages of {size_text(size_bytes)}: done within", columns, tuple(rows))


def residual_table(costs: Sequence[StackCost]) -> Table:
    """How far each size lies off its stack's law, and how far the law drawn without it would have missed."""
    found = {cost.stack: dict(off_line(cost)) for cost in costs if off_line(cost)}
    sizes = sorted({size for values in found.values() for size in values})
    columns = (_SIZE, *(Column(stack, "(measured − law)/measured") for stack in found))
    rows = tuple((size_text(size), *(percent_text(values.get(size)) for values in found.values())) for size in sizes)
    return Table(
        "Off the law, as a share of the measured time", columns, rows, tuple(filter(None, map(_residual_note, costs)))
    )


def off_line(cost: StackCost) -> list[tuple[int, float]]:
    """(size, (measured - law)/measured) of the typical fit; empty where there is no law."""
    line = cost.cost.typical
    if not (line.alpha.known and line.beta.known):
        return []
    off = 1 - line.law_ns() / line.centre_ns
    return [(int(size), float(value)) for size, value in zip(line.sizes_bytes, off, strict=True)]


def _residual_note(cost: StackCost) -> str:
    one = cost.residuals
    if one.left_out_max is None:
        return ""
    text = f"{cost.stack}: a law drawn without a size misses its measured time by at most"
    text = f"{text} {percent_text(one.left_out_max)}"
    return f"{text}; the points bend away from any straight line" if one.bends else text


def knee_table(knees: Sequence[StackKnee]) -> Table:
    """Where the cost of each stack changes its law, and what is known to lie there."""
    pairs = len({(one.near, one.far) for one in knees}) > 1
    columns = (
        *((HOSTS,) if pairs else ()),
        STACK,
        Column("at", "where the law changes, with its interval"),
        Column("what", "a jump of the time, or a bend; confirmed: found again in sizes added around it", number=False),
        Column("jump", "by how much the time jumps there, beyond the wire where that is known"),
        Column("slope before", "time per byte below, beyond the wire"),
        Column("slope after", "time per byte above, beyond the wire"),
        Column("what lies there", "limits of frames, segments and buffers in that interval", number=False),
    )
    rows = []
    for one in knees:
        knee, limits = one.explained.knee, one.explained.limits
        causes = " or ".join(f"{limit.cause} ({size_text(limit.size_bytes)})" for limit in limits[:3])
        slopes = (_slope_text(knee.slope_before), _slope_text(knee.slope_after))
        at, jump = two_lines(estimate_text(knee.size)), two_lines(estimate_text(knee.step))
        kind = f"{knee.kind.value}, confirmed" if one.explained.confirmed else knee.kind.value
        hosts = (f"{one.near} → {one.far}",) if pairs else ()
        rows.append((*hosts, one.stack, at, kind, jump, *slopes, causes or "nothing known"))
    return Table("Where the cost changes its law", columns, tuple(rows), labels=1 + pairs)


def papers_table(costs: Sequence[StackCost]) -> Table:
    """The published estimators of the same launches: no intervals, means instead of medians, unweighted lines."""
    pairs = len({cost.pair for cost in costs}) > 1
    columns = (
        *((HOSTS,) if pairs else ()),
        STACK,
        Column("latency", "mean time of the empty (or one-byte) message"),
        Column("(t − latency)/n", "per byte, at the largest size"),
        Column("line: constant", "unweighted least squares through the means"),
        Column("line: slope", "the same, time per byte"),
        Column("exchanges"),
    )
    rows = []
    for cost in costs:
        papers = cost.papers
        tau = papers.tau_ns_per_byte[-1] if papers.tau_ns_per_byte.size else None
        row = (
            cost.stack, time_text(papers.latency_ns), _slope_text(tau), time_text(papers.intercept_ns),
            _slope_text(papers.slope_ns_per_byte), count_text(papers.repetitions),
        )  # fmt: skip
        rows.append((*((pair_text(cost),) if pairs else ()), *row))
    notes = _of_whom(costs, lambda cost: (f"no {why}" for why in cost.papers.refused))
    return Table("The papers' own estimators, one way", columns, tuple(rows), tuple(notes), labels=1 + pairs)


def costs_tables(said: Sequence[StackCost]) -> tuple[Table, ...]:
    """What was measured, then the law through it."""
    return measured_table(said), cost_table(said)


def loggp_tables(said: Sequence[LogGP]) -> tuple[Table, ...]:
    """The parameters, then every size of each stack."""
    return loggp_table(said), *map(overhead_table, said)


def loggp_table(found: Sequence[LogGP]) -> Table:
    """One row per stack (and pair of hosts): where the start-up of a message goes."""
    pairs = len({(one.near, one.far) for one in found}) > 1
    columns = (
        *((HOSTS,) if pairs else ()),
        STACK,
        Column("L", "latency that no processor pays, of the smallest message"),
        Column("o_s", "what sending the smallest message costs the processor"),
        Column("o_r", "what receiving it costs the processor"),
        Column("g", "gap between messages"),
        Column("G", "gap that each byte adds"),
    )
    rows = tuple(
        (
            *((f"{one.near} → {one.far}",) if pairs else ()),
            one.stack,
            *(two_lines(estimate_text(each)) for each in (one.L, one.o_s, one.o_r, one.g, one.G)),
        )
        for one in found
    )
    notes = []
    for one in found:
        who = f"{one.near} → {one.far} {one.stack}" if pairs else one.stack
        notes += [f"{who}: {each.refused}" for each in (one.L, one.o_s, one.o_r, one.g, one.G) if each.refused]
        notes += [f"{who}: {note}" for note in one.notes]
    return Table("LogGP: where the time of a message goes", columns, rows, tuple(dict.fromkeys(notes)))


def overhead_table(found: LogGP) -> Table:
    """Every size of one stack: its overheads and its gap."""
    columns = (
        _SIZE,
        Column("o_s", "what sending costs, by the sender's clock"),
        Column("o_s by trains", "the same, from round trips of spaced trains"),
        Column("o_r", "what receiving costs"),
        Column("gap", "between messages at full speed: g + G n"),
    )
    each = (found.o_s_ns, found.o_s_prtt_ns, found.o_r_ns, found.gap_ns)
    rows = tuple(
        (size_text(size), *(time_text(float(ns[i])) for ns in each))
        for i, size in enumerate(found.sizes_bytes.tolist())
    )
    return Table(f"{found.stack}, {found.near} → {found.far}: overheads and gap by size", columns, rows)


def host_table(hosts: Sequence[Host]) -> Table:
    """The inventories side by side: one row per fact, one column per host."""
    facts = tuple(dict.fromkeys(what for host in hosts for what, _ in host.facts))
    values = [dict(host.facts) for host in hosts]
    rows = tuple((what, *(value.get(what, DASH) for value in values)) for what in facts)
    columns = (Column("", number=False), *(Column(host.name, number=False) for host in hosts))
    return Table("Inventory, taken when the run began", columns, rows)


def pair_text(cost: StackCost) -> str:
    return f"{cost.near} → {cost.far}"


def _over(below: str) -> str:
    return f"over {below}" if below else "by itself"


def _slope_text(ns_per_byte: float | None) -> str:
    return DASH if ns_per_byte is None or math.isnan(ns_per_byte) else f"{digits(ns_per_byte)} ns/B"


def _cost_row(cost: StackCost) -> tuple[str, ...]:
    line = cost.cost.typical
    alpha, beta, rate, half = (
        two_lines(estimate_text(one)) for one in (line.alpha, line.beta, cost.half.full, cost.half.size)
    )
    alpha = with_error(alpha, time_text(cost.lab_error_ns)) if line.wire_ns is not None else alpha
    return (cost.stack, alpha, beta, percent_text(line.misfit), rate, half)


def _measured_row(cost: StackCost, with_size: bool) -> tuple[str, ...]:
    first, last = cost.points[0], cost.points[-1]
    smallest = value_text(first.typical_ns, first.typical)
    return (
        cost.stack,
        f"{size_text(first.size_bytes)}: {smallest}" if with_size else smallest,
        time_text(first.floor_ns),
        _above_text(first),
        _cpu_text(first),
        f"{rate_text(last.rate_bytes_per_s)}\n{size_text(last.size_bytes)}",
        _share_text(last),
        _lost_text(cost.points),
    )


def _above_text(point: SizePoint) -> str:
    """What it takes beyond the wire, and what of that may be the lab's."""
    return with_error(time_text(point.above_wire_ns), time_text(point.lab_error_ns))


def _share_text(point: SizePoint) -> str:
    """The wire's part of its time, and what of that may be the lab's."""
    share, error_ns = point.share_of_wire, point.lab_error_ns
    if share is None or error_ns is None:
        return percent_text(share)
    return with_error(percent_text(share), percent_text(share * error_ns / point.typical_ns))


def _cost_notes(cost: StackCost) -> Iterable[str]:
    """Why a stack has no law, or no letter of it, and what else must be known of its law."""
    line = cost.cost.typical
    letters = {"α": line.alpha, "β": line.beta, "n½": cost.half.size}
    for name, estimate in [("law", line)] if line.refused else letters.items():
        if estimate.refused:
            yield f"no {name}: {estimate.refused}"
    yield from line.notes


def _of_whom(costs: Sequence[StackCost], notes: Callable[[StackCost], Iterable[str]]) -> Iterable[str]:
    """What is said of each stack, once: of all of its pairs of hosts, or of those that it is said of."""
    said: dict[tuple[str, str], list[StackCost]] = {}
    for cost in costs:
        for note in notes(cost):
            said.setdefault((cost.stack, note), []).append(cost)
    yield from (f"{', '.join(_names(those, costs))}: {note}" for (_, note), those in said.items())


def _names(those: Sequence[StackCost], costs: Sequence[StackCost]) -> Iterable[str]:
    """The stacks among all of a table, each with the pairs of hosts that are meant, where they are not all it has."""
    for stack in dict.fromkeys(cost.stack for cost in those):
        pairs = [pair_text(cost) for cost in those if cost.stack == stack]
        every = sum(cost.stack == stack for cost in costs) == len(pairs)
        yield stack if every else f"{stack} ({several_text(pairs, _PAIRS_NAMED)})"


def misfit_notes(costs: Sequence[StackCost]) -> Iterable[str]:
    """A line for the stacks whose law misses a size by more than 10 % of its time, and where it changes."""
    bad: dict[str, list[StackCost]] = {}
    for cost in costs:
        if cost.cost.typical.misfit > MISFIT_TOLD:
            bad.setdefault(law_change(cost), []).append(cost)
    for where, those in bad.items():
        most = max(cost.cost.typical.misfit for cost in those)
        fits = f"the law fits badly (misfit {'up to ' if len(those) > 1 else ''}{percent_text(most)})"
        yield f"{', '.join(_names(those, costs))}: {fits}{': ' if where else ''}{where}"


def law_change(cost: StackCost) -> str:
    """Where the cost changes its law most, and why: by the knees that were found, else where messages become several
    frames, if the slope changes there; "" where the sizes do not tell."""
    known = [one for one in cost.knees if one.knee.size.value is not None]
    if known:
        most = max(known, key=lambda one: one.knee.bic_gain)
        if most.limits:
            return f"the law changes at {size_text(most.limits[0].size_bytes)} ({most.limits[0].cause})"
        edges = (most.knee.before_bytes, most.knee.after_bytes)
        return f"the law changes between {size_text(edges[0])} and {size_text(edges[1])} (no known limit lies there)"
    single = [point for point in cost.points if point.wire_frames == 1]
    several = [point for point in cost.points if (point.wire_frames or 0) > 1]
    if len(single) < 2 or len(several) < 2:
        return ""
    before, after = _slope(single[0], single[-1]), _slope(several[0], several[-1])
    if abs(after / before - 1) <= MISFIT_TOLD:
        return ""
    edges = (single[-1].size_bytes, several[0].size_bytes)
    return f"the law changes between {size_text(edges[0])} and {size_text(edges[1])} (the limit of one frame)"


def _slope(first: SizePoint, last: SizePoint) -> float:
    """Time per further byte between two sizes, ns; beyond the wire where that is known."""
    low, high = (point.typical_ns - (point.wire_ns or 0.0) for point in (first, last))
    return (high - low) / (last.size_bytes - first.size_bytes)


def _size_row(point: SizePoint) -> tuple[str, ...]:
    return (
        size_text(point.size_bytes),
        value_text(point.typical_ns, point.typical),
        time_text(point.floor_ns),
        two_lines(estimate_text(point.p95)),
        two_lines(estimate_text(point.p99)),
        rate_text(point.rate_bytes_per_s) if point.size_bytes else DASH,
        time_text(point.wire_ns),
        _above_text(point),
        DASH if point.wire_frames is None else str(point.wire_frames),
        time_text(point.cpu_near_ns),
        time_text(point.cpu_far_ns),
        f"{count_text(point.samples)} in {point.launches}",
        _lost_text((point,)),
    )


def _batch_notes(cost: StackCost) -> Iterable[str]:
    batched = [size_text(point.size_bytes) for point in cost.points if point.batch > 1]
    if batched:
        yield f"timed in batches, so that p95 and p99 are of batch means, not of messages: {', '.join(batched)}"


def _quantile_notes(cost: StackCost) -> Iterable[str]:
    """Why sizes have no p95 or p99, one reason a line."""
    for name in ("p95", "p99"):
        sizes: dict[str, list[str]] = {}
        for point in cost.points:
            why, _, count = getattr(point, name).refused.partition(": ")
            if why:
                sizes.setdefault(why, []).append(size_text(point.size_bytes) + (f" ({count})" if count else ""))
        yield from (f"no {name} at {', '.join(where)}: {why}" for why, where in sizes.items())


def _cpu_text(point: SizePoint) -> str:
    if point.cpu_near_ns is None:
        return DASH
    if point.cpu_far_ns is None:
        return f"{time_text(point.cpu_near_ns)}\nnear only"
    return time_text(point.cpu_near_ns + point.cpu_far_ns)


def _lost_text(points: Sequence[SizePoint]) -> str:
    lost, wrong = sum(point.lost for point in points), sum(point.corrupt for point in points)
    return f"{count_text(lost)}\n{count_text(wrong)} corrupt" if wrong else count_text(lost)
