# SPDX-License-Identifier: BSD-3-Clause
"""What is special about a question stands in its entry (vaiven.questions): no other module asks which one it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from pathlib import Path

from tests.house.conftest import parsed

from vaiven import questions

_ENTRIES = {name for name, value in vars(questions).items() if isinstance(value, questions.Question)}
# The entries; and the claims of papers, each of which is about a question.
_ALLOWED = ("questions.py", "papers/")


def _words(node: ast.AST) -> set[str]:
    constants = {each.value for each in ast.walk(node) if isinstance(each, ast.Constant)}
    return {value for value in constants if isinstance(value, str)} & set(questions.ALL)


def _named(node: ast.AST) -> set[str]:
    """The questions that an expression names, by their words or by their entries."""
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    names |= {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
    return _words(node) | {vars(questions)[name].name for name in names & _ENTRIES}


def _plain(node: ast.Compare) -> set[str]:
    """The plain question, where a comparison is with it."""
    sides = {ast.unparse(side).removeprefix("questions.") for side in (node.left, *node.comparators)}
    return {questions.PLAIN} if "PLAIN" in sides else set()


def _asked(node: ast.AST) -> bool:
    """Whether an expression is of what was asked."""
    return "ask" in ast.unparse(node)


def comparisons(text: str, own: Set[str] = frozenset()) -> Iterator[str]:
    """Where a module compares against the name of a question that is not its `own`, or has a table by their names."""
    for node in ast.walk(parsed(text)):
        if isinstance(node, ast.Compare):
            found = _named(node) | _plain(node) if _asked(node) else set()
        elif isinstance(node, ast.Dict):
            keys = set().union(*(_named(key) for key in node.keys if key))
            found = keys if len(keys) > 1 else set()
        elif isinstance(node, ast.keyword) and node.arg == "ask":
            found = _words(node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "is_in":
            found = _named(node) if _asked(node.func) else set()
        elif isinstance(node, ast.MatchValue):
            found = _named(node)
        else:
            continue
        if found - own:
            yield f"{node.lineno}: {ast.unparse(node)}"


def own_of(module: str) -> set[str]:
    """The questions that a module estimates or shows, by their entries."""
    found = set()
    for one in questions.ALL.values():
        places = (one.answer.estimator, one.answer.tables, one.answer.section or "") if one.answer else ()
        if module in {place.partition(":")[0] for place in places}:
            found.add(one.name)
    return found


def test_no_module_asks_which_question_it_is(root: Path) -> None:
    package = root / "python/vaiven"
    found = {}
    for path in package.rglob("*.py"):
        name = path.relative_to(package).as_posix()
        if not name.startswith(_ALLOWED):
            own = own_of(name.removesuffix(".py").replace("/", "."))
            found[name] = list(comparisons(path.read_text(), own))
    assert len(found) > 100 and {name: lines for name, lines in found.items() if lines} == {}


def test_a_module_that_asks_is_found() -> None:
    bad = """
if course.ask == "fanout": pass
if ask in ("oneway", *MANY): pass
table.filter(ask="pingpong")
table.filter(pl.col("ask") == "steps")
captions = {"fanout": "one", "stream": "many"}
if work.ask != questions.PRTT.name: pass
table["ask"].is_in(["overlap"])
match ask:
    case "first": pass
same = one.ask == PLAIN
"""
    assert len(list(comparisons(bad))) == 9
    assert list(comparisons('table.filter(ask=FIRST.name)\nif ends == "first": pass\nparts = {"first": 1}')) == []
    assert list(comparisons('if one.ask == "prtt": pass', {"prtt"})) == []


def test_every_place_that_an_entry_names_is_there() -> None:
    for one in questions.ALL.values():
        if one.answer:
            for place in filter(None, (one.answer.estimator, one.answer.tables, one.answer.section)):
                assert callable(questions.loaded(place)), place


def test_entries_import_nothing_of_ours(root: Path) -> None:
    """Everybody reads them, so whatever they imported everybody would."""
    tree = ast.parse((root / "python/vaiven/questions.py").read_text())
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    modules += [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
    assert modules and not any(module.startswith("vaiven") for module in modules)
