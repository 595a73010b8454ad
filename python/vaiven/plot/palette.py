# SPDX-License-Identifier: BSD-3-Clause
"""How a stack looks: the same colour, dash and marker on every figure of every page.

Colours descend from Okabe and Ito's set, which people with the common colour deficiencies tell apart, darkened or
lightened to stand out from a white and from a dark page. Dash and marker repeat what the colour says.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Look:
    """light, dark: CSS colours for a light and a dark page. dash, marker: as plotly names them."""

    light: str
    dark: str
    dash: str
    marker: str


WIRE = Look("#5b6470", "#a3adb9", "dash", "line-ew")

_LOOKS = (
    Look("#0067a5", "#5cb8f2", "solid", "circle"),
    Look("#c04a00", "#ff9a5c", "solid", "square"),
    Look("#007f5f", "#35cfa2", "dashdot", "diamond"),
    Look("#97407a", "#eba0cf", "dot", "triangle-up"),
    Look("#8a6a00", "#f0c23c", "longdash", "cross"),
    Look("#4b4bb5", "#aeb0ff", "longdashdot", "x"),
    Look("#6b3d1e", "#d9a47c", "dash", "star"),
    Look("#2f5d62", "#8cd3da", "dashdot", "hexagon"),
)
_FIXED = {"tcp": 0, "udp": 1, "eth": 2, "icmp": 3, "tcp-nagle": 4, "null": 5, "llc": 6}


def looks(stacks: Iterable[str]) -> dict[str, Look]:
    """A look for each stack: the well-known ones always have theirs, the others take what is left, in order."""
    names = list(dict.fromkeys(stacks))
    chosen = {name: _FIXED[name] for name in names if name in _FIXED}
    for name in names:
        if name not in chosen:
            free = [slot for slot in range(len(_LOOKS)) if slot not in chosen.values()]
            chosen[name] = free[0] if free else len(chosen) % len(_LOOKS)
    return {name: _LOOKS[chosen[name]] for name in names}
