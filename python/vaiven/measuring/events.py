# SPDX-License-Identifier: BSD-3-Clause
"""How a measurement goes on, for whoever asked for it: typed events, each of which says itself in one line as text.

Nothing is measured while an event is told: whoever hears it must not take long.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from vaiven.model.numbers import duration_text, percent_text, size_text, time_text
from vaiven.plan import stop
from vaiven.plan.design import Design
from vaiven.plan.ground import Ground
from vaiven.plan.order import Launch
from vaiven.plan.schema import Plan, Stop
from vaiven.store.record import Cell, Loss, LostLaunch, Refined


@dataclass(frozen=True, slots=True, kw_only=True)
class Began:
    """The run directory is there. plan: as it is carried out; design, ground: what that is, and where."""

    path: Path
    plan: Plan = field(repr=False)
    design: Design = field(repr=False)
    ground: Ground = field(repr=False)

    def __str__(self) -> str:
        return f"measuring into {self.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned:
    """Something that a reader of the run must know. code: a word for programs. text: a sentence."""

    code: str
    text: str

    def __str__(self) -> str:
        return f"warning: {self.code}: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchBegan:
    """number, block: of the launch, from 0. launches_left, left_s: until the stopping rule looks next."""

    number: int
    block: int
    stack: str
    ask: str
    near: str
    far: str
    sentinel: bool
    launches_left: int
    left_s: float

    def __str__(self) -> str:
        what = "sentinel" if self.sentinel else f"{self.stack} {self.ask}"
        left = f"{self.launches_left} launches, {duration_text(self.left_s)} to the next look"
        return f"launch {self.number + 1}: {what}, {self.near} to {self.far} ({left})"


@dataclass(frozen=True, slots=True, kw_only=True)
class CellTimed:
    """A size of a launch is done. median_ns: of its samples, as recorded (a ping-pong is a round trip); infinite where
    most were lost."""

    launch: int
    block: int
    stack: str
    ask: str
    near: str
    far: str
    sentinel: bool
    size_bytes: int
    median_ns: float

    def __str__(self) -> str:
        time = "lost" if math.isinf(self.median_ns) else time_text(self.median_ns)
        return f"launch {self.launch + 1}: {self.stack} {self.ask}, {size_text(self.size_bytes)}: {time}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLost:
    """The machine took from a launch what belonged to it. losses: what says so, the gravest first. again: nothing of it
    was kept, and it is done again later in its block; else it is kept, and marked. time: how often that has happened to
    this launch, from 1."""

    launch: int
    block: int
    stack: str
    ask: str
    near: str
    far: str
    sentinel: bool
    time: int
    again: bool
    losses: tuple[Loss, ...]

    def __str__(self) -> str:
        worst = self.losses[0]
        what = f"{percent_text(worst.share)} of its time on {worst.where} ({time_text(worst.lost_ns)}, {worst.witness})"
        then = "it is done again" if self.again else "it is kept, and marked: it was done again often enough"
        return f"launch {self.launch + 1}: {self.stack} {self.ask} lost {what}: {then}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """The stopping rule looked, after so many launches of each stack. half_width: relative, of the median that is known
    worst, which is that of `cell`; None where it has no interval yet. wanted: the half-width that the plan wants; None
    where it wants a count of launches alone. done: no more launches are needed."""

    launches: int
    cell: str
    half_width: float | None
    wanted: float | None
    achieved: bool
    done: bool

    def __str__(self) -> str:
        begin = f"after {self.launches} launches of each stack"
        if self.achieved and self.wanted is not None:
            return f"{begin} every median is known to {100 * self.wanted:g} %: enough"
        width = "has no interval yet" if self.half_width is None else f"is known to {percent_text(self.half_width)}"
        state = "not achieved" if self.done else "it goes on"
        more = "" if self.wanted is None else f" (wanted: {100 * self.wanted:g} %): {state}"
        return f"{begin} the median of {self.cell} {width}{more}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SizesAdded:
    """A look after so many blocks added sizes to later launches. why: in words."""

    blocks: int
    stack: str
    ask: str
    near: str
    far: str
    sizes_bytes: tuple[int, ...]
    why: str

    def __str__(self) -> str:
        sizes = " ".join(map(str, self.sizes_bytes))
        where = f"{self.stack} {self.ask} {self.near} {self.far}"
        return f"{self.blocks} launches: {where}: {self.why}: from now on also {sizes} B"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The run is whole. achieved: whether the stopping rule got what the plan wanted."""

    path: Path
    launches: int
    achieved: bool

    def __str__(self) -> str:
        return f"{'done' if self.achieved else 'not achieved'}: {self.launches} launches in {self.path}"


Event = Began | Warned | LaunchBegan | CellTimed | TimeLost | Looked | SizesAdded | Ended
OnEvent = Callable[[Event], None]


@dataclass(frozen=True)
class Relay:
    """What run.carry tells, as events. A Watcher."""

    on_event: OnEvent
    rule: Stop

    def launch_begins(self, launch: Launch, block: int, launches_left: int, left_s: float) -> None:
        self.on_event(
            LaunchBegan(
                number=launch.number, block=block, stack=launch.stack.name, ask=launch.ask, near=launch.near,
                far=launch.far, sentinel=launch.sentinel, launches_left=launches_left, left_s=left_s,
            )
        )  # fmt: skip

    def cell(self, launch: Launch, cell: Cell, median_ns: float) -> None:
        self.on_event(
            CellTimed(
                launch=launch.number, block=launch.block, stack=launch.stack.name, ask=launch.ask, near=launch.near,
                far=launch.far, sentinel=launch.sentinel, size_bytes=cell.size_bytes, median_ns=median_ns,
            )
        )  # fmt: skip

    def warning(self, code: str, text: str) -> None:
        self.on_event(Warned(code=code, text=text))

    def looked(self, look: stop.Look) -> None:
        wanted = None if self.rule.is_count else self.rule.half_width
        self.on_event(
            Looked(launches=look.launches, cell=look.cell, half_width=look.half_width, wanted=wanted,
                   achieved=look.achieved, done=look.done)
        )  # fmt: skip

    def refined(self, refined: Refined) -> None:
        for one in refined.additions:
            self.on_event(
                SizesAdded(blocks=refined.blocks, stack=one.stack, ask=one.ask, near=one.near, far=one.far,
                           sizes_bytes=one.sizes_bytes, why=one.why)
            )  # fmt: skip

    def lost(self, lost: LostLaunch, again: bool) -> None:
        self.on_event(
            TimeLost(
                launch=lost.launch, block=lost.block, stack=lost.stack, ask=lost.ask, near=lost.near, far=lost.far,
                sentinel=lost.sentinel, time=lost.time, again=again, losses=lost.losses,
            )
        )  # fmt: skip
