# SPDX-License-Identifier: BSD-3-Clause
"""What the steps of a message take, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from vaiven.model.numbers import DASH, size_text, time_text
from vaiven.model.steps import Steps
from vaiven.report.table import MESSAGE, Column, Table, message_cells, share_text


def steps_table(found: Sequence[Steps]) -> Table:
    """One row per size and stack."""
    columns = (
        *MESSAGE,
        Column("encode", "from the program's data to what can be sent; all steps in processor time of the near host"),
        Column("send", "the call that sends it"),
        Column("decode", "from what came to the program's data"),
        Column("translate", "then from the far host's representation to the own"),
        Column("share", "encode, decode and translate, of half a round trip"),
        Column("held, out", "of a message in buffers of the sender's library, headers and all"),
        Column("held, in", "the same of the receiver's"),
        Column("translations", "how often the near host turned the numbers of these two into another representation"),
    )
    rows = tuple(
        (
            *message_cells(one.size_bytes, one.stack, one.near, one.far),
            *map(time_text, (one.encode_ns, one.send_ns, one.decode_ns, one.translate_ns)),
            share_text(one.typical_share, one.share),
            *map(size_text, (one.out_bytes, one.in_bytes)),
            DASH if one.translations is None else str(one.translations),
        )
        for one in found
    )
    return Table("What the steps of a message take", columns, rows)
