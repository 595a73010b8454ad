# SPDX-License-Identifier: BSD-3-Clause
"""Marks: raised when something disturbed the run, silent when nothing did."""

import numpy as np

from vaiven.stats.drift import drift
from vaiven.stats.noise import (
    clock_mark,
    drift_marks,
    launch_marks,
    loss_mark,
    repeated_mark,
    strays_withstood,
    tail_mark,
    traffic_mark,
    two_groups,
)

WANTED = 0.1


def quiet(launches=16, spread=0.02):
    return 30e3 * np.exp(spread * np.random.default_rng(0).standard_normal(launches))


def test_quiet_launches_have_no_mark():
    assert launch_marks(quiet(), WANTED) == [] == launch_marks([1.0, 5.0], WANTED)
    assert drift_marks(drift(np.arange(16), 30e3 * np.linspace(1, 1.001, 16)), WANTED) == []


def test_wide_launches_and_two_groups():
    assert [m.code for m in launch_marks(quiet(spread=0.3), WANTED)] == ["wide"]
    split = quiet()
    split[::3] *= 1.4
    assert [m.code for m in launch_marks(split, WANTED)] == ["two-groups"]
    low, high = two_groups(split, WANTED)
    assert 1.3 < high / low < 1.5


def test_one_stray_launch_is_not_a_group():
    stray = quiet()
    stray[4] *= 3
    assert two_groups(stray, WANTED) is None


def test_groups_that_move_no_median_are_none():
    few, near = quiet(14), quiet(14, spread=0.002)
    few[[3, 9]] *= 1.4
    near[::3] *= 1.09
    assert strays_withstood(14) == 2 and two_groups(few, 0.02) is None
    assert two_groups(near, 0.02) is not None and two_groups(near, WANTED) is None
    few[12] *= 1.4
    assert two_groups(few, 0.02) is not None


def test_traffic_of_others_marks_the_run():
    own = np.full(10, 1e6)
    assert traffic_mark(own * 1.005, own) == []
    marks = traffic_mark(own * 2, own)
    assert marks[0].code == "traffic" and "50 %" in marks[0].text


def test_a_stack_that_sends_its_messages_again_is_marked_unless_they_are_short():
    needed, frames = np.full(8, 1e7), np.full(8, 1e4)
    assert repeated_mark(1.2 * needed, frames, needed) == []
    (mark,) = repeated_mark([5.5e7, *1.01 * needed[1:]], frames, needed)
    assert mark.code == "sent-again" and "in 1 of 8 launches, at most 5.5 times" in mark.text
    assert repeated_mark(3 * needed, 3 * needed / 90, needed) == []  # acknowledgements
    assert repeated_mark(needed, frames, 0 * needed) == []


def test_disturbed_sentinel_marks_the_run():
    y = quiet(20)
    y[11] *= 2
    assert drift_marks(drift(np.arange(20), y), WANTED)[0].code == "block-off"


def test_blocks_that_are_off_mark_the_run_when_a_median_does_not_withstand_them():
    """Fourteen blocks, some off by 8 or 12 %: the interval of a median leaves two out at either end."""
    for strays, off, marked in (([2, 7], 1.12, False), ([2, 7, 11], 1.08, False), ([2, 7, 11], 1.12, True)):
        y = quiet(14, spread=0.001)
        y[strays] *= off
        assert [mark.code for mark in drift_marks(drift(np.arange(14), y), WANTED)] == ["block-off"] * marked
    assert [strays_withstood(n) for n in (5, 8, 10, 14, 24)] == [0, 0, 1, 2, 6]


def test_loss_and_tail():
    assert "right to 12.3 us" in clock_mark(12_340)[0].text
    assert loss_mark(1000, 0) == [] and loss_mark(1000, 5)[0].code == "loss"
    assert tail_mark(28e3, 40e3) == [] and tail_mark(28e3, 98e6)[0].code == "tail"


def test_of_marks_of_one_kind_the_worse_goes_further():
    for mild, bad in (
        (launch_marks([10, 12, 14, 16], WANTED), launch_marks([10, 14, 18, 22], WANTED)),
        (launch_marks([10, 10, 12, 12], WANTED), launch_marks([10, 10, 15, 15], WANTED)),
        (tail_mark(1, 4), tail_mark(2, 10)),
        (loss_mark(1000, 20), loss_mark(100, 10)),
        (clock_mark(1000), clock_mark(2000)),
        (repeated_mark([6, 1], [0, 0], [1, 1]), repeated_mark([4, 5], [0, 0], [1, 1])),
    ):
        assert mild[0].code == bad[0].code and 0 < mild[0].extent < bad[0].extent
