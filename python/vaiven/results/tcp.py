# SPDX-License-Identifier: BSD-3-Clause
"""How TCP of a run's hosts sent, as the ends of its launches said: congestion control, window, acknowledgements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vaiven.plan import ends
from vaiven.plan.stack import over_tcp
from vaiven.store import query
from vaiven.store.query import Run
from vaiven.store.record import LaunchRecord


def tcp_text(run: Run) -> str:
    """ "TCP reno, single segments"; of hosts that differ "TCP bbr (a, b); TCP reno (c)"; "" where no launch says.

    What is not said is the kernel's own: its initial window, and acknowledgements that may wait.
    """
    hosts: dict[str, list[str]] = {}
    for launch in query.launch_records(run):
        for host, said in _ends(launch):
            if host not in hosts.setdefault(said, []):
                hosts[said].append(host)
    if len(hosts) == 1:
        return next(iter(hosts))
    return "; ".join(f"{said} ({', '.join(names)})" for said, names in sorted(hosts.items()))


def _ends(launch: LaunchRecord) -> Iterator[tuple[str, str]]:
    """(host, what its TCP did) of a launch over TCP; on a side the host is called after it."""
    if not over_tcp(launch.stack):
        return
    _, at, side = launch.stack.partition("@")
    for end, host in (("near", launch.near), ("far", ends.split(launch.far)[0])):
        found = launch.hello.get(end)
        said = found.get("tcp") if isinstance(found, Mapping) else None
        if isinstance(said, Mapping):
            yield f"{host}{at}{side}", _words(said)


def _words(said: Mapping[str, Any]) -> str:
    window = said.get("initial_window_segments")
    parts = [f"TCP {said.get('congestion_control', '')}"]
    parts += [f"initial window {window}"] if window else []
    parts += ["quick acknowledgements"] if said.get("quick_acks") else []
    parts += ["single segments"] if said.get("batch_segments_max") == 1 else []
    return ", ".join(parts)
