# SPDX-License-Identifier: BSD-3-Clause
"""The command line: one file per verb, loaded only when its verb is used (`vaiven --help` must be quick)."""

from __future__ import annotations

import shutil
import sys
import textwrap

from vaiven import __version__
from vaiven.cli import net, terminal

# What a verb is for -> verb -> ("module:function or App", the first sentence of its help). A module is imported
# when its verb is called; the list of verbs is printed from the sentences, which a test holds against their origin.
GROUPS = {
    "Measure": {
        "measure": (
            "vaiven.cli.measure:measure",
            "Measure what a message costs between hosts: a plan, a lab, or hosts that ssh reaches.",
        ),
        "doctor": (
            "vaiven.cli.doctor:doctor",
            "What would spoil a measurement between these hosts, what it would do to it, and the "
            "command that mends it.",
        ),
        "run": (
            "vaiven.cli.run:run",
            "Run a program as it is: vaiven run --lab lidi --stack openmpi -n 4 -- ./program arguments.",
        ),
    },
    "Read what was measured": {
        "runs": (
            "vaiven.cli.runs:runs",
            "List the runs, oldest first: id, how they ended, launches, title.",
        ),
        "model": (
            "vaiven.cli.model:model",
            "What a message costs: t(n) = alpha + beta n of every stack, one way, with intervals, against the wire.",
        ),
        "compare": (
            "vaiven.cli.compare:compare",
            "Is A really faster than B? Every two stacks of one run; every stack of later runs against earlier ones.",
        ),
        "history": (
            "vaiven.cli.history:history",
            "All runs of a plan in order of time: where they changed for good, by how much, and which "
            "settings changed there.",
        ),
        "report": (
            "vaiven.cli.report:report",
            "Write a run, or several, as one HTML page that needs no network: the answer in words, tables, curves.",
        ),
        "reproduce": (
            "vaiven.cli.reproduce:reproduce",
            "Which published results hold: each as an inequality, with its margin and how sure that is.",
        ),
        "export": (
            "vaiven.cli.export:app",
            "Write a run in formats that other programs read.",
        ),
    },
    "Where, what and by which way": {
        "lab": (
            "vaiven.cli.lab:app",
            "Virtual LANs on this machine: hosts in namespaces, joined by a hub or a switch.",
        ),
        "plan": (
            "vaiven.cli.plan:app",
            "Look at plans: list the ready ones, check one, show its launches in order, print the schema.",
        ),
        "stacks": (
            "vaiven.cli.stacks:stacks",
            "List the stacks: what each is, the sizes it carries, what it needs, and why one is not here.",
        ),
    },
    "Besides": {
        "plausible": (
            "vaiven.cli.plausible:plausible",
            "Can that cost per byte, or that rate of long messages, be true on a link? If not, which slip explains it?",
        ),
        "completion": (
            "vaiven.cli.completion:completion",
            "Print the script by which a shell completes the words of vaiven.",
        ),
    },
}
VERBS = tuple(verb for verbs in GROUPS.values() for verb in verbs)
SUMMARY = "What a message costs on this Ethernet, and why."
_EXAMPLES = """
`vaiven COMMAND --help` says more of it. Begin with one of these:

    vaiven measure demo                      on a small LAN that is made for it (as root)
    vaiven measure --lab free                the same without root: software alone
    vaiven doctor --hosts node1,node2        what would spoil a measurement between two machines
    vaiven measure --hosts node1,node2       what a message costs between them
    vaiven compare last                      which stack is faster for certain
"""


def start() -> None:
    """Parses the command line, runs the verb and ends with its exit status; errors are sentences (`net`)."""
    words = sys.argv[1:]
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    terminal.accept_any_text()
    sys.exit(net.caught(lambda: _carry_out(words)))


def _carry_out(words: list[str]) -> None:
    """What asks for no verb is answered without the parser, which takes longer to load than all else."""
    if words in ([], ["-h"], ["--help"]):
        print(_listed(shutil.get_terminal_size().columns))
    elif words == ["--version"]:
        print(__version__)
    else:
        from vaiven.cli import parser

        parser.carry_out(words)


def _listed(width: int) -> str:
    """The list of verbs, and where to begin; in lines of that width, but examples, which will be copied."""
    lines = ["Usage: vaiven COMMAND", "", SUMMARY]
    indent = max(map(len, VERBS)) + 4
    for title, verbs in GROUPS.items():
        lines += ["", f"{title}:"]
        for verb, (_, sentence) in verbs.items():
            first = f"  {verb}".ljust(indent)
            lines += textwrap.wrap(sentence, width, initial_indent=first, subsequent_indent=" " * indent)
    return "\n".join(lines) + "\n" + _EXAMPLES.rstrip("\n")
