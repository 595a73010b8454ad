# SPDX-License-Identifier: BSD-3-Clause
"""Programs of users on a stack: one rank on each host, their output passed through."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from contextlib import suppress

from vaiven.errors import VaivenError
from vaiven.plan import stack as stacks
from vaiven.plan.stack import Stack
from vaiven.run import libraries, mpi, signals
from vaiven.run.hosts import Host

_END_S = 5.0


def run(hosts: Sequence[Host], stack: Stack, ranks: int, command: Sequence[str]) -> int:
    """Runs `command` as so many ranks (0: one for each host) and returns its exit status.

    When this process is interrupted the program is ended. VaivenError: "unknown-stack", "too-few-hosts", "no-mpi".
    """
    library = next((name for name, one in libraries.LIBRARIES.items() if stack.id in one.stacks), "")
    if not library:
        known = [one for library in libraries.LIBRARIES.values() for one in library.stacks]
        raise VaivenError(f"no program runs on {stack.id!r}", stacks.nearest(stack.id, known), code="unknown-stack")
    if not 0 <= ranks <= len(hosts):
        raise VaivenError(f"{ranks} ranks on {len(hosts)} hosts", "one rank on each host", code="too-few-hosts")
    members = [mpi.Rank(host, tuple(command)) for host in hosts[: ranks or len(hosts)]]
    with mpi.job(library, members, mpi.manner(stack, members)) as words:
        return _passed_through(hosts[0].argv(words))


def _passed_through(argv: Sequence[str]) -> int:
    """Runs it with our own streams and terminal, until it ends or this process is interrupted."""
    process = subprocess.Popen(argv)
    try:
        return process.wait()
    finally:
        with signals.shielded():
            process.terminate()  # what nsenter waits for ends with it
            with suppress(subprocess.TimeoutExpired):
                process.wait(_END_S)
            process.kill()
            process.wait()
