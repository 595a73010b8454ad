# SPDX-License-Identifier: BSD-3-Clause
"""PVM's daemons: one on each host of a launch, fresh for each, and gone after it.

The first one is started by us and starts the others itself, as PVM does, through the remote shell that it is given:
ours where it runs on this machine, else ssh, by which that host must reach the others. What a daemon keeps lies in a
directory of its own on each host, so that files of another one are never in the way. A guard waits there for the end of
its input, then ends whatever is left and takes the directory away: that comes too when we are killed.

A pvmd sends a fragment again that is not acknowledged within half a millisecond, which was less than a tick of the
clock when it was written. Its timers get that coarseness back (timer slack): else a slow network carries most twice.
"""

from __future__ import annotations

import platform
import re
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from vaiven import child, resources
from vaiven.child import Child
from vaiven.errors import VaivenError
from vaiven.run import hosts, rsh, signals
from vaiven.run.hosts import Host

SLACK_NS = 10_000_000
MODES = tuple(f"{route}-{form}" for route in ("default", "direct") for form in ("xdr", "raw", "inplace", "trans"))
# Of a message for all: the call, its route and its encoding, without which it is copied and travels over TCP.
BROADCASTS = tuple(call if mode == "direct-raw" else f"{call}-{mode}" for call in ("mcast", "bcast") for mode in MODES)
_HOMES = "/tmp/vaiven-pvm"  # not TMPDIR: sockets have short names
_GROUPS = "/usr/bin/pvmgs"  # what serves groups, where the daemon is the host's own
_UP_S = 30.0
_HALT_S = 3.0  # they need a hundredth of that, unless one of them does not answer
_POLL_S = 0.02

# $1: the directory. $2: what serves groups. $3...: the environment of a daemon, NAME=VALUE. Makes what is called
# `pvmd`, `pvmgs` and `rsh` on that host and says so. At the end it ends whatever still has that directory in its
# environment, which a broken machine leaves.
_GUARD = r"""trap "" HUP; umask 077; d=$1 groups=$2; shift 2
mkdir "$d" && {
  echo "#!/bin/sh"
  for word; do echo "export '$word'"; done
  echo 'echo "$VAIVEN_PVMD_SLACK_NS" >/proc/self/timerslack_ns && exec "$VAIVEN_PVMD" "$@"'
} >"$d/pvmd" && printf '#!/bin/sh\nexec "%s" "$@"\n' "$groups" >"$d/pvmgs" &&
printf '#!/bin/sh\nexec ssh -T -o BatchMode=yes "$@"\n' >"$d/rsh" && chmod 700 "$d"/* && echo ready
cat >/dev/null
"""
_GUARD += hosts.END_ALL_WITH % "PVM_TMP=$d" + 'rm -rf "$d"\n'
_FIRST = 'printf "%s" "$1" >"$2/hosts" && exec "$2/pvmd" "-n$3" "$2/hosts"'
# $1: the socket of the daemon, without which the console would start one itself. $2: what it is to do.
_CONSOLE = r'[ ! -S "$1" ] || printf "%s\nquit\n" "$2" | pvm 2>&1'
# What is in the log of a daemon, after who it is, but for what our own questions leave there.
_LAST_WORDS = r"""tail -qn +3 "$PVM_TMP"/pvml.* 2>/dev/null | grep -vE 'locloutput\(\)|: EOF$' | tail -n 2 |
sed 's/^\[[^ ]* [^ ]* [^ ]* //'"""


@contextmanager
def machine(members: Sequence[Host], paths: Sequence[str] = ()) -> Iterator[list[Host]]:
    """A virtual machine of these hosts, which come back with probes that know their daemon; of a host without one that
    is what makes any program know it. paths: directories on the hosts with programs that tasks spawn by name.

    VaivenError: "no-pvm" (not installed, or an address that it does not know), "no-pvmd" (it does not come up).
    """
    different = list({host.name: host for host in members}.values())
    for host in different:
        if ":" in host.address:
            raise VaivenError(f"PVM does not know the address {host.address}", "IPv4, see --bind", code="no-pvm")
    shell = rsh.serving(different, lambda _host, _private: {}) if different[0].here else nullcontext()
    with shell as script:
        seats = {host.name: _Seat(host, f"{_HOMES}-{secrets.token_hex(8)}", script, tuple(paths)) for host in different}
        daemons = _Daemons(list(seats.values()))
        try:
            daemons.start()
            yield [replace(host, libraries={**host.libraries, "pvm": seats[host.name].probe}) for host in members]
        finally:
            with signals.shielded():
                daemons.end()


def _daemon(host: Host) -> str:
    """What runs there as pvmd."""
    return _foreign(host, "pvmd") or "pvmd"


def _foreign(host: Host, name: str) -> str:
    """That program of PVM for a host of this machine that is of another architecture; "" for other hosts."""
    if not host.here or host.arch == platform.machine():
        return ""
    return str(resources.program(f"vaiven-{name}-{host.arch}"))


