# SPDX-License-Identifier: BSD-3-Clause
"""Curves -> plotly figures, as plain dicts that a page can carry as JSON.

A colour is {"light": CSS, "dark": CSS}: the page, or `themed`, picks one. A trace says what it shows in meta.role
("typical", "floor", "wire", ...), so that a page can switch roles on and off; customdata is (where, what) in words for
each point. Names are escaped here, because plotly reads a little HTML in every text. On a logarithmic axis a size of 0
stands at ZERO_PLACE.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from vaiven.model.chart import Chart
from vaiven.model.numbers import (
    bits_text,
    change_text,
    digits,
    minute_text,
    percent_text,
    rate_interval_text,
    rate_text,
    size_labels,
    size_text,
    size_ticks,
    tick_text,
    time_interval_text,
    time_text,
    time_ticks,
)
from vaiven.plot.curves import Course, Curve, Distribution, Fan, HostMap, Layer, Residuals, Staircase, Trend
from vaiven.plot.palette import WIRE, Look, looks

Figure = dict[str, Any]
_Value = Callable[[int, float], float]
_Text = Callable[[int, float], str]

MAP_SPAN = 1.5
CLEAR = "rgba(0,0,0,0)"
NO_WIRE = Staircase((), ())  # of a path whose headers or link nobody knows
ZERO_PLACE = 0.4  # left of 1 byte, and rounds to 0 where a hover label prints it

_INK = {"light": "#1d2733", "dark": "#e4e9ee"}
_QUIET = {"light": "#5b6470", "dark": "#a3adb9"}
_GRID = {"light": "#e3e7ec", "dark": "#2c3540"}
_PAPER = {"light": "#ffffff", "dark": "#171d24"}
_HAIR_ACROSS, _HAIR_UP = 1.02, 0.001  # what is nearer than that is one place, of sizes and of ratios
_RAMP = ((0, 34, 78), (88, 92, 110), (148, 142, 119), (202, 186, 106), (254, 232, 56))  # told apart by everybody
_SIZE_TITLE = "message size (payload)"
_TIME_TITLE = "time, one way"
_WIRE_NAME = "the wire alone"
_FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"


def time_figure(curves: Sequence[Curve], wire: Staircase = NO_WIRE, title: str = _TIME_TITLE) -> Figure:
    """Time of a message against its size, both axes logarithmic: the papers' first format."""
    traces = _wire_traces(curves, wire, lambda size, ns: ns, lambda size, ns: time_text(ns))
    for curve, look in _with_looks(curves):
        texts, ups, downs = _with_interval(curve)
        floors = [time_text(ns) for ns in curve.floor_ns]
        if floors:
            texts = [f"{text}, floor {floor}" for text, floor in zip(texts, floors, strict=True)]
        traces.append(_line(curve, look, curve.typical_ns, texts, ups, downs))
        if floors:
            traces.append(_floor_line(curve, look, curve.floor_ns, floors))
    shown = [y for trace in traces for y in trace["y"]]
    return _figure(traces, xaxis=_size_axis(curves), yaxis=_time_axis(shown, title))


def fan_figure(fans: Sequence[Fan], title: str) -> Figure:
    """Time against the number of receivers, both axes logarithmic; the wire's is that of the leanest stack."""
    least = _least((count, ns) for fan in fans for count, ns in zip(fan.receivers, fan.wire_ns, strict=True))
    texts = list(map(time_text, least.values()))
    wire = _trace(_WIRE_NAME, "wire", WIRE, list(least), list(least.values()), [f"to {n}" for n in least], texts)
    traces = [wire | {"mode": "lines", "line": _stroke(WIRE, 2), "visible": bool(least)}]
    for fan, look in _with_looks(fans):
        texts, ups, downs = _with_interval(fan)
        where = [f"to {count}" for count in fan.receivers]
        trace = _trace(fan.name, "typical", look, fan.receivers, fan.typical_ns, where, texts)
        traces.append(_marked(trace, look, ups, downs))
    counts = sorted({count for fan in fans for count in fan.receivers})
    marks = {"tickvals": counts, "ticktext": [str(count) for count in counts], "tickangle": 0}
    span = [math.log10(0.9 * counts[0]), math.log10(1.1 * counts[-1])]
    axis = _axis("receivers", type="log", range=span, unifiedhovertitle={"text": "to %{x}"}, **marks)
    times = [y for trace in traces for y in trace["y"] if y]
    # What rises with the receivers must look steep beside what does not.
    times.append(min(times, default=1.0) * counts[-1] / counts[0])
    return _figure(traces, xaxis=axis, yaxis=_time_axis(times, title))


