# SPDX-License-Identifier: BSD-3-Clause
"""Carries a plan out: block after block, one launch at a time, until the plan's rule says that it is enough.

Launches of one round run at the same time, where the plan wants it so: each in a thread that waits for its probes. A
launch that fails is tried once more and then recorded as failed. What failed in its first two launches, or on a
host that no longer answers, is left out from then on: the rest of the run goes on. A launch that loses its time
(run.lost) is done again later in its block, with those that ran at the same time.
"""

from __future__ import annotations

import queue
import statistics
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from vaiven import questions
from vaiven.errors import VaivenError
from vaiven.plan import order, stop
from vaiven.plan.design import Available, Design
from vaiven.plan.order import Key, Launch
from vaiven.plan.schema import Plan
from vaiven.run import hosts, jobs, launchers, lost, path, reading, sides, signals
from vaiven.run.launchers import Heard, Outcome, Setting
from vaiven.run.place import Place, ground
from vaiven.run.remaining import Remaining
from vaiven.store.record import Addition, Cell, End, LaunchRecord, Look, Loss, LostLaunch, Record, Refined

ATTEMPTS = 2
_CHANCES = 2  # launches in which a stack on a pair may fail before it has ever worked
_FOR_GOOD = ("no-mpi", "mpi-version", "no-pvm", "no-probe", "no-program")  # failures that no second attempt mends

CellKey = tuple[str, str, str, str, int]  # (stack, question, near, far, bytes)
# (what was launched, size -> block -> median of its launch in ns, size -> what its frames take one way, as far as
# that is known, what looks added so far) -> what to add.
Refiner = Callable[[Key, Mapping[int, Mapping[int, float]], Mapping[int, int], Sequence[Addition]], Sequence[Addition]]


class Watcher(Protocol):
    """Is told how a run goes on, one thing at a time. No method may take long: nothing is measured meanwhile."""

    def launch_begins(self, launch: Launch, block: int, launches_left: int, left_s: float) -> None:
        """left_s: seconds until the next look of the stopping rule."""

    def cell(self, launch: Launch, cell: Cell, median_ns: float) -> None: ...

    def warning(self, code: str, text: str) -> None: ...

    def looked(self, look: stop.Look) -> None: ...

    def refined(self, refined: Refined) -> None: ...

    def lost(self, lost: LostLaunch, again: bool) -> None:
        """again: nothing of it is kept, and it is done again; else it is kept and marked."""


@dataclass(frozen=True)
class Attempt:
    """What became of one attempt at a launch. grown: what crossed its interfaces. began_s, took_s: monotonic time.
    losses: what it lost of its time, if that is too much."""

    outcome: Outcome
    grown: path.Grown | None
    began_s: float
    took_s: float
    losses: tuple[Loss, ...] = ()


