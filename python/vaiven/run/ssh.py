# SPDX-License-Identifier: BSD-3-Clause
"""Hosts reached over ssh: one connection each for the whole run, a private copy of the probe, nothing left behind.

The connection is a child of ours, not a daemon. It runs a command there that waits for the end of its input and then
takes our copy away: that comes too when we are killed and can do nothing ourselves. Whatever ssh needs to know of a
host (user, port, key, jump host) belongs in the user's ssh configuration.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import secrets
import shlex
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from vaiven import child
from vaiven.child import Child
from vaiven.errors import VaivenError
from vaiven.run import hosts, signals

_NAME = re.compile(r"(?:[A-Za-z0-9._-]+@)?[A-Za-z0-9][A-Za-z0-9._:-]*")
_CONNECT_S = 10
# $1: a name that nobody can guess and we know beforehand, so that it can be removed whatever happens.
_MAKE = 'umask 077 && mkdir "${TMPDIR:-/tmp}/$1"'
# $2: the name of the program.
_INSTALL = """d="${TMPDIR:-/tmp}/$1"
umask 077 && cat >"$d/$2" && chmod 700 "$d/$2" || exit 1
printf '%s %s\\n' "$(sha256sum <"$d/$2" | cut -d' ' -f1)" "$d"
"""
_REMOVE = 'rm -rf -- "${TMPDIR:-/tmp}/$1"'
_WAIT = f"trap '' HUP; cat >/dev/null; {_REMOVE}"
_PREFIX = "vaiven-ssh-"
_STALE_S = 60  # a directory younger than that may be about to be locked


class Connection:
    """A host behind ssh. name: what ssh calls it, checked to be nothing else. copy: the directory of our copy there."""

    def __init__(self, name: str, socket: Path) -> None:
        self.name = name
        self.copy = f"vaiven-{secrets.token_hex(8)}"
        self._socket = socket

    def argv(self, command: Sequence[str]) -> list[str]:
        """ssh's arguments that run `command` there, quoted for the shell of the other side."""
        return [*self._ssh(), "--", self.name, shlex.join(command)]

    def master(self) -> list[str]:
        """The connection that all the others share."""
        keep = ["-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3"]
        return [*self._ssh("yes"), *keep, "--", self.name, shlex.join(["sh", "-c", _WAIT, "sh", self.copy])]

    def check(self) -> list[str]:
        """Asks whether that connection stands."""
        return [*self._ssh(), "-O", "check", "--", self.name]

    def _ssh(self, master: str = "no") -> list[str]:
        options = {
            "BatchMode": "yes", "ConnectTimeout": str(_CONNECT_S), "ControlMaster": master,
            "ControlPath": str(self._socket), "ControlPersist": "no", "ForwardX11": "no", "ForwardAgent": "no",
        }  # fmt: skip
        return ["ssh", "-T", *(word for key, value in options.items() for word in ("-o", f"{key}={value}"))]


def checked_name(name: str) -> str:
    """The name, if it can be nothing but a host's; VaivenError ("bad-host")."""
    if not _NAME.fullmatch(name):
        raise VaivenError(f"{name!r} is not the name of a host", "a name or address that ssh knows", code="bad-host")
    return name


@contextmanager
def connected(name: str) -> Iterator[Connection]:
    """A connection to the host; closed at the end. VaivenError: "bad-host", "host-down"."""
    checked_name(name)
    _sweep()
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as private:
        connection = Connection(name, Path(private) / "s")
        with open(Path(private) / "log", "w+b") as log:
            fcntl.flock(log, fcntl.LOCK_EX)  # ours and ssh's: free when both have ended
            try:
                master = Child(connection.master(), stdout=log, stderr=log)
            except OSError as error:
                raise hosts.down(name, connection.master(), f"ssh: {error.strerror}") from error
            try:
                _until_connected(connection, master, Path(private) / "log")
                yield connection
            finally:
                master.terminate()
                master.close()


def _sweep() -> None:
    """Takes away what runs that were killed left of their connections: directories of ours that nobody holds."""
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # somebody else's, or gone already
            facts = path.lstat()
            if facts.st_uid != os.geteuid() or time.time() - facts.st_mtime < _STALE_S:
                continue
            with open(path / "log", "rb") as log:
                fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path)


def _until_connected(connection: Connection, master: Child, log: Path) -> None:
    deadline_s = time.monotonic() + _CONNECT_S + 5
    while child.call(connection.check()).status != 0:
        if master.wait(0) is None and time.monotonic() < deadline_s:
            time.sleep(0.02)
            continue
        said = log.read_text(errors="replace").strip().splitlines()
        why = said[-1] if said else f"no connection within {_CONNECT_S} s"
        raise hosts.down(connection.name, connection.master(), why)


@contextmanager
def installed(connection: Connection, programs: Mapping[str, Path]) -> Iterator[dict[str, str]]:
    """Private copies of these programs on that host, checked by their hashes: name -> path; removed at the end.

    VaivenError: "host-down", "bad-copy".
    """
    try:
        hosts.call(connection.name, connection.argv, ["sh", "-c", _MAKE, "sh", connection.copy])
        yield {name: _copied(connection, name, program) for name, program in programs.items()}
    finally:
        with signals.shielded(), suppress(OSError):  # it does not answer any more
            child.call(connection.argv(["sh", "-c", _REMOVE, "sh", connection.copy]), within_s=20)


def _copied(connection: Connection, name: str, program: Path) -> str:
    data = program.read_bytes()
    command = ["sh", "-c", _INSTALL, "sh", connection.copy, name]
    said = hosts.call(connection.name, connection.argv, command, stdin=data, timeout_s=60).decode(errors="replace")
    digest, _, directory = said.strip().rpartition("\n")[2].partition(" ")
    if digest != hashlib.sha256(data).hexdigest():
        raise VaivenError(
            f"the copy of {program.name} on {connection.name} is not what was sent",
            "is its disk full?",
            code="bad-copy",
        )
    return f"{directory}/{name}"
