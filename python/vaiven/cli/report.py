# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven report`: a run as one HTML page, and its charts as SVG files."""

from __future__ import annotations

import datetime
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from vaiven.cli.compare import comparison, pair_of_hosts
from vaiven.cli.terminal import say
from vaiven.errors import VaivenError

if TYPE_CHECKING:
    from vaiven.model.asymmetry import Asymmetry
    from vaiven.model.loggp import LogGP
    from vaiven.model.times import LaunchTimes
    from vaiven.report.findings import Findings, Host, PairLadder, Sentinel, StackCost, Warning
    from vaiven.report.findings import Run as RunFacts
    from vaiven.store.query import Run

_PAGE, _PICTURE = b'<meta name="generator" content="vaiven', b"<svg"  # what a file has that may be replaced
LAYERS = ("eth", "udp", "tcp")  # each stands on the one before it; other stacks stand beside the ladder


def report(
    run: str = "last",
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    pair: str = "",
    svg: Path | None = None,
    link: str = "",
    runs: Path | None = None,
) -> None:
    """Write a run as one HTML page that needs no network: the answer in words, tables, curves, how to repeat it.

    Parameters
    ----------
    run
        A run directory, the start of a run's id, or "last".
    output
        The file to write, its directory made if need be; without it, the run's id with .html in this directory.
    pair
        The two hosts that the answer is about and that come first, NEAR,FAR; without it, the pair in the middle.
    svg
        Also write the time and rate charts, or those of one message for many, as SVG files to this directory, made if
        need be.
    link
        The rate of the link, "100 Mb/s", instead of what the run says: the wire's times are computed again.
    runs
        Where runs are kept; without it $VAIVEN_RUNS, or ./runs.
    """
    from vaiven.cli.link import read_again
    from vaiven.store import query

    found = read_again(query.find(run, runs or query.root()), link)
    about = next(iter(pair_of_hosts(pair)), None)
    page = write_page(found, output or Path(f"{found.name}.html"), svg, about)
    say(str(page))


def write_page(run: Run, output: Path, svg: Path | None = None, about: tuple[str, str] | None = None) -> Path:
    """Writes the page of a run whole or not at all, and the SVG files beside it if asked. Returns `output`.

    about: the (near, far) hosts that come first. Raises VaivenError: "nothing-measured", "no-pair", "cannot-write".
    """
    from vaiven.report import page

    said = findings(run, about)
    if svg is not None:
        for name, text in page.pictures(said).items():
            _write(svg / name, text, _PICTURE)
    _write(output, page.page(said), _PAGE)
    return output


def findings(run: Run, about: tuple[str, str] | None = None) -> Findings:
    """Everything that the page says of a run. Raises VaivenError: "nothing-measured", "no-pair"."""
    from vaiven.cli.link import doubts
    from vaiven.cli.model import stack_costs
    from vaiven.cli.outcome import stop_of
    from vaiven.cli.several import audiences
    from vaiven.plan import ends
    from vaiven.report.findings import Findings, PairLadder, Warning

    many = audiences(run)
    costs = () if many and not _asked(run, "pingpong") else stack_costs(run)
    pairs = dict.fromkeys(cost.pair for cost in costs)
    if about is not None and about not in pairs:
        there = "; ".join(",".join(pair) for pair in pairs)
        raise VaivenError(f"the run {run.id} has no pair {','.join(about)}", f"it has {there}", code="no-pair")
    measured = {host for cost in costs for host in cost.pair}
    measured |= {host for one in many for host in (one.near, *ends.split(one.far))}
    hosts = tuple(_host(name, facts) for name, facts in run.manifest.hosts.items() if name in measured)
    facts, doubted = _run_facts(run), doubts(run, costs)
    ladders = list(_ladders(run, costs))
    sentinel = _sentinel(run)
    asymmetries = tuple(_asymmetries(run))
    said = tuple(_warnings(run))
    known = {one.code for one in said}  # what the run found out by itself is not told twice
    unsteady = _unsteady(sentinel, stop_of(run).half_width)
    seen = [one for one in (*unsteady, *_one_sided(asymmetries)) if one.code not in known]
    notes = [one for one in ladders if isinstance(one, Warning)]
    found = Findings(
        run=replace(facts, rate_bits_per_s=None) if any(one.code == "slow-path" for one in doubted) else facts,
        costs=costs,
        ladders=tuple(one for one in ladders if isinstance(one, PairLadder)),
        hosts=hosts,
        warnings=(*doubted, *seen, *said, *notes),
        sentinel=sentinel,
        asymmetries=asymmetries,
        loggp=_loggp(run),
        audiences=many,
        about=about,
    )
    return _compared(run, found)


