# SPDX-License-Identifier: BSD-3-Clause
"""Did a launch lose its time: was a processor, for a part of it that counts, not there for anybody of us?

That is said by witnesses of the machine, and never by what was measured. Whoever did launches again because their
result looks odd would choose their medians: the slow ones would go, the quick ones stay, and an interval would cover
less than it says. What a hypervisor takes has nothing to do with the stack that happened to run, so leaving it out
leaves a random part of the launches, as if they had been drawn a moment later. For the same reason other work on the
machine is no lost time: who shares a processor is slowed by how it shares, and that differs from stack to stack; nor
are frames that a fabric brought late, for when they come depends on the stack that sent them. Both stand among the
warnings, or in the error of the lab.

Two witnesses:

* steal: the kernel's account of what a hypervisor took while something wanted to run (/proc/stat), where there is one
  that says so. It counts in ticks of 10 ms, so of those that were added the first may have been full before.
* real-time: of a timed lab, for each processor a process of the real-time class (`vaiven-probe witness`), which comes
  late only where nobody of us could run: for a hypervisor, the kernel itself, something else of that class.

A launch has lost its time when either of them saw more than SHARE_MAX of it, and more than LEAST_NS, gone on one
processor: half of the 2 % that a lab answers for, and more than any interrupt takes. It is done again, AGAIN_MAX times
at the most, at a random later place of its block; then it is kept and marked, for a machine that loses time again and
again is what this run was measured on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from vaiven.store.record import Loss

SHARE_MAX = 0.01
LEAST_NS = 2_000_000
AGAIN_MAX = 2

_TICK_NS = 10_000_000  # of /proc/stat, the same on all of Linux for programs
_STEAL = re.compile(r"^(cpu\d+)(?: \d+){7} (\d+)\b", re.MULTILINE)

Counted = Mapping[tuple[str, str], int]  # (witness, where) -> ns since it began to count


def stolen(stat: str, host: str = "") -> dict[tuple[str, str], int]:
    """What /proc/stat says was stolen of each processor. host: whose they are, where that is not clear."""
    return {("steal", _where(host, cpu)): int(ticks) * _TICK_NS for cpu, ticks in _STEAL.findall(stat)}


def missed(lost_ns: Mapping[int, int]) -> dict[tuple[str, str], int]:
    """The same of witnesses in the real-time class, by processor."""
    return {("real-time", _where("", f"cpu{cpu}")): ns for cpu, ns in lost_ns.items()}


def losses(before: Counted, after: Counted, of_ns: int) -> tuple[Loss, ...]:
    """What a launch lost that was watched for of_ns between two countings, if that is too much; the gravest first."""
    grown = {at: ns - before[at] - (_TICK_NS if at[0] == "steal" else 0) for at, ns in after.items() if at in before}
    bound_ns = max(SHARE_MAX * of_ns, LEAST_NS)
    found = [
        Loss(witness=witness, where=where, lost_ns=min(ns, of_ns), of_ns=of_ns)
        for (witness, where), ns in grown.items()
        if ns > bound_ns
    ]
    return tuple(sorted(found, key=lambda loss: loss.lost_ns, reverse=True))


def gravest(several: Iterable[Sequence[Loss]]) -> tuple[Loss, ...]:
    """What launches lost that ran at the same time, each witness once, the gravest first."""
    worst: dict[tuple[str, str], Loss] = {}
    for loss in (loss for one in several for loss in one):
        known = worst.get((loss.witness, loss.where))
        if known is None or known.lost_ns < loss.lost_ns:
            worst[loss.witness, loss.where] = loss
    return tuple(sorted(worst.values(), key=lambda loss: loss.lost_ns, reverse=True))


def _where(host: str, cpu: str) -> str:
    return f"{host} {cpu}".strip()
