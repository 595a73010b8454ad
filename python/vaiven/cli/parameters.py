# SPDX-License-Identifier: BSD-3-Clause
"""What several verbs take: one name, one type and one meaning, wherever it is. A test holds all verbs to that."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from vaiven.errors import VaivenError

Natural = Annotated[int, Parameter(validator=Number(gte=0, lte=100_000))]
Seconds = Annotated[float, Parameter(validator=Number(gte=0, lte=3600))]
Json = Annotated[bool, Parameter(name="--json")]
Output = Annotated[Path | None, Parameter(name=["--output", "-o"])]
RunName = Annotated[str, Parameter(help='A run directory, the start of a run\'s id, or "last".')]
Runs = Annotated[Path | None, Parameter(help="Where runs are kept; without it $VAIVEN_RUNS, or ./runs.")]


def words(text: str) -> tuple[str, ...]:
    """Words between commas; commas inside [...] belong to the word, spaces around it do not."""
    return tuple(word.strip() for word in re.split(r",(?![^\[]*\])", text) if word.strip())


def stack_names(text: str) -> list[str]:
    """Names of stacks between commas, in the spelling that runs use. Raises VaivenError ("bad-stack")."""
    from vaiven.results.pairing import spelled

    return [spelled(word) for word in words(text)]


def pair_of_hosts(pair: str) -> list[tuple[str, str]]:
    """What --pair says: one (near, far), or none. Raises VaivenError ("bad-value")."""
    if not pair:
        return []
    near, *far = words(pair)[:3] or ("",)
    if len(far) != 1:
        raise VaivenError(f"--pair {pair!r}", "NEAR,FAR, for example h1,h2", code="bad-value")
    return [(near, far[0])]
