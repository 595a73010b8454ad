# SPDX-License-Identifier: BSD-3-Clause
"""What a whole program takes: its time, what of it goes into communication, and what its messages foretell of that.

The prediction is of the communication alone: the messages that cross the busiest link, each for what it took by itself
in the same run (questions.Program.messages). It knows nothing of processes that wait for each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from vaiven.model.several import Ratio
from vaiven.questions import Program
from vaiven.stats.estimate import Estimate


@dataclass(frozen=True, kw_only=True)
class ProgramTime:
    """One problem of a program, by so many processes, over one stack. Times in ns are medians of launch medians.

    number: of points, or of rows. size_bytes: what that problem holds. typical_ns, time: of the slowest process, from a
    barrier until it is done, and its interval. mean_ns: the mean over the processes. deviation: of their times, over
    that mean. computing_ns, communicating_ns: of the slowest process; share: of communicating, by launches. to_fewest:
    the time over that of the fewest processes that solved the same; to_first: over that of the plan's first stack.
    predicted_ns: of the communication; None where its messages were not measured.
    """

    ask: str
    stack: str
    near: str
    far: str
    processes: int
    number: int
    size_bytes: int
    typical_ns: float
    time: Estimate
    mean_ns: float
    deviation: float
    computing_ns: float
    communicating_ns: float
    typical_share: float
    share: Estimate
    to_fewest: Ratio
    to_first: Ratio
    predicted_ns: float | None

    @property
    def to_predicted(self) -> float | None:
        """The communication over what was foretold of it."""
        return self.communicating_ns / self.predicted_ns if self.predicted_ns else None


def deviation(times: Sequence[float]) -> float:
    """The standard deviation of the times of the processes of a launch, over their mean; 0 of one."""
    return float(np.std(times, ddof=1) / np.mean(times)) if len(times) > 1 else 0.0


def predicted_ns(program: Program, size_bytes: int, processes: int, curve: Mapping[int, float]) -> float | None:
    """What the communication takes by its messages. curve: bytes -> ns of one of these, of which two neighbours tell
    what one between them takes; None where its size is beyond all of them."""
    if processes == 1:
        return 0.0
    count, message_bytes = program.messages(size_bytes, processes)
    one_ns = _on(curve, message_bytes)
    return None if one_ns is None else count * one_ns


def _on(curve: Mapping[int, float], size_bytes: int) -> float | None:
    if size_bytes in curve:
        return curve[size_bytes]
    for low, high in pairwise(sorted(curve)):
        if low < size_bytes < high:
            return float(np.interp(size_bytes, (low, high), (curve[low], curve[high])))
    return None
