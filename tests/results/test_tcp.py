# SPDX-License-Identifier: BSD-3-Clause
"""What is said of TCP under the tables of a run."""

from __future__ import annotations

from typing import Any

import pytest

from vaiven.results.tcp import tcp_text
from vaiven.store import query
from vaiven.store.record import LaunchRecord

RENO = {"congestion_control": "reno", "initial_window_segments": None, "quick_acks": False, "batch_segments_max": 1}
BBR = {"congestion_control": "bbr", "initial_window_segments": 1, "quick_acks": True, "batch_segments_max": 65535}


def launch(stack: str, near: Any, far: Any) -> LaunchRecord:
    hello = {"near": {"tcp": near}, "far": {"tcp": far}}
    return LaunchRecord(launch=1, block=1, stack=stack, near="a", far="b+c", ask="fanout", took_s=1.0, hello=hello)


def said(monkeypatch: pytest.MonkeyPatch, *launches: LaunchRecord) -> str:
    monkeypatch.setattr(query, "launch_records", lambda _run: list(launches))
    return tcp_text(None)  # type: ignore[arg-type]  # it is only handed on


def test_what_is_not_the_kernels_own_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(monkeypatch, launch("tcp", RENO, RENO), launch("openmpi", RENO, RENO)) == "TCP reno, single segments"
    bbr = "TCP bbr, initial window 1, quick acknowledgements"
    assert said(monkeypatch, launch("mpich", BBR, BBR)) == bbr
    assert said(monkeypatch, launch("tcp", BBR, RENO)) == f"{bbr} (a); TCP reno, single segments (b)"
    assert said(monkeypatch, launch("tcp@one", RENO, RENO), launch("tcp@two", BBR, BBR)) == (
        f"{bbr} (a@two, b@two); TCP reno, single segments (a@one, b@one)"
    )


def test_other_stacks_and_launches_that_say_nothing_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(monkeypatch, launch("udp", RENO, RENO), launch("pvm-default-xdr", BBR, BBR)) == ""
    assert said(monkeypatch, launch("tcp", None, "damaged")) == ""
    silent = LaunchRecord(
        launch=1, block=1, stack="tcp", near="a", far="b", ask="pingpong", took_s=1.0, hello={"near": None}
    )
    assert said(monkeypatch, silent) == ""
