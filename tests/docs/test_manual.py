# SPDX-License-Identifier: BSD-3-Clause
"""The manual builds without a warning, its links lead somewhere, and its reference comes from the code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from vaiven import __version__
from vaiven.papers import claims

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


def test_every_code_is_in_the_list_of_errors(manual: Path) -> None:
    text = (manual / "reference/errors.html").read_text()
    source = (ROOT / "src/io/os/code.c").read_text()
    names = re.findall(r'^    \{"([\w-]+)",', source, re.MULTILINE)
    assert len(names) == source.count(", VV_CODE_") > 70
    assert [name for name in names if f">{name}<" not in text] == []


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


def test_every_result_that_is_judged_is_listed_under_its_paper(manual: Path) -> None:
    parts = {letter: (manual / "papers" / f"{letter.lower()}.html").read_text() for letter in "ABCDE"}
    listed = {(letter, claim) for letter, part in parts.items() for claim in re.findall(r">([A-E]\d\d)<", part)}
    assert listed == {(one.id[0], one.id) for one in claims.published() if one.check}


def test_every_lab_and_plan_of_a_paper_is_named() -> None:
    page = "".join(path.read_text() for path in (ROOT / "docs/papers").glob("*.md"))
    texts = [*(ROOT / "labs").glob("*.toml"), *(ROOT / "plans").rglob("*.toml")]
    of_papers = {path.stem for path in texts if re.search(r"^# Paper [A-E]\b", path.read_text(), re.MULTILINE)}
    assert len(of_papers) > 8
    assert {name for name in of_papers if name not in page and name.removeprefix("a-broadcast") not in page} == set()


def test_a_page_says_whose_it_is_and_of_which_version(manual: Path) -> None:
    page = (manual / "index.html").read_text()
    footer = page[page.index("<footer>") :]
    assert f"the vaiven maintainers (BSD-3-Clause). This is the manual of vaiven {__version__}" in footer
    assert f"<title>vaiven {__version__}</title>" in page


def test_the_manual_takes_no_package_of_the_tests(tmp_path: Path) -> None:
    command = ["make", "--dry-run", f"VENV={tmp_path}/none", "docs"]
    alone = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=alone)
    assert said.returncode == 0, said.stderr
    groups = {word for line in re.findall(r"tools/install (.*)", said.stdout) for word in line.split()}
    extras = {word for line in re.findall(r"'\.\[(.*?)\]'", said.stdout) for word in line.split(",")}
    assert (groups, extras) == ({"build", "fabric", "lab", "stacks", "apps"}, {"docs"})


def test_links_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    assert {page.name: dead for page in pages if (dead := dead_links(page))} == {}


def test_a_dead_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("[a](there.md) [b](page.md#x) [c](https://example.org/x) ![d](gone.svg)")
    assert dead_links(page) == ["there.md", "gone.svg"]


def test_the_readme_fits_one_screen() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 60
