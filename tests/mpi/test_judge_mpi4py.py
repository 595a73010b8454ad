# SPDX-License-Identifier: BSD-3-Clause
"""A sample of mpi4py's own tests, by group, over LLC and without us; `make soak` has all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from vaiven.run.place import Place

from ..joined import hosts_of
from . import judge, judge_mpi4py

pytestmark = pytest.mark.slow
SAMPLE = ("cco_buf", "cco_obj", "comm", "p2p_buf")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with hosts_of(judge.lab_of(), tmp_path_factory.mktemp("state")) as found:
        yield found


@pytest.fixture(scope="module")
def tests(tmp_path_factory: pytest.TempPathFactory) -> judge_mpi4py.Tests:
    return judge_mpi4py.fetched(tmp_path_factory.mktemp("source"))


@pytest.mark.parametrize(
    ("way", "library"), [(way, library) for way, what in judge.WAYS.items() for library in what.libraries]
)
def test_a_sample_of_its_files_finds_no_difference(
    place: Place, tests: judge_mpi4py.Tests, way: str, library: str
) -> None:
    found = judge_mpi4py.judge(tests, library, place, SAMPLE, judge.WAYS[way])
    assert found.differ == [] and found.failed_without == []
    assert found.passed > 500 and (way != "group" or found.served > 100)
