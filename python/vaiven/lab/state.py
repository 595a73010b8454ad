# SPDX-License-Identifier: BSD-3-Clause
"""Which labs there are: one directory for each instance, locked by whoever raises it or takes it down.

DIRECTORY/INSTANCE/made-by-vaiven   the mark: without it a directory is nobody's lab, neither listed nor removed
DIRECTORY/INSTANCE/lab.json         the lab, as vaiven.lab.lab.Lab
DIRECTORY/INSTANCE/hosts            /etc/hosts of its hosts

What is read here names processes to enter and files to write, so DIRECTORY must be its user's alone. A lock is on the
directory itself and ends with its process, so a killed one leaves none behind.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vaiven.errors import VaivenError

MARK = "made-by-vaiven"
RECORD = "lab.json"
HOSTS_FILE = "hosts"
_INSTANCE = re.compile(r"[a-z][a-z0-9-]{0,63}\Z")
_ROOT_DIRECTORY = Path("/run/vaiven")
_ELSEWHERE = "set VAIVEN_STATE_DIR to a directory of yours with some room"
_PATIENCE_S = 1.0  # somebody who only looks whether a lab is held holds it for an instant


def directory() -> Path:
    """Where this user's labs are recorded: $VAIVEN_STATE_DIR/vaiven, /run/vaiven (root) or $XDG_RUNTIME_DIR/vaiven.

    Without any of them a directory in /tmp. Raises VaivenError ("bad-state") if anybody else may write there.
    """
    path = _directory()
    require_ours(path)
    return path


def require_ours(path: Path) -> None:
    """Raises VaivenError ("bad-state") unless only this user, and root, may change what is in `path`, if it is there.

    A symbolic link is refused. Above it directories may be shared whose entries belong to who made them, as in /tmp.
    """
    for place in (path, *path.parents):
        if trouble := _trouble(place, is_above=place != path):
            what = f"{path} is not ours alone: {place} {trouble}"
            raise VaivenError(what, "set VAIVEN_STATE_DIR to a directory of yours alone", code="bad-state")


def place(instance: str) -> Path:
    """The directory of that instance, which may not exist. Raises VaivenError ("bad-instance", "bad-state")."""
    if not _INSTANCE.match(instance):
        raise VaivenError(
            f"{instance!r} is no name for a lab", "a-z, 0-9 and '-', a letter first, at most 64", code="bad-instance"
        )
    return directory() / instance


def instances() -> list[str]:
    """The names of the recorded instances, in order."""
    try:
        names = os.listdir(directory())
    except FileNotFoundError:
        return []
    return sorted(name for name in names if _INSTANCE.match(name) and _is_marked(directory() / name))


def make_directory(path: Path) -> None:
    """With whatever it lies in, unless it is there; others may write none of it, whatever the umask. Raises OSError."""
    for place in reversed((path, *path.parents)):
        if not place.is_dir():
            with contextlib.suppress(
                FileExistsError
            ):  # another process was quicker, or it is none: `require_ours` says
                place.mkdir(mode=0o755)


@contextmanager
def reserved(instance: str) -> Iterator[Path]:
    """Makes the directory of a new instance, marks and holds it.

    Raises VaivenError: "lab-exists", "bad-instance"; "bad-state" where it cannot be made, or something is in its way.
    """
    path = place(instance)
    try:
        make_directory(path.parent)
        require_ours(path.parent)
        path.mkdir(mode=0o755)
    except FileExistsError:
        raise _taken(path, instance) from None
    except OSError as error:
        raise VaivenError(f"cannot make {path}: {error.strerror}", _ELSEWHERE, code="bad-state") from None
    with _locked(path, instance):
        try:
            write(path, MARK, _processes())
        except VaivenError:
            remove(path)
            raise
        yield path  # nobody saw it marked and not held


@contextmanager
def held(instance: str, patience_s: float | None = None) -> Iterator[Path]:
    """Holds the directory of an instance.

    Raises VaivenError: "no-lab", "bad-instance", or "lab-busy" when another process holds it for longer than that.
    """
    path = place(instance)
    if not _is_marked(path):
        raise unknown(instance)
    with _locked(path, instance, patience_s):
        if not _is_marked(path):
            raise unknown(instance)
        yield path


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


def is_seen_from_here(path: Path) -> bool:
    """Whether the processes of the lab whose directory is `path` would be seen by this one: not from a container."""
    try:
        return (path / MARK).read_bytes() == _processes()
    except OSError:
        return False


def write(path: Path, name: str, content: bytes) -> Path:
    """Writes a file of the lab whose directory is `path`; a reader sees the old one or the new one, nothing between.

    Raises VaivenError ("bad-state"), for instance when the disk is full.
    """
    new = path / _new(name)
    try:
        new.write_bytes(content)
        return new.rename(path / name)
    except OSError as error:
        raise VaivenError(f"cannot write {path / name}: {error.strerror}", _ELSEWHERE, code="bad-state") from None


def read(instance: str) -> bytes | None:
    """The record of that instance; None if none was written, empty if it cannot be read."""
    try:
        return (place(instance) / RECORD).read_bytes()
    except FileNotFoundError:
        return None
    except OSError:
        return b""


def remove(path: Path) -> None:
    """Forgets the instance whose directory is `path`: what was written here, and nothing else.

    Raises VaivenError ("not-ours") if somebody put more into that directory: that stays, and is no lab any more.
    """
    for name in (RECORD, HOSTS_FILE, MARK):
        for file in (path / _new(name), path / name):
            with contextlib.suppress(FileNotFoundError, IsADirectoryError):
                file.unlink()
    try:
        path.rmdir()
    except OSError as error:
        what = f"{path} was not removed: {error.strerror}"
        raise VaivenError(what, "the lab is down; look what is in it, vaiven did not make that", "not-ours") from None


def unknown(instance: str) -> VaivenError:
    """The error ("no-lab") about an instance that is not there."""
    known = ", ".join(instances())
    remedy = f"up are {known}" if known else "no lab is up"
    if directory() != _ROOT_DIRECTORY and _is_marked(_ROOT_DIRECTORY / instance):
        remedy = "the administrator has one of that name: use sudo"
    return VaivenError(f"there is no lab called {instance!r} up", remedy, code="no-lab")


def _directory() -> Path:
    if chosen := os.environ.get("VAIVEN_STATE_DIR"):
        return Path(os.path.realpath(chosen)) / "vaiven"
    if os.geteuid() == 0:
        return _ROOT_DIRECTORY
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        return Path(os.path.realpath(runtime)) / "vaiven"
    return Path(os.path.realpath(tempfile.gettempdir())) / f"vaiven-{os.geteuid()}"


def _trouble(place: Path, *, is_above: bool) -> str:
    """Why others may change what is in a directory; empty if they may not, or if it is not there."""
    try:
        found = place.lstat()
    except (FileNotFoundError, NotADirectoryError):  # what is above it says why
        return ""
    except OSError as error:
        return f"cannot be looked at: {error.strerror}"
    if not stat.S_ISDIR(found.st_mode):
        return "is no directory"
    if found.st_uid != os.geteuid() and not (is_above and found.st_uid == 0):
        return f"belongs to user {found.st_uid}"
    is_shared = is_above and found.st_mode & stat.S_ISVTX
    return f"may be written by others (chmod go-w {place})" if found.st_mode & 0o022 and not is_shared else ""


def _taken(path: Path, instance: str) -> VaivenError:
    """The error about what is where a new lab should be."""
    deadline = time.monotonic() + _PATIENCE_S
    while not _is_marked(path):
        if time.monotonic() > deadline:
            what = f"{path} is in the way: vaiven did not make it"
            return VaivenError(what, "move it away, or give the lab another name (--as)", code="bad-state")
        time.sleep(0.01)  # it may have been made just now
    remedy = f"take it down (vaiven lab down {instance}), or give the new one another name (--as)"
    return VaivenError(f"a lab called {instance} is there already", remedy, code="lab-exists")


def _is_marked(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode) and stat.S_ISREG((path / MARK).lstat().st_mode)
    except OSError:
        return False


def _new(name: str) -> str:
    return f"{name}.new"


def _processes() -> bytes:
    """Names the process namespace that this process is in."""
    return os.readlink("/proc/self/ns/pid").encode() + b"\n"


@contextmanager
def _opened(path: Path, instance: str) -> Iterator[int]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except (FileNotFoundError, NotADirectoryError):
        raise unknown(instance) from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _locked(path: Path, instance: str, patience_s: float | None = None) -> Iterator[None]:
    with _opened(path, instance) as descriptor:
        deadline = time.monotonic() + (_PATIENCE_S if patience_s is None else patience_s)
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
