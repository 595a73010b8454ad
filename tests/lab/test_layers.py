# SPDX-License-Identifier: BSD-3-Clause
"""Time by layer: LLC and TCP/IP on the same two hosts, and what they can do."""

from __future__ import annotations

import json

import pytest

from vaiven.cli.layers import tables
from vaiven.lab import layers

pytestmark = pytest.mark.lab


def test_where_the_time_of_a_message_goes(raise_lab) -> None:
    lab = raise_lab("free")
    near, far = lab.hosts[:2]
    found = [
        one
        for stack in ("llc", "tcp")
        for one in layers.ask(near, far, lab.topology, stack, [1, 3000], samples=40, wait="block")
    ]
    assert [(one.stack, one.size_bytes) for one in found] == [(s, n) for s in ("llc", "tcp") for n in (1, 3000)]
    assert [len(one.layers) for one in found] == [6, 6, 2, 2]
    assert all(one.sum_ns > 0 and one.whole_ns > 0 and one.wire_ns is None for one in found)
    llc, tcp = found[0].limits, found[-1].limits
    assert (llc.sequence, llc.services, llc.free_services, llc.unit_bytes) == (128, 128, 52, 1490)
    assert 1 <= llc.window <= 127
    assert (tcp.sequence, tcp.services, tcp.unit_bytes) == (2**32, 65536, 1448)
    assert tcp.window >= 65535
    words = {cell for table in tables(found) for row in table.rows for cell in row}
    assert {"sum of the layers", "2^32 bytes", "128 frames"} <= words


def test_only_the_middle_half_counts() -> None:
    cell = {
        "size_bytes": 1,
        "rtt_ns": [100, 110, 120, 9000],
        "marked_ns": [130, 140, 150, 9000],
        "there_ns": {"device": [40, 50, 60, 4000], "got": [30, 30, 30, 30]},
        "far_ns": [15, 15, 15, 4000],
        "back_ns": {"device": [20, 20, 20, 20], "got": [20, 20, 20, 900]},
        "limits": {"sequence": 2**32, "window": 65535, "services": 65536, "free_services": 65536, "unit_bytes": 1448},
        "wire": None,
    }
    one = layers._layers("tcp", cell, clock_ns=10)
    assert one.whole_ns == 115
    assert [(layer.there_ns, layer.back_ns) for layer in one.layers] == [(55, 20), (20, 10)]
    assert one.far_ns == 5 and one.sum_ns == 110
    assert one.error == pytest.approx(110 / 115 - 1)


def test_the_verb_tells_people_and_programs_the_same(vaiven, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path))
    assert vaiven("lab", "up", "free", "--as", "deep").returncode == 0
    try:
        words = ("lab", "layers", "deep", "--stacks", "tcp", "--sizes", "1k,2000", "--samples", "40", "--wait", "block")
        done, shown = vaiven(*words, "--json"), vaiven(*words)
    finally:
        assert vaiven("lab", "down", "deep").returncode == 0
    assert {done.returncode, shown.returncode} <= {0, 4}, done.stderr  # 4: they did not add up, on a busy machine
    said = json.loads(done.stdout)
    assert [(one["stack"], one["size_bytes"]) for one in said["layers"]] == [("tcp", 1000), ("tcp", 2000)]
    assert {"sum_ns", "error", "whole_ns", "limits"} <= set(said["layers"][0])
    assert all(f"tcp, {size}" in shown.stdout for size in ("1 kB", "2 kB")) and "sum of the layers" in shown.stdout
