# SPDX-License-Identifier: BSD-3-Clause
"""Talk, work, and both: on loopback, where nobody but the processors moves a message."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("stack", ["tcp", "udp"])
def test_all_three_are_measured_in_turn(probe, stack: str) -> None:
    near, far = probe.pair(stack, "--ask", "overlap", "--sizes", "8,1000", "--samples", "20", "--cell-ms", "60000")
    assert (near.status, far.status) == (0, 0)
    for cell, size in zip(near.cells, (8, 1000), strict=True):
        assert (cell["ask"], cell["size_bytes"], cell["lost"], cell["corrupt"]) == ("overlap", size, 0, 0)
        assert [len(cell[name]) for name in ("talk_ns", "work_ns", "both_ns")] == [20] * 3
        # Whatever is hidden, both hold the whole work: at its quickest it takes no less than the work at its quickest.
        assert min(cell["both_ns"]) >= 0.9 * min(cell["work_ns"]) > 0


def test_a_stack_without_a_network_is_refused(probe) -> None:
    ended = probe.alone("near", "null", "--ask", "overlap", "--sizes", "8", "--null", "alpha_ns=1000")
    assert ended.status == 2 and "null" in ended.error["text"]
