# SPDX-License-Identifier: BSD-3-Clause
"""Writing a run directory, launch by launch (its layout: ARCHITECTURE.md, seam 4).

    record = Record.create(root, manifest)      or  Record.resume(path)
    record.add(launch, cells)                   after each launch
    record.end(end)                             once

While a Record is open it holds a lock on the run's manifest, so nobody else writes there, and readers can tell a
run that goes on from one that was killed.
"""

from __future__ import annotations

import datetime
import fcntl
import os
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec

from vaiven import questions
from vaiven.errors import VaivenError
from vaiven.questions import WHOLE_PARTS
from vaiven.store import digest, files

SCHEMA = 3
MANIFEST, END, WARNINGS = "manifest.json", "end.json", "warnings.jsonl"
REFINED, LOST = "refined.jsonl", "lost.jsonl"
MEDIANS = "medians.parquet"
SAMPLES, CELLS, TRACES, LAUNCHES = "samples", "cells", "traces", "launches"
PART, DOCUMENT = ".parquet", ".json"
GROWING = (WARNINGS, REFINED, LOST)
SETUP_PART = "setup"
END_PART = "to:"
STEPS = tuple(questions.STEPS.beside)
LOOKED = ("first", "second", "idled")  # the messages of a connection that was looked at


class CourseRecord(msgspec.Struct, kw_only=True, frozen=True):
    """What a design asks of one stack: plan.design.Course, as a manifest has it."""

    stack: str
    ask: str = questions.PLAIN
    sizes_bytes: tuple[int, ...] = ()
    own_pairs: tuple[tuple[str, str], ...] = ()


class DesignRecord(msgspec.Struct, kw_only=True, frozen=True):
    """plan.design.Design, as a manifest has it."""

    pairs: tuple[tuple[str, str], ...] = ()
    courses: tuple[CourseRecord, ...] = ()
    sentinel: CourseRecord | None = None
    seed: int = 1
    warnings: tuple[str, ...] = ()
    rounds: bool = False

    def asks(self, question: str) -> bool:
        """Whether some stack is asked that."""
        return any(course.ask == question for course in self.courses)


class LinkRecord(msgspec.Struct, kw_only=True, frozen=True):
    """The wire between two hosts: plan.schema.Link, as a manifest has it. None: nobody knows."""

    rate_bps: int | None = None
    hops: int | None = None
    mtu_bytes: int | None = None


class LabPlace(msgspec.Struct, kw_only=True, frozen=True, omit_defaults=True, tag="lab", tag_field="kind"):
    """A lab. lab: its file, as lab.topology reads it. hosts: those that were wanted, in that order; all of them if none
    is named. instance: what it was called where it was up before. calibration: of a timed one, as it was then."""

    lab: dict[str, Any]
    hosts: tuple[str, ...] = ()
    instance: str = ""
    calibration: dict[str, Any] | None = None


class HostsPlace(msgspec.Struct, kw_only=True, frozen=True, omit_defaults=True, tag="hosts", tag_field="kind"):
    """Real hosts as the user asked for them. bind: host -> address. interface, ports: the same on all hosts.

    libraries: those whose probes are copied there too; programs: and these. awake: their processors are held awake
    meanwhile.
    """

    names: tuple[str, ...] = ()
    interface: str = ""
    ports: str = ""
    bind: dict[str, str] = msgspec.field(default_factory=dict)
    libraries: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    awake: bool = False


