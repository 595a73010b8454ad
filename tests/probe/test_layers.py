# SPDX-License-Identifier: BSD-3-Clause
"""The question layers: what each layer took, of every exchange, and who cannot tell."""

from __future__ import annotations

from statistics import median

import pytest

EFFORT = ("--ask", "layers", "--one-clock", "--samples", "100", "--cell-ms", "500", "--timeout-ms", "60000")


@pytest.mark.native
def test_the_layers_of_every_exchange_are_inside_it(probe) -> None:
    near, far = probe.pair("tcp", "--sizes", "1,20000", *EFFORT)
    assert (near.status, far.status) == (0, 0), near.records[-1]
    for cell in near.cells:
        ways = [*cell["there_ns"].values(), *cell["back_ns"].values(), cell["far_ns"]]
        assert list(cell["there_ns"]) == list(cell["back_ns"]) == ["device", "got"]
        assert len(cell["marked_ns"]) > 0 and all(len(way) == len(cell["marked_ns"]) for way in ways)
        sums = [sum(parts) for parts in zip(*ways, strict=True)]
        shares = [parts / whole for parts, whole in zip(sums, cell["marked_ns"], strict=True)]
        assert median(shares) >= 0.9, "they add up to the exchange in which they were timed"
        assert cell["rtt_ns"], "and the whole is timed apart"
        assert cell["limits"]["sequence"] == 2**32 and cell["limits"]["unit_bytes"] > 1000


@pytest.mark.native
def test_neither_kind_of_run_uses_up_the_time_of_the_other(probe) -> None:
    """Where the time of a cell ends before its samples are reached, plain and marked runs still take turns."""
    runs, effort = 8, ("--ask", "layers", "--one-clock", "--samples", "40000", "--cell-ms", "800")
    near, _ = probe.pair("tcp", "--sizes", "200000", *effort, "--timeout-ms", "60000")
    assert near.status == 0, near.records[-1]
    (cell,) = near.cells
    assert len(cell["rtt_ns"]) > runs and len(cell["marked_ns"]) > runs


@pytest.mark.parametrize(
    ("stack", "options", "word"), [("udp", ("--one-clock",), "cannot tell"), ("tcp", (), "share a clock")]
)
def test_who_cannot_tell_is_refused(probe, stack: str, options: tuple[str, ...], word: str) -> None:
    near = probe.alone("near", stack, "--peer", "127.0.0.1:9", "--ask", "layers", "--sizes", "1", *options)
    assert near.status == 2 and word in near.error["text"]
