# SPDX-License-Identifier: BSD-3-Clause
"""Where hosts of a lab put what goes beyond their memory: a file on this machine, taken as a disk that is as slow as
the lab says.

The kernel has areas to swap to for the whole machine, and gives no group one of its own. So hosts swap only where the
machine does not: elsewhere they would go to its own disk, or its own programs to the slow one. The file loses its name
at once; its disk is found again by the name that it had, which only one lab has.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vaiven import child
from vaiven.errors import VaivenError
from vaiven.lab import cgroups
from vaiven.lab.topology import Swap

AREAS = Path("/proc/swaps")
_DIRECTORY = Path("/var/tmp")  # on a disk, where /tmp and /run may be memory
_BLOCKS = Path("/sys/block")
_TIME_S = 60.0  # of one command


@dataclass(frozen=True)
class Area:
    """One that hosts may swap to. device: its disk, "/dev/loop3". number: the same as the kernel's groups call it,
    "7:3"."""

    device: str
    number: str
    swap: Swap

    @property
    def size_bytes(self) -> int:
        return self.swap.size_mb * 1_000_000

    @property
    def bytes_per_s(self) -> int:
        """Either way."""
        return max(1, round(1e9 / self.swap.byte_ns))


def add(owner: str, swap: Swap) -> tuple[Area | None, tuple[str, ...]]:
    """Makes the area of a lab. Answers (it, warnings), or (None, why there is none): then its hosts end instead."""
    try:
        if os.geteuid() != 0:
            raise OSError("only root may add an area to swap to")
        there = cgroups.mounted()
        if "blkio" not in there and ("io" not in there or there["io"] != there.get("memory")):
            raise OSError("no control group slows a disk for what is swapped")
        if len(AREAS.read_text().splitlines()) > 1:
            raise OSError("this machine has an area to swap to, which they would share")
        return _add(_path(owner), swap), ()
    except OSError as error:
        remove(owner)
        what = error.strerror or error
        return None, (f"hosts do not swap, and are ended where their memory is full: {what}",)


def remove(owner: str) -> None:
    """Ends swapping to the area of that owner, if there is one. Raises VaivenError ("no-end")."""
    with contextlib.suppress(OSError):  # its file has a name only if who made it was killed at once
        if _path(owner).lstat().st_uid == os.geteuid():
            _path(owner).unlink()
    for device in _devices(_path(owner)):
        try:
            _slow(_number(device), 0)  # what lies there comes back at once, and the next disk of that name is no slower
            if device in (line.split()[0] for line in AREAS.read_text().splitlines()):
                _run("swapoff", device)
            _run("losetup", "--detach", device)
        except OSError as error:
            what = f"{device}, to which hosts of a lab swapped, is still there: {error}"
            raise VaivenError(what, f"swapoff {device}", code="no-end") from None


def _path(owner: str) -> Path:
    return _DIRECTORY / f"vaiven-{owner}.swap"


def _add(path: Path, swap: Swap) -> Area:
    size_bytes = swap.size_mb * 1_000_000
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        os.posix_fallocate(file, 0, size_bytes)  # or the disk might be full in the middle of it
        device = _run("losetup", "--find", "--show", "--direct-io=on", str(path)).strip()
    finally:
        os.close(file)
        path.unlink()
    area = Area(device, _number(device), swap)
    _run("mkswap", device)
    _slow(area.number, area.bytes_per_s)
    _run("swapon", device)
    return area


def _slow(number: str, bytes_per_s: int) -> None:
    """Has that disk carry so much either way, 0: as much as it can. Groups of version 2 do it for themselves."""
    there = cgroups.mounted()
    if "blkio" in there:
        for way in ("read", "write"):
            (there["blkio"][0] / f"blkio.throttle.{way}_bps_device").write_text(f"{number} {bytes_per_s}")


def _number(device: str) -> str:
    number = os.stat(device).st_rdev
    return f"{os.major(number)}:{os.minor(number)}"


def _devices(path: Path) -> Iterator[str]:
    """The disks that are made of that file, whose name is gone."""
    for place in _BLOCKS.glob("loop*/loop/backing_file"):
        with contextlib.suppress(OSError):
            if place.read_text().strip() in (str(path), f"{path} (deleted)"):
                yield f"/dev/{place.parents[1].name}"


def _run(*command: str) -> str:
    """What it prints. Raises OSError with what it says is wrong."""
    done = child.call(command, within_s=_TIME_S)
    if done.status != 0:
        raise OSError(f"{command[0]}: {done.complaint or done.status}")
    return done.output.decode()
