# SPDX-License-Identifier: BSD-3-Clause
"""Runs made by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.store.made import launch, manifest

from vaiven.store.record import Cell, Record


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """write({launch number: [cells]}) -> the directory of a run with these launches, not ended."""

    def _write(launches: dict[int, list[Cell]], title: str = "A test") -> Path:
        with Record.create(tmp_path, manifest(title)) as record:
            for number, cells in launches.items():
                record.add(launch(number), cells)
            return record.path

    return _write
