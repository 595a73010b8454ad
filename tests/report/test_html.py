# SPDX-License-Identifier: BSD-3-Clause
"""What stands in a document cannot leave its place: data in a script, a number at the end of a line."""

from __future__ import annotations

import json
import re

import pytest

from vaiven.report.html import script_json, tied


def test_a_number_is_not_parted_from_its_unit() -> None:
    assert tied("14 % of 11.4 µs, 8 B at 11.6 MB/s in 8 launches") == (
        "14\u00a0% of 11.4\u00a0µs, 8\u00a0B at 11.6\u00a0MB/s in 8 launches"
    )


@pytest.mark.parametrize("bad", ["</script>", "<!--", "&amp;", "\u2028", "]]>"])
def test_json_in_a_script_cannot_end_it(bad: str) -> None:
    text = script_json({"a": bad})
    assert not re.search("[<>&\u2028\u2029]", text)
    assert json.loads(text) == {"a": bad}


def test_json_refuses_what_is_not_a_number() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        script_json(float("nan"))
