# SPDX-License-Identifier: BSD-3-Clause
"""Published results: each as a sentence, as an inequality with what that depends on, or with why there is none."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from vaiven import tomlfile
from vaiven.errors import VaivenError
from vaiven.papers.inequality import Inequality
from vaiven.papers.needs import Needs
from vaiven.papers.words import vocabulary

Letter = Annotated[str, Meta(pattern=r"^[A-E]\Z", description="A to E")]
Id = Annotated[str, Meta(pattern=r"^[A-E][0-9]{2}\Z", description="the letter of the paper and two digits")]
Text = Annotated[str, Meta(min_length=1)]


class Claim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One published result.

    id: "A12", the letter is the paper's. line: of its text. figure: where it stands there, "" for the text alone. says:
    the sentence, in our words. value, unit: as printed, "" without a number. corrected: what that must have been, where
    the paper erred; note: why, or what else a reader must know.

    kind: "interval", judged by an interval of the margin of `check`; "fact", a count or an identity, which is so or is
    not; "no worse", an interval with a tolerance of ours. check: an inequality (papers.inequality) in the words of
    papers.words. tolerance: whose the numbers in it are, "published" or "ours", where the paper gives none. needs: what
    it depends on; runs: the same by name, of a claim over several, which days_apart began so many days apart at least.
    left_out: clauses of the sentence that the check does not test, and why.

    unasked: why there is no check.
    """

    id: Id
    line: Annotated[int, Meta(ge=1)]
    figure: str = ""
    says: Text
    value: str = ""
    unit: str = ""
    corrected: str = ""
    note: str = ""
    kind: Literal["interval", "fact", "no worse"] = "interval"
    check: str = ""
    tolerance: Literal["published", "ours", ""] = ""
    needs: Needs = Needs()
    runs: dict[str, Needs] = {}
    days_apart: Annotated[int, Meta(ge=0)] = 0
    left_out: str = ""
    unasked: str = ""

    @property
    def paper(self) -> str:
        return self.id[0]

    @property
    def scenes(self) -> dict[str, Needs]:
        """What each run that it needs must have, by name; the one of a claim over one run has none."""
        return self.runs or {"": self.needs}


class Paper(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """letter: that its claims begin with. title: of the document. lines: of its text, in which claims are counted."""

    letter: Letter
    title: Text
    language: Text
    lines: Annotated[int, Meta(ge=1)]


class Today(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What some of the results mean for a reader of today."""

    claims: tuple[Id, ...]
    says: Text


class Published(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of claims; each stands in one `today` at most."""

    paper: Paper
    claim: tuple[Claim, ...]
    today: tuple[Today, ...] = ()


@cache
def published() -> tuple[Claim, ...]:
    """The claims that come with vaiven, by paper and number."""
    return tuple(sorted((claim for file in _files() for claim in file.claim), key=lambda claim: claim.id))


@cache
def papers() -> dict[Letter, Paper]:
    """The papers, by letter."""
    return {file.paper.letter: file.paper for file in _files()}


@cache
def today() -> dict[Id, str]:
    """What each claim means for a reader of today, by its id."""
    return {id: one.says for file in _files() for one in file.today for id in one.claims}


@cache
def _files() -> tuple[Published, ...]:
    return tuple(load(path) for path in sorted(Path(__file__).parent.glob("paper-*.toml")))


def load(path: Path) -> Published:
    """The claims of a file. VaivenError ("no-file", "bad-toml", "bad-value", "bad-claim") with file and line."""
    document = tomlfile.load(path, Published)
    paper = document.value.paper
    seen: set[str] = set()
    for number, topic in enumerate(document.value.today):
        if stray := sorted(set(topic.claims) - {claim.id for claim in document.value.claim}):
            raise document.error(f"{stray[0]} is no claim of this file", "an id from above", "today", number, "claims")
    for number, claim in enumerate(document.value.claim):
        wrong = _mistake(claim, paper) or ("two claims have this id" if claim.id in seen else "")
        if wrong:
            raise document.error(f"{claim.id}: {wrong}", "see vaiven.papers.claims.Claim", "claim", number, "id")
        seen.add(claim.id)
        try:
            _read(claim)
        except VaivenError as error:
            raise document.error(f"{claim.id}: {error.what}", error.remedy, "claim", number, "check") from None
    return document.value


def _mistake(claim: Claim, paper: Paper) -> str:
    """What no single key says; "" if all is well."""
    if claim.paper != paper.letter or claim.line > paper.lines:
        return f"it is none of paper {paper.letter}, which has {paper.lines} lines"
    if bool(claim.unasked) == bool(claim.check):
        return "it needs a check, or `unasked` that says why there is none"
    if claim.check and (not claim.tolerance or (claim.kind == "no worse" and claim.tolerance != "ours")):
        return 'tolerance: say whose it is; of "no worse" it is ours'
    if claim.kind == "fact" and claim.tolerance != "published":
        return "a fact has no tolerance but what was published"
    if claim.runs and claim.needs != Needs():
        return "say what each of its runs needs, and nothing else"
    return ""


def _read(claim: Claim) -> None:
    """VaivenError ("bad-claim") for a check that is none, or whose words there are not."""
    if not claim.check:
        return
    words = Inequality(claim.check).words
    unknown = sorted(words - {f"{word}_{run}" if run else word for word in vocabulary() for run in claim.scenes})
    if unknown:
        raise VaivenError(f"{unknown[0]!r} means nothing", "the words are those of vaiven.papers.words", "bad-claim")


def chosen(wanted: tuple[str, ...], claims: tuple[Claim, ...]) -> tuple[Claim, ...]:
    """The claims of those papers or ids, all for (). VaivenError ("no-claim")."""
    words = [word.upper() for word in wanted]
    for word in words:
        if not any(word in (claim.id, claim.paper) for claim in claims):
            remedy = "papers are A to E, claims such as A12; runs are named with --run"
            raise VaivenError(f"no claim {word!r}", remedy, code="no-claim")
    return tuple(claim for claim in claims if not words or {claim.id, claim.paper} & set(words))
