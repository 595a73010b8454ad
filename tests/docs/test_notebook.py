# SPDX-License-Identifier: BSD-3-Clause
"""The cells of the page about notebooks, carried out as there: one after the other, the last line is shown."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from tests.docs.test_commands import run_by

import vaiven

PAGE = Path(__file__).resolve().parents[2] / "docs/howto/notebook.md"


def shown(cell: str, names: dict[str, Any]) -> str | None:
    """Carries a cell out; what a notebook shows below it: the HTML of the value of a last line, else its text."""
    tree = ast.parse(cell)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    if last is None:
        return None
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    html = getattr(value, "_repr_html_", None)
    return html() if html else repr(value)


@pytest.mark.slow
@pytest.mark.lab
def test_the_cells_of_the_page_work_and_show_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "state").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VAIVEN_RUNS", raising=False)
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path / "state"))
    names: dict[str, Any] = {}
    found = [shown(cell, names) for cell in run_by(PAGE.read_text(), Path(__file__).name)]
    printed = capsys.readouterr().out
    run, listed, costs, frame, table, verdicts, picture, page, medians, quantiles, lab = found
    assert run and "launches in" in run and "full rate" in run
    assert listed and names["run"].id in listed
    assert costs and "Cost of a message" in costs
    assert frame and "alpha_ns" in frame and verdicts and "p_adjusted" in verdicts
    assert (
        table and "16000" in table and medians and "one_way_ns_median" in medians and quantiles and "tcp" in quantiles
    )
    assert picture and "<svg" in picture and "How long a message takes" in picture
    assert page is None and names["page"].read_text().startswith("<!doctype html>")
    assert lab is None and "Lab free-" in printed and names["again"].launches()["stack"].unique().to_list() == ["udp"]
    assert "measuring into" in printed and "launch 1: " in printed


def test_a_cell_shows_its_last_line_as_a_notebook_does() -> None:
    names: dict[str, Any] = {}
    assert shown("a = 1\na + 1", names) == "2" and shown("b = a", names) is None and names["b"] == 1


def test_what_the_page_names_is_there() -> None:
    text = PAGE.read_text()
    parts = text.split("when it is first asked for:", 1)[1].split(".", 1)[0]
    named = [one for one in parts.replace("`", " ").replace(",", " ").split() if one.isidentifier()]
    assert named and all(isinstance(vars(vaiven.Results)[one], object) for one in named)
