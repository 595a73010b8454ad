# SPDX-License-Identifier: BSD-3-Clause
"""An inequality between measured quantities, read from a text and answered by a margin instead of yes or no.

The text has the grammar of a Python expression, of which only this is read: numbers and names in quotes, words, calls
of words, tuples, + - * / **, comparisons, `and`, `or`, `not`, and generators as the argument of a call:

    all(t('pvm-direct-xdr', n, h) < t('pvm-default-xdr', n, h) for n in (8, 100) for h in HOSTS)

The margin of a < b is b/a, how often the smaller side goes into the larger one: above 1 it is so. Of several that must
all be so it is the smallest, of several of which one will do the largest, and `not` turns it over. So a claim of many
comparisons has the margin of its closest one, and what is uncertain in times is uncertain in one number.

A difference may be negative: then, too, the margin is above 1 just where a < b is so. But what is wanted of it is
seldom its sign alone, so claims speak of ratios. `==` is for facts, of which nothing is uncertain.
"""

from __future__ import annotations

import ast
import copy
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from vaiven.errors import VaivenError
from vaiven.stats.arrays import Floats

MARGIN_MOST = 1000.0  # what is larger, or infinite because one side is nothing, counts as this

_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_SMALLER_FIRST = (ast.Lt, ast.LtE)
_LARGER_FIRST = (ast.Gt, ast.GtE)
_FACTS = (ast.Eq,)
_READ = (
    ast.Constant, ast.Name, ast.Load, ast.Store, ast.Tuple, ast.comprehension,
    ast.BinOp, *_ARITHMETIC, ast.Compare, *_SMALLER_FIRST, *_LARGER_FIRST, *_FACTS,
    ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not,
)  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """One that was made: left, right, margin: of both sides and of it, first, then of each resample.

    written: as its claim has it, with the names of loops; words: what these, and all others, stood for.
    """

    written: ast.Compare
    words: Mapping[str, Any]
    left: Floats
    right: Floats
    margin: Floats

    @property
    def told(self) -> ast.Compare:
        """With what its loops stood for."""
        found = _Told(self.words).visit(copy.deepcopy(self.written))
        assert isinstance(found, ast.Compare)
        return found


class Inequality:
    """One, as it was read. VaivenError ("bad-claim") for a text that is none."""

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
        except SyntaxError as error:
            raise _bad(text, error.msg) from None
        unread = next((node for node in ast.walk(self._tree) if not _is_read(node)), None)
        if unread:
            raise _bad(text, f"{ast.unparse(unread)} cannot stand in it")

    @property
    def words(self) -> frozenset[str]:
        """The words that it uses and does not explain: those that must mean something."""
        named = [node for node in ast.walk(self._tree) if isinstance(node, ast.Name)]
        own = {node.id for node in named if isinstance(node.ctx, ast.Store)}
        return frozenset(node.id for node in named) - own - set(_WORDS)

    def margin(self, words: Mapping[str, Any], made: list[Comparison] | None = None) -> Floats:
        """Its margin, for words that mean numbers, arrays of one shape, functions of these, or tuples.

        made: gets each comparison of numbers that was made.

        VaivenError: "bad-claim" for a word that there is not, "not-measured" where nothing is left to compare, and
        what the functions raise.
        """
        try:
            return np.asarray(_value(self._tree, _WORDS | dict(words), made), dtype=np.float64)
        except KeyError as error:
            raise _bad(self.text, f"{error.args[0]!r} means nothing here") from None


def all_of(margins: Sequence[Floats]) -> Floats:
    """The margin of several that must all be so."""
    return reduce(np.minimum, _some(margins))


def any_of(margins: Sequence[Floats]) -> Floats:
    """The margin of several of which one will do."""
    return reduce(np.maximum, _some(margins))


def spread(values: Sequence[Floats]) -> Floats:
    """How often the smallest of several goes into the largest. VaivenError ("not-measured") for fewer than two."""
    if len(values) < 2:
        raise VaivenError("one value has no spread", "measure with more hosts", code="not-measured")
    return any_of(values) / all_of(values)


def _listed(of_several: Callable[[Sequence[Any]], Any]) -> Callable[..., Any]:
    """The same, of a generator or of arguments."""
    return lambda *values: of_several(values[0] if len(values) == 1 and isinstance(values[0], tuple) else values)


_WORDS: dict[str, Any] = {
    "all": _listed(all_of), "any": _listed(any_of), "min": _listed(all_of), "max": _listed(any_of),
    "spread": _listed(spread),
}  # fmt: skip


