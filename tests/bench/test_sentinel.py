# SPDX-License-Identifier: BSD-3-Clause
"""Why no verdict rests on a regression on the sentinel: it does not see what slows the sentinel, too."""

from bench.sentinel import tried


def test_a_line_through_the_sentinel_finds_one_cell_and_is_blind_to_what_changes_everything():
    same, one, _, everything, _ = tried(3000, seed=1)
    assert max(same.by_mean, same.by_line) < 0.02
    assert one.by_line > one.by_mean
    assert everything.by_line < 0.05 < 0.2 < everything.by_mean
