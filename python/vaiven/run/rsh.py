# SPDX-License-Identifier: BSD-3-Clause
"""A remote shell for launchers of others: mpirun, mpiexec and pvmd start their daemons on hosts of a lab through it.

Such a launcher runs on one host of the lab, and from in there no other host can be entered. So what it takes for its
`ssh` is a script that hands its arguments and its standard streams to this process, over a socket in a private
directory; here the command is started on the host that it names, as any command of ours is. It ends with the script
that asked for it, and all of them when `serving` ends.
"""

from __future__ import annotations

import json
import os
import select
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from vaiven.child import Child
from vaiven.run import signals
from vaiven.run.hosts import Host

# What ssh does, as far as launchers want it: options first, the host, perhaps `-l USER`, and a command for a shell.
_SCRIPT = """#!{python} -IS
import json, socket, sys
words = sys.argv[1:]
while words and words[0].startswith("-"):
    del words[0 : 2 if words[0] == "-l" else 1]
if words[1:2] == ["-l"]:
    del words[1:3]
asked = socket.socket(socket.AF_UNIX)
asked.connect({socket!r})
socket.send_fds(asked, [json.dumps(words).encode() + b"\\n"], [0, 1, 2])
sys.exit(int(asked.recv(16) or b"255"))
"""
_WORDS_MAX = 1 << 20  # bytes of a command
_END_S = 5.0
_NO_HOST = 255  # as ssh says it

Environment = Callable[[Host, Path], Mapping[str, str]]


@contextmanager
def serving(hosts: Sequence[Host], environment: Environment) -> Iterator[Path]:
    """The script that runs a command on any of these hosts, by name or address; it lies in a private directory.

    environment: what a command finds in its environment, for that host and that directory. At the end everything that
    was started through the script has ended, and the directory is gone.
    """
    with tempfile.TemporaryDirectory(prefix="vaiven-rsh-") as private:
        script, address = Path(private) / "rsh", str(Path(private) / "socket")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(address)
            listener.listen(128)
            script.write_text(_SCRIPT.format(python=sys.executable, socket=address))
            script.chmod(0o700)
            shell = _Shell(hosts, lambda host: environment(host, script.parent), listener)
            try:
                yield script
            finally:
                with signals.shielded():
                    shell.end()


class _Shell:
    """The threads behind a script: one that listens, one for each command that runs."""

    def __init__(
        self, hosts: Sequence[Host], environment: Callable[[Host], Mapping[str, str]], listener: socket.socket
    ) -> None:
        self._hosts = {name: host for host in hosts for name in (host.name, host.address)}
        self._environment = environment
        self._listener = listener
        self._asked: list[tuple[socket.socket, threading.Thread]] = []
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Ends every command and waits for that."""
        self._listener.shutdown(socket.SHUT_RDWR)  # wakes accept() up, which close() would not
        self._thread.join(_END_S)
        for asked, thread in self._asked:
            with suppress(OSError):  # it has ended by itself
                asked.shutdown(socket.SHUT_RDWR)
            thread.join(_END_S)

    def _listen(self) -> None:
        while True:
            try:
                asked, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(asked,), daemon=True)
            self._asked.append((asked, thread))
            thread.start()

    def _serve(self, asked: socket.socket) -> None:
        """One command, until it ends or whoever asked for it has gone."""
        with asked:
            text, streams, _, _ = socket.recv_fds(asked, _WORDS_MAX, 3)
            try:
                while not text.endswith(b"\n") and (more := asked.recv(_WORDS_MAX)):
                    text += more
                process = self._start(json.loads(text or b"[]"), streams)
            finally:
                for stream in streams:
                    os.close(stream)
            status = _ended(process, asked) if process else _NO_HOST
            with suppress(OSError):  # nobody listens any more
                asked.send(str(status if status >= 0 else 128 - status).encode())

    def _start(self, words: Sequence[str], streams: Sequence[int]) -> Child | None:
        """The command, started; None, and words on its standard error, for a host that is none of ours."""
        host = self._hosts.get(words[0]) if len(words) > 1 and len(streams) == 3 else None
        if host is None:
            known = ", ".join(sorted({host.name for host in self._hosts.values()}))
            os.write(streams[-1], f"vaiven: {' '.join(words)!r} is no command for one of {known}\n".encode())
            return None
        assigned = [f"{key}={value}" for key, value in self._environment(host).items()]
        command = host.argv(["env", *assigned, "sh", "-c", " ".join(words[1:])])
        stdin, stdout, stderr = streams
        return Child(command, stdin=stdin, stdout=stdout, stderr=stderr)


def _ended(process: Child, asked: socket.socket) -> int:
    """The status of a command that has ended; it is killed when the connection of the one who asked for it closes."""
    ending = os.pidfd_open(process.pid)
    try:
        waited: list[int | socket.socket] = [ending, asked]
        ready, _, _ = select.select(waited, [], [])
        if ending not in ready:
            process.kill()
        return process.close()
    finally:
        os.close(ending)
