# SPDX-License-Identifier: BSD-3-Clause
"""Where a plan is measured, as far as that decides how long it takes: the wire, the hosts, the stacks. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vaiven.plan.design import Available
from vaiven.plan.schema import Link


@dataclass(frozen=True)
class Traits:
    """In what a host differs from a fast one that runs its programs as they are.

    frame_s, byte_s: what its one server takes of each frame that it sends or gets, and of each byte of that.
    one_segment: its TCP sends a segment at a time. emulated: its programs run in an emulator. lacks: libraries whose
    stacks cannot be launched there.
    """

    frame_s: float = 0.0
    byte_s: float = 0.0
    one_segment: bool = False
    emulated: bool = False
    lacks: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Ground:
    """link: between any two hosts; None if nobody knows. stacks: what is known of each, by id.

    traits: of hosts, by name. lab_hosts: of the lab that is raised for the run; 0 where there is none to raise.
    processors: those that the hosts of that lab share.
    """

    link: Link | None = None
    stacks: Mapping[str, Available] = field(default_factory=dict)
    traits: Mapping[str, Traits] = field(default_factory=dict)
    lab_hosts: int = 0
    processors: int = 1

    def library_of(self, stack: str) -> str:
        """The library that the stack with this id needs; "" where it needs none, or is not known."""
        return self.stacks[stack].library if stack in self.stacks else ""

    def of(self, host: str) -> Traits:
        """The traits of that host."""
        return self.traits.get(host, Traits())
