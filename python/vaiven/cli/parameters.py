# SPDX-License-Identifier: BSD-3-Clause
"""Parameters that several verbs have in common: what they are called, and the numbers that they can be."""

from __future__ import annotations

from cyclopts import Parameter
from cyclopts.validators import Number

JSON = Parameter(name="--json", negative="")
NATURAL = Parameter(validator=Number(gte=0, lte=100_000))
SHORT = Parameter(validator=Number(gte=0, lte=3600))  # seconds
