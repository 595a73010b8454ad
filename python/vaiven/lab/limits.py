# SPDX-License-Identifier: BSD-3-Clause
"""How much memory and processor the programs of one host may use: control groups, version 1 or 2, whichever is mounted.

A group is called vaiven-OWNER-HOST and lies at the top of its hierarchy; OWNER is a word that only one lab has, so
that a lab's groups are found again without any record of them.
"""

from __future__ import annotations

import contextlib
import errno
import time
from pathlib import Path

from vaiven.errors import VaivenError
from vaiven.lab.topology import HostSpec

PERIOD_US = 20_000  # of the processor quota: the shortest with which the smallest share is still 1 ms
_BUSY_S = 5.0  # a group stays busy until the kernel has buried the last process in it


def create(owner: str, spec: HostSpec) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Makes the groups of a host. Answers (cgroup.procs files that its commands join, warnings about what cannot be).

    memory_mb * 10^6 bytes together; cpu_share of one processor.
    """
    joins: list[str] = []
    warnings: list[str] = []
    quota_us = round((spec.cpu_share or 0) * PERIOD_US)
    wanted = {
        "memory": (
            spec.memory_mb,
            [("memory.limit_in_bytes", f"{(spec.memory_mb or 0) * 1_000_000}")],
            [("memory.max", f"{(spec.memory_mb or 0) * 1_000_000}")],
        ),
        "cpu": (
            spec.cpu_share,
            [("cpu.cfs_period_us", f"{PERIOD_US}"), ("cpu.cfs_quota_us", f"{quota_us}")],
            [("cpu.max", f"{quota_us} {PERIOD_US}")],
        ),
    }
    hierarchies = _hierarchies()
    for controller, (limit, settings1, settings2) in wanted.items():
        if limit is None:
            continue
        try:
            if controller not in hierarchies:
                raise OSError(errno.ENOENT, f"no hierarchy with the controller {controller} is mounted")
            root, version = hierarchies[controller]
            group = _make(root, version, controller, f"vaiven-{owner}-{spec.name}")
            for file, value in settings1 if version == 1 else settings2:
                (group / file).write_text(value)
            joins.append(str(group / "cgroup.procs"))
        except OSError as error:
            warnings.append(f"{spec.name}: its {controller} is not limited: {error.strerror}")
    return tuple(dict.fromkeys(joins)), tuple(warnings)


def remove(owner: str) -> None:
    """Removes every group of that owner; its processes must have been killed. Raises VaivenError ("no-end")."""
    deadline = time.monotonic() + _BUSY_S
    for root, _ in set(_hierarchies().values()):
        for group in root.glob(f"vaiven-{owner}-*"):
            while not _removed(group):
                if time.monotonic() > deadline:
                    raise VaivenError(f"the control group {group} is still in use", "end its processes", code="no-end")
                time.sleep(0.01)


def _removed(group: Path) -> bool:
    try:
        group.rmdir()
    except FileNotFoundError:
        return True
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        return False
    return True


def _make(root: Path, version: int, controller: str, name: str) -> Path:
    if version == 2 and controller not in (root / "cgroup.subtree_control").read_text().split():
        (root / "cgroup.subtree_control").write_text(f"+{controller}")
    (root / name).mkdir(exist_ok=True)
    return root / name


def _hierarchies() -> dict[str, tuple[Path, int]]:
    """controller -> (where its hierarchy is mounted, version)."""
    found: dict[str, tuple[Path, int]] = {}
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, place, kind, options, *_ = line.split(" ")
        if kind == "cgroup":
            found |= dict.fromkeys(options.split(","), (Path(place), 1))
        elif kind == "cgroup2":
            with contextlib.suppress(OSError):
                for controller in (Path(place) / "cgroup.controllers").read_text().split():
                    found.setdefault(controller, (Path(place), 2))
    return {controller: found[controller] for controller in ("memory", "cpu") if controller in found}
