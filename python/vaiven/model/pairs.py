# SPDX-License-Identifier: BSD-3-Clause
"""Host against host: which link or which host is unlike the others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from vaiven.errors import VaivenError
from vaiven.model.line import Line
from vaiven.stats.arrays import Floats

OFF_MAD = 4.0
OFF_LEAST = 0.05  # relative: a link that differs by less is like the others
SWEEPS = 50


@dataclass(frozen=True, eq=False)
class HostMatrix:
    """value: (H, H) of near by far, NaN where nothing was measured or it was refused. expected: what the two hosts
    explain without any link being special. off: (near, far) of links that are unlike what their hosts explain."""

    name: str
    unit: str
    hosts: tuple[str, ...]
    value: Floats
    expected: Floats
    off: tuple[tuple[str, str], ...]


def host_matrix(lines: Iterable[Line], name: str = "alpha") -> HostMatrix:
    """alpha or beta of every pair. Raises VaivenError: "too-few", "different-kind", "bad-shape"."""
    lines = list(lines)
    if not lines:
        raise VaivenError("no pair of hosts to show", code="too-few")
    kinds = {(line.stack, line.direction, line.statistic) for line in lines}
    if len(kinds) > 1:
        raise VaivenError("a matrix holds one stack, direction and statistic", code="different-kind")
    hosts = tuple(sorted({h for line in lines for h in (line.near, line.far)}))
    value = np.full((len(hosts), len(hosts)), np.nan)
    for line in lines:
        at = hosts.index(line.near), hosts.index(line.far)
        if np.isfinite(value[at]):
            raise VaivenError(f"{line.near} to {line.far} is there twice", code="bad-shape")
        found = getattr(line, name)
        value[at] = found.value if found.known else np.nan
    expected = polished(value)
    return HostMatrix(name, getattr(lines[0], name).unit, hosts, value, expected, _off(hosts, value, expected))


def polished(value: Floats) -> Floats:
    """Median polish of log values: overall + near + far, (H, H), NaN where nothing was measured (Tukey 1977)."""
    rest = np.log(value)
    fitted = np.zeros_like(rest)
    with np.errstate(all="ignore"):
        for _ in range(SWEEPS):
            for axis in (1, 0):
                middle = _median(rest, axis)
                fitted += middle
                rest -= middle
    return np.where(np.isfinite(rest), np.exp(fitted), np.nan)


def _median(rest: Floats, axis: int) -> Floats:
    """Along an axis, kept as a dimension; 0 where there is nothing."""
    filled = np.ma.masked_invalid(rest)
    return np.ma.filled(np.ma.median(filled, axis=axis, keepdims=True), 0.0)  # type: ignore[no-untyped-call]


def _off(hosts: tuple[str, ...], value: Floats, expected: Floats) -> tuple[tuple[str, str], ...]:
    miss = np.log(value / expected)
    there = np.isfinite(miss)
    if there.sum() < 6:
        return ()
    mad = 1.4826 * float(np.median(np.abs(miss[there])))
    off = there & (np.abs(np.where(there, miss, 0)) > max(OFF_MAD * mad, OFF_LEAST))
    return tuple((hosts[i], hosts[j]) for i, j in np.argwhere(off))
