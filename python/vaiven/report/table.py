# SPDX-License-Identifier: BSD-3-Clause
"""A table of text, whatever it tells, and the texts of cells that many tables have."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaiven.model.numbers import DASH, digits, percent_text, size_text, time_interval_text, time_text

if TYPE_CHECKING:
    from vaiven.model.several import Ratio
    from vaiven.stats.estimate import Estimate

ERROR_NOTE = "± is what of a number may be the lab's own error, either way, by lab check or a trial"


@dataclass(frozen=True, slots=True)
class Column:
    """name: the heading. hint: one clause that explains it. number: set flush right."""

    name: str
    hint: str = ""
    number: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """rows are as long as columns. notes stand below. labels: so many columns say what a row is about.

    Cells are plain text, which whoever shows them escapes; a second line, such as an interval, is less important.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    labels: int = 1


HOSTS = Column("hosts", "near → far", number=False)
STACK = Column("stack", "the way the message travels", number=False)


def with_error(text: str, error: str) -> str:
    """A number, and on a line below what of it may be the lab's; a dash where nobody knows."""
    return text if DASH in (text, error) else f"{text}\n± {error}"


def value_text(ns: float, estimate: Estimate) -> str:
    """A time with its interval, or the time alone where there were too few launches for an interval."""
    if estimate.low is None or estimate.high is None:
        return time_text(ns)
    return two_lines(time_interval_text(ns, estimate.low, estimate.high))


MESSAGE = (
    Column("size", "payload of the message"),
    STACK,
    HOSTS,
)


def message_cells(size_bytes: int, stack: str, near: str, far: str) -> tuple[str, str, str]:
    """What a row of columns that begin with MESSAGE begins with."""
    return size_text(size_bytes), stack, f"{near} → {far}"


def share_text(share: float, estimate: Estimate) -> str:
    """The same of a share, whose interval stands on a second line."""
    if estimate.low is None or estimate.high is None:
        return percent_text(share)
    return f"{percent_text(share)}\n{percent_text(estimate.low)} – {percent_text(estimate.high)}"


def times_text(ratio: float, estimate: Estimate) -> str:
    """The same of a ratio."""
    if estimate.low is None or estimate.high is None:
        return f"{digits(ratio)} ×"
    return f"{digits(ratio)} ×\n{digits(estimate.low)} – {digits(estimate.high)}"


def block_ratio_text(ratio: Ratio) -> str:
    """The same of one that was taken block by block, if there was anything to take it from."""
    return DASH if ratio.value is None else times_text(ratio.value, ratio.interval)


def two_lines(text: str) -> str:
    """ "45.2 [44.9, 45.6] µs" as "45.2 µs" with its interval on a second line."""
    found = re.fullmatch(r"(\S+) (\[[^][]*\]) (\S+)", text)
    return f"{found[1]} {found[3]}\n{found[2]}" if found else text
