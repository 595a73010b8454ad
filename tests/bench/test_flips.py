# SPDX-License-Identifier: BSD-3-Clause
"""Draws of eight blocks of runs made by hand, of which it is known whether claims are near their border."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from tests.papers import runs

from vaiven.papers.claims import published
from vaiven.papers.judge import Word

OF_D = tuple(claim for claim in published() if claim.id.startswith("D"))


@pytest.fixture(scope="module")
def flips(bench: dict[str, ModuleType]) -> ModuleType:
    return bench["flips"]


def world(flips: ModuleType, noise: float) -> list:
    """The run of paper D with 24 blocks, as it was published, with that noise of each launch."""
    made = runs.World(launches=24, noise=noise)
    return [flips.Whole(runs.manifest("ufsm"), made.run(runs.manifest("ufsm"), runs.d_pairs(True)).measured)]


def told(flips: ModuleType, words: list[Word], margins: tuple[float, ...] = (1.0,), margin: float = 1.0):
    return flips.Told(OF_D[0], 24, words[0], margin, tuple(words), margins)


def test_pairs_of_draws_are_counted(flips) -> None:
    holds, fails, open_ = Word.HOLDS, Word.DOES_NOT_HOLD, Word.NOT_SETTLED
    one = told(flips, [holds, holds, fails, open_])
    assert (one.opposite, one.kept) == (2 / 6, 0.5) and not one.holds
    assert told(flips, [open_, holds, open_, open_]).opposite == 0


def test_a_claim_far_from_its_border_keeps_its_word(flips) -> None:
    words = [Word.HOLDS] * 8 + [Word.NOT_SETTLED] * 2
    near, far = (told(flips, words, (m / 1.1, m * 1.1), m) for m in (1.2, 2.0))
    assert near.distance_se == pytest.approx(1.91 * (2 / 3) ** 0.5, abs=0.01) and near.holds
    assert far.distance_se == pytest.approx(7.27 * (2 / 3) ** 0.5, abs=0.01) and not far.holds


def test_a_quiet_world_never_flips(flips) -> None:
    found = flips.flips(world(flips, 0.003), OF_D, 12)
    assert len(found) > 3 and all(len(one.words) == 12 for one in found)
    assert all(one.holds and one.opposite == 0 for one in found)
    assert "| D" in flips.table(found)


def test_a_draw_has_eight_blocks_of_each_run(flips) -> None:
    (whole,) = world(flips, 0.003)
    few = flips.drawn(whole, np.random.default_rng(1)).measured
    assert len(few.blocks) == 8 and set(few.blocks) < set(whole.measured.blocks)
    assert few.cells.keys() == whole.measured.cells.keys()


def test_runs_of_too_few_blocks_are_passed_over(flips, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr("sys.argv", ["flips.py", str(tmp_path)])
    with pytest.raises(SystemExit):
        flips.main()
    assert "has 24 blocks" in capsys.readouterr().err
