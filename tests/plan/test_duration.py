# SPDX-License-Identifier: BSD-3-Clause
"""What is said of a run's length before it is measured is within a factor of two of what it takes."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from vaiven.lab import topology
from vaiven.measuring import plans
from vaiven.plan import design as designs
from vaiven.plan import duration, order, schema, travel
from vaiven.plan.design import Available
from vaiven.plan.ground import Ground, Traits
from vaiven.plan.schema import Effort, Link, Plan, Stop
from vaiven.plan.sweep import Limits
from vaiven.run import libraries, place
from vaiven.run.remaining import Remaining
from vaiven.store import query

ANY = Limits(0, 2**26)
MANY = ("pingpong", "steps", "connect", "fanout", "stream", "exchange", "pingpongs", "overlap", "prtt")
KNOWN = {
    "icmp": Available(ANY, MANY, alone=True),
    "udp": Available(ANY, (*MANY, "oneway")),
    "tcp": Available(ANY, MANY),
    "raw": Available(ANY, MANY, to_all=True),
    "group": Available(ANY, MANY, to_all=True),
    "udpcast": Available(ANY, MANY, to_all=True, program="udp-sender"),
    "uftp": Available(ANY, MANY, to_all=True, program="uftp"),
    "openmpi": Available(ANY, MANY, library="openmpi", ranked=True),
    "openmpi:default": Available(ANY, MANY, library="openmpi", ranked=True, to_all=True),
    "pvm-direct-xdr": Available(ANY, MANY, library="pvm"),
    "pvm-default-xdr": Available(ANY, MANY, library="pvm"),
    "pvm-mcast": Available(ANY, MANY, library="pvm", to_all=True),
    "pvm-mcast-default-xdr": Available(ANY, MANY, library="pvm", to_all=True),
}
HUB, SWITCH = Link(10**7, 1), Link(10**8, 2)
ALL = Effort(samples=20, cell_ms=500)  # the plan exchange
LONG = Effort(samples=10, cell_ms=1000, samples_min=2, timeout_ms=120_000)

# What launches took on a machine with two processors and a load of 10: (lab, effort, question, far ends, sizes,
# stack -> seconds, the mean of four launches, of an exchange of two).
RECORDED = [
    ("cetad", LONG, "pingpong", ("fourier", "sofia"), (8, 1000, 60_000), {"icmp": 1.57, "tcp": 5.26, "udp": 1.47}),
    ("cetad", LONG, "pingpong", ("fourier",), (8, 1000, 60_000), {"pvm-direct-xdr": 2.37, "pvm-default-xdr": 2.73}),
    ("cetad", LONG, "steps", ("fourier",), (8, 1000, 60_000), {"pvm-direct-xdr": 2.23, "pvm-default-xdr": 2.69}),
    (
        "cetad", LONG, "fanout", ("tilcara", "tilcara+cetadfomec1+cetadfomec2+fourier+josrap"), (8, 1000, 200_000),
        {"raw": 1.38, "group": 1.65, "udpcast": 2.56, "uftp": 3.59, "tcp": 2.95},
    ),
    ("lidi", ALL, "exchange", ("lidi2",), (1000, 50_000), {"tcp": 0.53, "udp": 0.59}),
    ("lidi", ALL, "exchange", ("lidi2+lidi3+lidi4",), (1000, 50_000), {"tcp": 0.92, "udp": 0.87}),
    (
        "lidi", ALL, "exchange", ("lidi2+lidi3+lidi4+lidi5+lidi6+lidi7+lidi8",), (1000, 50_000),
        {"tcp": 1.97, "udp": 1.43},
    ),
]  # fmt: skip


def launch_s(stack: str, ask: str, size: int, effort: Effort, ground: Ground, far: str = "b") -> float:
    plan = Plan(stacks=(stack,), effort=effort)
    course = designs.Course(designs.stacks.parse(stack), ask, (size,))
    return duration.launch_s(course, ("a", far), plan, ground)


@pytest.mark.parametrize(("lab", "effort", "ask", "fars", "sizes", "took_s"), RECORDED)
def test_launches_that_were_measured_took_what_is_said_of_them(
    lab: str,
    effort: Effort,
    ask: str,
    fars: Sequence[str],
    sizes: tuple[int, ...],
    took_s: dict[str, float],
) -> None:
    ground = place.lab_ground(topology.ready(lab), KNOWN)
    for stack, real_s in took_s.items():
        course = designs.Course(designs.stacks.parse(stack), ask, sizes)
        plan = Plan(stacks=(stack,), effort=effort)
        said_s = [duration.launch_s(course, ("purmamarca", far), plan, ground) for far in fars]
        assert real_s / 2 < sum(said_s) / len(said_s) < 2 * real_s


def test_a_cell_takes_what_its_samples_take_and_no_longer_than_its_time() -> None:
    ground = Ground(HUB, KNOWN)
    assert launch_s("tcp", "pingpong", 10**7, Effort(cell_ms=10), ground) > 8 * 16  # a round trip takes 16 s
    assert launch_s("tcp", "pingpong", 10**7, Effort(cell_ms=10, samples_min=1), ground) < 4 * 17
    assert launch_s("tcp", "pingpong", 8, Effort(), ground) < 0.2
    pause = launch_s("icmp[idle_ms=1000]", "pingpong", 8, Effort(samples=3, samples_min=3, cell_ms=10), ground)
    assert 4 < pause < 7


def test_a_host_whose_tcp_waits_takes_forty_milliseconds_a_segment() -> None:
    ground = Ground(HUB, KNOWN, {"b": Traits(one_segment=True)})
    once_s = travel.one_way_s(10**6, "b", "a", designs.stacks.parse("tcp"), ground)
    assert once_s == pytest.approx(29, rel=0.1)  # as it was measured; 60000 bytes take 1.72 s
    assert travel.one_way_s(60_000, "b", "a", designs.stacks.parse("pvm-direct-xdr"), ground) == pytest.approx(
        1.72, 0.1
    )
    sound = [
        travel.one_way_s(10**6, *ends, designs.stacks.parse(stack), ground)
        for stack, ends in {"tcp": "ab", "udp": "ba", "icmp": "ba", "pvm-default-xdr": "ba"}.items()
    ]
    assert max(sound) < 2


def test_a_slow_host_is_slow_where_it_is_slower_than_the_wire() -> None:
    tcp = designs.stacks.parse("tcp")
    plain, slow = (
        travel.one_way_s(10**6, "a", "b", tcp, Ground(SWITCH, KNOWN, {"b": Traits(frame_s, 0.0)}))
        for frame_s in (0, 1e-3)
    )
    assert plain == pytest.approx(0.084, rel=0.1)
    assert slow == pytest.approx(10**6 / 1500 * 1e-3, rel=0.1)


def test_many_receivers_take_the_wire_as_often_as_the_message_is_sent() -> None:
    hub, switch = Ground(HUB, KNOWN), Ground(SWITCH, KNOWN)
    fars = tuple("bcdefgh")

    def ratio(stack: str, ground: Ground) -> float:
        one, all_ = (travel.to_all_s(10**6, "a", to, designs.stacks.parse(stack), ground) for to in (fars[:1], fars))
        return all_ / one

    assert [ratio(stack, hub) for stack in ("raw", "group")] == [1, 1]
    assert [ratio(stack, hub) for stack in ("tcp", "raw[to=each]", "openmpi:default")] == pytest.approx([7, 7, 7], 0.05)
    assert ratio("pvm-mcast", hub) > 5
    assert ratio("pvm-mcast-default-xdr", hub) > 2 * ratio("pvm-mcast", hub)  # what its daemons send again
    assert ratio("openmpi:default", switch) == pytest.approx(3, rel=0.05)  # a tree


def test_everybody_at_once_shares_the_one_wire_of_a_hub() -> None:
    uncut = Effort(samples=10, cell_ms=60_000)
    grounds = [Ground(link, KNOWN) for link in (Link(10**8, 1), SWITCH)]
    hub_s, switch_s = (launch_s("tcp", "exchange", 10**5, uncut, ground, "b+c+d") for ground in grounds)
    assert hub_s > 1.5 * switch_s


def test_an_exchange_of_short_messages_takes_the_time_until_all_begin() -> None:
    effort = Effort(samples=20, cell_ms=60_000)
    exchange_s, fanout_s = (launch_s("udp", ask, 8, effort, Ground(SWITCH, KNOWN)) for ask in ("exchange", "fanout"))
    assert exchange_s - fanout_s > 20 * 3e-3


def test_what_a_lab_computes_takes_as_long_as_its_processors_make_it() -> None:
    def program_s(processors: int) -> float:
        ground = Ground(SWITCH, KNOWN, lab_hosts=4, processors=processors)
        return launch_s("openmpi", "matmul", 8 * 2000**2, Effort(samples=5), ground, "b+c+d")

    seconds = [program_s(processors) for processors in (1, 2, 4, 8)]
    assert seconds[0] > 1.5 * seconds[1] > 1.5 * seconds[2] and seconds[3] == seconds[2]
    assert place.lab_ground(topology.ready("demo"), KNOWN).processors == len(os.sched_getaffinity(0))


def test_who_lacks_the_library_of_a_stack_takes_no_time() -> None:
    ground = Ground(SWITCH, KNOWN, {"b": Traits(lacks=frozenset({"pvm"}))})
    each = {
        (stack, far): launch_s(stack, "pingpong", 8, Effort(), ground, far)
        for stack in ("pvm-default-xdr", "udp")
        for far in ("b", "c")
    }
    assert each["pvm-default-xdr", "b"] < 0.1 < each["pvm-default-xdr", "c"]
    assert each["udp", "b"] == each["udp", "c"]


def test_a_host_of_another_architecture_lacks_what_was_not_built_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for built in ({}, {"pvm": Path("vaiven-probe-pvm-s390x")}):
        monkeypatch.setattr(libraries, "probes", lambda arch="", built=built: built)
        traits = place.lab_ground(topology.ready("cetad"), KNOWN).traits
        assert traits["sofia"].lacks == {"openmpi", "mpich", "pvm"} - built.keys() and not traits["fourier"].lacks


def test_what_starts_more_takes_longer_to_start() -> None:
    ground = Ground(SWITCH, KNOWN, {"b": Traits(emulated=True)})
    each = [launch_s(stack, "pingpong", 8, Effort(), ground, "c") for stack in ("udp", "pvm-direct-xdr", "openmpi")]
    assert each == sorted(each) and each[-1] > 3 * each[0]
    assert launch_s("udp", "pingpong", 8, Effort(), ground) > launch_s("udp", "pingpong", 8, Effort(), ground, "c")


def test_a_run_raises_its_lab_and_times_the_ways_of_each_pair() -> None:
    hosts = tuple(f"h{number}" for number in range(8))
    few, many = (Plan(stacks=("udp",), sizes=(8,), pairs=pairs, stop=Stop(8, 16)) for pairs in ("first-to-each", "all"))
    ground = Ground(SWITCH, KNOWN, lab_hosts=8)
    setups = [duration.setup_s(designs.resolve(plan, hosts, KNOWN, lab=True), ground) for plan in (few, many)]
    assert setups[1] - setups[0] > 10  # 28 pairs took 22 to 29 s
    design = designs.resolve(many, hosts, KNOWN, lab=True)
    least, most = duration.run_s(design, many, ground)
    assert most - setups[1] == pytest.approx(2 * (least - setups[1]))
    assert duration.longest(design, many, ground)[0] is design.courses[0]


def test_what_is_left_follows_what_launches_took() -> None:
    plan = Plan(stacks=("udp", "tcp"), sizes=(8, 1000))
    design, ground = designs.resolve(plan, "abc", KNOWN, lab=False), Ground(SWITCH, KNOWN)
    remaining, launches = Remaining(design, plan, ground), order.block(design, 0)
    guesses_s = [remaining.left_s([launch]) for launch in launches]
    for launch, guess_s in zip(launches, guesses_s, strict=True):
        remaining.learn(launch, 10 * guess_s)
    assert remaining.left_s(launches) == pytest.approx(10 * sum(guesses_s))


@pytest.mark.lab
def test_a_plan_that_the_wire_decides_takes_what_its_dry_run_says(vaiven, tmp_path: Path) -> None:
    """Other work makes it longer, never shorter."""
    text = (
        'lab = "hub8"\nstacks = ["udp"]\nsizes = [60000]\npairs = [["hub1", "hub2"]]\n'
        "[effort]\nsamples = 8\n[stop]\nlaunches_min = 2\nlaunches_max = 2\nlevel = 0.5\n"
    )
    (tmp_path / "p.toml").write_text(text)
    assert re.search(r"about (\d+) s", vaiven("measure", "p.toml", "--dry-run", cwd=tmp_path).stdout)
    assert vaiven("measure", "p.toml", "--no-page", cwd=tmp_path).returncode in (0, 4)
    run = query.find("last", tmp_path / "runs")
    plan, _ = schema.load(tmp_path / "p.toml")
    design, ground = plans.preview(plan)
    said_s = duration.launch_s(design.courses[0], design.pairs[0], plan, ground)
    for launch in [one for one in query.launch_records(run) if not one.sentinel]:
        assert said_s / 2 < launch.took_s < 3 * said_s
