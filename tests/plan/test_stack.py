# SPDX-License-Identifier: BSD-3-Clause
"""A stack has one name, whatever the order in which its options were written."""

from __future__ import annotations

import pytest

from vaiven.errors import VaivenError
from vaiven.plan.stack import Stack, named, nearest, opposed, parse


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("tcp", "tcp"),
        ("tcp-nagle", "tcp-nagle"),
        ("tcp[]", "tcp"),
        ("tcp[write=one]", "tcp"),
        ("tcp[wait=spin,write=split]", "tcp[write=split,wait=spin]"),
        ("tcp[ write = split ]", "tcp[write=split]"),
        ("udp[idle_ms=010]", "udp[idle_ms=10]"),
        ("udp[idle_ms=0]", "udp"),
        ("udp[cpu=0]", "udp[cpu=0]"),
    ],
)
def test_one_name_for_one_stack(text: str, name: str) -> None:
    assert parse(text).name == name
    assert parse(name).name == name


def test_a_stack_is_held_against_itself_on_another_side_and_without_sides_against_any_other() -> None:
    assert opposed("tcp", "udp") and opposed("tcp@before", "tcp@after")
    assert not opposed("tcp@before", "udp@before") and not opposed("tcp@before", "udp@after")
    assert not opposed("tcp[wait=spin]@before", "tcp@after")
    assert named("tcp[wait=spin]@after").argv == parse("tcp[wait=spin]").argv


def test_in_a_run_a_stack_may_have_a_side() -> None:
    assert named("tcp[wait=spin,write=split]@5.0.8").name == "tcp[write=split,wait=spin]@5.0.8"
    assert named("tcp[write=one]") == parse("tcp")
    for name in ("tcp@", "tcp@a b", "tcp@a@b", "tcp@a\n", "@a"):
        with pytest.raises(VaivenError) as caught:
            named(name)
        assert caught.value.code == "bad-stack"


def test_options_become_arguments() -> None:
    assert parse("tcp[write=split,idle_ms=5]").argv == ["--write", "split", "--idle-ms", "5"]
    assert Stack("tcp").argv == []


def test_the_null_stack_is_programmed() -> None:
    stack = parse("null[alpha_ns=50000, wait=spin,knee=4096:20000,knee=9000:1:0.5,o_s=3,G=0.5]")
    assert stack.name == "null[wait=spin,alpha_ns=50000,knee=4096:20000,knee=9000:1:0.5,o_s=3,G=0.5]"
    assert stack.argv == ["--wait", "spin", "--null", "alpha_ns=50000,knee=4096:20000,knee=9000:1:0.5,o_s=3,G=0.5"]
    assert parse(stack.name) == stack
    with pytest.raises(VaivenError):
        parse("tcp[alpha_ns=50000]")
    with pytest.raises(VaivenError):
        parse("null[alpha_ns=$(id)]")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not a stack"),
        ("TCP", "is not a stack"),
        ("tcp@after", "is not a stack"),
        ("tcp; id", "is not a stack"),
        ("$(id)", "is not a stack"),
        ("--help", "is not a stack"),
        ("tcp[write=three]", "write is 'three'"),
        ("tcp[wirte=one]", "no option 'wirte'"),
        ("tcp[idle_ms=-1]", "idle_ms is '-1'"),
        ("tcp[idle_ms=1;id]", "idle_ms is '1;id'"),
    ],
)
def test_what_is_no_stack_is_refused(text: str, words: str) -> None:
    with pytest.raises(VaivenError, match=words.replace("(", r"\(")) as caught:
        parse(text)
    assert caught.value.code == "bad-stack"


def test_the_nearest_name_is_offered() -> None:
    assert nearest("tpc", ["udp", "tcp", "icmp"]) == "did you mean tcp?"
    assert nearest("wirte", ["write", "wait"]) == "did you mean write?"
    assert nearest("xyzzy", ["udp", "tcp"]) == "one of: tcp, udp"
