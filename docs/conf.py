# SPDX-License-Identifier: BSD-3-Clause
"""The manual: Sphinx, MyST, furo. `make docs` builds it."""

import sys
from pathlib import Path

from vaiven import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "vaiven"
author = "the vaiven maintainers"
version = release = __version__
project_copyright = f"2026, {author} (BSD-3-Clause). This is the manual of vaiven {release}"
extensions = ["myst_parser", "cyclopts.sphinx_ext", "vaiven_reference"]
exclude_patterns = ["_ext"]
html_theme = "furo"
html_title = f"vaiven {release}"
html_copy_source = False
man_pages = [
    ("reference/commands", "vaiven", "what a message costs on an Ethernet cluster", author, 1),
    ("reference/probe", "vaiven-probe", "what a message costs between two hosts", author, 1),
    ("reference/simulator", "vaiven-sim", "the protocols of vaiven on a simulated LAN", author, 1),
]
smartquotes = False  # commands are pasted: -- stays --
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]  # pages that include a part of ARCHITECTURE.md begin below its first heading
