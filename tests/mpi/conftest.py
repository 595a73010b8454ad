# SPDX-License-Identifier: BSD-3-Clause
"""Every test of this room needs a lab and both libraries."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..joined import known, launch, launched, two  # noqa: F401


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Says so of each."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.lab)
            item.add_marker(pytest.mark.needs("mpirun.openmpi", "mpiexec.hydra"))
