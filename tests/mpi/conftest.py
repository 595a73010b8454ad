# SPDX-License-Identifier: BSD-3-Clause
"""Every test of this room needs a lab and both libraries."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ..joined import known, launch, launched, two  # noqa: F401

NEEDS = {"mpirun.openmpi": "openmpi-bin libopenmpi-dev", "mpiexec.hydra": "mpich libmpich-dev"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Says so of each."""
    missing = [f"{program} ({package})" for program, package in NEEDS.items() if not shutil.which(program)]
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.lab)
            if missing:
                item.add_marker(pytest.mark.skip(reason=f"needs {', '.join(missing)}"))
