# SPDX-License-Identifier: BSD-3-Clause
"""What a design can find, said before anything is measured.

A rank test of L blocks cannot give a p below 2^(1-L), of m against m launches none below 2/C(2m, m). With M
comparisons a lone difference must get below alpha/M. A design whose smallest p is above that is refused: it would
say "no difference" whatever the truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, exp, pi, sqrt

from vaiven.errors import VaivenError
from vaiven.stats.distributions import normal_quantile, student_quantile

RANK_LOSS = sqrt(pi / 3)  # in standard deviations, of ranks against t on normal data (efficiency 3/pi)
_SEARCH_MAX = 10_000


@dataclass(frozen=True, slots=True)
class DesignReport:
    """can_reach: the design can call at least one lone difference. p_least: the smallest p it can give; threshold:
    what a lone difference must get below. launches_needed: the smallest number that can reach. ratio_found: the
    time ratio (above 1) that it finds with that power, None when it cannot reach. text: one sentence."""

    launches: int
    comparisons: int
    alpha: float
    paired: bool
    can_reach: bool
    p_least: float
    threshold: float
    launches_needed: int
    power: float
    ratio_found: float | None
    text: str


def p_least(launches: int, paired: bool) -> float:
    """The smallest two-sided p of that many blocks, or of that many launches on each side."""
    return min(1.0, 2.0 ** (1 - launches) if paired else 2 / comb(2 * launches, launches))


def launches_to_reach(alpha: float, comparisons: int, paired: bool) -> int:
    """The fewest launches whose smallest p is within alpha / comparisons."""
    wanted = alpha / comparisons * (1 + 1e-12)
    return next(n for n in range(1, _SEARCH_MAX) if p_least(n, paired) <= wanted)


def examine(
    launches: int,
    comparisons: int,
    alpha: float = 0.01,
    paired: bool = True,
    spread_log: float = 0.05,
    power: float = 0.8,
) -> DesignReport:
    """What `launches` of each stack can find among that many (pair, size) comparisons.

    spread_log: deviation of a log ratio within a block (paired), or of a log launch time; 0.05 is 5 %.
    """
    assert launches >= 1 and comparisons >= 1 and 0 < alpha < 1
    needed = launches_to_reach(alpha, comparisons, paired)
    threshold = alpha / comparisons
    found = None
    if launches >= needed:
        degrees = launches - 1 if paired else 2 * launches - 2
        spread = spread_log * RANK_LOSS * (1 if paired else sqrt(2))
        reach = student_quantile(1 - threshold / 2, degrees) + normal_quantile(power)
        found = exp(reach * spread / sqrt(launches))
    return DesignReport(
        launches=launches,
        comparisons=comparisons,
        alpha=alpha,
        paired=paired,
        can_reach=found is not None,
        p_least=p_least(launches, paired),
        threshold=threshold,
        launches_needed=needed,
        power=power,
        ratio_found=found,
        text=_sentence(launches, comparisons, alpha, paired, needed, found, power, spread_log),
    )


def require(report: DesignReport) -> DesignReport:
    """The report back, or VaivenError ("design-too-small") that says what would do."""
    if not report.can_reach:
        raise VaivenError(
            report.text, f"plan {report.launches_needed} launches, or compare fewer sizes", code="design-too-small"
        )
    return report


def _sentence(
    launches: int,
    comparisons: int,
    alpha: float,
    paired: bool,
    needed: int,
    found: float | None,
    power: float,
    spread: float,
) -> str:
    what = f"{launches} launches {'of each stack' if paired else 'a side'} and {comparisons} comparisons"
    if found is None:
        smallest = p_least(launches, paired)
        return f"{what} cannot reach {alpha:.2g}: their smallest p is {smallest:.2g}, {needed} launches would"
    return (
        f"{what} find differences from {100 * (found - 1):.1f} % on, {100 * power:.0f} % of the time,"
        f" if launches spread by {100 * spread:.0f} %"
    )
