# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven doctor`: what in the set-up of the hosts would spoil a measurement, and the command that mends it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from rich.console import Console

    from vaiven.run.doctor import Examination
    from vaiven.run.machine import Interface, Machine

SCHEMA = 1
_STYLES = {"problem": "bold red", "caution": "yellow", "note": "dim"}


def doctor(
    *,
    hosts: str = "",
    iface: str = "",
    listen_s: float = 4,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> None:
    """What would spoil a measurement between these hosts, what it would do to it, and the command that mends it.

    Nothing is changed on any host. The exit status is 1 if a host does not answer.

    Parameters
    ----------
    hosts
        Names, separated by commas: ssh hosts, or LAB/HOST; without any, this machine.
    iface
        The card to judge; without it, the one by which the hosts reach each other.
    listen_s
        Seconds of the test of multicast between several hosts, 0 for none; 130 also finds that no IGMP querier speaks.
    as_json
        One JSON document: schema, hosts (facts by name), links, findings.
    """
    from vaiven.run import checks
    from vaiven.run import doctor as examining

    names = list(dict.fromkeys(name for name in hosts.split(",") if name)) or [examining.HERE]
    found = examining.visit(names, iface, listen_s)
    if names == [examining.HERE]:
        found.findings.extend(checks.check_here(found.machines[examining.HERE]))
    _print_json(found) if as_json else _print_text(found)
    if found.silent:
        sys.exit(1)


def _print_json(found: Examination) -> None:
    import msgspec

    document = {"schema": SCHEMA, "hosts": found.machines, "links": found.links, "findings": found.findings}
    print(msgspec.json.format(msgspec.json.encode(document, enc_hook=str)).decode())


def _print_text(found: Examination) -> None:
    from rich.console import Console

    console = Console(highlight=False, markup=False, soft_wrap=False)
    for name, machine in found.machines.items():
        console.print(_headline(machine, found.links[name]), style="bold")
        _print_findings(console, found, name)
    for name in found.silent:
        console.print(name, style="bold")
        _print_findings(console, found, name)


def _print_findings(console: Console, found: Examination, name: str) -> None:
    from rich.padding import Padding
    from rich.text import Text

    mine = [f for f in found.findings if f.host == name]
    for finding in mine:
        style = _STYLES[finding.severity]
        console.print(Padding(Text(f"{finding.severity}: {finding.what}", style=style), (0, 0, 0, 2), expand=False))
        console.print(Padding(Text(finding.effect), (0, 0, 0, 4), expand=False))
        console.print(f"    {finding.remedy}", style="cyan", soft_wrap=True)  # never broken: it will be copied
    if not mine:
        console.print("  nothing to mend")


def _headline(machine: Machine, link: Interface | None) -> str:
    parts = [machine.kernel, f"{machine.cpus} CPU" + ("s" if machine.cpus > 1 else "")]
    if link:
        speed = f", {link.speed_mbps} Mb/s" if link.speed_mbps else ""
        parts.append(f"{link.name} with MTU {link.mtu_bytes}{speed}")
    return f"{machine.name}: {'; '.join(parts)}"
