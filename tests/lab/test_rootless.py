# SPDX-License-Identifier: BSD-3-Clause
"""An ordinary user's labs: free fabrics in a user namespace, said plainly; the rest refused with the reason.

The tests are root and become the user nobody, so they show that no privilege is left over.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import vaiven as package
from vaiven import resources
from vaiven.lab import namespace

pytestmark = pytest.mark.lab

LIMITED = """\
name = "limited"
[fabric]
kind = "hub"
class = "free"
[[hosts]]
name = "small"
memory_mb = 32
clock_offset_ms = 1500
[[hosts]]
name = "plain"
"""


# Shows vaiven, its labs and what it needs where everybody may enter, wherever they are, and becomes the user nobody.
PLACES = ("ours", "labs", "theirs")
BECOME_NOBODY = """
home=$1 && mount --bind "$2" "$home/ours" && mount --bind "$3" "$home/labs" && mount --bind "$4" "$home/theirs" &&
shift 4 && exec runuser -u nobody -- env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin XDG_RUNTIME_DIR="$home" \\
  PYTHONPATH="$home/ours:$home/theirs" PYTHONDONTWRITEBYTECODE=1 VAIVEN_NATIVE="$home/native" "$@"
"""


@pytest.fixture
def home() -> Iterator[Path]:
    """A directory of nobody's own."""
    path = Path(tempfile.mkdtemp(prefix="vaiven-test-"))
    shutil.chown(path, "nobody")
    for name in PLACES:
        (path / name).mkdir()
    yield path
    shutil.rmtree(path)


@pytest.fixture
def vaiven(home) -> Iterator[Callable[..., subprocess.CompletedProcess[str]]]:
    """Runs the `vaiven` command as the user nobody, with the records of its labs in home/vaiven."""
    places = map(str, (home, Path(package.__file__).parents[1], resources.ready("labs"), sysconfig.get_path("purelib")))
    become = ["unshare", "--mount", "sh", "-c", BECOME_NOBODY, "sh", *places]
    python = f"/usr/bin/python3.{sys.version_info.minor}"  # that of a .venv may be where nobody may not enter

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [*become, python, "-m", "vaiven", *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=home, timeout=60, check=False)

    yield call
    records = home / "vaiven"
    if records.is_dir() and any(records.iterdir()):
        call("lab", "down", "--all")


def succeeded(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_free_lab_lives_in_a_user_namespace_and_says_so(vaiven, home) -> None:
    raised = vaiven("lab", "up", "free")
    assert "free/free1" in succeeded(raised)
    assert "without root" in raised.stderr and "user namespace" in raised.stderr
    assert " up" in succeeded(vaiven("lab", "list"))
    assert succeeded(vaiven("lab", "run", "free/free2", "--", "hostname")) == "free2\n"
    assert "1 received" in succeeded(vaiven("lab", "run", "free/free1", "--", "ping", "-c1", "-W2", "free4"))
    (holder, *rest) = namespace.holders(home / "vaiven" / "free" / "hosts")
    assert len(rest) == 4
    assert os.stat(f"/proc/{holder.pid}").st_uid == 65534
    assert os.readlink(f"/proc/{holder.pid}/ns/user") != os.readlink("/proc/self/ns/user")
    succeeded(vaiven("lab", "down", "free"))
    assert namespace.holders(home / "vaiven" / "free" / "hosts") == []
    assert list((home / "vaiven").iterdir()) == []


@pytest.mark.parametrize("name", ["demo", "ufsm-gigabit"])
def test_a_fabric_with_a_rate_is_refused_with_the_reason(vaiven, home, name) -> None:
    refused = vaiven("lab", "up", name)
    assert refused.returncode == 1
    assert "needs root" in refused.stderr and "vaiven lab up free" in refused.stderr
    assert not (home / "vaiven" / name).exists()


def test_what_is_offered_instead_can_be_measured(vaiven, home) -> None:
    refused = vaiven("lab", "up", "demo")
    offered = re.search(r"vaiven (measure [^(]+)", refused.stderr)
    assert offered, refused.stderr
    (home / "native").mkdir()
    shutil.copy(resources.program("vaiven-probe"), home / "native")
    done = vaiven(*offered[1].split(), "--stacks", "udp", "--sizes", "64", "--no-page")
    assert "Done: 32 launches" in succeeded(done)  # eight blocks of three pairs and a sentinel


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ('[[hosts]]\nname = "old"\nframe_us = 100\n', "host old"),
        ('[[hosts]]\nname = "deaf"\nicmp_bytes_max = 32768\n', "host deaf"),
        ('[[faults]]\nhost = "*"\nkind = "loss"\nprobability = 0.01\n', "a link with faults"),
    ],
)
def test_slow_hosts_and_faults_are_refused_with_the_reason(vaiven, home, more, what) -> None:
    (home / "limited.toml").write_text(LIMITED + more)
    refused = vaiven("lab", "up", "./limited.toml")
    assert refused.returncode == 1 and what in refused.stderr and "needs root" in refused.stderr
    assert not (home / "vaiven" / "limited").exists()


def test_what_an_ordinary_user_cannot_limit_is_said_and_the_rest_works(vaiven, home) -> None:
    (home / "limited.toml").write_text(LIMITED)
    raised = vaiven("lab", "up", "./limited.toml")
    succeeded(raised)
    assert "small: its memory is not limited" in raised.stderr
    uptimes = [
        float(succeeded(vaiven("lab", "run", f"limited/{name}", "--", "cat", "/proc/uptime")).split()[0])
        for name in ("plain", "small")
    ]
    assert uptimes[1] - uptimes[0] >= 1.4  # its clock is 1.5 s ahead, and it was asked later


def test_a_killed_holder_is_seen_and_cleared_away(vaiven, home) -> None:
    succeeded(vaiven("lab", "up", "free"))
    hosts_file = home / "vaiven" / "free" / "hosts"
    os.kill(namespace.holders(hosts_file)[-1].pid, 9)
    listed = vaiven("lab", "list")
    assert listed.returncode == 1 and "BROKEN" in listed.stdout
    succeeded(vaiven("lab", "down", "free"))
    assert namespace.holders(hosts_file) == [] and not hosts_file.exists()
