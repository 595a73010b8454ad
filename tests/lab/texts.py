# SPDX-License-Identifier: BSD-3-Clause
"""The texts of the labs that tests raise: hosts that are all alike on one fabric."""

from __future__ import annotations


def lab_text(
    name: str, count: int, *, kind: str = "switch", class_: str = "free", rate_mbps: float | None = None,
    prefix: str = "h",
) -> str:  # fmt: skip
    """A lab file; tables may be added behind it, hosts that are special or faults."""
    rate = "" if rate_mbps is None else f"rate_mbps = {rate_mbps}\n"
    fabric = f'[fabric]\nkind = "{kind}"\nclass = "{class_}"\n{rate}'
    return f'name = "{name}"\n{fabric}[[hosts]]\nprefix = "{prefix}"\ncount = {count}\n'
