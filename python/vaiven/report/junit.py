# SPDX-License-Identifier: BSD-3-Clause
"""Verdicts as JUnit XML, which continuous integration shows beside its tests: one case for each two sides and size."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree as xml

from vaiven import outputs
from vaiven.letters import printable
from vaiven.model.numbers import change_interval_text, size_text
from vaiven.report.verdicts import whole_summary
from vaiven.results.comparison import Comparison, Versus
from vaiven.stats.verdict import Verdict, Word

_MARK = '<testsuites name="vaiven compare"'


def write(text: str, output: Path) -> Path:
    """Writes what `document` gave. Raises VaivenError ("cannot-write")."""
    return outputs.write(output, text, _MARK.encode())


def document(found: Comparison, slower: Mapping[Versus, tuple[int, ...]], cannot_tell: str) -> str:
    """A case fails where what is judged is slower, and is skipped where it is inconclusive.

    slower: what is slower, and at which sizes. cannot_tell: why nothing could be called slower, or "": then one case
    more, which has an error.
    """
    root = xml.Element("testsuites", name="vaiven compare")
    suite = xml.SubElement(root, "testsuite", name=", ".join(map(printable, found.runs)))
    for one in found:
        for size, verdict in zip(one.compared.sizes_bytes, one.compared.verdicts, strict=True):
            _case(suite, one, int(size), verdict, int(size) in slower.get(one, ()))
    if found.slower_as_a_whole:
        xml.SubElement(_named(suite, "the run", "as a whole"), "failure", message=printable(next(whole_summary(found))))
    if cannot_tell:
        xml.SubElement(_named(suite, "the comparison", "can tell"), "error", message=printable(cannot_tell))
    counts = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    suite.attrib |= {"tests": str(len(suite))} | {
        key: str(len(suite.findall(f"*/{tag}"))) for key, tag in counts.items()
    }
    xml.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{xml.tostring(root, encoding="unicode")}\n'


def _case(suite: xml.Element, one: Versus, size: int, verdict: Verdict, failed: bool) -> None:
    case = _named(suite, f"{one.near} → {one.far}", f"{one.first} against {one.second}, {size_text(size)}")
    text = f"{verdict.word.value}: {change_interval_text(verdict.evidence.ratio)}"
    if failed:
        xml.SubElement(case, "failure", message=printable(text))
    elif verdict.word is Word.INCONCLUSIVE:
        xml.SubElement(case, "skipped", message=printable(text))
    else:
        xml.SubElement(case, "system-out").text = printable(text)


def _named(suite: xml.Element, where: str, what: str) -> xml.Element:
    return xml.SubElement(suite, "testcase", classname=printable(where), name=printable(what))
