# SPDX-License-Identifier: BSD-3-Clause
"""The page of a run, or of several, and its pictures, as files."""

from __future__ import annotations

from pathlib import Path

from vaiven import outputs
from vaiven.report import overlay, page
from vaiven.results.findings import Findings
from vaiven.results.overlay import Overlay

_PAGE = b'<meta name="generator" content="vaiven'  # what a page of ours has near its beginning


def write_page(found: Findings, output: Path, svg: Path | None = None) -> Path:
    """Writes the page, and the SVG files into the directory `svg` if there is one. Returns `output`.

    Raises VaivenError ("cannot-write").
    """
    return _write(page.page(found), page.pictures(found) if svg else {}, output, svg)


def write_overlay(found: Overlay, output: Path, svg: Path | None = None) -> Path:
    """The same of several runs."""
    return _write(overlay.overlay_page(found), overlay.overlay_pictures(found) if svg else {}, output, svg)


def write_page_text(text: str, output: Path) -> Path:
    """Writes a page that has no pictures of its own. Raises VaivenError ("cannot-write")."""
    return _write(text, {}, output, None)


def _write(text: str, pictures: dict[str, str], output: Path, svg: Path | None) -> Path:
    for name, drawn in pictures.items():
        assert svg is not None, "who wants no pictures gives none"
        outputs.write(svg / name, drawn, outputs.SVG)
    return outputs.write(output, text, _PAGE)
