# SPDX-License-Identifier: BSD-3-Clause
"""tools/test-steps: every step runs, the closing lines of all are printed, and one failure is the failure of all."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest


def run(root: Path, script: str, ci: str = "") -> subprocess.CompletedProcess[str]:
    text = f". tools/test-steps\n{script}\nclosing\n"
    environment = os.environ | {"CI": ci}
    return subprocess.run(["bash", "-c", text], cwd=root, env=environment, capture_output=True, text=True, check=False)


def test_all_steps_run_and_a_failure_is_kept(root: Path) -> None:
    done = run(root, "step one sh -c 'echo 3 failed; exit 4'\nstep two sh -c 'echo begun; echo 5 passed'")
    assert done.returncode == 1
    first, second = done.stdout.split("=== summary\n")[1].splitlines()
    assert first.startswith("FAILED") and first.endswith("3 failed")
    assert second.startswith("ok") and second.endswith("5 passed") and "begun" in done.stdout


@pytest.mark.parametrize("told", ["Skipped:            2", "[  SKIPPED ] test_a"])
def test_c_tests_that_are_skipped_fail_in_ci(root: Path, told: str) -> None:
    script = f"step one echo '{told}'"
    assert run(root, script).returncode == 0
    assert run(root, script, ci="true").returncode == 1


@pytest.mark.parametrize("name", ["check", "test", "test-suites", "soak", "install"])
def test_the_scripts_are_programs(root: Path, name: str) -> None:
    script = root / "tools" / name
    assert os.access(script, os.X_OK)
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
