# SPDX-License-Identifier: BSD-3-Clause
"""Which path did a launch take? Counters of the interfaces of both ends, before and after, against what was sent.

A library that quietly uses shared memory, a card that drops, another program on the same wire: all of them give
numbers that look fine. Pure: the text of /proc in, values out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from vaiven.errors import VaivenError
from vaiven.store.record import END_PART, Cell

FILES = ("dev", "softnet_stat")  # of /proc/net

_ANOTHER = "another-path"
_UNCOUNTED_BYTES = 24  # of each frame: preamble 8, FCS 4, gap 12 are on the wire but in no counter
_SHARE_MIN = 0.5  # segments of one send share their headers until the card cuts them; padding is not counted
_OWN_TIMES = 1.1  # acknowledgements, and what was sent again
# What else a launch causes: its control connection, and its records where they go home over the same interface.
_LAUNCH_BYTES, _CELL_BYTES, _EXCHANGE_BYTES = 10_000, 1_000, 16
_CLOCK_BYTES = 20_000  # reading one far end's clock for a cell, 48 times
_HEARD_BYTES = 400  # what one of several far ends says of a round, and what acknowledges it
_JOIN_BYTES = 40_000  # what launchers, daemons, libraries and ssh say to bring a far end in, and out
FOREIGN_MAX = 0.05  # of the bytes seen: more is somebody else


@dataclass(frozen=True)
class Counters:
    """An interface's counters since it exists; softnet_dropped: frames that the whole machine had no time for."""

    tx_bytes: int
    tx_frames: int
    rx_bytes: int
    rx_frames: int
    rx_dropped: int
    softnet_dropped: int

    def since(self, before: Counters) -> Counters:
        """What was added after `before`."""
        return Counters(*(now - then for now, then in zip(self._all(), before._all(), strict=True)))

    def _all(self) -> tuple[int, ...]:
        return tuple(asdict(self).values())


@dataclass(frozen=True)
class Company:
    """What a library adds to the messages of a launch. joined: far ends that it brings together. copies: of one message
    for all, how many may cross one interface; counted is one."""

    joined: int = 0
    copies: int = 1


ALONE = Company()  # no library


@dataclass(frozen=True)
class Grown:
    """What a launch added to the counters of its ends. far: None where it is the same machine, or cannot say."""

    near: Counters
    far: Counters | None = None

    @property
    def seen_bytes(self) -> int:
        """What crossed the busier of the two interfaces, both ways."""
        return max(end.tx_bytes + end.rx_bytes for end in self._ends)

    @property
    def softnet_dropped(self) -> int:
        return max(end.softnet_dropped for end in self._ends)

    @property
    def _ends(self) -> tuple[Counters, ...]:
        return (self.near, self.far) if self.far else (self.near,)


def counters(text: str, interface: str) -> Counters | None:
    """The counters of that interface in those FILES, one after the other; None if it has no such interface."""
    row = re.search(rf"^\s*{re.escape(interface)}:\s*((?:\d+\s+){{15}}\d+)\s*$", text, re.MULTILINE)
    if not row:
        return None
    rx_bytes, rx_frames, _, rx_dropped, *_ = numbers = [int(word) for word in row[1].split()]
    softnet = re.findall(r"^[0-9a-f]{8} ([0-9a-f]{8}) [0-9a-f]{8} ", text, re.MULTILINE)
    return Counters(numbers[8], numbers[9], rx_bytes, rx_frames, rx_dropped, sum(int(word, 16) for word in softnet))


def expected_tx_bytes(cells: Sequence[Cell]) -> int | None:
    """The fewest bytes that the near end must have sent; None where the frames of its messages are not known."""
    return _sent_bytes(cells, 0)


def _sent_bytes(cells: Sequence[Cell], more: int) -> int | None:
    """What these messages, and so many more in each cell, are to the near end's counters."""
    total = 0
    for cell in cells:
        if not cell.whole and (cell.ask != "prtt" or cell.part == "send"):  # measured on the messages of another cell
            continue
        if cell.wire_bytes is None or cell.wire_frames is None:
            return None
        messages = (len(cell.ns) + more) * cell.batch + cell.warmup
        total += messages * (cell.wire_bytes - _UNCOUNTED_BYTES * cell.wire_frames)
    return total


def own_bytes(cells: Sequence[Cell], company: Company = ALONE) -> int | None:
    """The most bytes, both ways, that a launch itself can have caused at one interface; None where it is not known."""
    sent = _sent_bytes(cells, 1)  # the first exchange after the warm-up is in no record
    if sent is None:
        return None
    sent += _sent_bytes([cell for cell in cells if cell.clock == "barrier"], 1) or 0  # measured by the clocks before
    exchanges = sum(len(cell.ns) for cell in cells)
    compared = len(cells) if any(cell.clock not in ("", "common") for cell in cells) else 0
    heard = sum(len(cell.ns) for cell in cells if cell.part.startswith(END_PART))
    talk = _LAUNCH_BYTES + _CELL_BYTES * len(cells) + _EXCHANGE_BYTES * exchanges + _HEARD_BYTES * heard
    talk += _CLOCK_BYTES * compared
    return round((1 + company.copies) * _OWN_TIMES * sent) + talk + _JOIN_BYTES * company.joined


def findings(cells: Sequence[Cell], grown: Grown, company: Company = ALONE) -> list[tuple[str, str]]:
    """(code, text) of what is suspicious about the path of a launch."""
    found = []
    expected, own = expected_tx_bytes(cells), own_bytes(cells, company)
    if expected is not None and grown.near.tx_bytes < _SHARE_MIN * expected:
        said = f"{grown.near.tx_bytes} bytes left the interface where {expected} were expected"
        found.append((_ANOTHER, f"{said}: the messages took another path"))
    if own is not None and grown.seen_bytes - own > FOREIGN_MAX * grown.seen_bytes:
        said = f"{grown.seen_bytes} bytes crossed an interface where {own} at most were ours"
        found.append(("shared-path", f"{said}: something else is sending too"))
    if grown.softnet_dropped > 0:
        found.append(
            ("softnet-drops", f"{grown.softnet_dropped} frames were dropped: this machine is too slow for them")
        )
    return found


def refused(cells: Sequence[Cell], grown: Grown) -> VaivenError | None:
    """Why a launch does not count whose library chose the path itself; None if the messages crossed the interface."""
    strayed = [text for code, text in findings(cells, grown) if code == _ANOTHER]
    if not strayed:
        return None
    remedy = "a library that shares memory between hosts of one machine must be told not to: see hello of the launch"
    return VaivenError(strayed[0], remedy, code=_ANOTHER)


def facts(grown: Grown | None, cells: Sequence[Cell], company: Company = ALONE) -> dict[str, Any]:
    """What is recorded of the path of a launch; {} when the interface of its near end is not known."""
    if grown is None:
        return {}
    far = {"far": asdict(grown.far)} if grown.far else {}
    own = {"seen_bytes": grown.seen_bytes, "own_bytes": own_bytes(cells, company)}
    return {**asdict(grown.near), **far, "expected_tx_bytes": expected_tx_bytes(cells), **own}
