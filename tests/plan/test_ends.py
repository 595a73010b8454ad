# SPDX-License-Identifier: BSD-3-Clause
"""Far ends as one text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaiven.plan import ends


@pytest.mark.parametrize(
    ("hosts", "text"), [(("b",), "b"), (("b", "c"), "b+c"), (("b", "b", "b"), "b*3"), (("b", "c", "c", "b"), "b+c*2+b")]
)
def test_hosts_are_written_in_order_and_repetitions_counted(hosts: tuple[str, ...], text: str) -> None:
    assert ends.join(hosts) == text
    assert ends.split(text) == hosts


@given(st.lists(st.sampled_from(["a", "lidi2", "h-1.x"]), min_size=1, max_size=70))
def test_the_text_says_it_all(hosts: list[str]) -> None:
    assert ends.split(ends.join(hosts)) == tuple(hosts)
