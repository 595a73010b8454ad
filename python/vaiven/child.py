# SPDX-License-Identifier: BSD-3-Clause
"""Processes of ours: the one place where they are started, spoken to and ended.

A child is told lines on its standard input, answers by lines, and takes the end of its input for its own end: so it
ends with us, however that happens. In a session of its own no key of our terminal reaches it, and what it has started
can be ended with it.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import BinaryIO, Self

Stream = int | BinaryIO | None  # where a stream of a child comes from or goes to; a descriptor or a file, or one of:
PIPE, NOWHERE, AS_OUTPUT = subprocess.PIPE, subprocess.DEVNULL, subprocess.STDOUT
OURS = None
KEPT = -16  # in a file without a name, for `complaint`; both streams may be

END_S = 5.0  # for a child to end by itself
_LINE_BYTES_MAX = 1 << 26  # of a child that never ends its line
_COMPLAINT_BYTES_MAX = 1 << 20


class Child:
    """A process that this one has started. OSError when it cannot be.

    alone: in a session of its own. lent: descriptors that it has, too. As a context it ends at the end of the block.
    """

    def __init__(
        self, argv: Sequence[str], *, stdin: Stream = PIPE, stdout: Stream = PIPE, stderr: Stream = KEPT,
        alone: bool = True, cwd: str | None = None, lent: Sequence[int] = (),
    ) -> None:  # fmt: skip
        self._alone = alone
        self._heard = bytearray()
        self._kept = tempfile.TemporaryFile(buffering=0) if KEPT in (stdout, stderr) else None  # noqa: SIM115  # let_go
        stdout, stderr = (self._kept if stream == KEPT else stream for stream in (stdout, stderr))
        try:
            self._process = subprocess.Popen(
                argv, stdin=stdin, stdout=stdout, stderr=stderr, bufsize=0, cwd=cwd, pass_fds=lent,
                start_new_session=alone,
            )  # fmt: skip
        except OSError:
            if self._kept:
                self._kept.close()
            raise
        self.pid = self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(0 if kind else END_S)

    def tell(self, line: str) -> None:
        """A line for its standard input; to one that has gone nothing is told, and its silence says so."""
        assert self._process.stdin
        with suppress(OSError):
            self._process.stdin.write(f"{line}\n".encode())

    def hear(self, within_s: float | None = None) -> str:
        """Its next line without spaces around it; "" when it says no more, or nothing in that time."""
        return self._line(within_s).decode(errors="replace").strip()

    def lines(self) -> Iterator[bytes]:
        """What it says, line by line, until it says no more."""
        while line := self._line(None):
            yield line

    def rest(self, within_s: float | None = None) -> bytes:
        """All that it still says. TimeoutError when it has not said all in that time."""
        deadline_s = None if within_s is None else time.monotonic() + within_s
        while more := self._read(deadline_s):
            self._heard += more
        if more is None:
            raise TimeoutError(f"no answer within {within_s:g} s")
        rest = bytes(self._heard)
        self._heard.clear()
        return rest

    def end_input(self) -> None:
        """Lets it find the end of its standard input."""
        if self._process.stdin:
            with suppress(OSError):  # what it was told never arrived
                self._process.stdin.close()

    def complaint(self) -> str:
        """What is kept of what it has said, by its end if that comes soon; of much the last part."""
        assert self._kept
        self.wait(END_S)
        self._kept.seek(max(0, self._kept.seek(0, os.SEEK_END) - _COMPLAINT_BYTES_MAX))
        return self._kept.read().decode(errors="replace").strip()

    def complain(self, line: bytes) -> None:
        """Keeps a line of its standard output with its complaints: it is one."""
        assert self._kept
        self._kept.write(line)

    def wait(self, within_s: float | None = None) -> int | None:
        """Its status, negative: the signal that ended it; None when it has not ended in that time."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(within_s)
        return None

    def terminate(self) -> None:
        """Asks it by a signal to end."""
        self._process.terminate()

    def kill(self) -> None:
        """Kills it, and what is left of its session."""
        with suppress(ProcessLookupError):
            if self._alone:
                os.killpg(self.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def end(self, patience_s: float = END_S) -> int:
        """Ends its input, and kills it when it has not ended by itself after that time. Its status."""
        self.end_input()
        if self.wait(patience_s) is None:
            self.kill()
        return self._process.wait()

    def close(self, patience_s: float = END_S) -> int:
        """Ends it and lets it go. Its status."""
        status = self.end(patience_s)
        self.let_go()
        return status

    def let_go(self) -> None:
        """Closes what we had of it: a child that goes on does so without us."""
        self.end_input()
        for stream in (self._process.stdout, self._kept):
            if stream:
                stream.close()

    def _line(self, within_s: float | None) -> bytes:
        """Its next line, the last one perhaps without an end; b"" for none."""
        deadline_s = None if within_s is None else time.monotonic() + within_s
        searched = 0
        while (end := self._heard.find(b"\n", searched) + 1) == 0:
            end = searched = len(self._heard)
            more = b"" if searched > _LINE_BYTES_MAX else self._read(deadline_s)
            if more is None:
                return b""
            if not more:
                break
            self._heard += more
        line = bytes(self._heard[:end])
        del self._heard[:end]
        return line

    def _read(self, deadline_s: float | None) -> bytes | None:
        """Some of what it says; b"" at its end, None when it says nothing before that time."""
        said = self._process.stdout
        assert said
        if deadline_s is not None:
            waiting = select.poll()
            waiting.register(said, select.POLLIN)
            if not waiting.poll(max(0.0, deadline_s - time.monotonic()) * 1000):
                return None
        return said.read(1 << 16)


@dataclass(frozen=True, kw_only=True)
class Done:
    """What came of a command. status: negative, the signal that ended it. complaint: on its standard error."""

    status: int
    output: bytes
    complaint: str


def call(argv: Sequence[str], *, stdin: bytes = b"", within_s: float | None = None, lent: Sequence[int] = ()) -> Done:
    """Runs a command to its end. TimeoutError when it takes longer, and OSError when it cannot be started; whatever
    happens, it has ended."""
    began_s = time.monotonic()
    with tempfile.TemporaryFile() if stdin else nullcontext(NOWHERE) as given:
        if not isinstance(given, int):
            given.write(stdin)
            given.seek(0)
        with Child(argv, stdin=given, lent=lent) as child:
            output = child.rest(within_s)
            left_s = None if within_s is None else max(0.0, began_s + within_s - time.monotonic())
            status = child.wait(left_s)
            if status is None:
                raise TimeoutError(f"has not ended within {within_s:g} s")
            return Done(status=status, output=output, complaint=child.complaint())
