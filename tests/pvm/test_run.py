# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven run` of programs of PVM, as a user gives them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ..joined import LAB

Vaiven = Callable[..., subprocess.CompletedProcess[str]]
# The first task spawns one on the other host, by its name alone; both say where they are.
PROGRAM = """\
#include <pvm3.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
  char host[64];
  int child = 0, value = argc;
  gethostname(host, sizeof host);
  if (pvm_parent() == PvmNoParent) {
    if (pvm_spawn("program", NULL, PvmTaskHost, "m2", 1, &child) != 1) return 3;
    pvm_recv(child, 1);
    pvm_upkstr(host);
    printf("%s: spawned on %s\\n", argv[1], host);
  } else {
    pvm_initsend(PvmDataDefault);
    pvm_pkstr(host);
    pvm_send(pvm_parent(), value);
  }
  pvm_exit();
  return 0;
}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a lab file and a program, and labs that nobody else sees."""
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lab.toml").write_text(LAB)
    (tmp_path / "program.c").write_text(PROGRAM)
    subprocess.run(["gcc", "program.c", "-o", "program", "-lpvm3"], check=True)
    return tmp_path


def test_a_program_that_spawns_others_finds_them_beside_it(vaiven: Vaiven, here: Path) -> None:
    done = vaiven("run", "--lab", "./lab.toml", "--stack", "pvm", "-n", "1", "--", "./program", "--word")
    assert (done.returncode, done.stdout) == (0, "--word: spawned on m2\n"), done.stderr


def test_of_tasks_on_each_host_the_status_is_that_of_one_that_fails(vaiven: Vaiven, here: Path) -> None:
    command = "[ $(hostname) = m1 ] || exit 3; exec sleep 600"
    assert vaiven("run", "--lab", "./lab.toml", "--stack", "pvm", "--", "sh", "-c", command).returncode == 3


def test_a_mode_of_measurements_is_none_of_programs(vaiven: Vaiven, here: Path) -> None:
    done = vaiven("run", "--lab", "./lab.toml", "--stack", "pvm-direct-xdr", "--", "true")
    assert done.returncode == 1 and "pvm: its programs choose route and encoding" in done.stderr