def _asked(run: Run, question: str) -> bool:
    """Whether the plan of the run asks this; a design without questions is one of ping-pongs."""
    return question in {course.get("ask", "pingpong") for course in run.manifest.design.get("courses", [])}


def _loggp(run: Run) -> tuple[LogGP, ...]:
    """Nothing where prtt was not asked, or no size of it came through: the terminal says why."""
    from vaiven.cli.loggp import loggp_of

    try:
        return loggp_of(run)
    except VaivenError as error:
        if error.code != "nothing-measured":
            raise
        return ()


def _compared(run: Run, found: Findings) -> Findings:
    """With the verdicts between all stacks of the pairs that the page shows, or with a warning why there are none."""
    from vaiven.report.findings import Warning
    from vaiven.report.page import shown_pairs

    if len(found.stacks) < 2:
        return found
    try:
        return replace(found, comparison=comparison([run], hosts=shown_pairs(found)))
    except VaivenError as error:
        return replace(found, warnings=(*found.warnings, Warning("no-verdicts", f"no verdicts: {error.what}", "")))


def _sentinel(run: Run) -> Sentinel | None:
    """The cell that every block holds, and whether it stayed the same."""
    from vaiven.model.numbers import size_text
    from vaiven.report.findings import Sentinel
    from vaiven.stats.drift import drift
    from vaiven.store import query

    table = query.sentinels(run).drop_nulls("ns_median")
    if table.is_empty():
        return None
    first = table.row(0, named=True)
    table = table.filter(**{name: first[name] for name in ("near", "far", "stack", "ask", "size_bytes")})
    table = table.unique("block", keep="last", maintain_order=True)
    cell = f"{first['stack']} {size_text(first['size_bytes'])}, {first['near']} → {first['far']}"
    return Sentinel(cell, drift(table["block"].to_numpy(), table["ns_median"].to_numpy()))


def _unsteady(sentinel: Sentinel | None, wanted: float) -> Iterator[Warning]:
    """What the sentinel gives away."""
    from vaiven.report.findings import Warning
    from vaiven.stats.noise import drift_marks

    if sentinel is not None:
        for mark in drift_marks(sentinel.drift, wanted):
            yield Warning(mark.code, f"{mark.text}: {mark.remedy}", sentinel.cell)


def _asymmetries(run: Run) -> Iterator[Asymmetry]:
    """Every stack that was timed one way in both directions between two hosts."""
    from vaiven.cli.model import launch_times, of_stack
    from vaiven.model.asymmetry import asymmetry
    from vaiven.model.times import Statistic
    from vaiven.store import query

    table = query.launches(run).filter(ask="oneway").drop_nulls("ns_median")
    keys = table.select("near", "far", "stack").unique(maintain_order=True).rows()
    for near, far, stack in keys:
        if near < far and (far, near, stack) in keys:
            ways = ((near, far, stack), (far, near, stack))
            there, back = (launch_times(of_stack(table, key), key, Statistic.TYPICAL, "oneway") for key in ways)
            yield asymmetry(there, back)


def _one_sided(asymmetries: Sequence[Asymmetry]) -> Iterator[Warning]:
    from vaiven.report.findings import Warning

    for one in asymmetries:
        if one.asymmetric_bytes.size:
            yield Warning("asymmetric", one.text, f"{one.there} and back")


