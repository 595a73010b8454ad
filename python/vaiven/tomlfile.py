# SPDX-License-Identifier: BSD-3-Clause
"""TOML files with a schema: a mistake is reported with its file, its line, and what would be right.

The schema is a msgspec Struct; msgspec says where in the value the mistake is ("$.hosts[2].memory_mb"), and
this module finds that place in the text, which TOML parsers forget. Nothing in a file is ever executed.
"""

from __future__ import annotations

import difflib
import re
import tomllib
import types
import typing
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from vaiven.errors import VaivenError
from vaiven.tomllines import Place, lines

T = TypeVar("T")
_STEP = re.compile(r"\.([A-Za-z0-9_-]+)|\[(\d+)\]|\[\.\.\.\]")


class Document(typing.Generic[T]):
    """A TOML text and its value, checked against a schema. `where` says "file:line" of any place in it."""

    def __init__(self, text: str, name: str, schema: type[T]) -> None:
        """name: how messages call the text, usually a path. Raises VaivenError ("bad-toml", "bad-value")."""
        self.name = name
        self.text = text
        try:
            tree = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise self._syntax_error(str(error)) from None
        self._lines = lines(text)
        try:
            self.value: T = msgspec.convert(tree, schema)
        except msgspec.ValidationError as error:
            what, remedy, place = explained(str(error), schema, tree)
            raise self.error(what, remedy, *place) from None

    def where(self, *place: str | int) -> str:
        """ "file:line" of that place, or of the nearest thing around it that has a line of its own."""
        for length in range(len(place), 0, -1):
            line = self._lines.get(place[:length])
            if line:
                return f"{self.name}:{line}"
        return self.name

    def error(self, what: str, remedy: str, *place: str | int) -> VaivenError:
        """An error about that place, for checks that a schema cannot express."""
        return VaivenError(what, remedy, code="bad-value", where=self.where(*place))

    def _syntax_error(self, message: str) -> VaivenError:
        found = re.search(r"\(at line (\d+), column (\d+)\)", message)
        what = message.partition(" (at ")[0]
        line = found.group(1) if found else max(1, len(self.text.splitlines()))  # else: at the end of the document
        remedy = "see https://toml.io for the format"
        return VaivenError(f"not TOML: {what}", remedy, code="bad-toml", where=f"{self.name}:{line}")


def explained(message: str, schema: Any, tree: Any) -> tuple[str, str, Place]:
    """What msgspec says of a tree that is not of that schema, in our words: what is wrong, what is right, where."""
    what, _, path = message.partition(" - at `")
    place: Place = tuple(
        key or int(index) for key, index in _STEP.findall(path.rstrip("`").removeprefix("$")) if key or index
    )
    field = re.search(r"(unknown|required) field `([^`]*)`", what)
    if field:
        kind, key = field.groups()
        of = ".".join(str(step) for step in place if isinstance(step, str)) or "the file"
        what = f"{of} has no key {key!r}" if kind == "unknown" else f"{of} needs the key {key!r}"
        keys = _keys(_schema_at(schema, place))
        near = difflib.get_close_matches(key, keys, 1) if kind == "unknown" else []
        remedy = f"did you mean {near[0]!r}?" if near else _remedy(_schema_at(schema, (*place, key)))
        if kind == "unknown" and not near:
            remedy = f"its keys are {', '.join(keys)}"
        return what, remedy, (*place, *([key] if kind == "unknown" else []))
    key = next((step for step in reversed(place) if isinstance(step, str)), "the file")
    what = f"{key} = {_excerpt(_value_at(tree, place))} is not possible"
    return what, _remedy(_schema_at(schema, place)), place


def load(path: Path, schema: type[T]) -> Document[T]:
    """The document in that file. Raises VaivenError ("no-file", "bad-toml", "bad-value")."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise VaivenError(f"cannot read {path}: {reason}", code="no-file") from None
    return Document(text, str(path), schema)


def _variants(schema: Any) -> list[Any]:
    """The alternatives of a schema without None, Annotated's constraints left aside."""
    if typing.get_origin(schema) is typing.Annotated:
        return _variants(typing.get_args(schema)[0])
    if typing.get_origin(schema) in (typing.Union, types.UnionType):
        return [v for part in typing.get_args(schema) if part is not type(None) for v in _variants(part)]
    return [schema]


def _schema_at(schema: Any, place: Place) -> Any:
    """The schema of a place below `schema`; None where there is none."""
    for step in place:
        schema = _below(schema, step)
    return schema


def _below(schema: Any, step: str | int) -> Any:
    for variant in _variants(schema):
        if isinstance(step, str) and isinstance(variant, type) and issubclass(variant, msgspec.Struct):
            hints = typing.get_type_hints(variant, include_extras=True)
            names = {field.encode_name: field.name for field in msgspec.structs.fields(variant)}
            return hints.get(names.get(step, ""))
        if typing.get_args(variant):
            return typing.get_args(variant)[-1 if typing.get_origin(variant) is dict else 0]
    return None


def _keys(schema: Any) -> list[str]:
    for variant in _variants(schema):
        if isinstance(variant, type) and issubclass(variant, msgspec.Struct):
            return [field.encode_name for field in msgspec.structs.fields(variant)]
    return []


def _value_at(tree: Any, place: Place) -> Any:
    for step in place:
        tree = tree[step]
    return tree


def _excerpt(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


_PLAIN = {int: "a whole number", float: "a number", str: "a text in quotes", bool: "true or false"}


def _remedy(schema: Any) -> str:
    """What would be right at a place with that schema, in words."""
    words = []
    for variant in _variants(schema):
        if typing.get_origin(variant) is typing.Literal:
            words += [repr(choice) for choice in typing.get_args(variant)]
        elif variant in _PLAIN:
            words.append(_PLAIN[variant])
        elif typing.get_origin(variant) in (list, tuple):
            words.append("a list")
        elif keys := _keys(variant):
            words.append(f"a table with the keys {', '.join(keys)}")
    limits = _limits(schema)
    return f"it must be {' or '.join(words)}{f', {limits}' if limits else ''}" if words else ""


def _limits(schema: Any) -> str:
    """The constraints of a schema, in words."""
    if typing.get_origin(schema) in (typing.Union, types.UnionType):
        return next((text for text in map(_limits, typing.get_args(schema)) if text), "")
    if typing.get_origin(schema) is not typing.Annotated:
        return ""
    descriptions, words = [], []
    names = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
    for meta in typing.get_args(schema)[1:]:
        descriptions += [meta.description] if meta.description else []
        words += [f"{word} {getattr(meta, name)}" for name, word in names.items() if getattr(meta, name) is not None]
    return "; ".join([*([" and ".join(words)] if words else []), *descriptions])
