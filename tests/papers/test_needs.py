# SPDX-License-Identifier: BSD-3-Clause
"""What a place lacks of what a claim needs, one clause each."""

from __future__ import annotations

import msgspec
import pytest

from vaiven.papers.needs import Needs, Scene, counts, differences
from vaiven.store.record import DesignRecord, HostsPlace, LabPlace, LinkRecord

from . import runs


def scene(lab: str = "cetad", of: tuple[str, ...] = (), **other: object) -> Scene:
    return Scene.of(msgspec.structs.replace(runs.manifest(lab, of), **other))


@pytest.mark.parametrize(
    ("needs", "place", "said"),
    [
        (Needs(), scene(), ()),
        (Needs(rate_mbps=10, fabric="hub", alike=False, hosts=("prited",)), scene(), ()),
        (Needs(rate_mbps=10), scene("lidi"), ("the link runs at 100 Mb/s, and not at 10",)),
        (Needs(rate_mbps=10), scene(link=None), ("the rate of the link is not known",)),
        (Needs(fabric="hub"), scene("lidi"), ("the network is a switch, and not a hub",)),
        (Needs(fabric="hub"), scene(place=HostsPlace(), link=None), ("hub or switch is not known, and not a hub",)),
        (Needs(), scene("ufsm-gigabit"), ("the lab is not timed",)),
        (Needs(timing="any"), scene("ufsm-gigabit"), ()),
        (Needs(hosts=("axp", "p2mmx")), scene("ufsm"), ()),
        (Needs(hosts=("axp", "prited", "x")), scene("ufsm"), ("no host prited, x",)),
        (Needs(kinds=("other-order",)), scene("lidi"), ("no host of the kind other-order",)),
        (Needs(kinds=("tcp-defect",)), scene("cetad", ("purmamarca", "paris")), ("no host of the kind tcp-defect",)),
        (Needs(kinds=("small-memory", "same-order")), scene("cetad", ("purmamarca", "tilcara")), ()),
        (Needs(alike=False), scene("lqt"), ("the hosts are equal machines",)),
        (Needs(alike=True), scene(), ("the hosts are unlike machines",)),
        (Needs(hosts_min=9), scene("lqt"), ("5 other hosts of 9",)),
        (Needs(processors=16), scene("ufsm"), ("8 processors of 16",)),
        (Needs(processors=1), scene(hosts={"a": {}}), ("no known processors of 1",)),
        (
            Needs(rate_mbps=10, hosts=("sofia",)), scene("lidi"),
            ("the link runs at 100 Mb/s, and not at 10", "no host sofia"),
        ),
    ],
)  # fmt: skip
def test_differences(needs: Needs, place: Scene, said: tuple[str, ...]) -> None:
    assert differences(needs, place) == said


def test_hosts_without_a_lab_are_what_their_inventories_say() -> None:
    known = {name: {"arch": arch, "cpu": {"threads": 4}} for name, arch in (("a", "x"), ("b", "x"), ("c", "arm"))}
    link, design = LinkRecord(rate_bps=10**9, hops=2), DesignRecord(pairs=(("a", "b"),))
    place = scene(place=HostsPlace(), hosts=known, link=link, design=design)
    assert (place.fabric, place.timed, place.near, place.others) == ("switch", True, "a", ("b", "c"))
    assert not place.alike and place.processors == 12 and place.models == frozenset()
    assert differences(Needs(rate_mbps=1000, alike=False, processors=12), place) == ()


def test_what_a_lab_makes_slow_is_a_model() -> None:
    assert scene().models == {*runs.START} and not scene("lidi").models
    assert scene("ufsm").models == {"p3dual1", "p3dual2", "k6ii1", "k6ii2", "p2mmx1", "p2mmx2"}


def test_so_is_a_host_that_swaps() -> None:
    fabric = {"kind": "hub", "class": "timed", "rate_mbps": 10}
    lab = {"fabric": fabric, "hosts": [{"name": "a"}, {"name": "b", "memory_mb": 32}]}
    assert scene(place=LabPlace(lab=lab)).models == frozenset()
    assert scene(place=LabPlace(lab=lab | {"swap": {"size_mb": 64, "byte_ns": 400}})).models == {"b"}


def test_of_a_job_the_first_counts_too() -> None:
    assert counts("fft", {1, 15}) == {2, 16} and counts("fanout", {7}) == {7}
