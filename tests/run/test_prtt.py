# SPDX-License-Identifier: BSD-3-Clause
"""From a plan that asks prtt to LogGP's parameters: of a programmed transport, which are known, and of real ones."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from vaiven.store import query

Vaiven = Callable[..., subprocess.CompletedProcess[str]]

L, O_S, O_R, G_MESSAGE, G_BYTE, BETA = 20_000, 3_000, 4_000, 9_000, 0.8, 0.5
SIZES = (1, 100, 1000, 8192)
PROGRAM = f"alpha_ns={L + O_S + O_R},beta_ns={BETA},o_s={O_S},o_r={O_R},g={G_MESSAGE},G={G_BYTE}"


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vaiven: Vaiven) -> Callable[..., Vaiven]:
    """Carries out a plan that asks prtt, and gives what types `vaiven` beside its run."""
    monkeypatch.delenv("VAIVEN_RUNS", raising=False)
    monkeypatch.chdir(tmp_path)

    def call(stacks: list[str], *, launches: int = 8, samples: int = 20) -> Vaiven:
        (tmp_path / "plan.toml").write_text(
            f"""
stacks = {json.dumps(stacks)}
questions = ["prtt"]
sizes = {list(SIZES)}
[effort]
samples = {samples}
cell_ms = 2000
[stop]
launches_min = {launches}
launches_max = {launches}
level = 0.9
[sentinel]
stack = {json.dumps(stacks[0])}
"""
        )
        done = vaiven("measure", "./plan.toml", "--hosts", "localhost,localhost", "--no-page")
        assert done.returncode == 0, done.stderr
        return vaiven

    return call


def test_known_parameters_come_back_exactly(asked: Callable[..., Vaiven]) -> None:
    vaiven = asked([f"null[{PROGRAM}]"])
    (found,) = json.loads(vaiven("model", "--ask", "prtt", "--json").stdout)["loggp"]
    for name, truth in {"o_s": O_S, "o_r": O_R, "g": G_MESSAGE, "G": G_BYTE, "L": L + BETA}.items():
        unit = "ns_per_byte" if name == "G" else "ns"
        value, low, high = (found[f"{name}{end}_{unit}"] for end in ("", "_low", "_high"))
        assert value == pytest.approx(truth, abs=1), name  # ns are whole numbers
        assert low <= value <= high
    assert found["G_ns_per_byte"] == pytest.approx(G_BYTE, rel=1e-3) and found["notes"] == ""
    assert found["o_s_by_size_ns"] == found["o_s_prtt_by_size_ns"] == [O_S] * len(SIZES)
    assert found["o_r_by_size_ns"] == [O_R] * len(SIZES)


def test_launches_that_differ_give_intervals_that_hold_the_truth(asked: Callable[..., Vaiven]) -> None:
    vaiven = asked([f"null[{PROGRAM},launch=0.05,noise=0.02]"], launches=12, samples=50)
    (found,) = json.loads(vaiven("model", "--ask", "prtt", "--json").stdout)["loggp"]
    assert found["L_low_ns"] < found["L_high_ns"] and found["L_ns"] == pytest.approx(L, rel=0.1)
    shown = vaiven("model", "--ask", "prtt", "--by-size")
    assert shown.returncode == 0 and shown.stderr == ""
    for words in ("LogGP", "o_s", "o_r", "µs", "ns/B", "8 KiB", "o_s by"):
        assert words in shown.stdout, shown.stdout
    run = query.find("last", Path("runs"))
    assert query.launches(run)["part"].unique().to_list() == ["one"]
    assert query.of_question(run, "prtt").height == 12 * len(SIZES) * 5


def test_streams_and_datagrams_on_loopback(asked: Callable[..., Vaiven]) -> None:
    vaiven = asked(["tcp", "udp"])
    found = {one["stack"]: one for one in json.loads(vaiven("model", "--ask", "prtt", "--json").stdout)["loggp"]}
    assert set(found) == {"tcp", "udp"}
    for one in found.values():
        assert one["o_s_ns"] > 0 and one["o_r_ns"] > 0 and min(one["gap_by_size_ns"]) > 0
        assert one["sizes_bytes"] == list(SIZES)


def test_a_run_that_asked_something_else_says_what_to_ask(tmp_path: Path, vaiven: Vaiven) -> None:
    done = vaiven("measure", "--hosts", "localhost,localhost", "--stacks", "udp", "--sizes", "64", "--quick",
                  "--no-page", cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    asked = vaiven("model", "--ask", "prtt", cwd=tmp_path)
    assert asked.returncode == 1 and 'questions = ["prtt"]' in asked.stderr
