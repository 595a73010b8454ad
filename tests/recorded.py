# SPDX-License-Identifier: BSD-3-Clause
"""The frames of an interface, kept by tcpdump."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def recorded(argv: Callable[[Sequence[str]], list[str]], file: Path, *options: str) -> Iterator[None]:
    """Every frame that eth0 sees during the `with` block is in the file after it, whole. argv makes of a command what
    runs it where that interface is; the options are tcpdump's."""
    # Each place of the buffer is as long as a frame may be, so the longest leaves room for few.
    kept = ["-Z", "root", "-B", "65536", "-s", "2048", "--immediate-mode", "-U", "-w", str(file)]
    command = argv(["tcpdump", "-i", "eth0", *kept, *options])
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as tcpdump:
        try:
            assert any("listening on" in line for line in tcpdump.stderr or ()), "tcpdump ended before it listened"
            yield
        finally:
            tcpdump.terminate()
            # Terminated is what put it in its namespace; it has itself ended when nothing holds its stderr.
            _, counted = tcpdump.communicate()
        assert "0 packets dropped by kernel" in counted, counted
