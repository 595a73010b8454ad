# SPDX-License-Identifier: BSD-3-Clause
"""A timed lab that nobody checked tries a few ping-pongs before it is measured, so that its error is known.

They take two seconds, once for each kind and rate of fabric on this machine (`lab.calibration` keeps what they found),
and are those of `lab check`: lone frames of three sizes, ends asleep and spinning, the same on a free lab in turn. If
the doors can be set so that all kinds are in time, they are; in any case it stands in the record by how much frames are
off then. Where other work leaves too few launches nothing is known, and that is tried again later.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from vaiven.lab import calibration, check, fabric, lone
from vaiven.lab import lab as labs
from vaiven.lab.lab import Lab
from vaiven.lab.lone import Lone

BUDGET_S = 2.0  # the last launch, and taking the free lab down, come after it
AGAIN_S = 600.0  # after a trial that found nothing, or frames that were not in time
FRAMES_BYTES = (60, 542, 1514)
_LAUNCHES, _LAUNCHES_MIN = 12, 2
_SAMPLES = 12


@dataclass(frozen=True, kw_only=True)
class Found:
    """shift_ns: so much earlier the doors must open. error_ns: by how much 19 of 20 launches are off then, at the
    worst; None where too few were tried. in_time: whether the medians of all kinds are."""

    shift_ns: int = 0
    error_ns: int | None = None
    in_time: bool = False


def calibrated(lab: Lab) -> Lab:
    """The lab with the calibration that it has, or else with what a trial finds; it must be idle.

    Raises VaivenError ("check-failed", "bad-state") and as `vaiven.lab.lab.recalibrated` does.
    """
    kind, now = lab.topology.fabric, lab.calibration
    is_known = now.error_ns is not None and now.in_time
    if kind.fabric_class != "timed" or len(lab.hosts) < 2 or is_known or _is_too_soon(lab):
        return lab
    hosts = sorted(lab.hosts, key=lambda host: host.spec.is_slow)
    with check.wire_alone(lab):
        found = judged(
            lone.measure(hosts[0], hosts[1], lab.topology, ["udp"], FRAMES_BYTES, launches=_LAUNCHES,
                         samples=_SAMPLES, within_s=BUDGET_S),
            range(-now.door_ns, calibration.door_max_ns(kind) - now.door_ns + 1),
        )  # fmt: skip
    tried = calibration.tried_now(now.door_ns + found.shift_ns, found.error_ns, in_time=found.in_time)
    calibration.store(kind, tried)
    fabric.set_doors(lab, tried.door_ns)
    return labs.recalibrated(lab, tried)


def judged(tried: Sequence[Lone], possible_ns: range) -> Found:
    """What those launches say of the doors, which can be moved so far. They are not where that helps too little."""
    is_whole = len(tried) == len(FRAMES_BYTES) * len(lone.WAITS)
    if not is_whole or min(len(one.launches_ns) for one in tried) < _LAUNCHES_MIN:
        return Found()
    best_ns = lone.best_shift([(statistics.median(one.errors_ns), one.limit_ns) for one in tried])
    shift_ns = min(max(best_ns, possible_ns[0]), possible_ns[-1])
    in_time = all(abs(statistics.median(one.errors_ns) - shift_ns) <= one.limit_ns for one in tried)
    shift_ns = shift_ns if in_time else 0
    error_ns = max(lone.p95([abs(error - shift_ns) for error in one.errors_ns]) for one in tried)
    return Found(shift_ns=shift_ns, error_ns=round(error_ns), in_time=in_time)


def _is_too_soon(lab: Lab) -> bool:
    before = calibration.tried(lab.topology.fabric)
    return before is not None and 0 <= calibration.age_s(before) < AGAIN_S
