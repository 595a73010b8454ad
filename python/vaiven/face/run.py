# SPDX-License-Identifier: BSD-3-Clause
"""A run as Python sees it: its frames, what it says, its pictures and its page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import msgspec

from vaiven.errors import VaivenError
from vaiven.questions import PLAIN, Compared
from vaiven.report import notebook  # shows results in a notebook
from vaiven.report.files import write_overlay, write_page
from vaiven.report.outcome import closing
from vaiven.results import between, comparison, recorded
from vaiven.results import history as histories
from vaiven.results import overlay as overlays
from vaiven.results.comparison import ALPHA, MARGIN, Comparison
from vaiven.results.findings import Pair
from vaiven.results.history import History
from vaiven.results.link import read_again
from vaiven.results.listing import Listing, listing
from vaiven.results.names import StatisticWord
from vaiven.results.pairing import Asked, spelled
from vaiven.results.results import Results
from vaiven.store import query

if TYPE_CHECKING:
    import pandas
    import polars as pl

    from vaiven.report.notebook import Pictures

Name = str | Path  # of a run: its id, the start of that, its directory, or "last"


class Run:
    """A run that can be read. Frames are of polars; vaiven.to_pandas makes one of pandas of each.

    It reads what is asked for when it is asked for, and refuses by name what is not what was written.
    """

    def __init__(self, stored: query.Run) -> None:
        self._stored = stored

    @property
    def id(self) -> str:
        """Time, title and three random bytes: the name of its directory."""
        return self._stored.id

    @property
    def path(self) -> Path:
        """Its directory."""
        return self._stored.path

    @property
    def title(self) -> str:
        """Of its plan."""
        return self._stored.manifest.title

    @property
    def state(self) -> str:
        """ "running", "stopped" (vaiven.resume goes on with it) or "ended"."""
        return self._stored.state

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that it was measured on."""
        return tuple(self._stored.manifest.hosts)

    @property
    def link(self) -> Mapping[str, Any]:
        """rate_bps, hops and mtu_bytes of the wire, as far as they are known."""
        return msgspec.to_builtins(self._stored.manifest.link) if self._stored.manifest.link else {}

    def samples(self, *, sentinel: bool = False, parts: bool = False) -> pl.DataFrame:
        """One row per timed exchange: one_way_ns and rtt_ns, infinite where it was lost.

        sentinel: also the cell that watches the network. parts: also the parts of questions, with part_ns. Samples of
        one launch are not independent: what is said of a stack, take from `launches`.
        """
        return recorded.samples(self._stored, sentinel=sentinel, parts=parts)

    def cells(self, *, sentinel: bool = False, parts: bool = False) -> pl.DataFrame:
        """One row per cell of a launch: what was counted, and what its messages are on the wire."""
        return recorded.cells(self._stored, sentinel=sentinel, parts=parts)

    def launches(self, *, sentinel: bool = False, parts: bool = False) -> pl.DataFrame:
        """One row per cell of a launch: the same, with one_way_ns_median, _min, _mean, _p95, _p99, and rtt_ns_..."""
        return recorded.launches(self._stored, sentinel=sentinel, parts=parts)

    def results(self) -> Results:
        """What it says: costs, sizes, comparison, ladders ..., each computed when it is first asked for."""
        return self._results

    def pictures(self, pair: Pair | None = None) -> Pictures:
        """Name -> picture, of those two hosts or the ones in the middle. Raises VaivenError: "no-pair",
        "nothing-measured"."""
        return notebook.pictures(self._results.findings(pair))

    def page(self, path: str | Path | None = None, pair: Pair | None = None) -> Path:
        """Writes the page, which needs no network, and returns where: without a path ID.html, in this directory."""
        return write_page(self._results.findings(pair), Path(path or f"{self._stored.name}.html"))

    @cached_property
    def _results(self) -> Results:
        return Results(self._stored)

    def __repr__(self) -> str:
        return f"Run {self.id} ({self.state}): {self.title}"

    def _repr_html_(self) -> str:
        said = escape(closing(self._results.outcome))
        warned = "".join(
            f"<li><code>{escape(one.code)}</code> {escape(one.text)}</li>" for one in self._results.warnings
        )
        try:
            tables = self._results.costs._repr_html_()
        except VaivenError as error:
            tables = f"<p>{escape(str(error))}</p>"
        head = f"<p><b>{escape(self.title)}</b> <code>{escape(self.id)}</code><br>{said}</p>"
        return f"{head}{tables}{f'<ul>{warned}</ul>' if warned else ''}"


