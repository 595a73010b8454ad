# SPDX-License-Identifier: BSD-3-Clause
"""The launches of a run that lost their time, which the machine took: done again, or kept and marked (run.lost)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vaiven.results.result import STACK, Result, columns, flag, integer, number, text
from vaiven.store import query
from vaiven.store.query import Run
from vaiven.store.record import Loss


@dataclass(frozen=True, slots=True, kw_only=True)
class LostTime:
    """What one witness saw of a launch that lost its time.

    time: how often that had happened to this launch, from 1. kept: the launch stands in the run all the same, for it
    was done again often enough; else nothing of it was kept.
    """

    launch: int
    block: int
    near: str
    far: str
    stack: str
    ask: str
    sentinel: bool
    time: int
    kept: bool
    loss: Loss


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LostTimes(Result[LostTime]):
    """Launches that lost their time, which a hypervisor or something real-time took: one row per launch, time that it
    happened and witness."""

    kind: ClassVar[str] = "lost_times"
    columns: ClassVar = columns(
        *STACK,
        text("ask", "the question", lambda one: one.ask),
        integer("launch", "its number in the run, from 0", lambda one: one.launch),
        integer("block", "the block that it belongs to", lambda one: one.block),
        flag("sentinel", "whether it is the sentinel of its block", lambda one: one.sentinel),
        integer("time", "how often that had happened to it, from 1", lambda one: one.time),
        flag("kept", "whether it stands in the run all the same, and is marked; else it was done again",
             lambda one: one.kept),
        text("witness", "steal: the kernel's account of a hypervisor; real-time: a process that comes before others",
             lambda one: one.loss.witness),
        text("where", "the processor, and of real hosts whose", lambda one: one.loss.where),
        number("lost_ns", "for so long it was not there, at the least", lambda one: one.loss.lost_ns),
        number("share", "of the time that the launch took", lambda one: one.loss.share),
    )  # fmt: skip

    @property
    def done_again(self) -> int:
        """How many launches were thrown away and done again: one that was so twice counts twice."""
        return len({(one.launch, one.time) for one in self if not one.kept})

    @property
    def kept(self) -> int:
        """How many launches stand in the run although they lost their time."""
        return len({one.launch for one in self if one.kept})


def lost_times(run: Run) -> LostTimes:
    """Of a run, by launch. Empty where none lost its time."""
    thrown = query.lost(run)
    again = {one.launch: one.time for one in thrown}
    found = [
        LostTime(launch=one.launch, block=one.block, near=one.near, far=one.far, stack=one.stack, ask=one.ask,
                 sentinel=one.sentinel, time=one.time, kept=False, loss=loss)
        for one in thrown for loss in one.losses
    ]  # fmt: skip
    found += [
        LostTime(launch=one.launch, block=one.block, near=one.near, far=one.far, stack=one.stack, ask=one.ask,
                 sentinel=one.sentinel, time=again.get(one.launch, 0) + 1, kept=True, loss=loss)
        for one in query.launch_records(run) for loss in one.losses
    ]  # fmt: skip
    return LostTimes(runs=(run.id,), items=tuple(sorted(found, key=lambda one: (one.launch, one.time))))
