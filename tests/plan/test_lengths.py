# SPDX-License-Identifier: BSD-3-Clause
"""A plan has lengths; those of the papers' plans take the time that they promise and can be judged."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from vaiven import resources
from vaiven.cli import lengths
from vaiven.errors import VaivenError
from vaiven.measuring.plans import preview
from vaiven.papers import reach
from vaiven.papers.claims import published
from vaiven.plan import duration, schema
from vaiven.plan.schema import Effort, Plan
from vaiven.run.place import known_stacks

PLANS = sorted((resources.ready("plans") / "papers").glob("*.toml"))
QUICK_S, STANDARD_S, HUB_S = 3 * 60, 20 * 60, 45 * 60
PROCESSORS = 64  # of a machine that lacks none for any claim

TEXT = """\
title = "t"
stacks = ["tcp", "udp"]
sizes = [8, 1000]

[effort]
samples = 50
timeout_ms = 5

[lengths.quick]
sizes = [8]
effort = { samples = 5 }
"""


def test_a_length_says_what_is_otherwise_and_a_table_stands_for_the_whole_table() -> None:
    plan = schema.parse(TEXT)
    quick = schema.at_length(plan, "quick")
    assert (quick.title, quick.sizes, quick.stacks) == ("t (quick)", (8,), ("tcp", "udp"))
    assert quick.effort == Effort(samples=5)
    full = schema.at_length(plan, "full")
    assert (full.sizes, full.effort, full.lengths) == ((8, 1000), plan.effort, schema.Lengths())
    assert msgspec.convert(msgspec.to_builtins(quick), Plan) == quick


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("[lengths.long]\nsizes = [8]", 1, "long"),
        ("[lengths.quick]\nszies = [8]", 2, "szies"),
        ('seed = 1\n[lengths.quick]\nsizes = ["x"]', 3, "x"),
        ("[lengths.quick]\nstop = { launches_min = 3, launches_max = 2 }", 2, "launches_min is 3"),
    ],
)
def test_a_mistake_in_a_length_names_its_line(text: str, line: int, what: str) -> None:
    with pytest.raises(VaivenError, match=what) as caught:
        schema.parse(text, "p.toml")
    assert caught.value.where == f"p.toml:{line}"


def test_a_length_that_a_plan_has_not_is_refused_with_those_that_it_has() -> None:
    with pytest.raises(VaivenError, match="no length 'standard'") as caught:
        schema.at_length(schema.parse(TEXT), "standard")
    assert "quick, full" in caught.value.remedy


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
@pytest.mark.parametrize("length", ["quick", "standard", "full"])
def test_a_papers_plan_takes_the_time_of_its_length_and_can_be_judged(
    path: Path, length: schema.LengthName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path))  # nothing was measured of this machine
    plan = schema.at_length(schema.load(path)[0], length)
    design, ground = preview(plan)
    assert ground.link is not None
    longest_s = {"quick": QUICK_S, "standard": HUB_S if ground.link.hops == 1 else STANDARD_S, "full": 24 * 3600}
    assert duration.run_s(design, plan, ground)[1] <= longest_s[length]
    assert duration.longest(design, plan, ground)[1] < plan.effort.launch_s / 2  # it is ended after launch_s
    assert plan.stop.launches_min >= (13 if length == "full" else 8)  # below that nothing is judged
    whole = schema.load(path)[0].effort  # a shorter length is as patient
    assert (plan.effort.timeout_ms, plan.effort.launch_s) == (whole.timeout_ms, whole.launch_s)


def test_shorter_lengths_settle_less_and_say_what_they_leave_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path))
    ids = {claim.id for claim in published()}
    plans = {path.stem: schema.load(path)[0] for path in PLANS}
    for name, plan in plans.items():
        quick, full = (set(lengths.settled(schema.at_length(plan, one), PROCESSORS)) for one in ("quick", "full"))
        assert quick <= full <= ids and full, name
    tau = lengths.settled(plans["b-tau"])
    assert {"B01", "B02", "B04", "B05", "B06"} <= set(tau)
    assert set(lengths.left_out(plans["b-tau"], "quick")) == {"B02", "B04"}  # which count 100 messages
    assert "B04" in lengths.note(plans["b-tau"], "quick") and not lengths.note(plans["b-tau"], "full")
    assert {"D01", "D07", "D09"} <= set(lengths.settled(plans["d-pairs"]))
    assert lengths.left_out(plans["d-pairs"], "quick") == ("D02", "D09")  # whose sizes lie closer
    assert {"D10", "D13"} <= set(lengths.settled(plans["d-at-once"], PROCESSORS))
    assert {"C01", "C03", "C10", "C13", "C16", "C17"} <= set(lengths.settled(plans["c-line"]))
    assert lengths.settled(plans["c-rate-4"]) == ("C04",)
    assert lengths.left_out(plans["c-all-at-once"], "quick") == ("C09",)
    assert {"A24", "A28"} <= set(lengths.settled(schema.at_length(plans["a-slow-tcp"], "quick")))
    assert {"E13", "E14", "E15", "E16", "E17"} <= set(lengths.settled(schema.at_length(plans["e-frames"], "quick")))
    assert {"C07", "C08", "C11", "C12"} == set(lengths.settled(plans["c-first"]))
    assert lengths.left_out(plans["c-first"], "quick") == ("C11",)
    assert lengths.left_out(plans["e-fft"], "quick") == ("E23", "E25")  # which speak of four and eight processes
    assert {"A40", "A44", "A45"} <= set(lengths.settled(plans["a-icmp"]))


# What no plan settles on a machine of so many processors.
AT_ONCE = {2: {"D10", "D11", "D12", "D13"}, 8: set()}  # processes that need a processor each


@pytest.mark.parametrize("processors", [2, 8])
def test_the_plans_settle_what_can_be_settled(processors: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the length standard as at the full one, and each claim but these."""
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path))
    stacks = known_stacks().stacks
    for length in ("standard", "full"):
        plans = [schema.at_length(schema.load(path)[0], length) for path in PLANS]
        offers = [lengths.offer(plan, processors, stacks) for plan in plans]
        checked = {claim.id for claim in published() if claim.check}
        missing = checked - set(reach.covered(published(), offers))
        assert missing == AT_ONCE[processors]
        of_a_to_d = {claim for claim in checked - missing if claim < "E"}
        assert len(of_a_to_d) == 103 - len(AT_ONCE[processors])  # >= 88, which are wanted


def test_the_plan_that_settles_a_claim_soonest_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path))
    found = lengths.settling()
    assert found["B01"] == ("papers/b-tau", "quick") and found["C09"] == ("papers/c-all-at-once", "standard")
    assert found["E23"] == ("papers/e-fft", "standard") and found["E24"] == ("papers/e-fft", "quick")
    names, _ = found["A60"]  # over two runs
    assert names.split(" and ") == ["papers/a-one-receiver", "papers/a-slow-daemons"]
