# SPDX-License-Identifier: BSD-3-Clause
"""Directives that write the reference from the code itself, so that it cannot lag behind.

fields MODULE:STRUCT     the docstring of a msgspec Struct, and a table of its keys
docstring MODULE         a module's docstring, as it stands
program NAME ARGS...     what one of our programs prints
"""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess

import msgspec
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from vaiven import resources


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

    A docstring says something of a field in a sentence that begins "name:", or "a, b:" for two of them.
    """
    names = {field.name for field in msgspec.structs.fields(struct)}
    general: list[str] = []
    meanings: dict[str, str] = {}
    for paragraph in (inspect.getdoc(struct) or "").split("\n\n"):
        text = " ".join(paragraph.split())
        heads = [h for h in re.finditer(r"(?:^|(?<=[.] ))(\w+(?:, \w+)*): ", text) if set(h[1].split(", ")) <= names]
        general.append(text[: heads[0].start()] if heads else text)
        for head, after in zip(heads, [*heads[1:], None], strict=False):
            told = text[head.end() : after.start() if after else None].strip()
            meanings |= dict.fromkeys(head[1].split(", "), told)
    return "\n\n".join(part for part in general if part), meanings


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
                is_code = column in (0, 2) and line is not heads and text
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


def setup(app: Sphinx) -> dict[str, bool]:
    """Registers the directives."""
    for name, directive in (("fields", Fields), ("docstring", Docstring), ("program", Program)):
        app.add_directive(name, directive)
    return {"parallel_read_safe": True}
