# SPDX-License-Identifier: BSD-3-Clause
"""Computing while messages travel, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from vaiven.model.numbers import time_text
from vaiven.model.overlap import Overlap
from vaiven.report.table import MESSAGE, Column, Table, message_cells, share_text


def overlap_table(found: Sequence[Overlap]) -> Table:
    """One row per size and stack."""
    columns = (
        *MESSAGE,
        Column("talk", "a message there and back, alone"),
        Column("work", "a computation of about that length, alone"),
        Column("both", "the message given away, the computation done, the answer taken"),
        Column("hidden", "of what could be hidden behind the other: all is 100 %"),
    )
    rows = tuple(
        (
            *message_cells(one.size_bytes, one.stack, one.near, one.far),
            *map(time_text, (one.talk_ns, one.work_ns, one.both_ns)),
            share_text(one.typical_share, one.share),
        )
        for one in found
    )
    return Table("Computing while messages travel", columns, rows)
