# SPDX-License-Identifier: BSD-3-Clause
"""All that one run says, each part computed when it is first asked for, and kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar, get_type_hints

from vaiven import questions
from vaiven.errors import VaivenError
from vaiven.plan import ends
from vaiven.questions import PLAIN, Answer, Answered, Compared
from vaiven.results import facts as facts_of
from vaiven.results.asymmetries import Asymmetries, asymmetries
from vaiven.results.audiences import Audiences
from vaiven.results.comparison import ALPHA, MARGIN, Comparison, comparison, rules
from vaiven.results.costs import Costs, Knees, Sizes, knees, sizes
from vaiven.results.facts import Facts, Host, facts
from vaiven.results.findings import Findings, Pair, require_pair, told
from vaiven.results.first import Openings
from vaiven.results.history import History
from vaiven.results.ladders import Ladders, ladders
from vaiven.results.listing import Listing
from vaiven.results.loggp import LogGPs
from vaiven.results.lost import LostTimes, lost_times
from vaiven.results.names import StatisticWord
from vaiven.results.outcome import Outcome, outcome
from vaiven.results.overlap import Overlaps
from vaiven.results.pairing import Asked, spelled
from vaiven.results.programs import ProgramTimes
from vaiven.results.result import Result, to_json
from vaiven.results.sentinel import Sentinel, sentinel
from vaiven.results.steps import StepTimes
from vaiven.results.warnings import Notice, Warnings, doubts, one_sided, recorded, unsteady
from vaiven.store.query import Run

R = TypeVar("R", bound=Result[Any])


def _answers() -> dict[str, Answer]:
    """Every answer, by its kind, in the order of the questions."""
    return {one.answer.kind: one.answer for one in questions.ALL.values() if one.answer}


_KINDS: list[type[Result[Any]]] = [
    get_type_hints(questions.loaded(one.estimator))["return"] for one in _answers().values()
]
# What a run may say, in the order of a document; and every kind of result that there is.
OF_A_RUN: tuple[type[Result[Any]], ...] = (
    Outcome, Warnings, Costs, Sizes, Knees, Ladders, Asymmetries, *(one for one in _KINDS if one is not Costs),
    Comparison, LostTimes,
)  # fmt: skip
KINDS: tuple[type[Result[Any]], ...] = (*OF_A_RUN, History, Listing)
# What is no error of a run, which says of one question nothing.
_NOTHING = ("nothing-measured", "too-few", "no-common-size", "no-common-block", "different-kind")


class Results:
    """What a run says. A part that the run was not asked for raises VaivenError ("nothing-measured"), with what to do.

    Times are one way in ns unless a name says otherwise. Each part is a sequence of typed values with `to_frame()`,
    `to_pandas()` and `to_json()`.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._answers: dict[str, Result[Any]] = {}

    def __repr__(self) -> str:
        return f"Results of {self._run.id}: {', '.join(one.kind for one in self)}"

    def __iter__(self) -> Iterator[Result[Any]]:
        """All parts that there are."""
        for kind in OF_A_RUN:
            try:
                found = self._answer(kind) if kind.kind in _answers() else getattr(self, kind.kind)
            except VaivenError as error:
                if error.code not in _NOTHING:
                    raise
            else:
                if len(found):
                    yield found

    @property
    def costs(self) -> Costs:
        """What a message costs, stack by stack: alpha, beta, rates."""
        return self._answer(Costs)

    @cached_property
    def sizes(self) -> Sizes:
        """What messages of each size take."""
        return sizes(self.costs)

    @cached_property
    def knees(self) -> Knees:
        """Where costs change their law."""
        return knees(self.costs)

    @cached_property
    def ladders(self) -> Ladders:
        """Which layer takes the time."""
        return ladders(self._run, self.costs)

    @cached_property
    def asymmetries(self) -> Asymmetries:
        """Whether both ways between two hosts cost the same, where each was timed."""
        return asymmetries(self._run)

    @property
    def loggp(self) -> LogGPs:
        """Where the start-up of a message goes; of a run that asked prtt."""
        return self._answer(LogGPs)

    @property
    def overlaps(self) -> Overlaps:
        """What of a message is hidden behind a computation; of a run that asked overlap."""
        return self._answer(Overlaps)

    @property
    def openings(self) -> Openings:
        """What the first messages of a connection cost; of a run that asked first."""
        return self._answer(Openings)

    @property
    def steps(self) -> StepTimes:
        """What encoding, sending, decoding and translating take; of a run that asked steps."""
        return self._answer(StepTimes)

    @property
    def programs(self) -> ProgramTimes:
        """What whole programs take. Empty where none was asked."""
        return self._answer(ProgramTimes)

    @property
    def audiences(self) -> Audiences:
        """The questions with several far ends. Empty where none was asked."""
        return self._answer(Audiences)

    @cached_property
    def comparison(self) -> Comparison:
        """Every two stacks held against each other, at every size, all judged together."""
        return self.compare()

    @cached_property
    def outcome(self) -> Outcome:
        """How the run ended: what was done, what was not, how exactly the medians are known."""
        return outcome(self._run)

    @cached_property
    def lost_times(self) -> LostTimes:
        """The launches that lost their time, done again or kept. Empty where none did."""
        return lost_times(self._run)

    @cached_property
    def sentinel(self) -> Sentinel | None:
        """Whether the network stayed the same while it was measured; None where nothing watched it."""
        return sentinel(self._run)

    @cached_property
    def facts(self) -> Facts:
        """Where the numbers come from, and how to get them again."""
        return facts(self._run)

    @property
    def believed(self) -> Facts:
        """The same without a rate of the link, where the times of the run speak against it."""
        doubted = any(one.code == "slow-path" for one in self.doubts)
        return replace(self.facts, rate_bits_per_s=None) if doubted else self.facts

    @cached_property
    def doubts(self) -> Warnings:
        """What speaks against what is said of the link, the gravest first. Of a run without ping-pongs nothing does."""
        return doubts(self._run, self._costs)

    @cached_property
    def warnings(self) -> Warnings:
        """What must be known before a number is believed."""
        said = tuple(recorded(self._run))
        known = {one.code for one in said}  # what the run found out by itself is not told twice
        unsettled = (*unsteady(self.sentinel, self.outcome.wanted), *one_sided(self.asymmetries))
        seen = [one for one in unsettled if one.code not in known]
        missing = self.ladders.missing if self._costs else ()
        return Warnings(runs=(self._run.id,), items=(*self.doubts, *seen, *said, *missing))

    def compare(
        self,
        *stacks: str,
        hosts: Sequence[Pair] = (),
        ask: Compared = PLAIN,
        statistic: StatisticWord = "median",
        margin: float = MARGIN,
        alpha: float = ALPHA,
    ) -> Comparison:
        """Stacks of this run held against each other, the first against the others, and so on; without names all.

        hosts: only between these (near, far). margin: what counts as the same, 0.02 is 2 % more or less. alpha: how
        often a difference may be called that is none, among those called. Raises VaivenError as results.comparison.
        """
        asked = Asked(stacks=[spelled(one) for one in stacks], hosts=hosts, ask=ask, statistic=statistic)
        return comparison([self._run], asked, rules(margin, alpha))

    def answer(self, ask: Answered) -> Result[Any]:
        """What the run says to that question. Raises VaivenError ("nothing-measured") where it has no answer."""
        question = questions.ALL[ask]
        found = self.said_by(question.answer) if question.answer else None
        if found is not None and question.several:  # several questions of this kind have one answer
            found = replace(found, items=tuple(one for one in found if one.ask == ask))
        if not found:
            raise VaivenError(
                f"the run {self._run.id} has no finished launch of {ask}",
                f'measure a plan with questions = ["{ask}"]',
                "nothing-measured",
            )
        return found

    def _answer(self, kind: type[R]) -> R:
        found = self.said_by(_answers()[kind.kind])
        assert isinstance(found, kind)
        return found

    def said_by(self, answer: Answer) -> Result[Any]:
        """Each answer is computed once, for all the questions whose answer it is."""
        if answer.kind not in self._answers:
            self._answers[answer.kind] = questions.loaded(answer.estimator)(self._run)
        return self._answers[answer.kind]

    def findings(self, about: Pair | None = None) -> Findings:
        """All that a page says, about those two hosts or the ones in the middle. VaivenError: "nothing-measured",
        "no-pair"."""
        answers = tuple(self._other_answers())
        found = self._costs if answers and not self._run.manifest.design.asks(PLAIN) else self.costs
        require_pair(self._run.id, found, about)
        versus, why = self._compared(found, about)
        return Findings(
            run=self.believed,
            costs=found,
            ladders=self.ladders if found else Ladders(runs=(self._run.id,), items=()),
            hosts=self._hosts(found, answers),
            warnings=replace(self.warnings, items=(*self.warnings, *why)),
            comparison=versus,
            sentinel=self.sentinel,
            asymmetries=self.asymmetries,
            answers=answers,
            about=about,
        )

    def to_json(self) -> str:
        """One document with all that there is."""
        return to_json(list(self))

    def costs_json(self) -> str:
        """One document of what a message costs: costs, sizes, knees, and what speaks against the link."""
        return to_json([self.costs, self.sizes, self.knees, self.doubts])

    @property
    def _costs(self) -> Costs:
        """None where nothing was measured of them: who asks for them alone is told why."""
        try:
            return self.costs
        except VaivenError as error:
            if error.code != "nothing-measured":
                raise
            return Costs(runs=(self._run.id,), items=())

    def _other_answers(self) -> Iterator[Result[Any]]:
        """To all that was asked beside what a message costs, as far as it came through: who asks alone is told why."""
        for answer in (one for one in _answers().values() if one.kind != Costs.kind):
            try:
                found = self.said_by(answer)
            except VaivenError as error:
                if error.code != "nothing-measured":
                    raise
            else:
                if found:
                    yield found

    def _hosts(self, found: Costs, answers: Sequence[Result[Any]]) -> tuple[Host, ...]:
        measured = {host for one in found for host in one.pair}
        measured |= {host for said in answers for one in said for host in (one.near, *ends.split(one.far))}
        inventories = self._run.manifest.hosts.items()
        return tuple(facts_of.host(name, inventory) for name, inventory in inventories if name in measured)

    def _compared(self, found: Costs, about: Pair | None) -> tuple[Comparison | None, tuple[Notice, ...]]:
        """The verdicts between all stacks of the pairs that are told, or a notice why there are none."""
        if len({cost.stack for cost in found}) < 2:
            return None, ()
        try:
            return self.compare(hosts=told(found, about)), ()
        except VaivenError as error:
            return None, (Notice(code="no-verdicts", text=f"no verdicts: {error.what}"),)
