# SPDX-License-Identifier: BSD-3-Clause
"""Size words mean what the papers and the manual say, and nothing else is taken for one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaiven.errors import VaivenError
from vaiven.plan.sweep import SIZE_BYTES_MAX, Limits, Sizes, expand, fit


def values(*words: int | str, seed: int = 1) -> list[int]:
    return list(expand(words, seed).values)


@pytest.mark.parametrize(
    ("word", "sizes"),
    [
        (64, [64]),
        ("64", [64]),
        ("10^6", [1_000_000]),
        (0, [0]),
        ("linear:0..100/4", [*range(0, 101, 4)]),
        ("linear:5..5/1", [5]),
        ("decades", [1, 10, 100, 1000, 10**4, 10**5, 10**6]),
        ("decades:8..10^7", [8, 10, 100, 1000, 10**4, 10**5, 10**6, 10**7]),
        ("powers:2^5..2^19*8", [8 * 2**e for e in range(5, 20)]),
        ("powers:10^0..10^3", [1, 10, 100, 1000]),
        ("log:1/decade:10..1000", [10, 100, 1000]),
        ("log:2/decade:1..100", [1, 3, 10, 32, 100]),
        ("1k", [1000]),
        ("64K", [64_000]),
        ("64Ki", [65_536]),
        ("10 kB", [10_000]),
        ("4 KiB", [4096]),
        ("1MB", [1_000_000]),
        ("8 B", [8]),
        ("decades:8B..1kB", [8, 10, 100, 1000]),
        ("paper-a", [8, 100, 1000, 60_000, 10**6, 10**7]),
    ],
)
def test_a_word_means_these_sizes(word: int | str, sizes: list[int]) -> None:
    assert values(word) == sizes


def test_frames_go_round_every_edge() -> None:
    sizes = values("frames:1500")
    for count in (1, 2, 3, 4):  # TCP's segment on Linux is 1448 bytes at that MTU
        assert {1448 * count - 1, 1448 * count, 1448 * count + 1} <= set(sizes)
    assert {1471, 1472, 1473, 1500} <= set(sizes)


def test_perturbed_sizes_keep_order_ends_and_powers_of_two() -> None:
    plain, moved = values("log:8/decade:10..10^5"), values("log:8/decade:10..10^5+perturb")
    assert moved[0] == 10
    assert moved[-1] == 10**5
    for power in (2**e for e in range(4, 17)):
        assert {size for size in (power - 3, power, power + 3) if size >= 10} <= set(moved)
    beside = {2**e + side for e in range(27) for side in (-3, 0, 3)}
    grid = [size for size in moved if size not in beside]
    step = 10 ** (1 / 16)  # half a step up or down, and rounding
    assert all(any(old / step - 1 <= new <= old * step + 1 for old in plain) for new in grid)
    assert set(grid) - set(plain)


def test_perturbed_sizes_follow_the_seed() -> None:
    word = "log:8/decade+perturb"
    assert values(word, seed=1) == values(word, seed=1)
    assert values(word, seed=1) != values(word, seed=2)


def test_words_join_and_only_single_sizes_are_explicit() -> None:
    sizes = expand(["decades:1..100", 64, "10^2"], 1)
    assert sizes.values == (1, 10, 64, 100)
    assert sizes.explicit == {64, 100}


@pytest.mark.parametrize(
    "word",
    ["", "lin", "linear:0..100", "linear:100..0/4", "linear:0..100/0", "linear:0..10^6/1", "powers:2^5..3^6",
     "powers:2^9..2^5", "log:0/decade", "log:8/decade:0..100", "frames:100", "frames:99999", "1e6", "-1", "64 ",
     "1 k B", "1G", "1kiB2", "decades:8..10^99", "10^999999999", "9" * 5000, "$(id)", "`id`", "; id",
     "<b>64</b>", -1, SIZE_BYTES_MAX + 1],
)  # fmt: skip
def test_nonsense_is_refused_by_name(word: int | str) -> None:
    with pytest.raises(VaivenError) as caught:
        expand([word], 1)
    assert caught.value.code == "bad-size"
    assert caught.value.remedy


def test_no_sizes_is_refused() -> None:
    with pytest.raises(VaivenError, match="no size"):
        expand([], 1)


@given(st.text(max_size=40))
def test_any_text_gives_sizes_or_one_error(word: str) -> None:
    try:
        sizes = expand([word], 1).values
    except VaivenError as error:
        assert error.code == "bad-size"
    else:
        assert list(sizes) == sorted(set(sizes))
        assert 0 <= sizes[0] <= sizes[-1] <= SIZE_BYTES_MAX


def test_explicit_sizes_beyond_a_stack_are_an_error_with_the_limit() -> None:
    with pytest.raises(VaivenError, match=r"icmp carries 0 to 65507 bytes, not 100000") as caught:
        fit(expand([8, 100_000], 1), "icmp", Limits(0, 65507))
    assert caught.value.code == "size-limit"


def test_swept_sizes_beyond_a_stack_are_left_out_and_named() -> None:
    inside, outside = fit(expand(["decades"], 1), "icmp", Limits(8, 65507))
    assert inside == (10, 100, 1000, 10_000)
    assert outside == (1, 100_000, 1_000_000)


def test_a_stack_without_any_size_left_is_an_error() -> None:
    with pytest.raises(VaivenError, match="none of the sizes"):
        fit(Sizes((10**6,), frozenset()), "icmp", Limits(0, 65507))
