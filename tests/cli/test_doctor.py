# SPDX-License-Identifier: BSD-3-Clause
"""What doctor says on a terminal: each thing once, a last line, and no command where nothing has to be mended."""

from __future__ import annotations

import io

from rich.console import Console

from vaiven.cli import doctor, terminal
from vaiven.run.checks import Finding
from vaiven.run.doctor import Examination
from vaiven.run.machine import Machine, read


def finding(host: str, severity: str, what: str = "it sleeps") -> Finding:
    return Finding(host, "code", severity, what, "it wakes late", "sudo command")


def machine(name: str) -> Machine:
    return read(name, "")


def shown(findings: list[Finding], names: list[str], monkeypatch) -> str:
    console = Console(file=io.StringIO(), width=100)
    monkeypatch.setattr(terminal, "open_console", lambda: console)
    machines = {name: machine(name) for name in names}
    doctor._print_text(Examination(machines, dict.fromkeys(names), findings))
    return console.file.getvalue()


def test_what_is_true_of_many_hosts_is_said_once(monkeypatch) -> None:
    names = [f"node{number}" for number in range(16)]
    said = shown([finding(name, "caution") for name in names], names, monkeypatch)
    assert said.count("it wakes late") == said.count("sudo command") == 1
    assert all(f"{name}," in said or f"{name}: it sleeps" in " ".join(said.split()) for name in names)
    assert said.splitlines()[-1] == "1 caution to mend if you can"


def test_a_note_has_no_command_and_a_caution_has_one(monkeypatch) -> None:
    said = shown([finding("a", "caution"), finding("a", "note", "it cuts segments")], ["a"], monkeypatch)
    assert said.count("sudo command") == 1 and "note: it cuts segments" in said
    assert said.splitlines()[-1] == "1 caution to mend if you can; 1 note needs nothing"


def test_the_last_line_says_what_it_comes_to() -> None:
    assert doctor.closing([]) == "nothing to mend"
    assert (
        doctor.closing([finding("a", "note"), finding("b", "note", "other")]) == "nothing to mend; 2 notes need nothing"
    )
    several = [finding("a", "problem"), finding("b", "problem"), finding("a", "caution"), finding("a", "caution", "x")]
    assert doctor.closing(several) == "1 problem to mend first, 2 cautions to mend if you can"
