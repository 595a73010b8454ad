# SPDX-License-Identifier: BSD-3-Clause
"""PVM's daemons: one on each host of a launch, fresh for each, and gone after it.

The first one is started here and starts the others itself, as PVM does, through the remote shell that it is given. What
a daemon keeps lies in a directory of its own for each host, so that files of another one are never in the way.

A pvmd sends a fragment again that is not acknowledged within half a millisecond, which was less than a tick of the
clock when it was written. Its timers get that coarseness back (timer slack): else a slow network carries most twice.
"""

from __future__ import annotations

import platform
import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from vaiven import resources
from vaiven.errors import VaivenError
from vaiven.run import hosts, rsh, signals
from vaiven.run.hosts import Host

SLACK_NS = 10_000_000
_SERVERS = "/usr/bin"  # where pvmgs is, which serves groups
_UP_S = 30.0
_HALT_S = 3.0  # they need a hundredth of that, unless one of them does not answer
_POLL_S = 0.02

# What is called `pvmd` on every host.
_PVMD = """#!/bin/sh
mkdir -p "$PVM_TMP" && echo "$VAIVEN_PVMD_SLACK_NS" >/proc/self/timerslack_ns && exec "$VAIVEN_PVMD" "$@"
"""
_CONSOLE = 'printf "%s\\nquit\\n" "$1" | pvm 2>&1'
# Ends whatever still has that directory in its environment: what a machine that broke has left.
_SWEEP = r"""for process in /proc/[0-9]*; do
  tr "\0" "\n" <"$process/environ" 2>/dev/null | grep -qxF "PVM_TMP=$1" && kill -9 "${process#/proc/}"
done
true"""


@contextmanager
def machine(members: Sequence[Host]) -> Iterator[list[Host]]:
    """A virtual machine of these hosts, which come back with probes that know their daemon.

    VaivenError: "no-pvm" (not installed, or not a host of this machine), "no-pvmd" (it does not come up), "no-probe".
    """
    different = list({host.name: host for host in members}.values())
    for host in different:
        if not host.here:
            raise VaivenError(f"PVM is not started on {host.name}", "use a lab, or this machine", code="no-pvm")
    with rsh.serving(different, _environment) as shell:
        daemons = _Daemons(different, shell.parent)
        try:
            daemons.start()
            yield [replace(host, libraries={**host.libraries, "pvm": daemons.probe(host)}) for host in members]
        finally:
            with signals.shielded():
                daemons.end()


def _environment(host: Host, private: Path) -> Mapping[str, str]:
    """What PVM's programs find on that host."""
    return {
        "PVM_ROOT": "/usr/lib/pvm3", "PVM_ARCH": "LINUX64", "PVM_ALLOW_ROOT": "1", "PVM_RSH": str(private / "rsh"),
        "PVM_TMP": str(private / host.name), "VAIVEN_PVMD": _daemon(host), "VAIVEN_PVMD_SLACK_NS": str(SLACK_NS),
    }  # fmt: skip


def _daemon(host: Host) -> str:
    """What runs there as pvmd; a host of this machine that is of another architecture has one of its own."""
    if not host.here or host.arch == platform.machine():
        return "pvmd"
    return str(resources.program(f"vaiven-pvmd-{host.arch}"))


class _Daemons:
    """Those of some hosts: the first is our child, the others are started by it. private: where their files lie."""

    def __init__(self, members: Sequence[Host], private: Path) -> None:
        self._hosts = members
        self._private = private
        self._program = private / "pvmd"
        self._program.write_text(_PVMD)
        self._program.chmod(0o700)
        self._first: subprocess.Popen[bytes] | None = None

    def probe(self, host: Host) -> tuple[str, ...]:
        """The probe of that host, in the environment of its daemon. VaivenError ("no-probe")."""
        if "pvm" not in host.libraries:
            raise VaivenError(f"{host.name} has no vaiven-probe-pvm", "leave it out of PVM", code="no-probe")
        return (*self._env(host), *host.libraries["pvm"])

    def start(self) -> None:
        """Returns when all are up."""
        first, listed = self._hosts[0], self._private / "hosts"
        listed.write_text(f"* dx={self._program} ep={_SERVERS}\n" + "".join(f"{host.name}\n" for host in self._hosts))
        command = [*self._env(first), str(self._program), f"-n{first.name}", str(listed)]
        self._first = subprocess.Popen(
            first.argv(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        assert self._first.stdout
        said = self._first.stdout.readline().decode(errors="replace").strip()  # where it listens, once it does
        deadline_s = time.monotonic() + _UP_S
        while missing := self._missing(said):
            if time.monotonic() > deadline_s or self._first.poll() is not None:
                raise self._failed(missing[0], said)
            time.sleep(_POLL_S)

    def end(self) -> None:
        """Halts them, and ends what does not obey."""
        if self._first is None:
            return
        if self._first.poll() is None:
            with suppress(VaivenError):  # the connection ends with the machine
                self._console("halt", _HALT_S)
            with suppress(subprocess.TimeoutExpired):
                self._first.wait(_HALT_S)
        self._first.kill()
        self._first.communicate()
        for host in self._hosts:
            with suppress(VaivenError):  # a host that has gone has ended them
                hosts.call(host.name, host.argv, ["sh", "-c", _SWEEP, "sh", str(self._private / host.name)])

    def _missing(self, said: str) -> list[Host]:
        """The hosts whose daemons are not there yet. Without its socket the console would start a daemon itself."""
        if not Path(said).is_socket():
            return list(self._hosts)
        up = set(re.findall(r"^\s*(\S+)\s+[0-9a-f]+\s+LINUX", self._console("conf"), re.MULTILINE))
        return [host for host in self._hosts if host.name not in up]

    def _console(self, word: str, timeout_s: float = _UP_S) -> str:
        """What PVM's console prints at that command."""
        first = self._hosts[0]
        command = [*self._env(first), "sh", "-c", _CONSOLE, "sh", word]
        return hosts.call(first.name, first.argv, command, timeout_s=timeout_s).decode(errors="replace")

    def _failed(self, host: Host, said: str) -> VaivenError:
        if "not found" in said:
            return VaivenError(f"{host.name} has no pvmd", "there: apt-get install pvm", code="no-pvm")
        logs = [*(self._private / host.name).glob("pvml.*"), *(self._private / self._hosts[0].name).glob("pvml.*")]
        words = [line for log in logs for line in log.read_text(errors="replace").splitlines()]
        why = words[-1] if words else said or "it said nothing"
        return VaivenError(f"the pvmd of {host.name} does not come up: {why}", "is PVM there, as here?", code="no-pvmd")

    def _env(self, host: Host) -> list[str]:
        return ["env", *(f"{key}={value}" for key, value in _environment(host, self._private).items())]
