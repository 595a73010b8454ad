# SPDX-License-Identifier: BSD-3-Clause
"""Curves -> SVG text for a paper or a slide: the two formats of the papers, with intervals, floor and the wire.

The same curves give the same bytes (no date, no random ids). Text stays text, so it can be read aloud and searched;
`$` in a name is a `$`, never mathematics.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator

from vaiven.plot.curves import Curve
from vaiven.plot.palette import WIRE, Look, looks
from vaiven.plot.units import bits_text, size_text, size_ticks, tick_text, time_ticks

_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "vaiven",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#5b6470",
    "axes.grid": True,
    "grid.color": "#e3e7ec",
    "legend.frameon": False,
}
_Value = Callable[[int, float], float]


def time_svg(title: str, curves: Sequence[Curve]) -> str:
    """Time of a message against its size, both axes logarithmic, as an SVG document."""
    with matplotlib.rc_context(_STYLE):
        figure, axes = _draw(title, curves, lambda size, ns: ns)
        axes.set_yscale("log")
        low, high = axes.get_ylim()
        ticks = [tick for tick in time_ticks(low, high) if low <= tick <= high]
        axes.yaxis.set_major_locator(FixedLocator(ticks))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.set_yticklabels([tick_text(tick) for tick in ticks])
        axes.set_ylabel("time, one way")
        return _svg(figure, title)


def rate_svg(title: str, curves: Sequence[Curve], line_bytes_per_s: float | None) -> str:
    """Rate against size, sizes logarithmic, MB = 10^6 bytes, as an SVG document."""
    with matplotlib.rc_context(_STYLE):
        figure, axes = _draw(title, curves, lambda size, ns: size / ns * 1e3 if ns > 0 else math.nan)
        if line_bytes_per_s:
            axes.axhline(line_bytes_per_s / 1e6, color=WIRE.light, linewidth=0.8)
            note = f"the link: {bits_text(line_bytes_per_s)}"
            place = (0.01, line_bytes_per_s / 1e6)
            axes.annotate(note, place, xycoords=("axes fraction", "data"), va="bottom", color=WIRE.light, fontsize=8)
        axes.set_ylim(bottom=0)
        axes.set_ylabel("rate, MB/s (MB = 10⁶ bytes)")
        return _svg(figure, title)


def _draw(title: str, curves: Sequence[Curve], value: _Value) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xscale("log")
    chosen = looks(curve.name for curve in curves)
    for curve in curves:
        _draw_curve(axes, curve, chosen[curve.name], value)
    _draw_wire(axes, curves, value)
    _mark_sizes(axes, curves)
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_xlabel("message size (payload)")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower left", ncols=4, fontsize=8)
    return figure, axes


def _draw_curve(axes: Axes, curve: Curve, look: Look, value: _Value) -> None:
    kept = [index for index, size in enumerate(curve.sizes_bytes) if size > 0]
    sizes = [curve.sizes_bytes[index] for index in kept]

    def values(times_ns: Sequence[float]) -> list[float]:
        return [value(curve.sizes_bytes[index], times_ns[index]) for index in kept]

    typical = values(curve.typical_ns)
    ends = (values(curve.low_ns), values(curve.high_ns))
    whiskers = [[_gap(y, a, b, min) for y, a, b in zip(typical, *ends, strict=True)]]
    whiskers.append([_gap(y, a, b, max) for y, a, b in zip(typical, *ends, strict=True)])
    style = {"color": look.light, "linestyle": look.mpl_dash}
    axes.errorbar(
        sizes,
        typical,
        whiskers,
        marker=look.mpl_marker,
        markersize=4,
        linewidth=1.4,
        capsize=1.5,
        label=curve.name,
        **style,
    )
    axes.plot(sizes, values(curve.floor_ns), color=look.light, linestyle="dotted", linewidth=0.8, alpha=0.8)


def _gap(value: float, one: float, other: float, end: Callable[[float, float], float]) -> float:
    """How far the interval reaches from the value to that end; 0 without an interval."""
    gap = abs(end(one, other) - value)
    return gap if math.isfinite(gap) else 0.0


def _draw_wire(axes: Axes, curves: Sequence[Curve], value: _Value) -> None:
    best: dict[int, float] = {}
    for curve in curves:
        for size, ns in zip(curve.sizes_bytes, curve.wire_ns, strict=True):
            if ns is not None and size > 0:
                best[size] = min(ns, best.get(size, ns))
    if best:
        sizes = sorted(best)
        values = [value(size, best[size]) for size in sizes]
        axes.plot(sizes, values, color=WIRE.light, linestyle=WIRE.mpl_dash, linewidth=1.2, label="the wire alone")


def _mark_sizes(axes: Axes, curves: Sequence[Curve]) -> None:
    ticks = size_ticks(size for curve in curves for size in curve.sizes_bytes)
    low, high = axes.get_xlim()
    ticks = [tick for tick in ticks if low <= tick <= high]
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([size_text(tick) for tick in ticks])


def _svg(figure: Figure, title: str) -> str:
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": "vaiven", "Title": title})
    return out.getvalue()
