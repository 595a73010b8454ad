# SPDX-License-Identifier: BSD-3-Clause
"""The tree speaks of vaiven alone: no path of somebody's machine, no tool that wrote it, no unfinished business."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_TEXT = {"", ".c", ".h", ".py", ".md", ".toml", ".ini", ".txt", ".build", ".options", ".html", ".css", ".js", ".sh"}

# Written in pieces, so that this file passes its own test.
_PATTERNS = {
    "a path of one machine": r"(?<![\w.])/(?:" + "wo" + r"rk|fa" + r"rm|ho" + r"me/[a-z]\w*|tmp/v" + r"v)/",
    "who or what wrote it": r"\b(?:" + "A" + r"I|L" + r"LM|subag" + r"ent|chat" + r"bot|co" + r"pilot)s?\b",
    "an assistant": r"(?<![-_\w])ag" + r"ents?\b|\bhel" + r"per session\b",
    "unfinished business": r"\b(?:TO" + r"DO|FIX" + r"ME|X" + r"XX|HA" + r"CK)\b",
}


def offences(text: str) -> list[str]:
    """For every forbidden phrase of the text: what it is, and the words."""
    found = []
    for what, pattern in _PATTERNS.items():
        found += [f"{what}: {match.group(0)}" for match in re.finditer(pattern, text)]
    return found


def test_the_tree_speaks_of_vaiven_alone(files: list[Path], root: Path) -> None:
    texts = [f for f in files if f.suffix in _TEXT and f.stat().st_size < 400_000]
    assert len(texts) > 20
    found = [(str(f.relative_to(root)), o) for f in texts for o in offences(f.read_text(errors="replace"))]
    assert found == []


_SPLIT = ["see /wo|rk/x", "as the A|I said", "# TO|DO: later", "an ag|ent did it", "/ho|me/ana/x"]


@pytest.mark.parametrize("split", _SPLIT)
def test_a_forbidden_phrase_is_found(split: str) -> None:
    assert offences(split.replace("|", ""))


def test_plain_words_are_left_alone() -> None:
    assert offences("ssh-" + "ag" + "ent, MAIL, ../shared/work/x, /usr/share, detail") == []
