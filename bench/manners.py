# SPDX-License-Identifier: BSD-3-Clause
"""Broadcasts of unmodified programs as they are called: many ranks on few hosts, at unlike times, in a row; and what
being served costs beside them. bench/manners.c over each MPI, with and without us, and the raw sender, round by round.
"""

from __future__ import annotations

import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from types import MappingProxyType

import jobs
from jobs import SERVED, library_of
from ratio import Ratio, anchor, bound, ratio

from vaiven.run.place import Place

MB = 1_000_000
RAW_SAMPLES = 10
CALLED = ("skewed", "back", "rotating", "begun")
CALLED_MOST = 1.05  # over raw
CROWD, CROWD_HOSTS, CROWD_MOST = 48, 4, 1.10  # ranks, on hosts; over raw
FIRST_MS_MOST, FIRST_LAB = 60.0, "inpe"  # 16 ranks
FURTHER_MS_MOST = {"lidi": 1.0, "inpe": 2.0}  # more than the MPI's own
FURTHER = {
    "further": "all ranks",
    "parted": "all ranks but one, the same each time,",
    "unlike": "all ranks but one, another each time,",
}
LEFT_NS_MOST = 100.0
LEFT_RANKS = {"openmpi": 3, "mpich": 1}  # on one host: the fewest by which a call reaches what we are
INIT_MOST = 1.05  # of MPI_Init without us
# Ranks of one host of Open MPI, which else would talk by TCP.
LEFT_SETTINGS = {"openmpi": (("btl", "vader,self"),), "mpich": ()}


@dataclass(frozen=True)
class Bench:
    """Hosts, and the program of each library."""

    where: Place
    programs: dict[str, Path]

    def ns(self, stack: str, what: str, size: int = 1, names: Sequence[str] = ()) -> float:
        """What the program says of that."""
        library = library_of(stack)
        settings = LEFT_SETTINGS[library] if what == "left" else ()
        said = jobs.job(self.where, stack, [str(self.programs[library]), what, str(size)], names, settings)
        return jobs.numbers(said)[what]

    def raw_ns(self, size: int, on_each: int = 1) -> float:
        """The raw sender's, from the first host to so many processes on each other one."""
        return jobs.fanout_ns(self.where, "raw", [size], RAW_SAMPLES, on_each)[size]


@contextmanager
def bench(lab: str, count: int = 0) -> Iterator[Bench]:
    """On the first hosts of that lab."""
    with tempfile.TemporaryDirectory() as scratch, jobs.hosts(lab, count) as where:
        source = jobs.HERE / "manners.c"
        yield Bench(where, {one: jobs.built(one, source, Path(scratch)) for one in map(library_of, SERVED)})


def called(rounds: int, seed: int) -> list[Ratio]:
    """10^6 B to 7 on `lidi`: at unlike times, in a row, by changing roots, and begun; over raw."""
    order = random.Random(seed)
    asked = [(stack, what) for stack in SERVED for what in CALLED]
    found = defaultdict(list)
    with bench("lidi") as on:
        for _ in range(rounds):
            raw_ns = on.raw_ns(MB)
            order.shuffle(asked)
            for stack, what in asked:
                found[stack, what].append((on.ns(stack, what, MB), raw_ns))
    return [
        ratio(f"lidi: {MB} B to 7, {stack}, {what} / raw", found[stack, what], CALLED_MOST)
        for stack in SERVED
        for what in CALLED
    ]


def crowd(rounds: int, seed: int) -> list[Ratio]:
    """10^6 B among 48 ranks on 4 hosts, over raw to the 3 other hosts, which has a process on each; what raw itself
    takes to 16 on each of those, one more than hear of it here."""
    order = random.Random(seed)
    found = defaultdict(list)
    on_each = CROWD // (CROWD_HOSTS - 1)
    with bench("lidi", CROWD_HOSTS) as on:
        names = list(on.where.hosts) * (CROWD // CROWD_HOSTS)
        for _ in range(rounds):
            raw_ns = on.raw_ns(MB)
            found["raw"].append((on.raw_ns(MB, on_each), raw_ns))
            for stack in order.sample(SERVED, len(SERVED)):
                found[stack].append((on.ns(stack, "rotating", MB, names), raw_ns))
    what = f"lidi: {MB} B among {CROWD} ranks on {CROWD_HOSTS} hosts, {{}} / raw to one on each"
    rows = [ratio(what.format(stack), found[stack], CROWD_MOST) for stack in SERVED]
    return [*rows, anchor(f"lidi: {MB} B, raw to {on_each} on each of 3 hosts / to one on each", found["raw"], None)]


def _with_and_without(
    on: Bench, rounds: int, order: random.Random, what: str, names: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> dict:
    """Served stack -> (with us, without) by round, in ns. names: of the hosts of its ranks, by library; else all."""
    found = defaultdict(list)
    for _ in range(rounds):
        for stack in order.sample(SERVED, len(SERVED)):
            ways = [stack, library_of(stack)]
            ns = {way: on.ns(way, what, names=names.get(ways[1], ())) for way in order.sample(ways, 2)}
            found[stack].append((ns[stack], ns[library_of(stack)]))
    return found


def costs(rounds: int, seed: int) -> list[Ratio]:
    """What being served costs: the first call, each further communicator, MPI_Init, and a call that is not served."""
    return [*_first(rounds, seed), *_further(rounds, seed), *_init(rounds, seed), *_left(rounds, seed)]


def _first(rounds: int, seed: int) -> list[Ratio]:
    """Beside the MPI's own first broadcast, which makes connections, too."""
    with bench(FIRST_LAB) as on:
        found = _with_and_without(on, rounds, random.Random(seed), "first")
        ranks = len(on.where.hosts)
    rows = []
    for stack in SERVED:
        ours, own = ([ns / 1e6 for ns in side] for side in zip(*found[stack], strict=True))
        what = f"{FIRST_LAB}: the first served call of {ranks} ranks, {stack}, ms; the MPI's own {median(own):.1f}"
        rows.append(bound(what, ours, FIRST_MS_MOST, "ms"))
    return rows


def _further(rounds: int, seed: int) -> list[Ratio]:
    rows = []
    for lab, most in FURTHER_MS_MOST.items():
        with bench(lab) as on:
            for what, whose in FURTHER.items():
                found = _with_and_without(on, rounds, random.Random(seed), what)
                name = f"{lab}: a further communicator of {whose} with a broadcast, {{}}, ms more than the MPI's own"
                for stack in SERVED:
                    more = [(ours - own) / 1e6 for ours, own in found[stack]]
                    rows.append(bound(name.format(stack), more, most, "ms"))
    return rows


def _init(rounds: int, seed: int) -> list[Ratio]:
    with bench("lidi") as on:
        found = _with_and_without(on, rounds, random.Random(seed), "init")
    return [ratio(f"lidi: MPI_Init of 8 ranks, {stack} / without us", found[stack], INIT_MOST) for stack in SERVED]


def _left(rounds: int, seed: int) -> list[Ratio]:
    with bench("free", 1) as on:
        names = {library: list(on.where.hosts) * count for library, count in LEFT_RANKS.items()}
        found = _with_and_without(on, rounds, random.Random(seed), "left", names)
    what = "a broadcast of 1 B that is not served, {}, {} on a host, ns more at its root"
    return [
        bound(what.format(stack, LEFT_RANKS[library_of(stack)]), [a - b for a, b in found[stack]], LEFT_NS_MOST, "ns")
        for stack in SERVED
    ]
