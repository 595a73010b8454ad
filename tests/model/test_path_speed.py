# SPDX-License-Identifier: BSD-3-Clause
"""A path that is slower than its cards is seen where stacks saturate alike, and nowhere else."""

import pytest

from vaiven.model.path_speed import Load, path_speed


def loads(rates, start_ns=30e3, frames=(1, 8, 70, 700)):
    """Stacks that take a start-up and then so many bit/s of the line."""
    return [Load(stack, n, 1538 * n, start_ns + 8e9 * 1538 * n / bps) for stack, bps in rates.items() for n in frames]


def test_stacks_that_saturate_together_far_below_the_cards_name_the_path():
    found = path_speed(loads({"eth": 96e6, "udp": 95e6, "tcp": 97e6}), 10e9)
    assert found.bps == 100e6 and found.link_bps == 10e9 and found.stacks == ("eth", "udp", "tcp")
    assert found.measured_bps == pytest.approx(97e6, rel=0.01)


def test_a_rate_that_is_no_standard_one_is_told_as_measured():
    found = path_speed(loads({"udp": 50e6, "tcp": 49e6}), 1e9)
    assert found.bps == found.measured_bps == pytest.approx(50e6, rel=0.01)


def test_one_kind_of_software_names_it_only_near_a_standard_rate():
    assert path_speed(loads({"tcp": 50e6, "tcp-nagle": 50e6}), 1e9) is None
    assert path_speed(loads({"tcp": 95e6, "tcp-nagle": 95e6}), 1e9).bps == 100e6


def test_slower_stacks_do_not_matter_and_are_not_named():
    assert path_speed(loads({"udp": 96e6, "tcp": 95e6, "pvm-default-xdr": 20e6}), 1e9).stacks == ("udp", "tcp")


@pytest.mark.parametrize(
    ("rates", "link_bps"),
    [
        ({"eth": 96e6, "udp": 95e6}, 100e6),  # as fast as they say
        ({"eth": 60e6, "udp": 60e6}, 100e6),  # not far below
        ({"eth": 3.3e9, "udp": 1.9e9, "tcp": 4.1e9}, 10e9),  # software, each its own
    ],
)
def test_nothing_is_said_of_a_path_that_may_be_what_the_cards_say(rates, link_bps):
    assert path_speed(loads(rates), link_bps) is None


def test_what_does_not_saturate_or_is_short_tells_nothing():
    assert path_speed(loads({"eth": 96e6, "udp": 95e6}, start_ns=50e6), 10e9) is None  # its rate still rises
    assert path_speed(loads({"eth": 96e6, "udp": 95e6}, frames=(1, 2, 4)), 10e9) is None
    assert path_speed([], 10e9) is None
