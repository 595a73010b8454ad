# SPDX-License-Identifier: BSD-3-Clause
"""What `vaiven lab check` learned of this machine, kept for labs to come.

How early frames must leave, by kind and rate of the fabric; how many frames a second a lab can carry, by those and the
number of hosts.

One file for all, in $VAIVEN_STATE_DIR or the user's cache. A file that is gone or damaged is one that knows nothing: a
calibration is only a better guess.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vaiven.lab.topology import Fabric, Topology

# Of software behind an exit, on a machine that has not been checked, whose processors are awake, as they are between
# the messages of a ping-pong. One that slept makes a frame some 10 us later; one that is early beats any wire.
LEAD_DEFAULT_NS = 8_000


def lead_ns(fabric: Fabric) -> int:
    """How much earlier than the end of its transmission a frame must leave an exit, as last calibrated here."""
    known = _known(_fabric_key(fabric), "lead_ns")
    return LEAD_DEFAULT_NS if known is None else int(known)


def store_lead(fabric: Fabric, lead: int) -> None:
    """Remembers it for labs of that kind and rate."""
    _store(_fabric_key(fabric), "lead_ns", lead)


def frames_per_s(topology: Topology) -> float | None:
    """How many short frames a second a lab like this one carried when it last earned its class; None: never checked."""
    return _known(_lab_key(topology), "frames_per_s")


def store_frames_per_s(topology: Topology, frames: float) -> None:
    """Remembers it for labs of that kind and rate with as many hosts."""
    _store(_lab_key(topology), "frames_per_s", frames)


def _fabric_key(fabric: Fabric) -> str:
    return f"{os.uname().nodename} {os.uname().release} {fabric.kind} {fabric.rate_mbps or 0:g}"


def _lab_key(topology: Topology) -> str:
    return f"{_fabric_key(topology.fabric)} {len(topology.hosts)}"


def _path() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vaiven"
    return Path(os.environ.get("VAIVEN_STATE_DIR") or cache) / "calibration.json"


def _all() -> dict[str, Any]:
    try:
        value = json.loads(_path().read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _known(key: str, name: str) -> float | None:
    entry = _all().get(key)
    value = entry.get(name) if isinstance(entry, dict) else None
    return value if isinstance(value, (int, float)) else None


def _store(key: str, name: str, value: float) -> None:
    path, everything = _path(), _all()
    entry = everything.get(key)
    everything[key] = (entry if isinstance(entry, dict) else {}) | {name: value}
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(f".{os.getpid()}")
    new.write_text(json.dumps(everything))
    new.rename(path)
