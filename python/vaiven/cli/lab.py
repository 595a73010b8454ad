# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven lab`: virtual LANs on this machine."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import cyclopts
from cyclopts import Parameter

from vaiven.errors import VaivenError

app = cyclopts.App(name="lab", help="Virtual LANs on this machine: hosts in namespaces, joined by a hub or a switch.")

CANNOT_TELL = 4  # exit status of check, as of compare

Command = Annotated[str, Parameter(allow_leading_hyphen=True)]


@app.command
def up(lab: str, /, *, instance: Annotated[str | None, Parameter(name="--as")] = None) -> None:
    """Raise a lab.

    Parameters
    ----------
    lab
        A ready lab (see `vaiven lab list`) or a file (./my.toml).
    instance
        The name that it gets, if not its own: one lab can be up several times.
    """
    from rich.console import Console

    from vaiven.lab import lab as labs
    from vaiven.lab import topology

    raised = labs.up(topology.find(lab), instance)
    console = Console(highlight=False, markup=False)
    for warning in raised.warnings:
        print(f"vaiven: warning: {warning}", file=sys.stderr)
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
def list_() -> None:
    """List the labs that are up, whole or broken, and the ready ones. Exit status 1 if one is broken."""
    from rich.console import Console

    from vaiven.lab import lab as labs
    from vaiven.lab import topology

    console = Console(highlight=False, markup=False)
    statuses = labs.running()
    if statuses:
        table = _table("up", "hosts", "fabric", "state")
        for status in statuses:
            described = status.lab.topology if status.lab else None
            hosts = str(len(described.hosts)) if described else ""
            table.add_row(status.instance, hosts, _fabric(described), _state(status.busy, status.problems))
        console.print(table)
        console.print()
    table = _table("ready", "hosts", "fabric", "title")
    for name in topology.names():
        ready = topology.ready(name)
        table.add_row(name, str(len(ready.hosts)), _fabric(ready), ready.title)
    console.print(table)
    if any(status.problems for status in statuses):
        raise VaivenError("a lab is broken", "vaiven lab down NAME takes it down", code="lab-broken")


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
def check(instance: str, /, *, quick: bool = False, json: bool = False) -> None:
    """Measure whether a fabric is what it says, calibrate it, and name the class it earned.

    Takes up to a minute, on a machine that does nothing else meanwhile. Exit status 1 if it earned less than it says, 4
    if that cannot be told because the machine itself moved too much.

    Parameters
    ----------
    instance
        A lab that is up, and idle.
    quick
        Fewer repetitions: about ten seconds.
    json
        One JSON object instead of the table.
    """
    from vaiven.lab import check as checks
    from vaiven.lab import lab as labs

    if not json:
        print(_check_line("in us", "formula", "median", "p95", "error", "allowed", ""))
    report = checks.run(labs.find(instance), quick=quick, say=(lambda row: None) if json else _say_row)
    if json:
        from json import dumps

        print(dumps(report.as_json()))
    else:
        calibrated = "" if report.lead_ns is None else f", calibrated to {report.lead_ns / 1000:g} us"
        verdict = f"earned: {report.earned or 'nothing'}" if report.decided else "not decided"
        print(f"{verdict}{calibrated}; carries {report.frames_per_s:,.0f} frames/s of 60 bytes")
    if not report.decided:
        print(
            f"vaiven: the machine moved by {report.moved_ns / 1000:g} us meanwhile, and what is off is off by no more\n"
            "  try again when nothing else runs",
            file=sys.stderr,
        )
        sys.exit(CANNOT_TELL)
    if not report.passed:
        raise VaivenError(
            f"the lab {instance} says {report.said} and earned {report.earned or 'nothing'}",
            "try again when nothing else runs; fewer hosts or a lower rate need less of this machine",
            code="not-earned",
        )


@app.command
def layers(
    instance: str, /, *, stacks: str = "llc,tcp", sizes: str = "1,1024", samples: int = 2000, wait: str = "spin"
) -> None:
    """Measure in which layer the time of a message goes, and print what the protocols can do.

    Between the first two hosts. The layers are timed apart from the whole, to which they must add up within 10 %; exit
    status 4 if they do not.

    Parameters
    ----------
    instance
        A lab that is up, and idle.
    stacks
        Of llc, llc-jumbo and tcp.
    sizes
        Bytes of the messages.
    samples
        Exchanges of each size, timed as a whole and by layer.
    wait
        How the ends wait: spin, or block, which adds what waking up takes. On a timed lab ends that spin take the
        processors from the fabric: block.
    """
    from vaiven.cli.layers import show
    from vaiven.lab import lab as labs
    from vaiven.lab import layers as asked

    lab = labs.find(instance)
    near, far = lab.hosts[:2]
    known = [int(size) for size in sizes.split(",")]
    found = [
        one
        for stack in stacks.split(",")
        for one in asked.ask(near, far, lab.topology, stack, known, samples=samples, wait=wait)
    ]
    show(found)
    if any(abs(one.error) > asked.TOLERANCE for one in found):
        print("vaiven: the layers do not add up to the whole: try again when nothing else runs", file=sys.stderr)
        sys.exit(CANNOT_TELL)


@app.command
def run(host: str, /, *command: Command) -> None:
    """Run a command on a host of a lab: vaiven lab run LAB/HOST -- COMMAND ARGUMENTS.

    Its arguments arrive as they are, its output passes through, its exit status is this one's.

    Parameters
    ----------
    host
        LAB/HOST, such as demo/demo1.
    command
        The command and its arguments; no shell reads them.
    """
    from vaiven.lab import lab as labs

    if not command:
        raise VaivenError("which command?", f"vaiven lab run {host} -- COMMAND ARGUMENTS", code="usage")
    labs.find_host(host).become(command)


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


def _say_row(row) -> None:
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


def _table(*columns: str):
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column == "hosts" else "left", overflow="fold")
    return table


def _hosts_table(lab):
    if any(host.spec.role for host in lab.hosts):  # 80 columns hold no more beside it
        table = _table("host", "IPv4", "role")
        for host in lab.hosts:
            table.add_row(host.full_name, host.address, host.spec.role)
        return table
    table = _table("host", "IPv4", "IPv6", "Ethernet")
    for host in lab.hosts:
        table.add_row(host.full_name, host.address, host.address6, host.mac)
    return table


def _fabric(topology) -> str:
    if topology is None:
        return ""
    fabric = topology.fabric
    rate = f" {fabric.rate_mbps:g} Mb/s" if fabric.rate_mbps else ""
    return f"{fabric.kind}{rate}, {fabric.fabric_class}"


def _state(busy: bool, problems: tuple[str, ...]) -> str:
    if busy:
        return "being raised or taken down"
    return f"BROKEN: {'; '.join(problems)}" if problems else "up"
