# SPDX-License-Identifier: BSD-3-Clause
"""Every table, key and array element of a TOML text is found on its line, whatever stands around it."""

from __future__ import annotations

from vaiven.tomllines import lines

TEXT = '''\
# a comment = 1
title = "a = [1] # no"   # list = [
text = """
fake = 1
[fake]
"""
raw = \'\'\'
x = "
\'\'\'
empty = []
list = [ 1, # one
  "two, [2]",

  [3, 4],  { a = 5, "b" = [
    6 ] }
]
"quoted key" = 1
a.b.c = 2
[table.sub]
key = 1
[[many]]
n = 1
[[many]]
n = 2
'''


def test_places_have_their_lines() -> None:
    found = lines(TEXT)
    wanted = {
        ("title",): 2, ("text",): 3, ("raw",): 7, ("empty",): 10, ("list",): 11, ("list", 0): 11, ("list", 1): 12,
        ("list", 2): 14, ("list", 2, 1): 14, ("list", 3): 14, ("list", 3, "a"): 14, ("list", 3, "b"): 14,
        ("list", 3, "b", 0): 15, ("quoted key",): 17, ("a", "b", "c"): 18, ("table", "sub"): 19,
        ("table", "sub", "key"): 20, ("many",): 21, ("many", 0): 21, ("many", 0, "n"): 22, ("many", 1): 23,
        ("many", 1, "n"): 24,
    }  # fmt: skip
    assert {place: found.get(place) for place in wanted} == wanted
    assert not any("fake" in place for place in found)


def test_line_ends_of_another_system() -> None:
    assert lines("a = 1\r\nb = [\r\n 2,\r\n 3]\r\n") == {("a",): 1, ("b",): 2, ("b", 0): 3, ("b", 1): 4}


def test_nothing_has_no_places() -> None:
    assert lines("") == {}
    assert lines("# only a comment") == {}
