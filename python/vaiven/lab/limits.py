# SPDX-License-Identifier: BSD-3-Clause
"""How much memory and processor the programs of one host may use: control groups, version 1 or 2, whichever is mounted.

A group is called vaiven-OWNER-HOST and lies at the top of its hierarchy; OWNER is a word that only one lab has, so
that a lab's groups are found again without any record of them.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Container
from pathlib import Path

from vaiven.errors import VaivenError
from vaiven.lab import cgroups
from vaiven.lab.swap import Area
from vaiven.lab.topology import HostSpec

PERIOD_US = 20_000  # of the processor quota: the shortest with which the smallest share is still 1 ms
_SWAPPED = ("memory.memsw.limit_in_bytes", "memory.swap.max")  # which only a kernel that counts what is swapped has
_BUSY_S = 5.0  # a group stays busy until the kernel has buried the last process in it


def create(owner: str, spec: HostSpec, area: Area | None = None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Makes the groups of a host. Answers (cgroup.procs files that its commands join, warnings about what cannot be).

    memory_mb * 10^6 bytes together, and beyond them what `area` has room for; cpu_share of one processor.
    """
    joins: list[str] = []
    warnings: list[str] = []
    there = cgroups.mounted()
    for controller, (settings1, settings2) in _settings(spec, area, there).items():
        try:
            if controller not in there:
                raise OSError(errno.ENOENT, f"no hierarchy with the controller {controller} is mounted")
            root, version = there[controller]
            group = _make(root, version, controller, f"vaiven-{owner}-{spec.name}")
            for file, value in settings1 if version == 1 else settings2:
                if file not in _SWAPPED or area or (group / file).exists():
                    (group / file).write_text(value)
            joins.append(str(group / "cgroup.procs"))
        except OSError as error:
            warnings.append(f"{spec.name}: its {controller} is not limited: {error.strerror}")
    return tuple(dict.fromkeys(joins)), tuple(warnings)


def remove(owner: str) -> None:
    """Removes every group of that owner; its processes must have been killed. Raises VaivenError ("no-end")."""
    deadline = time.monotonic() + _BUSY_S
    for root, _ in set(cgroups.mounted().values()):
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


Settings = list[tuple[str, str]]  # of a group: (file, what is written there), in this order


def _settings(spec: HostSpec, area: Area | None, there: Container[str]) -> dict[str, tuple[Settings, Settings]]:
    """controller -> what it is told in version 1 and 2. there: those that are mounted."""
    found: dict[str, tuple[Settings, Settings]] = {}
    if spec.memory_mb is not None:
        most, more = spec.memory_mb * 1_000_000, area.size_bytes if area else 0
        found["memory"] = (
            [("memory.limit_in_bytes", f"{most}"), ("memory.memsw.limit_in_bytes", f"{most + more}")],
            [("memory.max", f"{most}"), ("memory.swap.max", f"{more}")],
        )
        if area and "blkio" not in there:  # which slows the disk itself
            found["io"] = ([], [("io.max", f"{area.number} rbps={area.bytes_per_s} wbps={area.bytes_per_s}")])
    if spec.cpu_share is not None:
        quota_us = round(spec.cpu_share * PERIOD_US)
        found["cpu"] = (
            [("cpu.cfs_period_us", f"{PERIOD_US}"), ("cpu.cfs_quota_us", f"{quota_us}")],
            [("cpu.max", f"{quota_us} {PERIOD_US}")],
        )
    return found
