# SPDX-License-Identifier: BSD-3-Clause
"""No program that ours start inherits what they have open: a connection that a child holds outlives its owner."""

from __future__ import annotations

import re
from pathlib import Path

# Calls that make a descriptor, and what in their arguments keeps it from other programs. opendir does so by itself.
_MAKERS = {
    r"socket|socketpair|accept4": r"\bSOCK_CLOEXEC\b",
    r"open|openat|pipe2|dup3": r"\bO_CLOEXEC\b",
    r"fopen|fdopen|freopen|popen": r'"[^"]*e[^"]*"',
    r"eventfd": r"\bEFD_CLOEXEC\b",
    r"memfd_create": r"\bMFD_CLOEXEC\b",
    r"signalfd": r"\bSFD_CLOEXEC\b",
    r"timerfd_create": r"\bTFD_CLOEXEC\b",
    r"epoll_create1": r"\bEPOLL_CLOEXEC\b",
    r"inotify_init1": r"\bIN_CLOEXEC\b",
    r"mkostemp": r"\bO_CLOEXEC\b",
    r"fcntl": r"\bF_(?!DUPFD\b)\w+",
    # These cannot say it: they have a sister above, or are used for what a child is meant to have.
    r"accept|pipe|creat|dup|epoll_create|inotify_init|mkstemp|tmpfile": r"(?!)",
}


def inheritable(text: str) -> list[str]:
    """The calls of a C source that make a descriptor which programs started later inherit."""
    found = []
    for names, keeps in _MAKERS.items():
        for call in re.finditer(rf"(?<![\w.>])(?:{names})\(([^;{{]*)[;{{]", text):
            if not re.search(keeps, call.group(1)):
                found.append(call.group(0))
    return found


def test_nothing_is_inherited(c_files: list[Path], root: Path) -> None:
    ours = [f for f in c_files if f.is_relative_to(root / "src")]
    assert len(ours) > 100
    assert [(str(f.relative_to(root)), call) for f in ours for call in inheritable(f.read_text())] == []


def test_what_is_inherited_is_found() -> None:
    bad = """
int a = socket(AF_INET, SOCK_STREAM, 0);
const int b = accept(listener, NULL, NULL);
if (pipe(ends) != 0) return -1;
if ((c = open(path, O_RDONLY)) < 0) {
FILE *d = fopen(path, "r");
int e = fcntl(fd, F_DUPFD, 3);
int f = accept4(listener, NULL,
                NULL, 0);
"""
    assert len(inheritable(bad)) == 7


def test_what_is_kept_and_what_makes_nothing_are_left_alone() -> None:
    good = """
int a = socket(AF_INET, type | SOCK_CLOEXEC, 0);
const int b = accept4(listener, &peer.any, &length, SOCK_CLOEXEC);
if (pipe2(ends, O_CLOEXEC) != 0) return errno;
FILE *d = fopen(path, "re");
int flags = fcntl(fd, F_GETFL);
if (session->stack->accept(end, contact, deadline, error) != 0) return -1;
dup2(ends[1], STDOUT_FILENO);
return end->config.open(path);
struct vv_end *(*open)(const struct vv_config *config);
static struct vv_end *group_open(const struct vv_config *config);
"""
    assert inheritable(good) == []
