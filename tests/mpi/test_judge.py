# SPDX-License-Identifier: BSD-3-Clause
"""A sample of MPICH's test suite, with collective operations by group and without; `make soak` has all of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from vaiven.run import mpi
from vaiven.run.place import Place

from ..joined import hosts_of
from . import judge

pytestmark = pytest.mark.slow
SAMPLE = {
    "coll": (
        "allgather2", "allgather3", "allgather_struct", "allgatherv2", "allgatherv3", "allgatherv4", "allred2",
        "allred3", "allred5", "allredmany", "bcasttest", "bcastzerotype", "coll2", "coll4", "coll6", "coll7",
        "icbcast", "nonblocking",
    ),
    "comm": ("commcreate1", "commname", "dup", "dupic", "cmsplit", "cmfree", "icm", "comm_create_group"),
    "threads/comm": ("dup", "ctxdup", "ctxidup"),
}  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with hosts_of(judge.LAB, tmp_path_factory.mktemp("state")) as found:
        yield found


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return judge.fetched(tmp_path_factory.mktemp("source"))


@pytest.mark.parametrize("library", list(mpi.LIBRARIES))
def test_a_sample_of_its_programs_finds_no_difference(place: Place, source: Path, tmp_path: Path, library: str) -> None:
    suite = judge.configured(source, library, tmp_path)
    programs = [one for room in SAMPLE for one in judge.listed(suite, room) if one.name in SAMPLE[room]]
    found = judge.judge(suite, library, place, judge.build(suite, programs))
    assert found.differ == []
    assert found.passed > 30 and found.served > 300
