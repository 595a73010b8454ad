# SPDX-License-Identifier: BSD-3-Clause
"""A whole run against the programmed transport gives back the program: plan, probe, records, store, model."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Vaiven = Callable[..., subprocess.CompletedProcess[str]]
SIZES = "0,1,16,64,256,1024,2048,4096,8192,16384"


@pytest.fixture
def fitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vaiven: Vaiven) -> Callable[[str], dict]:
    """Measures that null stack in 8 launches; what the model says of it."""
    monkeypatch.delenv("VAIVEN_RUNS", raising=False)
    monkeypatch.chdir(tmp_path)

    def call(program: str) -> dict:
        stack = f"null[{program}]"
        done = vaiven("measure", "--hosts", "localhost,localhost", "--stacks", stack, "--sizes", SIZES,
                      "--launches", "8", "--no-page")  # fmt: skip
        assert done.returncode == 0, done.stderr
        (cost,) = json.loads(vaiven("model", "--json").stdout)["costs"]
        assert cost["stack"] == stack
        return cost

    return call


def test_a_straight_line_comes_back(fitted: Callable[[str], dict]) -> None:
    cost = fitted("alpha_ns=30000,beta_ns=80,launch=0.001")
    line = cost["cost"]["typical"]
    assert line["alpha"]["value"] == pytest.approx(30_000, rel=2e-3)
    assert line["beta"]["value"] == pytest.approx(80, rel=2e-3)
    # Half the rate of 16384 B, not of a message without end: n alpha / (2 alpha + n beta).
    assert cost["half"]["size"]["value"] == pytest.approx(358.6, rel=2e-3)
    assert cost["knees"] == []


def test_what_never_varies_has_no_interval(fitted: Callable[[str], dict]) -> None:
    alpha = fitted("alpha_ns=30000,beta_ns=80")["cost"]["typical"]["alpha"]
    assert alpha["value"] is None and alpha["refused"]


def test_launches_that_differ_have_an_interval(fitted: Callable[[str], dict]) -> None:
    alpha = fitted("alpha_ns=30000,beta_ns=80,launch=0.05")["cost"]["typical"]["alpha"]
    assert 0.94 * 30_000 < alpha["low"] < alpha["value"] < alpha["high"] < 1.06 * 30_000


def test_losses_are_in_the_record(fitted: Callable[[str], dict]) -> None:
    cost = fitted("alpha_ns=30000,beta_ns=80,loss=0.01,launch=0.001")
    assert sum(point["lost"] for point in cost["points"]) > 0
    assert cost["cost"]["typical"]["alpha"]["value"] == pytest.approx(30_000, rel=2e-3)