@dataclass
class Carrying:
    """A run that is being carried out: `carry_out` is the way in.

    refiner: None where the plan adds no sizes. medians_ns: cell -> block -> the median of its launch; wire_ns: cell ->
    what its frames take one way. looks: what the rule saw so far; refined: what its looks added. failures: key ->
    launches that failed before one worked.
    """

    plan: Plan
    design: Design
    place: Place
    known: Mapping[str, Available]
    record: Record
    watcher: Watcher
    interval: stop.Interval
    refiner: Refiner | None = None
    medians_ns: dict[CellKey, dict[int, float]] = field(default_factory=dict)
    wire_ns: dict[CellKey, int] = field(default_factory=dict)
    looks: list[stop.Look] = field(default_factory=list)
    refined: list[Refined] = field(default_factory=list)
    failures: dict[Key, int] = field(default_factory=dict)
    lost_hosts: set[str] = field(default_factory=set)
    failed: int = 0

    def __post_init__(self) -> None:
        self._remaining = Remaining(self.design, self.plan, ground(self.place, self.known))
        self._finished = self.record.finished
        self._began_s = time.monotonic()
        self._telling = threading.Lock()
        self._times_lost: dict[int, int] = {}  # launch -> how often it lost its time and was put back
        self._put_back: set[int] = set()  # those that wait for another turn
        self._setting = Setting(
            dict(self.known), self.plan.effort, self.place.link, self._began_s, one_clock=self.place.is_lab,
            sides=self.plan.sides,
        )  # fmt: skip

    def recall(
        self, rows: Iterable[Mapping[str, Any]], refined: Iterable[Refined] = (), put_back: Iterable[LostLaunch] = ()
    ) -> None:
        """Takes note of what was before this process: rows of store.query.launches, what looks added, and which
        launches lost their time."""
        for row in rows:
            key = row["stack"], row["ask"], row["near"], row["far"]
            ns = row["ns_median"]
            cell = (*key, row["size_bytes"])
            self.medians_ns.setdefault(cell, {})[row["block"]] = float("inf") if ns is None else ns
            if row["wire_ns"] is not None:
                self.wire_ns[cell] = row["wire_ns"]
            self.failures[key] = -1
        self.refined.extend(refined)
        self._times_lost.update((one.launch, one.time) for one in put_back)

    def carry_out(self) -> End:
        """All blocks until the end. VaivenError ("nothing-measured", "disk-full", ...) leaves a run to be resumed."""
        for number in range(self.plan.stop.launches_max):
            self._block(number)
            look = self._look(number + 1)
            if look and not self._refine(number + 1) and look.done:
                return self._end(number + 1, look)
        raise AssertionError("the stopping rule always ends at launches_max")

    def _look(self, blocks: int) -> stop.Look | None:
        """Looks at these blocks alone, even when later ones are known: a run that is resumed sees what it saw."""
        medians = {cell_name(*cell): list(ns.values()) for cell, ns in self._until(blocks) if ns}
        look = stop.look(self.plan.stop, blocks, medians, self.interval)
        if look:
            self.looks.append(look)
            self.watcher.looked(look)
        return look

    def _until(self, blocks: int) -> Iterator[tuple[CellKey, dict[int, float]]]:
        """The medians of the first blocks alone."""
        for cell, of_block in self.medians_ns.items():
            yield cell, {block: ns for block, ns in sorted(of_block.items()) if block < blocks}

    def _refine(self, blocks: int) -> bool:
        """Adds sizes to the launches after this look, if the plan wants it and enough of them are left; did it?"""
        if any(one.blocks == blocks for one in self.refined):
            return True
        gone_on = max(self._finished, default=-1) >= blocks * self.design.launches_per_block
        refiner = self.refiner
        if not refiner or gone_on or blocks + self.plan.stop.launches_needed > self.plan.stop.launches_max:
            return False
        curves = self._curves(blocks)
        found = [one for key, curve in curves.items() for one in refiner(key, curve, self._wire(key), self._added(key))]
        if found:
            self.refined.append(Refined(blocks=blocks, additions=tuple(found)))
            self.record.refine(self.refined[-1])
            self.watcher.refined(self.refined[-1])
        return bool(found)

    def _curves(self, blocks: int) -> dict[Key, dict[int, dict[int, float]]]:
        """What was launched -> size -> block -> median of its launch."""
        curves: dict[Key, dict[int, dict[int, float]]] = {}
        for (stack, ask, near, far, size), of_block in self._until(blocks):
            curves.setdefault((stack, ask, near, far), {})[size] = of_block
        return curves

    def _wire(self, key: Key) -> dict[int, int]:
        """Size -> what its frames take one way."""
        return {size: ns for (*of, size), ns in self.wire_ns.items() if tuple(of) == key}

    def _added(self, key: Key) -> list[Addition]:
        return [one for look in self.refined for one in look.additions if one.key == key]

    def _launches(self, number: int) -> tuple[Launch, ...]:
        """Of block `number`, with the sizes that the looks before it added."""
        sizes: dict[Key, list[int]] = {}
        for one in (one for look in self.refined if look.blocks <= number for one in look.additions):
            sizes.setdefault(one.key, []).extend(one.sizes_bytes)
        return order.block(self.design, number, sizes)

    def _end(self, blocks: int, look: stop.Look) -> End:
        reason = "done" if look.achieved or self.plan.stop.is_count else "not-achieved"
        return End(
            reason=reason, blocks=blocks, launches=len(self._finished), failed=self.failed,
            half_width=look.half_width, cell=look.cell,
            looks=tuple(Look(launches=one.launches, half_width=one.half_width, cell=one.cell) for one in self.looks),
        )  # fmt: skip

    def _block(self, number: int) -> None:
        launches = self._launches(number)
        left = list(order.rounds(launches))
        while left:
            together = left.pop(0)
            wanted = [one for one in together if one.number not in self._finished and not self._hopeless(one)]
            for launch in wanted:
                to_look = self._until_look(launch)
                self.watcher.launch_begins(launch, number, len(to_look), self._remaining.left_s(to_look))
            if again := self._round(wanted):
                time = max(self._times_lost[one.number] for one in again)
                left.insert(order.later(self.design, again[0], time, len(left)), again)
        if all(self._hopeless(launch) for launch in launches if not launch.sentinel):
            raise VaivenError("nothing can be measured here any more", "the warnings say why", "nothing-measured")

    def _until_look(self, launch: Launch) -> list[Launch]:
        """The launches from this one to the next look, with those that wait for another turn."""
        look = next(look for look in self.plan.stop.schedule if look > launch.block)
        return [
            one
            for number in range(launch.block, look)
            for one in self._launches(number)
            if one.number >= launch.number or one.number in self._put_back
            if one.number not in self._finished and not self._hopeless(one)
        ]

    def _hopeless(self, launch: Launch) -> bool:
        return bool(launch.hosts & self.lost_hosts) or self.failures.get(launch.key, 0) >= _CHANCES

    def _round(self, launches: Sequence[Launch]) -> tuple[Launch, ...]:
        """Launches at the same time; what fails is tried again, together with what else failed. Those that lost their
        time, and what ran beside them: nothing of these is kept, they are to be done again."""
        left = list(launches)
        for number in range(1, ATTEMPTS + 1):
            failed = []
            attempts = self._attempts(left)
            if self._puts_back(left, attempts):
                return tuple(left)
            for launch, attempt in zip(left, attempts, strict=True):
                for code, text in attempt.outcome.warnings:
                    self._warn(code, text, launch)
                if attempt.outcome.failure is None:
                    self._keep(launch, attempt, number, [one for one in left if one is not launch])
                    continue
                if self._give_up(launch, attempt.outcome.failure):
                    continue
                self._warn(
                    "launch-failed", f"attempt {number} of {ATTEMPTS}: {_words(attempt.outcome.failure)}", launch
                )
                if not self._lost_host(launch):
                    failed.append(launch)
            left = failed
        for launch in left:
            self._failed(launch)
        return ()

    def _puts_back(self, launches: Sequence[Launch], attempts: Sequence[Attempt]) -> bool:
        """Whether these lost their time and may be done again: then that is recorded, and nothing else of them."""
        losses = lost.gravest(one.losses for one in attempts if one.outcome.failure is None)
        if not losses:
            return False
        again = all(self._times_lost.get(one.number, 0) < lost.AGAIN_MAX for one in launches)
        for launch in launches:
            time = self._times_lost.get(launch.number, 0) + 1
            found = LostLaunch(
                launch=launch.number, block=launch.block, stack=launch.stack.name, ask=launch.ask, near=launch.near,
                far=launch.far, sentinel=launch.sentinel, time=time, losses=losses,
            )  # fmt: skip
            self.watcher.lost(found, again)
            if again:
                self._times_lost[launch.number] = time
                self._put_back.add(launch.number)
                self.record.lose(found)
        return again

    def _give_up(self, launch: Launch, failure: VaivenError) -> bool:
        """Leaves out what never worked and never will: something is missing on one of its hosts."""
        if failure.code not in _FOR_GOOD or self.failures.get(launch.key, 0) < 0:
            return False
        self.failed += 1
        self.failures[launch.key] = _CHANCES
        self._warn("given-up", f"left out from now on: {_words(failure)}", launch)
        return True

    def _failed(self, launch: Launch) -> None:
        """A launch that failed in every attempt."""
        self.failed += 1
        if self.failures.get(launch.key, 0) >= 0:
            self.failures[launch.key] = self.failures.get(launch.key, 0) + 1
        if self.failures[launch.key] == _CHANCES:
            self._warn("given-up", "it never worked here: left out from now on", launch)

    def _attempts(self, launches: Sequence[Launch]) -> list[Attempt]:
        """All at the same time, once what their side wants is done. Only the main thread hears Ctrl-C, and ends the
        others then."""
        began_s = time.monotonic()
        if failure := self._unprepared(launches):
            outcome, took_s = Outcome((), {}, (), failure), time.monotonic() - began_s
            return [Attempt(outcome, None, began_s, took_s) for _ in launches]
        if len(launches) < 2:
            return [self._attempt(launch, queue.SimpleQueue(), began_s) for launch in launches]
        heard: list[Heard] = [queue.SimpleQueue() for _ in launches]
        with ThreadPoolExecutor(len(launches)) as pool:
            running = [pool.submit(self._attempt, *one, began_s) for one in zip(launches, heard, strict=True)]
            try:
                return [one.result() for one in running]
            finally:
                with signals.shielded():
                    for one in heard:
                        launchers.end_now(one)
                    wait(running)

    def _unprepared(self, launches: Sequence[Launch]) -> VaivenError | None:
        """Carries out what these launches, which are of one stack, want on their side; why that failed."""
        side = self._setting.side_of(launches[0]) if launches else None
        return sides.prepare(side) if side else None

    def _attempt(self, launch: Launch, heard: Heard, began_s: float) -> Attempt:
        """began_s: when the command of its side did, which is a part of what it takes."""
        near, *fars = (self.place.hosts[name] for name in (launch.near, *launch.fars))
        before = reading.read(near, fars[0], self.place)

        def on_cell(cell: Cell) -> None:
            if cell.whole:
                with self._telling:
                    self.watcher.cell(launch, cell, _median_ns(cell))

        launched = jobs.launch if questions.ALL[launch.ask].program else launchers.launch
        outcome = launched(launch, near, fars, self._setting, on_cell, heard)
        after = reading.read(near, fars[0], self.place)
        if outcome.failure is None and self.known[launch.stack.id].library:
            outcome = replace(outcome, failure=path.refused(outcome.crossed))
        took_s = time.monotonic() - began_s
        return Attempt(outcome, reading.grown(before, after), began_s, took_s, reading.losses(before, after))

    def _keep(self, launch: Launch, attempt: Attempt, number: int, beside: Sequence[Launch]) -> None:
        """Records a launch that worked in attempt `number`, at the same time as those beside it."""
        outcome = attempt.outcome
        resent = sum(cell.resent or 0 for cell in outcome.cells)
        known = (self._crossed(launch, attempt), attempt.grown, self._manner(launch), resent)
        for code, text in path.findings(*known):
            self._warn(code, text, launch)
        record = LaunchRecord(
            launch=launch.number,
            block=launch.block,
            stack=launch.stack.name,
            near=launch.near,
            far=launch.far,
            ask=launch.ask,
            sentinel=launch.sentinel,
            started_s=attempt.began_s - self._began_s,
            took_s=attempt.took_s,
            attempts=number,
            hello=dict(outcome.hello),
            path=path.facts(*known),
            fars=len(launch.fars),
            beside=tuple((one.near, one.far) for one in beside),
            losses=attempt.losses,
        )
        self.record.add(record, outcome.cells, outcome.traces)
        self._finished |= {launch.number}
        self._put_back.discard(launch.number)
        self.failures[launch.key] = -1  # it works: from now on a failure is an accident
        self._remaining.learn(launch, attempt.took_s)
        if not launch.sentinel:
            for cell in filter(lambda one: one.whole, outcome.cells):
                key = (*launch.key, cell.size_bytes)
                self.medians_ns.setdefault(key, {})[launch.block] = _median_ns(cell)
                if cell.wire_ns is not None:
                    self.wire_ns[key] = cell.wire_ns

    def _crossed(self, launch: Launch, attempt: Attempt) -> tuple[path.Crossed, ...]:
        """By end. Where a kernel answers there is nobody who tells; a host of a lab shows its counters all the same,
        and nothing else of ours reaches it. To ask a host over ssh would be traffic itself."""
        told, far, grown = attempt.outcome.crossed, self.place.hosts[launch.fars[0]], attempt.grown
        if len(told) != 1 or not grown or not self.place.is_lab:
            return told
        other = path.echoed(told[0], grown, far.address, far.interface)
        return (*told, other) if other else told

    def _manner(self, launch: Launch) -> path.Manner:
        stack = launch.stack.id
        known, real = self.known[stack], not self.place.is_lab
        return path.manner(stack, known, len(launch.fars), len(launch.hosts), real=real)

    def _lost_host(self, launch: Launch) -> bool:
        """After a failure: is one of its hosts gone?"""
        for name in sorted(launch.hosts):
            error = hosts.answers(self.place.hosts[name])
            if error:
                self.lost_hosts.add(name)
                self._warn("host-down", _words(error), launch)
                return True
        return False

    def _warn(self, code: str, text: str, launch: Launch) -> None:
        where = f"{launch.stack.name} {launch.ask} {launch.near} {launch.far}"
        self.record.warn(code, f"{where}: {text}", launch=launch.number)
        self.watcher.warning(code, f"{where}: {text}")


def cell_name(stack: str, ask: str, near: str, far: str, size_bytes: int) -> str:
    """A cell in words."""
    return f"{stack} {ask} {size_bytes} B {near} {far}"


def _median_ns(cell: Cell) -> float:
    """The median of a cell; a lost message took longer than any other."""
    times = [float("inf") if ns is None else ns for ns in cell.ns]
    return statistics.median(times) if times else float("inf")


def _words(error: VaivenError) -> str:
    return "; ".join(" ".join(line.split()) for line in str(error).splitlines())
