# SPDX-License-Identifier: BSD-3-Clause
"""What is given away, made once, and Debians to install it on: minimal ones, each in a directory of its own.

A command on such a Debian runs in namespaces of mounts and processes, with that directory as its root; the network is
that of this machine. The packages come from where this machine's come from.
"""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SUITES = ("bookworm", "trixie")  # Debian 12, and a newer one
_WITH = "ca-certificates,iputils-ping,python3-venv"
_STAMPS = (".meson", ".python", ".installed", ".test", ".docs", ".dist")
_ENTER = """
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs tmpfs run
pivot_root . mnt
cd /
umount -l mnt
shift
exec "$@"
"""


@dataclass(frozen=True)
class Debian:
    """A Debian in a directory."""

    suite: str
    root: Path

    def run(self, *command: str, timeout_s: float = 300) -> subprocess.CompletedProcess[str]:
        """What that command says there, as root, at /root."""
        known = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        path = "/opt/vaiven/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        words = [f"{name}={value}" for name, value in (known | {"PATH": path, "HOME": "/root"}).items()]
        return subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-euc", _ENTER, "sh", self.root,
             "env", "-i", "-C", "/root", *words, *command],
            capture_output=True, text=True, timeout=timeout_s, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def said(self, *command: str, timeout_s: float = 300) -> str:
        """Its standard output; a failure fails the test."""
        done = self.run(*command, timeout_s=timeout_s)
        assert done.returncode == 0, f"{self.suite}: {command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def take(self, *files: Path) -> list[str]:
        """Copies files there; their names there."""
        return [f"/root/{Path(shutil.copy(file, self.root / 'root')).name}" for file in files]


def _mirror() -> str:
    """Where apt gets Debian's packages from on this machine."""
    asked = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(ORIGIN) $(CODENAME)", "Created-By: Packages"]
    lines = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()
    return next(line.split()[0] for line in lines if line.split()[1:2] == ["Debian"] and "-" not in line.split()[-1])


@pytest.fixture(scope="session")
def debian(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Debian]:
    """A fresh Debian of that suite, without a compiler: debian("trixie")."""
    made: dict[str, Path] = {}

    def fresh(suite: str) -> Debian:
        if suite not in made:
            made[suite] = tmp_path_factory.mktemp(suite) / "clean"
            subprocess.run(
                ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={_WITH}", suite, made[suite], _mirror()],
                check=True,
            )
        root = tmp_path_factory.mktemp(suite) / "root"
        subprocess.run(["cp", "-a", "--reflink=auto", made[suite], root], check=True)
        _connect(root)
        return Debian(suite, root)

    return fresh


def _connect(root: Path) -> None:
    """Lets programs there reach what those of this machine reach, and trust whom they trust."""
    trusted = Path(ssl.get_default_verify_paths().cafile or "/etc/ssl/certs/ca-certificates.crt")
    for file, there in (
        (trusted, "etc/ssl/certs/ca-certificates.crt"),
        (Path("/etc/resolv.conf"), "etc/resolv.conf"),
        (Path("/etc/hosts"), "etc/hosts"),
        (Path("/etc/pip.conf"), "etc/pip.conf"),
    ):
        if file.exists():
            (root / there).unlink(missing_ok=True)
            shutil.copy(file, root / there)


@pytest.fixture(scope="session")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory where `make wheel` and `make deb` have left what they make: dist/ and deb/."""
    place = tmp_path_factory.mktemp("given")
    venv = place / "venv"  # as `make test` leaves it, without installing anything
    venv.mkdir()
    (venv / "bin").symlink_to(Path(sys.executable).parent)
    for stamp in _STAMPS:
        (venv / stamp).touch()
    words = [f"VENV={venv}", f"DIST={place / 'dist'}", f"DEB={place / 'deb'}"]
    alone = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    done = subprocess.run(["make", "deb", *words], cwd=ROOT, env=alone, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-8000:]
    return place