class Manifest(msgspec.Struct, kw_only=True, frozen=True):
    """What a run is, written first and once.

    plan_text: as the user wrote it, "" without a file. plan: as it was carried out, for plan.schema to read. design:
    with it the order of every launch is known. place: where it was measured, enough to go there again. hosts: name ->
    address, interface, architecture and inventory (S17). link: the wire, None where nobody said. environment: facts of
    the machine that drives the run.
    """

    schema: int = SCHEMA
    id: str = ""
    created_utc: str = ""
    title: str
    plan_name: str
    plan_text: str
    plan: dict[str, Any]
    design: DesignRecord
    place: LabPlace | HostsPlace
    hosts: dict[str, dict[str, Any]]
    link: LinkRecord | None
    versions: dict[str, str]
    environment: dict[str, Any]

    @property
    def lab(self) -> dict[str, Any] | None:
        """The file of its lab; None of real hosts."""
        return self.place.lab if isinstance(self.place, LabPlace) else None

    @property
    def calibration(self) -> dict[str, Any] | None:
        """That of its lab; None of real hosts, and of labs that keep no time."""
        return self.place.calibration if isinstance(self.place, LabPlace) else None


class Look(msgspec.Struct, kw_only=True, frozen=True):
    """One look of the stopping rule, after so many launches of each stack.

    half_width: relative, of the median that is known worst, which is that of `cell`; None where it has no interval.
    """

    launches: int
    half_width: float | None
    cell: str


class Addition(msgspec.Struct, kw_only=True, frozen=True):
    """Sizes that were added to every later launch of one stack and question from near to far.

    why: in words. knee: to confirm one; else because interpolation failed. low_bytes, high_bytes: the span in which
    the curve was not known well enough.
    """

    stack: str
    ask: str
    near: str
    far: str
    sizes_bytes: tuple[int, ...]
    why: str
    knee: bool
    low_bytes: float
    high_bytes: float

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.stack, self.ask, self.near, self.far


class Refined(msgspec.Struct, kw_only=True, frozen=True):
    """What the look after so many blocks added."""

    blocks: int
    additions: tuple[Addition, ...]


class Loss(msgspec.Struct, kw_only=True, frozen=True):
    """Time that a processor was not there for a launch, as one witness saw it (run.lost).

    witness: "steal" or "real-time". where: the processor, "cpu1", and of real hosts whose: "h1 cpu1". lost_ns: at the
    least, of the of_ns that the launch was watched.
    """

    witness: str
    where: str
    lost_ns: int
    of_ns: int

    @property
    def share(self) -> float:
        return self.lost_ns / self.of_ns


class LostLaunch(msgspec.Struct, kw_only=True, frozen=True):
    """A launch that worked and lost its time: nothing of it was kept, and it is done again later in its block.

    losses: what says so, the gravest first. time: how often that has happened to this launch, from 1.
    """

    launch: int
    block: int
    stack: str
    ask: str
    near: str
    far: str
    sentinel: bool
    time: int
    losses: tuple[Loss, ...]


