# SPDX-License-Identifier: BSD-3-Clause
"""From words to a verb: cyclopts parses them, and says in our way what is wrong with them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

import cyclopts

from vaiven import __version__
from vaiven.cli import GROUPS, SUMMARY, VERBS
from vaiven.errors import VaivenError


def carry_out(words: Sequence[str]) -> None:
    """Runs the verb of these words and ends with its exit status. Raises VaivenError: "usage" if they are wrong."""
    try:
        app(words)
    except cyclopts.CycloptsError as error:
        raise _of_usage(error, words) from None


def _of_usage(error: cyclopts.CycloptsError, words: Sequence[str]) -> VaivenError:
    """What cyclopts says of the command line, and where to look or what was probably meant."""
    what = re.sub(r'^Unknown command "([^"]*)".*$', r'there is no command "\1"', str(error).strip(), flags=re.S)
    typed = re.search(r'"([^"]*)"', what)
    near = difflib.get_close_matches(typed[1], [*VERBS, "--version", "--help"], 1) if typed else []
    verb = next((word for word in words[:1] if word in VERBS), "")
    remedy = f"did you mean {near[0]}?" if near else f"vaiven {verb}{' ' if verb else ''}--help says what there is"
    return VaivenError(what, remedy, code="usage")


def _commands() -> cyclopts.App:
    made = cyclopts.App(
        name="vaiven",
        version=__version__,
        help=SUMMARY,
        group_commands=cyclopts.Group("Commands", sort_key=9),  # what belongs to no other group comes last
        default_parameter=cyclopts.Parameter(
            negative="",  # nobody needs the opposite of an option but where it says so
            show_default=lambda value: value or None,  # "nothing" needs no word
        ),
        exit_on_error=False,  # `net` tells every error, in one way
        print_error=False,
        suppress_keyboard_interrupt=False,
    )
    for number, (title, verbs) in enumerate(GROUPS.items()):
        group = cyclopts.Group(title, sort_key=number)
        for place, (verb, (target, _)) in enumerate(verbs.items()):
            made.command(target, name=verb, group=group, sort_key=place)
    return made


app = _commands()
