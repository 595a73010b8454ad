# SPDX-License-Identifier: BSD-3-Clause
"""The Debian packages: nothing that lintian minds, and each of them does what it is for on a Debian of its own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.install.conftest import ROOT, Debian
from tests.lib.test_install import PROGRAM

from vaiven import __version__

pytestmark = [pytest.mark.slow, pytest.mark.lab, pytest.mark.needs("mmdebstrap", "dpkg-buildpackage", "dh", "lintian")]


@pytest.fixture(scope="module")
def packages(given: Path) -> dict[str, Path]:
    return {path.name.split("_")[0]: path for path in (given / "deb").glob("*.deb") if "dbgsym" not in path.name}


@pytest.fixture(scope="module")
def home(debian, packages: dict[str, Path]) -> Debian:
    """A Debian 12 with all of them."""
    there = debian("bookworm")
    there.said("apt-get", "update")
    there.said("apt-get", "install", "-y", "--no-install-recommends", *there.take(*packages.values()), timeout_s=900)
    return there


def test_there_are_four(packages: dict[str, Path]) -> None:
    assert set(packages) == {"vaiven", "vaiven-probe", "libvaiven0", "libvaiven-dev"}
    assert {path.name.split("_")[1] for path in packages.values()} == {__version__}


def test_lintian_minds_nothing(given: Path) -> None:
    (changes,) = (given / "deb").glob("*.changes")
    said = subprocess.run(
        ["lintian", "--fail-on", "error,warning", "--allow-root", changes], capture_output=True, text=True, check=False
    )
    assert (said.returncode, said.stdout) == (0, ""), said.stdout + said.stderr


def test_the_command_measures(home: Debian) -> None:
    home.said("vaiven", "measure", "demo", "--quick")
    costs = json.loads(home.said("vaiven", "model", "last", "--json"))["costs"]
    assert {one["stack"] for one in costs} >= {"icmp", "eth", "udp", "tcp"}


def test_a_group_is_there_for_python(home: Debian) -> None:
    config = "ranks=1, rank=0, address='127.0.0.1', meeting='127.0.0.1:7000', key=bytes(range(1, 17))"
    text = f"import vaiven; from vaiven import resources; vaiven.Group({config}); print(resources.library())"
    assert home.said("env", "PYTHONPATH=/usr/lib/vaiven", "python3", "-c", text) == "/usr/lib/vaiven/bin/libvaiven.so\n"


def test_the_probe_is_there_alone(home: Debian) -> None:
    assert (
        json.loads(home.said("vaiven-probe", "wire", "tcp", "--mtu", "1500", "--sizes", "1").splitlines()[0])["frames"]
        == 1
    )


def test_a_program_is_built_with_the_library(home: Debian) -> None:
    home.said("apt-get", "install", "-y", "--no-install-recommends", "gcc", "libc6-dev", "pkg-config", timeout_s=900)
    (home.root / "root/stranger.c").write_text(PROGRAM)
    home.said("sh", "-c", "cc stranger.c $(pkg-config --cflags --libs vaiven) -o stranger")
    assert home.said("./stranger") == "alone 27\n"


def test_nothing_is_left_when_they_are_removed(home: Debian) -> None:
    home.said("apt-get", "purge", "-y", "vaiven", "vaiven-probe", "libvaiven0")
    left = [
        path for path in home.root.rglob("*vaiven*") if path.relative_to(home.root).parts[0] in ("usr", "etc", "var")
    ]
    assert [path for path in left if "dpkg" not in path.parts and "apt" not in path.parts] == []


def test_the_version_is_the_same_everywhere() -> None:
    changelog = (ROOT / "debian/changelog").read_text()
    assert changelog.startswith(f"vaiven ({__version__})")
    assert f"version: '{__version__}'" in (ROOT / "meson.build").read_text()
