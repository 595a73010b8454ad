# SPDX-License-Identifier: BSD-3-Clause
"""Which labs there are: one directory for each instance, locked by whoever raises it or takes it down.

DIRECTORY/INSTANCE/lab.json   the lab, as vaiven.lab.lab.Lab
DIRECTORY/INSTANCE/hosts      /etc/hosts of its hosts

A lock is on the directory itself and ends with its process, so a killed one leaves none behind.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vaiven.errors import VaivenError

RECORD = "lab.json"
HOSTS_FILE = "hosts"
_ROOT_DIRECTORY = Path("/run/vaiven")
_ELSEWHERE = "set VAIVEN_STATE_DIR to a directory of yours with some room"
_PATIENCE_S = 1.0  # somebody who only looks whether a lab is held holds it for an instant


def directory() -> Path:
    """Where this user's labs are recorded: $VAIVEN_STATE_DIR, else /run/vaiven (root) or $XDG_RUNTIME_DIR/vaiven.

    Without any of them a directory in /tmp that nobody else may write. Raises VaivenError ("bad-state").
    """
    if chosen := os.environ.get("VAIVEN_STATE_DIR"):
        return Path(chosen).resolve()
    if os.geteuid() == 0:
        return _ROOT_DIRECTORY
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        return Path(runtime).resolve() / "vaiven"
    path = Path(tempfile.gettempdir()) / f"vaiven-{os.geteuid()}"
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise VaivenError(f"{path} is not ours alone", "remove it, or set VAIVEN_STATE_DIR", code="bad-state")
    return path


def place(instance: str) -> Path:
    """The directory of that instance, which may not exist."""
    return directory() / instance


def instances() -> list[str]:
    """The names of the recorded instances, in order."""
    if not directory().is_dir():
        return []
    return sorted(path.name for path in directory().iterdir() if path.is_dir())


@contextmanager
def reserved(instance: str) -> Iterator[Path]:
    """Makes the directory of a new instance and holds it. Raises VaivenError ("lab-exists", "bad-state")."""
    path = place(instance)
    try:
        directory().mkdir(mode=0o755, parents=True, exist_ok=True)
        path.mkdir(mode=0o755)
    except FileExistsError:
        remedy = f"take it down (vaiven lab down {instance}), or give the new one another name (--as)"
        raise VaivenError(f"a lab called {instance} is there already", remedy, code="lab-exists") from None
    except OSError as error:
        raise VaivenError(f"cannot make {path}: {error.strerror}", _ELSEWHERE, code="bad-state") from None
    with _locked(path, instance):
        yield path


@contextmanager
def held(instance: str) -> Iterator[Path]:
    """Holds the directory of an instance. Raises VaivenError ("no-lab", or "lab-busy" when another process does)."""
    with _locked(place(instance), instance):
        yield place(instance)


def is_held(instance: str) -> bool:
    """Whether a living process raises this lab or takes it down right now."""
    try:
        with _opened(place(instance), instance) as descriptor:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except VaivenError:  # gone meanwhile
        return False
    return False


def write(path: Path, name: str, content: bytes) -> Path:
    """Writes a file of the lab whose directory is `path`; a reader sees the old one or the new one, nothing between.

    Raises VaivenError ("bad-state"), for instance when the disk is full.
    """
    new = path / f"{name}.new"
    try:
        new.write_bytes(content)
        return new.rename(path / name)
    except OSError as error:
        raise VaivenError(f"cannot write {path / name}: {error.strerror}", _ELSEWHERE, code="bad-state") from None


def read(instance: str) -> bytes | None:
    """The record of that instance; None if none was written."""
    try:
        return (place(instance) / RECORD).read_bytes()
    except FileNotFoundError:
        return None


def remove(path: Path) -> None:
    """Forgets the instance whose directory is `path`."""
    shutil.rmtree(path)


@contextmanager
def _opened(path: Path, instance: str) -> Iterator[int]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        raise unknown(instance) from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _locked(path: Path, instance: str) -> Iterator[None]:
    with _opened(path, instance) as descriptor:
        deadline = time.monotonic() + _PATIENCE_S
        while not _lock(descriptor):
            if time.monotonic() > deadline:
                raise VaivenError(
                    f"the lab {instance} is being raised or taken down by another process",
                    "wait for that, or end it; then it can be taken down",
                    code="lab-busy",
                )
            time.sleep(0.01)
        if not path.is_dir() or not os.path.samestat(path.stat(), os.fstat(descriptor)):
            raise unknown(instance)  # removed, and perhaps made anew, before the lock was ours
        yield


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def unknown(instance: str) -> VaivenError:
    """The error ("no-lab") about an instance that is not there."""
    known = ", ".join(instances())
    remedy = f"up are {known}; vaiven lab up raises more" if known else f"raise one: vaiven lab up {instance}"
    if directory() != _ROOT_DIRECTORY and (_ROOT_DIRECTORY / instance).is_dir():
        remedy = "the administrator has one of that name: use sudo"
    return VaivenError(f"there is no lab called {instance!r} up", remedy, code="no-lab")
