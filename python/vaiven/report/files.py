# SPDX-License-Identifier: BSD-3-Clause
"""The page of a run, and its pictures, as files."""

from __future__ import annotations

from pathlib import Path

from vaiven import outputs
from vaiven.report import page
from vaiven.results.findings import Findings

_PAGE = b'<meta name="generator" content="vaiven'  # what a page of ours has near its beginning


def write_page(found: Findings, output: Path, svg: Path | None = None) -> Path:
    """Writes the page, and the SVG files into the directory `svg` if there is one. Returns `output`.

    Raises VaivenError ("cannot-write").
    """
    if svg is not None:
        for name, text in page.pictures(found).items():
            outputs.write(svg / name, text, outputs.SVG)
    return outputs.write(output, page.page(found), _PAGE)
