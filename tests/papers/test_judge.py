# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of claims: on runs of what was published, on others, and on runs that cannot tell."""

from __future__ import annotations

from dataclasses import replace

import pytest

from vaiven.errors import VaivenError
from vaiven.papers.claims import Claim, published
from vaiven.papers.judge import Candidate, Verdict, Word, fitting, judge, weigh
from vaiven.papers.needs import Needs

from . import runs

CLAIMS = {claim.id: claim for claim in published()}
FEW = ("purmamarca", "fourier", "sofia")


def found(id: str, *candidates: Candidate) -> Verdict:
    """Of that claim, as the only one."""
    return weigh(CLAIMS[id], candidates)


def fourway(hosts: tuple[str, ...] = FEW, world: runs.World = runs.FAITHFUL, sizes: tuple[int, ...] = ()) -> Candidate:
    """PVM on the lab cetad, to some of its hosts."""
    cells = [cell for cell in runs.a_fourway(True) if cell["far"] in hosts]
    return world.run(runs.manifest("cetad", hosts), [one for one in cells if not sizes or one["size_bytes"] in sizes])


def latencies(lab: str = "lidi", ratio: float = 0.5, world: runs.World = runs.FAITHFUL) -> Candidate:
    """Two stacks between two hosts."""
    where = runs.manifest(lab)
    near, far = where.design.pairs[0]
    each = (("tcp", 1e-3 * ratio), ("udp", 1e-3))
    return world.run(where, [{"stack": stack, "near": near, "far": far, "size_bytes": 8, "s": s} for stack, s in each])


def claim(check: str, **other: object) -> Claim:
    needs = other.pop("needs", Needs())
    return Claim(id="A99", line=1, says="so", check=check, tolerance="ours", needs=needs, **other)


@pytest.fixture(scope="module")
def faithful() -> dict[str, Verdict]:
    return {one.claim.id: one for one in judge(tuple(CLAIMS.values()), runs.FAITHFUL.candidates)}


def test_every_claim_holds_where_it_was_made(faithful: dict[str, Verdict]) -> None:
    others = {id: (one.word, one.interval) for id, one in faithful.items() if one.word is not Word.HOLDS}
    assert set(others) == {one.id for one in CLAIMS.values() if one.unasked}
    assert {word for word, _ in others.values()} == {Word.NO_CHECK}


def test_a_claim_about_one_network_is_not_told_from_another() -> None:
    """The best rate through the daemons of a switch at 100 Mb/s is no little more than 0.8 MB/s."""
    cells = [cell | {"near": "lidi1", "far": "lidi2", "s": cell["s"] / 9} for cell in runs.a_fourway(True)]
    fast = runs.FAITHFUL.run(runs.manifest("lidi"), cells)
    for id in ("A15", "A18", "A19", "A30", "A34", "A35"):
        told = found(id, fast)
        assert told.word is Word.NOT_MEASURABLE, id
        assert "the link runs at 100 Mb/s, and not at 10" in told.interval.refused


def test_latency_is_that_of_a_short_message() -> None:
    told = found("A26", fourway(sizes=(60_000, 10**6)))
    assert told.word is Word.NOT_MEASURABLE and "pvm-direct-xdr, 8 bytes: not measured" in told.interval.refused


@pytest.mark.parametrize("id", ["A17", "A18", "A19", "A25", "A30", "A35"])
def test_best_and_never_want_the_largest_size(id: str) -> None:
    told = found(id, fourway(tuple(runs.manifest("cetad").hosts), sizes=(8, 100, 1000)))
    assert told.word is Word.NOT_MEASURABLE and "1000000 bytes: not measured" in told.interval.refused


@pytest.mark.parametrize("id", ["A13", "A15", "A30"])
def test_every_machine_is_not_one_of_them(id: str) -> None:
    told = found(id, fourway(("purmamarca", "fourier")))
    assert told.word is Word.NOT_MEASURABLE and "no host of the kind other-order" in told.interval.refused


def test_a_range_is_not_that_of_two_machines() -> None:
    """Latencies of two may lie together or apart: A36 and A41 said one word of two machines and another of all."""
    for id, least in (("A36", 4), ("A41", 5)):
        told = found(id, fourway())
        assert told.word is Word.NOT_MEASURABLE and f"2 other hosts of {least}" in told.interval.refused


