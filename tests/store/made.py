# SPDX-License-Identifier: BSD-3-Clause
"""Launches and cells made by hand, so that every number in them is known."""

from __future__ import annotations

from collections.abc import Sequence

from vaiven.store.record import Cell, LaunchRecord, Manifest


def manifest(title: str = "A test") -> Manifest:
    return Manifest(
        title=title, plan_name="test.toml", plan_text='title = "A test"\n', plan={"seed": 1}, design={"pairs": []},
        place={"lab": "x"}, hosts={"a": {"address": "10.0.0.1"}}, link=None, versions={"vaiven": "0"}, environment={},
    )  # fmt: skip


def launch(number: int, stack: str = "tcp", *, sentinel: bool = False) -> LaunchRecord:
    return LaunchRecord(number, number // 2, stack, "a", "b", "pingpong", sentinel, 1.5, 0.5, 1)


def cell(size_bytes: int, ns: Sequence[int | None], **other: object) -> Cell:
    facts = {"batch": 1, "lost": sum(one is None for one in ns), "late": 0, "corrupt": 0, "warmup": 3, "warm": True}
    return Cell("pingpong", size_bytes, ns=ns, started_s=2.0, **(facts | other))
