# SPDX-License-Identifier: BSD-3-Clause
"""The command line: one file per verb, loaded only when its verb is used (`vaiven --help` must be quick)."""

from __future__ import annotations

import os
import sys

import cyclopts

from vaiven import __version__
from vaiven.errors import VaivenError

app = cyclopts.App(name="vaiven", version=__version__, help="What a message costs on this Ethernet, and why.")

# verb -> "module:function or App"; cyclopts imports a module only when its verb is called.
_VERBS = {
    "doctor": "vaiven.cli.doctor:doctor",
    "lab": "vaiven.cli.lab:app",
    "measure": "vaiven.cli.measure:measure",
    "stacks": "vaiven.cli.stacks:stacks",
    "run": "vaiven.cli.run:run",
    "plan": "vaiven.cli.plan:app",
    "runs": "vaiven.cli.runs:runs",
    "export": "vaiven.cli.export:app",
    "model": "vaiven.cli.model:model",
    "compare": "vaiven.cli.compare:compare",
    "report": "vaiven.cli.report:report",
    "reproduce": "vaiven.cli.reproduce:reproduce",
    "plausible": "vaiven.cli.plausible:plausible",
}


def run() -> None:
    """Parses the command line and runs the verb; exit status 1 and two lines of text for an error of the world."""
    if sys.argv[1:] in ([], ["-h"], ["--help"]):
        for verb in _VERBS:
            app[verb]  # loads it, or the list of verbs would not say what each is
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # while a closed pipe can still be met with grace
    except VaivenError as error:
        print(f"vaiven: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)


for _name, _target in _VERBS.items():
    app.command(_target, name=_name)
