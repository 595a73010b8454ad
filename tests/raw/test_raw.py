# SPDX-License-Identifier: BSD-3-Clause
"""vaiven-raw: what it starts has CAP_NET_RAW where its file has it, keeps its environment, and runs in any case."""

from __future__ import annotations

import os
import shutil
import stat
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from vaiven import resources

PERMITTED_V2, NET_RAW = 0x02000000, 1 << 13  # linux/capability.h: vfs_cap_data, without the bit for +e
USER = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--inh-caps", "-all")
SAYS = ("sh", "-c", "grep CapEff /proc/self/status; echo $LD_LIBRARY_PATH:$LD_PRELOAD:$TMPDIR")
KEPT = {"LD_LIBRARY_PATH": "/of/mine", "LD_PRELOAD": "", "TMPDIR": "/of/mine/too", "PATH": os.environ["PATH"]}
PATHS = "/of/mine::/of/mine/too"
NONE, RAW = "0000000000000000", "0000000000002000"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A copy where anybody may start it, without any capability."""
    return Path(shutil.copy(resources.program("vaiven-raw"), tmp_path))


def run(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, env=KEPT | environment, capture_output=True, text=True, timeout=60, check=False)


def said(done: subprocess.CompletedProcess[str]) -> tuple[str, str]:
    """(effective capabilities, what is left of the environment) of a shell that said them."""
    assert done.returncode == 0, done.stderr
    capabilities, paths = done.stdout.splitlines()
    return capabilities.split()[1], paths


def test_it_has_no_loader_and_is_not_setuid() -> None:
    found = resources.program("vaiven-raw")
    headers = subprocess.run(["readelf", "-lW", found], capture_output=True, text=True, check=True).stdout
    assert "INTERP" not in headers and "DYNAMIC" not in headers
    assert not found.stat().st_mode & (stat.S_ISUID | stat.S_ISGID)
    assert "security.capability" not in os.listxattr(found)


def test_it_becomes_the_program_with_its_arguments_and_status(program: Path) -> None:
    done = run(program, "sh", "-c", 'echo "$0|$1|$2"; exit 7', "a b", "", "c")
    assert (done.returncode, done.stdout) == (7, "a b||c\n")


@pytest.mark.parametrize(
    ("path", "name", "status"),
    [("/nowhere:/bin:/usr/bin", "true", 0), ("", "./true", 0), ("/nowhere", "true", 127), ("::/x", "true", 0),
     ("x" * 5000 + ":/bin", "true", 0), ("/bin", "/nowhere/true", 127)],
)  # fmt: skip
def test_a_name_is_looked_for_as_a_shell_does(
    program: Path, monkeypatch: pytest.MonkeyPatch, path: str, name: str, status: int
) -> None:
    (program.parent / "true").symlink_to("/bin/true")
    monkeypatch.chdir(program.parent)
    done = run(program, name, PATH=path)
    assert done.returncode == status
    assert done.stderr == ("" if status == 0 else f"vaiven-raw: cannot start {name}\n")


def test_without_a_program_it_says_how_it_is_used(program: Path) -> None:
    done = run(program)
    assert done.returncode == 127 and done.stderr == "usage: vaiven-raw PROGRAM [ARGUMENT...]\n"


def test_without_the_capability_the_program_runs_without(program: Path) -> None:
    program.parent.chmod(0o755)
    assert said(run(*USER, _public(program), *SAYS)) == (NONE, PATHS)


def _public(program: Path) -> Path:
    """Directories of pytest are its user's alone."""
    for directory in program.parents:
        if directory.stat().st_uid == os.getuid() and directory != Path("/"):
            directory.chmod(directory.stat().st_mode | 0o011)
    return program


@pytest.mark.root
class TestCapable:
    """The file has the capability, as setcap cap_net_raw+p gives it, on a file system of its own."""

    @pytest.fixture
    def capable(self, program: Path) -> Iterator[Path]:
        mounted = program.parent / "mounted"
        mounted.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "none", mounted], check=True)
        copy = Path(shutil.copy(program, mounted))
        os.setxattr(copy, "security.capability", struct.pack("<5I", PERMITTED_V2, NET_RAW, 0, 0, 0))
        yield _public(copy)
        subprocess.run(["umount", mounted], check=True)

    def test_the_program_has_that_one_and_its_whole_environment(self, capable: Path) -> None:
        assert said(run(*USER, capable, *SAYS)) == (RAW, PATHS)

    def test_where_the_bounding_set_lacks_it_the_program_runs_without(self, capable: Path) -> None:
        assert said(run(*USER, "--bounding-set", "-net_raw", capable, *SAYS)) == (NONE, PATHS)

    def test_on_a_file_system_where_files_give_nothing_the_program_runs_without(self, capable: Path) -> None:
        subprocess.run(["mount", "-o", "remount,nosuid", capable.parent], check=True)
        assert said(run(*USER, capable, *SAYS)) == (NONE, PATHS)

    def test_setuid_it_refuses(self, capable: Path) -> None:
        capable.chmod(0o4755)
        done = run(*USER, capable, *SAYS)
        assert done.returncode == 126 and "setuid or setgid, which it must never be" in done.stderr
