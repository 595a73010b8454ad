# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of claims: on runs as paper A describes them, on their contrary, and on runs that cannot tell."""

from __future__ import annotations

import pytest

from vaiven.errors import VaivenError
from vaiven.papers.claims import Claim, Word, judge, published
from vaiven.papers.measured import Measured

from . import runs

SLOW = {"tilcara": 1.2, "fourier": 1.0, "paris": 1.6, "sofia": 1.7, "prited": 2.5}  # how long each takes, relatively
LIKE, DEFECT = ("tilcara", "fourier"), ("sofia", "prited")


def as_published(stack: str, size: int, host: str) -> float:
    """Seconds one way, as the paper says it of each machine."""
    if not stack.startswith("pvm"):
        slow = 30 if stack == "tcp" and host in DEFECT and size > 1000 else 1
        return (0.0005 + SLOW[host] ** 0.8 * size / 1.2e6) * slow
    start_s = 0.002 if "default" in stack else 0.0012
    trans = stack.endswith("trans") and host in LIKE
    rate = 0.85e6 if "default" in stack else 1.0e6
    rate *= 1.15 if trans else 1.0
    if size == 10**7 and host in ("tilcara", "prited"):
        rate *= 0.8 if stack.endswith("trans") else 0.3
    seconds = SLOW[host] * start_s + SLOW[host] ** 0.8 * size / rate
    return seconds * (30 if "direct" in stack and host in DEFECT and size > 1000 else 1)


def a_step(part: str, stack: str, size: int, host: str) -> float:
    """Processor seconds: XDR both ways, or the other byte order once."""
    if stack.endswith("xdr"):
        return 1e-9 * size if part in ("encode", "decode") else 0.0
    return 2e-10 * size if part == "decode" or (part == "translate" and host not in LIKE) else 0.0


def words(measured: Measured, *ids: str) -> dict[str, Word]:
    """claim -> its word, of these claims or all."""
    return {one.id: judge(one, measured).word for one in published() if not ids or one.id in ids}


@pytest.fixture(scope="module")
def faithful() -> Measured:
    return runs.measured(as_published, a_step)


def test_every_claim_holds_where_it_was_made(faithful: Measured) -> None:
    assert {id: word for id, word in words(faithful).items() if word is not Word.HOLDS} == {}


def test_every_claim_can_fail() -> None:
    """The reverse of what is claimed: far quicker, the direct route only where TCP was sick, unlike machines alike."""

    def one_way(stack: str, size: int, host: str) -> float:
        seconds = 1e-9 * size**1.3  # long messages are the worse
        if stack.startswith("pvm"):
            seconds *= 1.5 * (1 + (size == 10**7)) if stack.endswith("trans") else 1.0
            seconds *= 1.0 if "default" in stack else 0.5 if host in DEFECT else 4.0
        return seconds * (50 if stack in ("icmp", "udp") and host in DEFECT else 1)

    def step(part: str, stack: str, size: int, _host: str) -> float:
        return 1e-6 * size if part == "translate" and stack.endswith("trans") else 0.0

    found = words(runs.measured(one_way, step))
    assert {id: word for id, word in found.items() if word is not Word.DOES_NOT_HOLD} == {}


def test_a_close_call_is_not_settled_and_more_launches_settle_it() -> None:
    def close(stack: str, size: int, host: str) -> float:
        return 0.001 * (1.01 if stack == "pvm-direct-xdr" else 1.03)

    few = runs.measured(close, a_step, noise=0.03, hosts=runs.HOSTS[:2])
    many = runs.measured(close, a_step, noise=0.03, hosts=runs.HOSTS[:2], launches=80)
    assert words(few, "A26") == {"A26": Word.NOT_SETTLED}
    assert words(many, "A26") == {"A26": Word.HOLDS}


def test_the_interval_of_the_margin_lies_around_it(faithful: Measured) -> None:
    claim = next(one for one in published() if one.id == "A26")
    found = judge(claim, faithful)
    assert found.margin == pytest.approx(0.002 / 0.0012, rel=0.05)
    assert 1 < found.interval.low < found.margin < found.interval.high < 2


def test_too_few_launches_settle_nothing() -> None:
    claim = next(one for one in published() if one.id == "A26")
    found = judge(claim, runs.measured(as_published, a_step, launches=3))
    assert found.word is Word.NOT_SETTLED and found.margin > 1
    assert found.interval.refused == "too few launches: 3 of 8"


@pytest.mark.parametrize(
    ("check", "missing"),
    [
        ("t('pvm-direct-raw', 8, 'sofia') < 1", "pvm-direct-raw to sofia, 8 bytes"),
        ("t('tcp', 9, 'sofia') < 1", "tcp to sofia, 9 bytes"),
        ("bwmax('eth', 'sofia') < 1", "eth to sofia"),
        ("encode('tcp', 8, 'sofia') < 1", "encode of tcp to sofia, 8 bytes"),
        ("alpha('tcp', 'cetad') < 1", "tcp to cetad"),
    ],
)
def test_what_was_not_measured_is_named(faithful: Measured, check: str, missing: str) -> None:
    found = judge(Claim(id="X1", says="so", check=check, tolerance="ours"), faithful)
    assert found.word is Word.NOT_MEASURABLE and found.margin is None
    assert found.interval.refused == f"{missing}: not measured"


def test_a_claim_in_other_words_is_a_mistake(faithful: Measured) -> None:
    with pytest.raises(VaivenError, match="'gain' means nothing"):
        judge(Claim(id="X1", says="so", check="gain(8) > 1", tolerance="ours"), faithful)


def test_claims_have_ids_of_their_own() -> None:
    ids = [one.id for one in published()]
    assert len(set(ids)) == len(ids) > 20
