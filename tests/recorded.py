# SPDX-License-Identifier: BSD-3-Clause
"""The frames of an interface, kept by tcpdump."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def recorded(argv: Callable[[Sequence[str]], list[str]], file: Path, *options: str) -> Iterator[None]:
    """Every frame that eth0 sees during the `with` block is in the file after it, up to 2048 bytes of each. argv makes
    of a command what runs it where that interface is; the options are tcpdump's."""
    # tcpdump's buffer has a place of that length for each frame: by itself 256 KiB, and so too few of them.
    kept = ["-Z", "root", "-B", "65536", "-s", "2048", "--immediate-mode", "-U", "-w", str(file)]
    command = argv(["tcpdump", "-i", "eth0", *kept, *options])
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as tcpdump:
        try:
            assert any("listening on" in line for line in tcpdump.stderr or ()), "tcpdump ended before it listened"
            yield
        finally:
            tcpdump.terminate()
            # nsenter, which may be what was started, ends sooner than tcpdump: that has when nothing holds its stderr.
            _, counted = tcpdump.communicate()
        assert "0 packets dropped by kernel" in counted, counted
