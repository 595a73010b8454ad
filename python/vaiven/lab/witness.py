# SPDX-License-Identifier: BSD-3-Clause
"""Witnesses of a timed lab: for each processor a process that counts the time in which nobody of ours could have it.

What they see and how is in src/probe/show/witness.c, what is made of it in `vaiven.run.lost`. They end with this
process, however that ends: their standard input is a pipe from it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from vaiven import child, resources
from vaiven.child import Child
from vaiven.lab.topology import Topology

_ANSWER_S = 60.0  # on a machine that is busy with something real-time


class _Record(msgspec.Struct):
    """What a witness says, as far as it is asked here."""

    type: str
    cpu: int
    lost_ns: int


class Witnesses:
    """One for each processor, as far as this system lets any be. May be asked by several threads."""

    def __init__(self) -> None:
        self._asking = threading.Lock()
        self._watching = [_Witness(processor) for processor in sorted(os.sched_getaffinity(0))]
        self._dismiss([one for one in self._watching if one.hear() is None])

    @property
    def processors(self) -> tuple[int, ...]:
        """Those that are watched."""
        return tuple(one.processor for one in self._watching)

    def lost_ns(self) -> dict[int, int]:
        """How much of each processor was lost since the witnesses began. One that no longer answers is left out, and
        not asked again."""
        with self._asking:
            for one in self._watching:
                one.ask()
            heard = {one: one.hear() for one in self._watching}
            self._dismiss([one for one, ns in heard.items() if ns is None])
            return {one.processor: ns for one, ns in heard.items() if ns is not None}

    def end(self) -> None:
        """Ends all of them."""
        self._dismiss(list(self._watching))

    def _dismiss(self, several: list[_Witness]) -> None:
        for one in several:
            self._watching.remove(one)
            one.end()


class _Witness:
    """One process. What it says when it begins is heard first."""

    def __init__(self, processor: int) -> None:
        self.processor = processor
        words = [str(resources.program("vaiven-probe")), "witness", "--cpu", str(processor)]
        self._child = Child(words, stderr=child.NOWHERE, cwd="/")

    def ask(self) -> None:
        self._child.tell("")

    def hear(self) -> int | None:
        """What it says was lost so far, in ns; None: it has gone, says something else, or does not answer."""
        try:
            record = msgspec.json.decode(self._child.hear(_ANSWER_S), type=_Record)
        except msgspec.DecodeError:
            return None
        return record.lost_ns if (record.type, record.cpu) == ("witness", self.processor) else None

    def end(self) -> None:
        self._child.close()


@contextmanager
def kept(topology: Topology) -> Iterator[Witnesses | None]:
    """Inside it witnesses watch this machine, if that lab is timed; None if it is not. VaivenError ("no-program")."""
    if topology.fabric.fabric_class != "timed":
        yield None
        return
    witnesses = Witnesses()
    try:
        yield witnesses
    finally:
        witnesses.end()