class Runs(Sequence[Run]):
    """The runs of a directory, oldest first. unreadable: sentences on those that are none."""

    def __init__(self, found: Sequence[query.Run | VaivenError]) -> None:
        self._found = found
        self._runs = tuple(Run(one) for one in found if not isinstance(one, VaivenError))

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Run, ...]: ...
    def __getitem__(self, index: int | slice) -> Run | tuple[Run, ...]:
        return self._runs[index]

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs)

    @property
    def unreadable(self) -> tuple[str, ...]:
        """Why others cannot be read: of another schema, damaged."""
        return self._listing.unreadable

    def to_frame(self) -> pl.DataFrame:
        """One row per run: its id, when it was made, how it ended."""
        return self._listing.to_frame()

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a frame of pandas."""
        return self._listing.to_pandas()

    @cached_property
    def _listing(self) -> Listing:
        return listing(self._found)

    def __repr__(self) -> str:
        return "\n".join(map(repr, self._runs)) or "no runs"

    def _repr_html_(self) -> str:
        return self._listing._repr_html_()


def open(name: Name = "last", *, runs: Name | None = None, link: str = "") -> Run:
    """The run of that name: its id, the start of it, its directory, or "last".

    runs: where runs are kept; without it $VAIVEN_RUNS, or ./runs. link: the rate of the link, "100 Mb/s", instead of
    what the run says: the wire's times are computed again. Raises VaivenError: "no-run", "run-older", "run-newer",
    "run-damaged".
    """
    return Run(read_again(query.find(str(name), _root(runs)), link))


def runs(where: Name | None = None) -> Runs:
    """All runs in that directory, oldest first; without one in $VAIVEN_RUNS, or ./runs."""
    return Runs(query.runs(_root(where)))


def compare(
    before: Run | Sequence[Run],
    after: Run | Sequence[Run],
    *,
    stacks: Sequence[str] = (),
    hosts: Sequence[Pair] = (),
    ask: Compared = PLAIN,
    statistic: StatisticWord = "median",
    margin: float = MARGIN,
    alpha: float = ALPHA,
) -> Comparison:
    """Later runs against earlier ones, stack by stack. The stacks of one run: run.results().compare().

    One run of each: the later one is held against the history of runs like the earlier one, which are beside it.
    Several of each, 5 or more: the runs are held against each other. Raises VaivenError as results.comparison does.
    """
    asked = Asked(stacks=[spelled(one) for one in stacks], hosts=hosts, ask=ask, statistic=statistic)
    rules = comparison.rules(margin, alpha)
    if isinstance(before, Run) and isinstance(after, Run):
        return comparison.comparison([before._stored, after._stored], asked, rules, before.path.parent)
    earlier, later = ([one] if isinstance(one, Run) else list(one) for one in (before, after))
    first, second = (between.side([one._stored for one in side], asked.column) for side in (earlier, later))
    return comparison.sides_compared(first, second, asked, rules)


def overlay(several: Sequence[Run], path: str | Path, *, pair: Pair | None = None) -> Path:
    """Writes the page of several runs, over each other and by date, and returns where.

    pair: between those two hosts, or those in the middle of each run. Raises VaivenError: "too-few-runs" (two at the
    least), "same-run", "no-pair", "nothing-measured", "cannot-write".
    """
    return write_overlay(overlays.overlay([one._stored for one in several], pair), Path(path))


def history(plan: str, *, ask: Compared = PLAIN, stacks: Sequence[str] = (), runs: Name | None = None) -> History:
    """All runs of a plan in order of time: where they changed for good, by how much, and which settings changed there.

    plan: its name, or its file; of runs without one their title. Raises VaivenError: "no-run", "nothing-measured".
    """
    return histories.history(plan, _root(runs), ask, [spelled(one) for one in stacks])


def _root(where: Name | None) -> Path:
    return Path(where) if where is not None else query.root()
