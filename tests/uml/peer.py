# SPDX-License-Identifier: BSD-3-Clause
"""Our engine on a host of the lab, as a program that does what it is told. peer.c is its manual."""

from __future__ import annotations

import re
import subprocess
from enum import Enum
from pathlib import Path

from talker import PATIENCE_S, Talker

from vaiven.lab.hosts import LabHost

_HERE = Path(__file__).parent
_SRC = _HERE.parents[1] / "src"
_PARTS = {
    "core/base": "*",
    "core/llc": "*",
    "core/wire": "announcement envelope frame lpdu segment",
    "io/os": "address clock code error host iface socket watch",
    "io/port": "filter lossy packet sap",
    "io/engine": "engine node",
}


# Why a link ended: enum vv_llc_close, as its header has it.
Why = Enum("Why", re.findall(r"^  VV_LLC_CLOSE_(\w+),", (_SRC / "core/llc/state.h").read_text(), re.MULTILINE), start=0)


def build(into: Path) -> Path:
    """Compiles peer.c with the engine of this tree."""
    program = into / "peer"
    sources = [
        path for room, names in _PARTS.items() for name in names.split() for path in (_SRC / room).glob(f"{name}.c")
    ]
    flags = ["-std=gnu17", "-O1", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", '-DVV_VERSION="test"']
    include = [f"-I{_SRC}", f"-I{_HERE}"]
    sections = ["-ffunction-sections", "-Wl,--gc-sections"]
    command = ["cc", *flags, *sections, *include, "-o", program, _HERE / "peer.c", *sources, "-pthread"]
    subprocess.run(command, check=True)
    return program


class Peer(Talker):
    """Our engine at work on a host of a lab, at a SAP of its interface."""

    def __init__(self, program: Path, host: LabHost, sap: int) -> None:
        self.mac, self.sap = host.mac, sap
        self._process = subprocess.Popen(
            host.argv([str(program), host.interface, str(sap)]), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        super().__init__(self._process.stdout, self._process.stdin, lambda: f"our engine on {host.full_name}")
        assert self.hear().text() == "ok"
        assert self.hear().text() == f"ready {self.mac}"

    def counts(self) -> dict[str, int]:
        """What the station has counted so far."""
        return {name: int(number) for name, number in (word.split("=") for word in self.ask("counts"))}

    def closed(self, *words: object) -> Why:
        """Says a line that is answered with the reason of a close."""
        return Why(int(self.ask(*words)[0]))

    def close(self) -> None:
        """Ends it without a good-bye to its peers."""
        self._process.stdin.close()
        try:
            self._process.wait(PATIENCE_S)
        finally:
            self._process.kill()
            self._process.wait()
