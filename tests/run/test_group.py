# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven run --stack group`: programs of libvaiven that find in their environment who they are."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from vaiven import resources

from ..joined import LAB, until

Vaiven = Callable[..., subprocess.CompletedProcess[str]]
ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """\
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vaiven/group.h>
int main(int argc, char **argv) {
  struct vv_group_problem problem;
  struct vv_group_config config = {VV_GROUP_CONFIG, .timeout_ms = 20000};
  char text[64] = "", line[64] = "nothing";
  struct stat key;
  if (vv_group_from_environment(&config, &problem) != 0) return puts(problem.text), 1;
  struct vv_group *group = vv_group_open(&config, &problem);
  if (!group) return puts(problem.text), 1;
  if (config.rank == 0) snprintf(text, sizeof text, "%s", argv[1]);
  if (vv_group_broadcast(group, 0, text, sizeof text, &problem) != 0) return puts(problem.text), 1;
  if (argc > 2 && config.rank == 1) raise(SIGKILL);
  if (argc > 2) printf("waiting\\n"), fflush(stdout), pause();
  if (!fgets(line, sizeof line, stdin)) strcpy(line, "nothing");
  stat(getenv("VAIVEN_KEY_FILE"), &key);
  printf("rank %u of %u at %s: %s, mode %o in %s, read %s\\n", config.rank, config.ranks, config.address, text,
         (unsigned)key.st_mode & 0777, getenv("VAIVEN_KEY_FILE"), strtok(line, "\\n"));
  vv_group_leave(group);
  return 0;
}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory with a lab file and the program; nothing of it may run at the end."""
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lab.toml").write_text(LAB)
    (tmp_path / "program.c").write_text(PROGRAM)
    library = resources.library()
    paths = ["-I", str(ROOT / "include"), str(library), f"-Wl,-rpath,{library.parent}"]
    subprocess.run(["cc", "-Wall", "-Werror", "program.c", *paths, "-o", "program"], check=True)
    yield tmp_path
    until(lambda: subprocess.run(["pgrep", "-f", str(tmp_path / "program")], stdout=subprocess.DEVNULL).returncode == 1)


def run(vaiven: Vaiven, *words: str, **options) -> subprocess.CompletedProcess[str]:
    return vaiven("run", "--stack", "group", *words, **options)


@pytest.mark.lab
def test_ranks_are_dealt_out_to_the_hosts_in_turn_and_know_who_they_are(vaiven: Vaiven, here: Path) -> None:
    done = run(vaiven, "--lab", "./lab.toml", "-n", "5", "--", str(here / "program"), "hello", input="typed\n")
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.compile(r"rank (\d) of 5 at (\S+): hello, mode 600 in (/tmp/vaiven-key\.\w+), read (\w+)")
    lines = sorted(found.fullmatch(line).groups() for line in done.stdout.splitlines())
    assert [(line[0], line[1], line[3]) for line in lines] == [
        (str(rank), f"10.1.0.{rank % 2 + 1}", "typed" if rank == 0 else "nothing") for rank in range(5)
    ]
    (key,) = {line[2] for line in lines}
    assert not os.path.lexists(key)


def test_a_rank_that_dies_ends_the_others_and_is_named(vaiven: Vaiven, here: Path) -> None:
    done = run(vaiven, "--hosts", "localhost", "-n", "3", "--", str(here / "program"), "hello", "and wait")
    assert done.returncode == 137 and done.stderr == "vaiven: rank 1 ended with status 137\n", done.stderr


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_who_ends_vaiven_ends_the_ranks_and_the_key_goes(here: Path, how: signal.Signals) -> None:
    """Killed, too: a guard lives on."""
    script = 'echo "$VAIVEN_KEY_FILE"; exec sleep 1000'
    command = [sys.executable, "-m", "vaiven", "run", "--stack", "group", "--hosts", "localhost", "-n", "2"]
    with subprocess.Popen([*command, "--", "sh", "-c", script], stdout=subprocess.PIPE, text=True) as running:
        keys = {running.stdout.readline().strip() for _ in range(2)}
        (key,) = keys
        assert Path(key).stat().st_mode & 0o777 == 0o600
        running.send_signal(how)
        assert running.wait(30) in (-how, 128 + how, 130)
    until(lambda: not os.path.lexists(key))
    until(lambda: not any(key.encode() in _environment(pid) for pid in Path("/proc").glob("[0-9]*")))


def _environment(process: Path) -> bytes:
    try:
        return (process / "environ").read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["-n", "1025", "--", "true"], 1, "it has 1024 at most"),
        (["-n", "-1", "--", "true"], 1, "-1 ranks"),
        (["-n", "2", "--", "./nowhere"], 127, "nowhere"),
        (["-n", "2", "--", "sh", "-c", "exit $((VAIVEN_RANK * 3))"], 3, "rank 1 ended with status 3"),
        (["-n", "2", "--"], 2, "which program?"),
    ],
)
def test_what_cannot_be_is_said(vaiven: Vaiven, here: Path, words: list[str], status: int, says: str) -> None:
    done = run(vaiven, "--hosts", "localhost", *words)
    assert done.returncode == status and says in done.stderr, done.stderr


def test_a_program_that_nobody_started_so_says_what_it_lacks(here: Path) -> None:
    done = subprocess.run([here / "program", "hello"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "VAIVEN_RANKS is not in the environment" in done.stdout
