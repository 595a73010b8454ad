# SPDX-License-Identifier: BSD-3-Clause
"""A shell completes the words of vaiven by the script that it prints."""

from __future__ import annotations

import subprocess

import pytest

from vaiven.cli import parser

# $1: the script. Then the line so far, word by word; prints what bash would offer for the last of them.
_TRY = """
source "$1" || exit
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
function=$(complete -p vaiven | sed 's/.*-F \\([^ ]*\\).*/\\1/')
"$function" vaiven "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        (["vaiven", "mea"], {"measure"}),
        (["vaiven", "lab", ""], {"up", "down", "list", "check", "run", "shell"}),
        (["vaiven", "model", "--js"], {"--json"}),
        (["vaiven", "completion", ""], {"bash", "zsh", "fish"}),
    ],
    ids=["a verb", "a verb of a verb", "an option", "a choice"],
)
def test_bash_completes(tmp_path, line: list[str], offered: set[str]) -> None:
    script = tmp_path / "vaiven.bash"
    script.write_text(parser.app.generate_completion(shell="bash"))
    done = subprocess.run(["bash", "-c", _TRY, "bash", script, *line], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert offered <= set(done.stdout.split())


@pytest.mark.parametrize(
    ("shell", "begin"),
    [("bash", "# Bash completion for vaiven"), ("zsh", "#compdef vaiven"), ("fish", "# Fish completion for vaiven")],
)
def test_other_shells_have_one_too(vaiven, shell: str, begin: str) -> None:
    done = vaiven("completion", shell)
    assert done.returncode == 0 and done.stdout.startswith(begin) and "reproduce" in done.stdout


def test_a_shell_that_has_none_is_named(vaiven) -> None:
    done = vaiven("completion", "tcsh")
    assert done.returncode == 2 and "bash" in done.stderr
