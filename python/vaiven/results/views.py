# SPDX-License-Identifier: BSD-3-Clause
"""How results look in a notebook: as their frame, until a room above this one says it better (report.notebook)."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vaiven.results.result import Result


@singledispatch
def html(value: Result[Any]) -> str:
    """HTML without scripts."""
    return value.to_frame()._repr_html_()
