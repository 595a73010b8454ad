# SPDX-License-Identifier: BSD-3-Clause
"""Launches and cells made by hand, so that every number in them is known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from vaiven.store import digest
from vaiven.store.record import Cell, DesignRecord, HostsPlace, LaunchRecord, Manifest


def manifest(title: str = "A test") -> Manifest:
    return Manifest(
        title=title, plan_name="test.toml", plan_text='title = "A test"\n', plan={"seed": 1}, design=DesignRecord(),
        place=HostsPlace(), hosts={"a": {"address": "10.0.0.1"}}, link=None, versions={"vaiven": "0"}, environment={},
    )  # fmt: skip


def launch(number: int, stack: str = "tcp", *, sentinel: bool = False) -> LaunchRecord:
    return LaunchRecord(
        launch=number,
        block=number // 2,
        stack=stack,
        near="a",
        far="b",
        ask="pingpong",
        sentinel=sentinel,
        started_s=1.5,
        took_s=0.5,
    )


def cell(size_bytes: int, ns: Sequence[int | None], **other: object) -> Cell:
    facts = {"batch": 1, "lost": sum(one is None for one in ns), "late": 0, "corrupt": 0, "warmup": 3, "warm": True}
    return Cell(ask="pingpong", size_bytes=size_bytes, ns=ns, started_s=2.0, **facts | other)


def changed(document: Path, **members: object) -> None:
    """Gives a JSON file of a run other members, and the digest that goes with them: as somebody wrote it who may."""
    value = json.loads(digest.opened(document.read_bytes())) | members
    document.write_bytes(digest.sealed(json.dumps(value).encode()))


def vouched(run: Path, launch: int) -> None:
    """Makes the parts of a launch those that it was recorded with, whatever they hold."""
    name = f"{launch:05d}"
    parts = {kind: digest.of((run / kind / f"{name}.parquet").read_bytes()) for kind in ("samples", "cells")}
    changed(run / "launches" / f"{name}.json", digests=parts)
