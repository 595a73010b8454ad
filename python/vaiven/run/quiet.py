# SPDX-License-Identifier: BSD-3-Clause
"""Is the network quiet before a run? What crosses the hosts' interfaces while nothing is measured is somebody else's.

Every host is listened to at the same time, for a moment. Over ssh both readings are one command, so that the
connection itself is not heard.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from vaiven.errors import VaivenError
from vaiven.plan.schema import Link
from vaiven.run import hosts, path
from vaiven.run.hosts import Host
from vaiven.run.path import Counters

LISTEN_S = 0.3
SHARE_MAX = 0.01  # of what the link could carry meanwhile
LEAST_BYTES = 10_000  # for each host that is asked: neighbours are looked up, clocks are set, ssh says hello

Heard = tuple[Counters, Counters]  # before and after
_COUNTERS = "cat " + " ".join(f"/proc/net/{name}" for name in path.FILES)
_BETWEEN = "---"


def listen(members: Mapping[str, Host], seconds: float = LISTEN_S) -> dict[str, Heard]:
    """What crossed the interface of each host in that time; a host that cannot say is left out."""
    asked = [host for host in members.values() if host.interface]
    with ThreadPoolExecutor(max(1, len(asked))) as pool:
        heard = pool.map(lambda host: _listen(host, seconds), asked)
        return {host.name: found for host, found in zip(asked, heard, strict=True) if found}


def findings(heard: Mapping[str, Heard], link: Link | None, seconds: float = LISTEN_S) -> list[tuple[str, str]]:
    """(code, text) of each host whose interface was not quiet."""
    carried = link.rate_bps / 8 * seconds if link else 0.0
    allowed = max(SHARE_MAX * carried, LEAST_BYTES * len(heard))
    found = []
    for name, (before, after) in heard.items():
        grown = after.since(before)
        seen_bytes = max(grown.tx_bytes, grown.rx_bytes)
        if seen_bytes > allowed:
            said = f"{8 * seen_bytes / seconds / 1e6:.3g} Mb/s crossed its interface before anything was measured"
            why = "something else is sending; wait until it stops, or these times are its times too"
            found.append(("busy-network", f"{name}: {said}: {why}"))
    return found


def _listen(host: Host, seconds: float) -> Heard | None:
    try:
        if host.proc_net:
            before = _files(host)
            time.sleep(seconds)
            texts = [before, _files(host)]
        else:
            script = f"{_COUNTERS}; sleep {seconds}; echo {_BETWEEN}; {_COUNTERS}"
            texts = hosts.call(host.name, host.argv, ["sh", "-c", script]).decode(errors="replace").split(_BETWEEN)
    except (VaivenError, OSError):
        return None
    first, last = (path.counters(text, host.interface) for text in (texts[0], texts[-1]))
    return (first, last) if first and last else None


def _files(host: Host) -> str:
    """Of a host whose files this machine shows."""
    assert host.proc_net
    return "".join((host.proc_net / name).read_text(errors="replace") for name in path.FILES)
