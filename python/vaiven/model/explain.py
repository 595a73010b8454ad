# SPDX-License-Identifier: BSD-3-Clause
"""Why is there a knee: the limits of the path that lie where it lies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from vaiven.model.frames import MTUS_BYTES, Path, frame_limits
from vaiven.model.knees import Knee
from vaiven.model.refine import Span

MULTIPLES = 4  # of a frame that are looked at
GSO_BYTES = 65536


@dataclass(frozen=True, slots=True)
class Limit:
    """A size at which something changes. declared: read from the hosts or the library, not merely usual."""

    cause: str
    size_bytes: int
    declared: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """The limits inside a knee's interval, declared ones first, then the nearest. text: one sentence. Empty limits:
    nothing known lies there. confirmed: the knee was found again in sizes that were measured because of it."""

    knee: Knee
    limits: tuple[Limit, ...]
    text: str
    confirmed: bool = False


def limits_of(
    path: Path,
    mtu_bytes: int | None = None,
    send_buffer_bytes: int | None = None,
    receive_buffer_bytes: int | None = None,
    gso_bytes: int | None = None,
    eager_bytes: int | None = None,
) -> list[Limit]:
    """What the inventory of a run declares, and the usual values of what it does not."""
    found = []
    for mtu in (mtu_bytes,) if mtu_bytes else MTUS_BYTES:
        edges = frame_limits(path, mtu).edges_bytes(frame_limits(path, mtu).first_bytes * (MULTIPLES + 1))
        found += [
            Limit(_frame_words(path, mtu, k), int(edge), mtu_bytes is not None)
            for k, edge in enumerate(edges[:MULTIPLES], 1)
        ]
    for cause, size in (
        ("socket send buffer", send_buffer_bytes),
        ("socket receive buffer", receive_buffer_bytes),
        ("eager limit of the library", eager_bytes),
        ("segmentation offload", gso_bytes),
    ):
        if size:
            found.append(Limit(cause, size, True))
    if not gso_bytes and path is Path.TCP:
        found.append(Limit("segmentation offload", GSO_BYTES, False))
    return found


def explain(knee: Knee, limits: Iterable[Limit], measured_again: Iterable[Span] = ()) -> Explanation:
    """The limits that a knee can come from. A jump after size n shows up between n and the next measured size.

    measured_again: where sizes were added for a knee that was seen before.
    """
    low, high, at = knee.size.low, knee.size.high, knee.size.value
    assert low is not None and high is not None and at is not None
    inside = sorted(
        (limit for limit in limits if low <= limit.size_bytes <= high),
        key=lambda limit: (not limit.declared, abs(limit.size_bytes - at)),
    )
    confirmed = any(first <= low and high <= last for first, last in measured_again)
    where = f"{knee.kind.value} near {at:.0f} bytes [{low:.0f}, {high:.0f}]{', confirmed' if confirmed else ''}"
    names = " or ".join(f"{limit.cause} ({limit.size_bytes} bytes)" for limit in inside[:3])
    return Explanation(knee, tuple(inside), f"{where}: {names or 'no known limit lies there'}", confirmed)


def _frame_words(path: Path, mtu_bytes: int, frames: int) -> str:
    full = "segment" if path is Path.TCP else "frame"
    many = f"one {full} is full" if frames == 1 else f"{frames} {full}s are full"
    return f"{many} at MTU {mtu_bytes}"
