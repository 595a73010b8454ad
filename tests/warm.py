# SPDX-License-Identifier: BSD-3-Clause
"""The `vaiven` command in a process of its own that has the libraries of others loaded already.

Loading numpy and its like takes half a second, and the tests call the command some hundred times. So a server loads
them once and forks a process for each call, which then does what `python -m vaiven` does.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

# Not polars: it has threads of its own, and must not be forked.
_LOADED = ["__main__", "cyclopts", "msgspec", "numpy", "pyroute2", "rich.console", "rich.table"]

_server = multiprocessing.get_context("forkserver")
_server.set_forkserver_preload(_LOADED)


def call(
    arguments: tuple[str, ...], timeout_s: float, cwd: Path | str = ".", env: Mapping[str, str] | None = None,
    input: str = "",
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """Runs vaiven with those arguments until nobody holds its output. subprocess.TimeoutExpired after timeout_s."""
    (stdin, writer), (out_reader, stdout), (err_reader, stderr) = (_server.Pipe(duplex=False) for _ in range(3))
    ends = (stdin, stdout, stderr)
    process = _server.Process(target=_run, args=(arguments, os.path.abspath(cwd), dict(env or os.environ), ends))
    process.start()
    for end in ends:
        end.close()
    with ThreadPoolExecutor() as readers:
        said = [readers.submit(_read, end) for end in (out_reader, err_reader)]
        _write(writer, input)
        process.join(timeout_s)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(["vaiven", *arguments], timeout_s)
        out, err = (one.result(timeout_s) for one in said)
    return subprocess.CompletedProcess(["vaiven", *arguments], process.exitcode, out, err)


def _read(end: Connection) -> str:
    with open(os.dup(end.fileno()), encoding="utf-8") as text:
        end.close()
        return text.read()


def _write(end: Connection, text: str) -> None:
    with suppress(BrokenPipeError), open(os.dup(end.fileno()), "w", encoding="utf-8") as stdin:
        end.close()
        stdin.write(text)


def _run(arguments: tuple[str, ...], cwd: str, env: dict[str, str], ends: tuple[Connection, ...]) -> None:
    """In the new process."""
    for number, end in enumerate(ends):
        os.dup2(end.fileno(), number)
        end.close()
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    sys.argv = ["vaiven", *arguments]
    from vaiven.__main__ import main

    main()
