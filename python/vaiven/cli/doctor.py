# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven doctor`: what in the set-up of the hosts would spoil a measurement, and the command that mends it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from vaiven.cli.parameters import Json, Seconds, words
from vaiven.cli.status import Status

if TYPE_CHECKING:
    from rich.console import Console

    from vaiven.run.checks import Finding
    from vaiven.run.doctor import Examination
    from vaiven.run.machine import Interface, Machine

SCHEMA = 1
_STYLES = {"problem": "bold red", "caution": "yellow", "note": "dim"}


def doctor(
    *,
    hosts: str = "",
    iface: str = "",
    listen_s: Seconds = 4,
    as_json: Json = False,
) -> None:
    """What would spoil a measurement between these hosts, what it would do to it, and the command that mends it.

    Nothing is changed on any host. The exit status is 1 if a host does not answer.

    Parameters
    ----------
    hosts
        Names that ssh knows, separated by commas; or LAB/HOST of a lab that is up; without any, this machine.
    iface
        The interface that messages take; without it, the one by which the hosts reach each other.
    listen_s
        Seconds of the test of multicast between several hosts, 0 for none; 130 also finds that no IGMP querier speaks.
    as_json
        One JSON document instead: schema, hosts (facts by name), links, findings.
    """
    from vaiven.run import checks
    from vaiven.run import doctor as examining

    names = list(dict.fromkeys(words(hosts))) or [examining.HERE]
    found = examining.visit(names, iface, listen_s)
    if names == [examining.HERE]:
        found.findings.extend(checks.check_here(found.machines[examining.HERE]))
    _print_json(found) if as_json else _print_text(found)
    if found.silent:
        sys.exit(Status.WORLD)


def _print_json(found: Examination) -> None:
    from vaiven.results.document import document

    said = {"schema": SCHEMA, "hosts": found.machines, "links": found.links, "findings": found.findings}
    print(document(said))


def _print_text(found: Examination) -> None:
    from vaiven.cli.terminal import open_console

    console = open_console()
    for name, machine in found.machines.items():
        console.print(_headline(machine, found.links[name]), style="bold")
    console.print()
    for names, finding in grouped(found.findings):
        _print_finding(console, ", ".join(names) if len(found.links) + len(found.silent) > 1 else "", finding)
    console.print(closing(found.findings), style="bold")


def grouped(findings: Sequence[Finding]) -> list[tuple[list[str], Finding]]:
    """Each thing that is to be said once, with all hosts of which it is true, in the order of the findings."""
    same: dict[Finding, list[str]] = {}
    for one in findings:
        same.setdefault(replace(one, host=""), []).append(one.host)
    return [(names, finding) for finding, names in same.items()]


def closing(findings: Sequence[Finding]) -> str:
    """What all that comes to: "1 problem to mend first, 2 cautions to mend if you can; 3 notes need nothing"."""
    counts = Counter(finding.severity for _, finding in grouped(findings))
    ends = {"problem": " to mend first", "caution": " to mend if you can"}
    said = [f"{counts[one]} {one}{'s' if counts[one] > 1 else ''}{end}" for one, end in ends.items() if counts[one]]
    notes = f"; {counts['note']} note{'s need' if counts['note'] > 1 else ' needs'} nothing" if counts["note"] else ""
    return (", ".join(said) or "nothing to mend") + notes


def _print_finding(console: Console, where: str, finding: Finding) -> None:
    """A note has no command: somebody would run it on a machine that others work on."""
    from rich.padding import Padding
    from rich.text import Text

    style = _STYLES[finding.severity]
    what = f"{finding.severity}: {where}{': ' if where else ''}{finding.what}"
    console.print(Padding(Text(what, style=style), (0, 0, 0, 2), expand=False))
    console.print(Padding(Text(finding.effect), (0, 0, 0, 4), expand=False))
    if finding.severity != "note":
        console.print(f"    {finding.remedy}", style="cyan", soft_wrap=True)  # never broken: it will be copied


def _headline(machine: Machine, link: Interface | None) -> str:
    parts = [machine.kernel, f"{machine.cpus} CPU" + ("s" if machine.cpus > 1 else "")]
    if link:
        speed = f", {link.speed_mbps} Mb/s" if link.speed_mbps else ""
        parts.append(f"{link.name} with MTU {link.mtu_bytes}{speed}")
    if machine.congestion_control:
        parts.append(f"TCP {machine.congestion_control}")
    return f"{machine.name}: {'; '.join(parts)}"
