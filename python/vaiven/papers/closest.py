# SPDX-License-Identifier: BSD-3-Clause
"""The comparison of a claim that its margin is that of: what was measured there, in units, and what it is held against.

The margin says by how much a claim is so; this says what of it is nearest to its border, or furthest beyond it.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vaiven.papers.inequality import Comparison
from vaiven.stats.arrays import Floats
from vaiven.stats.bootstrap import interval
from vaiven.stats.estimate import Estimate, refusal

TIME, RATE, PER_BYTE, RATIO = "ns", "byte/s", "ns/byte", "times"
SCALES = {TIME: 1e9, RATE: 1.0, PER_BYTE: 1e9}  # from what words are in: seconds, bytes per second, seconds per byte

_UNITS = {
    TIME: "t alpha alpha_first rtt at_once tb to_one exchange first warm encode decode translate coding intercept fft "
    "matmul communicating",
    RATE: "bw bwmax bwb rate_to_one streams LINK",
    PER_BYTE: "tau tau_first slope",
    RATIO: "spread off moves crossed over_tcp fft_over_tcp fft_deviation welch_p spearman rate_r2 rtt_r2 "
    "frames frame_bytes held",
}
_UNIT_OF = {word: unit for unit, words in _UNITS.items() for word in words.split()}


@dataclass(frozen=True)
class Closest:
    """text: the comparison, with what its loops stood for. left, right: its sides; a number of the claim has no width.

    Units: "ns", "byte/s", "ns/byte", or "" of ratios, counts, and what has no unit of its own.
    """

    text: str
    left: Estimate
    right: Estimate


def closest(made: Sequence[Comparison], margin: float, launches: int, runs: Sequence[str]) -> Closest | None:
    """Of the comparisons that were made, that whose margin is the whole claim's, turned over under a `not`.

    It is of times, or of counts, which have no width. runs: their names, which stand behind words.
    """
    if not made:
        return None
    found = min(made, key=lambda one: abs(abs(np.log(one.margin[0])) - abs(np.log(margin))))
    told = found.told
    units = [_unit(side, runs) for side in (told.left, *told.comparators)]
    unit = next((one for one in units if one in SCALES), "")
    return Closest(ast.unparse(told), *(_estimate(side, unit, launches) for side in (found.left, found.right)))


def _estimate(side: Floats, unit: str, launches: int) -> Estimate:
    value = float(side[0])
    if side.size == 1:
        found = Estimate(value, value, value, unit) if np.isfinite(value) else refusal("not a number", unit)
    else:
        found = interval(side[1:], value, unit, launches)
    return found.scaled(SCALES[unit], unit) if unit else found


def _unit(node: ast.expr, runs: Sequence[str]) -> str:
    """Of what words name; RATIO of a number without one, "" of a number of the claim and of what cannot be known."""
    match node:
        case ast.Name(id=name):
            return _UNIT_OF.get(_word(name, runs), "")
        case ast.Call(func=ast.Name(id="min" | "max"), args=[ast.GeneratorExp(elt=each), *_]):
            return _unit(each, runs)
        case ast.Call(func=ast.Name(id=name)):
            return _UNIT_OF.get(_word(name, runs), "")
        case ast.BinOp(left=left, op=op, right=right):
            return _of_two(_unit(left, runs), op, _unit(right, runs))
    return ""


def _of_two(left: str, op: ast.operator, right: str) -> str:
    if isinstance(op, ast.Div) and left == right and left:
        return RATIO
    if isinstance(op, ast.Div) and not left:
        return {TIME: RATE, RATE: TIME}.get(right, right)  # bytes over seconds, bytes over bytes per second
    if isinstance(op, ast.Mult) and {left, right} == {RATE, PER_BYTE}:
        return RATIO
    return left or right


def _word(name: str, runs: Sequence[str]) -> str:
    """The word, without the name of its run."""
    return next((name.removesuffix(f"_{run}") for run in runs if run and name.endswith(f"_{run}")), name)
