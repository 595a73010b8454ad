# SPDX-License-Identifier: BSD-3-Clause
"""One launch of the probe between the first two hosts of a lab, started as the bench starts every tool: pinned."""

from __future__ import annotations

import json
import secrets
import subprocess
from collections.abc import Sequence
from typing import Any

from vaiven import resources
from vaiven.lab.lab import Lab

CPUS = ("0", "1")  # of the near end and of the far one, of every tool


def argv(lab: Lab, end: int, command: Sequence[str]) -> list[str]:
    """What runs that command at end 0 (near) or 1 (far) of the lab, on the processor of that end."""
    return lab.hosts[end].argv(pinned(end, command))


def pinned(end: int, command: Sequence[str]) -> list[str]:
    """The command of that end, on its processor."""
    return ["taskset", "-c", CPUS[end], *command]


def cells_of(lines: Sequence[str], what: str) -> list[dict[str, Any]]:
    """The cells in what a near end printed. RuntimeError when it did not come to its end."""
    records = [json.loads(line) for line in lines if line.startswith("{")]
    if not records or records[-1]["type"] != "bye":
        raise RuntimeError(f"{what}: {records[-1:]}")
    return [record for record in records if record["type"] == "cell"]


def cells(
    lab: Lab, stack: str, question: Sequence[str], both: Sequence[str] = (), hosts: tuple[int, int] = (0, 1)
) -> list[dict[str, Any]]:
    """The cells of one launch of that stack. `question` goes to the near end, `both` to both; `hosts` says where."""
    probe, key = str(resources.program("vaiven-probe")), secrets.token_hex(16) + "\n"
    address = lab.hosts[hosts[1]].address

    def start(end: int, *words: str) -> subprocess.Popen[str]:
        command = lab.hosts[hosts[end]].argv(pinned(end, [probe, *words, *both, "--key-stdin"]))
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        process.stdin.write(key)
        process.stdin.flush()
        return process

    far = start(1, "far", stack, "--bind", address)
    try:
        port = json.loads(far.stdout.readline())["port"]
        near = start(0, "near", stack, "--peer", f"{address}:{port}", *question)
        found = cells_of(near.stdout.readlines(), stack)
        near.wait()
    finally:
        far.kill()
        far.wait()
    return found