class End(msgspec.Struct, kw_only=True, frozen=True):
    """How a run ended: "done", or "not-achieved" when launches_max came before the wanted half-width.

    half_width, cell: as the last look found them. looks: all of them, the last one too. launches: how many are
    recorded. digests: of the files that grew while the run went on, and of the medians, by name.
    """

    schema: int = SCHEMA
    ended_utc: str = ""
    reason: str
    blocks: int
    launches: int
    failed: int
    half_width: float | None
    cell: str
    looks: tuple[Look, ...] = ()
    digests: dict[str, str] = msgspec.field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class LaunchRecord:
    """One finished launch. hello: what the probe said of itself; path: what crossed the interfaces.

    far: the host of its far end, or of all `fars` of them. beside: the (near, far) that ran at the same time. losses:
    of one that is kept although it lost its time, for it was done again often enough, what says so; else nothing.
    digests: of its parts, by kind; known when they are written.
    """

    launch: int
    block: int
    stack: str
    near: str
    far: str
    ask: str
    sentinel: bool = False
    started_s: float = 0.0
    took_s: float = 0.0
    attempts: int = 1
    hello: dict[str, Any] = field(default_factory=dict)
    path: dict[str, Any] = field(default_factory=dict)
    fars: int = 1
    beside: tuple[tuple[str, str], ...] = ()
    losses: tuple[Loss, ...] = ()
    digests: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One cell of a launch. ns: one entry per timed exchange in order, None where the message was lost.

    part: one that the entry of its question names (questions), which also says which of them stands for the question;
    "to:N" for far end number N of several; SETUP_PART of the sessions that a program sets up, one before each message.
    gap_ns: between the messages of a spaced train. resent: segments that were sent again. clock: how times of two
    hosts were compared, "common", "bounded", "barrier" or "refused" (then no time is told), to within clock_error_ns.
    overlap: of several at once, the share of their time in which all of them ran. out_bytes, in_bytes: of steps, what
    the library held of a message in buffers of its own, of one that was sent and of one that came. translations: of
    steps, how often the near end turned the numbers of these two messages from one representation into another.
    window_segments, threshold_segments: of a first, TCP's congestion window at the near end behind that message (behind
    "connect" the initial one), and where slow start ends, None while nobody knows; medians.
    """

    ask: str
    size_bytes: int
    ns: Sequence[int | None]
    batch: int = 1
    lost: int = 0
    late: int = 0
    corrupt: int = 0
    warmup: int = 0
    warm: bool = True
    started_s: float = 0.0
    cpu_near_ns: float | None = None
    cpu_far_ns: float | None = None
    wire_frames: int | None = None
    wire_bytes: int | None = None
    wire_ns: int | None = None
    part: str = ""
    gap_ns: int | None = None
    resent: int | None = None
    clock: str = ""
    clock_error_ns: int | None = None
    overlap: float | None = None
    out_bytes: int | None = None
    in_bytes: int | None = None
    translations: int | None = None
    window_segments: float | None = None
    threshold_segments: float | None = None

    @property
    def whole(self) -> bool:
        """Whether its times stand for its question: of a prtt only single round trips do, of several ends the last."""
        return self.part in WHOLE_PARTS


class Segment(NamedTuple):
    """One TCP segment, or a batch of them that nobody had cut yet, as it passed an end.

    at_ns: CLOCK_REALTIME of that end. out: that end sent it. syn: it opens the connection. seq: bytes of its direction
    before it, -1 of a SYN. ack: bytes of the other direction that had come; -1 where it says nothing of them.
    """

    at_ns: int
    out: bool
    syn: bool
    seq: int
    ack: int
    data_bytes: int


@dataclass(frozen=True, kw_only=True)
class Trace:
    """What the ends of a launch saw of one connection that asked `ask` with messages of that size.

    segment_bytes: of data in a full segment. began_ns: when each of its messages was begun (LOOKED), by the near end's
    clock. near, far: in the order in which they passed; dropped: how many each of the two missed.
    """

    ask: str
    size_bytes: int
    segment_bytes: int
    began_ns: tuple[int, ...]
    near: tuple[Segment, ...]
    far: tuple[Segment, ...]
    dropped: tuple[int, int] = (0, 0)


class Record:
    """An open run directory. A context manager: leaving it gives up the lock, whatever happened."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        """Takes the lock of an existing directory; use create or resume."""
        self.path = path
        self.manifest = manifest
        self._lock = os.open(path / MANIFEST, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._lock)
            raise VaivenError(f"the run {path.name} is still going on", "wait for it", code="run-busy") from error

    @classmethod
    def create(cls, root: Path, manifest: Manifest) -> Self:
        """A new run below `root` (made if need be), with an id of its own."""
        now = datetime.datetime.now(datetime.UTC)
        manifest = msgspec.structs.replace(manifest, id=_new_id(manifest.title, now), created_utc=_utc(now))
        path = root / manifest.id
        try:
            path.mkdir(parents=True)
            for part in (SAMPLES, CELLS, LAUNCHES):
                (path / part).mkdir()
        except OSError as error:
            raise files.cannot_write(path, error) from error
        files.write_whole(path / MANIFEST, _json(manifest))
        return cls(path, manifest)

    @classmethod
    def resume(cls, path: Path, manifest: Manifest) -> Self:
        """The run at `path`, to go on with. VaivenError ("run-ended", "run-busy", "run-damaged")."""
        if (path / END).exists():
            raise VaivenError(f"the run {path.name} has ended: it is never changed", "start a new one", "run-ended")
        for name in (SAMPLES, CELLS, TRACES, LAUNCHES):
            if (path / name).is_symlink():
                raise VaivenError(f"{path / name} leads out of the run", "start a new one", code="run-damaged")
        record = cls(path, manifest)
        try:
            record._drop_cut_off()
        except VaivenError:
            record.__exit__()
            raise
        return record

    def _drop_cut_off(self) -> None:
        """Takes away what a crash left: parts of a launch that was cut off between its files, and torn lines."""
        finished = self.finished
        for kind in (SAMPLES, CELLS, TRACES):
            for number in files.numbers(self.path / kind, PART):
                if number not in finished:
                    (self.path / kind / files.numbered(number, PART)).unlink()
        for name in GROWING:
            files.drop_torn_line(self.path / name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._lock)

    @property
    def finished(self) -> frozenset[int]:
        """The numbers of the launches that are recorded."""
        return frozenset(files.numbers(self.path / LAUNCHES, DOCUMENT))

    def add(self, launch: LaunchRecord, cells: Sequence[Cell], traces: Sequence[Trace] = ()) -> None:
        """Records a finished launch. VaivenError ("disk-full", "cannot-write"): the launches before it stay."""
        from vaiven.store import parts

        written = {SAMPLES: parts.samples(launch, cells), CELLS: parts.cells(launch, cells)}
        if traces:
            written[TRACES] = parts.traces(launch, traces)
            self._make_room()
        for kind, data in written.items():
            files.write_whole(self.path / kind / files.numbered(launch.launch, PART), data)
        launch = replace(launch, digests={kind: digest.of(data) for kind, data in written.items()})
        # Last: now the launch exists.
        files.write_whole(self.path / LAUNCHES / files.numbered(launch.launch, DOCUMENT), _json(launch))

    def _make_room(self) -> None:
        """For traces, which few runs have. VaivenError as `add`."""
        try:
            (self.path / TRACES).mkdir(exist_ok=True)
        except OSError as error:
            raise files.cannot_write(self.path, error) from error

    def warn(self, code: str, text: str, **facts: Any) -> None:
        """Appends a warning: what a reader of this run must know."""
        line = {"code": code, "text": text, "at_utc": _utc(datetime.datetime.now(datetime.UTC)), **facts}
        files.append_line(self.path / WARNINGS, digest.sealed(msgspec.json.encode(line)))

    def refine(self, refined: Refined) -> None:
        """Appends the sizes that a look added, before the first launch that has them."""
        files.append_line(self.path / REFINED, digest.sealed(msgspec.json.encode(refined)))

    def lose(self, lost: LostLaunch) -> None:
        """Appends a launch that lost its time and is done again."""
        files.append_line(self.path / LOST, digest.sealed(msgspec.json.encode(lost)))

    def end(self, end: End) -> None:
        """Writes the medians of its cells and how the run ended; after this it is never changed.

        VaivenError as `add`, and "run-damaged": its parts are not what was written.
        """
        from vaiven.store import medians, query

        summary = medians.written(query.open_run(self.path))
        files.write_whole(self.path / MEDIANS, summary)
        grown = {path.name: digest.of(path.read_bytes()) for path in map(self.path.joinpath, GROWING) if path.exists()}
        now = _utc(datetime.datetime.now(datetime.UTC))
        ended = msgspec.structs.replace(end, ended_utc=now, digests=grown | {MEDIANS: digest.of(summary)})
        files.write_whole(self.path / END, _json(ended))


def _new_id(title: str, now: datetime.datetime) -> str:
    """ "20260131-174500-what-a-message-costs-3fa9": sorts by time, is a plain file name, and is nobody else's."""
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:32].strip("-")
    return "-".join(filter(None, (now.strftime("%Y%m%d-%H%M%S"), words, secrets.token_hex(3))))


def _utc(now: datetime.datetime) -> str:
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")


def _json(value: object) -> bytes:
    return digest.sealed(msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n")