def _write(path: Path, text: str, mark: bytes) -> None:
    """A reader never sees half a page. VaivenError ("cannot-write"), also where what is there has no such mark."""
    from vaiven.store import files

    files.require_replaceable(path, mark)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("x", encoding="utf-8") as file:  # "x" follows no link that waits there
            file.write(text)
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise VaivenError(
            f"cannot write {path}: {error.strerror}", "choose another place with -o", "cannot-write"
        ) from error


def _ladders(run: Run, costs: tuple[StackCost, ...]) -> Iterator[PairLadder | Warning]:
    """The ladder of every pair of hosts that has two or more of its layers, or why it has none."""
    import numpy as np

    from vaiven.cli.link import believed
    from vaiven.cli.model import launch_times, of_stack
    from vaiven.model.ladder import ladder
    from vaiven.model.times import Statistic
    from vaiven.report.findings import PairLadder, Warning
    from vaiven.store import query

    table = believed(run, query.launches(run)).filter(ask="pingpong")
    rng = np.random.default_rng(int(run.manifest.design.get("seed", 1)))
    for near, far in dict.fromkeys(cost.pair for cost in costs):
        layers = [cost for layer in LAYERS for cost in costs if (cost.near, cost.far, cost.stack) == (near, far, layer)]
        if len(layers) < 2:
            continue
        keys = [(near, far, cost.stack) for cost in layers]
        times = [launch_times(of_stack(table, key), key, Statistic.TYPICAL) for key in keys]
        cpu = [_cpu_ns(cost, one) for cost, one in zip(layers, times, strict=True)]
        try:
            yield PairLadder(near, far, ladder(times, rng, cpu))
        except VaivenError as error:
            yield Warning("no-ladder", f"no ladder of layers: {error.what}", f"{near} → {far}")


def _cpu_ns(cost: StackCost, times: LaunchTimes) -> Any:
    """CPU time of both ends for each message, by the sizes of `times`; NaN where an end is not known."""
    import numpy as np

    both = {
        point.size_bytes: point.cpu_near_ns + point.cpu_far_ns
        for point in cost.points
        if point.cpu_near_ns is not None and point.cpu_far_ns is not None
    }
    return np.array([both.get(int(size), np.nan) for size in times.sizes_bytes])


def _run_facts(run: Run) -> RunFacts:
    from vaiven.cli.claims import claims_text
    from vaiven.cli.tcp import tcp_text
    from vaiven.report.findings import Run as RunFacts
    from vaiven.store import query

    manifest, link = run.manifest, run.manifest.link or {}
    seed = int(manifest.design.get("seed", 1))
    return RunFacts(
        id=run.id,
        started=manifest.created_utc.replace("T", " ").replace("Z", " UTC"),
        lasted_s=_lasted_s(run),
        finished=run.state == "ended",
        launches=len(query.launch_records(run)),
        samples=int(query.launches(run)["count"].sum()),
        seed=seed,
        plan_name=Path(manifest.plan_name).name or manifest.title,
        plan_text=manifest.plan_text,
        fabric=", ".join(filter(None, (_fabric(manifest.place), tcp_text(run)))),
        rate_bits_per_s=link.get("rate_bps"),
        hops=link.get("hops"),
        mtu_bytes=link.get("mtu_bytes"),
        versions=tuple(_flat(manifest.versions)) + tuple(_flat(_without_arguments(manifest.environment))),
        commands=_commands(run),
        virtual="lab" in manifest.place,
        claims=claims_text(run),
    )


def _commands(run: Run) -> tuple[str, ...]:
    """What to type to get such a run, its numbers and this page again."""
    typed = run.manifest.environment.get("arguments") or ["measure", Path(run.manifest.plan_name).name]
    again = shlex.join(["vaiven", *filter(None, map(str, typed))])
    name = shlex.quote(run.name)
    several = len({course.get("stack") for course in run.manifest.design.get("courses", [])}) > 1
    if not _asked(run, "pingpong"):
        return (again, f"vaiven model {name} --several", f"vaiven report {name}")
    compare = (f"vaiven compare {name}",) if several else ()
    return (again, f"vaiven model {name} --sizes", *compare, f"vaiven report {name}")


def _without_arguments(environment: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in environment.items() if name != "arguments"}


