# SPDX-License-Identifier: BSD-3-Clause
"""What frames wait on: three classes with a queue of their own each, as long on every kernel."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.lab.texts import lab_text

from vaiven.lab import exits, fabric
from vaiven.lab.lab import Lab


@pytest.mark.lab
def test_frames_wait_in_queues_whose_length_is_told_and_not_the_interface_s(raise_lab: Callable[..., Lab]) -> None:
    """Which Debian's Linux 6.12 keeps to 32767 frames, fewer than wait at an exit with their dummies."""
    lab = raise_lab(lab_text("queues", 2, class_="timed", rate_mbps=100))
    with lab.switch.netlink() as netlink:
        for exit_ in fabric.wire_exits(lab.topology):
            (link,) = netlink.get_links(exits.index(netlink, exit_.interface))
            found = sorted(
                (qdisc.get_attr("TCA_KIND"), hex(qdisc["parent"]), qdisc.get_attr("TCA_OPTIONS").get("limit"))
                for qdisc in netlink.get_qdiscs(index=link["index"])
                if qdisc.get_attr("TCA_KIND") == "pfifo"
            )
            assert found == [("pfifo", hex(0x10000 | lane), exits.QUEUE_FRAMES) for lane in (1, 2, 3)]
            assert (link.get_attr("IFLA_TXQLEN") or 0) <= 1000
