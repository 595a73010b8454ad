# SPDX-License-Identifier: BSD-3-Clause
"""What every test shares: the programs under test, and the rule that nothing is skipped where CI is set.

A test that needs root, a lab, a browser or a program of another package says so by its marker; here, and nowhere else,
the marker is turned into a skip with a reason on a machine that cannot do it. When the environment variable CI is set
every skip, whatever its origin, is a failure.

Here, too, a test without the mark `slow` is held to its budget of time, where TEST_BUDGET_S says one.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import settings

from vaiven import resources
from vaiven.errors import VaivenError

pytest_plugins = ["pytester"]


def _in_ci() -> bool:
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


# No test asserts an absolute time, not even of one example. Where a change is judged, the examples are always the same
# ones: what fails there then is the change, and new examples are looked for by whoever works on the tree.
settings.register_profile("vaiven", deadline=None, derandomize=_in_ci())
settings.load_profile("vaiven")

BUDGET_S = float(os.environ.get("TEST_BUDGET_S", "inf"))  # tools/test says it; a sanitizer or an emulator takes longer
_PRESSURE = Path("/proc/pressure/cpu")
_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def pytest_configure(config: pytest.Config) -> None:
    """Has a cache of this run alone, for all workers: what is found of labs beside tests is nothing for their user."""
    if not hasattr(config, "workerinput"):
        home = tempfile.TemporaryDirectory(prefix="vaiven-tests-")
        os.environ["XDG_CACHE_HOME"] = home.name
        config.add_cleanup(home.cleanup)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Marks what types commands by the fixture for that; who starts vaiven otherwise has the mark itself."""
    if "vaiven" in getattr(item, "fixturenames", ()):
        item.add_marker("typed")


def _missing(item: pytest.Item) -> str | None:
    """Why this machine cannot run the test, or None."""
    if item.get_closest_marker("lab") and os.geteuid() != 0:
        return "raises a lab: needs root"
    if item.get_closest_marker("root") and os.geteuid() != 0:
        return "does what only root may"
    if item.get_closest_marker("browser") and not any(map(shutil.which, _CHROMIUM)):
        return "drives a browser: needs the package chromium"
    wanted = [program for marker in item.iter_markers("needs") for program in marker.args]
    absent = [program for program in wanted if not _is_here(program)]
    return f"needs {', '.join(absent)}, which make test installs" if absent else None


def _is_here(program: str) -> bool:
    with suppress(VaivenError):
        return bool(resources.program(program))
    return False


def processor_s() -> float:
    """Processor time of this process and of its children that have ended, in s."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def stalled_s() -> float:
    """How long, in s, something on this machine has waited for a processor; 0 where the kernel does not tell."""
    with suppress(OSError):
        return int(_PRESSURE.read_text().partition("total=")[2].split()[0]) / 1e6
    return 0.0


def spent_s(wall_s: float, busy_s: float, waited_s: float) -> float:
    """What a test costs on a machine of its own, at least: its processor time, or its time less what others took."""
    return max(busy_s, wall_s - waited_s)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fails a test that passes but takes longer than its budget, unless it is marked as slow."""
    began = time.monotonic(), processor_s(), stalled_s()
    result = yield
    ended = time.monotonic(), processor_s(), stalled_s()
    took_s = spent_s(*(after - before for before, after in zip(began, ended, strict=True)))
    if took_s > BUDGET_S and not item.get_closest_marker("slow"):
        pytest.fail(f"took {took_s:.1f} s of {BUDGET_S:g}: make it shorter, or mark it slow", pytrace=False)
    return result


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips a test that this machine cannot run, before its fixtures are built."""
    reason = _missing(item)
    if reason:
        pytest.skip(reason)


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turns a skipped report into a failed one; an expected failure (xfail) is no skip."""
    if not _in_ci() or not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    report.outcome = "failed"
    report.longrepr = f"{report.nodeid}: skipped where CI is set: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    report = yield
    _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector):
    report = yield
    _refuse_skip(report)
    return report


@pytest.fixture(scope="session", autouse=True)
def _outlives_no_power_failure() -> Iterator[None]:
    """What tests write need not be on the disk: to wait for it takes a tenth of those that make up runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _descriptor: None)
        yield


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def vaiven_programs() -> Callable[[str], Path]:
    """Finds a native program by name as the product does: $VAIVEN_NATIVE, then beside this Python, then PATH."""
    return resources.program


@pytest.fixture
def vaiven(request: pytest.FixtureRequest) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the `vaiven` command: vaiven("lab", "list", cwd=...) -> CompletedProcess with text output.

    In this process, which is quicker; in one of its own where the test has a lab, which may end with its process.
    """
    from tests import typed, warm

    own = request.node.get_closest_marker("lab") or request.node.get_closest_marker("root")

    def call(*arguments: str, timeout_s: float = 120, **options) -> subprocess.CompletedProcess[str]:
        return (warm if own else typed).call(arguments, timeout_s, **options)

    return call
