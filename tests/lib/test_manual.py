# SPDX-License-Identifier: BSD-3-Clause
"""Names and man pages of the library are those of its headers, all of them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEADERS = sorted((ROOT / "include/vaiven").glob("*.h"))
BAD = """/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bad: what nobody
 * explains. And more.
 *
 *   vv_bad_code(-1);
 */
#define VV_BAD_MAX 1 /* of them */

/* .Why \\ it is so; or not. */
struct vv_bad_answer {
  int word;
};

%sint vv_bad_call(struct vv_bad_answer *answer,
                int more);
"""


def manual(*words: object) -> str:
    done = subprocess.run(
        [sys.executable, ROOT / "src/lib/manual.py", *map(str, words)], capture_output=True, text=True
    )
    if done.returncode:
        raise ValueError(done.stderr)
    return done.stdout


@pytest.fixture
def explained(tmp_path: Path) -> Path:
    header = tmp_path / "bad.h"
    header.write_text(BAD % "/* Asks it: -1 where nobody answers. */\n")
    return header


def called(header: Path) -> set[str]:
    """What looks like a function of ours outside comments and bodies."""
    text = re.sub(r"/\*.*?\*/|\{.*?\}", "", header.read_text(), flags=re.DOTALL)
    return set(re.findall(r"\b(vv_\w+)\(", text))


def test_the_library_has_every_function_of_its_headers() -> None:
    assert set(manual("names", *HEADERS).split()) == set().union(*map(called, HEADERS))
    assert len(manual("names", *HEADERS).split()) > 10


def test_every_public_header_is_in_the_library() -> None:
    build = (ROOT / "src/lib/meson.build").read_text()
    assert {path.name for path in HEADERS} == set(re.findall(r"include/vaiven/(\w+\.h)'", build))


def test_a_function_that_is_not_explained_is_refused(tmp_path: Path) -> None:
    header = tmp_path / "bad.h"
    header.write_text(BAD % "")
    with pytest.raises(ValueError, match=r"bad\.h does not explain vv_bad_call"):
        manual("names", header)


def test_each_function_and_type_has_a_page(explained: Path, tmp_path: Path) -> None:
    manual("write", tmp_path, "1.2", explained)
    listed = manual("pages", explained).split()
    assert sorted(listed) == sorted(path.name for path in tmp_path.glob("*.3"))
    assert set(listed) == {"vaiven_bad.3", "vv_bad_answer.3", "vv_bad_call.3"}
    assert (tmp_path / "vv_bad_answer.3").read_text() == ".so man3/vaiven_bad.3\n"
    page = (tmp_path / "vv_bad_call.3").read_text()
    assert '.TH vv_bad_call 3 "" "vaiven 1.2" "libvaiven"' in page and "#include <vaiven/bad.h>" in page
    assert "vv_bad_call \\- Asks it\n" in page and "Asks it: \\-1 where nobody answers." in page
    assert "int vv_bad_call(struct vv_bad_answer *answer,\n                int more);" in page


def test_a_header_s_page_has_its_words_and_types(explained: Path, tmp_path: Path) -> None:
    manual("write", tmp_path, "1.2", explained)
    page = (tmp_path / "vaiven_bad.3").read_text()
    assert "vaiven_bad \\- what nobody explains\n" in page
    assert ".nf\n.ft CW\n  vv_bad_code(\\-1);\n.ft\n.fi" in page  # stays as it is
    assert "\\&.Why \\e it is so; or not." in page  # a full stop in front would be a request
    assert "#define VV_BAD_MAX 1 /* of them */" in page and "struct vv_bad_answer {\n  int word;\n};" in page
    assert page.endswith(".SH SEE ALSO\n.BR vv_bad_call (3)\n")


def test_what_is_exported_is_a_version_script(explained: Path) -> None:
    assert manual("exports", "BAD_1", explained).strip() == "BAD_1 { global: vv_bad_call; local: *; };"
