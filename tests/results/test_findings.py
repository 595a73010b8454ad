# SPDX-License-Identifier: BSD-3-Clause
"""The pair that a reader chooses: it must have been measured, and something must have come back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.report import made_up

from vaiven.errors import VaivenError
from vaiven.results.findings import middle, require_pair, told
from vaiven.results.results import Results


def test_a_pair_of_which_nothing_came_back_is_refused_and_never_the_middle(tmp_path: Path) -> None:
    pairs = (("h1", "h2"), ("h1", "h3"))
    run = made_up.write_run(tmp_path, pairs=pairs, stacks=("tcp",), sizes=(1, 64), blocks=2)
    costs = [replace(cost, points=()) if cost.pair == ("h1", "h3") else cost for cost in Results(run).costs]
    require_pair(run.id, costs, None)
    require_pair(run.id, costs, ("h1", "h2"))
    with pytest.raises(VaivenError, match="nothing came back between h1 and h3") as caught:
        require_pair(run.id, costs, ("h1", "h3"))
    assert caught.value.code == "nothing-measured" and caught.value.remedy == "it has h1,h2"
    with pytest.raises(VaivenError, match="has no pair h2,h3") as caught:
        require_pair(run.id, costs, ("h2", "h3"))
    assert caught.value.code == "no-pair"
    assert middle(costs, None).pair == ("h1", "h2") and told(costs, None) == (("h1", "h2"), ("h1", "h3"))
