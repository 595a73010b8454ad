# SPDX-License-Identifier: BSD-3-Clause
"""embed.py OBJECT HEADER: writes a file as a C array, so that it travels inside a program."""

import sys
from pathlib import Path

source, header = map(Path, sys.argv[1:])
numbers = ",".join(map(str, source.read_bytes()))
header.write_text(f"static const unsigned char vv_fabric_object[] = {{{numbers}}};\n")
