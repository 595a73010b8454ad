# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C, a closed terminal and `kill` all end a run in the same clean way."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _interrupt(_number: int, _frame: object) -> None:
    with suppress(OSError):  # the terminal may be gone
        os.write(2, b"\nvaiven: stopping\n")  # at once: what is to be cleaned up can take seconds
    raise KeyboardInterrupt("told")


@contextmanager
def interruptible() -> Iterator[None]:
    """Inside it each of these signals raises KeyboardInterrupt."""
    with _handled(_interrupt):
        yield


@contextmanager
def shielded() -> Iterator[None]:
    """Inside it they are ignored: cleaning up is short, and must not be cut off by an impatient second Ctrl-C."""
    with _handled(signal.SIG_IGN):
        yield


@contextmanager
def postponed() -> Iterator[None]:
    """Inside it they wait for its end: a process that is being started is known, and can be ended, before they come."""
    came: list[int] = []
    with _handled(lambda number, _frame: came.append(number)):
        yield
    if came:
        signal.raise_signal(came[0])


@contextmanager
def _handled(handler: Callable[[int, object], None] | signal.Handlers) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread gets signals
        return
    before = {number: signal.signal(number, handler) for number in _ENDING}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