def ratio_figure(curves: Sequence[Curve], wires: Sequence[Staircase] = ()) -> Figure:
    """Time over the time that the wire alone would take, by size; sizes without a wire time are left out.

    The wire itself is the level line at 1. wires: of each curve, where its steps are known; between measured sizes its
    line then has them, and what the software adds is joined straight.
    """
    each = zip(_with_looks(curves), wires or [NO_WIRE] * len(curves), strict=True)
    traces = [_level(curves), *(trace for (curve, look), wire in each for trace in _over_wire(curve, look, wire))]
    return _figure(traces, xaxis=_size_axis(curves), yaxis=_ratio_axis([y for trace in traces for y in trace["y"]]))


def _over_wire(curve: Curve, look: Look, wire: Staircase) -> list[Figure]:
    """One curve over its own wire: a line, its marks, and its floor where it has one."""
    kept = [index for index, ns in enumerate(curve.wire_ns) if ns]
    part = Residuals(curve.name, tuple(curve.sizes_bytes[index] for index in kept), ())
    own = [curve.wire_ns[index] or math.nan for index in kept]
    ratios, lows, highs, floors = (
        [times[index] / ns for index, ns in zip(kept, own, strict=True)] if times else []
        for times in (curve.typical_ns, curve.low_ns, curve.high_ns, curve.floor_ns)
    )
    texts, lowest = ([f"{digits(ratio)} times the wire" for ratio in several] for several in (ratios, floors))
    if floors:
        texts = [f"{text}, floor {digits(ratio)}" for text, ratio in zip(texts, floors, strict=True)]
    ups, downs = ([abs(end - y) for end, y in zip(ends, ratios, strict=True)] for ends in (highs, lows))
    marks = _line(part, look, ratios, texts, ups, downs)
    floor = _floor_line(part, look, floors, lowest) if floors else None
    if not kept or not wire.sizes_bytes:
        return [marks, *([floor] if floor else [])]
    line = _between(marks, _stepped(part, ratios, own, wire))
    return [line, marks | {"mode": "markers"}, *([floor | _stepped(part, floors, own, wire)] if floor else [])]


def _between(marks: Figure, places: Figure) -> Figure:
    """The line that goes through those marks by those places; it is not pointed at."""
    line = {key: marks[key] for key in ("type", "name", "legendgroup", "line")} | places
    line |= {"mode": "lines", "meta": {"role": "between"}, "showlegend": False}
    return line | {"hoverinfo": "skip", "hovertemplate": None}


def _stepped(curve: Residuals, ratios: Sequence[float], own_ns: Sequence[float], wire: Staircase) -> Figure:
    """Places of a line through every step of the wire, from times over the wire's own at the measured sizes."""
    above_ns = [(ratio - 1) * ns for ratio, ns in zip(ratios, own_ns, strict=True)]
    joined = np.interp(wire.sizes_bytes, curve.sizes_bytes, above_ns)
    heights = [1 + float(above) / ns for above, ns in zip(joined, wire.ns, strict=True)]
    places = _seen(list(zip(_places(wire.sizes_bytes), heights, strict=True)))
    return {"x": _tidy([x for x, _ in places]), "y": _tidy([y for _, y in places]), "customdata": []}


