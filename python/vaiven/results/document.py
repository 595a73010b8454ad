# SPDX-License-Identifier: BSD-3-Clause
"""JSON as everybody gets it, by `--json` or in Python: one line, made of dataclasses, numbers and arrays."""

from __future__ import annotations

import json
import re

from vaiven.letters import unseen

_BEYOND_ASCII = re.compile(r"[^\x00-\x7e]")


def document(value: object) -> str:
    """One line of JSON; what is not a number is null, and what would steer a terminal stands there as its escape."""
    import msgspec

    return _BEYOND_ASCII.sub(_escaped, msgspec.json.encode(value, enc_hook=_plain).decode())


def _escaped(found: re.Match[str]) -> str:
    """Such a letter stands within a string, where JSON has an escape for it."""
    letter = found[0]
    return json.dumps(letter)[1:-1] if unseen(letter) else letter


def _plain(value: object) -> object:
    import numpy as np

    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise NotImplementedError(type(value))
