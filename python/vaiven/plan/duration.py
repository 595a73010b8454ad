# SPDX-License-Identifier: BSD-3-Clause
"""How long a run will take, before it has begun: a guess from the plan and the link, good to a factor of two."""

from __future__ import annotations

from vaiven.plan import ends
from vaiven.plan.design import Course, Design
from vaiven.plan.schema import Link, Plan

_START_S = 0.3  # two processes, their handshake, their end
_RTT_S = 100e-6  # of an empty message, where nothing was measured
_RATE_BPS = 10**9  # of a link that nobody described
_EXCHANGES_MIN = 3  # in a cell, however slow: warm-up and one sample


def launch_s(course: Course, plan: Plan, link: Link | None) -> float:
    """Seconds that one launch of this course takes; of one with several far ends, its widest."""
    width = max((len(ends.split(far)) for _, far in course.own_pairs), default=1)
    return _START_S * width + width * sum(_cell_s(size, plan, link) for size in course.sizes_bytes)


def run_s(design: Design, plan: Plan, link: Link | None) -> tuple[float, float]:
    """Seconds of the whole run: (when it stops at launches_min, when it goes on to launches_max)."""
    each = sum(launch_s(course, plan, link) * _turns(design, course) for course in design.courses)
    block = each + launch_s(design.sentinel, plan, link)
    return block * plan.stop.schedule[0], block * plan.stop.launches_max


def _turns(design: Design, course: Course) -> int:
    """How many launches of it come one after the other in a block: those of a round count as one."""
    pairs = len(design.pairs_of(course))
    return pairs if course.own_pairs else -(-pairs // design.pairs_at_once)


def _cell_s(size_bytes: int, plan: Plan, link: Link | None) -> float:
    # Cut into frames, a message is on all hops at once: only its last frame pays for the others.
    rate_bps, hops, mtu = (link.rate_bps, link.hops, link.mtu_bytes) if link else (_RATE_BPS, 2, 1500)
    bits = 8 * (size_bytes + (hops - 1) * min(size_bytes, mtu))
    rtt_s = _RTT_S + 2 * bits / rate_bps
    wanted_s = min(plan.effort.samples * rtt_s, plan.effort.cell_ms / 1000)
    return max(wanted_s, _EXCHANGES_MIN * rtt_s)
