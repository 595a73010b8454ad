# SPDX-License-Identifier: BSD-3-Clause
"""Marks: raised when something disturbed the run, silent when nothing did."""

import numpy as np

from vaiven.stats.drift import drift
from vaiven.stats.noise import drift_marks, launch_marks, loss_mark, tail_mark, traffic_mark, two_groups


def quiet(launches=16, spread=0.02):
    return 30e3 * np.exp(spread * np.random.default_rng(0).standard_normal(launches))


def test_quiet_launches_have_no_mark():
    assert launch_marks(quiet()) == [] == launch_marks([1.0, 5.0])
    assert drift_marks(drift(np.arange(16), 30e3 * np.linspace(1, 1.001, 16))) == []


def test_wide_launches_and_two_groups():
    assert [m.code for m in launch_marks(quiet(spread=0.3))] == ["wide"]
    split = quiet()
    split[::3] *= 1.4
    assert [m.code for m in launch_marks(split)] == ["two-groups"]
    low, high = two_groups(split)
    assert 1.3 < high / low < 1.5


def test_one_stray_launch_is_not_a_group():
    stray = quiet()
    stray[4] *= 3
    assert two_groups(stray) is None


def test_traffic_of_others_marks_the_run():
    own = np.full(10, 1e6)
    assert traffic_mark(own * 1.005, own) == []
    marks = traffic_mark(own * 2, own)
    assert marks[0].code == "traffic" and "50%" in marks[0].text


def test_disturbed_sentinel_marks_the_run():
    y = quiet(20)
    y[11] *= 2
    assert drift_marks(drift(np.arange(20), y))[0].code == "block-off"


def test_loss_and_tail():
    assert loss_mark(1000, 0) == [] and loss_mark(1000, 5)[0].code == "loss"
    assert tail_mark(28e3, 40e3) == [] and tail_mark(28e3, 98e6)[0].code == "tail"
