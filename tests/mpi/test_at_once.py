# SPDX-License-Identifier: BSD-3-Clause
"""Questions with several messages at once, asked of MPI: all arrive whole, over the cable, whatever its rate."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.lab.texts import lab_text

from vaiven.run import path
from vaiven.run.launchers import Outcome
from vaiven.run.place import Place

from ..joined import hosts_of

STACKS = ("openmpi", "mpich")
LONG = {"cell_ms": 30_000, "timeout_ms": 60_000}


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The hosts m1 and m2 on a slow cable, which leaves buffers full."""
    text = lab_text("slow-cable-test", 2, prefix="m", class_="paced", rate_mbps=10)
    with hosts_of(text, tmp_path_factory.mktemp("state")) as found:
        yield found


def check(outcome: Outcome, ask: str, sizes: tuple[int, ...], ends: int, samples: int) -> None:
    """Nothing was lost or damaged, and each of so many ends has its times. A round that an end began too late, as on a
    busy machine, is counted and tried again, until the time of the cell is up."""
    assert outcome.failure is None, outcome.failure
    assert path.refused(outcome.crossed) is None
    whole = [cell for cell in outcome.cells if cell.whole]
    assert [(cell.ask, cell.size_bytes) for cell in whole] == [(ask, size) for size in sizes]
    for cell in whole:
        assert (cell.lost, cell.corrupt) == (0, 0) and min(cell.ns) > 0
        each = [part.ns for part in outcome.cells if part.size_bytes == cell.size_bytes and not part.whole]
        assert len(each) == ends and {len(ns) for ns in each} == {len(cell.ns)}
        assert cell.ns == [max(ns) for ns in zip(*each, strict=True)]
        assert len(cell.ns) == samples or cell.late > 0


@pytest.mark.parametrize("stack", STACKS)
def test_a_stream_is_a_message_to_each_of_several_ranks(launch, stack: str) -> None:
    sizes = (1, 1000, 3_000_000)
    check(launch(stack, *sizes, ask="stream", fars=3, **LONG), "stream", sizes, 3, 3)


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("ask", ["exchange", "bisection"])
def test_everybody_gets_its_messages_though_they_fill_every_buffer(launch, stack: str, ask: str) -> None:
    sizes = (1, 1000, 3_000_000)
    check(launch(stack, *sizes, ask=ask, fars=3, **LONG), ask, sizes, 4, 3)


@pytest.mark.slow
@pytest.mark.parametrize(("stack", "ask"), [("openmpi", "stream"), ("mpich", "exchange")])
def test_what_the_library_has_left_travels_while_an_end_waits_for_the_others(launched, slow, stack: str, ask) -> None:
    sizes = (60_000, 200_000)
    outcome = launched(slow, stack, *sizes, ask=ask, fars=2, samples=2, **LONG)
    check(outcome, ask, sizes, 2 + (ask == "exchange"), 2)


@pytest.mark.parametrize("stack", STACKS)
def test_a_message_and_its_answer_are_begun_and_waited_for_after_the_work(launch, stack: str) -> None:
    sizes = (0, 8, 500_000)
    outcome = launch(stack, *sizes, ask="overlap", samples=20, **LONG)
    assert outcome.failure is None, outcome.failure
    cells = {(cell.size_bytes, cell.part): cell for cell in outcome.cells}
    assert list(cells) == [(size, part) for size in sizes for part in ("", "talk", "work")]
    for size in sizes:
        both, _, work = (cells[size, part] for part in ("", "talk", "work"))
        assert {len(cells[size, part].ns) for part in ("", "talk", "work")} == {20}
        assert (both.lost, both.corrupt) == (0, 0)
        # Whatever is hidden, both hold the whole work: at its quickest it takes no less than the work at its quickest.
        assert min(both.ns) >= 0.9 * min(work.ns) > 0


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize(("ask", "fars", "pairs"), [("pingpongs", 3, 3), ("partners", 3, 2)])
def test_pairs_of_ranks_play_ping_pong_at_once(launch, stack: str, ask: str, fars: int, pairs: int) -> None:
    sizes = (0, 8, 200_000)
    outcome = launch(stack, *sizes, ask=ask, fars=fars, samples=20, **LONG)
    assert outcome.failure is None, outcome.failure
    assert path.refused(outcome.crossed) is None
    whole = {cell.size_bytes: cell for cell in outcome.cells if cell.whole}
    assert list(whole) == list(sizes)
    for size, cell in whole.items():
        assert (cell.ask, cell.lost, cell.corrupt) == (ask, 0, 0) and cell.overlap == 1
        each = {part.part: part.ns for part in outcome.cells if part.size_bytes == size and not part.whole}
        assert list(each) == [f"to:{pair + 1}" for pair in range(pairs)] and {len(ns) for ns in each.values()} == {20}
        assert cell.ns == [ns for part in each.values() for ns in part] and min(cell.ns) > 0
