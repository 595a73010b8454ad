# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven lab`: virtual LANs on this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import cyclopts
from cyclopts import Parameter

from vaiven.cli.parameters import Json, words
from vaiven.cli.status import Status
from vaiven.errors import VaivenError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from vaiven.lab.check import CheckReport, Row
    from vaiven.lab.hosts import LabHost
    from vaiven.lab.lab import Lab
    from vaiven.lab.lab import Status as Standing
    from vaiven.lab.topology import Topology

app = cyclopts.App(name="lab", help="Virtual LANs on this machine: hosts in namespaces, joined by a hub or a switch.")

Command = Annotated[str, Parameter(allow_leading_hyphen=True)]


@app.command
def up(lab: str, /, *, instance: Annotated[str | None, Parameter(name="--as")] = None, as_json: Json = False) -> None:
    """Raise a lab.

    Parameters
    ----------
    lab
        A ready lab (see `vaiven lab list`) or a file (./my.toml).
    instance
        The name that it gets, if not its own: one lab can be up several times.
    as_json
        One JSON document instead: schema, name, hosts.
    """
    from vaiven.cli.terminal import open_console, say
    from vaiven.lab import lab as labs
    from vaiven.lab import topology
    from vaiven.results.document import document

    raised = labs.up(topology.find(lab), instance)
    console = open_console()
    for warning in raised.warnings:
        say(f"vaiven: warning: {warning}", sys.stderr)
    if as_json:
        print(document({"schema": 1, "name": raised.instance, "hosts": [_host_facts(one) for one in raised.hosts]}))
        return
    console.print(_hosts_table(raised))
    console.print(
        f"try: vaiven lab run {raised.hosts[0].full_name} -- ping -c 3 {raised.hosts[-1].name}", soft_wrap=True
    )


@app.command
def down(instance: str | None = None, /, *, all: bool = False) -> None:
    """Take a lab down, or all of them: processes, namespaces, links and files.

    Parameters
    ----------
    instance
        The name under which it is up, whole or broken.
    all
        Every lab of yours.
    """
    from vaiven.lab import lab as labs

    if (instance is None) != all:
        raise VaivenError("which lab?", "vaiven lab down NAME, or vaiven lab down --all", code="usage")
    if instance is None:
        done = labs.down_all()
        print(f"taken down: {', '.join(done)}" if done else "no lab is up")
    else:
        labs.down(instance)


@app.command(name="list")
def list_(*, as_json: Json = False) -> None:
    """List the labs that are up, whole or broken, and the ready ones. Exit status 1 if one is broken.

    One that has ended, because its processes were killed, is not: the next `vaiven lab up` sweeps away what it left.

    Parameters
    ----------
    as_json
        One JSON document instead: schema, up, ready.
    """
    from vaiven.lab import lab as labs
    from vaiven.lab import topology
    from vaiven.results.document import document

    statuses, ready = labs.running(), [topology.ready(name) for name in topology.names()]
    if as_json:
        up = [_facts(one.lab.topology if one.lab else None) | {"name": one.instance, "state": _state(one)}
              for one in statuses]  # fmt: skip
        print(document({"schema": 1, "up": up, "ready": [_facts(one) for one in ready]}))
    else:
        _list(statuses, ready)
    if any(status.problems and not status.ended for status in statuses):
        raise VaivenError("a lab is broken", "vaiven lab down NAME takes it down", code="lab-broken")


def _list(statuses: Sequence[Standing], ready: Sequence[Topology]) -> None:
    from vaiven.cli.terminal import open_console

    console = open_console()
    if statuses:
        up = [(one.instance, one.lab.topology if one.lab else None, _state(one)) for one in statuses]
        rows = [(name, str(len(lab.hosts)) if lab else "", _fabric(lab), state) for name, lab, state in up]
        console.print(_table(["up", "hosts", "fabric", "state"], rows))
    rows = [(one.name, str(len(one.hosts)), _fabric(one), one.title) for one in ready]
    console.print(_table(["ready", "hosts", "fabric", "title"], rows))


