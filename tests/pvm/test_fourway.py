# SPDX-License-Identifier: BSD-3-Clause
"""Paper A's four ways of PVM, as its plan has them, on three hosts of which one has the other byte order; small."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from vaiven import resources
from vaiven.store import query

pytestmark = pytest.mark.slow
WAYS = {f"pvm-{route}-{form}" for route in ("default", "direct") for form in ("xdr", "trans")}
HOSTS = ("purmamarca", "fourier", "sofia")


def test_a_plan_of_four_ways_settles_what_was_published(
    vaiven: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resources.program("vaiven-pvmd-s390x")  # else: tools/foreign-pvm s390x
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("VAIVEN_RUNS", str(tmp_path / "runs"))
    monkeypatch.chdir(tmp_path)
    where = ["--lab", "cetad", "--hosts", ",".join(HOSTS)]
    small = ["--questions", "steps", "--sizes", "8,100,1000", "--quick", "--no-page"]
    done = vaiven("measure", "papers/a-fourway", *where, *small, timeout_s=900)
    assert done.returncode == 4, done.stderr  # tcp, udp and icmp have no answer to `steps`
    (run,) = query.runs(tmp_path / "runs")
    orders = {name: host["byte_order"] for name, host in run.manifest.hosts.items()}
    assert orders == {"purmamarca": "little", "fourier": "little", "sofia": "big"}
    whole = query.launches(run)
    assert set(whole["stack"]) == WAYS and whole.height == len(WAYS) * 2 * 3 * 8
    assert whole["corrupt"].sum() == whole["lost"].sum() == 0
    steps = query.of_question(run, "steps").filter(size_bytes=1000)
    assert set(steps["part"]) == {"", "encode", "send", "decode", "translate"}
    told = json.loads(vaiven("reproduce", "A", "--json").stdout)
    verdicts = {one["claim"]["id"]: one for one in told["verdicts"]}
    for id in ("A12", "A13", "A26", "A27", "A34"):  # what three short messages can tell
        assert verdicts[id]["word"] in ("holds", "does not hold", "not settled") and verdicts[id]["margin"] > 0
        assert not verdicts[id]["interval"]["refused"] and verdicts[id]["runs"] == [run.id]
        assert "sofia" in verdicts[id]["models"]
    for id, missing in (("A09", "1000000 bytes: not measured"), ("A17", "no host prited"), ("A31", "60000 bytes: not")):
        assert verdicts[id]["word"] == "not measurable here" and missing in verdicts[id]["interval"]["refused"]
