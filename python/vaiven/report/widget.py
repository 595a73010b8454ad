# SPDX-License-Identifier: BSD-3-Clause
"""A figure on the page: its pictures, and beside each the table that says the same in numbers; sections of them."""

from __future__ import annotations

from dataclasses import dataclass

from vaiven.plot.interactive import Figure
from vaiven.report.table import Table

SIZES_DRAWN_MAX = 8  # pictures of one size each: more would make a heavy page; the tables have them all


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the pictures that a figure can show, with the table that says the same."""

    label: str
    figure: Figure
    table: Table


@dataclass(frozen=True, slots=True)
class Widget:
    """A figure on the page. id: unique. says: its text alternative. choose: what the choices differ in, "" if one.

    roles: (role, label) of the traces that a reader can switch off.
    """

    id: str
    title: str
    says: str
    choices: tuple[Choice, ...]
    choose: str = ""
    roles: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """What a page says to a question, or to several that have one answer. id: in its address. short: in the contents.

    asks, lead, points: the answer of a page that is about nothing else. tables: with `folded` the first is opened by
    the reader, for the figures say the same. method: how it was measured.
    """

    id: str
    title: str
    short: str
    asks: str
    lead: str
    points: tuple[str, ...] = ()
    widgets: tuple[Widget, ...] = ()
    tables: tuple[Table, ...] = ()
    folded: bool = False
    method: str = ""
