# SPDX-License-Identifier: BSD-3-Clause
"""What a probe prints, line by line, as values (seam 1 of ARCHITECTURE.md). Pure: lines in, values out."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from vaiven import questions
from vaiven.errors import VaivenError
from vaiven.plan.design import Available
from vaiven.plan.sweep import Limits
from vaiven.run.path import Crossed
from vaiven.store.record import LOOKED, SETUP_PART, Cell, Segment, Trace

SCHEMA = 1
_BEGIN = b'{"type":"'  # of a record, and nowhere in one


class Wire(msgspec.Struct):
    """What one message is on the wire; each None where the probe was not told enough."""

    frames: int | None = None
    bytes: int | None = None
    ns: int | None = None


class Clock(msgspec.Struct):
    """How times of two hosts were compared."""

    kind: str
    error_ns: int


class CellRecord(msgspec.Struct):
    """A "cell" record. The times stand under the name of what they are."""

    ask: str
    size_bytes: int
    lost: int
    batch: int = 1
    train: int = 1
    part: str = ""
    gap_ns: int | None = None
    rtt_ns: list[int] | None = None
    connect_ns: list[int] | None = None
    last_ns: list[int | None] | None = None
    send_ns: list[int] | None = None
    receive_ns: list[int] | None = None
    late: int = 0
    warmup: int = 0
    warm: bool = True
    corrupt: int = 0
    cpu_near_ns: float | None = None
    cpu_far_ns: float | None = None
    wire: Wire | None = None
    far: list[str] | str = ""
    each_ns: list[list[int]] = []
    setup_ns: list[int] = []
    resent: list[int] | None = None
    clock: Clock | None = None
    both_ns: list[int] | None = None
    talk_ns: list[int] = []
    work_ns: list[int] = []
    encode_ns: list[int] = []
    decode_ns: list[int] = []
    translate_ns: list[int] = []
    out_bytes: int | None = None
    in_bytes: int | None = None
    translations: int | None = None
    began_ns: list[int] = []
    ended_ns: list[int] = []
    first_ns: list[int | None] | None = None
    second_ns: list[int] = []
    warm_ns: list[int] = []
    idled_ns: list[int] = []
    window_segments: dict[str, list[int]] = {}
    threshold_segments: list[int | None] = []
    marked_ns: list[int] = []
    far_ns: list[int] = []
    there_ns: dict[str, list[int]] = {}
    back_ns: dict[str, list[int]] = {}
    whole_ns: list[int] | None = None
    computing_ns: list[int] = []
    communicating_ns: list[int] = []


class SeenRecord(msgspec.Struct):
    """What one end says of a connection that was looked at: each segment as the fields of store.record.Segment."""

    segments: list[tuple[int, int, int, int, int, int]]
    dropped: int = 0


class TraceRecord(msgspec.Struct):
    """A "trace" record."""

    ask: str
    size_bytes: Annotated[int, Meta(ge=1)]
    segment_bytes: int
    began_ns: Annotated[list[int], Meta(min_length=len(LOOKED), max_length=len(LOOKED))]
    near: SeenRecord
    far: SeenRecord


class StackRecord(msgspec.Struct):
    """A "stack" record of `vaiven-probe stacks`."""

    stack: str
    size_bytes_min: int
    size_bytes_max: int
    kernel_echo: bool
    alone: bool
    datagram: bool
    two_writes: bool
    to_all: bool
    at_once: bool
    probe: str
    needs: str | None = None
    program: str | None = None
    summary: str = ""
    joined: bool = False
    ranked: bool = False
    spins: bool = False
    steps: bool = False
    starts: bool = False
    own_tcp: bool = False
    marks: bool = False


@dataclass
class Story:
    """What one end of a launch has told so far.

    ready, hello: those records. crossed: what ends saw at their interfaces. warnings: (code, text). error: the one that
    ended it. bye: it said that it was done.
    """

    ready: dict[str, Any] = field(default_factory=dict)
    hello: dict[str, Any] = field(default_factory=dict)
    cells: list[Cell] = field(default_factory=list)
    traces: list[Trace] = field(default_factory=list)
    crossed: list[Crossed] = field(default_factory=list)
    warnings: list[tuple[str, str]] = field(default_factory=list)
    error: VaivenError | None = None
    bye: bool = False

    def hear(self, line: bytes, started_s: float) -> Cell | None:
        """Takes one line; the cell if it was one, which began at started_s of the run.

        VaivenError ("bad-record") for what is no record of this schema. Records of unknown types are passed over.
        """
        record = decode(line)
        kind = record.get("type")
        if kind == "cell":
            found = cells(record, started_s)
            self.cells.extend(found)
            if "limits" in record:  # what its connection can do
                self.hello["limits"] = record["limits"]
            return found[0]
        if kind in questions.PROGRAMS:
            found = cells(problem(record), started_s)
            self.cells.extend(found)
            self.hello |= {key: value for key, value in record.items() if not key.endswith("_ns")}
            return found[0]
        if kind == "trace":
            self.traces.append(trace(record))
        elif kind in ("ready", "hello"):
            setattr(self, kind, record)
        elif kind == "traffic":
            self.crossed.append(_convert(record, Crossed))
        elif kind == "warning":
            self.warnings.append((str(record.get("code", "warning")), str(record.get("text", ""))))
        elif kind == "error":
            texts = (str(record.get(key) or "") for key in ("text", "remedy", "code"))
            self.error = self.error or VaivenError(*texts)  # the first says why, the others follow from it
        elif kind == "bye":
            self.bye = True
        return None


def untangled(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines as ranks printed them. A launcher passes on what a rank prints in pieces (Open MPI of 4096 bytes), and
    puts records of others between two of them."""
    piece = b""
    for line in lines:
        begin = line.rfind(_BEGIN)
        if begin > 0:
            piece += line[:begin]
            yield line[begin:]
        elif piece and begin < 0:
            yield piece + line
            piece = b""
        else:
            yield line
    if piece:
        yield piece