def _lasted_s(run: Run) -> float | None:
    if run.end is None:
        return None
    began, ended = (datetime.datetime.fromisoformat(text) for text in (run.manifest.created_utc, run.end.ended_utc))
    return (ended - began).total_seconds()


def _host(name: str, facts: Mapping[str, Any]) -> Host:
    from vaiven.report.findings import Host

    return Host(name, tuple(_flat(facts)))


def _warnings(run: Run) -> Iterator[Warning]:
    """The run's own warnings, and what its end says; each sentence once, with how often it was said."""
    from vaiven.cli.link import CODES
    from vaiven.model.numbers import percent_text
    from vaiven.report.findings import Warning
    from vaiven.store import query

    counts: dict[tuple[str, str, str], int] = {}
    for line in query.warnings(run):
        if line.get("code") in CODES:  # what the link is now said to be decides
            continue
        where = str(line.get("host") or line.get("where") or line.get("stack") or "")
        key = (str(line.get("code", "")), str(line.get("text", "")), where)
        counts[key] = counts.get(key, 0) + 1
    if run.end is not None and run.end.reason == "not-achieved":
        width = "" if run.end.half_width is None else f": {percent_text(run.end.half_width)} at {run.end.cell}"
        counts[("not-achieved", f"the wanted width of the intervals was not achieved{width}", "")] = 1
    for (code, text, where), count in counts.items():
        yield Warning(code, f"{text} ({count} times)" if count > 1 else text, where)


def _fabric(place: Mapping[str, Any]) -> str:
    """Where it was measured: a lab's name, kind and class, or real hosts."""
    from vaiven.cli.footer import calibration

    lab = place.get("lab")
    if isinstance(lab, Mapping):
        fabric = lab.get("fabric", {})
        described = f"lab {lab.get('name', '')}", fabric.get("kind", ""), fabric.get("class", ""), calibration(place)
        return ", ".join(filter(None, described))
    return f"lab {lab}" if lab else "real hosts"


def _flat(facts: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """(what, value) of nested facts, in words: {"cpu": {"cache_bytes": 32768}} is ("cpu cache", "32 KiB")."""
    for name, value in facts.items():
        what = f"{above} {name}".strip()
        if value is None or value in ("", [], {}) or what in _NOT_TOLD:
            continue
        if isinstance(value, Mapping) and not all(isinstance(one, bool) for one in value.values()):
            yield from _flat(value, what)
        elif isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
            for number, one in enumerate(value, start=1):
                yield f"{what.replace('_', ' ')} {number}", ", ".join(" ".join(pair) for pair in _flat(one))
        else:
            yield _fact(what, value)


_NOT_TOLD = {"type", "schema"}  # of the record that the probe prints
_UNITS = ("_bytes", "_bps", "_milli")


def _fact(what: str, value: Any) -> tuple[str, str]:
    """One fact: its unit moves from the end of the name to the value."""
    from vaiven.model.numbers import bits_text, digits

    name = next((what.removesuffix(unit) for unit in _UNITS if what.endswith(unit)), what).replace("_", " ")
    if isinstance(value, Mapping):
        return name, ", ".join(f"{one} {'on' if on else 'off'}" for one, on in value.items())
    if isinstance(value, list | tuple):
        return name, ", ".join(map(str, value))
    if not isinstance(value, int) or isinstance(value, bool):
        return name, str(value)
    if what.endswith("_bytes"):
        return name, _memory_text(value)
    if name.endswith(" hz"):
        return name.removesuffix("hz") + "clock", f"{digits(value / 1e9)} GHz"
    if what.endswith("_bps"):
        return name, bits_text(value / 8)
    return name, digits(value / 1000) if what.endswith("_milli") else str(value)


def _memory_text(size_bytes: int) -> str:
    """Memory as it is sold: 48 KiB, 23.5 GiB; what is small, to the byte."""
    from vaiven.model.numbers import digits, size_text

    if size_bytes < 10_000:
        return size_text(size_bytes)
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size_bytes >= 2**power:
            return f"{digits(size_bytes / 2**power) if size_bytes % 2**power else size_bytes >> power} {unit}"
    return size_text(size_bytes)
