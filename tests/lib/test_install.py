# SPDX-License-Identifier: BSD-3-Clause
"""`make install-lib` for those who make packages: what lies where, and that strangers can link it, in C and in C++."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.lib.test_manual import HEADERS, manual

from vaiven import __version__

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
MAJOR = __version__.partition(".")[0]
PROGRAM = """
#include <stdio.h>
#include <string.h>
#include <vaiven/data.h>
#include <vaiven/group.h>

int main(void) {
  uint8_t descriptor[VV_DATA_DESCRIPTOR_BYTES_MAX];
  struct vv_data_field field = {VV_DATA_DOUBLE, 1, 0};
  struct vv_data_layout layout = {sizeof(double), 1, &field};
  struct vv_group_config config;
  struct vv_group_problem problem;
  struct vv_group *group;
  char text[] = "alone";
  memset(&config, 0, sizeof config);
  config.size_bytes = sizeof config;
  config.ranks = 1;
  config.address = "127.0.0.1";
  config.meeting = "127.0.0.1:1";
  config.timeout_ms = 10000;
  memset(config.key, 7, sizeof config.key);
  group = vv_group_open(&config, &problem);
  if (!group) return puts(problem.text), 1;
  if (vv_group_broadcast(group, 0, text, sizeof text, &problem) != 0) return puts(problem.text), 1;
  vv_group_leave(group);
  return printf("%s %d\\n", text, (int)vv_data_describe(&layout, 3, descriptor)) < 0;
}
"""


def called(command: list, **options) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """DESTDIR of an installation into /usr."""
    place = tmp_path_factory.mktemp("lib")
    venv = place / "venv"  # as `make` leaves it, without installing anything
    venv.mkdir()
    (venv / "bin").symlink_to(Path(sys.executable).parent)
    (venv / ".meson").touch()
    words = [f"VENV={venv}", f"LIB={place / 'build'}", f"DESTDIR={place / 'dest'}", "PREFIX=/usr"]
    alone = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    said = called(["make", "-s", "install-lib", *words], cwd=ROOT, env=alone)
    assert "ldconfig" not in said  # of a package it is not our business
    return place / "dest"


def test_what_is_installed_and_where(place: Path) -> None:
    there = {path.relative_to(place / "usr").as_posix() for path in place.rglob("*") if not path.is_dir()}
    libraries = {f"lib/libvaiven.so{more}" for more in ("", f".{MAJOR}", f".{__version__}")} | {"lib/libvaiven.a"}
    pages = {f"share/man/man3/{name}" for name in manual("pages", *HEADERS).split()}
    headers = {f"include/vaiven/{path.name}" for path in HEADERS}
    assert there == libraries | pages | headers | {"lib/pkgconfig/vaiven.pc"}


def test_what_it_exports_is_what_its_headers_say(place: Path) -> None:
    promised = set(manual("names", *HEADERS).split())
    shared = called(["nm", "-D", "--defined-only", place / "usr/lib/libvaiven.so"])
    names = {line.split()[-1] for line in shared.splitlines() if " A " not in line}
    assert names == {f"{name}@@LIBVAIVEN_{MAJOR}" for name in promised}
    static = called(["nm", "-g", "--defined-only", place / "usr/lib/libvaiven.a"])
    assert {line.split()[-1] for line in static.splitlines() if " T " in line} == promised
    assert f"[libvaiven.so.{MAJOR}]" in called(["readelf", "-d", place / "usr/lib/libvaiven.so"])


@pytest.mark.parametrize(
    ("compiler", "suffix", "options"),
    [
        ("cc", "c", ["-std=c11", "-pedantic"]),
        ("clang++", "cc", ["-std=c++11", "-pedantic"]),
        ("cc", "c", ["-static"]),
    ],
)
def test_a_stranger_s_program_is_built_and_runs(
    place: Path, tmp_path: Path, compiler: str, suffix: str, options: list[str]
) -> None:
    source, program = tmp_path / f"stranger.{suffix}", tmp_path / "stranger"
    source.write_text(PROGRAM)
    found = os.environ | {"PKG_CONFIG_PATH": f"{place}/usr/lib/pkgconfig", "PKG_CONFIG_SYSROOT_DIR": str(place)}
    asked = ["pkg-config", "--cflags", "--libs", *[one for one in options if one == "-static"], "vaiven"]
    flags = called([word.replace("-static", "--static") for word in asked], env=found).split()
    called([compiler, "-Wall", "-Wextra", "-Werror", *options, source, *flags, "-o", program])
    said = called([program], env=os.environ | {"LD_LIBRARY_PATH": f"{place}/usr/lib"})
    assert said == f"alone {18 + 9}\n"
