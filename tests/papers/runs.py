# SPDX-License-Identifier: BSD-3-Clause
"""Measurements of the lab cetad made by hand, in which every median is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import numpy as np
from tests.store import made

from vaiven import resources
from vaiven.lab import topology
from vaiven.papers.measured import PVM_METHODS, Measured
from vaiven.store.record import STEPS, Manifest

HOSTS = ("purmamarca", "tilcara", "fourier", "paris", "sofia", "prited")
STACKS = (*PVM_METHODS, "tcp", "udp", "icmp")
SIZES = (8, 100, 1000, 60_000, 10**6, 10**7)

OneWay = Callable[[str, int, str], float]  # (stack, bytes, host) -> seconds
Step = Callable[[str, str, int, str], float]  # (step, stack, bytes, host) -> seconds


def manifest(hosts: tuple[str, ...] = HOSTS) -> Manifest:
    """Of a run there, from the first of these hosts to each other one."""
    lab = topology.load(resources.ready("labs") / "cetad.toml")
    orders = {host.name: host.byte_order for host in lab.hosts}
    return msgspec.structs.replace(
        made.manifest(),
        design={"pairs": [[hosts[0], far] for far in hosts[1:]], "seed": 1},
        place={"lab": msgspec.to_builtins(lab), "hosts": list(hosts)},
        hosts={name: {"byte_order": orders[name]} for name in hosts},
        link={"rate_bps": 10_000_000, "hops": 1, "mtu_bytes": 1500},
    )


def measured(
    one_way: OneWay, step: Step, *, launches: int = 8, noise: float = 0.01, hosts: tuple[str, ...] = HOSTS
) -> Measured:
    """So many blocks, in which launches differ by that share."""
    rng = np.random.default_rng(7)

    def rows() -> Iterator[dict[str, Any]]:
        for block in range(launches):
            for stack in STACKS:
                for far in hosts[1:]:
                    key = {"near": hosts[0], "far": far, "fars": 1, "stack": stack, "block": block}
                    factor = float(np.exp(noise * rng.standard_normal()))
                    for part, size, seconds in _cells(stack, far, one_way, step):
                        yield key | {"part": part, "size_bytes": size, "ns_median": 1e9 * factor * seconds}

    return Measured(manifest(hosts), rows())


def _cells(stack: str, far: str, one_way: OneWay, step: Step) -> Iterator[tuple[str, int, float]]:
    """(part, bytes, seconds) of one launch."""
    for size in SIZES:
        if size < 65_000 or stack not in ("udp", "icmp"):
            yield "", size, 2 * one_way(stack, size, far)
        if stack in PVM_METHODS:
            yield from ((part, size, step(part, stack, size, far)) for part in STEPS)
