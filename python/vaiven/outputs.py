# SPDX-License-Identifier: BSD-3-Clause
"""Files that a user names to be written: whole or not at all, and never over something that vaiven did not make."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from vaiven.errors import VaivenError

SVG = b"<svg"  # what a picture of ours has near its beginning


def require_replaceable(path: Path, mark: bytes) -> None:
    """VaivenError ("cannot-write") if something is there that vaiven did not make.

    That is a device, a link, a directory, or a file without `mark` near its beginning; an empty one will do.
    """
    try:
        found = path.lstat()
    except OSError:  # nothing, or writing will say why not
        return
    if not stat.S_ISREG(found.st_mode):
        raise VaivenError(f"cannot write {path}: it is no plain file", "give another name", code="cannot-write")
    if found.st_size and not _holds(path, mark):
        what = f"cannot write {path}: vaiven did not make what is there"
        raise VaivenError(what, "give another name, or move it away", code="cannot-write")


def _holds(path: Path, mark: bytes) -> bool:
    try:
        with path.open("rb") as file:
            return mark in file.read(4096)
    except OSError:
        return False


def write(path: Path, text: str, mark: bytes) -> Path:
    """Writes text, whose beginning has the mark, its directory made if need be: a reader never sees half of it.

    Returns the path. Raises VaivenError ("cannot-write"), also where what is there has no such mark.
    """
    require_replaceable(path, mark)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("x", encoding="utf-8") as file:  # "x" follows no link that waits there
            file.write(text)
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        what = f"cannot write {path}: {error.strerror}"
        raise VaivenError(what, "choose another place", "cannot-write") from error
    return path
