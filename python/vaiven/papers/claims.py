# SPDX-License-Identifier: BSD-3-Clause
"""Published results, each as a sentence and as an inequality, and what becomes of it on a run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal

import msgspec

from vaiven import tomlfile
from vaiven.errors import VaivenError
from vaiven.papers.inequality import Inequality
from vaiven.papers.measured import Measured
from vaiven.stats.bootstrap import interval, too_few
from vaiven.stats.estimate import Estimate, refusal
from vaiven.stats.launches import LAUNCHES_MIN


class Claim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One published result.

    id: "A12", the letter is the paper's. figure: where it stands there, "" for the text alone. says: the sentence.
    check: the same as an inequality (papers.inequality) in the words of papers.measured. tolerance: whose the numbers
    in it are, "published" or "ours", where the paper gives none.
    """

    id: str
    figure: str = ""
    says: str
    check: str
    tolerance: Literal["published", "ours"]


class _Claims(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    claim: tuple[Claim, ...]


class Word(StrEnum):
    """What becomes of a claim."""

    HOLDS = "holds"
    DOES_NOT_HOLD = "does not hold"
    NOT_SETTLED = "not settled"
    NOT_MEASURABLE = "not measurable here"


@dataclass(frozen=True)
class Verdict:
    """margin: of the claim's inequality on this run, above 1 where it is so; its interval decides the word.

    margin is None of what is not measurable, and `interval` says what is missing; or that launches are too few.
    """

    claim: Claim
    word: Word
    margin: float | None
    interval: Estimate


def published() -> tuple[Claim, ...]:
    """The claims that come with vaiven."""
    return tomlfile.load(Path(__file__).with_name("claims.toml"), _Claims).value.claim


def judge(claim: Claim, measured: Measured) -> Verdict:
    """What becomes of the claim on that run. VaivenError ("bad-claim")."""
    reading = measured.reading()
    try:
        margins = Inequality(claim.check).margin(reading.words())
    except VaivenError as error:
        if error.code != "not-measured":
            raise
        return Verdict(claim, Word.NOT_MEASURABLE, None, refusal(error.what, ""))
    value, replicates = float(margins[0]), margins[1:]
    if reading.launches < LAUNCHES_MIN:
        found = refusal(too_few(reading.launches), "")
    else:
        found = interval(replicates, value, "", reading.launches)
    return Verdict(claim, _word(found), value, found)


def _word(margin: Estimate) -> Word:
    if margin.low is not None and margin.low > 1:
        return Word.HOLDS
    if margin.high is not None and margin.high < 1:
        return Word.DOES_NOT_HOLD
    return Word.NOT_SETTLED
