# SPDX-License-Identifier: BSD-3-Clause
"""A suite: several plans, measured one after the other, each into a run of its own.

A plan that cannot be measured here is named, and the others go on.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vaiven.cli.status import Status
from vaiven.cli.terminal import say
from vaiven.errors import VaivenError

if TYPE_CHECKING:
    from vaiven.plan.schema import LengthName, Plan
    from vaiven.store.query import Run


def members(name: str) -> list[str]:
    """The plans of the suite of that name: the files of a directory, or the ready ones called NAME-...; else none."""
    from vaiven.measuring import plans
    from vaiven.store.record import MANIFEST

    ready = plans.names()
    if not name or name in ready:
        return []
    if os.path.isdir(name) and not (Path(name) / MANIFEST).exists():  # no name is too long for it
        return [str(path) for path in sorted(Path(name).glob("*.toml"))]
    return [one for one in ready if one.startswith(f"{name}-")]


def is_plan(name: str) -> bool:
    """Whether that names a plan, and so no run."""
    from vaiven.measuring import plans

    return name.endswith(".toml") or name in plans.names()


def newest(plan: Plan, root: Path) -> Run | None:
    """The newest run below `root` of exactly this plan, None where there is none."""
    import msgspec

    from vaiven.store import query

    wanted = msgspec.json.decode(msgspec.json.encode(plan))
    runs = [run for run in query.runs(root) if not isinstance(run, VaivenError)]
    return next((run for run in reversed(runs) if run.manifest.plan == wanted), None)


def carry_out(
    name: str,
    length: LengthName,
    asked: Callable[[str], Plan],
    one: Callable[[str], Status],
    there: Callable[[Plan], Run | None],
    *,
    dry_run: bool,
) -> Status:
    """Says how long its plans take, and measures one after the other unless it is a dry run; the worst exit status.

    asked: the plan of that name as it will be carried out; one: measures it. What they raise leaves that plan out.
    there: the run of a plan that is gone on with, None where it begins anew.
    """
    plans = members(name)
    _foretell(plans, asked, there)
    worst = Status.OK
    for number, plan in enumerate(() if dry_run else plans, 1):
        say(f"\n{plan}: {number} of {len(plans)}", sys.stderr)
        try:
            worst = max(worst, one(plan))
        except VaivenError as error:
            say(f"{plan} is left out: {error}", sys.stderr)
            worst = max(worst, Status.CANNOT_TELL)
        except KeyboardInterrupt:
            say(f"and with all plans: vaiven measure --resume {shlex.quote(name)} --length {length}", sys.stderr)
            raise
    return worst


def _foretell(plans: Sequence[str], asked: Callable[[str], Plan], there: Callable[[Plan], Run | None]) -> None:
    """How long each takes, and all of them; of a run that is there, what is left of it."""
    from vaiven.cli.plan import span_text
    from vaiven.measuring import measure as measuring
    from vaiven.measuring import plans as known
    from vaiven.plan import duration
    from vaiven.run.place import known_stacks

    spans, stacks = [], known_stacks().stacks
    for name in plans:
        try:
            plan = asked(name)
            run = there(plan)
            if run and run.end:
                say(f"{name}: measured already", sys.stderr)
                continue
            if run:
                spans.append(measuring.left(run).left_s)
            else:
                design, ground = known.preview(plan, stacks)
                spans.append(duration.run_s(design, plan, ground))
        except VaivenError as error:
            say(f"{name}: {error.what}", sys.stderr)
            continue
        say(f"{name}: about {span_text(*spans[-1])}{' more' if run else ''}", sys.stderr)
    least_s, most_s = (sum(span[end] for span in spans) for end in (0, 1))
    say(f"together: about {span_text(least_s, most_s)}", sys.stderr)
