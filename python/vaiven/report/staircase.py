# SPDX-License-Identifier: BSD-3-Clause
"""What the wire takes at every size, from what a run recorded at some: each frame more is a step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from vaiven.model.frames import Path, Wire, bends_bytes, wire_ns
from vaiven.plot.curves import Staircase
from vaiven.plot.interactive import NO_WIRE
from vaiven.results.facts import Facts

_ALIKE = 1e-6  # the probe rounds to the ns


def staircase(run: Facts, recorded: Iterable[Mapping[int, float]]) -> Staircase:
    """The least that the wire takes for any of several stacks. recorded: of each stack, size -> ns.

    A stack's headers are those by which the formula gives what was recorded at every size. NO_WIRE where no formula
    does, or nobody knows the link.
    """
    link = link_of(run)
    stacks = [known for one in recorded if (known := {size: ns for size, ns in one.items() if ns})]
    if link is None:
        return NO_WIRE
    found = [(path, min(known), max(known)) for known in stacks for path in _paths(link, known)]
    if not found:
        return NO_WIRE
    sizes = np.unique(np.concatenate([bends_bytes(path, link.mtu_bytes, *ends) for path, *ends in found]))
    times = [
        np.where((sizes >= first) & (sizes <= last), wire_ns(path, link, sizes), np.inf) for path, first, last in found
    ]
    return Staircase(tuple(sizes.tolist()), tuple(np.min(times, axis=0).tolist()))


def link_of(run: Facts) -> Wire | None:
    """The link of a run, where all of it is known."""
    if run.rate_bits_per_s is None or run.hops is None or run.mtu_bytes is None:
        return None
    return Wire(run.rate_bits_per_s, run.hops, run.mtu_bytes)


def _paths(link: Wire, known: Mapping[int, float]) -> list[Path]:
    """The one path that takes those times, or none; where several do, they take the same."""
    sizes, times = np.array(list(known)), np.array(list(known.values()))
    fits = (path for path in Path if np.allclose(wire_ns(path, link, sizes), times, rtol=_ALIKE, atol=1.0))
    return [path] if (path := next(fits, None)) else []