def _facts(topology: Topology | None) -> dict[str, object]:
    """What the list says of a lab; little of one whose record cannot be read."""
    if topology is None:
        return {"name": "", "title": "", "hosts": [], "fabric": None}
    return {"name": topology.name, "title": topology.title, "hosts": [host.name for host in topology.hosts],
            "fabric": topology.fabric}  # fmt: skip


@app.command
def show(name: str, /) -> None:
    """Print the file of a ready lab, to copy and change.

    Parameters
    ----------
    name
        A ready lab.
    """
    from vaiven.lab import topology

    sys.stdout.write(topology.ready_path(name).read_text(encoding="utf-8"))


@app.command
def check(
    instance: str = "",
    /,
    *,
    quick: bool = False,
    as_json: Json = False,
    forget: bool = False,
) -> None:
    """Measure whether a fabric is what it says, calibrate it, and name the class it earned.

    The calibration is kept for labs to come if the class was earned; --forget, without a lab, removes what was kept.

    Takes up to a minute, on a machine that does nothing else meanwhile. Exit status 1 if it earned less than it says, 4
    if that cannot be told because the machine itself moved too much.

    Parameters
    ----------
    instance
        A lab that is up, and idle.
    quick
        Fewer repetitions; about ten seconds.
    as_json
        One JSON document instead: the report, row by row.
    forget
        Instead, forget what checks of this machine found: labs raised from now on are not calibrated.
    """
    if forget == bool(instance):
        raise VaivenError("which lab?", "vaiven lab check NAME, or vaiven lab check --forget", code="usage")
    if forget:
        _forget()
        return
    from vaiven.lab import awake
    from vaiven.lab import check as checks
    from vaiven.lab import lab as labs
    from vaiven.results.document import document

    lab = labs.find(instance)
    if not as_json:
        print(_check_line("in us", "formula", "median", "p95", "error", "allowed", ""))
    with awake.kept(lab.topology):
        report = checks.run(lab, quick=quick, say=(lambda row: None) if as_json else _say_row)
    if as_json:
        print(document(report.as_json()))
    else:
        verdict = f"earned: {report.earned or 'nothing'}" if report.decided else "not decided"
        print(f"{verdict}; carries {report.frames_per_s:,.0f} frames/s of 60 bytes")
        print(_calibrated(report, lab.calibration.door_ns))
    if not report.decided:
        print(
            f"vaiven: the machine moved by {report.moved_ns / 1000:g} us meanwhile, and what is off is off by no more\n"
            "  try again when nothing else runs",
            file=sys.stderr,
        )
        sys.exit(Status.CANNOT_TELL)
    if not report.passed:
        raise VaivenError(
            f"the lab {instance} says {report.said} and earned {report.earned or 'nothing'}",
            "try again when nothing else runs; fewer hosts or a lower rate need less of this machine",
            code="not-earned",
        )


def _forget() -> None:
    from vaiven.lab import calibration

    said = "forgotten" if calibration.forget() else "nothing was kept there"
    print(f"{calibration.path()}: {said}; labs that are up go on as they are")


def _calibrated(report: CheckReport, before_ns: int) -> str:
    """What became of the calibration."""
    if report.door_ns is None:
        return (
            f"kept in {report.kept_in} (vaiven lab check --forget removes it)" if report.kept_in else "nothing is kept"
        )
    assert report.error_ns is not None and report.trains_ns is not None, "found with the doors"
    within = f"lone frames within {report.error_ns / 1000:.1f} us, trains within {report.trains_ns / 1000:.1f} us"
    found = f"doors {report.door_ns / 1000:g} us early, {within}"
    if report.kept_in:
        return f"{found}: kept in {report.kept_in} (vaiven lab check --forget removes it)"
    return f"{found}: not kept, the lab stays at {before_ns / 1000:g} us"


