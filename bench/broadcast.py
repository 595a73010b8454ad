# SPDX-License-Identifier: BSD-3-Clause
"""One message for many: `group` against the raw sender of the same run, and for many against for one.

Each row is a fanout of whole launches, block by block, as `vaiven measure` runs them.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import repeat
from ratio import Ratio, ratio

from vaiven.store import query

_PLAN = """
title = "bench"
lab = "{lab}"
stacks = {stacks}
questions = ["fanout"]
receivers = {receivers}
sizes = {sizes}
seed = {seed}
[effort]
samples = {samples}
cell_ms = {cell_ms}
[stop]
launches_min = {launches}
launches_max = {launches}
"""

LAUNCHES = 8
Medians = dict[tuple[str, int, int], dict[int, float]]  # (stack, receivers, size) -> block -> median in ns


def medians(lab: str, receivers: list[int], sizes: list[int], samples: int, cell_ms: int, seed: int) -> Medians:
    """The launch medians of `raw` and `group` on that lab."""
    plan = _PLAN.format(
        lab=lab,
        stacks='["raw", "group"]',
        receivers=receivers,
        sizes=sizes,
        samples=samples,
        cell_ms=cell_ms,
        launches=LAUNCHES,
        seed=seed,
    )
    found: Medians = {}
    with tempfile.TemporaryDirectory() as scratch:
        _, directory = repeat.measure(plan, Path(scratch))
        for row in query.launches(query.open_run(directory)).iter_rows(named=True):
            if row["ns_median"] is not None:
                found.setdefault((row["stack"], row["fars"], row["size_bytes"]), {})[row["block"]] = row["ns_median"]
    return found


def _against(what: str, ours: dict[int, float], theirs: dict[int, float], most: float) -> Ratio:
    both = sorted(set(ours) & set(theirs))
    if not both:
        raise RuntimeError(f"{what}: no block has both")
    return ratio(what, [(ours[block], theirs[block]) for block in both], most)


def against_raw(seed: int) -> list[Ratio]:
    """The rows of the goals, lab by lab."""
    found: list[Ratio] = []
    lidi = medians("lidi", [1, 7], [1, 1_000_000], 15, 1500, seed)
    long = medians("lidi", [7], [8 * 2**20], 2, 3000, seed)
    inpe = medians("inpe", [15], [1, 1_000_000], 12, 2500, seed)
    hub = medians("hub8", [1, 7], [60_000, 1_000_000], 4, 4000, seed)
    for name, many, times, most in (("lidi", 7, lidi, 1.03), ("inpe", 15, inpe, 1.05), ("hub8", 7, hub, 1.02)):
        key = many, 1_000_000
        found.append(_against(f"{name}: 1 MB to {many}, group / raw", times["group", *key], times["raw", *key], most))
    for name, many, times in (("lidi", 7, lidi), ("inpe", 15, inpe)):
        found.append(
            _against(f"{name}: 1 B to {many}, group / raw", times["group", many, 1], times["raw", many, 1], 1.1)
        )
    key = 7, 8 * 2**20
    found.append(_against("lidi: 8 MiB to 7, group / raw", long["group", *key], long["raw", *key], 1 / 0.985))
    for name, size, times in (("hub8", 60_000, hub), ("lidi", 1_000_000, lidi)):
        what = f"{name}: {size} B, group to 7 / to 1"
        found.append(_against(what, times["group", 7, size], times["group", 1, size], 1.02))
    return found
