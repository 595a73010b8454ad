# SPDX-License-Identifier: BSD-3-Clause
"""The messages of a run by cell over all launches, for what single messages tell: distributions and their tails."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from vaiven.questions import WHOLE_PARTS
from vaiven.results import rows
from vaiven.stats.arrays import Floats, Ints
from vaiven.stats.estimate import Estimate
from vaiven.stats.quantile import pooled_quantile
from vaiven.store import query
from vaiven.store.query import Run

QUANTILES = 101  # of a distribution: 0 %, 1 %, ... 100 %

Key = tuple[str, str, str, str, int]  # near, far, stack, ask, size_bytes


@dataclass(frozen=True, eq=False)
class Messages:
    """ns: of the `rows.one_way`, infinite where lost; launches: of each, the number of its launch."""

    ns: Floats
    launches: Ints

    def quantile(self, share: float) -> Estimate:
        """That of all messages together, or why so few messages have none."""
        return pooled_quantile(self.ns, self.launches, share, "ns")

    @property
    def spread_ns(self) -> tuple[float, ...]:
        """QUANTILES of those that were answered, equally spaced from the smallest to the largest; empty of none."""
        answered = self.ns[np.isfinite(self.ns)]
        shares = np.linspace(0, 1, QUANTILES)
        return tuple(np.quantile(answered, shares, method="nearest").tolist()) if answered.size else ()


def messages(run: Run) -> dict[Key, Messages]:
    """Of every cell but sentinels and the parts of a question: rows of a cell of a launch stand together in a run."""
    samples = rows.one_way(query.samples(run).filter(sentinel=False))
    samples = samples.filter(samples["part"].is_in(WHOLE_PARTS))
    launch, size = (samples[name].to_numpy() for name in ("launch", "size_bytes"))
    ns = samples["ns"].cast(float).fill_null(float("inf")).to_numpy()
    names = {one.launch: (one.near, one.far, one.stack, one.ask) for one in query.launch_records(run)}
    edges = np.flatnonzero((np.diff(launch) != 0) | (np.diff(size) != 0)) + 1
    found: dict[Key, list[slice]] = defaultdict(list)
    for first, end in pairwise([0, *edges.tolist(), len(ns)]):
        if first < end:
            found[*names[int(launch[first])], int(size[first])].append(slice(first, end))
    return {
        key: Messages(np.concatenate([ns[one] for one in parts]), np.concatenate([launch[one] for one in parts]))
        for key, parts in found.items()
    }
