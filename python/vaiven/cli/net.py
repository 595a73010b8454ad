# SPDX-License-Identifier: BSD-3-Clause
"""What stands between an error and whoever typed the command: a sentence, a remedy, an exit status, no traceback."""

from __future__ import annotations

import difflib
import os
import re
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable

import cyclopts

from vaiven import __version__
from vaiven.cli.status import Status
from vaiven.cli.terminal import say
from vaiven.errors import VaivenError

INTERRUPTED, NO_READER = 130, 141  # exit statuses, as the shell counts signals


def caught(command: Callable[[], object], verbs: Iterable[str]) -> int:
    """Runs the command; the exit status for what it raised, which is told on standard error. SystemExit passes.

    verbs: what could have been typed, for a hint where something else was.
    """
    try:
        try:
            command()
        finally:
            print(end="", flush=True)  # while a closed pipe can still be met with grace
    except SystemExit:
        raise
    except KeyboardInterrupt as error:
        if not error.args:  # else `run.signals` has told it at once
            say("\nvaiven: stopped", sys.stderr)
        return INTERRUPTED
    except VaivenError as error:
        return _told(error, Status.WORLD)
    except cyclopts.CycloptsError as error:
        return _told(_of_usage(error, verbs), Status.USAGE)
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NO_READER
    except OSError as error:
        return _told(_of_system(error), Status.WORLD)
    except UnicodeEncodeError as error:  # bytes of a name or of a word that are no text
        return _told(VaivenError(f"{error.object[:80]!r} is not text in UTF-8", code="not-text"), Status.WORLD)
    except BaseException as error:  # a panic of a library is no Exception
        return _told(_of_fault(error), Status.FAULT)
    return 0


def _told(error: VaivenError, status: int) -> int:
    say(f"vaiven: {error}", sys.stderr)
    return status


def _of_usage(error: cyclopts.CycloptsError, verbs: Iterable[str]) -> VaivenError:
    """What cyclopts says of the command line, and where to look or what was probably meant."""
    what = re.sub(r'^Unknown command "([^"]*)".*$', r'there is no command "\1"', str(error).strip(), flags=re.S)
    typed = re.search(r'"([^"]*)"', what)
    near = difflib.get_close_matches(typed[1], [*verbs, "--version", "--help"], 1) if typed else []
    verb = next((word for word in sys.argv[1:2] if word in verbs), "")
    remedy = f"did you mean {near[0]}?" if near else f"vaiven {verb}{' ' if verb else ''}--help says what there is"
    return VaivenError(what, remedy, code="usage")


def _of_system(error: OSError) -> VaivenError:
    """What the system refused, with the file that it is about where there is one."""
    reason = error.strerror or str(error) or type(error).__name__
    names = " and ".join(str(name) for name in (error.filename, error.filename2) if name is not None)
    return VaivenError(f"{names}: {reason}" if names else reason, code="system")


def _of_fault(error: BaseException) -> VaivenError:
    """A mistake of ours: what it was in a line, and the file that has the rest."""
    first = next(iter(str(error).splitlines()), "")
    what = f"this is a fault of vaiven: {type(error).__name__}{': ' if first else ''}{first}"
    try:
        descriptor, name = tempfile.mkstemp(prefix="vaiven-fault-", suffix=".txt")
        with open(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"vaiven {__version__}, Python {sys.version}, {sys.platform}\n{sys.argv}\n")
            file.writelines(traceback.format_exception(error))
    except OSError:
        return VaivenError(what, "please report it", code="fault")
    return VaivenError(what, f"please report it, with {name}", code="fault")
