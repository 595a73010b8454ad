# SPDX-License-Identifier: BSD-3-Clause
"""A program in C++ uses libvaiven by the headers as they are."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.lib.test_manual import HEADERS, manual

from .conftest import ROOT, sources

PROGRAM = """\
#include <cstdint>
#include <cstdio>
#include <vaiven/data.h>
#include <vaiven/group.h>
int main() {
  vv_group_config config = {};
  config.size_bytes = sizeof config;
  config.ranks = 1;
  config.address = "127.0.0.1";
  config.meeting = "127.0.0.1:7000";
  config.key[0] = 7;
  config.timeout_ms = 10000;
  vv_group_problem problem;
  vv_group *end = vv_group_open(&config, &problem);
  char text[] = "hello";
  if (!end || vv_group_broadcast(end, 0, text, sizeof text, &problem) != 0) return std::puts(problem.text), 1;
  vv_group_leave(end);
  const vv_data_field fields[] = {{VV_DATA_DOUBLE, 1, 0}};
  const vv_data_layout layout = {sizeof(double), 1, fields};
  std::uint8_t descriptor[VV_DATA_DESCRIPTOR_BYTES_MAX];
  return std::puts(text), vv_data_describe(&layout, 1, descriptor) == 27 ? 0 : 1;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(("c", "cpp"), [("gcc", "g++"), ("clang", "clang++")])
def test_a_program_in_cpp_is_built_and_linked_as_one_in_c(tmp_path: Path, c: str, cpp: str) -> None:
    (tmp_path / "program.cpp").write_text(PROGRAM)
    paths = ["-I", str(ROOT / "src"), "-I", str(ROOT / "include")]
    (tmp_path / "exports.map").write_text(manual("exports", "LIBVAIVEN_0", *HEADERS))
    named = ["-shared", "-fPIC", "-Wl,--version-script=exports.map,-soname,libvaiven.so", "-o", "libvaiven.so"]
    subprocess.run([c, "-std=gnu17", "-D_GNU_SOURCE", "-pthread", *paths, *sources(), *named], cwd=tmp_path, check=True)
    warnings = ["-std=c++17", "-Wall", "-Wextra", "-Werror"]
    words = [cpp, *warnings, *paths, "program.cpp", "./libvaiven.so", "-Wl,-rpath,$ORIGIN", "-o", "program"]
    subprocess.run(words, cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "hello\n")
