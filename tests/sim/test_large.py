# SPDX-License-Identifier: BSD-3-Clause
"""Messages larger than 32 bits count, every byte of them compared."""

from __future__ import annotations

import json
import subprocess

import pytest

from vaiven import resources

FOUR_GIB = 4 << 30


@pytest.mark.slow
def test_a_message_of_more_than_4_gib_comes_whole() -> None:
    command = [resources.program("vaiven-sim"), "group", "--rate-bps", "10000000000", "--size", str(FOUR_GIB + 1)]
    said = subprocess.run(command, capture_output=True, text=True)
    assert said.returncode == 0, said.stdout + said.stderr
    assert json.loads(said.stdout)["payload_bytes"] == FOUR_GIB + 1
