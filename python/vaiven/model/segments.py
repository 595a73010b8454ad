# SPDX-License-Identifier: BSD-3-Clause
"""Straight pieces through points, exactly: every way to cut the sizes is weighed by dynamic programming.

Everything is batched over resamples: points are (B, S), weights 1/t^2 as for the line unless given. The cost of one
piece comes from prefix sums, so all pieces together cost O(B S^2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vaiven.stats.arrays import Floats, Ints

PIECE_SIZES_MIN = 4
PIECES_MAX = 6
POINTS_PER_PIECE = 6  # below it a piece's three parameters are bought with too few points
QUANTUM = 1e-4  # relative; residuals below it are the clock's, not the network's


@dataclass(frozen=True, eq=False)
class Cuts:
    """The best cuts into K pieces. starts: (B, K) index of each piece's first size. wrss: (B,)."""

    starts: Ints
    wrss: Floats


def pieces_max(sizes: int) -> int:
    return max(1, min(PIECES_MAX, sizes // POINTS_PER_PIECE))


def piece_costs(sizes_bytes: Ints, ns: Floats, weights: Floats | None = None) -> Floats:
    """(B, S, S): the weighted residual sum of a line through sizes i..j; infinite where that is under 4 sizes.

    ns: (B, S). weights: (B, S) or (S,); None: 1/ns^2.
    """
    n = sizes_bytes.astype(np.float64)
    w = 1 / ns**2 if weights is None else np.broadcast_to(weights, ns.shape)
    sums = [_prefix(x) for x in (w, w * n, w * n * n, w * ns, w * n * ns, w * ns * ns)]
    sw, sn, snn, st, snt, stt = (s[:, None, 1:] - s[:, :-1, None] for s in sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        nn, nt, tt = snn - sn**2 / sw, snt - sn * st / sw, stt - st**2 / sw
        cost = tt - np.where(nn > 0, nt**2 / nn, 0.0)
    first, last = np.indices((n.size, n.size))
    return np.where(last - first + 1 >= PIECE_SIZES_MIN, np.maximum(cost, 0.0), np.inf)


def cut(costs: Floats, pieces: int) -> list[Cuts]:
    """The best cuts into 1, 2, ... `pieces` pieces, for every resample of `piece_costs`."""
    batch, sizes, _ = costs.shape
    best = [costs[:, 0, :]]  # [k][b, j]: the best k+1 pieces through sizes 0..j
    start: list[Ints] = [np.zeros((batch, sizes), dtype=np.int64)]
    for _ in range(1, pieces):
        before = np.concatenate((np.full((batch, 1), np.inf), best[-1][:, :-1]), axis=1)
        total = before[:, :, None] + costs
        start.append(total.argmin(axis=1))
        best.append(total.min(axis=1))
    return [Cuts(_traced(start, k), best[k][:, -1]) for k in range(pieces)]


def bic(wrss: Floats, sizes: int, parameters: int) -> Floats:
    """N ln(WRSS/N) + parameters ln N, with residuals no smaller than the clock lets them be."""
    return sizes * np.log(np.maximum(wrss / sizes, QUANTUM**2)) + parameters * np.log(sizes)


def hinge(sizes_bytes: Ints, ns: Floats, weights: Floats, grid: Floats) -> tuple[Floats, Floats]:
    """Two lines that meet: (position_bytes, wrss), each (B,), the best position within `grid` (G,) rising.

    ns: (B, S); weights: (S,). Between grid points the minimum of a parabola is taken.
    """
    n = sizes_bytes.astype(np.float64)
    root = np.sqrt(weights)
    y = ns * root
    basis = np.stack(
        [np.broadcast_to(root, (grid.size, n.size)), root * np.broadcast_to(n, (grid.size, n.size)),
         root * np.maximum(n - grid[:, None], 0)], axis=2)  # fmt: skip
    q, _ = np.linalg.qr(basis)
    inside = np.einsum("gsk,bs->gbk", q, y, optimize=True)
    wrss = np.maximum((y**2).sum(axis=1) - (inside**2).sum(axis=2), 0.0)
    return _vertex(grid, wrss), wrss.min(axis=0)


def _vertex(grid: Floats, wrss: Floats) -> Floats:
    """(B,) position of the minimum of (G, B), refined by the parabola through it and its neighbours."""
    at = np.clip(wrss.argmin(axis=0), 1, grid.size - 2)
    columns = np.arange(wrss.shape[1])
    left, middle, right = (wrss[at + k, columns] for k in (-1, 0, 1))
    bend = left - 2 * middle + right
    with np.errstate(divide="ignore", invalid="ignore"):
        move = np.where(bend > 0, np.clip((left - right) / (2 * bend), -1, 1), 0.0)
    return np.interp(at + move, np.arange(grid.size), grid)


def _prefix(x: Floats) -> Floats:
    return np.concatenate((np.zeros((x.shape[0], 1)), np.cumsum(x, axis=1)), axis=1)


def _traced(start: list[Ints], k: int) -> Ints:
    """(B, k+1) first indices, followed back from the last size."""
    batch, sizes = start[0].shape
    rows = np.arange(batch)
    out = np.zeros((batch, k + 1), dtype=np.int64)
    end = np.full(batch, sizes - 1)
    for piece in range(k, 0, -1):
        out[:, piece] = start[piece][rows, end]
        end = np.maximum(out[:, piece] - 1, 0)
    return out
