# SPDX-License-Identifier: BSD-3-Clause
"""Letters that nobody sees: what steers a terminal or turns its writing around, in text that came from elsewhere."""

from __future__ import annotations

import unicodedata

_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # categories of Unicode


def unseen(letter: str) -> bool:
    """Whether that letter must stand as its escape where people read it; the end of a line is one of them."""
    return unicodedata.category(letter) in _UNSEEN


def printable(text: str) -> str:
    """Text of others as it may be shown: what is no letter, digit, sign or end of a line becomes its escape."""
    return "".join(one.encode("unicode_escape").decode() if one != "\n" and unseen(one) else one for one in text)
