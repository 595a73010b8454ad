# SPDX-License-Identifier: BSD-3-Clause
"""A kernel that would carry nothing is told before anything is raised there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.lab.texts import lab_text

from vaiven.errors import VaivenError
from vaiven.lab import kernel, topology
from vaiven.lab.lab import Lab

TIMED = lab_text("old", 2, class_="timed", rate_mbps=10)
PACED_HUB = lab_text("old", 2, kind="hub", class_="paced", rate_mbps=10)
PACED = lab_text("old", 2, class_="paced", rate_mbps=10)
FREE = lab_text("old", 2, kind="hub")


@pytest.mark.parametrize(
    ("release", "is_new"),
    [
        ("6.12.0", True),
        ("6.12", True),
        ("7.0.0-rc1", True),
        ("6.18.44-fc-v657", True),
        ("something of one's own", True),
        ("6.1.0-37-amd64", False),
        ("6.11.9", False),
        ("5.17.0", False),
    ],
)
def test_fabrics_with_an_ifb_need_a_new_kernel_and_others_any(release: str, is_new: bool) -> None:
    for text in (TIMED, PACED_HUB):
        assert kernel.carries(topology.parse(text).fabric, release) == is_new
    for text in (PACED, FREE):
        assert kernel.carries(topology.parse(text).fabric, release)


def test_an_old_kernel_is_refused_in_a_sentence_before_anything_is_raised(
    raise_lab: Callable[..., Lab], state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(release="6.1.0-37-amd64"))
    with pytest.raises(VaivenError) as caught:
        raise_lab(TIMED)
    assert caught.value.code == "old-kernel"
    assert caught.value.what == (
        "a timed switch needs Linux 6.12 or newer: this machine's 6.1.0-37-amd64 drops its frames"
    )
    assert "free" in caught.value.remedy and not state_dir.exists()
