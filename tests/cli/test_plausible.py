# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven plausible` as a reader of papers types it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

Vaiven = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize(
    ("number", "word", "likely"),
    [
        ("0.086 ms/byte", "slower than any machine explains", "likely 0.086 us/byte"),
        ("330 us/float", "slower than any machine explains", "likely 0.33 us/float"),
        ("93MB/s", "faster than the wire", "likely 93 Mb/s (MB written for Mb)"),
    ],
)
def test_numbers_that_cannot_be_are_flagged_with_what_was_meant(
    vaiven: Vaiven, number: str, word: str, likely: str
) -> None:
    done = vaiven("plausible", number, "100 Mb/s")
    assert done.returncode == 3 and done.stdout.startswith(f"{word}: ") and likely in done.stdout, done


def test_a_number_that_can_be_is_let_pass(vaiven: Vaiven) -> None:
    done = vaiven("plausible", "0.086 us/byte", "100 Mb/s")
    assert (done.returncode, done.stdout) == (0, "plausible: 0.086 us/byte fits a link of 100 Mb/s\n")
    assert vaiven("plausible", "12.4 MB/s", "100 Mb/s", "--payload-share", "0.95").returncode == 3


@pytest.mark.parametrize(
    "words",
    [
        ("fast", "100 Mb/s"),
        ("1..2 us/byte", "100 Mb/s"),
        ("5 us", "100 Mb/s"),
        ("5 parsecs/byte", "100 Mb/s"),
        ("0 us/byte", "100 Mb/s"),
        ("nan us/byte", "100 Mb/s"),
        ("1 us/byte", "100 us/byte"),
        ("1 us/byte", "100 Mb/s", "--payload-share", "0"),
    ],
)
def test_what_is_no_number_is_refused_in_words(vaiven: Vaiven, words: tuple[str, ...]) -> None:
    done = vaiven("plausible", *words)
    assert done.returncode == 2 and done.stderr.startswith("vaiven: ") and "Traceback" not in done.stderr, done
