# SPDX-License-Identifier: BSD-3-Clause
"""How a run ended, in one or two sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator

from vaiven.model.numbers import duration_text
from vaiven.results.facts import Facts
from vaiven.results.outcome import Outcome

_NAMED = 2  # cells that are known badly; of more, the worst is named and the others counted


def closing(found: Outcome) -> str:
    """ "Done: 144 launches in 22 s; every median is known to 2 % but tcp at 100 B (12 %)." """
    begin = "Done" if found.achieved else f"Not achieved, {_percent(found.wanted)} was wanted"
    launches = f"{found.launches} launches in {duration_text(found.seconds)}{lost_text(found)}"
    done = f"{begin}: {launches}; {''.join(_known(found))}."
    missing = ", ".join(found.unmeasured)
    return f"{done} Not measured: {missing} (the warnings say why)." if missing else done


def lost_text(found: Outcome | Facts) -> str:
    """ ", 3 done again because time was lost, 1 kept although time was lost"; "" where none was lost."""
    again = f", {found.done_again} done again because time was lost" if found.done_again else ""
    return again + (f", {found.kept} kept although time was lost" if found.kept else "")


def _known(found: Outcome) -> Iterator[str]:
    """How exactly the medians are known."""
    worse = sorted(((one.half_width, one.name) for one in found if one.half_width > found.wanted), reverse=True)
    good = [one.half_width for one in found if one.half_width <= found.wanted]
    if not found:
        yield "nothing was measured"
    elif not good:
        yield f"no median is known to {_percent(found.wanted)}, the worst is {_badly(*worse[0])}"
    else:
        yield f"every median is known to {_percent(max(good))}"
        if 0 < len(worse) <= _NAMED:
            yield f" but {' and '.join(_badly(*one) for one in worse)}"
        elif worse:
            yield f" but {len(worse)} of {len(found)}, the worst {_badly(*worse[0])}"


def _badly(width: float, name: str) -> str:
    return f"{name} ({'not at all' if math.isinf(width) else _percent(width)})"


def _percent(share: float) -> str:
    """Two digits: "1.9 %", "5 %", "120 %"."""
    return f"{float(f'{100 * share:.2g}'):g} %"
