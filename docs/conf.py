# SPDX-License-Identifier: BSD-3-Clause
"""The manual: Sphinx, MyST, furo. `make docs` builds it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "vaiven"
author = "the authors of vaiven"
extensions = ["myst_parser", "cyclopts.sphinx_ext", "vaiven_reference"]
exclude_patterns = ["_ext"]
html_theme = "furo"
html_title = "vaiven"
html_copy_source = False
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]  # pages that include a part of ARCHITECTURE.md begin below its first heading
