# SPDX-License-Identifier: BSD-3-Clause
"""What is made of the public headers, which are the manual: the library's names, and a man page for each of them.

    manual.py names HEADER...                       the functions, one a line
    manual.py exports NODE HEADER...                a version script for the linker: those, and nothing else
    manual.py pages HEADER...                       the files that the next one makes, one a line
    manual.py write DIRECTORY VERSION HEADER...     the man pages, section 3

Each header has a page, vaiven_group(3), and each function another; the name of a type leads to its header's. What the
comment right before a declaration says is about that declaration. A function without one is an error.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

_NAME = re.compile(r"#define (\w+)|(?:struct|enum) (\w+)(?= \{|;)|(\w+)\(")


@dataclass(frozen=True)
class Declaration:
    """comment: its text, empty where there is none. code: as it stands in the header."""

    name: str
    comment: str
    code: str
    is_function: bool


@dataclass(frozen=True)
class Header:
    """about: its first comment."""

    name: str
    about: str
    declarations: tuple[Declaration, ...]

    @property
    def functions(self) -> list[Declaration]:
        return [one for one in self.declarations if one.is_function]

    @property
    def types(self) -> list[Declaration]:
        return [one for one in self.declarations if not one.is_function]


def read(path: Path) -> Header:
    """ValueError where a function is not explained."""
    _, first, rest = path.read_text().split("*/\n", 2)
    found = tuple(declarations(re.sub(r"#ifdef __cplusplus\n.*?#endif\n", "", rest, flags=re.DOTALL)))
    unexplained = [one.name for one in found if one.is_function and not one.comment]
    if unexplained:
        raise ValueError(f"{path.name} does not explain {', '.join(unexplained)}")
    return Header(path.stem, plain(first), found)


def declarations(text: str) -> list[Declaration]:
    """Of a header's text without its first comment, formatted as ours are: each begins in the first column."""
    found, comment, lines = [], "", text.splitlines()
    while lines:
        line = lines.pop(0)
        if line.startswith("/*"):
            comment = line
            while "*/" not in line:
                line = lines.pop(0)
                comment += "\n" + line
            continue
        name = next(filter(None, named.groups()), "") if (named := _NAME.search(line)) else ""
        if name and not line.endswith("_H"):
            code = line
            while not _is_whole(code):
                code += "\n" + lines.pop(0)
            is_function = bool(re.search(rf"^[^#{{]*\b{name}\(", code))
            found.append(Declaration(name, plain(comment), code, is_function))
        comment = ""
    return found


def _is_whole(code: str) -> bool:
    bare = re.sub(r"/\*.*?\*/", "", code, flags=re.DOTALL).rstrip()
    if bare.startswith("#"):
        return not bare.endswith("\\")
    return bare.endswith("};" if "{" in bare else ";") and "/*" not in bare


def plain(comment: str) -> str:
    """A comment without what makes it one."""
    inside = comment.strip().removeprefix("/*").removesuffix("*/")
    return "\n".join(re.sub(r"^ \*(?: |$)", "", line) for line in inside.splitlines()).strip()


def sentence(text: str) -> str:
    """The first one, or what of it stands before a colon."""
    return re.split(r"[.;:](?:\s|$)", " ".join(text.split()), maxsplit=1)[0]


def prose(text: str) -> str:
    """Paragraphs of a comment in the language of man pages; lines that are indented stay as they are."""
    written = []
    for paragraph in re.split(r"\n\s*\n", text):
        is_code = all(line.startswith("  ") for line in paragraph.splitlines())
        written.append(verbatim(paragraph) if is_code else ".PP\n" + _escaped(paragraph))
    return "\n".join(written)


def verbatim(code: str) -> str:
    """Text that is not filled."""
    return f".PP\n.nf\n.ft CW\n{_escaped(code)}\n.ft\n.fi"


def _escaped(text: str) -> str:
    marks = {"\\": "\\e", "-": "\\-", "^": "\\(ha", "~": "\\(ti", "`": "\\(ga"}
    safe = "".join(marks.get(letter, letter) for letter in text)
    return re.sub(r"^(?=[.'])", r"\\&", safe, flags=re.MULTILINE)


def pages(header: Header, version: str) -> dict[str, str]:
    """File name -> man page."""
    main = f"vaiven_{header.name}"
    others = "".join(f"\n.BR {one.name} (3)," for one in header.functions).rstrip(",")
    include = verbatim(f"#include <vaiven/{header.name}.h>")
    prototypes = "\n".join(verbatim(one.code) for one in header.functions)
    types = "\n".join(filter(None, (part for one in header.types for part in (
        prose(one.comment) if one.comment else "", verbatim(one.code)))))  # fmt: skip
    about = re.sub(r"^\w+: ", "", header.about)
    found = {f"{main}.3": _page(main, sentence(about), version, {
        "SYNOPSIS": f"{include}\n{prototypes}", "DESCRIPTION": prose(header.about), "TYPES": types,
        "SEE ALSO": others.lstrip("\n")})}  # fmt: skip
    for one in header.functions:
        found[f"{one.name}.3"] = _page(one.name, sentence(one.comment), version, {
            "SYNOPSIS": f"{include}\n{verbatim(one.code)}\n.PP\nLink with what\n.B pkg-config \\-\\-libs vaiven\nsays.",
            "DESCRIPTION": prose(one.comment), "SEE ALSO": f".BR {main} (3)"})  # fmt: skip
    aliases = [one.name for one in header.types if one.name.islower()]
    return found | {f"{name}.3": f".so man3/{main}.3\n" for name in aliases}


def _page(name: str, what: str, version: str, sections: dict[str, str]) -> str:
    head = f'.TH {name} 3 "" "vaiven {version}" "libvaiven"\n.SH NAME\n{name} \\- {_escaped(what)}\n'
    return head + "".join(f".SH {title}\n{text}\n" for title, text in sections.items())


def main(verb: str, *words: str) -> None:
    """Does what the module's docstring says of that verb."""
    taken = {"names": 0, "exports": 1, "pages": 0, "write": 2}[verb]
    options, headers = words[:taken], [read(Path(path)) for path in words[taken:]]
    names = [one.name for header in headers for one in header.functions]
    if verb == "names":
        print(*names, sep="\n")
    elif verb == "exports":
        print(f"{options[0]} {{ global: {' '.join(f'{name};' for name in names)} local: *; }};")
    elif verb == "pages":
        print(*(name for header in headers for name in pages(header, "")), sep="\n")
    else:
        for header in headers:
            for name, text in pages(header, options[1]).items():
                (Path(options[0]) / name).write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
