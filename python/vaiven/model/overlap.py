# SPDX-License-Identifier: BSD-3-Clause
"""Computing while messages travel: which share of the shorter of two costs is hidden behind the longer."""

from __future__ import annotations

from dataclasses import dataclass

from vaiven.stats.estimate import Estimate


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """One size of one stack. talk_ns: a round trip alone; work_ns: a computation alone; both_ns: the two at once, all
    medians of launch medians. share: of what could be hidden, 0 to 1, by launches."""

    stack: str
    near: str
    far: str
    size_bytes: int
    talk_ns: float
    work_ns: float
    both_ns: float
    typical_share: float
    share: Estimate


def hidden_share(talk_ns: float, work_ns: float, both_ns: float) -> float:
    """(talk + work - both) / min(talk, work), between 0 and 1: noise can make both shorter or longer than it may be."""
    share = (talk_ns + work_ns - both_ns) / min(talk_ns, work_ns)
    return min(1.0, max(0.0, share))
