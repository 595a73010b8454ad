# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven plausible`: can a published number be true on that link, and if not, what was likely meant?"""

from __future__ import annotations

import sys

from vaiven.cli.parameters import Json
from vaiven.cli.status import Status
from vaiven.errors import VaivenError


def plausible(number: str, link: str, /, *, payload_share: float = 1.0, as_json: Json = False) -> None:
    """Can that cost per byte, or that rate of long messages, be true on a link? If not, which slip explains it?

    Exit status 3 if it cannot.

    Parameters
    ----------
    number
        A time per data or a rate, one way, with its unit: "0.086 ms/byte", "330 us/float", "93 MB/s".
    link
        The rate of the link, "100 Mb/s" or 1G.
    payload_share
        What is left of that rate for the payload, above 0 and up to 1: 0.95 for TCP in full frames of 1500 bytes.
    as_json
        One JSON document instead: schema, plausible, word, given, limit (what the wire alone would give), correction
        (what was likely meant, or null), why, text.
    """
    from dataclasses import asdict

    from vaiven.model.plausible import check_cost
    from vaiven.model.units import quantity, rate
    from vaiven.results.document import document

    if not 0 < payload_share <= 1:
        raise VaivenError(f"--payload-share {payload_share:g}", "above 0 and up to 1", code="bad-value")
    found = check_cost(quantity(number), rate(link), payload_share)
    if as_json:
        print(document({"schema": 1, "plausible": found.plausible} | asdict(found)))
    else:
        print(f"{found.word}: {found.text}")
    if not found.plausible:
        sys.exit(Status.NO)
