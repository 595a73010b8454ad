# SPDX-License-Identifier: BSD-3-Clause
"""Lone frames are held against the wire and what this machine's software takes; what that differs by is its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.lab.texts import lab_text

from vaiven.lab import lone
from vaiven.lab.lab import Lab
from vaiven.lab.lone import Lone

FOUND = Lone(stack="udp", wait="spin", frame_bytes=1514, wire_ns=246_000,
             launches_ns=(250_000.0, 251_000.0, 256_500.0), free_ns=(5_000.0, 4_000.0, 11_000.0))  # fmt: skip


def test_a_launch_is_in_time_beside_the_wire_and_what_software_takes() -> None:
    assert (FOUND.software_ns, FOUND.expected_ns, FOUND.limit_ns) == (5_000.0, 251_000.0, 0.02 * 246_000)
    assert FOUND.errors_ns == (-1_000.0, 0.0, 5_500.0) and FOUND.in_time == 2


def test_launches_without_a_wire_differ_too() -> None:
    assert FOUND.free_in_time == 2


@pytest.mark.lab
def test_messages_without_a_wire_are_as_far_apart_as_on_it(
    raise_lab: Callable[..., Lab], monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[list[str]] = []
    start = lone.oneway.start
    monkeypatch.setattr(lone.oneway, "start", lambda *words: (said.append(list(words[2])), start(*words))[1])
    lab = raise_lab(lab_text("lone", 2, class_="timed", rate_mbps=100))
    (found, *_) = lone.measure(*lab.hosts, lab.topology, ["udp"], [60], launches=1, samples=8)
    nears = [words for words in said if words[0] == "near"]
    assert len(nears) == 4 and sum("--idle-wire" in words for words in nears) == 2
    assert all(words[words.index("--rate-bps") + 1] == "100000000" for words in nears)
    assert found.wire_ns == 13_440 and len(found.launches_ns) == len(found.free_ns) == 1
