# SPDX-License-Identifier: BSD-3-Clause
"""Processors that do not fall asleep while something is timed on a lab.

A processor that slept takes some 10 us to make a frame, and how long depends on how deep it slept: on an idle machine
that is most of what two launches differ by. Two things keep it awake, and both end with this process, however it dies:

* /dev/cpu_dma_latency, held open with a 0 in it: no processor time, no context switch. It works where the kernel has a
  driver that puts processors to sleep (cpuidle), and for whoever may write there: root.
* a process of the idle class on each processor, which runs only while nothing else wants to.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from vaiven import child
from vaiven.child import Child
from vaiven.lab.topology import Topology

Way = Literal["", "/dev/cpu_dma_latency at 0", "a process of the idle class on each"]
LATENCY: Way = "/dev/cpu_dma_latency at 0"
SPINNERS: Way = "a process of the idle class on each"

DEVICE = Path("/dev/cpu_dma_latency")  # what keeps processors awake
DRIVER = Path("/sys/devices/system/cpu/cpuidle/current_driver")  # who puts them to sleep
# argv[1]: whose end is its own, argv[2]: the processor to spin on, or the device to hold. Says when it has begun.
_KEEPER = """
import os, select, sys
parent = os.pidfd_open(int(sys.argv[1]))
if os.getppid() != int(sys.argv[1]): sys.exit()
ended = select.poll()
ended.register(parent, select.POLLIN)
if not sys.argv[2].isdigit():
    os.write(os.open(sys.argv[2], os.O_WRONLY), bytes(4))
    print("awake", flush=True)
    ended.poll()
    sys.exit()
os.sched_setaffinity(0, {int(sys.argv[2])})
print("awake", flush=True)  # in the idle class it may take a while, on a busy machine, which is awake
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
while not ended.poll(0):
    for _ in range(10000): pass
"""


@contextmanager
def kept(topology: Topology) -> Iterator[Way]:
    """Inside it this machine's processors stay awake, if that lab is timed; yields how, "" if it is not."""
    if topology.fabric.fabric_class != "timed":
        yield ""
        return
    with _held() as device:
        if device is not None:
            yield LATENCY
            return
        keepers = _spinning()
        try:
            yield SPINNERS
        finally:
            for keeper in keepers:
                _end(keeper)


def keep(topology: Topology) -> None:
    """The same until this process ends, whatever program it becomes: that one shall not have a descriptor of ours."""
    if topology.fabric.fabric_class != "timed":
        return
    with _held() as device:
        if device is None:
            _spinning()
        else:
            _keeper(DEVICE)


@contextmanager
def _held() -> Iterator[int | None]:
    """The device with a 0 in it; None where that keeps nothing awake, or is not for us."""
    try:
        sleeps = DRIVER.read_text().strip() not in ("", "none")
        device = os.open(DEVICE, os.O_WRONLY | os.O_CLOEXEC) if sleeps else None
    except OSError:
        device = None
    if device is None:
        yield None
        return
    try:
        os.write(device, bytes(4))
        yield device
    finally:
        os.close(device)


def _end(keeper: Child) -> None:
    """At once: to die takes a turn on the processor, and those of the idle class are rare on a busy machine."""
    with suppress(OSError):
        os.sched_setscheduler(keeper.pid, os.SCHED_OTHER, os.sched_param(0))
    keeper.close(0)


def _spinning() -> list[Child]:
    return [_keeper(processor) for processor in sorted(os.sched_getaffinity(0))]


def _keeper(what: Path | int) -> Child:
    """A process that ends when this one does, at its work: with the device, or on that processor."""
    words = [sys.executable, "-IS", "-c", _KEEPER, str(os.getpid()), str(what)]
    keeper = Child(words, stdin=child.NOWHERE, stderr=child.NOWHERE, cwd="/")
    keeper.hear()
    return keeper
