# SPDX-License-Identifier: BSD-3-Clause
"""One grammar: an option has one name, one type and one meaning on every verb that takes it."""

from __future__ import annotations

import re
import typing
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from vaiven import questions
from vaiven.cli import parser
from vaiven.cli.parameters import pair_of_hosts, stack_names, words
from vaiven.errors import VaivenError

# What runs a program, writes files, prints a file as it is, or says no more than that something is done.
WITHOUT_JSON = {
    "run", "completion", "export csv", "export markdown", "export schema", "plan schema", "lab down", "lab show",
    "lab run", "lab shell",
}  # fmt: skip
OF_A_RUN = {"measure", "runs", "model", "compare", "history", "report", "reproduce", "export csv", "export markdown"}


@dataclass(frozen=True)
class Option:
    verb: str
    names: tuple[str, ...]
    kind: object
    meaning: str  # the first clause of its help


def verbs(app: object = parser.app, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    below = [name for name in app if not name.startswith("-")]
    for name in below:
        yield from verbs(app[name], (*path, name))
    if not below:
        yield path


def options(verb: tuple[str, ...]) -> Iterator[Option]:
    app = parser.app
    for word in verb:
        app = app[word]
    with parser.app.app_stack(list(verb)):
        for one in app.assemble_argument_collection(parse_docstring=True):
            if one.field_info.is_keyword:
                meaning = re.split(r"[.;:](?:\s|$)", one.parameter.help or "")[0]
                yield Option(" ".join(verb), tuple(one.names), one.hint, " ".join(meaning.split()))


def differences(found: list[Option]) -> list[str]:
    """Options that share a name and are not the same: other spellings, types or meanings."""
    by_name: dict[str, list[Option]] = defaultdict(list)
    for one in found:
        by_name[one.names[0]].append(one)
    differ = {name: {(one.names, kind(one), one.meaning) for one in ones} for name, ones in by_name.items()}
    aliases = {alias for one in found for alias in one.names[1:]}
    twice = [f"{alias} is a name of its own and another one's" for alias in aliases & set(by_name)]
    return [f"{name}: {ways}" for name, ways in differ.items() if len(ways) > 1] + twice


def kind(one: Option) -> object:
    """A choice among questions is one type, though verbs answer different ones."""
    if typing.get_origin(one.kind) is typing.Literal and set(typing.get_args(one.kind)) <= set(questions.ALL):
        return "a question"
    return one.kind


ALL = {" ".join(verb): list(options(verb)) for verb in verbs()}


def test_an_option_has_one_type_and_one_meaning() -> None:
    found = [one for ones in ALL.values() for one in ones]
    assert len(ALL) > 20 and len(found) > 80
    assert differences(found) == []


def test_every_option_says_what_it_means() -> None:
    assert [one for ones in ALL.values() for one in ones if len(one.meaning) < 10] == []


def test_an_option_that_differs_is_found() -> None:
    one, other = Option("a", ("--sizes",), str, "Sizes"), Option("b", ("--sizes",), bool, "Also every size")
    assert differences([one, one]) == [] and "--sizes" in differences([one, other])[0]
    assert differences([one, Option("c", ("--size", "--sizes"), str, "Sizes")])


@pytest.mark.parametrize("verb", ALL)
def test_json_and_runs_are_wherever_a_fact_is_printed_or_a_run_is_read(verb: str) -> None:
    names = {name for one in ALL[verb] for name in one.names}
    assert ("--json" in names) == (verb not in WITHOUT_JSON)
    assert ("--runs" in names) == (verb in OF_A_RUN)
    assert {name for name in names if name.startswith("--no-")} <= {"--no-page"}


def test_words_between_commas() -> None:
    assert words(" a , tcp[write=split,wait=spin],,b,") == ("a", "tcp[write=split,wait=spin]", "b")
    assert words("") == words(" , ") == ()
    assert stack_names("tcp[wait=block] ,udp@after") == ["tcp", "udp@after"]


@pytest.mark.parametrize("text", ["a", "a,", ",", "a,b,c"])
def test_a_pair_is_two_hosts(text: str) -> None:
    assert pair_of_hosts("h1, h2") == [("h1", "h2")] and pair_of_hosts("") == []
    with pytest.raises(VaivenError, match="NEAR,FAR"):
        pair_of_hosts(text)
