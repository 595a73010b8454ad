# SPDX-License-Identifier: BSD-3-Clause
"""The far ends of a launch as one text: "b", "b+c" on two hosts, "b*3" three on one host. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Sequence


def join(hosts: Sequence[str]) -> str:
    """The text of far ends on these hosts, in that order."""
    runs = [(name, len(list(run))) for name, run in itertools.groupby(hosts)]
    return "+".join(name if count == 1 else f"{name}*{count}" for name, count in runs)


def split(text: str) -> tuple[str, ...]:
    """The host of each far end, in order: the inverse of `join`."""
    words = (word.partition("*") for word in text.split("+"))
    return tuple(itertools.chain.from_iterable([name] * int(count or 1) for name, _, count in words))
