# SPDX-License-Identifier: BSD-3-Clause
"""Directives that write the reference from the code itself, so that it cannot lag behind.

fields MODULE:STRUCT     the docstring of a msgspec Struct, and a table of its keys
records MODULE:CLASS     the docstring of a dataclass, a table of its keys as JSON has them, and so for all within it
columns MODULE:CLASS     the docstring of a result without what it says of fields, and a table of its columns
api MODULE:NAME          a function, or a class with what is public of it: signatures and docstrings
docstring MODULE         a module's docstring, as it stands
program NAME ARGS...     what one of our programs prints
claims LETTER            the results of a paper that `vaiven reproduce` judges
codes                    the codes of errors and warnings of the programs in C, and their kinds
"""

from __future__ import annotations

import dataclasses
import enum
import fnmatch
import importlib
import inspect
import re
import subprocess
import types
import typing
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import msgspec
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from vaiven import resources
from vaiven.papers import claims


def key_rows(struct: type) -> list[tuple[str, str, str, str]]:
    """(key, type, default, meaning) of every key of a Struct, as TOML writes them."""
    schema = msgspec.json.schema(struct)
    properties = schema["$defs"][schema["$ref"].rsplit("/", 1)[1]]["properties"]
    _, meanings = described(struct)
    rows = []
    for field in msgspec.structs.fields(struct):
        about = properties[field.encode_name]
        default = "needed" if field.required else _toml(about.get("default"))
        meaning = meanings.get(field.name) or about.get("description", "")
        rows.append((field.encode_name, _type(about), default, meaning))
    return rows


def described(struct: type) -> tuple[str, dict[str, str]]:
    """(the docstring without what it says of fields, field -> what it says).

    A docstring says something of a field in a sentence that begins "name:", or "a, b:" for two of them, "a_*:" for all
    that begin so.
    """
    names = field_names(struct)
    general: list[str] = []
    meanings: dict[str, str] = {}
    for paragraph in (inspect.getdoc(struct) or "").split("\n\n"):
        text = " ".join(paragraph.split())
        found = re.finditer(r"(?:^|(?<=[.;] ))([\w*]+(?:, [\w*]+)*): ", text)
        heads = [(head, of) for head in found if (of := _meant(head[1].split(", "), names))]
        general.append(text[: heads[0][0].start()] if heads else text)
        for (head, of), after in zip(heads, [*heads[1:], None], strict=False):
            told = text[head.end() : after[0].start() if after else None].strip(" ;")
            meanings |= dict.fromkeys(of, told)
    return "\n\n".join(part for part in general if part), meanings


def field_names(struct: type) -> list[str]:
    """The fields of a dataclass or of a Struct."""
    fields = dataclasses.fields(struct) if dataclasses.is_dataclass(struct) else msgspec.structs.fields(struct)
    return [field.name for field in fields]


def written_keys(struct: type) -> dict[str, str]:
    """field -> its key in JSON, which a Struct may call otherwise."""
    renamed = [] if dataclasses.is_dataclass(struct) else msgspec.structs.fields(struct)
    return {name: name for name in field_names(struct)} | {field.name: field.encode_name for field in renamed}


def _meant(words: list[str], names: list[str]) -> list[str]:
    """The fields that these words mean; none if one of the words means nothing."""
    found = [fnmatch.filter(names, word) for word in words]
    return [name for of in found for name in of] if all(found) else []


def records_in(kind: type) -> list[type]:
    """A dataclass, or a Struct, and all that lie within it, the outer ones first."""
    found = [kind]
    for one in found:
        hints = typing.get_type_hints(one)
        inner = [part for name in field_names(one) for part in _records_of(hints[name])]
        found += [part for part in dict.fromkeys(inner) if part not in found]
    return found


def _records_of(hint: object) -> Iterator[type]:
    if isinstance(hint, type) and (dataclasses.is_dataclass(hint) or issubclass(hint, msgspec.Struct)):
        yield hint
    for part in typing.get_args(hint):
        yield from _records_of(part)