def decode(line: bytes) -> dict[str, Any]:
    """One record. VaivenError ("bad-record", "probe-schema")."""
    try:
        record = msgspec.json.decode(line, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        shown = line[:80].decode(errors="replace")
        raise VaivenError(f"the probe printed what is no record: {shown!r}", str(error), code="bad-record") from error
    if record.get("schema", SCHEMA) != SCHEMA:
        raise VaivenError(
            f"the probe speaks schema {record['schema']}, this vaiven {SCHEMA}",
            "install both from one version",
            code="probe-schema",
        )
    return record


def cells(record: dict[str, Any], started_s: float) -> tuple[Cell, ...]:
    """A "cell" record as it is stored; with several far ends, behind it a part "to:N" for each.

    They count from 1; 0 is the near end, where it receives too.

    The lost ones come last: nobody knows when they were due. A train (oneway, prtt) counts as one exchange; batch is
    then its length.
    """
    found = _convert(record, CellRecord)
    times = _times(found)
    if times is None:
        raise VaivenError(f"a cell of {found.ask!r} without times", code="bad-record")
    wire, clock = found.wire or Wire(), found.clock or Clock("", 0)
    whole = Cell(
        ask=found.ask,
        size_bytes=found.size_bytes,
        batch=max(found.batch, found.train),
        ns=[*times, *([None] * found.lost)],
        lost=found.lost,
        late=found.late,
        corrupt=found.corrupt,
        warmup=found.warmup,
        warm=found.warm,
        started_s=started_s,
        cpu_near_ns=found.cpu_near_ns,
        cpu_far_ns=found.cpu_far_ns,
        wire_frames=wire.frames,
        wire_bytes=wire.bytes,
        wire_ns=wire.ns,
        part=found.part,
        gap_ns=found.gap_ns,
        resent=None if found.resent is None else sum(found.resent),
        clock=clock.kind,
        clock_error_ns=clock.error_ns if found.clock else None,
        overlap=_overlap(found.began_ns, found.ended_ns),
        out_bytes=found.out_bytes,
        in_bytes=found.in_bytes,
        translations=found.translations,
        window_segments=_median(found.window_segments.get("first", [])),
    )
    parts = (
        Cell(
            ask=found.ask, size_bytes=found.size_bytes, ns=ns, warm=found.warm, started_s=started_s, part=f"to:{number}"
        )
        for number, ns in enumerate(found.each_ns, len(found.far) - len(found.each_ns) + 1)
    )
    beside = (
        Cell(
            ask=found.ask,
            size_bytes=found.size_bytes,
            ns=ns,
            warm=found.warm,
            started_s=started_s,
            part=part,
            window_segments=_median(found.window_segments.get(part, [])),
            threshold_segments=_median(found.threshold_segments) if part == LOOKED[-1] else None,
        )
        for part, ns in _beside(found).items()
    )
    return (whole, *parts, *beside)


def problem(record: dict[str, Any]) -> dict[str, Any]:
    """The record of a whole program (apps/) as that of a cell. VaivenError ("bad-record")."""
    program = questions.ALL[record["type"]].program
    assert program
    try:
        size_bytes, far = program.size_bytes(record[program.option]), {"far": [""] * (record["ranks"] - 1)}
    except (KeyError, TypeError) as error:
        what = f"{program.name} printed a record without what it should say: {error}"
        raise VaivenError(what, "install both from one version", code="bad-record") from error
    times = {key: value for key, value in record.items() if key.endswith("_ns")}
    return {**times, "type": "cell", "ask": record["type"], "size_bytes": size_bytes, "lost": 0, "warmup": 1, **far}


def trace(record: dict[str, Any]) -> Trace:
    """A "trace" record as it is stored. VaivenError ("bad-record")."""
    found = _convert(record, TraceRecord)
    near, far = (
        tuple(Segment(at_ns, bool(out), bool(syn), *rest) for at_ns, out, syn, *rest in end.segments)
        for end in (found.near, found.far)
    )
    dropped = found.near.dropped, found.far.dropped
    return Trace(
        ask=found.ask,
        size_bytes=found.size_bytes,
        segment_bytes=found.segment_bytes,
        began_ns=tuple(found.began_ns),
        near=near,
        far=far,
        dropped=dropped,
    )


def _beside(found: CellRecord) -> dict[str, list[int]]:
    """Times that stand beside those of the question itself, by part."""
    by_part = {part: _at(found, key) for part, key in questions.ALL[found.ask].beside.items()}
    beside = {part: ns for part, ns in by_part.items() if ns is not None}
    return beside | ({SETUP_PART: found.setup_ns} if found.setup_ns else {})


def _at(found: CellRecord, key: str) -> list[int] | None:
    """The times under that key of a record; None of a layer that its stack does not tell apart."""
    name, _, inner = key.partition(".")
    return getattr(found, name).get(inner) if inner else getattr(found, name) or []


def _median(values: Sequence[int | None]) -> float | None:
    """Of counts, of which most are known; None where they are not."""
    known = [value for value in values if value is not None]
    return statistics.median(known) if 2 * len(known) > len(values) else None


def _overlap(began_ns: list[int], ended_ns: list[int]) -> float | None:
    """For which share of the time in which any of them ran all of them did; None where nobody says."""
    if not began_ns or not ended_ns or max(ended_ns) <= min(began_ns):
        return None
    return max(0, min(ended_ns) - max(began_ns)) / (max(ended_ns) - min(began_ns))


def _times(found: CellRecord) -> Sequence[int | None] | None:
    """Under the name that its question, or its part of a question, gives them."""
    question = questions.ALL.get(found.ask)
    name = question.records.get(found.part) if question else None
    return getattr(found, name) if name else None


@dataclass(frozen=True)
class Known:
    """The stacks of a probe, by id, and its version."""

    stacks: dict[str, Available]
    version: str


def stacks(text: bytes, library: str = "") -> Known:
    """What `vaiven-probe stacks`, or that of a library's probe, prints. VaivenError ("bad-record", "probe-schema")."""
    records = [_convert(decode(line), StackRecord) for line in text.splitlines()]
    if not records:
        raise VaivenError("the probe has no stacks", "reinstall vaiven", code="bad-record")
    return Known({record.stack: _available(record, library) for record in records}, records[0].probe)


def _available(record: StackRecord, library: str) -> Available:
    return Available(
        Limits(record.size_bytes_min, record.size_bytes_max),
        _questions(record),
        record.needs or "",
        two_writes=record.two_writes,
        own_tcp=record.own_tcp,
        alone=record.alone or record.kernel_echo,
        to_all=record.to_all,
        library=library,
        ranked=record.ranked,
        spins=record.spins,
        summary=record.summary,
        program=record.program or "",
    )


def _questions(record: StackRecord) -> tuple[str, ...]:
    """Those that a stack answers; of one that sends to all at once programs, and those where a message is for all."""
    if record.to_all:
        return questions.named(
            lambda one: (one.several and one.several.to_all) or (one.program and one.answered(record))
        )
    return questions.named(lambda one: one.answered(record))


def _convert(record: dict[str, Any], kind: type) -> Any:
    try:
        return msgspec.convert(record, kind)
    except msgspec.ValidationError as error:
        raise VaivenError(
            f"the probe printed a {record.get('type')} record that is not one: {error}", code="bad-record"
        ) from error
