# SPDX-License-Identifier: BSD-3-Clause
"""The limits that a run declares reach its knees: from the link, the hosts' inventories and what a library said."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.report import made_up

from vaiven.model.explain import Declared
from vaiven.results.costs import costs
from vaiven.results.declared import declared

SIZES = (*range(2000, 6001, 500), *range(7000, 16385, 1564), *range(20000, 65537, 5692), *range(80000, 140001, 15000))
WAY = "Open MPI v4.1.4: pml=ob1 btl_tcp_eager_limit=6000 btl_tcp_rndv_eager_limit=65536"


@pytest.mark.parametrize(
    ("way", "eager_bytes"),
    [
        (WAY, 6000),
        ("MPICH Version: 4.0.2: UCX_RNDV_THRESH=8k UCX_TLS=tcp,self", 8192),
        ("MPICH Version: 4.0.2: UCX_RNDV_THRESH=inf", None),
        ("raw socket", None),
        (None, None),
    ],
)
def test_the_eager_limit_is_found_among_the_settings_of_a_library(
    tmp_path: Path, way: str | None, eager_bytes: int | None
) -> None:
    run = made_up.write_run(tmp_path, stacks=("mpich",), sizes=SIZES[:3], blocks=1, hello={"way": way})
    (found,) = declared(run, [("h1", "h2", "mpich")]).values()
    assert found.eager_bytes == eager_bytes


def test_everything_that_a_run_says_of_its_paths(tmp_path: Path) -> None:
    run = made_up.write_run(tmp_path, stacks=("udp", "tcp[write=split]"), sizes=SIZES[:3], blocks=1, hello={"way": WAY})
    keys = [("h1", "h2", "udp"), ("h1", "h2", "tcp[write=split]")]
    common = {"mtu_bytes": 1500, "gso_bytes": 65536, "eager_bytes": 6000}
    assert declared(run, keys) == {
        keys[0]: Declared(send_bytes=212992, **common),
        keys[1]: Declared(send_bytes=16384, receive_bytes=131072, **common),
    }


def test_what_a_run_does_not_say_is_not_known(tmp_path: Path) -> None:
    run = made_up.write_run(tmp_path, stacks=("udp",), sizes=SIZES[:3], blocks=1, link=False)
    strangers = [("a", "b", "udp")]
    assert declared(run, strangers) == {strangers[0]: Declared()}


@pytest.mark.parametrize(
    ("stack", "edge", "hello", "cause"),
    [
        ("openmpi", 6000, {"way": WAY}, "eager limit"),
        ("tcp", 16384, {}, "the socket's send buffer is full"),
        ("tcp", 65536, {}, "the first TCP window is full"),
    ],
)
def test_a_knee_is_explained_by_what_the_run_declares(
    tmp_path: Path, stack: str, edge: int, hello: dict[str, object], cause: str
) -> None:
    jump = (edge, 0.6 * (made_up.wire_ns(edge) + 40e3))
    run = made_up.write_run(tmp_path, stacks=(stack,), sizes=SIZES, samples=20, jump=jump, hello=hello)
    (cost,) = costs(run)
    found = [limit.cause for one in cost.knees for limit in one.limits if limit.size_bytes == edge]
    assert any(cause in one for one in found), [one.text for one in cost.knees]