def _seen(places: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Those of a line on two logarithmic axes that are not where the one before them is, as far as one sees."""
    kept = list(places[:1])
    for x, y in places[1:-1]:
        if x >= _HAIR_ACROSS * kept[-1][0] or abs(y / kept[-1][1] - 1) >= _HAIR_UP:
            kept.append((x, y))
    return kept + list(places[1:][-1:])


def _level(curves: Sequence[Curve]) -> Figure:
    """The wire's own time over itself, as wide as the sizes."""
    sizes = sorted({size for curve in curves for size in curve.sizes_bytes})
    ends = _places([sizes[0], sizes[-1]]) if sizes else []
    line = _trace(_WIRE_NAME, "wire", WIRE, ends, [1] * len(ends), (), (), mode="lines", legendgroup=_WIRE_NAME)
    return line | {"line": _stroke(WIRE, 1.5), "hoverinfo": "skip", "hovertemplate": None}


def _ratio_axis(ratios: Sequence[float]) -> Figure:
    most = max(ratios, default=1.2)
    ticks = [1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000]
    ticks = [tick for tick in ticks if tick <= most * 1.2]
    marks = {"tickvals": ticks, "ticktext": [f"{tick:g} ×" for tick in ticks]}
    span = [math.log10(min([0.97, *ratios]) * 0.99), math.log10(max(1.2, most) * 1.08)]
    return _axis("time over the wire's own", type="log", range=span, **marks)


def rate_figure(curves: Sequence[Curve], line_bytes_per_s: float | None, wire: Staircase = NO_WIRE) -> Figure:
    """Rate n/t against size, sizes logarithmic: the papers' second format. MB = 10^6 bytes."""
    traces = _wire_traces(curves, wire, lambda size, ns: _rate(size, ns) / 1e6, lambda s, ns: rate_text(_rate(s, ns)))
    for curve, look in _with_looks(curves):
        rates = _rates(curve, curve.typical_ns)
        lows, highs = _rates(curve, curve.high_ns), _rates(curve, curve.low_ns)
        texts = [rate_interval_text(*numbers) for numbers in zip(rates, lows, highs, strict=True)]
        ups = [(high - rate) / 1e6 for rate, high in zip(rates, highs, strict=True)]
        downs = [(rate - low) / 1e6 for rate, low in zip(rates, lows, strict=True)]
        floors = _rates(curve, curve.floor_ns)
        traces.append(_line(curve, look, [rate / 1e6 for rate in rates], texts, ups, downs))
        traces.append(_floor_line(curve, look, [rate / 1e6 for rate in floors], [rate_text(rate) for rate in floors]))
    layout: Figure = {"yaxis": _axis("rate, MB/s (MB = 10⁶ bytes)", rangemode="tozero")}
    if line_bytes_per_s:
        layout |= _line_rate(line_bytes_per_s)
    return _figure(traces, xaxis=_size_axis(curves), **layout)


def trend_figure(trends: Sequence[Trend]) -> Figure:
    """Times of one message against the date of the run, logarithmic."""
    traces = [_trend(one, look, one.values, list(map(time_text, one.values))) for one, look in _with_looks(trends)]
    return _dated(traces, trends, _time_axis(y for trace in traces for y in trace["y"]))


def change_figure(trends: Sequence[Trend]) -> Figure:
    """Ratios to what is usual against the date of the run, in per cent more or less."""
    traces = [
        _trend(one, look, [100 * (ratio - 1) for ratio in one.values], list(map(change_text, one.values)))
        for one, look in _with_looks(trends)
    ]
    axis = _axis("slower (+) or faster (−), %", zeroline=True, zerolinecolor=_QUIET, ticksuffix=" %")
    return _dated(traces, trends, axis)


def _trend(one: Trend, look: Look, values: Sequence[float], texts: Sequence[str]) -> Figure:
    days = [_days(made, one.made[0]) for made in one.made]
    trace = _trace(one.name, "typical", look, days, values, list(map(minute_text, one.made)), texts)
    trace["hovertemplate"] = f"<b>{trace['name']}</b> %{{customdata[0]}}: %{{customdata[1]}}<extra></extra>"
    return _marked(trace, look, None, None)


def _dated(traces: list[Figure], trends: Sequence[Trend], yaxis: Figure) -> Figure:
    """The figure over its dates: a mark at each run, of whose words those are left out that would lie on others."""
    made = sorted({one for trend in trends for one in trend.made})
    span = _days(made[-1], made[0])
    shown = "%Y-%m-%d" if span >= 2 else "%m-%d %H:%M"
    marks = {"tickvals": [_days(one, made[0]) for one in made], "ticktext": [f"{one:{shown}}" for one in made]}
    margin = 0.06 * span or 1 / 24 / 60
    axis = _axis("when the run was made, UTC", range=[-margin, span + margin], tickangle=0, **marks)
    return _figure(traces, xaxis=axis, yaxis=yaxis, hovermode="closest")


def _days(later: datetime, earlier: datetime) -> float:
    return (later - earlier) / timedelta(days=1)


def residual_figure(residuals: Sequence[Residuals]) -> Figure:
    """How far each size lies off its stack's law, in per cent of the measured time."""
    traces = []
    for one, look in _with_looks(residuals):
        texts = [f"{percent_text(value)} off the law" for value in one.relative]
        traces.append(_line(one, look, [100 * value for value in one.relative], texts, None, None))
    axis = _axis("off the law, %", zeroline=True, zerolinecolor=_QUIET, ticksuffix=" %")
    return _figure(traces, xaxis=_size_axis(residuals), yaxis=axis)


def distribution_figure(distributions: Sequence[Distribution]) -> Figure:
    """The share of messages that took at most so long, for several stacks at one size."""
    traces = []
    for one, look in _with_looks(distributions):
        steps = max(1, len(one.quantiles_ns) - 1)
        shares = [100 * index / steps for index in range(len(one.quantiles_ns))]
        where = [f"{share:.0f} %" for share in shares]
        texts = [f"{text} within {time_text(ns)}" for text, ns in zip(where, one.quantiles_ns, strict=True)]
        trace = _trace(one.name, "typical", look, one.quantiles_ns, shares, where, texts, mode="lines")
        traces.append(trace | {"line": _stroke(look, 2)})
    # The slowest hundredth would press all others together: it lies beyond the edge.
    axis = _time_axis([x for trace in traces for x in trace["x"][: max(2, round(0.99 * len(trace["x"])))]])
    share_axis = _axis("messages done, %", range=[0, 101], ticksuffix=" %")
    return _figure(traces, xaxis=axis, yaxis=share_axis, hovermode="closest")


def ladder_figure(sizes_bytes: Sequence[int], layers: Sequence[Layer]) -> Figure:
    """What each layer adds, as a share of the whole time, one bar per size; whiskers are the layers' intervals."""
    wholes = [sum(layer.added_ns[index] for layer in layers) for index in range(len(sizes_bytes))]
    chosen = looks(layer.name for layer in layers)
    traces = []
    for layer in layers:
        look = WIRE if layer.name == "wire" else chosen[layer.name]
        texts = [time_text(ns) for ns in layer.added_ns]
        hovers = [
            time_interval_text(*numbers) for numbers in zip(layer.added_ns, layer.low_ns, layer.high_ns, strict=True)
        ]
        shares = [100 * ns / whole for ns, whole in zip(layer.added_ns, wholes, strict=True)]
        ups = [100 * (high - ns) / whole for high, ns, whole in zip(layer.high_ns, layer.added_ns, wholes, strict=True)]
        downs = [100 * (ns - low) / whole for low, ns, whole in zip(layer.low_ns, layer.added_ns, wholes, strict=True)]
        where = [size_text(size) for size in sizes_bytes]
        trace = _trace(layer.name, "layer", look, size_labels(sizes_bytes), shares, where, hovers, type="bar")
        trace |= {
            "text": texts,
            "marker": {"color": _colour(look), "line": {"width": 1, "color": _PAPER}},
            "textposition": "inside",
            "insidetextanchor": "middle",
            "textangle": 0,
            "insidetextfont": {"color": {"light": "#ffffff", "dark": "#10151a"}},
            "error_y": _whiskers(look, ups, downs) | {"color": _INK, "thickness": 1.2},
        }
        traces.append(trace)
    names = size_labels(sizes_bytes)
    marks = {"range": [-0.5, len(names) - 0.5], "tickvals": names, "ticktext": names, "tickangle": 0}
    return _figure(
        traces,
        xaxis=_axis("message size", type="category", showgrid=False, **marks),
        yaxis=_axis("share of the whole time, %", ticksuffix=" %"),
        barmode="relative",
        bargap=0.25,
        uniformtext={"minsize": 10, "mode": "hide"},
    )


def sequence_figure(courses: Sequence[Course]) -> Figure:
    """How far a message had come, against time: both axes are even, so that bursts and pauses are as long as they were.

    What was acknowledged is a line, for all of it counts; the others are the segments themselves.
    """
    traces = []
    for course, look in _with_looks(courses):
        times_ms = [ns / 1e6 for ns in course.at_ns]
        where, texts = [time_text(ns) for ns in course.at_ns], [size_text(size) for size in course.sizes_bytes]
        trace = _trace(course.name, "typical", look, times_ms, [n / 1e3 for n in course.sizes_bytes], where, texts)
        is_line = course.name == "acknowledged"
        trace |= {"mode": "lines", "line": _stroke(look, 1.5)} if is_line else {"mode": "markers"}
        trace["marker"] = {"color": _colour(look), "symbol": look.marker, "size": 5}
        trace["hovertemplate"] = f"<b>{trace['name']}</b> %{{customdata[1]}} at %{{customdata[0]}}<extra></extra>"
        traces.append(trace)
    xaxis = _axis("time since the message was begun", rangemode="tozero", ticksuffix=" ms")
    return _figure(traces, xaxis=xaxis, yaxis=_axis("of the message, kB", rangemode="tozero"), hovermode="closest")


def chart_figure(chart: Chart) -> Figure:
    """Lines over the axes of a figure that was published."""
    traces = []
    for one, look in _with_looks(chart.series):
        numbers = list(zip(one.y, one.low, one.high, strict=True))
        texts = [
            f"{digits(y)} [{digits(low)}, {digits(high)}]" if math.isfinite(low) else digits(y)
            for y, low, high in numbers
        ]
        ups, downs = [high - y for y, _, high in numbers], [y - low for y, low, _ in numbers]
        trace = _trace(one.name, "typical", look, one.x, one.y, list(map(digits, one.x)), texts)
        traces.append(_marked(trace, look, ups, downs))
    xaxis, yaxis = (
        _axis(axis.title, **_marks(value for trace in traces for value in trace[side]) if axis.log else {})
        for side, axis in (("x", chart.x), ("y", chart.y))
    )
    return _figure(traces, xaxis=xaxis, yaxis=yaxis)


def _marks(values: Iterable[float | None]) -> Figure:
    """A logarithmic axis from the least to the largest value, with a mark at each power of ten."""
    positive = [value for value in values if value is not None and value > 0]
    if not positive:
        return {"type": "log"}
    low, high = math.log10(min(positive)), math.log10(max(positive))
    margin = 0.04 * max(high - low, 0.3)
    ticks = [10.0**power for power in range(math.floor(low), math.ceil(high) + 1)]
    words = {"tickvals": ticks, "ticktext": [f"{tick:,.6g}".replace(",", "\u202f") for tick in ticks]}
    return {"type": "log", "range": [low - margin, high + margin], **words}


def host_figure(host_map: HostMap) -> Figure:
    """A number for every pair of hosts, as a map: a row of boxes for each near host, coloured by their numbers."""
    many = max(len(host_map.rows), len(host_map.columns)) > 16
    known = [value for row in host_map.values for value in row if value is not None]
    # Pairs that differ by little look alike: the colours span a factor of MAP_SPAN at least.
    widen = max(1.0, MAP_SPAN * min(known) / max(known)) ** 0.5 if known and min(known) > 0 else 1.0
    span = (min(known) / widen, max(known) * widen) if known else (0.0, 1.0)
    rows = _names(host_map.rows)
    traces = []
    for index, column in enumerate(_names(host_map.columns)):
        values = [row[index] for row in host_map.values]
        texts = [row[index] for row in host_map.texts]
        boxes = [_box(value, *span) for value in values]
        where = [f"{row} → {column}" for row in rows]
        traces.append({
            "type": "bar",
            "orientation": "h",
            "name": "",
            "x": [1] * len(rows),
            "y": rows,
            "customdata": [list(pair) for pair in zip(where, texts, strict=True)],
            "hovertemplate": "%{customdata[0]}: %{customdata[1]}<extra></extra>",
            "marker": {"color": [colour for colour, _ in boxes], "line": {"width": 1, "color": _PAPER}},
            "text": [""] * len(texts) if many else texts,
            "textposition": "inside",
            "insidetextanchor": "middle",
            "textangle": 0,
            "insidetextfont": {"color": [ink for _, ink in boxes]},
            "showlegend": False,
            "meta": {"role": "map"},
        })  # fmt: skip
    marks = {"tickvals": [index + 0.5 for index in range(len(traces))], "ticktext": _names(host_map.columns)}
    return _figure(
        traces,
        xaxis=_axis("far host", range=[0, max(1, len(traces))], showgrid=False, **marks),
        yaxis=_axis("near host", type="category", showgrid=False, autorange="reversed"),
        barmode="stack",
        bargap=0.02,
        hovermode="closest",
    )


def _box(value: float | None, low: float, high: float) -> tuple[Any, Any]:
    """(colour, ink) of a value on the way from low to high; what was not measured is not there."""
    if value is None:
        return CLEAR, _INK
    share = min(1.0, max(0.0, (value - low) / (high - low))) if high > low else 0.5
    place = share * (len(_RAMP) - 1)
    first = min(int(place), len(_RAMP) - 2)
    red, green, blue = (
        round(one + (place - first) * (other - one)) for one, other in zip(_RAMP[first], _RAMP[first + 1], strict=True)
    )
    return f"rgb({red},{green},{blue})", "#ffffff" if share < 0.5 else "#10151a"


def themed(value: Any, theme: str) -> Any:
    """`value` with every colour resolved for "light" or "dark"; the page does the same in the browser."""
    if isinstance(value, dict):
        if value.keys() == {"light", "dark"}:
            return value[theme]
        return {key: themed(item, theme) for key, item in value.items()}
    return [themed(item, theme) for item in value] if isinstance(value, list) else value


def _with_looks(curves: Sequence[Any]) -> Iterable[tuple[Any, Look]]:
    chosen = looks(curve.name for curve in curves)
    return ((curve, chosen[curve.name]) for curve in curves)


def _colour(look: Look) -> dict[str, str]:
    return {"light": look.light, "dark": look.dark}


def _plain(name: str) -> str:
    """A name that plotly shows as it is: not as markup, not as mathematics."""
    return html.escape(name, quote=False).replace("$", "&#36;")


def _names(names: Iterable[str]) -> list[str]:
    return [_plain(name) for name in names]


def _stroke(look: Look, width: float) -> Figure:
    return {"color": _colour(look), "dash": look.dash, "width": width}


def _places(sizes_bytes: Sequence[int]) -> list[float]:
    """Where sizes stand on a logarithmic axis; 0 has no place of its own there."""
    return [float(size) if size > 0 else ZERO_PLACE for size in sizes_bytes]


def _trace(
    name: str,
    role: str,
    look: Look,
    x: Sequence[float | str],
    y: Sequence[float],
    where: Sequence[str],
    texts: Sequence[str],
    **more: Any,
) -> Figure:
    label = _plain(name)
    return {
        "type": "scatter",
        "name": label,
        "x": _tidy(x),
        "y": _tidy(y),
        "customdata": [list(pair) for pair in zip(where, texts, strict=True)],
        "hovertemplate": f"<b>{label}</b> %{{customdata[1]}}<extra></extra>",
        "meta": {"role": role},
        **more,
    }


def _tidy(numbers: Sequence[Any]) -> list[Any]:
    """Six digits are more than a screen shows, and half the bytes; what is not finite is a gap."""
    kept = (x if isinstance(x, str) else float(f"{x:.6g}") if math.isfinite(x) else None for x in numbers)
    return [int(x) if isinstance(x, float) and x.is_integer() else x for x in kept]


def _whiskers(look: Look, ups: Sequence[float], downs: Sequence[float]) -> Figure:
    return {
        "type": "data",
        "symmetric": False,
        "array": [up or 0 for up in _tidy(ups)],
        "arrayminus": [down or 0 for down in _tidy(downs)],
        "thickness": 1.5,
        "width": 3,
        "color": _colour(look),
    }


def _line(
    curve: Curve | Residuals,
    look: Look,
    values: Sequence[float],
    texts: Sequence[str],
    ups: Sequence[float] | None,
    downs: Sequence[float] | None,
) -> Figure:
    trace = _trace(curve.name, "typical", look, _places(curve.sizes_bytes), values, _sizes(curve), texts)
    return _marked(trace, look, ups, downs)


def _marked(trace: Figure, look: Look, ups: Sequence[float] | None, downs: Sequence[float] | None) -> Figure:
    """A line with a mark at each point, and whiskers where there are intervals. Without a point it is not in sight."""
    trace |= {"mode": "lines+markers", "legendgroup": trace["name"], "line": _stroke(look, 2)}
    trace["marker"] = {"color": _colour(look), "symbol": look.marker, "size": 7}
    if ups is not None and downs is not None:
        trace["error_y"] = _whiskers(look, ups, downs)
    return trace if trace["x"] else trace | {"visible": False}


def _with_interval(curve: Curve | Fan) -> tuple[list[str], list[float], list[float]]:
    """Each typical time with its interval in words, and how far the interval reaches up and down."""
    numbers = list(zip(curve.typical_ns, curve.low_ns, curve.high_ns, strict=True))
    texts = [time_interval_text(*one) for one in numbers]
    return texts, [high - value for value, _, high in numbers], [value - low for value, low, _ in numbers]


def _floor_line(curve: Curve | Residuals, look: Look, values: Sequence[float], texts: Sequence[str]) -> Figure:
    trace = _trace(f"{curve.name} floor", "floor", look, _places(curve.sizes_bytes), values, _sizes(curve), texts)
    trace |= {"mode": "lines", "legendgroup": _plain(curve.name), "showlegend": False}
    trace |= {"hoverinfo": "skip", "hovertemplate": None}
    return trace | {"line": _stroke(look, 1) | {"dash": "dot"}, "opacity": 0.75}


def _sizes(curve: Curve | Residuals) -> list[str]:
    return [size_text(size) for size in curve.sizes_bytes]


def _wire_traces(curves: Sequence[Curve], wire: Staircase, value: _Value, text: _Text) -> list[Figure]:
    """The wire as the staircase that it is, which is not pointed at, and its time at each measured size, which is.

    Without a staircase the measured sizes alone: nobody knows how the wire goes from one to the next. Both are of the
    leanest stack, and empty without a known link.
    """
    best = _least((size, ns) for curve in curves for size, ns in zip(curve.sizes_bytes, curve.wire_ns, strict=True))
    sizes = list(best)
    where, texts = [size_text(size) for size in sizes], [text(size, best[size]) for size in sizes]
    marks = _trace(_WIRE_NAME, "wire", WIRE, _places(sizes), [value(size, best[size]) for size in sizes], where, texts)
    marks |= {"mode": "markers", "legendgroup": _WIRE_NAME, "visible": bool(sizes), "showlegend": not wire.sizes_bytes}
    stroke = {"width": 2, "color": _colour(WIRE)}
    marks["marker"] = {"color": _colour(WIRE), "symbol": WIRE.marker, "size": 8, "line": stroke}
    if not wire.sizes_bytes or not sizes:
        return [marks]
    heights = [value(size, ns) for size, ns in zip(wire.sizes_bytes, wire.ns, strict=True)]
    line = _trace(_WIRE_NAME, "wire", WIRE, _places(wire.sizes_bytes), heights, (), ())
    line |= {"mode": "lines", "line": _stroke(WIRE, 1.5) | {"dash": "solid"}, "legendgroup": _WIRE_NAME}
    return [line | {"hoverinfo": "skip", "hovertemplate": None}, marks]


def _least(timed: Iterable[tuple[int, float | None]]) -> dict[int, float]:
    """The smallest known time at each place, by place."""
    best: dict[int, float] = {}
    for place, ns in timed:
        if ns is not None:
            best[place] = min(ns, best.get(place, ns))
    return dict(sorted(best.items()))


def _rate(size_bytes: float, ns: float) -> float:
    return size_bytes / ns * 1e9 if ns > 0 else math.nan


def _rates(curve: Curve, times_ns: Sequence[float]) -> list[float]:
    return [_rate(size, ns) for size, ns in zip(curve.sizes_bytes, times_ns, strict=True)]


def _line_rate(line_bytes_per_s: float) -> Figure:
    line = {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": line_bytes_per_s / 1e6,
        "y1": line_bytes_per_s / 1e6,
        "line": {"color": _QUIET, "width": 1},
    }
    note = {
        "xref": "paper",
        "x": 0.01,
        "y": line_bytes_per_s / 1e6,
        "yanchor": "bottom",
        "showarrow": False,
        "text": f"the link: {bits_text(line_bytes_per_s)} = {rate_text(line_bytes_per_s)}",
        "font": {"color": _QUIET, "size": 12},
    }
    return {"shapes": [line], "annotations": [note]}


def _axis(title: str, **more: Any) -> Figure:
    return {
        "title": {"text": title, "standoff": 8},
        "gridcolor": _GRID,
        "linecolor": _GRID,
        "zeroline": False,
        "automargin": True,
        **more,
    }


def _time_axis(values: Iterable[float | None], title: str = _TIME_TITLE) -> Figure:
    positive = [value for value in values if value is not None and value > 0]
    if not positive:
        return _axis(title, type="log")
    low, high = min(positive), max(positive)
    margin = 0.04 * math.log10(max(high / low, 1.3))
    ticks = time_ticks(low, max(high, 1.001 * low))
    more = {"tickvals": ticks, "ticktext": [tick_text(tick) for tick in ticks]}
    return _axis(title, type="log", range=[math.log10(low) - margin, math.log10(high) + margin], **more)


def _size_axis(curves: Sequence[Curve | Residuals]) -> Figure:
    sizes = sorted({size for curve in curves for size in curve.sizes_bytes})
    if not sizes:
        return _axis(_SIZE_TITLE, type="log")
    places = _places(sizes)
    ticks: list[float] = [tick for tick in size_ticks(sizes) if tick <= places[-1] * 1.3]
    texts = [size_text(tick) for tick in ticks]
    if sizes[0] == 0:
        ticks, texts = [places[0], *ticks], ["0", *texts]
    margin = 0.03 * math.log10(max(places[-1] / places[0], 2))
    span = [math.log10(places[0]) - margin, math.log10(places[-1]) + margin]
    marks = {"tickvals": ticks, "ticktext": texts, "tickangle": 0}
    return _axis(_SIZE_TITLE, type="log", range=span, unifiedhovertitle={"text": "%{x:,.0f} B"}, **marks)


def _figure(traces: list[Figure], **layout: Any) -> Figure:
    base = {
        "font": {"family": _FONT, "size": 13, "color": _INK},
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "margin": {"l": 64, "r": 16, "t": 40, "b": 56},
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "hovermode": "x unified",
        "hoverlabel": {"bgcolor": _PAPER, "bordercolor": _QUIET, "font": {"color": _INK, "size": 13}},
        "modebar": {"bgcolor": CLEAR, "color": _QUIET, "activecolor": _INK},
        "dragmode": False,
        "showlegend": True,
    }
    return {"data": traces, "layout": base | layout}
