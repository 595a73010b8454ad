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
        document = json.loads(vaiven("model", "--json").stdout)
        (cost,) = document["costs"]
        assert cost["stack"] == stack
        return document | cost

    return call


def test_a_straight_line_comes_back(fitted: Callable[[str], dict]) -> None:
    cost = fitted("alpha_ns=30000,beta_ns=80,launch=0.001")
    assert cost["alpha_ns"] == pytest.approx(30_000, rel=2e-3)
    assert cost["beta_ns_per_byte"] == pytest.approx(80, rel=2e-3)
    # Half the rate of 16384 B, not of a message without end: n alpha / (2 alpha + n beta).
    assert cost["half_rate_bytes"] == pytest.approx(358.6, rel=2e-3)
    assert cost["knees"] == []


def test_what_never_varies_has_no_interval(fitted: Callable[[str], dict]) -> None:
    cost = fitted("alpha_ns=30000,beta_ns=80")
    assert cost["alpha_ns"] is None and "alpha: " in cost["refused"]


def test_launches_that_differ_have_an_interval(fitted: Callable[[str], dict]) -> None:
    cost = fitted("alpha_ns=30000,beta_ns=80,launch=0.05")
    low_ns, alpha_ns, high_ns = (cost[f"alpha_{which}ns"] for which in ("low_", "", "high_"))
    assert 0.95 * 30_000 <= alpha_ns <= 1.05 * 30_000  # the factor of a launch is drawn from these
    assert low_ns < alpha_ns < high_ns < low_ns + 0.15 * 30_000  # 0.11 at most in 2000 runs that were made up


def test_losses_are_in_the_record(fitted: Callable[[str], dict]) -> None:
    cost = fitted("alpha_ns=30000,beta_ns=80,loss=0.01,launch=0.001")
    assert cost["lost"] == sum(size["lost"] for size in cost["sizes"]) > 0
    assert cost["alpha_ns"] == pytest.approx(30_000, rel=2e-3)
