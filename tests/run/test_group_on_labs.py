# SPDX-License-Identifier: BSD-3-Clause
"""`group` measured on every ready lab, and on each with forced loss: everybody gets every byte of every message."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from vaiven.lab import topology
from vaiven.store import query

PLAN = """\
title = "group"
lab = "{lab}"
stacks = ["group"]
questions = ["fanout"]
receivers = [{receivers}]
sizes = [1, 60000]
seed = 1
[effort]
samples = 3
cell_ms = 200
"""
LOSS = '\n[[faults]]\nhost = "*"\nkind = "loss"\ndirection = "both"\nprobability = 0.01\nseed = 3\n'


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize("lossy", [False, True], ids=["whole", "lossy"])
@pytest.mark.parametrize("name", ["cetad", "lqt", "hub8", "lidi", "ufpr", "free"])
def test_everybody_gets_every_message(vaiven, tmp_path: Path, monkeypatch, name: str, lossy: bool) -> None:
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path / "state"))
    text = topology.ready_path(name).read_text()
    if lossy and name == "free":  # faults are the timed fabric's
        text = text.replace('class = "free"', 'class = "timed"\nrate_mbps = 1000')
    lab = tmp_path / "lab.toml"
    lab.write_text(text + LOSS if lossy else text)
    receivers = len(topology.parse(text).hosts) - 1
    (tmp_path / "plan.toml").write_text(PLAN.format(lab=lab, receivers=receivers))
    done = vaiven("measure", "plan.toml", "--quick", "--no-page", cwd=tmp_path, timeout_s=600)
    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = query.runs(tmp_path / "runs")
    cells = query.cells(run).filter(~pl.col("sentinel") & (pl.col("ask") == "fanout"))
    assert cells["fars"].unique().to_list() == [receivers]
    assert cells["count"].min() > 0 and cells["lost"].sum() == 0 and cells["corrupt"].sum() == 0
