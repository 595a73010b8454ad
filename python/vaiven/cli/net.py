# SPDX-License-Identifier: BSD-3-Clause
"""What stands between an error and whoever typed the command: a sentence, a remedy, an exit status, no traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from vaiven import __version__
from vaiven.cli.status import Status
from vaiven.cli.terminal import say
from vaiven.errors import VaivenError

INTERRUPTED, NO_READER = 130, 141  # exit statuses, as the shell counts signals


# Codes of what stands on the command line and can never be; where it stands in a file its error has a `where`.
_TYPED = ("usage", "bad-value", "bad-number", "bad-size", "unknown-unit", "unlike-units")


def caught(command: Callable[[], object]) -> int:
    """Runs the command; the exit status for what it raised, which is told on standard error. SystemExit passes."""
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
        typed = error.where.startswith("--") or (not error.where and error.code in _TYPED)
        return _told(error, Status.USAGE if typed else Status.WORLD)
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


def _of_system(error: OSError) -> VaivenError:
    """What the system refused, with the file that it is about where there is one."""
    reason = error.strerror or str(error) or type(error).__name__
    names = " and ".join(str(name) for name in (error.filename, error.filename2) if name is not None)
    return VaivenError(f"{names}: {reason}" if names else reason, code="system")


def _of_fault(error: BaseException) -> VaivenError:
    """A mistake of ours: what it was in a line, and the file that has the rest."""
    import tempfile
    import traceback

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
