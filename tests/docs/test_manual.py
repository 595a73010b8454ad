# SPDX-License-Identifier: BSD-3-Clause
"""The manual builds without a warning, its links lead somewhere, and its reference comes from the code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


def dead_links(page: Path) -> list[str]:
    """Relative links and pictures of a page that lead to no file."""
    return [target for target in _LINK.findall(page.read_text()) if not (page.parent / target).exists()]


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The manual as HTML."""
    place = tmp_path_factory.mktemp("manual")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", place / "trees", ROOT / "docs"]
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([*command, place / "html"], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return place / "html"


def test_plans_are_documented_from_their_schema(manual: Path) -> None:
    text = (manual / "reference/plans.html").read_text()
    assert "launches_max" in text and "half_width" in text and "powers:2^5..2^19*8" in text


def test_labs_are_documented_from_their_schema(manual: Path) -> None:
    text = (manual / "reference/lab-files.html").read_text()
    assert "rate_mbps" in text and "burst_frames" in text and "free | paced | timed" in text


def test_commands_and_records_are_documented_from_the_programs(manual: Path) -> None:
    assert "--dry-run" in (manual / "reference/commands.html").read_text()
    probe = (manual / "reference/probe.html").read_text()
    assert "--key-stdin" in probe and "rtt_ns" in probe and "Seam 2" not in probe


def test_links_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    assert {page.name: dead for page in pages if (dead := dead_links(page))} == {}


def test_a_dead_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("[a](there.md) [b](page.md#x) [c](https://example.org/x) ![d](gone.svg)")
    assert dead_links(page) == ["there.md", "gone.svg"]


def test_the_readme_fits_one_screen() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 60
