# SPDX-License-Identifier: BSD-3-Clause
"""The words that claims are written in, and what they mean on one run.

    t(stack, bytes, host)      seconds one way from the first host, half of a round trip: median of launch medians
    bw(stack, bytes, host)     bytes per second; bwmax(stack, host) the most of all sizes, SIZES among them
    alpha(stack, host)         t of the smallest message, which has at most 8 bytes
    tau(stack, bytes, host)    what each byte adds to alpha. tau_first(stack, bytes, host, k), alpha_first(stack, host,
                               k): the same of the mean of a launch's first k messages, which one that is held up moves
    encode, decode, translate(stack, bytes, host)    processor seconds of the first host; coding: the sum of these
    held(stack, bytes, host)   bytes that the library held of a message that was sent, in buffers of its own
    translations(stack, bytes, host)   how often the first host turned the numbers of a message and of its answer from
                               one representation into another: between equal hosts as often as both turn a message
    intercept, slope(stack, host)   of the straight line through the means of all sizes; off(stack, host): points off it
    rate_slope, rate_r2(stack, low, high, host)      of the line through the rates of the sizes from low to high
    moves(stack, bytes, host, "minimum" | "mean")    by what share the largest launch exceeds the smallest
    rtt(stack, bytes, class, class)   round trip between hosts of two classes ("axp": axp1, axp2); rtt_slope, rtt_r2,
                               rtt_step(stack, low, high, class, class): of the line through it, and the size at its
                               highest step; at_once(stack, bytes, class, class, k): of k ping-pongs at once
    first, warm(stack, bytes, class)   seconds one way between two hosts of a class: the first message of a connection,
                               and one when its window has grown; burst(stack, bytes, class, k): segments of the first
                               message in round k; bursts(stack, bytes, class, k): those of the first k rounds, as most
                               launches saw them
    tb(stack, bytes, r)        seconds until the last of r receivers has a broadcast; bwb its rate, the message counted
                               once; crossed(stack, r): bytes that left the first host for each byte of payload
    to_one(stack, bytes, host) tb to that host alone; rate_to_one(stack, host): the best of its rates
    exchange(stack, bytes, k)  seconds until k hosts have what everyone sends everyone at once
    streams(stack, bytes, k)   bytes per second of k connections at once, all together
    over_tcp(bytes, host | p)  what a message takes over openmpi-llc for each second over openmpi; what is missing of it
                               to 1 is the gain. By t to that host; or in a job of p processes that play in pairs at
                               once, by the least of each launch, as paper E has it
    fft(stack, p)              seconds of a transform by p processes, of the one size that the claim needs: the mean
                               over the processes of what each takes; fft_over_tcp(p) is to that as over_tcp to t;
                               fft_deviation(stack, p): the standard deviation of the processes' times over that mean
    matmul, communicating(stack, bytes, p)   seconds of a product of matrices of so many bytes, by the slowest of p
                               processes, and what of that it communicates
    welch_p(stack, stack, bytes, host)   the p value of Welch's t test of the launches' mean times
    beside(stack, bytes)       one way, of each pair of those that were measured at the same time
    sizes(stack, low, high)    those that were measured; frames, frame_bytes(stack, bytes): what a message becomes on
                               the wire, data frames alone, and their bytes with preamble and gap
    slowness(host)             seconds that the lab's model of a machine takes for a full frame; spearman(xs, ys)
    HOSTS                      the hosts that the claim names, else all others; SAME_REP, OTHER_REP: whose numbers are
                               as the first one's, and not; OK_HOSTS, DEFECT_HOSTS: whose TCP is healthy, and not;
                               SMALL_MEM_HOSTS: with 32 MB or less. CLASSES: of hosts, that the claim names; PAIRS of
                               these, each with itself, too
    SIZES, NEXT_SIZES          those that the claim needs, and each with the next larger one
    R, NEXT_R, AT_ONCE         numbers of receivers that all stacks of the claim were measured with; of hosts at once,
                               of an exchange or of what else the claim asks of several
    PVM_METHODS, LINK, MiB     both routes of PVM with XDR and with translation; bytes per second of the wire; 2^20

A claim over several runs has each word once for each, with the name of the run behind it: t_lqt, t_cetad.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations_with_replacement, pairwise
from typing import Any

import numpy as np

from vaiven.errors import VaivenError
from vaiven.model.residuals import SIZES_LEAST, points_off
from vaiven.papers.measured import Cell, Measured, Row
from vaiven.papers.needs import FROM_TWO, Needs, numbered
from vaiven.plan import ends
from vaiven.stats.arrays import Floats
from vaiven.stats.welch import welch
from vaiven.store.query import first_column
from vaiven.store.record import STEPS, DesignRecord, HostsPlace, Manifest

PVM_METHODS = ("pvm-default-xdr", "pvm-default-trans", "pvm-direct-xdr", "pvm-direct-trans")
MIB = 2**20
SMALL_BYTES = 8  # the latency is that of a message of at most so many
FULL_FRAME_BYTES = 1500


@dataclass
class Reading:
    """The words of one claim on one run. asked: the launches of each cell that it asked for. hosts: those of them."""

    measured: Measured
    needs: Needs
    asked: list[int] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)

    @property
    def launches(self) -> int:
        """Of the cell that has the fewest, 0 if it asked for none."""
        return min(self.asked, default=0)

    @property
    def modelled(self) -> tuple[str, ...]:
        """The hosts that it spoke of and that are models."""
        return tuple(sorted(self.hosts & self.measured.scene.models))

    def words(self) -> dict[str, Any]:
        """Every word that a claim may use."""
        return self._functions() | self._of_hosts() | self._of_numbers()

    def _functions(self) -> dict[str, Any]:
        return {
            "t": self.t, "bw": self.bw, "bwmax": self.bwmax, "alpha": self.alpha, "tau": self.tau,
            "alpha_first": self.alpha_first,
            "tau_first": lambda stack, size, host, k: self.tau(stack, size, host, first_column(k)),
            "encode": lambda *cell: self._step("encode", *cell), "decode": lambda *cell: self._step("decode", *cell),
            "translate": lambda *cell: self._step("translate", *cell), "coding": self.coding, "held": self.held,
            "translations": self.translations,
            "intercept": lambda *cell: self._line(*cell)[0], "slope": lambda *cell: self._line(*cell)[1],
            "off": self.off, "rate_slope": lambda *cell: self._rates(*cell)[1],
            "rate_r2": lambda *cell: self._rates(*cell)[2], "moves": self.moves,
            "rtt": self.rtt, "rtt_slope": lambda *cell: self._round_trips(*cell)[1],
            "rtt_r2": lambda *cell: self._round_trips(*cell)[2], "rtt_step": self.rtt_step, "at_once": self.at_once,
            "first": lambda *cell: self._opening("", *cell), "warm": lambda *cell: self._opening("warm", *cell),
            "burst": self.burst, "bursts": self.usual_bursts,
            "tb": self.tb, "bwb": self.bwb, "crossed": self.crossed, "to_one": self.to_one,
            "rate_to_one": self.rate_to_one, "exchange": self.exchange, "beside": self.beside,
            "streams": self.streams, "over_tcp": self.over_tcp, "fft": self.fft,
            "fft_over_tcp": lambda p: self.fft("openmpi-llc", p) / self.fft("openmpi", p),
            "fft_deviation": self.fft_deviation, "matmul": self.matmul,
            "communicating": lambda stack, size, p: self.matmul(stack, size, p, "communicating"),
            "welch_p": self.welch_p,
            "sizes": self.sizes, "frames": lambda *cell: self._counted("wire_frames", *cell),
            "frame_bytes": lambda *cell: self._counted("wire_bytes", *cell),
            "slowness": self.slowness, "spearman": spearman,
        }  # fmt: skip

    def _of_hosts(self) -> dict[str, Any]:
        scene, reached = self.measured.scene, self.measured.hosts
        named = self.needs.hosts
        hosts = tuple(
            host for host in scene.others
            if host in reached and (not named or any(numbered(name, host) for name in named))
        )  # fmt: skip
        for kind in self.needs.kinds:
            if not scene.of_kind(kind, hosts):
                raise _missing(f"a host of the kind {kind}")
        if len(hosts) < self.needs.hosts_min:
            raise _missing(f"{len(hosts)} other hosts of {self.needs.hosts_min}")
        return {
            "HOSTS": hosts, "CLASSES": self.needs.hosts,
            "PAIRS": tuple(combinations_with_replacement(self.needs.hosts, 2)),
            "SAME_REP": scene.of_kind("same-order", hosts), "OTHER_REP": scene.of_kind("other-order", hosts),
            "OK_HOSTS": scene.of_kind("tcp-sound", hosts), "DEFECT_HOSTS": scene.of_kind("tcp-defect", hosts),
            "SMALL_MEM_HOSTS": scene.of_kind("small-memory", hosts),
        }  # fmt: skip

    def _of_numbers(self) -> dict[str, Any]:
        receivers = self._numbers("fanout", 0)
        return {
            "SIZES": self.needs.sizes, "NEXT_SIZES": tuple(pairwise(self.needs.sizes)),
            "R": receivers, "NEXT_R": tuple(pairwise(receivers)), "AT_ONCE": self._numbers(self._of_several, 1),
            "PVM_METHODS": PVM_METHODS, "LINK": (self.measured.scene.rate_bps or np.nan) / 8, "MiB": MIB,
        }  # fmt: skip

    def t(self, stack: str, size: int, host: str) -> Floats:
        return self._seconds(stack, size, host) / 2

    def bw(self, stack: str, size: int, host: str) -> Floats:
        return size / self.t(stack, size, host)

    def bwmax(self, stack: str, host: str) -> Floats:
        sizes = {*self._sizes(stack, host), *self.needs.sizes}
        return np.maximum.reduce([self.bw(stack, size, host) for size in sorted(sizes) if size])

    def alpha(self, stack: str, host: str) -> Floats:
        return self.t(stack, self._smallest(stack, host), host)

    def tau(self, stack: str, size: int, host: str, column: str = "ns_median") -> Floats:
        least = self._smallest(stack, host)
        long, short = (self._seconds(stack, one, host, column) / 2 for one in (size, least))
        return (long - short) / (size - least)

    def alpha_first(self, stack: str, host: str, k: int) -> Floats:
        return self._seconds(stack, self._smallest(stack, host), host, first_column(k)) / 2

    def coding(self, stack: str, size: int, host: str) -> Floats:
        return np.add.reduce([self._step(part, stack, size, host) for part in STEPS if part != "send"])

    def held(self, stack: str, size: int, host: str) -> int:
        return self._most("out_bytes", stack, size, host)

    def translations(self, stack: str, size: int, host: str) -> int:
        return self._most("translations", stack, size, host)

    def off(self, stack: str, host: str) -> Floats:
        sizes, times = self._curve(stack, host)
        off = points_off(_enough(sizes, stack, SIZES_LEAST), times.T).sum(axis=1)
        return np.where(np.isfinite(times).all(axis=0), off, np.nan)

    def moves(self, stack: str, size: int, host: str, of: str) -> Floats:
        cell = Cell("pingpong", stack, "", self.measured.scene.near, host, 1, size)
        column = {"minimum": "ns_min", "mean": "ns_mean"}[of]
        return self.measured.range(self.measured.by_block(_by_block(self._rows(cell, column), column)))

    def rtt(self, stack: str, size: int, one: str, other: str) -> Floats:
        return self._between("pingpong", stack, size, one, other, 1)

    def at_once(self, stack: str, size: int, one: str, other: str, k: int) -> Floats:
        return self._between("pingpongs", stack, size, one, other, k)

    def rtt_step(self, stack: str, low: int, high: int, one: str, other: str) -> Floats:
        """The middle of the two neighbouring sizes between which it rises most, beyond what the median rise says."""
        sizes, times = self._round_trip_curve(stack, low, high, one, other)
        wide = np.diff(sizes)[:, np.newaxis]
        rise = np.diff(times, axis=0)
        beyond = rise - np.median(rise / wide, axis=0) * wide
        return ((sizes[:-1] + sizes[1:]) / 2)[np.argmax(beyond, axis=0)]

    def burst(self, stack: str, size: int, of: str, number: int) -> Floats:
        found = {block: float(one[number - 1]) for block, one in self._looks(stack, size, of, number)}
        return self.measured.centre(self.measured.by_block(found), np.nanmedian)

    def usual_bursts(self, stack: str, size: int, of: str, count: int) -> tuple[int, ...]:
        return Counter(one[:count] for _, one in self._looks(stack, size, of, count)).most_common(1)[0][0]

    def _looks(self, stack: str, size: int, of: str, count: int) -> Sequence[tuple[int, tuple[int, ...]]]:
        """(block, segments by round) of each launch between two hosts of that class that had so many rounds."""
        looks = [
            (block, bursts)
            for (near, far, *cell), blocks in self.measured.bursts.items()
            if cell == [stack, size] and numbered(of, near) and numbered(of, far)
            for block, bursts in blocks.items()
            if len(bursts) >= count
        ]
        if not looks:
            raise _missing(f"{count} rounds of segments of {stack} between hosts of {of}, {size} bytes")
        self.asked.append(len(looks))
        return looks

    def _opening(self, part: str, stack: str, size: int, of: str) -> Floats:
        cells = [
            cell
            for cell in self.measured.asked.get(("first", stack, part), ())
            if cell.size_bytes == size and numbered(of, cell.near) and numbered(of, cell.far)
        ]
        if not cells:
            raise _missing(f"first messages of {stack} between hosts of {of}, {size} bytes")
        return np.mean([self._value(cell) for cell in cells], axis=0) / 2

    def tb(self, stack: str, size: int, receivers: int) -> Floats:
        return self._one_of(Cell("fanout", stack, "", "", "", receivers, size), f"to {receivers} receivers")

    def bwb(self, stack: str, size: int, receivers: int) -> Floats:
        return size / self.tb(stack, size, receivers)

    def to_one(self, stack: str, size: int, host: str) -> Floats:
        self.hosts.add(host)
        return self._one_of(Cell("fanout", stack, "", "", host, 1, size), f"to {host} alone")

    def rate_to_one(self, stack: str, host: str) -> Floats:
        return np.maximum.reduce([size / self.to_one(stack, size, host) for size in self.needs.sizes])

    def exchange(self, stack: str, size: int, hosts: int) -> Floats:
        return self._one_of(Cell("exchange", stack, "", "", "", hosts - 1, size), f"exchange of {hosts} hosts")

    def streams(self, stack: str, size: int, count: int) -> Floats:
        return count * size / self._one_of(Cell("stream", stack, "", "", "", count, size), f"over {count} connections")

    def over_tcp(self, size: int, among: str | int) -> Floats:
        return self._over_mpi("openmpi-llc", size, among) / self._over_mpi("openmpi", size, among)

    def _over_mpi(self, stack: str, size: int, among: str | int) -> Floats:
        """Seconds to a host, or among so many processes; a ratio of them is the same of round trips."""
        if isinstance(among, str):
            return self.t(stack, size, among)
        return self._one_of(Cell("partners", stack, "", "", "", among - 1, size), f"among {among} processes", "ns_min")

    def fft(self, stack: str, processes: int) -> Floats:
        return np.mean(self._transforms(stack, processes), axis=0)

    def fft_deviation(self, stack: str, processes: int) -> Floats:
        return np.std(self._transforms(stack, processes), axis=0, ddof=1) / self.fft(stack, processes)

    def _transforms(self, stack: str, processes: int) -> list[Floats]:
        """Seconds of each process."""
        (size,) = self.needs.sizes
        return self.measured.of_processes(self._problem("fft", stack, size, processes))

    def matmul(self, stack: str, size: int, processes: int, part: str = "") -> Floats:
        return self._value(self._problem("matmul", stack, size, processes)._replace(part=part))

    def _problem(self, ask: str, stack: str, size: int, processes: int) -> Cell:
        """The cell of a whole program."""
        for cell in self._asked(ask, stack):
            if (cell.fars, cell.size_bytes) == (processes - 1, size):
                self._rows(cell, "ns_median")
                return cell
        raise _missing(f"{ask} of {processes} processes over {stack}, {size} bytes")

    def welch_p(self, first: str, second: str, size: int, host: str) -> Floats:
        each = [self._each(stack, size, host, "ns_mean") for stack in (first, second)]
        found = [welch(*groups).p for groups in zip(*each, strict=True)]
        return np.array([np.nan if p is None else p for p in found], dtype=np.float64)

    def crossed(self, stack: str, receivers: int) -> Floats:
        values = self.measured.crossed.get((stack, receivers))
        if not values:
            raise _missing(f"bytes counted of {stack} to {receivers} receivers")
        self.asked.append(len(values))
        return self.measured.centre(self.measured.by_block(values), np.nanmedian)

    def beside(self, stack: str, size: int) -> tuple[Floats, ...]:
        pairs = [cell for cell in self._asked("pingpong", stack) if cell.size_bytes == size]
        if self.measured.scene.pairs_at_once < 2 or not pairs:
            raise _missing(f"{stack} between several pairs at the same time, {size} bytes")
        return tuple(self._value(cell) / 2 for cell in pairs)

    def sizes(self, stack: str, low: int, high: int) -> tuple[int, ...]:
        found = {cell.size_bytes for cell in self._asked("pingpong", stack)}
        if not found:
            raise _missing(stack)
        return tuple(sorted(size for size in found if low <= size <= high))

    def slowness(self, host: str) -> float:
        traits = self.measured.scene.traits.get(host, {})
        if "frame_us" not in traits:
            raise _missing(f"how fast {host} is")
        return traits["frame_us"] * 1e-6 + traits["byte_ns"] * 1e-9 * FULL_FRAME_BYTES

    def _asked(self, ask: str, stack: str) -> Sequence[Cell]:
        """The whole cells of a question and a stack."""
        return self.measured.asked.get((ask, stack, ""), ())

    def _seconds(self, stack: str, size: int, host: str, column: str = "ns_median", part: str = "") -> Floats:
        return self._value(Cell("pingpong", stack, part, self.measured.scene.near, host, 1, size), column)

    def _step(self, part: str, stack: str, size: int, host: str) -> Floats:
        return self._seconds(stack, size, host, part=part)

    def _each(self, stack: str, size: int, host: str, column: str) -> list[Floats]:
        """The logarithms of its launches, of the run and then of each resample."""
        cell = Cell("pingpong", stack, "", self.measured.scene.near, host, 1, size)
        values = np.log(self.measured.by_block(_by_block(self._rows(cell, column), column)))
        return [one[np.isfinite(one)] for one in self.measured.each(values)]

    def _value(self, cell: Cell, column: str = "ns_median") -> Floats:
        self._rows(cell, column)
        return self.measured.seconds(cell, column)

    def _rows(self, cell: Cell, column: str) -> Sequence[Row]:
        """The rows of a cell, which must have that column and the samples that the claim needs."""
        part = f"{cell.part} of " if cell.part else ""
        what = f"{part}{cell.stack} from {cell.near} to {cell.far}, {cell.size_bytes} bytes"
        if not self.measured.has(cell, column):
            raise _missing(what)
        rows = self.measured.cells[cell]
        if self.needs.samples and min(row["count"] for row in rows.values()) < self.needs.samples:
            raise _missing(f"{what}: {self.needs.samples} samples a cell")
        self.asked.append(len(rows))
        self.hosts |= {cell.near, *ends.split(cell.far)}
        return tuple(rows.values())

    def _most(self, column: str, stack: str, size: int, host: str) -> int:
        rows = self._rows(Cell("pingpong", stack, "", self.measured.scene.near, host, 1, size), column)
        return max(row[column] for row in rows)

    def _one_of(self, like: Cell, what: str, column: str = "ns_median") -> Floats:
        """Of the cell that is like that one wherever that says something."""
        for cell in self._asked(like.ask, like.stack):
            if cell.fars == like.fars and cell.size_bytes == like.size_bytes and like.far in ("", cell.far):
                return self._value(cell, column)
        raise _missing(f"{like.stack} {what}, {like.size_bytes} bytes")

    def _counted(self, column: str, stack: str, size: int) -> int:
        for cell in self._asked("pingpong", stack):
            if cell.size_bytes == size:
                return self._rows(cell, column)[0][column]
        raise _missing(f"{stack}, {size} bytes")

    def _between(self, ask: str, stack: str, size: int, one: str, other: str, fars: int) -> Floats:
        """The mean over the pairs of hosts of those two classes."""
        sized = [cell for cell in self._asked(ask, stack) if (cell.fars, cell.size_bytes) == (fars, size)]
        found = [cell for cell in sized if _joins(cell, one, other)]
        if not found:
            times = f"{fars} at once, " if fars > 1 else ""
            raise _missing(f"{stack} between {one} and {other}, {times}{size} bytes")
        return np.mean([self._value(cell) for cell in found], axis=0)

    def _curve(self, stack: str, host: str) -> tuple[Floats, Floats]:
        """(sizes, one way times of means by size) between the least and the largest size that the claim needs."""
        low, high = min(self.needs.sizes, default=0), max(self.needs.sizes, default=np.inf)
        sizes = sorted({*self.needs.sizes, *(n for n in self._sizes(stack, host) if low <= n <= high)})
        return np.array(sizes, float), np.array([self._seconds(stack, n, host, "ns_mean") / 2 for n in sizes])

    def _line(self, stack: str, host: str) -> tuple[Floats, Floats, Floats]:
        return straight(*self._curve(stack, host))

    def _rates(self, stack: str, low: int, high: int, host: str) -> tuple[Floats, Floats, Floats]:
        sizes = [size for size in self._sizes(stack, host) if low <= size <= high and size]
        return straight(_enough(sizes, stack), np.array([self.bw(stack, size, host) for size in sizes]))

    def _round_trips(self, *cell: Any) -> tuple[Floats, Floats, Floats]:
        return straight(*self._round_trip_curve(*cell))

    def _round_trip_curve(self, stack: str, low: int, high: int, one: str, other: str) -> tuple[Floats, Floats]:
        sizes = self.sizes(stack, low, high)
        return _enough(sizes, stack), np.array([self.rtt(stack, size, one, other) for size in sizes])

    def _smallest(self, stack: str, host: str) -> int:
        least = self._sizes(stack, host)[0]
        if least > SMALL_BYTES:
            raise _missing(f"{stack} to {host}, at most {SMALL_BYTES} bytes")
        return least

    def _sizes(self, stack: str, host: str) -> list[int]:
        """Rising."""
        here = (self.measured.scene.near, host, 1)
        found = sorted(cell.size_bytes for cell in self._asked("pingpong", stack) if cell[3:6] == here)
        if not found:
            raise _missing(f"{stack} to {host}")
        return found

    @property
    def _of_several(self) -> str:
        """The question of several hosts that the claim asks; of most the exchange."""
        return self.needs.question if self.needs.question in FROM_TWO else FROM_TWO[0]

    def _numbers(self, ask: str, more: int) -> tuple[int, ...]:
        """Of far ends, that every stack of the claim was asked with; rising."""
        by_stack = [{cell.fars + more for cell in self._asked(ask, stack)} for stack in self.needs.stacks]
        return tuple(sorted(set.intersection(*by_stack))) if by_stack else ()


@cache
def vocabulary() -> frozenset[str]:
    """All words that there are."""
    nowhere = Manifest(
        title="", plan_name="", plan_text="", plan={}, design=DesignRecord(), place=HostsPlace(),
        hosts={"": {}, "other": {}}, link=None, versions={}, environment={},
    )  # fmt: skip
    row = {"stack": "", "part": "", "near": "", "far": "other", "fars": 1, "size_bytes": 0, "ns_median": 1, "block": 0}
    return frozenset(Reading(Measured(nowhere, [row]), Needs()).words())


def spearman(first: Sequence[Any], second: Sequence[Any]) -> Floats:
    """The rank correlation of two lists of numbers. VaivenError ("not-measured") for fewer than four."""
    if len(first) < 4:
        raise _missing("four hosts to correlate")
    values = np.array(np.broadcast_arrays(*first, *second)).reshape(2, len(first), 1, -1)
    others = values.reshape(2, 1, len(first), -1)
    ranks = ((values > others) + 0.5 * (values == others)).sum(axis=2)
    away = ranks - ranks.mean(axis=1, keepdims=True)
    spreads = np.sqrt((away**2).sum(axis=1)).prod(axis=0)
    with np.errstate(invalid="ignore"):
        return (away[0] * away[1]).sum(axis=0) / spreads


def straight(sizes: Floats, values: Floats) -> tuple[Floats, Floats, Floats]:
    """(intercept, slope, r2) of the unweighted line through (S,) sizes and (S, B) values."""
    away = (sizes - sizes.mean())[:, np.newaxis]
    mean = values.mean(axis=0)
    slope = (away * (values - mean)).sum(axis=0) / (away**2).sum()
    intercept = mean - slope * sizes.mean()
    left = ((values - intercept - slope * sizes[:, np.newaxis]) ** 2).sum(axis=0)
    whole = ((values - mean) ** 2).sum(axis=0)
    return intercept, slope, 1 - left / np.where(whole > 0, whole, 1.0)


def _by_block(rows: Sequence[Row], column: str) -> dict[int, float]:
    return {row["block"]: row[column] for row in rows}


def _joins(cell: Cell, one: str, other: str) -> bool:
    far = cell.far.partition("*")[0]
    ends = ((cell.near, far), (far, cell.near))
    return any(numbered(one, first) and numbered(other, second) for first, second in ends)


def _enough(sizes: Sequence[float] | Floats, stack: str, least: int = 3) -> Floats:
    if len(sizes) < least:
        raise _missing(f"{least} sizes of {stack} for a line")
    return np.array(sizes, dtype=np.float64)


def _missing(what: str) -> VaivenError:
    return VaivenError(f"{what}: not measured", "a plan that asks for it", code="not-measured")
