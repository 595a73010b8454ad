# SPDX-License-Identifier: BSD-3-Clause
"""Files of a run directory: a file that exists is whole, also after a power cut, and is never changed."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

from vaiven.errors import VaivenError
from vaiven.store import digest

_FULL = (errno.ENOSPC, errno.EDQUOT)


def write_whole(path: Path, data: bytes) -> None:
    """Writes under a temporary name, syncs, renames. VaivenError ("disk-full", "cannot-write"): nothing is left."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        try:
            _write_synced(temporary, data, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.rename(temporary, path)
            _sync_directory(path.parent)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error


def append_line(path: Path, line: bytes) -> None:
    """Appends one line and syncs. VaivenError as write_whole; a line that was cut off is for readers to skip."""
    try:
        _write_synced(path, line + b"\n", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW)
    except OSError as error:
        raise cannot_write(path, error) from error


def read_lines(path: Path) -> list[bytes]:
    """The documents of a file that grows, in order; none of a file that is not there. VaivenError ("run-damaged")."""
    try:
        return digest.lines(path.read_bytes())
    except FileNotFoundError:
        return []
    except (ValueError, OSError) as error:
        raise damaged(path, error) from error


def drop_torn_line(path: Path) -> None:
    """Takes away what a crash left of a last line, so that the next one begins on a line of its own.

    VaivenError ("run-damaged"): the lines before it are not what was written.
    """
    read_lines(path)
    data = path.read_bytes() if path.exists() else b""
    whole = data[: data.rfind(b"\n") + 1]
    if whole != data:
        write_whole(path, whole)


def numbers(directory: Path, suffix: str) -> list[int]:
    """The launches that have a file in this directory, in order. VaivenError ("run-damaged"): a name is no number."""
    found = []
    for path in directory.glob(f"*{suffix}"):
        if not re.fullmatch("[0-9]{5}|[1-9][0-9]{5,8}", path.stem):
            raise damaged(path, "no launch has such a name")
        found.append(int(path.stem))
    return sorted(found)


def numbered(launch: int, suffix: str) -> str:
    """The name of the file of a launch."""
    return f"{launch:05d}{suffix}"


def damaged(path: Path, why: object) -> VaivenError:
    """The error of a file of a run that is not what was written."""
    said = str(why).splitlines()
    return VaivenError(
        f"the run is damaged: {path}: {said[0] if said else type(why).__name__}",
        "nothing is guessed; restore it from a copy",
        code="run-damaged",
    )


def cannot_write(path: Path, error: OSError) -> VaivenError:
    """The error of the world behind an OSError on `path`."""
    if error.errno in _FULL:
        return VaivenError(
            f"the disk is full: cannot write {path}", "finished launches are safe; make room", code="disk-full"
        )
    return VaivenError(f"cannot write {path}: {error.strerror}", "give another place with --runs", code="cannot-write")


def _write_synced(path: Path, data: bytes, flags: int) -> None:
    descriptor = os.open(path, flags | os.O_CLOEXEC, 0o644)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(descriptor, left) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