def _is_read(node: ast.AST) -> bool:
    """Whether `_value` knows what it is."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name)
    if isinstance(node, ast.GeneratorExp):
        return not any(loop.ifs or loop.is_async for loop in node.generators)
    return isinstance(node, _READ)


def _some(values: Sequence[Floats]) -> Sequence[Floats]:
    """What holds of nothing says nothing."""
    if not values:
        raise VaivenError("no host of that kind was measured", "measure with more hosts", code="not-measured")
    return values


def _value(node: ast.AST, words: Mapping[str, Any], made: list[Comparison] | None) -> Any:
    """What a part of it is worth; of comparisons that is their margin."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return words[name]
        case ast.Tuple(elts=parts):
            return tuple(_value(part, words, made) for part in parts)
        case ast.Call(func=function, args=arguments):
            return _value(function, words, made)(*(_value(one, words, made) for one in arguments))
        case ast.GeneratorExp(elt=each, generators=loops):
            return tuple(_value(each, inner, made) for inner in _turns(loops, words))
        case ast.BinOp(left=left, op=op, right=right):
            return _ARITHMETIC[type(op)](_value(left, words, made), _value(right, words, made))
        case ast.Compare():
            return all_of(_compared(node, words, made))
        case ast.BoolOp(op=op, values=several):
            margins = [_value(one, words, made) for one in several]
            return all_of(margins) if isinstance(op, ast.And) else any_of(margins)
        case ast.UnaryOp(operand=one):
            return 1 / _value(one, words, made)
    raise AssertionError(ast.dump(node))


def _compared(node: ast.Compare, words: Mapping[str, Any], made: list[Comparison] | None) -> list[Floats]:
    """The margins of a chain of comparisons."""
    nodes = (node.left, *node.comparators)
    sides = [_value(side, words, made) for side in nodes]
    margins = [_margin(*one) for one in zip(node.ops, sides, sides[1:], strict=False)]
    if made is not None:
        for number, margin in enumerate(margins):
            written = ast.Compare(nodes[number], [node.ops[number]], [nodes[number + 1]])
            made.append(Comparison(written, words, *map(np.atleast_1d, (sides[number], sides[number + 1], margin))))
    return margins


class _Told(ast.NodeTransformer):
    """Puts for each name of a loop what it stands for in this turn."""

    def __init__(self, words: Mapping[str, Any]) -> None:
        self.words = words

    def visit_Name(self, node: ast.Name) -> ast.AST:
        value = self.words.get(node.id)
        return ast.Constant(value) if node.id.islower() and isinstance(value, str | int) else node


def _turns(loops: Sequence[ast.comprehension], words: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The words in each turn of nested loops."""
    if not loops:
        yield words
        return
    first, *inner = loops
    for one in _value(first.iter, words, None):
        yield from _turns(inner, {**words, **_named(first.target, one)})


def _named(target: ast.expr, value: Any) -> dict[str, Any]:
    """The names of a loop, and what they mean in this turn."""
    if isinstance(target, ast.Name):
        return {target.id: value}
    assert isinstance(target, ast.Tuple)
    pairs = zip(target.elts, value, strict=True)
    return {name: one for part, each in pairs for name, one in _named(part, each).items()}


def _margin(op: ast.cmpop, left: Any, right: Any) -> Floats:
    """Of one comparison: above 1 just where it is so, whatever the signs; two nothings are equal."""
    if isinstance(op, _FACTS):
        return np.float64(MARGIN_MOST if np.array_equal(left, right) else 1 / MARGIN_MOST)
    smaller, larger = (left, right) if isinstance(op, _SMALLER_FIRST) else (right, left)
    small, large = (np.asarray(side, dtype=np.float64) for side in (smaller, larger))
    with np.errstate(divide="ignore", invalid="ignore"):
        times = np.where(small > 0, large / small, small / large)
    beyond = np.where(small < large, MARGIN_MOST, 1 / MARGIN_MOST)
    times = np.where((small > 0) & (large > 0) | (small < 0) & (large < 0), times, beyond)
    times = np.where(np.isnan(small + large), np.nan, np.where(small == large, 1.0, times))
    return np.clip(times, 1 / MARGIN_MOST, MARGIN_MOST)


def _bad(text: str, why: str) -> VaivenError:
    return VaivenError(f"{text!r} is no inequality: {why}", "such as t('tcp', 8, h) < 0.001", code="bad-claim")
