# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of claims on the runs that there are: each on the newest run that has all that it needs.

A claim is judged by the interval of its margin, and then as one of many: the p values of all claims that the runs make
measurable, whichever of them a reader asked for, are adjusted for each other (Benjamini and Hochberg) before a word
is said. Otherwise one in twenty would be told wrongly.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from vaiven.errors import VaivenError
from vaiven.papers.claims import Claim
from vaiven.papers.closest import Closest, closest
from vaiven.papers.inequality import Comparison, Inequality
from vaiven.papers.measured import Measured
from vaiven.papers.needs import Needs, Scene, counts, differences
from vaiven.papers.words import Reading
from vaiven.stats.bootstrap import beyond, interval, too_few
from vaiven.stats.estimate import Estimate, refusal
from vaiven.stats.launches import LAUNCHES_MIN
from vaiven.stats.many import benjamini_hochberg
from vaiven.store.query import Run
from vaiven.store.record import STEPS, Manifest

CASTS_MAX = 4  # of the runs that would fit a part of a claim over several, so many are tried: the newest
LEVEL = 0.05  # of the adjusted p value of a verdict


class Word(StrEnum):
    """What becomes of a claim."""

    HOLDS = "holds"
    DOES_NOT_HOLD = "does not hold"
    NOT_SETTLED = "not settled"
    NOT_MEASURABLE = "not measurable here"
    NO_CHECK = "no check"


SETTLED = (Word.HOLDS, Word.DOES_NOT_HOLD)
TOLD = (*SETTLED, Word.NOT_SETTLED)


@dataclass(frozen=True)
class Verdict:
    """margin: of the claim's inequality on these runs, above 1 where it is so; its interval decides the word.

    margin is None of what is not measurable, and `interval` says what is missing; or that launches are too few. p: of
    the claim alone; p_adjusted: among all that were measurable, None of facts and of what is not measurable. runs: the
    ids of those that it was judged on. closest: the comparison that the margin is of. models: hosts that it spoke of
    and that a lab makes slow or defective: it says how the model is made, not how a machine of that age is.
    """

    claim: Claim
    word: Word
    margin: float | None
    interval: Estimate
    p: float | None = None
    p_adjusted: float | None = None
    runs: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    closest: Closest | None = None


@dataclass(frozen=True)
class Candidate:
    """A run that may be judged on; its cells are read when a claim asks for them. begun: when it was."""

    id: str
    begun: datetime.datetime
    scene: Scene
    measure: Callable[[], Measured] = field(repr=False)

    @classmethod
    def of_run(cls, run: Run) -> Candidate:
        return cls.of(run.manifest, lambda: Measured.of_run(run))

    @classmethod
    def of(cls, manifest: Manifest, measure: Callable[[], Measured]) -> Candidate:
        try:
            begun = datetime.datetime.fromisoformat(manifest.created_utc)
        except ValueError:
            begun = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
        return cls(manifest.id, begun, Scene.of(manifest), measure)

    @cached_property
    def measured(self) -> Measured:
        return self.measure()


def judge(claims: Sequence[Claim], candidates: Sequence[Candidate]) -> tuple[Verdict, ...]:
    """What becomes of all claims that there are, in their order; the newest run that fits counts."""
    newest = _newest(candidates)
    alone = [weigh(claim, newest) for claim in claims]
    tested = [number for number, one in enumerate(alone) if one.p is not None]
    adjusted = benjamini_hochberg([alone[number].p for number in tested]) if tested else ()
    for number, p in zip(tested, adjusted, strict=True):
        alone[number] = _among_others(alone[number], float(p), len(tested))
    return tuple(alone)


def weigh(claim: Claim, newest: Sequence[Candidate]) -> Verdict:
    """What becomes of a claim as if it were the only one. newest: the newest first."""
    if claim.unasked:
        return _untold(claim, Word.NO_CHECK, claim.unasked)
    closest: tuple[str, ...] = ()
    young: Verdict | None = None  # on runs that have too few launches, as one that was stopped
    for found, missing in _tries(claim, newest):
        if found and found.interval.known:
            return found
        if found:
            young = young or found
        elif not closest or len(missing) < len(closest):
            closest = missing
    return young or _untold(claim, Word.NOT_MEASURABLE, "; ".join(closest or ("there are too few runs",)))


def fitting(claim: Claim, candidates: Sequence[Candidate]) -> tuple[Verdict, ...]:
    """What each of the runs that fit says of a claim, as if it were the only one, the newest first.

    Of a claim over several, what each choice of runs says. Where two of these are opposite, the claim depends on more
    than its needs say.
    """
    if claim.unasked:
        return ()
    return tuple(found for found, _ in _tries(claim, _newest(candidates)) if found and found.interval.known)


