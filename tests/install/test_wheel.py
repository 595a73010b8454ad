# SPDX-License-Identifier: BSD-3-Clause
"""The wheel is installed by pip on a Debian 12 and on a newer one without a compiler, and measures there."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from tests.install.conftest import SUITES, Debian

from vaiven import __version__

pytestmark = [pytest.mark.slow, pytest.mark.lab, pytest.mark.needs("mmdebstrap", "dpkg-buildpackage", "dh")]
INSTALLED_MB_MAX = 300
NATIVE = {"vaiven-probe", "vaiven-probe-mpich", "vaiven-probe-openmpi", "vaiven-probe-pvm", "vaiven-sim",
          "vaiven-fft-openmpi", "vaiven-fft-mpich", "vaiven-matmul-openmpi", "vaiven-matmul-mpich",
          "vaiven-matmul-group", "vaiven-matmul-pvm"}  # fmt: skip


@pytest.fixture(scope="module")
def wheel(given: Path) -> Path:
    (found,) = (given / "dist").glob("*.whl")
    return found


@pytest.fixture(scope="module", params=SUITES)
def home(request: pytest.FixtureRequest, debian, wheel: Path) -> Debian:
    """A Debian with the wheel in /opt/vaiven."""
    there = debian(request.param)
    (name,) = there.take(wheel)
    there.said("python3", "-m", "venv", "/opt/vaiven")
    there.said("pip", "install", "-q", "--only-binary", ":all:", name, timeout_s=900)
    return there


def test_the_wheel_is_for_every_python_and_has_the_native_programs(wheel: Path) -> None:
    assert wheel.name.startswith(f"vaiven-{__version__}-py3-none-") and "manylinux_2_36_" in wheel.name
    names = {Path(name).name for name in zipfile.ZipFile(wheel).namelist()}
    ours = {"vaiven-fabric", "vaiven-mpich-ends.so", "mca_btl_llc.so", "vaiven-raw", "libvaiven.so", "demo.toml"}
    assert names >= NATIVE | ours
    assert [name for name in names if name.startswith(("libmpi", "libpvm", "libgpvm", "libkiss", "libopenblas"))] == []


def test_what_is_installed_is_not_heavy(home: Debian) -> None:
    packages = next((home.root / "opt/vaiven/lib").glob("python3.*/site-packages"))
    ours = [path for path in packages.iterdir() if not path.name.startswith(("pip", "setuptools", "pkg_resources"))]
    files = [file for path in ours for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file()]
    weight_mb = sum(file.stat().st_size for file in files if file.suffix != ".pyc") / 1e6
    assert weight_mb < INSTALLED_MB_MAX, f"{weight_mb:.0f} MB"


def test_it_measures_without_a_compiler(home: Debian) -> None:
    assert home.run("sh", "-c", "command -v cc gcc clang make").returncode != 0
    home.said("vaiven", "measure", "demo", "--quick")
    costs = json.loads(home.said("vaiven", "model", "last", "--json"))["costs"]
    assert {one["stack"] for one in costs} >= {"icmp", "eth", "udp", "tcp"}


def test_a_group_is_there_for_python(home: Debian) -> None:
    config = "ranks=1, rank=0, address='127.0.0.1', meeting='127.0.0.1:7000', key=bytes(range(1, 17))"
    text = f"import vaiven; group = vaiven.Group({config}); group.broadcast(bytearray(8)); print(group.repairs)"
    assert home.said("/opt/vaiven/bin/python3", "-c", text) == "(0, 0)\n"


def test_a_library_that_is_not_here_is_named_with_its_package(home: Debian) -> None:
    known = json.loads(home.said("vaiven", "stacks", "--json"))["stacks"]
    absent = {name: stack["absent"] for name, stack in known.items()}
    assert "apt-get install openmpi-bin" in absent["openmpi"] and "libmpi.so" in absent["openmpi"]
    assert "apt-get install mpich" in absent["mpich"] and "apt-get install pvm" in absent["pvm-default-xdr"]
    assert absent["tcp"] == ""
