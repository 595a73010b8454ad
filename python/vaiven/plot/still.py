# SPDX-License-Identifier: BSD-3-Clause
"""Figures (plot.interactive) -> SVG text: what stands where no script runs, and in papers and slides.

A drawing of what plotly draws of the same dict, before a reader has touched it: lines, marks, whiskers, bars, a legend,
axes that are linear, logarithmic or of names. It knows what plot.interactive makes, and nothing else of plotly.

The same figure gives the same bytes. Text stays text, so that it can be read aloud and searched. A colour that is
{"light", "dark"} follows the page that it stands on; `interactive.themed` makes it one colour, for a file.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from vaiven.plot.interactive import CLEAR, Figure

WIDTH, HEIGHT = 760, 430
_LEFT, _RIGHT, _BOTTOM, _TOP = 84, 18, 52, 12
_ROW = 20  # of the legend, and of a title
_LETTER = 6.8  # of 12 pixels, on average
_DASHES = {"dot": "2 3", "dash": "7 4", "longdash": "13 5", "dashdot": "8 3 2 3", "longdashdot": "14 4 2 4"}
_BAR = 0.78  # of the room that one name has
_HAIR = 0.5  # pixels by which a path may leave its line: more points than that are not drawn


def still(figure: Figure, title: str = "") -> str:
    """The figure as an SVG document, WIDTH wide. title: stands above it; "" for one that a page names."""
    traces = [trace for trace in figure["data"] if trace.get("visible") is not False]
    entries, rows = _legend_places(trace for trace in traces if trace.get("showlegend", True))
    top = _TOP + _ROW * (bool(title) + rows)
    layout, ink = figure["layout"], figure["layout"]["font"]["color"]
    x, y = _scale(figure, "x", _LEFT, WIDTH - _RIGHT), _scale(figure, "y", HEIGHT - _BOTTOM, top)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'font-family="system-ui, \'DejaVu Sans\', sans-serif" font-size="12">',
        *_ground(layout["paper_bgcolor"]),
        *([f"<title>{_words(title)}</title>", _text(_LEFT, _TOP + 8, title, ink)] if title else []),
        *_legend(entries, _TOP + _ROW * bool(title), ink),
        *_axis(layout["xaxis"], x, y, True, ink),
        *_axis(layout["yaxis"], y, x, False, ink),
        f'<svg x="{_LEFT}" y="{top - 6}" width="{WIDTH - _LEFT - _RIGHT}" height="{HEIGHT - _BOTTOM - top + 7}" '
        f'viewBox="{_LEFT} {top - 6} {WIDTH - _LEFT - _RIGHT} {HEIGHT - _BOTTOM - top + 7}">',
        *_shapes(layout, y),
        *_bars([trace for trace in traces if trace["type"] == "bar"], x, y),
        *(part for trace in traces if trace["type"] == "scatter" for part in _scatter(trace, x, y)),
        "</svg></svg>",
    ]
    return "\n".join(parts)


@dataclass(frozen=True, slots=True)
class _Scale:
    """Where values of an axis stand, in pixels: low at begin, high at end. names: of an axis of names."""

    low: float
    high: float
    begin: float
    end: float
    log: bool
    names: tuple[str, ...]

    def at(self, value: Any) -> float | None:
        """None of what has no place: a gap, or nothing of a logarithm."""
        if isinstance(value, str):
            value = self.names.index(value)
        if value is None or (self.log and value <= 0):
            return None
        place = math.log10(value) if self.log else value
        return self.begin + (place - self.low) / (self.high - self.low) * (self.end - self.begin)

    @property
    def step(self) -> float:
        """Pixels of one name."""
        return abs(self.end - self.begin) / max(1, len(self.names))


def _scale(figure: Figure, letter: str, begin: float, end: float) -> _Scale:
    axis = figure["layout"][f"{letter}axis"]
    traces = [trace for trace in figure["data"] if trace.get("visible") is not False]
    if axis.get("type") == "category":
        names = tuple(dict.fromkeys(name for trace in traces for name in trace[letter]))
        ends = (end, begin) if axis.get("autorange") == "reversed" else (begin, end)
        return _Scale(-0.5, len(names) - 0.5, *ends, False, names)
    log = axis.get("type") == "log"
    levels = [shape["y0"] for shape in figure["layout"].get("shapes", ()) if letter == "y"]
    low, high = axis.get("range") or _span(traces, letter, levels, axis.get("rangemode") == "tozero")
    return _Scale(low, high, begin, end, log, ())


def _span(traces: Sequence[Figure], letter: str, levels: Sequence[float], from_zero: bool) -> tuple[float, float]:
    """The values of a linear axis that has no range of its own, and a little more; bars stand on each other."""
    values = [value for trace in traces for value in trace[letter] if value is not None] + list(levels)
    bars = [trace for trace in traces if trace["type"] == "bar"]
    reached: dict[tuple[int, bool], float] = {}
    for trace in bars:
        for index, value in enumerate(trace[letter]):
            end = reached[index, value < 0] = reached.get((index, value < 0), 0.0) + value
            values += [end + trace["error_y"]["array"][index], end - trace["error_y"]["arrayminus"][index]]
    low, high = min(values, default=0), max(values, default=1)
    more = 0.05 * ((high - low) or 1)
    return (min(low, 0.0) if from_zero or bars else low - more), high + more


def _axis(axis: Figure, own: _Scale, other: _Scale, across: bool, ink: Any) -> Iterator[str]:
    """Grid lines, tick labels that do not lie on each other, and what the axis is."""
    edge = sorted((other.begin, other.end))
    places = [(at, text) for value, text in _ticks(axis, own) if (at := own.at(value)) is not None]
    places = [(at, text) for at, text in places if min(own.begin, own.end) - 1 <= at <= max(own.begin, own.end) + 1]
    if axis.get("showgrid", True):
        lines = (f"M{_n(at)},{_n(edge[0])}V{_n(edge[1])}" if across else f"M{_n(edge[0])},{_n(at)}H{_n(edge[1])}"
                 for at, _ in places)  # fmt: skip
        yield f'<path d="{"".join(lines)}" fill="none"{_paint(stroke=axis["gridcolor"])}/>'
    taken, words = -math.inf, axis["title"]["text"]
    for at, text in sorted(places):
        half = len(html.unescape(text)) * _LETTER / 2 if across else 6
        if at - half >= taken:
            taken = at + half + 4
            x, y = (at, HEIGHT - _BOTTOM + 18) if across else (_LEFT - 8, at + 4)
            yield _text(x, y, html.unescape(text), ink, "middle" if across else "end")
    if across:
        yield _text((own.begin + own.end) / 2, HEIGHT - 10, html.unescape(words), ink, "middle")
    else:
        turned = f' transform="rotate(-90 16 {_n((own.begin + own.end) / 2)})"'
        yield _text(16, (own.begin + own.end) / 2, html.unescape(words), ink, "middle", turned)


def _ticks(axis: Figure, scale: _Scale) -> list[tuple[Any, str]]:
    """(value, words) of every mark of an axis."""
    if "tickvals" in axis:
        return list(zip(axis["tickvals"], axis["ticktext"], strict=True))
    if scale.names:
        return [(name, name) for name in scale.names]
    rough = (scale.high - scale.low) / 6
    decade = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * decade for factor in (1, 2, 5, 10) if factor * decade >= rough)
    values = [step * number for number in range(math.ceil(scale.low / step), math.floor(scale.high / step) + 1)]
    return [(value, f"{value:.6g}{axis.get('ticksuffix', '')}".replace("-", "−")) for value in values]


def _scatter(trace: Figure, x: _Scale, y: _Scale) -> Iterator[str]:
    """Line, whiskers and marks of one trace, where they have a place."""
    places = [(x.at(one), y.at(two)) for one, two in zip(trace["x"], trace["y"], strict=True)]
    line = trace.get("line")
    if line and "lines" in trace.get("mode", "lines"):
        more = f' opacity="{trace["opacity"]}"' if "opacity" in trace else ""
        yield f'<path d="{_path(places)}" fill="none"{_stroke(line)}{more}/>'
    bars = trace.get("error_y")
    if bars:
        yield f'<path d="{"".join(_whiskers(trace, bars, x, y))}" fill="none"{_paint(stroke=bars["color"])}/>'
    marker = trace.get("marker")
    if marker and "markers" in trace.get("mode", ""):
        shape = _SHAPES[marker["symbol"]]
        marks = "".join(f"M{_n(at)},{_n(up)}{shape}" for at, up in places if at is not None and up is not None)
        yield f'<path d="{marks}"{_paint(fill=marker["color"])}/>'


def _path(places: Iterable[tuple[float | None, float | None]]) -> str:
    """A line through the places, in pieces where there are gaps, without points that nobody could see."""
    parts: list[str] = []
    last: tuple[float, float] | None = None
    for at, up in places:
        if at is None or up is None:
            last = None
        elif last is None or math.hypot(at - last[0], up - last[1]) >= _HAIR:
            parts.append(f"{'L' if last else 'M'}{_n(at)},{_n(up)}")
            last = (at, up)
    return "".join(parts)


def _whiskers(trace: Figure, bars: Figure, x: _Scale, y: _Scale) -> Iterator[str]:
    for place, value, up, down in zip(trace["x"], trace["y"], bars["array"], bars["arrayminus"], strict=True):
        if value is None or not (up or down):
            continue
        at, high, low = x.at(place), y.at(value + up), y.at(value - down)
        if at is not None and high is not None and low is not None:
            yield f"M{_n(at)},{_n(low)}V{_n(high)}M{_n(at - 2)},{_n(high)}h4M{_n(at - 2)},{_n(low)}h4"


def _bars(traces: Sequence[Figure], x: _Scale, y: _Scale) -> Iterator[str]:
    """Bars that stand on each other, what is below nothing under it, or lie end to end; their words and whiskers."""
    reached: dict[tuple[str, bool], float] = {}
    whiskers = []
    for trace in traces:
        lying = trace.get("orientation") == "h"
        names, values = (trace["y"], trace["x"]) if lying else (trace["x"], trace["y"])
        along, beside = (x, y) if lying else (y, x)
        half = beside.step * (0.49 if lying else _BAR / 2)
        for index, (name, value) in enumerate(zip(names, values, strict=True)):
            begin = reached.get((name, value < 0), 0.0)
            end = reached[name, value < 0] = begin + value
            first, last = sorted((along.at(begin) or 0.0, along.at(end) or 0.0))
            middle = beside.at(name) or 0.0
            box = (first, middle - half, last - first, 2 * half)
            yield from _box(trace, index, box if lying else (box[1], box[0], box[3], box[2]))
            if "error_y" in trace:
                up, down = (trace["error_y"][way][index] for way in ("array", "arrayminus"))
                high, low = along.at(end + up) or 0.0, along.at(end - down) or 0.0
                whiskers.append(f"M{_n(middle)},{_n(low)}V{_n(high)}")
    if whiskers:
        yield f'<path d="{"".join(whiskers)}" fill="none"{_paint(stroke=traces[0]["error_y"]["color"])}/>'


def _box(trace: Figure, index: int, box: tuple[float, float, float, float]) -> Iterator[str]:
    """One piece of a bar, and its words if they have room. box: left, top, width, height."""
    colour, ink = trace["marker"]["color"], trace["insidetextfont"]["color"]
    colour, ink = (one[index] if isinstance(one, list) else one for one in (colour, ink))
    yield '<rect x="{}" y="{}" width="{}" height="{}"'.format(*map(_n, box)) + f"{_paint(fill=colour)}/>"
    text = html.unescape(trace["text"][index])
    if text and box[3] >= 14 and box[2] >= len(text) * _LETTER:
        yield _text(box[0] + box[2] / 2, box[1] + box[3] / 2 + 4, text, ink, "middle")


def _ground(colour: str) -> Iterator[str]:
    if colour != CLEAR:
        yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{colour}"/>'


def _shapes(layout: Figure, y: _Scale) -> Iterator[str]:
    """Level lines across the picture, and the words beside them."""
    for shape in layout.get("shapes", ()):
        at = y.at(shape["y0"])
        if at is not None:
            yield f'<path d="M{_LEFT},{_n(at)}H{WIDTH - _RIGHT}"{_paint(stroke=shape["line"]["color"])}/>'
    for note in layout.get("annotations", ()):
        yield _text(_LEFT + 6, (y.at(note["y"]) or 0) - 5, html.unescape(note["text"]), note["font"]["color"])


def _legend_places(traces: Iterable[Figure]) -> tuple[list[tuple[Figure, float, int]], int]:
    """(trace, x, row) of each entry, and how many rows they take."""
    places, x, row = [], float(_LEFT), 0
    for trace in traces:
        width = 36 + len(html.unescape(trace["name"])) * _LETTER
        if x > _LEFT and x + width > WIDTH - _RIGHT:
            x, row = float(_LEFT), row + 1
        places.append((trace, x, row))
        x += width + 14
    return places, row + 1 if places else 0


def _legend(entries: Iterable[tuple[Figure, float, int]], top: float, ink: Any) -> Iterator[str]:
    for trace, x, row in entries:
        y = top + _ROW * row + 6
        sample = dict.fromkeys(("error_y", "text"))
        if trace["type"] == "bar":
            colour = _paint(fill=trace["marker"]["color"])
            yield f'<rect x="{_n(x + 10)}" y="{_n(y - 6)}" width="12" height="12"{colour}/>'
        else:
            level = _Scale(0, 1, 0, 1, False, ())  # places are pixels already
            yield from _scatter(trace | sample | {"x": [x + 14], "y": [y]}, level, level)
            if "line" in trace:
                yield f'<path d="M{_n(x)},{_n(y)}h28" fill="none"{_stroke(trace["line"])}/>'
        yield _text(x + 33, y + 4, html.unescape(trace["name"]), ink)


_SHAPES = {  # from the middle of a mark
    "circle": "m-3.5,0a3.5,3.5 0 1 0 7,0a3.5,3.5 0 1 0 -7,0z",
    "square": "m-3.2,-3.2h6.4v6.4h-6.4z",
    "diamond": "m0,-4.4l4.4,4.4l-4.4,4.4l-4.4,-4.4z",
    "triangle-up": "m0,-4.2l4.2,7.4h-8.4z",
    "cross": "m-1.4,-4h2.8v2.6h2.6v2.8h-2.6v2.6h-2.8v-2.6h-2.6v-2.8h2.6z",
    "x": "m-3.8,-2.2l1.6,-1.6l2.2,2.2l2.2,-2.2l1.6,1.6l-2.2,2.2l2.2,2.2l-1.6,1.6l-2.2,-2.2l-2.2,2.2l-1.6,-1.6l2.2,-2.2",
    "star": "m0,-4.6l1.2,3h3.3l-2.6,2.1l1,3.3l-2.9,-2l-2.9,2l1,-3.3l-2.6,-2.1h3.3z",
    "line-ew": "m-4,-0.8h8v1.6h-8z",
    "hexagon": "m-4,0l2,-3.5h4l2,3.5l-2,3.5h-4z",
}


def _paint(**colours: Any) -> str:
    """SVG attributes of those colours. One that follows the page is light where a browser knows no such thing."""
    plain = "".join(f' {what}="{c["light"] if isinstance(c, dict) else c}"' for what, c in colours.items())
    both = (f"{what}:light-dark({c['light']},{c['dark']})" for what, c in colours.items() if isinstance(c, dict))
    style = ";".join(both)
    return f'{plain} style="{style}"' if style else plain


def _stroke(line: Figure) -> str:
    dash = _DASHES.get(line["dash"], "")
    return (
        f' stroke-width="{line["width"]}"' + f' stroke-dasharray="{dash}"' * bool(dash) + _paint(stroke=line["color"])
    )


def _text(x: float, y: float, words: str, ink: Any, anchor: str = "start", more: str = "") -> str:
    return f'<text x="{_n(x)}" y="{_n(y)}" text-anchor="{anchor}"{more}{_paint(fill=ink)}>{_words(words)}</text>'


def _words(text: str) -> str:
    """Text for XML, without the characters that it cannot hold."""
    return html.escape("".join(c if c >= " " and not 0xFFFE <= ord(c) <= 0xFFFF else " " for c in text))


def _n(number: float) -> str:
    """A tenth of a pixel is exact enough."""
    return f"{number:.1f}".removesuffix(".0")