def json_type(hint: object) -> str:
    """What JSON has for a type: "list of number", "string or null", "object (SizePoint)"."""
    origin, parts = typing.get_origin(hint), [one for one in typing.get_args(hint) if one is not Ellipsis]
    if origin is typing.Annotated:
        return json_type(parts[0])
    if origin in (typing.Union, types.UnionType):
        return " or ".join(json_type(part) for part in parts)
    if origin is typing.Literal:
        return ", ".join(map(str, parts))
    if origin is tuple and len(set(parts)) > 1:
        return f"list ({', '.join(map(json_type, parts))})"
    if origin in (tuple, list, set, frozenset):
        return f"list of {json_type(parts[0])}"
    if not isinstance(hint, type) or origin is dict or hint is dict:
        return "list of number" if "ndarray" in str(hint) else "object"
    if issubclass(hint, enum.Enum):
        return ", ".join(str(one.value) for one in hint)
    plain = {bool: "true or false", int: "integer", float: "number", str: "string", type(None): "null"}
    return plain.get(hint) or f"object ({hint.__name__})"


def _type(about: dict) -> str:
    """A JSON Schema of one key in words: "integer >= 1", "timed | paced"."""
    if "anyOf" in about:
        return " or ".join(_type(one) for one in about["anyOf"] if one.get("type") != "null")
    if "$ref" in about:
        return "table"
    if "enum" in about:
        return " | ".join(str(value) for value in about["enum"])
    if about.get("type") == "array":
        return f"list of {_type(about['items'])}" if isinstance(about.get("items"), dict) else "list"
    limits = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}
    told = [f"{sign} {about[name]}" for name, sign in limits.items() if name in about]
    return " ".join([about.get("type", "value"), *told])


def _toml(value: object) -> str:
    if value is None or isinstance(value, dict):  # a table has a section of its own
        return ""
    return msgspec.json.encode(value).decode().replace('","', '", "')


def _paragraph(text: str) -> nodes.paragraph:
    """Text in which words between backticks are code."""
    words = enumerate(" ".join(text.split()).split("`"))
    return nodes.paragraph("", "", *(nodes.literal(text=word) if n % 2 else nodes.Text(word) for n, word in words))


def _table(rows: list[tuple[str, ...]], heads: tuple[str, ...]) -> nodes.table:
    table, group = nodes.table(), nodes.tgroup(cols=len(heads))
    group += [nodes.colspec(colwidth=1) for _ in heads]
    for part, lines in ((nodes.thead(), [heads]), (nodes.tbody(), rows)):
        for line in lines:
            row = nodes.row()
            for column, text in enumerate(line):
                is_code = column in ((0, 2) if len(heads) == 4 else (0,)) and line is not heads and text
                row += nodes.entry("", _paragraph(f"`{text}`" if is_code else text))
            part += row
        group += part
    table += group
    return table


class Fields(Directive):
    """{fields} MODULE:STRUCT"""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        module, name = self.arguments[0].split(":")
        struct = getattr(importlib.import_module(module), name)
        paragraphs = [_paragraph(part) for part in described(struct)[0].split("\n\n")]
        return [*paragraphs, _table(key_rows(struct), ("key", "type", "default", "meaning"))]


class Records(Directive):
    """{records} MODULE:CLASS"""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        module, name = self.arguments[0].split(":")
        written: list[nodes.Node] = []
        for one in records_in(getattr(importlib.import_module(module), name)):
            general, meanings = described(one)
            hints = typing.get_type_hints(one)
            said = {name: re.sub(r"\b(?:None|NaN)\b", "null", meaning) for name, meaning in meanings.items()}
            keys = written_keys(one).items()
            rows = [(key, json_type(hints[name]), said.get(name, "")) for name, key in keys]
            heading = nodes.paragraph("", "", nodes.strong(text=one.__name__))
            written += [heading, *map(_paragraph, filter(None, general.split("\n\n")))]
            written.append(_table(rows, ("key", "type", "meaning")))
        return written


class Columns(Directive):
    """{columns} MODULE:CLASS"""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        module, name = self.arguments[0].split(":")
        result = getattr(importlib.import_module(module), name)
        rows = [(one.name, one.kind, one.meaning) for one in result.columns]
        general = described(result)[0].split("\n\n")[0]
        return [_paragraph(general), _table(rows, ("column", "type", "meaning"))]


