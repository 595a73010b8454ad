# SPDX-License-Identifier: BSD-3-Clause
"""Which fabrics this machine's kernel carries: before Linux 6.12 an IFB drops every frame that a program sends there.

Such a fabric would come up like any other and lose everything. Kernels are told by their release alone, for one that
tries would have to load a program; a distribution may have mended an older one, and that is then refused as well.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from vaiven.errors import VaivenError

if TYPE_CHECKING:
    from vaiven.lab.topology import Fabric

RELEASE_MIN = (6, 12)


def is_old(release: str) -> bool:
    """Whether Linux of that release, such as "6.12.3-amd64", is; one that says no number is not."""
    found = re.match(r"(\d+)\.(\d+)", release)
    return found is not None and (int(found[1]), int(found[2])) < RELEASE_MIN


def carries(fabric: Fabric, release: str) -> bool:
    """Whether Linux of that release does."""
    has_ifb = fabric.fabric_class == "timed" or (fabric.fabric_class == "paced" and fabric.kind == "hub")
    return not (has_ifb and is_old(release))


def require(fabric: Fabric) -> None:
    """Raises VaivenError ("old-kernel") unless this machine's kernel carries that fabric."""
    release = os.uname().release
    if not carries(fabric, release):
        raise VaivenError(
            f"a {fabric.fabric_class} {fabric.kind} needs Linux {'.'.join(map(str, RELEASE_MIN))} or newer: "
            f"this machine's {release} drops its frames",
            'a lab whose class is "free", such as vaiven measure --lab free, or a switch that is "paced"',
            code="old-kernel",
        )
