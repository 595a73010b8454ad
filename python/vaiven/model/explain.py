# SPDX-License-Identifier: BSD-3-Clause
"""Why is there a knee: the limits of the path that lie where it lies.

A limit is declared when the run says so: the link its MTU; the inventories of the hosts their sockets' buffers and the
offloads of their cards; a library its eager limit (among the settings in `hello.way` of a launch): the largest message
that it sends before the receiver has asked for it. What a run does not say is tried with its usual values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from vaiven.model.frames import MTUS_BYTES, Path, frame_limits, padded_bytes
from vaiven.model.knees import Knee
from vaiven.model.refine import Span

MULTIPLES = 4  # of a frame that are looked at
GSO_BYTES = 65536  # the kernel's own limit of what is cut below TCP at once


@dataclass(frozen=True, slots=True)
class Limit:
    """A size at which something changes. declared: read from the hosts or the library, not merely usual."""

    cause: str
    size_bytes: int
    declared: bool


@dataclass(frozen=True, slots=True)
class Declared:
    """What a run says of a path; None: it does not say, 0: there is no such limit.

    mtu_bytes: of the link. send_bytes, receive_bytes: buffers of a fresh socket (SO_SNDBUF, SO_RCVBUF), of the host
    that has less; send_bytes_max, receive_bytes_max: what TCP lets them grow to. gso_bytes: the largest piece that is
    handed to the card whole. eager_bytes: the largest message that a library sends unasked.
    """

    mtu_bytes: int | None = None
    send_bytes: int | None = None
    send_bytes_max: int | None = None
    receive_bytes: int | None = None
    receive_bytes_max: int | None = None
    gso_bytes: int | None = None
    eager_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """The limits inside a knee's interval, or between the same two measured sizes: declared ones first, then the
    nearest. text: one sentence. Empty limits: nothing known lies there. confirmed: the knee was found again in sizes
    that were measured because of it."""

    knee: Knee
    limits: tuple[Limit, ...]
    text: str
    confirmed: bool = False


def limits_of(path: Path | None, declared: Declared) -> list[Limit]:
    """Every size at which the cost of that path may change its law. path None: not known, only what is declared."""
    found = [] if path is None else [*_of_frames(path, declared.mtu_bytes), *_of_offload(path, declared)]
    return [*found, *_of_buffers(path, declared)]


def explain(knee: Knee, limits: Iterable[Limit], measured_again: Iterable[Span] = ()) -> Explanation:
    """The limits that a knee can come from. What happens between two measured sizes looks like a bend or a jump
    anywhere between them.

    measured_again: where sizes were added for a knee that was seen before.
    """
    low, high, at = knee.size.low, knee.size.high, knee.size.value
    assert low is not None and high is not None and at is not None
    first, last = min(low, knee.before_bytes), max(high, knee.after_bytes)
    inside = sorted(
        (limit for limit in limits if first <= limit.size_bytes <= last),
        key=lambda limit: (not limit.declared, abs(limit.size_bytes - at)),
    )
    confirmed = any(begin <= low and high <= end for begin, end in measured_again)
    where = f"{knee.kind.value} near {at:.0f} bytes [{low:.0f}, {high:.0f}]{', confirmed' if confirmed else ''}"
    names = " or ".join(f"{limit.cause} ({limit.size_bytes} bytes)" for limit in inside[:3])
    return Explanation(knee, tuple(inside), f"{where}: {names or 'no known limit lies there'}", confirmed)


def _of_frames(path: Path, mtu_bytes: int | None) -> Iterator[Limit]:
    """Where the smallest frame is full, and the first frames of the path's MTU, or of every usual one."""
    if padded_bytes(path):
        yield Limit("shorter messages are padded to the smallest frame", padded_bytes(path), True)
    for mtu in (mtu_bytes,) if mtu_bytes else MTUS_BYTES:
        edges = frame_limits(path, mtu).edges_bytes(frame_limits(path, mtu).first_bytes * (MULTIPLES + 1))
        for count, edge in enumerate(edges[:MULTIPLES], 1):
            yield Limit(_frame_words(path, mtu, count), int(edge), mtu_bytes is not None)


def _of_offload(path: Path, declared: Declared) -> Iterator[Limit]:
    """TCP hands down whole segments only."""
    if path is Path.TCP and declared.gso_bytes != 0:
        segment = frame_limits(path, declared.mtu_bytes).first_bytes if declared.mtu_bytes else 1
        most = (declared.gso_bytes or GSO_BYTES) // segment * segment
        yield Limit("one piece of segmentation offload is full", most, declared.gso_bytes is not None)


def _of_buffers(path: Path | None, declared: Declared) -> Iterator[Limit]:
    """Linux offers half of a receive buffer as TCP's window; the other half is room for its own book-keeping."""
    tcp = path is Path.TCP
    for cause, size in (
        ("the library sends no more than this unasked: its eager limit", declared.eager_bytes),
        ("the socket's send buffer is full", declared.send_bytes),
        ("the largest send buffer is full", declared.send_bytes_max if tcp else None),
        ("the first TCP window is full: half of the receive buffer", (declared.receive_bytes or 0) // 2 if tcp else 0),
        ("the largest TCP window is full", (declared.receive_bytes_max or 0) // 2 if tcp else 0),
        ("the socket's receive buffer is full", None if tcp else declared.receive_bytes),
    ):
        if size:
            yield Limit(cause, size, True)


def _frame_words(path: Path, mtu_bytes: int, frames: int) -> str:
    full = "segment" if path is Path.TCP else "frame"
    many = f"one {full} is full" if frames == 1 else f"{frames} {full}s are full"
    return f"{many} at MTU {mtu_bytes}"