def members(kind: type) -> list[tuple[str, object]]:
    """(name, what it is) of what is public of a class, and its docstring says nothing of: methods and properties."""
    fields = field_names(kind) if dataclasses.is_dataclass(kind) else []
    found = inspect.getmembers(
        kind, lambda one: inspect.isfunction(one) or isinstance(one, (property, cached_property))
    )
    return [(name, one) for name, one in found if not name.startswith("_") and name not in fields]


def signature(name: str, one: object) -> str:
    """How it is called: "open(name='last', *, runs=None)"; of a property its name."""
    if not callable(one):
        return name
    found = inspect.signature(one)
    plain = [
        each.replace(annotation=inspect.Parameter.empty) for key, each in found.parameters.items() if key != "self"
    ]
    return name + str(found.replace(parameters=plain, return_annotation=inspect.Signature.empty))


class Api(Directive):
    """{api} MODULE:NAME"""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        module, name = self.arguments[0].split(":")
        one = getattr(importlib.import_module(module), name)
        if not isinstance(one, type):
            return [self._entry(signature(name, one), one)]
        fields = field_names(one) if dataclasses.is_dataclass(one) else []
        entry = self._entry(f"{name}({', '.join(fields)})" if fields else name, one)
        entry[0][1] += [self._entry(signature(key, each), each) for key, each in members(one)]
        return [entry]

    def _entry(self, head: str, one: object) -> nodes.definition_list:
        """A name and what its docstring says."""
        text = inspect.getdoc(getattr(one, "func", one)) or ""
        term = nodes.term("", "", nodes.literal(text=head))
        told = nodes.definition("", *map(_paragraph, filter(None, text.split("\n\n"))))
        return nodes.definition_list("", nodes.definition_list_item("", term, told))


class Docstring(Directive):
    """{docstring} MODULE"""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        text = inspect.getdoc(importlib.import_module(self.arguments[0])) or ""
        return [nodes.literal_block(text, text, language="text")]


class Program(Directive):
    """{program} NAME ARGS..."""

    required_arguments = 1
    optional_arguments = 8

    def run(self) -> list[nodes.Node]:
        command = [str(resources.program(self.arguments[0])), *self.arguments[1:]]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return [nodes.literal_block(text, text, language="text")]


class Claims(Directive):
    """{claims} LETTER"""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        of_paper = [one for one in claims.published() if one.paper == self.arguments[0]]
        rows = [(one.id, one.says) for one in of_paper if one.check]
        if not rows:
            return [_paragraph("None of its results is judged by `vaiven reproduce` yet.")]
        told = f"`vaiven reproduce` judges {len(rows)} of its results, each on a run that has what it speaks of:"
        return [_paragraph(told), _table(rows, ("claim", "what it says"))]


_ROOMS_OF_CODES = Path(__file__).resolve().parents[2] / "src/io/os"


def codes() -> dict[str, tuple[str, list[tuple[str, str]]]]:
    """kind -> (what it means, the codes of that kind with their meanings), as src/io/os/code.[ch] list them."""
    kinds = re.findall(r"^  VV_CODE_(\w+), +/\* (.*?) \*/$", (_ROOMS_OF_CODES / "code.h").read_text(), re.MULTILINE)
    rows = re.findall(
        r'^    \{"([\w-]+)", VV_CODE_(\w+), "(.*)"\},$', (_ROOMS_OF_CODES / "code.c").read_text(), re.MULTILINE
    )
    return {kind.lower(): (means, [(name, says) for name, of, says in rows if of == kind])
            for kind, means in kinds if kind != "NONE"}  # fmt: skip


class Codes(Directive):
    """{codes}"""

    def run(self) -> list[nodes.Node]:
        written: list[nodes.Node] = []
        for kind, (means, rows) in codes().items():
            written.append(nodes.paragraph("", "", nodes.strong(text=kind), nodes.Text(f": {means}.")))
            written.append(_table(rows, ("code", "what it says")))
        return written


def setup(app: Sphinx) -> dict[str, bool]:
    """Registers the directives."""
    for name, directive in (
        ("fields", Fields),
        ("records", Records),
        ("columns", Columns),
        ("api", Api),
        ("docstring", Docstring),
        ("program", Program),
        ("claims", Claims),
        ("codes", Codes),
    ):
        app.add_directive(name, directive)
    return {"parallel_read_safe": True}