@dataclass(frozen=True)
class _Seat:
    """Where a daemon runs. home: its directory there. shell: our remote shell, None where ssh must do. paths:
    directories of what tasks spawn. Which host gets the server of groups is PVM's choice, so each has one that its
    daemon can run."""

    host: Host
    home: str
    shell: Path | None
    paths: tuple[str, ...]

    @property
    def name(self) -> str:
        """What the daemons call that host: all of them must mean the same one."""
        return self.host.name_elsewhere

    @property
    def environment(self) -> list[str]:
        """What PVM's programs find there, NAME=VALUE."""
        shell = self.shell or f"{self.home}/rsh"
        daemon = ["PVM_ROOT=/usr/lib/pvm3", "PVM_ARCH=LINUX64", "PVM_ALLOW_ROOT=1", f"PVM_TMP={self.home}"]
        return [
            *daemon,
            f"PVM_RSH={shell}",
            f"VAIVEN_PVMD={_daemon(self.host)}",
            f"VAIVEN_PVMD_SLACK_NS={SLACK_NS}",
        ]

    @property
    def probe(self) -> tuple[str, ...]:
        """The probe of that host, in that environment."""
        return ("env", *self.environment, *self.host.libraries.get("pvm", ()))

    @property
    def line(self) -> str:
        """That host in the file of PVM's hosts."""
        return f"{self.name} ip={self.host.address} dx={self.home}/pvmd ep={':'.join((*self.paths, self.home))}\n"

    def start(self, script: str, *arguments: str, stdin: int = child.NOWHERE) -> Child:
        """Starts a shell's script there."""
        return Child(self.host.argv(["sh", "-c", script, "sh", *arguments]), stdin=stdin, stderr=child.AS_OUTPUT)

    def call(self, script: str, *arguments: str, timeout_s: float = _UP_S) -> str:
        """What a shell's script prints there, in that environment. VaivenError ("host-down")."""
        command = ["env", *self.environment, "sh", "-c", script, "sh", *arguments]
        return hosts.call(self.host.name, self.host.argv, command, timeout_s=timeout_s).decode(errors="replace")


class _Daemons:
    """Those of some seats: the first is our child, the others are started by it."""

    def __init__(self, seats: Sequence[_Seat]) -> None:
        self._seats = seats
        self._guards: list[Child] = []
        self._first: Child | None = None
        self._said = ""  # by the first: where it listens, or why it does not

    def start(self) -> None:
        """Returns when all are up."""
        for seat in self._seats:
            words = [seat.home, _foreign(seat.host, "pvmgs") or _GROUPS, *seat.environment]
            self._guards.append(seat.start(_GUARD, *words, stdin=child.PIPE))
        for seat, guard in zip(self._seats, self._guards, strict=True):
            if (said := guard.hear()) != "ready":
                raise VaivenError(f"{seat.host.name}: no directory for its pvmd: {said}", code="no-pvmd")
        first = self._seats[0]
        self._first = first.start(_FIRST, "".join(seat.line for seat in self._seats), first.home, first.name)
        self._said = self._first.hear()
        deadline_s = time.monotonic() + _UP_S
        while missing := self._missing():
            given_up = self._given_up(missing)
            if given_up or time.monotonic() > deadline_s or self._first.wait(0) is not None:
                raise self._failed(given_up or missing[0])
            time.sleep(_POLL_S)

    def end(self) -> None:
        """Halts them, and ends what does not obey."""
        if self._first and self._first.wait(0) is None:
            with suppress(VaivenError):  # the connection ends with the machine
                self._seats[0].call(_CONSOLE, self._said, "halt", timeout_s=_HALT_S)
            self._first.wait(_HALT_S)
        for guard in self._guards:
            guard.end_input()
        for process in (*self._guards, self._first):
            if process:
                process.close(_HALT_S)

    def _missing(self) -> list[_Seat]:
        """Those whose daemons are not there yet."""
        said = self._seats[0].call(_CONSOLE, self._said, "conf")
        up = set(re.findall(r"^\s*(\S+)\s+[0-9a-f]+\s+LINUX", said, re.MULTILINE))
        return [seat for seat in self._seats if seat.name not in up]

    def _given_up(self, missing: Sequence[_Seat]) -> _Seat | None:
        """One of these whose daemon the first one has tried to start and could not."""
        said = f" {self._seats[0].call(_LAST_WORDS)}"
        return next((seat for seat in missing if f" host {seat.name} " in said), None)

    def _failed(self, seat: _Seat) -> VaivenError:
        """Why that one is not there: the first one knows what became of the others."""
        words = [self._said]
        for one in (self._seats[0], seat):
            with suppress(VaivenError):
                words += one.call(_LAST_WORDS).splitlines()
        if any("not found" in line for line in words):
            return VaivenError(f"{seat.host.name} has no pvmd", "there: apt-get install pvm", code="no-pvm")
        why = "; ".join(words[1:]) or words[0] or "it said nothing"
        return VaivenError(
            f"the pvmd of {seat.host.name} does not come up: {why}",
            "the same version of the package pvm on every host",
            code="no-pvmd",
        )
