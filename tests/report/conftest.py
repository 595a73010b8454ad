# SPDX-License-Identifier: BSD-3-Clause
"""Findings of made-up runs, each written and read once."""

from __future__ import annotations

import pytest
from tests.report import made_up

from vaiven.results.findings import Findings
from vaiven.results.results import Results
from vaiven.store.query import Run


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Five stacks, 16 sizes, 12 launches, on a known link."""
    return made_up.write_run(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="session")
def found(run: Run) -> Findings:
    return Results(run).findings()


@pytest.fixture(scope="session")
def few(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    """Three pairs of hosts, one with a hostile name, 5 launches, no link, stopped half way, with warnings."""
    run = made_up.write_run(
        tmp_path_factory.mktemp("runs"),
        pairs=((made_up.HOSTILE, "h2"), ("h1", "h3"), ("h2", "h3")),
        stacks=("udp", "tcp[write=split]"),
        sizes=(1, 64, 4096),
        blocks=5,
        plan_text=made_up.HOSTILE,
        ended=False,
        link=False,
        warnings=(("drift", made_up.HOSTILE), ("drift", made_up.HOSTILE)),
    )
    return Results(run).findings()


@pytest.fixture(scope="session")
def disturbed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A sentinel that drifts by 3 %, two ways of which one takes twice as long, and three pairs of hosts."""
    return made_up.write_run(
        tmp_path_factory.mktemp("runs"),
        pairs=(("h1", "h2"), ("h1", "h3"), ("h2", "h3")),
        stacks=("tcp", "udp"),
        sizes=(1, 64, 1472, 65536),
        samples=20,
        sentinel_change=0.05,
        one_way_ns={("h1", "h2"): 30e3, ("h2", "h1"): 100e3},
    )
