# SPDX-License-Identifier: BSD-3-Clause
"""The modules of bench/, which find each other as `python bench/FILE.py` lets them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"


@pytest.fixture(scope="module")
def bench() -> Iterator[dict[str, ModuleType]]:
    """rules, wolf, said and the like, by name; forgotten afterwards, for their names are those of others, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCH))
        yield {
            name: importlib.import_module(name)
            for name in ("again", "between", "flips", "rules", "said", "strangers", "wolf")
        }
    for name in [path.stem for path in BENCH.glob("*.py")]:
        sys.modules.pop(name, None)
