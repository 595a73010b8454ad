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


ONCE = """
import pathlib
def test_once():
    marker = pathlib.Path({marker!r})
    seen = marker.exists()
    marker.touch()
    assert seen, {says!r}
def test_always():
    assert {always}
"""


def disturbed(root: Path, folder: Path, **words: object) -> subprocess.CompletedProcess[str]:
    """A step of two tests, the first of which fails when it runs for the first time."""
    file = folder / "test_disturbed.py"
    file.write_text(ONCE.format(**{"marker": str(folder / "ran"), "says": "late", "always": True} | words))
    return run(root, f"step one tested -q --rootdir {folder} {file}")


def test_a_test_that_passes_alone_is_named_and_no_failure(root: Path, tmp_path: Path) -> None:
    done = disturbed(root, tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].endswith("passed only when tried again alone: test_disturbed.py::test_once")


def test_a_test_that_fails_again_fails_the_step(root: Path, tmp_path: Path) -> None:
    assert disturbed(root, tmp_path, always=False).returncode == 1


def test_what_a_sanitizer_reports_is_not_tried_again(root: Path, tmp_path: Path) -> None:
    done = disturbed(root, tmp_path, says="ERROR: AddressSanitizer: heap-use-after-free")
    assert done.returncode == 1 and "tried again" not in done.stdout


MESON = """#!/bin/sh
if [ -f {folder}/ran ]; then exit {again}; fi
touch {folder}/ran
mkdir -p {folder}/meson-logs
echo '{{"name": "c+pure - vaiven:core/wire/gpdu", "result": "FAIL"}}' >{folder}/meson-logs/testlog.json
echo '{says}' >{folder}/meson-logs/testlog.txt
echo 'Ok:                5'; echo 'Fail:              1'; exit 1
"""


@pytest.mark.parametrize("again, says, status", [(0, "late", 0), (1, "late", 1), (0, "ThreadSanitizer: race", 1)])
def test_a_c_test_that_passes_alone_is_named(root: Path, tmp_path: Path, again: int, says: str, status: int) -> None:
    for name, text in {"meson": MESON.format(folder=tmp_path, again=again, says=says), "ninja": "#!/bin/sh\n"}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "build.ninja").touch()
    done = run(root, f"PATH={tmp_path}:$PATH\nstep one c_tests {tmp_path}")
    assert done.returncode == status
    assert ("passed only when tried again alone: core/wire/gpdu" in done.stdout.splitlines()[-1]) == (status == 0)


def test_what_is_not_built_is_no_test_that_passes_alone(root: Path, tmp_path: Path) -> None:
    (tmp_path / "meson-logs").mkdir()
    (tmp_path / "meson-logs/testlog.json").write_text('{"name": "c+pure - vaiven:core/wire/gpdu", "result": "FAIL"}\n')
    for name, status in {"meson": 0, "ninja": 1}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\nexit {status}\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "build.ninja").touch()
    done = run(root, f"PATH={tmp_path}:$PATH\nstep one c_tests {tmp_path}")
    assert done.returncode == 1 and "tried again" not in done.stdout
