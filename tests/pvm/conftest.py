# SPDX-License-Identifier: BSD-3-Clause
"""Two hosts of a lab, up for all tests of a file, and launches of the real probe with real daemons on them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from vaiven.lab import topology
from vaiven.plan import ends
from vaiven.plan import stack as stacks
from vaiven.plan.order import Launch
from vaiven.plan.schema import Effort
from vaiven.run import launchers, place
from vaiven.run.launchers import Outcome, Setting
from vaiven.run.place import Place

LAB = """
name = "pvm-test"
[fabric]
kind = "switch"
class = "free"
[[hosts]]
prefix = "m"
count = 2
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test here needs a lab and PVM."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.lab)
            if not shutil.which("pvmd"):
                item.add_marker(pytest.mark.skip(reason="needs pvmd (pvm pvm-dev)"))


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The hosts m1 and m2, in a lab that nobody else sees."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VAIVEN_STATE_DIR", str(tmp_path_factory.mktemp("state")))
        with place.in_lab(topology.parse(LAB), ()) as found:
            yield found


@pytest.fixture(scope="session")
def known():
    return place.known_stacks().stacks


@pytest.fixture
def launch(two: Place, known) -> Callable[..., Outcome]:
    """launch("pvm-direct-raw", 0, 1): a ping-pong from m1 to m2, or a fanout to so many far ends there."""

    def call(stack: str, *sizes: int, fanout: int = 0, on_cell=lambda _cell: None, **effort) -> Outcome:
        far = ends.join(["m2"] * (fanout or 1))
        work = Launch(0, 0, stacks.parse(stack), "fanout" if fanout else "pingpong", "m1", far, sizes)
        wanted = {"samples": 3, "cell_ms": 50, "timeout_ms": 20_000, "launch_s": 100} | effort
        setting = Setting(known, Effort(**wanted), None, 0.0, one_clock=True)
        return launchers.launch(work, two.hosts["m1"], [two.hosts[name] for name in work.fars], setting, on_cell)

    return call
