# SPDX-License-Identifier: BSD-3-Clause
"""The command line: one file per verb, loaded only when its verb is used (`vaiven --help` must be quick)."""

from __future__ import annotations

import sys

import cyclopts

from vaiven import __version__
from vaiven.cli import net, terminal

app = cyclopts.App(
    name="vaiven",
    version=__version__,
    help="What a message costs on this Ethernet, and why.",
    group_commands=cyclopts.Group("Commands", sort_key=9),  # what belongs to no other group comes last
    default_parameter=cyclopts.Parameter(show_default=lambda value: value or None),  # "nothing" needs no word
    exit_on_error=False,  # `net` tells every error, in one way
    print_error=False,
    suppress_keyboard_interrupt=False,
)

# What a verb is for -> verb -> "module:function or App"; cyclopts imports a module only when its verb is called.
_GROUPS = {
    "Measure": {
        "measure": "vaiven.cli.measure:measure",
        "doctor": "vaiven.cli.doctor:doctor",
        "run": "vaiven.cli.run:run",
    },
    "Read what was measured": {
        "runs": "vaiven.cli.runs:runs",
        "model": "vaiven.cli.model:model",
        "compare": "vaiven.cli.compare:compare",
        "history": "vaiven.cli.history:history",
        "report": "vaiven.cli.report:report",
        "reproduce": "vaiven.cli.reproduce:reproduce",
        "export": "vaiven.cli.export:app",
    },
    "Where, what and by which way": {
        "lab": "vaiven.cli.lab:app",
        "plan": "vaiven.cli.plan:app",
        "stacks": "vaiven.cli.stacks:stacks",
    },
    "Besides": {
        "plausible": "vaiven.cli.plausible:plausible",
        "completion": "vaiven.cli.completion:completion",
    },
}
_VERBS = {verb: target for verbs in _GROUPS.values() for verb, target in verbs.items()}
_EXAMPLES = """
Begin with one of these:

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
    if words in ([], ["-h"], ["--help"]):
        for verb in _VERBS:
            app[verb]  # loads it, or the list of verbs would not say what each is
        sys.exit(net.caught(_first_help, _VERBS))
    sys.exit(net.caught(lambda: app(words), _VERBS))


def _first_help() -> None:
    """The list of verbs, and where to begin."""
    app.help_print([])
    print(_EXAMPLES, end="")


for _number, (_title, _verbs) in enumerate(_GROUPS.items()):
    _group = cyclopts.Group(_title, sort_key=_number)
    for _place, (_name, _target) in enumerate(_verbs.items()):
        app.command(_target, name=_name, group=_group, sort_key=_place)
