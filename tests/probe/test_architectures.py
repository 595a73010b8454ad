# SPDX-License-Identifier: BSD-3-Clause
"""A native end and one of another architecture, under qemu-user: payloads are right in either byte order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

ORDERS = {"s390x": "big", "aarch64": "little"}


def _of(arch: str):
    return pytest.param(arch, marks=pytest.mark.needs(f"qemu-{arch}-static", f"vaiven-probe-{arch}"))


@pytest.fixture(params=map(_of, sorted(ORDERS)))
def foreign(request: pytest.FixtureRequest, vaiven_programs: Callable[[str], Path]) -> tuple[str, list[str]]:
    arch = request.param
    return arch, [f"qemu-{arch}-static", str(vaiven_programs(f"vaiven-probe-{arch}"))]


@pytest.mark.parametrize(("stack", "sizes"), [("tcp", "1,7,8,9,1461,65536"), ("udp", "0,1,7,8,9,1473,65507")])
def test_a_foreign_far_end(probe, foreign, stack: str, sizes: str) -> None:
    arch, program = foreign
    far, peer = probe.far(stack, program=program)
    near = probe.near(stack, peer, "--sizes", sizes, "--samples", "20", "--cell-ms", "400")
    assert near.status == 0, near.records
    assert far.end().status == 0
    assert near.records[0]["far"]["arch"] == arch and near.records[0]["far"]["byte_order"] == ORDERS[arch]
    assert all(cell["corrupt"] == 0 and len(cell["rtt_ns"]) > 0 for cell in near.cells)


def test_what_an_emulator_does_not_tell_is_not_told(probe, foreign) -> None:
    _, program = foreign
    far, peer = probe.far("tcp", "--iface", "lo", program=program)
    probe.near("tcp", peer, "--sizes", "64", "--samples", "5", "--iface", "lo")
    (traffic,) = far.end().of("traffic")
    assert traffic["messages"] and traffic["control"] is None
    far, peer = probe.far("tcp")
    near = probe.near("tcp", peer, "--ask", "first", "--sizes", "64", program=program)
    assert near.status == 1 and near.error["code"] == "no-tcp-state"
    far.end()


def test_a_foreign_near_end(probe, foreign) -> None:
    arch, program = foreign
    far, peer = probe.far("tcp")
    near = probe.near("tcp", peer, "--sizes", "1,64,1461", "--samples", "20", "--cell-ms", "400", program=program)
    assert (near.status, far.end().status) == (0, 0)
    assert near.records[0]["near"]["arch"] == arch
    assert all(cell["corrupt"] == 0 and len(cell["rtt_ns"]) > 0 for cell in near.cells)
