# SPDX-License-Identifier: BSD-3-Clause
"""Figures are data: what is drawn is asserted on, and plotly's own schema has the last word on the rest."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import plotly.graph_objects as go
import pytest

from vaiven.model.chart import Axis, Chart, Series
from vaiven.plot import interactive
from vaiven.plot.curves import Curve, Distribution, HostMap, Layer, Residuals, Staircase, Trend

NAN = math.nan
TCP = Curve("tcp", (0, 1024), (40e3, 120e3), (39e3, NAN), (42e3, NAN), (38e3, 118e3), (12e3, 90e3))
UDP = Curve("udp", (0, 1024), (30e3, 110e3), (29e3, 109e3), (31e3, 111e3), (28e3, 108e3), (11e3, 89e3))
DAYS = tuple(datetime(2026, 1, day, 7, 51) for day in (1, 2, 9))
HOSTILE = 'x</script><b onmouseover="f()">$x^2$'

CHART = Chart(
    "time", "Run x.", Axis("bytes", log=True), Axis("ms", log=True),
    (Series("sofia", (8.0, 1000.0), (2.0, 300.0), (1.9, NAN), (2.1, NAN)), Series("none", (), (), (), ())),
)  # fmt: skip

FIGURES = {
    "time": interactive.time_figure([TCP, UDP]),
    "rate": interactive.rate_figure([TCP, UDP], 12.5e6),
    "rate without a link": interactive.rate_figure([TCP], None),
    "ratio": interactive.ratio_figure([TCP, UDP]),
    "residuals": interactive.residual_figure([Residuals("tcp", (0, 1024), (-0.02, 0.01))]),
    "distribution": interactive.distribution_figure([Distribution("tcp", (40e3, 41e3, 60e3))]),
    "no samples": interactive.distribution_figure([]),
    "ladder": interactive.ladder_figure(
        [64], [Layer("wire", (10e3,), (10e3,), (10e3,)), Layer("tcp", (30e3,), (29e3,), (31e3,))]
    ),
    "by date": interactive.trend_figure([Trend("tcp", DAYS, (40e3, 41e3, 50e3))]),
    "change": interactive.change_figure([Trend("all", DAYS, (0.99, 1.0, 1.2))]),
    "chart": interactive.chart_figure(CHART),
    "hosts": interactive.host_figure(HostMap(("a",), ("b", "c"), ((1.0, None),), (("1 µs", "–"),), "time")),
}


def _role(figure: dict[str, Any], role: str) -> list[dict[str, Any]]:
    return [trace for trace in figure["data"] if trace["meta"]["role"] == role]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", list(FIGURES))
def test_every_figure_is_valid_and_plain_json(name: str, theme: str) -> None:
    resolved = interactive.themed(FIGURES[name], theme)
    go.Figure(resolved)
    assert "NaN" not in json.dumps(resolved, allow_nan=False)
    assert '"light"' not in json.dumps(resolved)


def test_a_chart_has_the_axes_that_it_was_given() -> None:
    figure = FIGURES["chart"]
    sofia, none = figure["data"]
    assert (sofia["x"], sofia["y"]) == ([8, 1000], [2, 300]) and none["visible"] is False
    assert sofia["customdata"] == [["8.00", "2.00 [1.90, 2.10]"], ["1 000", "300"]]
    assert sofia["error_y"]["array"][0] == pytest.approx(0.1) and sofia["error_y"]["array"][1] == 0
    axis = figure["layout"]["yaxis"]
    assert axis["type"] == "log" and axis["title"]["text"] == "ms" and axis["ticktext"] == ["1", "10", "100", "1 000"]
    assert axis["range"][0] < math.log10(2) and axis["range"][1] > math.log10(300)
    nothing = interactive.chart_figure(replace(CHART, series=CHART.series[1:]))
    assert nothing["layout"]["yaxis"]["type"] == "log"
    even = interactive.chart_figure(replace(CHART, y=Axis("ms")))["layout"]["yaxis"]
    assert "type" not in even


def test_time_figure_shows_median_interval_floor_and_wire() -> None:
    figure = FIGURES["time"]
    tcp = _role(figure, "typical")[0]
    assert tcp["y"] == [40000, 120000]
    assert tcp["error_y"]["array"] == [2000, 0] and tcp["error_y"]["arrayminus"] == [1000, 0]
    assert tcp["customdata"][0] == ["0 B", "40.0 [39.0, 42.0] µs, floor 38.0 µs"]
    assert [trace["y"] for trace in _role(figure, "floor")] == [[38000, 118000], [28000, 108000]]
    assert _role(figure, "wire")[0]["y"] == [11000, 89000]
    assert figure["layout"]["xaxis"]["type"] == figure["layout"]["yaxis"]["type"] == "log"


def test_an_empty_message_has_a_place_on_a_logarithmic_axis() -> None:
    figure = FIGURES["time"]
    assert _role(figure, "typical")[0]["x"][0] == interactive.ZERO_PLACE
    axis = figure["layout"]["xaxis"]
    assert axis["ticktext"][axis["tickvals"].index(interactive.ZERO_PLACE)] == "0"
    assert axis["range"][0] < math.log10(interactive.ZERO_PLACE)


def test_rate_figure_turns_times_into_decimal_megabytes() -> None:
    tcp = _role(FIGURES["rate"], "typical")[0]
    assert tcp["y"][1] == pytest.approx(1024 / 120e3 * 1e3, rel=1e-5)
    assert FIGURES["rate"]["layout"]["shapes"][0]["y0"] == 12.5
    assert "100 Mb/s = 12.5 MB/s" in FIGURES["rate"]["layout"]["annotations"][0]["text"]
    assert "shapes" not in FIGURES["rate without a link"]["layout"]


def test_ratio_is_of_the_median_to_the_wire() -> None:
    assert _role(FIGURES["ratio"], "typical")[0]["y"] == pytest.approx([40 / 12, 120 / 90], rel=1e-5)


def test_without_a_known_link_no_wire_is_drawn() -> None:
    curve = Curve("tcp", (1, 2), (1.0, 2.0), (NAN, NAN), (NAN, NAN), (1.0, 2.0), (None, None))
    wire = _role(interactive.time_figure([curve]), "wire")[0]
    assert wire["x"] == [] and wire["visible"] is False


def test_ladder_shares_add_up_to_the_whole() -> None:
    shares = [trace["y"][0] for trace in FIGURES["ladder"]["data"]]
    assert sum(shares) == pytest.approx(100)
    assert FIGURES["ladder"]["data"][1]["error_y"]["array"] == [2.5]


def test_distribution_runs_from_none_to_all() -> None:
    trace = FIGURES["distribution"]["data"][0]
    assert trace["y"] == [0, 50, 100] and trace["x"] == [40000, 41000, 60000]


def test_names_are_shown_and_never_read_as_markup_or_mathematics() -> None:
    curve = Curve(HOSTILE, (1,), (1e3,), (NAN,), (NAN,), (900.0,), (None,))
    figure = interactive.time_figure([curve])
    text = json.dumps(figure)
    assert "<b onmouseover" not in text and "</script" not in text and "$" not in text
    assert figure["data"][1]["name"].startswith("x&lt;/script&gt;")


def _map(*values: float | None) -> list[Any]:
    """The colours of the boxes of a map of one row."""
    host_map = HostMap(("h1",), ("h2", "h3"), (values,), (("a", "b"),), "time")
    return [trace["marker"]["color"][0] for trace in interactive.host_figure(host_map)["data"]]


def test_colours_of_a_map_do_not_make_much_of_little() -> None:
    def far(one: str, other: str) -> int:
        red, green = (int(colour[4:].split(",")[0]) for colour in (one, other))
        return abs(red - green)

    assert far(*_map(10.0, 40.0)) == 254 and far(*_map(10.0, 10.1)) < 30
    assert _map(None, 10.0)[0] == "rgba(0,0,0,0)" and _map(None, 10.0)[1].startswith("rgb(")
    assert _map(None, None) == ["rgba(0,0,0,0)"] * 2


def test_a_map_is_of_bars_and_names_its_hosts() -> None:
    figure = FIGURES["hosts"]
    assert {trace["type"] for trace in figure["data"]} == {"bar"}
    assert figure["data"][0]["customdata"] == [["a → b", "1 µs"]] and figure["data"][0]["y"] == ["a"]
    assert figure["layout"]["xaxis"]["ticktext"] == ["b", "c"]


def test_runs_stand_by_their_dates_as_far_apart_as_they_were_made() -> None:
    times, changes = FIGURES["by date"], FIGURES["change"]
    assert times["data"][0]["x"] == changes["data"][0]["x"] == [0, 1, 8]
    assert times["layout"]["xaxis"]["ticktext"] == ["2026-01-01", "2026-01-02", "2026-01-09"]
    assert times["data"][0]["customdata"][2] == ["2026-01-09 07:51", "50.0 µs"]
    assert changes["data"][0]["y"] == [-1, 0, 20] and changes["data"][0]["customdata"][2][1] == "+20.0 %"


def test_runs_of_one_day_stand_by_the_time_of_day_and_those_of_one_instant_have_room() -> None:
    hours = (DAYS[0], DAYS[0] + timedelta(hours=3))
    assert interactive.trend_figure([Trend("tcp", hours, (1.0, 2.0))])["layout"]["xaxis"]["ticktext"] == [
        "01-01 07:51",
        "01-01 10:51",
    ]
    low, high = interactive.trend_figure([Trend("tcp", hours, (1.0, 2.0))])["layout"]["xaxis"]["range"]
    assert high - low < 1.2 * 3 / 24
    low, high = interactive.trend_figure([Trend("tcp", hours[:1] * 2, (1.0, 2.0))])["layout"]["xaxis"]["range"]
    assert low < 0 < high


STEPS = Staircase((1, 1472, 1473, 2000), (1e3, 90e3, 120e3, 140e3))


def test_the_wire_is_drawn_as_the_staircase_that_it_is() -> None:
    """The line is the staircase, the measured sizes are pointed at: nothing is joined between these."""
    for figure, heights in (
        (interactive.time_figure([TCP, UDP], STEPS), [1e3, 90e3, 120e3, 140e3]),
        (interactive.rate_figure([TCP, UDP], None, STEPS), [1.0, 16.3556, 12.275, 14.2857]),
    ):
        line, marks = _role(figure, "wire")
        assert (line["x"], line["mode"]) == ([1, 1472, 1473, 2000], "lines") and line["y"] == pytest.approx(heights)
        assert line["hoverinfo"] == "skip" and marks["mode"] == "markers" and marks["x"][1:] == [1024]
        assert marks["showlegend"] is False and marks["legendgroup"] == line["legendgroup"]


def test_where_nobody_knows_the_steps_the_wire_is_not_joined() -> None:
    (marks,) = _role(FIGURES["time"], "wire")
    assert marks["mode"] == "markers" and marks["showlegend"] is True


def test_times_the_wire_have_floor_and_wire_too() -> None:
    """What both switches beside the figure switch."""
    figure = FIGURES["ratio"]
    assert _role(figure, "wire")[0]["y"] == [1, 1]
    assert _role(figure, "floor")[0]["y"] == pytest.approx([38 / 12, 118 / 90], rel=1e-5)
    assert _role(figure, "typical")[0]["error_y"]["array"] == pytest.approx([2 / 12, 0], rel=1e-4)


def test_times_the_wire_have_its_steps_between_the_measured_sizes() -> None:
    """What was measured is pointed at; between, the wire is exact and what the software adds is joined straight."""
    curve = Curve("udp", (0, 1000), (30e3, 60e3), (NAN, NAN), (NAN, NAN), (28e3, 58e3), (10e3, 20e3))
    figure = interactive.ratio_figure([curve], [Staircase((0, 500, 501, 1000), (10e3, 12e3, 16e3, 20e3))])
    (line,), (marks,), (floor,) = (_role(figure, role) for role in ("between", "typical", "floor"))
    above = [20e3, 30e3, 20e3 + 20e3 * 0.501, 40e3]
    assert line["y"] == pytest.approx(
        [1 + a / ns for a, ns in zip(above, (10e3, 12e3, 16e3, 20e3), strict=True)], rel=1e-5
    )
    assert line["hoverinfo"] == "skip" and line["legendgroup"] == marks["legendgroup"] and not line["showlegend"]
    assert marks["mode"] == "markers" and marks["y"] == [3, 3]
    assert len(floor["x"]) == 4 and floor["y"][0] == pytest.approx(2.8) and floor["y"][-1] == pytest.approx(2.9)
    assert _role(FIGURES["ratio"], "between") == [] and _role(FIGURES["ratio"], "typical")[0]["mode"] == "lines+markers"


def test_sizes_on_an_axis_are_in_one_notation() -> None:
    layer = Layer("wire", (1e3,) * 4, (1e3,) * 4, (1e3,) * 4)
    figure = interactive.ladder_figure([8, 1448, 4096, 10_000], [layer])
    assert figure["data"][0]["x"] == ["8 B", "1.45 kB", "4.1 kB", "10 kB"]
    assert figure["data"][0]["customdata"][2][0] == "4 KiB"


def test_only_what_the_plotting_library_of_the_page_can_draw() -> None:
    assert {trace["type"] for figure in FIGURES.values() for trace in figure["data"]} == {"scatter", "bar"}
