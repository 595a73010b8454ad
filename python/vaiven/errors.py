# SPDX-License-Identifier: BSD-3-Clause
"""The one exception that a user may see: what is wrong, where, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class VaivenError(Exception):
    """An error of the world, not of the program: printed as one or two lines, never as a traceback.

    what: one sentence, names the thing that is wrong. remedy: what would be right, may be empty.
    code: a word for programs ("lab-exists"). where: "plan.toml:12" or "lidi/lidi3", may be empty.
    """

    what: str
    remedy: str = ""
    code: str = "error"
    where: str = ""

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        return f"{text}\n  {self.remedy}" if self.remedy else text
