# SPDX-License-Identifier: BSD-3-Clause
"""Libraries that are half there: their probe was built or copied, and does not start."""

from __future__ import annotations

from pathlib import Path

import pytest

from vaiven.errors import VaivenError
from vaiven.run import collect, libraries
from vaiven.run.hosts import Host

LOST = "error while loading shared libraries: libmpi.so.40: cannot open shared object file"


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A probe without its library."""
    probe = tmp_path / "vaiven-probe-openmpi"
    probe.write_text(f'#!/bin/sh\necho "$0: {LOST}" >&2\nexit 127\n')
    probe.chmod(0o755)
    return probe


def test_here_its_stacks_are_left_out_with_the_package(broken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "probes", lambda: {"openmpi": broken})
    stacks = libraries.known(collect.Known({}, "")).stacks
    absent = stacks["openmpi-nagle"].absent
    assert LOST in absent and "apt-get install openmpi-bin" in absent
    assert "vaiven-probe-pvm is not installed" in stacks["pvm-mcast"].absent


def test_on_another_host_that_host_is_named(broken: Path) -> None:
    found = libraries.that_do_not_start("h2", list, {"openmpi": (str(broken),), "mpich": ("true",)})
    assert list(found) == ["openmpi"]
    host = Host("h2", "10.0.0.2", "", "", (), list, libraries={"mpich": ("true",)}, lacking=found)
    assert host.library_probe("mpich") == ("true",)
    with pytest.raises(VaivenError, match=f"vaiven-probe-openmpi does not start on h2: .*{LOST}") as caught:
        host.library_probe("openmpi")
    assert "there: apt-get install openmpi-bin" in caught.value.remedy
