# SPDX-License-Identifier: BSD-3-Clause
"""Does the method keep its promises? Launches made up to behave like real ones, judged by the same code.

Real launches have: a factor of their own, skewed and sometimes a second mode (placement); samples that depend on
their neighbours; a heavy tail. What a launch of median luck would measure is known exactly. The truth of what is fitted
is what the same fit gives of so many launches that luck has no part in it: the median of a sum of two lucks, one of
them skewed, is not the sum of their medians.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import scipy

from vaiven.model.compare import compare_pairs
from vaiven.model.half import half_rate, half_size
from vaiven.model.knees import Kind, find_knees
from vaiven.model.line import fit_line, weighted_line
from vaiven.model.times import Direction, LaunchTimes, Statistic
from vaiven.stats.arrays import Floats, Ints
from vaiven.stats.verdict import Rules

_SIZES = (0, 1, 16, 64, 128, 256, 512, 1024, 1448, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288)
_KNEE_SIZES = tuple(int(n) for n in np.unique(np.round(np.geomspace(64, 262144, 32))))
MANY = 20_000  # launches: their medians are known 35 times as well as those of 16


@dataclass(frozen=True)
class Machine:
    """What the made-up network does.

    alpha_ns, beta_ns_per_byte: of a launch of median luck. bend_bytes, slope_after: where and how much steeper it
    gets (0: a straight line). launch_skew: of the factor each launch has on its start-up. second_mode: how often a
    launch falls in a mode 1.3 times slower. cell_noise: of each size in each launch; cell_tail: the same, exponential.
    block_noise: what all launches of a block share. sample_noise, memory, tail: of single samples, their dependence on
    the one before, the share of stray ones.
    """

    alpha_ns: float = 30e3
    beta_ns_per_byte: float = 80.0
    bend_bytes: float = 20_000.0
    slope_after: float = 0.0
    launch_skew: float = 0.10
    second_mode: float = 0.08
    cell_noise: float = 0.02
    cell_tail: float = 0.0
    block_noise: float = 0.05
    sample_noise: float = 0.05
    memory: float = 0.5
    tail: float = 0.02
    sizes_bytes: Ints = field(default_factory=lambda: np.array(_SIZES, dtype=np.int64))

    @property
    def truth_ns(self) -> Floats:
        n = self.sizes_bytes.astype(np.float64)
        return self.alpha_ns + self.beta_ns_per_byte * n + self.slope_after * np.maximum(n - self.bend_bytes, 0)


NOISY = Machine()
QUIET = Machine(launch_skew=0.015, second_mode=0.0, cell_noise=0.01)  # pinned processes on idle hosts
SKEWED = Machine(launch_skew=0.0, second_mode=0.0, cell_noise=0.0, cell_tail=0.1)  # sizes that know nothing of another


@dataclass(frozen=True, slots=True)
class Kept:
    """Of `trials`, in `hits` it came true; `refused` gave words instead. promised: the share it should have, None when
    nothing is promised. least, most: hits that a promise kept to the letter would have, with 99 % probability."""

    name: str
    promised: float | None
    trials: int
    hits: int
    refused: int
    least: int
    most: int

    @property
    def share(self) -> float:
        return self.hits / self.trials

    def __str__(self) -> str:
        should = f", promised {100 * self.promised:.1f} %" if self.promised is not None else ""
        gave = f", {self.refused} refused" if self.refused else ""
        return f"{self.name}: {self.hits} of {self.trials} ({100 * self.share:.1f} %{should}{gave})"


def sampled(machine: Machine, count: int, samples: int, rng: np.random.Generator) -> Floats:
    """(count, S, samples) times in ns of so many launches."""
    startup, whole = _launch_factors(machine, count, rng)
    truth = machine.truth_ns + machine.alpha_ns * (startup - 1)
    cell = np.exp(machine.cell_noise * rng.standard_normal(truth.shape))
    if machine.cell_tail:
        cell *= (1 + machine.cell_tail * rng.exponential(size=truth.shape)) / (1 + machine.cell_tail * np.log(2))
    return (truth * whole * cell)[..., None] * _samples(machine, (*truth.shape, samples), rng)


def launches(machine: Machine, count: int, samples: int, rng: np.random.Generator) -> LaunchTimes:
    """Such launches, summarised by their medians."""
    ns = np.median(sampled(machine, count, samples, rng), axis=-1)
    sizes, rows = machine.sizes_bytes, np.arange(count)
    return LaunchTimes(
        "made-up", Direction.ONE_WAY, Statistic.TYPICAL, sizes, rows, rows, ns, np.full(ns.shape, samples)
    )


def line_coverage(
    trials: int, seed: int, count: int = 12, samples: int = 30, level: float = 0.95, machine: Machine = NOISY
) -> list[Kept]:
    """How often the intervals of alpha, beta, n_1/2 and the full rate contain the truth."""
    rng = np.random.default_rng(seed)
    truth = _fitted(machine)
    hits, refused = dict.fromkeys(truth, 0), dict.fromkeys(truth, 0)
    for _ in range(trials):
        times = launches(machine, count, samples, rng)
        line = fit_line(times, rng, level=level, resamples=1000)
        half = half_rate(times, rng, level)
        found = {"alpha": line.alpha, "beta": line.beta, "n_half": half.size, "full": half.full}
        for name, one in found.items():
            refused[name] += not one.known
            hits[name] += one.low is not None and one.low <= truth[name] <= one.high
    return [_kept(f"{name}, {count} launches", level, trials, hits[name], refused[name]) for name in truth]


def _fitted(machine: Machine) -> dict[str, float]:
    """Alpha, beta, n_1/2 and the full rate of the medians of MANY launches."""
    rng, sizes = np.random.default_rng(0), machine.sizes_bytes
    parts = [launches(machine, MANY // 10, 30, rng).ns for _ in range(10)]
    ns = np.median(np.concatenate(parts), axis=0)
    alpha, beta = weighted_line(sizes, ns)
    full, n_half = sizes[-1] / ns[-1] * 1e9, half_size(sizes, ns[None])[0]
    return {"alpha": float(alpha), "beta": float(beta), "n_half": float(n_half), "full": float(full)}


def knee_coverage(trials: int, seed: int, count: int = 12, samples: int = 30, level: float = 0.95) -> list[Kept]:
    """How often one bend is found, as a bend; and how often its interval contains its place."""
    rng = np.random.default_rng(seed)
    machine = Machine(slope_after=60.0, sizes_bytes=np.array(_KNEE_SIZES))
    found = inside = 0
    for _ in range(trials):
        knees = find_knees(launches(machine, count, samples, rng), rng, level=level).knees
        if len(knees) == 1 and knees[0].kind is Kind.BEND:
            found += 1
            size = knees[0].size
            inside += size.low is not None and size.low <= machine.bend_bytes <= size.high
    return [_kept(f"knee, {count} launches", level, max(found, 1), inside, trials - found)]


def false_knees(trials: int, seed: int, count: int = 12, samples: int = 30) -> Kept:
    """How often a straight line is given a knee."""
    rng = np.random.default_rng(seed)
    machine = Machine(sizes_bytes=np.array(_KNEE_SIZES))
    hits = sum(bool(find_knees(launches(machine, count, samples, rng), rng).knees) for _ in range(trials))
    return _kept("false knees", 0.01, trials, hits, 0)


def called_different(
    trials: int,
    seed: int,
    slower: float = 1.0,
    count: int = 14,
    samples: int = 30,
    same_blocks: bool = True,
    machine: Machine = NOISY,
) -> Kept:
    """How often a machine is called different from itself made `slower`: 1 counts false alarms, above it power.

    Each trial is one comparison at one size, judged alone at 1 %: adjusting for others could only lower the count.
    """
    rng = np.random.default_rng(seed)
    machine = replace(machine, sizes_bytes=np.array([64]))
    hits = 0
    for _ in range(trials):
        first, second = (launches(machine, count, samples, rng) for _ in range(2))
        blocks = [np.exp(machine.block_noise * rng.standard_normal((count, 1))) for _ in range(2)]
        first = replace(first, ns=first.ns * blocks[0])
        second = replace(second, ns=second.ns * slower * blocks[0 if same_blocks else 1])
        pair = (first, second)
        hits += compare_pairs([pair], same_blocks, Rules(alpha=0.01)).verdicts[0].different
    name = "false alarms" if slower == 1 else f"found at {100 * slower - 100:+.0f} %"
    promised = 0.01 if slower == 1 else None
    return _kept(f"{name}, {'paired' if same_blocks else 'unpaired'}", promised, trials, hits, 0)


def _launch_factors(machine: Machine, count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """(startup, whole), each (count, 1), medians 1: on the start-up alone, and on every time."""
    luck = rng.random((count, 1))
    # The second mode takes the upper end of the luck, so that the median of the factor stays 1.
    startup = np.exp(machine.launch_skew * (scipy.stats.gumbel_r.ppf(luck) - scipy.stats.gumbel_r.ppf(0.5)))
    startup *= np.where(luck > 1 - machine.second_mode, 1.3, 1.0)
    return startup, np.exp(machine.cell_noise / 2 * rng.standard_normal((count, 1)))


def _samples(machine: Machine, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Relative times with median 1: a first-order process, and stray samples far out on the slow side.

    A stray sample replaces one that was above the median already, so that the median stays.
    """
    noise = rng.standard_normal(shape)
    walk = np.empty(shape)
    walk[..., 0] = noise[..., 0]
    fresh = np.sqrt(1 - machine.memory**2)
    for i in range(1, shape[-1]):
        walk[..., i] = machine.memory * walk[..., i - 1] + fresh * noise[..., i]
    stray = (rng.random(shape) < 2 * machine.tail) & (walk > 0)
    return np.exp(machine.sample_noise * walk) + np.where(stray, rng.pareto(1.5, shape), 0.0)


def _kept(name: str, promised: float | None, trials: int, hits: int, refused: int) -> Kept:
    least, most = 0, trials
    if promised is not None:
        least, most = (int(x) for x in scipy.stats.binom.ppf([0.005, 0.995], trials, promised))
    return Kept(name, promised, trials, hits, refused, least, most)
