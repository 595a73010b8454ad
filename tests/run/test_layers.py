# SPDX-License-Identifier: BSD-3-Clause
"""In which layer the time of a message goes: LLC and TCP/IP on the same two hosts of a lab, and what they can do."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.lab

CELLS = [("llc", 1), ("tcp", 1), ("llc", 3000), ("tcp", 3000)]


def test_a_run_says_where_the_time_of_a_message_goes(vaiven, tmp_path) -> None:
    words = ("--lab", "free", "--stacks", "llc,tcp", "--questions", "layers", "--sizes", "1,3000", "--launches", "6")
    done = vaiven("measure", *words, "--no-page", "--runs", str(tmp_path))
    assert done.returncode in (0, 4), done.stderr  # 4: not known as well as wanted
    shown = vaiven("model", "last", "--ask", "layers", "--runs", str(tmp_path))
    assert "sum of the layers" in shown.stdout and "128 frames" in shown.stdout, shown.stderr
    said = json.loads(vaiven("model", "last", "--ask", "layers", "--json", "--runs", str(tmp_path)).stdout)["layers"]
    first = [one for one in said if one["far"] == "free2"]
    assert [(one["stack"], one["size_bytes"]) for one in first] == CELLS
    llc, tcp = first[:2]
    assert (llc["sequence"], llc["services"], llc["free_services"], llc["unit_bytes"]) == (128, 128, 52, 1490)
    assert 1 <= llc["window"] <= 127
    assert (tcp["sequence"], tcp["services"], tcp["unit_bytes"]) == (2**32, 65536, 1448)
    assert tcp["window"] >= 65535
    assert all(one["sum_ns"] > 0 and one["whole_ns"] > 0 and one["wire_ns"] is None for one in said)
    assert all(llc[f"{way}_{mark}_ns"] > 0 for way in ("there", "back") for mark in ("made", "device", "taken"))
    assert tcp["there_made_ns"] is None and tcp["there_got_ns"] > 0


def test_hosts_without_one_clock_are_refused(vaiven) -> None:
    done = vaiven("measure", "--hosts", "127.0.0.1,localhost", "--stacks", "tcp", "--questions", "layers", "--dry-run")
    assert done.returncode == 1
    assert "share a clock" in done.stderr
