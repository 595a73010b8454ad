# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven completion`: the script by which a shell completes verbs, options and names."""

from __future__ import annotations

from typing import Literal


def completion(shell: Literal["bash", "zsh", "fish"], /) -> None:
    """Print the script by which a shell completes the words of vaiven.

    In ~/.bashrc: eval "$(vaiven completion bash)". For zsh write it to a file `_vaiven` of $fpath, for fish to
    ~/.config/fish/completions/vaiven.fish.

    Parameters
    ----------
    shell
        Which one.
    """
    from vaiven.cli import parser

    print(parser.app.generate_completion(shell=shell))