@app.command
def run(host: str, /, *command: Command) -> None:
    """Run a command on a host of a lab: vaiven lab run LAB/HOST -- COMMAND ARGUMENTS.

    Its arguments arrive as they are, its output passes through, its exit status is this one's. On a timed lab this
    machine's processors are held awake meanwhile.

    Parameters
    ----------
    host
        LAB/HOST, such as demo/demo1.
    command
        The command and its arguments; no shell reads them.
    """
    from vaiven.lab import awake
    from vaiven.lab import lab as labs

    if not command:
        raise VaivenError("which command?", f"vaiven lab run {host} -- COMMAND ARGUMENTS", code="usage")
    found = labs.find_host(host)
    awake.keep(labs.find(found.lab).topology)
    found.become(command)


@app.command
def shell(host: str, /) -> None:
    """Open your shell ($SHELL) on a host of a lab.

    Parameters
    ----------
    host
        LAB/HOST, such as demo/demo1.
    """
    from vaiven.lab import lab as labs

    labs.find_host(host).become([os.environ.get("SHELL") or "/bin/sh"])


def _known_sizes(text: str) -> tuple[int, ...]:
    """The sizes of --sizes: the words of a plan. VaivenError ("bad-size")."""
    from vaiven.plan import sweep

    try:
        return sweep.expand(words(text), 1).values
    except VaivenError as error:
        error.where = f"--sizes {text!r}"
        raise


def _say_row(row: Row) -> None:
    """Prints a row of a check: times in us, shares in %, counts as they are."""
    scale, unit = {"ns": (1e-3, ""), "share": (100, ", %"), "frames": (1, "")}[row.unit]
    expected, median, p95 = (_brief(value * scale) for value in (row.expected, row.median, row.p95))
    error = f"{'+' if row.error > 0 else ''}{_brief(row.error * scale)}"
    allowed = "" if row.limit is None else _brief(row.limit * scale)
    verdict = {"ok": "ok", "off": "OFF", "not claimed": "-"}[row.verdict]
    print(_check_line(f"{row.what}{unit}", expected, median, p95, error, allowed, verdict), flush=True)


def _brief(value: float) -> str:
    return f"{value:.1f}" if abs(value) < 10_000 else f"{value:.0f}"


def _check_line(what: str, *cells: str) -> str:
    *numbers, verdict = cells
    return f"{what:<36}{''.join(f' {number:>7}' for number in numbers)} {verdict}".rstrip()


def _table(columns: list[str], rows: Sequence[tuple[str, ...]]) -> RenderableType:
    from vaiven.cli.terminal import rich_table
    from vaiven.report.table import Column, Table

    return rich_table(Table("", tuple(Column(one, number=one == "hosts") for one in columns), tuple(rows)))


def _host_facts(host: LabHost) -> dict[str, str]:
    names = ("full_name", "address", "address6", "mac")
    return {name: getattr(host, name) for name in names} | {"role": host.spec.role}


def _hosts_table(lab: Lab) -> RenderableType:
    if any(host.spec.role for host in lab.hosts):  # 80 columns hold no more beside it
        return _table(["host", "IPv4", "role"], [(one.full_name, one.address, one.spec.role) for one in lab.hosts])
    rows = [(one.full_name, one.address, one.address6, one.mac) for one in lab.hosts]
    return _table(["host", "IPv4", "IPv6", "Ethernet"], rows)


def _fabric(topology: Topology | None) -> str:
    if topology is None:
        return ""
    fabric = topology.fabric
    rate = f" {fabric.rate_mbps:g} Mb/s" if fabric.rate_mbps else ""
    return f"{fabric.kind}{rate}, {fabric.fabric_class}"


def _state(status: Standing) -> str:
    if status.busy:
        return "being raised or taken down"
    what = "; ".join(status.problems) or "up"
    return f"ended: {what}" if status.ended else f"BROKEN: {what}" if status.problems else what