def test_what_unlike_receivers_do_to_a_broadcast_is_not_told_of_equal_ones() -> None:
    cells = runs.a_broadcast("lqt1", runs.LQT, 1.0, honest=True)
    for id in ("A63", "A68"):
        told = found(id, runs.FAITHFUL.run(runs.manifest("lqt"), cells))
        assert told.word is Word.NOT_MEASURABLE and "the hosts are equal machines" in told.interval.refused


def test_an_anomaly_is_held_against_the_same_machines_short_messages() -> None:
    """Where no sound machine is as slow as prited, its eight bytes take longer than theirs, and that is no anomaly."""
    hosts = ("purmamarca", "fourier", "sofia", "prited")
    where = runs.manifest("cetad", hosts)
    cells = [
        {"ask": "fanout", "stack": "group", "near": hosts[0], "far": far, "size_bytes": size, "s": s + size / 1.19e6}
        for far, s in zip(hosts[1:], (0.0002, 0.0004, 0.001), strict=True)
        for size in (8, 100, 1000, 60_000)
    ]
    assert found("A55", runs.FAITHFUL.run(where, cells)).word is Word.HOLDS
    ill = [one | {"s": one["s"] * (20 if one["size_bytes"] > 1000 and one["far"] == "sofia" else 1)} for one in cells]
    assert found("A55", runs.FAITHFUL.run(where, ill)).word is Word.DOES_NOT_HOLD


def test_a_link_that_nobody_knows_is_named() -> None:
    run = fourway()
    unknown = replace(run, scene=replace(run.scene, rate_bps=None))
    assert found("A19", unknown).interval.refused == "the rate of the link is not known"
    below = claim("bw('icmp', 60000, 'fourier') < LINK")
    assert weigh(below, [unknown]).interval.refused == "the rate of the link is not known"
    assert weigh(below, [run]).word is Word.HOLDS


def test_a_lab_that_is_not_timed_is_named() -> None:
    cells = [one | {"near": f"{one['near'][:-1]}1"} for one in runs.d_pairs(True)]
    assert found("D06", runs.FAITHFUL.run(runs.manifest("ufsm-gigabit"), cells)).interval.refused == (
        "the lab is not timed"
    )


def test_numbers_at_once_that_were_not_measured_are_named() -> None:
    needs = Needs(question="pingpong", stacks=("tcp", "udp"), counts=(1, 4, 8))
    told = weigh(claim("t('tcp', 8) < t('udp', 8)", needs=needs), [latencies()])
    assert told.word is Word.NOT_MEASURABLE and told.interval.refused == "4, 8 at once: not measured"


def test_too_few_samples_are_named() -> None:
    cells = [cell | {"count": 99} for cell in runs.b_tau(True)]
    told = found("B02", runs.FAITHFUL.run(runs.manifest("alicante"), cells))
    assert told.word is Word.NOT_MEASURABLE and "1 bytes: 100 samples a cell: not measured" in told.interval.refused


def test_a_run_that_was_stopped_does_not_stand_before_one_that_was_not() -> None:
    cells = list(runs.b_tau(True))
    whole = runs.FAITHFUL.run(runs.manifest("alicante", day=1), cells)
    stopped = runs.World(launches=3).run(runs.manifest("alicante", day=2), cells)
    told = found("B01", stopped, whole)
    assert told.word is Word.HOLDS and told.runs == (whole.id,)
    alone = found("B01", stopped)
    assert alone.word is Word.NOT_SETTLED and alone.interval.refused == "too few launches: 3 of 8"


def test_a_difference_has_a_sign() -> None:
    """What gains nothing does not hold: a margin above 1 just where the claim is so."""
    gains = claim("0 < 1 - t('tcp', 8, 'lidi2') / t('udp', 8, 'lidi2')")
    assert weigh(gains, [latencies(ratio=0.95)]).word is Word.HOLDS
    assert weigh(gains, [latencies(ratio=1.05)]).word is Word.DOES_NOT_HOLD
    assert weigh(gains, [latencies(ratio=1.0)]).word is Word.NOT_SETTLED


