# SPDX-License-Identifier: BSD-3-Clause
"""Asks hosts about themselves and judges what they say. Changes nothing on any host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from vaiven import resources
from vaiven.errors import VaivenError
from vaiven.lab import lab as labs
from vaiven.run import checks, hosts, machine, multicast, place
from vaiven.run.checks import Finding, Subject
from vaiven.run.hosts import Argv, Host
from vaiven.run.machine import Interface, Machine
from vaiven.store.record import HostsPlace

HERE = "localhost"
_HOSTS_AT_ONCE = 64


@dataclass(frozen=True)
class Patient:
    """A host to examine: how to run a command there, its probe, and the card of its messages, "" if not known."""

    name: str
    argv: Argv
    probe: tuple[str, ...]
    interface: str = ""


@dataclass(frozen=True)
class Examination:
    """What was found. machines: those that answered, by name; links: the card by which each reaches the others."""

    machines: dict[str, Machine]
    links: dict[str, Interface | None]
    findings: list[Finding]

    @property
    def silent(self) -> list[str]:
        """The hosts that did not answer."""
        return [f.host for f in self.findings if f.code == "no-answer"]


def visit(names: Sequence[str], iface: str = "", listen_s: float = 4) -> Examination:
    """`examine` on hosts by name: LAB/HOST of a lab that is up, "localhost", or what ssh calls it.

    iface: the card to judge on machines, where it is not the one by which they are reached.
    A host that is down is a finding. VaivenError for names that can be none: "no-lab", "no-host", "bad-host".
    """
    patients = [_lab_patient(name) for name in names if "/" in name]
    real = tuple(name for name in names if "/" not in name)
    if not real:
        return examine(patients, listen_s)
    try:
        with place.on_hosts(HostsPlace(names=real, interface=iface), None) as there:
            patients += [_real_patient(host) for host in there.hosts.values()]
            return _with_missing(examine(patients, listen_s), there.missing)
    except VaivenError as error:
        if error.code != "host-down":
            raise
        others = {name: VaivenError(f"the host {name} does not answer", error.remedy) for name in real[1:]}
        return _with_missing(examine(patients, listen_s), {real[0]: error} | others)


def _lab_patient(full_name: str) -> Patient:
    host = labs.find_host(full_name)
    program = resources.program("vaiven-probe" if not host.emulator else f"vaiven-probe-{host.arch}")
    return Patient(full_name, host.argv, (*host.emulator, str(program)), host.interface)


def _real_patient(host: Host) -> Patient:
    """A machine that is measured with itself is judged by its way out."""
    return Patient(host.name, host.argv, host.probe, "" if host.interface == "lo" else host.interface)


def _with_missing(found: Examination, missing: Mapping[str, VaivenError]) -> Examination:
    down = [_no_answer(name, error) for name, error in missing.items()]
    return Examination(found.machines, found.links, checks.by_severity([*down, *found.findings]))


def examine(patients: Sequence[Patient], listen_s: float = 4) -> Examination:
    """Asks all hosts at once and judges their answers.

    listen_s: how long the hosts say and hear multicast, when there are several; 0: not at all. A host that does not
    answer becomes a finding; the others are judged all the same.
    """
    with ThreadPoolExecutor(_HOSTS_AT_ONCE) as pool:
        answers = list(pool.map(_ask, patients))
    machines = {answer.name: answer for answer in answers if isinstance(answer, Machine)}
    present = [patient for patient in patients if patient.name in machines]
    links = {patient.name: machines[patient.name].link(patient.interface) for patient in present}
    findings = [answer for answer in answers if isinstance(answer, Finding)]
    findings += checks.check([Subject(m, links[name]) for name, m in machines.items()])
    if len(present) > 1 and listen_s > 0:
        findings += _converse(present, links, listen_s)
    return Examination(machines, links, checks.by_severity(findings))


def _ask(patient: Patient) -> Machine | Finding:
    try:
        said = hosts.call(patient.name, patient.argv, ["sh", "-s"], stdin=machine.QUESTIONS.encode())
        inventory = hosts.call(patient.name, patient.argv, [*patient.probe, "inventory"])
    except VaivenError as error:
        return _no_answer(patient.name, error)
    return machine.read(patient.name, (said + b"@ inventory\n" + inventory).decode(errors="replace"))


def _no_answer(name: str, error: VaivenError) -> Finding:
    return Finding(name, "no-answer", "problem", error.what, "nothing is known about it", error.remedy)


def _converse(patients: Sequence[Patient], links: Mapping[str, Interface | None], seconds: float) -> list[Finding]:
    """Lets the hosts say and hear multicast for that long, all at once; findings about who does not hear whom."""
    talk = multicast.convene(seconds)

    def take_part(patient: Patient) -> multicast.Heard | None:
        link = links[patient.name]
        if link is None:
            return None
        try:
            command = talk.argv(patient.name, link.name)
            said = hosts.call(patient.name, patient.argv, command, timeout_s=seconds + 20)
        except VaivenError:
            return None
        return multicast.read(said.decode(errors="replace"))

    with ThreadPoolExecutor(_HOSTS_AT_ONCE) as pool:
        heard = dict(zip((p.name for p in patients), pool.map(take_part, patients), strict=True))
    return multicast.judge(heard, seconds)
