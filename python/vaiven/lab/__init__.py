# SPDX-License-Identifier: BSD-3-Clause
"""Virtual LANs. Called, it raises one for the length of a block: `with vaiven.lab("demo") as lab` (vaiven.face.lab)."""