def test_a_close_call_is_not_settled_and_more_launches_settle_it() -> None:
    close = claim("t('tcp', 8, 'lidi2') < t('udp', 8, 'lidi2')")
    few = latencies(ratio=0.99, world=runs.World(noise=0.03))
    many = latencies(ratio=0.98, world=runs.World(noise=0.03, launches=80))
    assert weigh(close, [few]).word is Word.NOT_SETTLED and weigh(close, [many]).word is Word.HOLDS


def test_the_interval_of_the_margin_lies_around_it() -> None:
    told = found("A26", fourway(world=runs.World(resamples=500)))
    assert told.margin == pytest.approx(0.002 / 0.0012, rel=0.05)
    assert 1 < told.interval.low < told.margin < told.interval.high < 2 and told.p < 0.05


def test_too_few_launches_settle_nothing() -> None:
    told = found("A26", fourway(world=runs.World(launches=7)))
    assert told.word is Word.NOT_SETTLED and told.margin > 1 and told.p is None
    assert told.interval.refused == "too few launches: 7 of 8"


def test_the_newest_run_that_fits_counts() -> None:
    old, newer = latencies(ratio=0.5), latencies(ratio=2.0)
    newer = replace(newer, id="newer", begun=old.begun.replace(year=2030))
    other = replace(latencies("lqt"), id="other", begun=old.begun.replace(year=2031))
    fast = claim("all(t('tcp', 8, h) < t('udp', 8, h) for h in HOSTS)", needs=Needs(rate_mbps=100))
    (told,) = judge([fast], [old, newer, other])
    assert told.word is Word.DOES_NOT_HOLD and told.runs == ("newer",)
    (told,) = judge([fast], [old, other])
    assert told.word is Word.HOLDS and told.runs == (old.id,)


def test_each_run_that_fits_has_its_word() -> None:
    old, newer = latencies(ratio=0.5), latencies(ratio=2.0)
    fast = claim("all(t('tcp', 8, h) < t('udp', 8, h) for h in HOSTS)", needs=Needs(rate_mbps=100))
    few = latencies(ratio=0.5, world=replace(runs.FAITHFUL, launches=7))
    told = fitting(fast, [newer, latencies("lqt"), few, old])
    assert [one.word for one in told] == [Word.DOES_NOT_HOLD, Word.HOLDS]
    assert fitting(fast, [latencies("lqt")]) == ()


def test_what_is_not_measurable_is_told_of_the_run_that_lacks_least() -> None:
    slow = claim("t('eth', 8, 'lqt2') < 1", needs=Needs(rate_mbps=10, stacks=("eth",)))
    assert weigh(slow, [latencies("lqt"), latencies("lidi")]).interval.refused == "pingpong of eth: not measured"
    assert weigh(slow, []).interval.refused == "there are too few runs"


def test_a_claim_over_several_runs_takes_one_of_each() -> None:
    told = found("A72", *runs.FAITHFUL.candidates)
    assert told.word is Word.HOLDS and [run.partition("-")[2] for run in told.runs] == ["lqt", "cetad"]
    alone = found("A72", runs.FAITHFUL.candidates[0])
    assert alone.word is Word.NOT_MEASURABLE and "lqt: the hosts are unlike machines" in alone.interval.refused


@pytest.mark.parametrize("id", ["A54", "A57", "A60"])
def test_a_broadcast_to_each_is_held_against_pvm_where_there_is_pvm(id: str) -> None:
    """As the plans of length standard have it: a broadcast to each host of the lab, PVM to four of them."""
    pings = fourway(("purmamarca", "fourier", "paris", "prited", "sofia"))
    assert found(id, runs.FAITHFUL.candidates[2], pings).word is Word.HOLDS


def test_another_day_is_another_day() -> None:
    first, second = runs.FAITHFUL.candidates[:2]
    assert found("A11", second, first).word is Word.HOLDS
    same = replace(second, begun=first.begun)
    assert found("A11", same, first).word is Word.NOT_MEASURABLE


def test_what_a_lab_makes_slow_is_called_a_model(faithful: dict[str, Verdict]) -> None:
    assert {"sofia", "prited"} <= set(faithful["A28"].models)
    assert faithful["A17"].models == ("prited",) and faithful["B01"].models == ()


