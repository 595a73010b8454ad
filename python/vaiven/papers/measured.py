# SPDX-License-Identifier: BSD-3-Clause
"""What a run measured between its first host and each other one, in the words that claims are written in.

    t(stack, bytes, host)      seconds one way, half of a round trip: the median over launches of their medians
    bw(stack, bytes, host)     bytes per second; bwmax(stack, host) the most of all sizes
    alpha(stack, host)         t of the smallest message
    encode, decode, translate(stack, bytes, host)    processor seconds of the first host; coding: the sum of these
    HOSTS                      the other hosts. SAME_REP, OTHER_REP: those whose numbers are as the first one's, and not
    OK_HOSTS, DEFECT_HOSTS     those of a lab whose TCP is healthy, and not. SMALL_MEM_HOSTS: with 32 MB or less
    PVM_METHODS                both routes of PVM, with XDR and with direct translation
    LINK, MiB                  bytes per second of the wire; 2^20

Each number is an array: first what the run says, then what resamples of its blocks say. A block of a run has every
stack once, so all numbers of a resample are those of the same blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from vaiven.errors import VaivenError
from vaiven.stats.arrays import Floats
from vaiven.stats.bootstrap import RESAMPLES, launch_draws, smooth_medians
from vaiven.store import query
from vaiven.store.query import Run
from vaiven.store.record import STEPS, Manifest

PVM_METHODS = ("pvm-default-xdr", "pvm-default-trans", "pvm-direct-xdr", "pvm-direct-trans")
MIB = 2**20
_SMALL_MB = 32

Row = Mapping[str, Any]
Cell = tuple[str, str, str, int]  # stack, what of it ("" for the round trip), far host, bytes


class Measured:
    """What the launches of a run say. hosts: the others that were measured; alike: those of the first one's byte order.

    link_bps: None where nobody said. traits: of each host of a lab, as its file has them.
    """

    def __init__(self, manifest: Manifest, rows: Iterable[Row]) -> None:
        """rows: of store.query. Where two are the same cell of one block, the later one counts."""
        self.link_bps = (manifest.link or {}).get("rate_bps")
        self._near = next((near for near, _ in manifest.design["pairs"]), "")
        self.cells: dict[Cell, dict[int, float]] = {}
        for row in rows:
            if row["near"] == self._near and row["fars"] == 1 and row["ns_median"] is not None:
                cell = row["stack"], row["part"], row["far"], row["size_bytes"]
                self.cells.setdefault(cell, {})[row["block"]] = row["ns_median"]
        reached = {far for _stack, _part, far, _size in self.cells}
        known = manifest.hosts
        self.hosts = tuple(name for name in known if name in reached)
        self.alike = tuple(name for name in self.hosts if _order(known[name]) == _order(known[self._near]))
        lab = manifest.place.get("lab")
        of_lab = lab.get("hosts", ()) if isinstance(lab, Mapping) else ()
        self.traits: Mapping[str, Mapping[str, Any]] = {one["name"]: one for one in of_lab}
        self._blocks = sorted({block for cell in self.cells.values() for block in cell})
        rng = np.random.default_rng(int(manifest.design.get("seed", 1)))
        self._draws = launch_draws(max(1, len(self._blocks)), RESAMPLES, rng)
        self._seconds: dict[Cell, Floats] = {}

    @classmethod
    def of_run(cls, run: Run) -> Self:
        """Those of a run: round trips are of ping-pongs, or of steps where these alone were asked."""
        pingpongs = query.launches(run).filter(ask="pingpong")
        return cls(run.manifest, (*query.steps(run).iter_rows(named=True), *pingpongs.iter_rows(named=True)))

    def reading(self) -> Reading:
        """For one claim."""
        return Reading(self)

    def seconds(self, cell: Cell) -> Floats:
        """What the launches of a cell that was measured say, and then each resample of the blocks."""
        if cell not in self._seconds:
            ns = np.array([self.cells[cell].get(block, np.nan) for block in self._blocks])
            # As logarithms, in which one slow launch weighs little; of one more, for a step may take no time at all.
            resampled = np.expm1(smooth_medians(np.log1p(ns)[self._draws][..., np.newaxis])[:, 0])
            self._seconds[cell] = np.concatenate(([np.nanmedian(ns)], resampled)) * 1e-9
        return self._seconds[cell]


@dataclass
class Reading:
    """The words of one claim. launches: of that cell among those which it asked for that has the fewest."""

    measured: Measured
    _asked: list[int] = field(default_factory=list)

    @property
    def launches(self) -> int:
        return min(self._asked, default=0)

    def words(self) -> dict[str, Any]:
        """Every word that a claim may use."""
        hosts, traits = self.measured.hosts, self.measured.traits
        defect = tuple(host for host in hosts if traits.get(host, {}).get("tcp_defect"))
        same = self.measured.alike
        return {
            "t": self.t, "bw": self.bw, "bwmax": self.bwmax, "alpha": self.alpha, "coding": self.coding,
            "encode": lambda *cell: self._part("encode", *cell), "decode": lambda *cell: self._part("decode", *cell),
            "translate": lambda *cell: self._part("translate", *cell),
            "HOSTS": hosts, "SAME_REP": same, "OTHER_REP": _without(hosts, same),
            "DEFECT_HOSTS": defect, "OK_HOSTS": _without(hosts, defect),
            "SMALL_MEM_HOSTS": tuple(host for host in hosts if _is_small(traits.get(host, {}))),
            "PVM_METHODS": PVM_METHODS, "LINK": self._link(), "MiB": MIB,
        }  # fmt: skip

    def t(self, stack: str, size: int, host: str) -> Floats:
        return self._part("", stack, size, host) / 2

    def bw(self, stack: str, size: int, host: str) -> Floats:
        return size / self.t(stack, size, host)

    def bwmax(self, stack: str, host: str) -> Floats:
        rates = [self.bw(stack, size, host) for size in self._sizes(stack, host) if size]
        return np.maximum.reduce(rates)

    def alpha(self, stack: str, host: str) -> Floats:
        return self.t(stack, self._sizes(stack, host)[0], host)

    def coding(self, stack: str, size: int, host: str) -> Floats:
        return np.add.reduce([self._part(part, stack, size, host) for part in STEPS if part != "send"])

    def _part(self, part: str, stack: str, size: int, host: str) -> Floats:
        cell = stack, part, host, size
        if cell not in self.measured.cells:
            raise _missing(f"{f'{part} of ' if part else ''}{stack} to {host}, {size} bytes")
        self._asked.append(len(self.measured.cells[cell]))
        return self.measured.seconds(cell)

    def _sizes(self, stack: str, host: str) -> list[int]:
        """Rising."""
        found = sorted(size for one, part, far, size in self.measured.cells if (one, part, far) == (stack, "", host))
        if not found:
            raise _missing(f"{stack} to {host}")
        return found

    def _link(self) -> float:
        return (self.measured.link_bps or np.nan) / 8


def _order(inventory: Mapping[str, Any]) -> str | None:
    return inventory.get("byte_order")


def _is_small(traits: Mapping[str, Any]) -> bool:
    return (traits.get("memory_mb") or _SMALL_MB + 1) <= _SMALL_MB


def _without(hosts: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    return tuple(host for host in hosts if host not in set(others))


def _missing(what: str) -> VaivenError:
    return VaivenError(f"{what}: not measured", "a plan that asks for it", code="not-measured")
