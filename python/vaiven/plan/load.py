# SPDX-License-Identifier: BSD-3-Clause
"""How many frames a second a plan needs of a lab, against how many such a lab was measured to carry.

A message of several frames travels as fast as its link takes full frames; sent to all at once, it is copied for every
far end. Messages of one frame wait for each other. Pairs at the same time need as many each. A lab that carries fewer
would be slower than its wire, and the numbers of the plan those of this machine.
"""

from __future__ import annotations

from collections.abc import Mapping

from vaiven import questions
from vaiven.errors import VaivenError
from vaiven.plan import ends
from vaiven.plan.design import Available, Course, Design
from vaiven.plan.schema import Link

_AROUND_BYTES = 38  # of a frame, beside its packet: addresses and type 14, preamble 8, check sequence 4, gap 12


def frames_per_s(design: Design, known: Mapping[str, Available], link: Link) -> float:
    """The most that any of its courses needs of the lab; 0 if no message is longer than a frame."""
    line = link.rate_bps / (8 * (link.mtu_bytes + _AROUND_BYTES))
    copies = [_copies(course, design, known) for course in design.courses if _is_long(course, link)]
    return line * max(copies, default=0)


def require(design: Design, known: Mapping[str, Available], link: Link, carried: float | None) -> None:
    """VaivenError ("too-many-frames") if that needs more than was measured; None: it never was."""
    needed = frames_per_s(design, known, link)
    if carried is not None and needed > carried:
        raise VaivenError(
            f"the plan needs {needed:,.0f} frames/s, and this lab was measured to carry {carried:,.0f} on this machine",
            "a lower rate, fewer far ends, or `vaiven lab check` again when nothing else runs",
            code="too-many-frames",
        )


def _is_long(course: Course, link: Link) -> bool:
    return max(course.sizes_bytes) > link.mtu_bytes


def _copies(course: Course, design: Design, known: Mapping[str, Available]) -> int:
    """How many hosts get a frame at the same time; of a whole program all of them may."""
    if questions.ALL[course.ask].program:
        return 1 + max(len(ends.split(far)) for _, far in design.pairs_of(course))
    if not known[course.stack.id].to_all or dict(course.stack.options).get("to") == "each":
        return 1 if course.own_pairs else design.pairs_at_once
    return max(len(ends.split(far)) for _, far in design.pairs_of(course))
