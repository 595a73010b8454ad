# SPDX-License-Identifier: BSD-3-Clause
"""What machines say of themselves right before and right after a launch: what crossed the interfaces of its ends, and
what was lost of their processors. Where a host cannot say, a launch is no less true for that."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from vaiven.errors import VaivenError
from vaiven.run import hosts, lost, path
from vaiven.run.hosts import Host
from vaiven.run.place import Place
from vaiven.store.record import Loss

_STAT = Path("/proc/stat")
_ASKED = f"cat {' '.join(f'/proc/net/{name}' for name in path.FILES)}; grep ^cpu {_STAT}"


@dataclass(frozen=True)
class Reading:
    """At one instant: the counters of the near end's interface and of the first far end's, None where that is the same
    host or cannot say; and what witnesses had counted. at_s: monotonic time."""

    near: path.Counters | None
    far: path.Counters | None
    counted: lost.Counted
    at_s: float


def read(near: Host, far: Host, place: Place) -> Reading:
    """Of both ends of a launch."""
    said = {host.name: (host, _said(host)) for host in (near, far)}
    counted: dict[tuple[str, str], int] = {}
    for host, text in said.values():
        counted.update(lost.stolen(text, "" if host.here else host.name))
    if place.witnesses:
        counted.update(lost.missed(place.witnesses.lost_ns()))
    counters = {name: path.counters(text, host.interface) for name, (host, text) in said.items()}
    other = counters[far.name] if far.name != near.name else None
    return Reading(counters[near.name], other, counted, time.monotonic())


def grown(before: Reading, after: Reading) -> path.Grown | None:
    """What crossed between the two."""
    near, far = (
        now.since(then) if then and now else None for then, now in ((before.near, after.near), (before.far, after.far))
    )
    return path.Grown(near, far) if near else None


def losses(before: Reading, after: Reading) -> tuple[Loss, ...]:
    """What was lost between the two, if that is too much."""
    return lost.losses(before.counted, after.counted, round(1e9 * (after.at_s - before.at_s)))


def _said(host: Host) -> str:
    """path.FILES of a host, and the lines of /proc/stat on processors; "" of one that says nothing."""
    if not host.interface:
        return ""
    try:
        return _files(host).decode(errors="replace")
    except (VaivenError, OSError):
        return ""


def _files(host: Host) -> bytes:
    """Without a process where this machine shows them, for a launch waits for them twice."""
    if host.proc_net:
        return b"".join(file.read_bytes() for file in (*(host.proc_net / name for name in path.FILES), _STAT))
    return hosts.call(host.name, host.argv, ["sh", "-c", _ASKED])
