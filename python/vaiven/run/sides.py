# SPDX-License-Identifier: BSD-3-Clause
"""The sides of a run: what is done here before each launch on a side, and what its processes find around them.

The command is the user's own and is given to `sh -c` on this machine as it stands: no name of a host, a stack or a run
is ever put into it. What it leaves running is the user's, too, unless it takes too long.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import replace

from vaiven import child
from vaiven.child import Child
from vaiven.errors import VaivenError
from vaiven.plan.schema import Side
from vaiven.run import signals
from vaiven.run.hosts import Host

_SHOWN = 200  # characters of its last line


def prepare(side: Side) -> VaivenError | None:
    """Carries the command of that side out, if it has one. None when that went well, else why not ("side-failed").

    It gets nothing on its standard input, and what it prints is not shown. When it takes longer than timeout_s, or when
    we are interrupted, it and all that it has started in its session are killed.
    """
    if not side.command:
        return None
    command = None
    try:
        with signals.postponed():
            command = Child(["sh", "-c", side.command], stdin=child.NOWHERE, stdout=child.KEPT)
        status = command.wait(side.timeout_s)
        if status is None:
            return _failed(side, f"has not ended after {side.timeout_s} s", "see timeout_s of the plan's [[sides]]")
        return None if status == 0 else _failed(side, _how(status), _last_line(command.complaint()))
    except OSError as error:
        return _failed(side, f"cannot be started: {error.strerror}")
    finally:
        if command:
            with signals.shielded():
                command.close(0)


def dressed(host: Host, side: Side | None) -> Host:
    """That host with the environment of the side around every command that is started there."""
    words = assigned(side)
    if not words:
        return host
    return replace(host, argv=lambda command: host.argv([*words, *command]))


def assigned(side: Side | None) -> Sequence[str]:
    """What is put before a command for it to run in the environment of that side: ["env", "NAME=VALUE", ...]."""
    if side is None or not side.environment:
        return []
    return ["env", *(f"{name}={value}" for name, value in side.environment.items())]


def _failed(side: Side, how: str, remedy: str = "") -> VaivenError:
    return VaivenError(f"the command of the side {side.name} {how}", remedy, code="side-failed")


def _how(status: int) -> str:
    return f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"


def _last_line(said: str) -> str:
    """The last line that a command has printed: its errors are the last that it says."""
    return said.rpartition("\n")[2].strip()[:_SHOWN]
