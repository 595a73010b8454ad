# SPDX-License-Identifier: BSD-3-Clause
"""What a timed lab claims nothing of is said in one place, by the numbers of its fabric."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from vaiven.lab.calibration import LEAD_DEFAULT_NS
from vaiven.lab.claims import LINGER_NS, TIMER_MIN_NS, unclaimed
from vaiven.lab.topology import Fabric


def test_the_numbers_are_those_of_the_fabric() -> None:
    header = (Path(__file__).parents[2] / "src/bpf/fabric.h").read_text()
    for name, value in (("VV_TIMER_MIN_NS", TIMER_MIN_NS), ("VV_LINGER_NS", LINGER_NS)):
        assert re.search(rf"#define {name} +{value}\b", header)


def test_on_a_fast_switch_it_is_what_waits_for_a_timer_and_fills_no_frame() -> None:
    """At 100 Mb/s 13 us are 162 bytes: a datagram of 100 bytes (166 with its headers) waits, a bare frame (157) not."""
    found = unclaimed(Fabric(kind="switch", fabric_class="timed", rate_mbps=100), LEAD_DEFAULT_NS)
    assert found is not None and 157 < found.above_bytes < 166 and found.below_bytes == 1538
    earlier = unclaimed(Fabric(kind="switch", fabric_class="timed", rate_mbps=100), 2 * LEAD_DEFAULT_NS)
    assert earlier is not None and earlier.above_bytes > found.above_bytes
    hub = unclaimed(Fabric(kind="hub", fabric_class="timed", rate_mbps=100), LEAD_DEFAULT_NS)
    assert hub is not None and hub.above_bytes == 375


@pytest.mark.parametrize(
    "fabric",
    [
        Fabric(kind="hub", fabric_class="timed", rate_mbps=10),
        Fabric(kind="switch", fabric_class="paced", rate_mbps=1000),
        Fabric(kind="switch", fabric_class="free"),
        Fabric(kind="switch", fabric_class="timed", rate_mbps=1000),
    ],
)
def test_elsewhere_there_is_nothing_of_the_kind(fabric: Fabric) -> None:
    assert unclaimed(fabric, LEAD_DEFAULT_NS) is None
