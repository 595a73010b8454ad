# SPDX-License-Identifier: BSD-3-Clause
"""One message for many: `group` and its peers against the raw sender of the same run, and for many against for one.

Each row is a fanout of whole launches, block by block, as `vaiven measure` runs them. What the peers take has no goal:
it is the anchor that the goals of `group` were set by, measured again. That PVM's and Open MPI's linear broadcasts take
as many times the wire as there are receivers says that the lab is right.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import repeat
from ratio import Ratio, anchor, ratio, within

from vaiven.run import mpi
from vaiven.store import query

_PLAN = """
title = "bench"
lab = "{lab}"
stacks = {stacks}
questions = ["{ask}"]
receivers = {receivers}
sizes = {sizes}
seed = {seed}
[effort]
samples = {samples}
cell_ms = {cell_ms}
timeout_ms = 20000
launch_s = 600
[stop]
launches_min = {launches}
launches_max = {launches}
level = 0.5
"""

MB, MIB = 1_000_000, 2**20
LAUNCHES = 8
LINEAR_MARGIN = 0.4 / 15  # of the receivers
OURS = ("raw", "group")
SERVED = ("openmpi:group", "mpich:group")
Key = tuple[str, int, int]  # (stack, receivers, size)
Medians = dict[Key, dict[int, float]]  # block -> median in ns


@dataclass(frozen=True)
class Measured:
    """A plan of the bench: so many launches of each stack on that lab."""

    lab: str
    stacks: tuple[str, ...]
    receivers: tuple[int, ...]
    sizes: tuple[int, ...]
    samples: int
    cell_ms: int
    launches: int
    ask: str = "fanout"


@dataclass(frozen=True)
class Field:
    """What is asked on one lab. most: of group over raw at 1 MB; unmodified: of MPI_Bcast by group. cell_ms, launches:
    of the peers, the slowest too.

    anchors: stack -> size -> how many times the wire it took when the goals were set, where it was measured then.
    linear: those that send to each in turn. long: those that are asked 8 MiB, which take the others minutes.
    """

    many: int
    most: float
    unmodified: float
    cell_ms: int
    launches: int
    anchors: Mapping[str, Mapping[int, float]]
    linear: tuple[str, ...] = ()
    long: tuple[str, ...] = ()


FIELDS = {
    "lidi": Field(
        7, 1.03, 1.03, 1000, 6,
        {
            "openmpi:default": {MB: 7.0, MIB: 7.11, 8 * MIB: 7.02},
            "openmpi:pipeline": {MIB: 1.48, 8 * MIB: 1.12},
            "openmpi:split-binary": {},
            "mpich:default": {MB: 2.3},
            "pvm-mcast": {MB: 7.0},
            "udpcast": {8 * MIB: 1.012},
            "uftp": {},
        },
        linear=("pvm-mcast",),
        long=("openmpi:default", "openmpi:pipeline", "mpich:default", "udpcast", "uftp"),
    ),
    "inpe": Field(
        15, 1.05, 1.04, 1500, 4,
        {
            "openmpi:default": {MB: 9.8, MIB: 3.41, 8 * MIB: 3.37},
            "openmpi:linear": {MB: 15},
            "openmpi:split-binary": {MB: 2.45},
            "mpich:default": {MB: 2.8},
            "pvm-mcast": {MB: 15},
            "udpcast": {8 * MIB: 1.012},
            "uftp": {},
        },
        linear=("openmpi:linear", "pvm-mcast"),
        long=("openmpi:default", "openmpi:split-binary", "mpich:default", "udpcast", "uftp"),
    ),
    "hub8": Field(
        7, 1.02, 1.02, 2500, 3,
        {
            "openmpi:default": {MB: 7.4},
            "mpich:default": {MB: 9.0},
            "pvm-mcast": {MB: 7.3},
            "udpcast": {},
            "uftp": {},
        },
    ),
}  # fmt: skip


def medians(what: Measured, seed: int) -> Medians:
    """The launch medians of that plan."""
    quoted = "[" + ", ".join(f'"{stack}"' for stack in what.stacks) + "]"
    plan = _PLAN.format(
        lab=what.lab, stacks=quoted, ask=what.ask, receivers=list(what.receivers), sizes=list(what.sizes),
        samples=what.samples, cell_ms=what.cell_ms, launches=what.launches, seed=seed,
    )  # fmt: skip
    found: Medians = {}
    with tempfile.TemporaryDirectory() as scratch:
        _, directory = repeat.measure(plan, Path(scratch))
        for row in query.launches(query.open_run(directory)).iter_rows(named=True):
            if row["ns_median"] is not None:
                found.setdefault((row["stack"], row["fars"], row["size_bytes"]), {})[row["block"]] = row["ns_median"]
    return found


def pairs(what: str, times: Medians, ours: Key, theirs: Key) -> list[tuple[float, float]]:
    """Block by block. RuntimeError when no block has both."""
    both = sorted(set(times.get(ours, {})) & set(times.get(theirs, {})))
    if not both:
        raise RuntimeError(f"{what}: no block has both")
    return [(times[ours][block], times[theirs][block]) for block in both]


def _over_raw(lab: str, times: Medians, stack: str, size: int) -> tuple[str, list[tuple[float, float]]]:
    many = FIELDS[lab].many
    what = f"{lab}: {size} B to {many}, {stack} / raw"
    return what, pairs(what, times, (stack, many, size), ("raw", many, size))


def goals(lab: str, seed: int) -> list[Ratio]:
    """`group` against raw, and for many against for one: as many launches as an interval of 95 % takes."""
    field, hub = FIELDS[lab], lab == "hub8"
    flat = 60_000 if hub else MB
    times = medians(Measured(lab, OURS, (1, field.many), (60_000, MB) if hub else (MB,), 15, 1500, LAUNCHES), seed)
    found = [ratio(*_over_raw(lab, times, "group", MB), field.most)]
    if not hub:  # wake-ups are most of it, and differ by a tenth from launch to launch
        small = medians(Measured(lab, OURS, (field.many,), (1,), 200, 1500, 3 * LAUNCHES), seed)
        found.append(ratio(*_over_raw(lab, small, "group", 1), 1.1))
    if lab == "lidi":
        long = medians(Measured(lab, OURS, (field.many,), (8 * MIB,), 3, 3000, LAUNCHES), seed)
        found.append(ratio(*_over_raw(lab, long, "group", 8 * MIB), 1 / 0.985))
    if lab != "inpe":
        found.append(ratio(*_over_one(lab, times, "group", flat), 1.02))
        found.append(anchor(*_over_one(lab, times, "raw", flat), None))  # what of that is the lab's
    return found


def _over_one(lab: str, times: Medians, stack: str, size: int) -> tuple[str, list[tuple[float, float]]]:
    many = FIELDS[lab].many
    what = f"{lab}: {size} B, {stack} to {many} / to 1"
    return what, pairs(what, times, (stack, many, size), (stack, 1, size))


def unmodified(lab: str, seed: int) -> list[Ratio]:
    """MPI_Bcast by group, of programs that know of no group, over raw; where all are asked over what each MPI does
    best itself."""
    field = FIELDS[lab]
    times = medians(Measured(lab, ("raw", *SERVED), (field.many,), (MB,), 15, field.cell_ms, LAUNCHES), seed)
    found = [ratio(*_over_raw(lab, times, stack, MB), field.unmodified) for stack in SERVED]
    if lab != "lidi":
        return found
    own = {"openmpi:group": [f"openmpi:{one}" for one in mpi.BROADCASTS], "mpich:group": ["mpich:default"]}
    stacks = ("raw", *(stack for served, others in own.items() for stack in (served, *others)))
    small = medians(Measured(lab, stacks, (field.many,), (1, 1000, 10_000), 100, 500, LAUNCHES), seed)
    found += [ratio(*_over_raw(lab, small, stack, 1), 2.0) for stack in SERVED]
    for stack, others in own.items():
        for size in (1000, 10_000):
            best = min(others, key=lambda one, size=size: statistics.median(small[one, field.many, size].values()))
            what = f"{lab}: {size} B to {field.many}, {stack} / {best}"
            found.append(ratio(what, pairs(what, small, (stack, field.many, size), (best, field.many, size)), 0.4))
    return found


def peers(lab: str, seed: int) -> list[Ratio]:
    """What else carries 1 MB, 1 MiB and 8 MiB to everybody there, over raw; on a hub, where it takes long, 1 MB."""
    field = FIELDS[lab]
    asked = {size: tuple(field.anchors) for size in ((MB, MIB) if field.long else (MB,))}
    plan = Measured(lab, ("raw", *field.anchors), (field.many,), tuple(asked), 10, field.cell_ms, field.launches)
    times = medians(plan, seed)
    if field.long:
        asked[8 * MIB] = field.long
        times |= medians(Measured(lab, ("raw", *field.long), (field.many,), (8 * MIB,), 1, 1000, 3), seed)
    found = []
    for size, stacks in asked.items():
        for stack in stacks:
            over = _over_raw(lab, times, stack, size)
            if stack in field.linear and size == MB:
                found.append(within(*over, field.many, LINEAR_MARGIN * field.many))
            else:
                found.append(anchor(*over, field.anchors[stack].get(size)))
    return found


def libraries(seed: int) -> list[Ratio]:
    """A round trip of 1 MB over libraries that use one TCP connection: the wire is all that counts."""
    names = ("pvm-direct-raw", "openmpi")
    times = medians(Measured("alicante", ("tcp", *names), (), (MB,), 5, 2000, LAUNCHES, "pingpong"), seed)
    what = "alicante: 1 MB there and back, {} / tcp"
    return [within(what.format(name), pairs(name, times, (name, 1, MB), ("tcp", 1, MB)), 1, 0.03) for name in names]
