# SPDX-License-Identifier: BSD-3-Clause
"""Measuring from Python: what `vaiven measure` does, with events instead of a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from vaiven.face.lab import Lab
from vaiven.face.run import Name, Run
from vaiven.measuring import measure as measuring
from vaiven.measuring.events import OnEvent
from vaiven.measuring.request import Changes, Reach, requested
from vaiven.plan.schema import LengthName, Plan
from vaiven.store import query

Words = str | Sequence[str | int]  # one, or several


def measure(
    plan: str | Path | Plan = "",
    *,
    lab: str | Path | Lab = "",
    hosts: Words = (),
    stacks: Words = (),
    sizes: Words = (),
    questions: Words = (),
    pairs: str = "",
    launches: int = 0,
    seed: int | None = None,
    quick: bool = False,
    length: LengthName = "full",
    before: str | None = None,
    after: str | None = None,
    interface: str = "",
    ports: str = "",
    bind: Mapping[str, str] | None = None,
    link: str = "",
    awake: bool = False,
    runs: Name | None = None,
    on_event: OnEvent | None = None,
) -> Run:
    """Carries a plan out and returns its run.

    plan: a file, the name of a ready plan, a plan, or nothing for all stacks and usual sizes. lab: a ready lab, a lab
    file, or one that is up; raised for the run unless it is up. hosts: names that ssh knows. What else is said is said
    instead of the plan, and means what it means to `vaiven measure`. runs: where runs are kept. on_event: told how it
    goes on (vaiven.measuring.events); print will do.

    Raises VaivenError where nothing can be measured. Interrupted, it leaves a run that `resume` goes on with.
    """
    changes = Changes(
        lab=lab.name if isinstance(lab, Lab) else str(lab), hosts=_words(hosts), stacks=_words(stacks),
        sizes=_words(sizes), questions=_words(questions), pairs=pairs, launches=launches, seed=seed, quick=quick,
        before=before, after=after,
    )  # fmt: skip
    reach = Reach(interface=interface, ports=ports, bind=bind or {}, link=link, awake=awake)
    request = requested(plan if isinstance(plan, Plan) else str(plan), changes, reach, length)
    root = Path(runs) if runs is not None else query.root()
    return Run(measuring.measure(request, root, on_event or _quiet))


def resume(run: Run | Name = "last", *, runs: Name | None = None, on_event: OnEvent | None = None) -> Run:
    """Goes on with a run that was stopped, to its end. Raises VaivenError: "run-ended", "run-busy", "no-run"."""
    path = run.path if isinstance(run, Run) else run
    found = query.find(str(path), Path(runs) if runs is not None else query.root())
    return Run(measuring.resume(found, on_event or _quiet))


def _words(said: Words) -> tuple[str, ...]:
    return (said,) if isinstance(said, str) and said else tuple(map(str, said))


def _quiet(_event: object) -> None:
    """Nobody asked."""
