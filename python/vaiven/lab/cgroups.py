# SPDX-License-Identifier: BSD-3-Clause
"""Where this machine's control groups are, version 1 or 2, whichever is mounted."""

from __future__ import annotations

import contextlib
from pathlib import Path

CONTROLLERS = ("memory", "cpu", "blkio", "io")  # that limit what a host takes


def mounted() -> dict[str, tuple[Path, int]]:
    """controller -> (where its hierarchy is mounted, version), of those CONTROLLERS that are."""
    found: dict[str, tuple[Path, int]] = {}
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, place, kind, options, *_ = line.split(" ")
        if kind == "cgroup":
            found |= dict.fromkeys(options.split(","), (Path(place), 1))
        elif kind == "cgroup2":
            with contextlib.suppress(OSError):
                for controller in (Path(place) / "cgroup.controllers").read_text().split():
                    found.setdefault(controller, (Path(place), 2))
    return {controller: found[controller] for controller in CONTROLLERS if controller in found}
