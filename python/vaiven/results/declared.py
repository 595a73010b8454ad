# SPDX-License-Identifier: BSD-3-Clause
"""What a run says of the path of each of its stacks: the limits at which its cost may change its law."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from vaiven.model.explain import GSO_BYTES, Declared
from vaiven.results.rows import Key
from vaiven.store import query
from vaiven.store.query import Run

# As libraries call it, in the settings that `hello.way` names.
_EAGER = re.compile(r"\b(?:btl_tcp_eager_limit|UCX_RNDV_THRESH|MPIR_CVAR_\w*EAGER_MAX_MSG_SIZE)=(\d+)([kKmM]?)\b")
_SHIFTS = {"": 0, "k": 10, "m": 20}
_CUTS = ("tcp-segmentation-offload", "generic-segmentation-offload")


def declared(run: Run, keys: Sequence[Key]) -> dict[Key, Declared]:
    """Of each (near, far, stack): from the link, the inventories of both hosts, and what its launches said."""
    mtu_bytes = run.manifest.link.mtu_bytes if run.manifest.link else None
    eager: dict[Key, int] = {}
    single: set[Key] = set()
    for one in query.launch_records(run):
        key = one.near, one.far, one.stack
        if found := _EAGER.search(str(one.hello.get("way"))):
            eager[key] = int(found[1]) << _SHIFTS[found[2].lower()]
        if _single_segments(one.hello):
            single.add(key)
    return {key: _of_path(run, key, mtu_bytes, eager.get(key), key in single) for key in keys}


def _single_segments(hello: Mapping[str, Any]) -> bool:
    """Whether the near end's TCP hands its card one segment at a time, whatever that could cut."""
    near = hello.get("near")
    tcp = near.get("tcp") if isinstance(near, Mapping) else None
    return isinstance(tcp, Mapping) and tcp.get("batch_segments_max") == 1


def _of_path(run: Run, key: Key, mtu_bytes: int | None, eager_bytes: int | None, single: bool) -> Declared:
    near, far, stack = key
    hosts = [run.manifest.hosts.get(name, {}) for name in (near, far)]
    prefix = "tcp_" if stack.startswith("tcp") else ""
    return Declared(
        mtu_bytes=mtu_bytes,
        send_bytes=_least(hosts, f"{prefix}send_bytes"),
        send_bytes_max=_least(hosts, "tcp_send_bytes_max"),
        receive_bytes=_least(hosts, f"{prefix}receive_bytes"),
        receive_bytes_max=_least(hosts, "tcp_receive_bytes_max"),
        gso_bytes=0 if single else _gso_bytes(hosts[0]),
        eager_bytes=eager_bytes,
    )


def _least(hosts: Sequence[Mapping[str, Any]], what: str) -> int | None:
    """Messages go to and fro: the host that has less sets the limit."""
    said = [(host.get("sockets") or {}).get(what) for host in hosts]
    return min((size for size in said if size), default=None)


def _gso_bytes(host: Mapping[str, Any]) -> int | None:
    """Of the card that the messages take: 0 where it and the kernel cut nothing, None where it does not say."""
    card: Mapping[str, Any] = next(
        (one for one in host.get("nics", ()) if one.get("name") == host.get("interface")), {}
    )
    said = [(card.get("offloads") or {}).get(name) for name in _CUTS]
    return None if all(one is None for one in said) else GSO_BYTES if any(said) else 0
