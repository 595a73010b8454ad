# SPDX-License-Identifier: BSD-3-Clause
"""What the exit status of every verb says to whoever runs it."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """`vaiven run`, `vaiven lab run` and `vaiven lab shell` end with the status of their program instead.

    Interrupted: 130; nobody reads the output any more: 141, as the shell counts signals.
    """

    OK = 0  # what was asked for is there
    WORLD = 1  # it could not be done; two lines on standard error say why, and what to do
    USAGE = 2  # the command line is wrong
    NO = 3  # the answer is no: slower, impossible
    CANNOT_TELL = 4  # there is no answer to all that was asked: not measured, or not known well enough
    FAULT = 70  # a mistake of vaiven's own, whose details are in a file (EX_SOFTWARE of sysexits.h)