def _newest(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The newest first."""
    return sorted(candidates, key=lambda one: (one.begun, one.id), reverse=True)


def _tries(claim: Claim, newest: Sequence[Candidate]) -> Iterator[tuple[Verdict | None, tuple[str, ...]]]:
    """What each choice of runs says; None, and what is missing, of one that has not all that the claim needs."""
    for runs in _casts(claim, newest):
        try:
            missing = tuple(_missing(claim, runs))
            yield (None if missing else _on(claim, runs)), missing
        except VaivenError as error:
            if error.code == "bad-claim":
                raise
            yield None, (error.what,)  # of a run that is damaged, too: the others are judged


def _casts(claim: Claim, newest: Sequence[Candidate]) -> Iterator[Mapping[str, Candidate]]:
    """Which run could play which part, the newest first. Of a claim over several only runs that fit, if there are."""
    parts = list(claim.scenes.items())

    def cast(number: int, taken: dict[str, Candidate]) -> Iterator[dict[str, Candidate]]:
        if number == len(parts):
            yield taken
            return
        name, needs = parts[number]
        others = [run for run in newest if _apart(claim, run, taken)]
        fit = (run for run in others if not unfit(needs, run))
        for run in list(islice(fit, CASTS_MAX)) or others[:1]:
            yield from cast(number + 1, {**taken, name: run})

    if len(parts) == 1:
        yield from ({"": run} for run in newest)
    else:
        yield from cast(0, {})


def _apart(claim: Claim, run: Candidate, taken: Mapping[str, Candidate]) -> bool:
    return all(abs(run.begun - one.begun).days >= claim.days_apart for one in taken.values())


def _missing(claim: Claim, runs: Mapping[str, Candidate]) -> Iterator[str]:
    """In what the runs differ from what the claim needs: where they were first, for that costs nothing to know."""
    for name, needs in claim.scenes.items():
        before = f"{name}: " if name else ""
        scene = runs[name].scene
        places = differences(needs, scene)
        if scene.rate_bps is None and not places and f"LINK_{name}".rstrip("_") in Inequality(claim.check).words:
            places = ("the rate of the link is not known",)
        yield from (before + what for what in places or _unmeasured(needs, runs[name]))


def unfit(needs: Needs, run: Candidate) -> tuple[str, ...]:
    """In what a run differs from that, where it was first, for that costs nothing to know; () where it does not."""
    return differences(needs, run.scene) or _unmeasured(needs, run)


def _unmeasured(needs: Needs, run: Candidate) -> tuple[str, ...]:
    """What a claim needs and nobody asked in a place that fits."""
    return tuple(_not_asked(needs, run))


def _not_asked(needs: Needs, run: Candidate) -> Iterator[str]:
    measured = run.measured
    question, part = ("pingpong", STEPS[0]) if needs.question == "steps" else (needs.question, "")
    fars = {0}
    for stack in needs.stacks:
        cells = measured.asked.get((question, stack, part), ())
        fars |= {cell.fars for cell in cells}
        if not cells:
            yield f"{needs.question} of {stack}: not measured"
        elif short := [str(size) for size in needs.sizes if all(cell.size_bytes != size for cell in cells)]:
            yield f"{stack}, {', '.join(short)} bytes: not measured"
    if needs.receivers and max(fars) < needs.receivers:
        yield f"{max(fars)} receivers of {needs.receivers}"
    there = counts(question, fars)
    at_once = max(*there, run.scene.pairs_at_once)
    if needs.at_once and at_once < needs.at_once:
        yield f"{at_once} at once of {needs.at_once}"
    if missing := [str(count) for count in needs.counts if count not in there]:
        yield f"{', '.join(missing)} at once: not measured"
    if needs.counters and not measured.crossed:
        yield "nobody counted what crossed the interfaces"


def _on(claim: Claim, runs: Mapping[str, Candidate]) -> Verdict:
    """The verdict on runs that have what it needs. VaivenError ("not-measured", "bad-claim")."""
    readings = {name: Reading(run.measured, claim.scenes[name]) for name, run in runs.items()}
    words: dict[str, Any] = {
        f"{word}_{name}" if name else word: meaning
        for name, reading in readings.items()
        for word, meaning in reading.words().items()
    }
    made: list[Comparison] = []
    margins = np.atleast_1d(Inequality(claim.check).margin(words, made))
    value, replicates = float(margins[0]), margins[1:]
    launches = min(reading.launches for reading in readings.values())
    p = None
    if claim.kind == "fact":
        found = Estimate(value, value, value, "")
    elif launches < LAUNCHES_MIN:
        found = refusal(too_few(launches), "")
    else:
        found = interval(replicates, value, "", launches)
        p = beyond(replicates, value, launches) if found.known else None
    return Verdict(
        claim, _word(found), value, found, p,
        runs=tuple(run.id for run in runs.values()),
        models=tuple(sorted({host for reading in readings.values() for host in reading.modelled})),
        closest=closest(made, value, launches, tuple(runs)) if found.known and claim.kind != "fact" else None,
    )  # fmt: skip


def _among_others(alone: Verdict, p: float, tests: int) -> Verdict:
    if p <= LEVEL or alone.word is Word.NOT_SETTLED:
        return replace(alone, p_adjusted=p)
    return replace(alone, p_adjusted=p, word=Word.NOT_SETTLED)


def _untold(claim: Claim, word: Word, why: str) -> Verdict:
    return Verdict(claim, word, None, refusal(why, ""))


def _word(margin: Estimate) -> Word:
    if margin.low is not None and margin.low > 1:
        return Word.HOLDS
    if margin.high is not None and margin.high < 1:
        return Word.DOES_NOT_HOLD
    return Word.NOT_SETTLED
