#!/usr/bin/python3 -I
# SPDX-License-Identifier: BSD-3-Clause
"""The command `vaiven` of the Debian package, whose libraries nobody else sees."""

import sys

sys.path.insert(0, "/usr/lib/vaiven")

from vaiven.__main__ import main

main()
