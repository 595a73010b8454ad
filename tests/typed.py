# SPDX-License-Identifier: BSD-3-Clause
"""The `vaiven` command in the process of the test, which has the libraries of others loaded already.

To load numpy, polars and their like takes most of a second, and the tests call the command some hundred times.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from vaiven import cli


def call(
    arguments: tuple[str, ...], timeout_s: float, cwd: Path | str = ".", env: Mapping[str, str] | None = None,
    input: str = "",
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """Runs vaiven with those arguments to its end, as `python -m vaiven` does, in that directory and environment.

    What takes longer than timeout_s is broken off: subprocess.TimeoutExpired, which vaiven may call a fault of its own.
    """
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        stdin.write(input.encode())
        stdin.seek(0)
        with pytest.MonkeyPatch.context() as patch, _on_descriptors((stdin, out, err), patch):
            patch.chdir(cwd)
            patch.setattr(sys, "argv", ["vaiven", *arguments])
            wanted = os.environ if env is None else env
            for name in {*os.environ} - {*wanted}:
                patch.delenv(name)
            for name, value in {**wanted}.items():
                patch.setenv(name, value)
            with pytest.raises(SystemExit) as ended, _at_most(timeout_s, arguments):
                cli.start()
        said = [_said(one) for one in (out, err)]
    return subprocess.CompletedProcess(["vaiven", *arguments], ended.value.code or 0, *said)


@contextmanager
def _at_most(timeout_s: float, arguments: tuple[str, ...]) -> Iterator[None]:
    def expire(*_: object) -> None:
        raise subprocess.TimeoutExpired(["vaiven", *arguments], timeout_s)

    before = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, timeout_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _on_descriptors(files: tuple[IO[bytes], ...], patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Those files are the standard ones, of programs that it starts, too."""
    kept = [os.dup(number) for number in range(3)]
    for number, file in enumerate(files):
        os.dup2(file.fileno(), number)
    streams = [open(number, mode, closefd=False) for number, mode in enumerate("rww")]  # noqa: SIM115
    for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
        patch.setattr(sys, name, stream)
    try:
        yield
    finally:
        for stream in streams:
            stream.close()
        for number, before in enumerate(kept):
            os.dup2(before, number)
            os.close(before)


def _said(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()
