# SPDX-License-Identifier: BSD-3-Clause
"""Who is to blame for a message's time: layers, hosts that are unlike the others, each host's part, hosts or wire."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vaiven.errors import VaivenError
from vaiven.model.odd import OddHost, odd_hosts
from vaiven.model.shares import Shares, shares
from vaiven.model.stations import Station, stations
from vaiven.results import rows
from vaiven.results.costs import StackCost
from vaiven.results.ladders import Ladders, times_of
from vaiven.store.query import Run


@dataclass(frozen=True)
class Blame:
    """ladders: what each layer adds. odd: hosts that are unlike the others. stations: by stack, what each host adds.
    shares: by (near, far, stack), what is the hosts' and what the wire's."""

    ladders: Ladders
    odd: tuple[OddHost, ...]
    stations: dict[str, tuple[Station, ...]]
    shares: dict[rows.Key, Shares]


def blame(run: Run, costs: Sequence[StackCost], ladders: Ladders) -> Blame:
    """All that the round trips of a run say of it."""
    times = times_of(run, costs)
    rng = np.random.default_rng(rows.seed_of(run))
    odd: list[OddHost] = []
    for near in dict.fromkeys(near for near, _, _ in times):
        odd += odd_hosts({(stack, far): one for (first, far, stack), one in times.items() if first == near})
    hosts: dict[str, tuple[Station, ...]] = {}
    for stack in dict.fromkeys(stack for *_, stack in times):
        if each := stations([one for (*_, name), one in times.items() if name == stack], rng):
            hosts[stack] = each
    parts: dict[rows.Key, Shares] = {}
    for key, one in times.items():
        try:
            found = shares(one, rng)
        except VaivenError:  # of a cell without any answer there is no share
            continue
        if found is not None:
            parts[key] = found
    return Blame(ladders, tuple(odd), hosts, parts)
