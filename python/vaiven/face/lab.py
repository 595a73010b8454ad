# SPDX-License-Identifier: BSD-3-Clause
"""A virtual LAN for as long as a `with` block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from vaiven.lab import lab as labs
from vaiven.run import hosts, place


class Lab:
    """A lab that is up. name: what `vaiven lab list` calls it, and vaiven.measure(lab=...) takes."""

    def __init__(self, raised: labs.Lab) -> None:
        self._raised = raised

    @property
    def name(self) -> str:
        return self._raised.instance

    @property
    def hosts(self) -> tuple[str, ...]:
        """Its hosts."""
        return tuple(host.name for host in self._raised.hosts)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What its user must know, a sentence each."""
        return self._raised.warnings

    def address(self, host: str) -> str:
        """The address of a host. Raises VaivenError ("no-host")."""
        return self._raised.host(host).address

    def run(self, host: str, command: Sequence[str], *, timeout_s: float = 60) -> str:
        """What a command prints on a host of the lab; no shell reads it.

        Raises VaivenError: "no-host"; "host-down" where it fails, or takes longer than timeout_s.
        """
        found = self._raised.host(host)
        return hosts.call(host, found.argv, list(command), timeout_s=timeout_s).decode(errors="replace")

    def __repr__(self) -> str:
        fabric = self._raised.topology.fabric
        return f"Lab {self.name} ({fabric.kind}, {fabric.fabric_class}): {', '.join(self.hosts)}"


@contextmanager
def lab(name: str | Path) -> Iterator[Lab]:
    """The lab of that name, or of that file: raised, and taken down at the end of the block.

    One that is up under its name is used, and left up. Raises VaivenError as vaiven.lab.lab.up does: "no-lab",
    "need-root".
    """
    topology, instance = labs.described(str(name))
    with place.raised(topology, instance) as (found, _):
        yield Lab(found)
