# SPDX-License-Identifier: BSD-3-Clause
"""Do fresh runs of the papers' plans say the same? The verdicts of several directories of runs, side by side.

    vaiven measure papers/d --length standard --runs /tmp/first      again, labs raised anew, into /tmp/second
    python bench/again.py /tmp/first /tmp/second [--papers ABCD]

Each directory is judged by itself, as `vaiven reproduce --runs` does. No claim may hold in one and not hold in another,
nor by one run of any of them and not by another that fits it as well: it would depend on more than its needs say, and
on which plan was measured last. Of the 102 claims of papers A to D that can be checked without collectives at least 88
are to be settled in each.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flips import sound

from vaiven.papers.claims import Claim, published
from vaiven.papers.judge import SETTLED, TOLD, Candidate, Verdict, Word, fitting, judge


def opposite(verdicts: Iterable[Verdict]) -> bool:
    """Whether the claim holds by one of these and does not by another."""
    return {one.word for one in verdicts} >= set(SETTLED)


@dataclass(frozen=True)
class Row:
    """What became of a claim in each directory."""

    claim: str
    verdicts: tuple[Verdict, ...]

    @property
    def opposite(self) -> bool:
        """Whether it holds in one and does not in another."""
        return opposite(self.verdicts)

    @property
    def told(self) -> bool:
        """Whether any can tell it."""
        return any(one.word in TOLD for one in self.verdicts)


def candidates(root: Path) -> list[Candidate]:
    """The runs below that directory. Raises VaivenError where one is damaged."""
    return [Candidate.of_run(run) for run in sound(root)]


def torn(claims: Sequence[Claim], measured: Sequence[Sequence[Candidate]]) -> list[str]:
    """The claims that hold by one run of any directory and do not by another that fits.

    Each directory is asked by itself, too: a claim over several runs is asked of the newest few only.
    """
    pools = [*measured, [run for runs in measured for run in runs]]
    return [one.id for one in claims if any(opposite(fitting(one, runs)) for runs in pools)]


def rows(judged: Sequence[Sequence[Verdict]], papers: str) -> list[Row]:
    """Of the claims of those papers that any directory can tell."""
    found = [Row(alike[0].claim.id, tuple(alike)) for alike in zip(*judged, strict=True)]
    return [one for one in found if one.claim[0] in papers and one.told]


def table(found: Sequence[Row], names: Sequence[str]) -> str:
    """Markdown, a line for each claim."""
    lines = [f"| claim | {' | '.join(names)} |", "|---" * (1 + len(names)) + "|"]
    lines += [f"| {one.claim} | {' | '.join(map(_text, one.verdicts))} |" for one in found]
    return "\n".join(lines)


def _text(one: Verdict) -> str:
    if one.margin is None or not one.interval.known:
        return str(one.word)
    if one.claim.kind == "fact":
        return f"{one.word}, a fact"
    return f"{one.word}, {one.margin:.3g} ({one.interval.low:.3g} - {one.interval.high:.3g})"


def counts(found: Sequence[Row], names: Sequence[str]) -> Mapping[str, Mapping[Word, int]]:
    """Name of a directory -> word -> how many claims."""
    return {
        name: {word: sum(one.verdicts[number].word is word for one in found) for word in TOLD}
        for number, name in enumerate(names)
    }


def main() -> int:
    """Prints the table, how many claims each directory settles, and which are opposite or torn."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("runs", type=Path, nargs="+", help="directories of runs")
    options.add_argument("--papers", default="ABCD", help="letters")
    given = options.parse_args()
    names = [str(one) for one in given.runs]
    measured = [candidates(root) for root in given.runs]
    found = rows([judge(published(), runs) for runs in measured], given.papers)
    if not found:
        options.error(f"no claim of {given.papers} can be told from {', '.join(names)}")
    print(table(found, names), end="\n\n")
    for name, words in counts(found, names).items():
        settled = sum(words[word] for word in SETTLED)
        print(f"{name}: {settled} settled: " + ", ".join(f"{count} {word}" for word, count in words.items()))
    apart = [one.claim for one in found if one.opposite]
    print(f"opposite: {', '.join(apart) or 'none'}")
    claims = [one for one in published() if one.id[0] in given.papers]
    depending = torn(claims, measured)
    print(f"opposite by two runs that fit: {', '.join(depending) or 'none'}")
    return 1 if apart or depending else 0


if __name__ == "__main__":
    sys.exit(main())