def test_a_fact_is_so_or_not_whatever_the_launches() -> None:
    two = runs.World(launches=2)
    honest, other = (two.run(runs.manifest("cetad"), runs.a_fourway(honest)) for honest in (True, False))
    assert found("C13", honest).word is Word.HOLDS and found("C13", honest).p is None
    assert found("C13", other).word is Word.DOES_NOT_HOLD


def test_one_of_many_needs_more_than_one_alone() -> None:
    """At 95 % one close call in twenty would be told wrongly; together they are not."""
    run = latencies(ratio=0.985, world=runs.World(noise=0.02, resamples=2000))
    close = claim("t('tcp', 8, 'lidi2') < t('udp', 8, 'lidi2')")
    alone = weigh(close, [run])
    assert alone.word is Word.HOLDS and 0.005 < alone.p < 0.05
    never = [claim("t('udp', 8, 'lidi2') < t('udp', 8, 'lidi2')")] * 60
    told = judge([close, *never], [run])[0]
    assert told.word is Word.NOT_SETTLED and told.p == alone.p and told.p_adjusted > 0.05


def test_a_verdict_does_not_depend_on_what_else_is_shown() -> None:
    run = fourway()
    together = judge(tuple(CLAIMS.values()), [run])
    alone = judge([CLAIMS["A26"]], [run])[0]
    of_all = next(one for one in together if one.claim.id == "A26")
    assert of_all.p == alone.p and of_all.p_adjusted >= alone.p_adjusted == alone.p


@pytest.mark.parametrize(
    ("check", "missing"),
    [
        ("t('pvm-x', 8, 'sofia') < 1", "pvm-x from purmamarca to sofia, 8 bytes"),
        ("t('tcp', 9, 'sofia') < 1", "tcp from purmamarca to sofia, 9 bytes"),
        ("bwmax('eth', 'sofia') < 1", "eth to sofia"),
        ("encode('tcp', 9, 'sofia') < 1", "encode of tcp from purmamarca to sofia, 9 bytes"),
        ("tb('group', 8, 5) < 1", "group to 5 receivers, 8 bytes"),
        ("to_one('group', 8, 'sofia') < 1", "group to sofia alone, 8 bytes"),
        ("exchange('tcp', 8, 5) < 1", "tcp exchange of 5 hosts, 8 bytes"),
        ("all(one < 1 for one in beside('tcp', 8))", "tcp between several pairs at the same time, 8 bytes"),
        ("crossed('group', 5) < 1", "bytes counted of group to 5 receivers"),
        ("at_once('tcp', 8, 'sofia', 'paris', 2) < 1", "tcp between sofia and paris, 2 at once, 8 bytes"),
        ("rate_slope('tcp', 8, 9, 'sofia') < 1", "3 sizes of tcp for a line"),
    ],
)
def test_what_was_not_measured_is_named(check: str, missing: str) -> None:
    told = weigh(claim(check), [fourway()])
    assert told.word is Word.NOT_MEASURABLE and told.margin is None
    assert told.interval.refused == f"{missing}: not measured"


def test_points_off_a_line_are_told_of_four_sizes_at_least() -> None:
    three = fourway(sizes=(8, 100, 10**6))
    told = weigh(claim("off('pvm-direct-xdr', 'sofia') < 1"), [three])
    assert told.interval.refused == "4 sizes of pvm-direct-xdr for a line: not measured"


def test_a_claim_in_other_words_is_a_mistake() -> None:
    with pytest.raises(VaivenError, match="'gain' means nothing"):
        weigh(claim("gain(8) > 1"), [fourway()])


def test_a_run_that_is_damaged_is_named_and_the_others_are_judged() -> None:
    def broken() -> None:
        raise VaivenError("cells/00003.parquet is damaged", code="run-damaged")

    good = latencies()
    bad = replace(good, id="bad", begun=good.begun.replace(year=2030), measure=broken)
    fast = claim("t('tcp', 8, 'lidi2') < t('udp', 8, 'lidi2')")
    assert weigh(fast, [bad, good]).word is Word.HOLDS
    assert weigh(fast, [bad]).interval.refused == "cells/00003.parquet is damaged"
