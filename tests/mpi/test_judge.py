# SPDX-License-Identifier: BSD-3-Clause
"""A sample of MPICH's test suite, by group, over LLC and without us; `make soak` has all of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from vaiven.run.place import Place

from ..joined import hosts_of
from . import judge

pytestmark = pytest.mark.slow
BY_GROUP = {
    "coll": (
        "allgather2", "allgather3", "allgather_struct", "allgatherv2", "allgatherv3", "allgatherv4", "allred2",
        "allred3", "allred5", "allredmany", "bcasttest", "bcastzerotype", "coll2", "coll4", "coll6", "coll7",
        "icbcast", "nonblocking",
    ),
    "comm": ("commcreate1", "commname", "dup", "dupic", "cmsplit", "cmfree", "icm", "comm_create_group"),
    "threads/comm": ("dup", "ctxdup", "ctxidup"),
}  # fmt: skip

OVER_LLC = {
    "pt2pt": (
        "anyall", "bottom", "bsend5", "bsendfrag", "bsendpending", "cancelanysrc", "eagerdt", "icprobe", "icsend",
        "isendirecv", "isendrecv", "issendselfcancel", "many_isend", "manylmt", "mprobe",
        "probe_unexp", "recv_any", "rqfreeb", "rqstatus", "sendall", "sendflood",
        "sendrecv1", "sendrecv2", "sendrecv3", "sendself",
    ),
    "coll": ("allgather2", "alltoall1", "alltoallv", "bcasttest", "coll6", "nonblocking", "redscat", "scantst"),
    "comm": ("cmsplit", "dup", "icm"),
    "datatype": ("getpartelm", "sendrecvt2", "sendrecvt4", "subarray", "tresized2"),
}  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with hosts_of(judge.lab_of(), tmp_path_factory.mktemp("state")) as found:
        yield found


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return judge.fetched(tmp_path_factory.mktemp("source"))


def judged(
    place: Place, source: Path, home: Path, library: str, way: str, sample: Mapping[str, Sequence[str]]
) -> judge.Judgement:
    suite = judge.configured(source, library, home)
    programs = [one for room in sample for one in judge.listed(suite, room) if one.name in sample[room]]
    return judge.judge(suite, library, place, judge.build(suite, programs), judge.WAYS[way])


@pytest.mark.parametrize("library", judge.WAYS["group"].libraries)
def test_a_sample_of_its_programs_finds_no_difference(place: Place, source: Path, tmp_path: Path, library: str) -> None:
    found = judged(place, source, tmp_path, library, "group", BY_GROUP)
    assert found.differ == []
    assert found.passed > 30 and found.served > 300


def test_a_sample_finds_no_difference_over_llc(place: Place, source: Path, tmp_path: Path) -> None:
    found = judged(place, source, tmp_path, "openmpi", "llc", OVER_LLC)
    assert found.differ == []
    assert found.passed > 40
