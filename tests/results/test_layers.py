# SPDX-License-Identifier: BSD-3-Clause
"""What a run that asked layers says of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.store import made

from vaiven.errors import VaivenError
from vaiven.results.layers import layers
from vaiven.run.collect import Story
from vaiven.store import query
from vaiven.store.query import Run
from vaiven.store.record import Record

LIMITS = {"sequence": 2**32, "window": 65535, "services": 65536, "free_services": 65536, "unit_bytes": 1448}


def told(scale: int, size_bytes: int = 1000) -> Story:
    """What a probe tells of a launch with two layers, that many times as slow as the fastest."""
    ways = {"device": [40_000 * scale] * 4, "got": [8_000 * scale] * 4}
    record = {
        "type": "cell", "ask": "layers", "size_bytes": size_bytes, "lost": 0, "rtt_ns": [100_000 * scale] * 4,
        "marked_ns": [110_000 * scale] * 4, "there_ns": ways, "back_ns": ways, "far_ns": [4_000 * scale] * 4,
        "limits": LIMITS, "wire": {"ns": 30_000},
    }  # fmt: skip
    story = Story(hello={"clock": {"cost_ns": 0}})
    story.hear(json.dumps(record).encode(), 0.0)
    return story


def measured(tmp_path: Path, *stories: Story) -> Run:
    with Record.create(tmp_path, made.manifest()) as record:
        for number, story in enumerate(stories):
            record.add(replace(made.launch(number), ask="layers", hello=story.hello), story.cells)
    return query.open_run(record.path)


def test_each_layer_over_launches_and_what_the_connection_can_do(tmp_path: Path) -> None:
    said = layers(measured(tmp_path, told(1), told(3)))
    (found,) = said
    assert (found.stack, found.near, found.far, found.size_bytes, found.launches) == ("tcp", "a", "b", 1000, 2)
    assert found.times.whole_ns == 200_000 and found.times.sum_ns == 200_000 and found.add_up
    assert found.times.there_ns == {"device": 80_000, "got": 16_000}
    assert found.limits and (found.limits.window, found.limits.unit_bytes) == (65535, 1448)
    row = json.loads(said.to_json())["layers"][0]
    assert (row["there_device_ns"], row["there_made_ns"], row["back_got_ns"], row["far_ns"]) == (
        80_000,
        None,
        16_000,
        8_000,
    )
    assert (row["whole_ns"], row["wire_ns"], row["sequence"], row["add_up"]) == (200_000, 30_000, 2**32, True)


def test_sizes_rise(tmp_path: Path) -> None:
    assert [one.size_bytes for one in layers(measured(tmp_path, told(1, 3000), told(1, 8)))] == [8, 3000]


def test_reading_the_clock_is_taken_off(tmp_path: Path) -> None:
    story = told(1)
    story.hello["clock"] = {"cost_ns": 100}
    (found,) = layers(measured(tmp_path, story))
    assert found.times.there_ns == {"device": 40_000, "got": 7_900} and found.times.far_ns == 3_900


def test_a_launch_in_which_nothing_was_noted_tells_nothing(tmp_path: Path) -> None:
    story = told(1)
    story.cells = [one for one in story.cells if one.part == ""]
    (found,) = layers(measured(tmp_path, story, told(1)))
    assert found.launches == 1


def test_a_run_that_did_not_ask_says_how_to(tmp_path: Path) -> None:
    with Record.create(tmp_path, made.manifest()) as record:
        record.add(made.launch(0), [made.cell(8, [1])])
    with pytest.raises(VaivenError, match="no finished launch of layers") as caught:
        layers(query.open_run(record.path))
    assert "--questions layers" in caught.value.remedy
