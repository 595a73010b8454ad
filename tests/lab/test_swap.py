# SPDX-License-Identifier: BSD-3-Clause
"""Hosts that swap beyond their memory: as slowly as their lab says, and nothing of it stays."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from vaiven.errors import VaivenError
from vaiven.lab import cgroups, lab, swap, topology
from vaiven.lab.lab import Lab
from vaiven.lab.swap import Area
from vaiven.lab.topology import Swap

pytestmark = pytest.mark.alone  # a machine has one place to swap to
BYTE_NS = 100.0
FABRIC = '[fabric]\nkind = "switch"\nclass = "free"\n'
HOSTS = '[[hosts]]\nname = "plain"\n[[hosts]]\nname = "small"\nmemory_mb = 12\n'
SWAPS = f'name = "swaps"\n{FABRIC}[swap]\nsize_mb = 32\nbyte_ns = {BYTE_NS:g}\n{HOSTS}'
ENDS = f'name = "ends"\n{FABRIC}{HOSTS}'
TAKE = """
import sys
block = bytearray(int(sys.argv[1]))
for _ in range(2):
    block[::4096] = b'1' * len(block[::4096])
"""
SLOWED = "blkio.throttle.{}_bps_device"


def takes(of: Lab, host: str, size_bytes: int) -> float | None:
    """Seconds that a program there takes to write to so many bytes, all of them twice; None where it was ended."""
    began_s = time.monotonic()
    command = ["python3", "-IS", "-c", TAKE, str(size_bytes)]
    done = subprocess.run(of.host(host).argv(command), capture_output=True, check=False)
    return time.monotonic() - began_s if done.returncode == 0 else None


def areas() -> list[str]:
    return swap.AREAS.read_text().splitlines()[1:]


def disks() -> list[str]:
    """Those that are made of a file of any lab's."""
    of = [path.read_text() for path in Path("/sys/block").glob("loop*/loop/backing_file")]
    return [name for name in of if re.search(r"vaiven-[0-9a-f]{8}\.swap", name)]


def slowed() -> list[str]:
    there = cgroups.mounted()
    if "blkio" not in there:
        return []
    return [
        line for way in ("read", "write") for line in (there["blkio"][0] / SLOWED.format(way)).read_text().splitlines()
    ]


@pytest.fixture(autouse=True)
def only_ours() -> None:
    assert (areas(), disks(), slowed()) == ([], [], []), "this machine swaps: hosts of a lab would share it"


def test_a_host_swaps_beyond_its_memory_as_slowly_as_its_lab_says(raise_lab) -> None:
    lab = raise_lab(SWAPS)
    assert lab.warnings == () and len(areas()) == 1
    size_bytes = 16_000_000
    took_s, plain_s = takes(lab, "small", size_bytes), takes(lab, "plain", size_bytes)
    assert took_s is not None and plain_s is not None
    # In its order most of it has just gone out when it is written to again.
    assert took_s - plain_s > size_bytes * BYTE_NS / 1e9
    assert takes(lab, "small", 64_000_000) is None  # memory and swap are full


def test_nothing_of_it_stays(raise_lab, state_dir) -> None:
    raised = raise_lab(SWAPS)
    assert len(disks()) == 1
    lab.down(raised)
    assert (areas(), disks(), slowed()) == ([], [], [])
    assert not list(Path("/var/tmp").glob("vaiven-*.swap"))


def test_hosts_of_another_lab_are_ended_beyond_their_memory(raise_lab) -> None:
    """Though the kernel would have them swap there, too."""
    raise_lab(SWAPS)
    other = raise_lab(ENDS)
    assert takes(other, "small", 64_000_000) is None and takes(other, "plain", 64_000_000) is not None


def test_where_the_machine_swaps_itself_hosts_are_ended_and_it_is_said(raise_lab) -> None:
    raise_lab(SWAPS)
    second = raise_lab(SWAPS, "second")
    (warning,) = second.warnings
    assert warning == (
        "hosts do not swap, and are ended where their memory is full: this machine has an area to swap to, which they "
        "would share"
    )
    assert len(areas()) == 1 and takes(second, "small", 64_000_000) is None


@pytest.mark.parametrize("command", ["losetup", "mkswap", "swapon"])
def test_what_cannot_be_made_leaves_nothing(command: str, monkeypatch) -> None:
    run = swap._run

    def refused(*words: str) -> str:
        if words[0] == command and "--detach" not in words:
            raise OSError(f"{command}: no")
        return run(*words)

    monkeypatch.setattr(swap, "_run", refused)
    area, (warning,) = swap.add("0123abcd", Swap(size_mb=1, byte_ns=100))
    assert area is None and warning.endswith(f"{command}: no")
    assert (areas(), disks(), slowed()) == ([], [], []) and not Path("/var/tmp/vaiven-0123abcd.swap").exists()


def test_a_file_that_was_there_is_nobodys_to_swap_to() -> None:
    path = Path("/var/tmp/vaiven-0123abcd.swap")
    path.write_text("somebody's")
    os.chown(path, 65534, 65534)
    try:
        area, (warning,) = swap.add("0123abcd", Swap(size_mb=1, byte_ns=100))
        assert area is None and warning.endswith("File exists") and path.read_text() == "somebody's"
    finally:
        path.unlink()


def test_what_a_killed_process_left_is_removed() -> None:
    path = Path("/var/tmp/vaiven-0123abcd.swap")
    path.touch(0o600)
    swap.remove("0123abcd")
    assert not path.exists()
    assert swap.add("0123abcd", Swap(size_mb=1, byte_ns=100))[1] == ()
    disk = areas()[0].split()[0]
    subprocess.run(["swapoff", disk], check=True)  # by somebody else, or before it was ever swapped to
    swap.remove("0123abcd")
    assert (areas(), disks(), slowed()) == ([], [], [])


def test_without_a_group_that_slows_disks_nobody_swaps(monkeypatch) -> None:
    monkeypatch.setattr(cgroups, "mounted", lambda: {"memory": (Path("/nowhere"), 1), "io": (Path("/nowhere"), 2)})
    area, (warning,) = swap.add("0123abcd", Swap(size_mb=1, byte_ns=100))
    assert area is None and warning.endswith("no control group slows a disk for what is swapped")
    assert (areas(), disks()) == ([], [])


def test_an_area_that_cannot_be_ended_is_an_error(monkeypatch) -> None:
    assert swap.add("0123abcd", Swap(size_mb=1, byte_ns=100))[0] is not None

    def refused(*words: str) -> str:
        raise OSError("swapoff: no")

    with monkeypatch.context() as patch, pytest.raises(VaivenError, match="is still there: swapoff: no") as caught:
        patch.setattr(swap, "_run", refused)
        swap.remove("0123abcd")
    assert caught.value.code == "no-end" and caught.value.remedy.startswith("swapoff /dev/loop")
    swap.remove("0123abcd")
    assert (areas(), disks(), slowed()) == ([], [], [])


def test_what_a_byte_takes_is_a_rate() -> None:
    assert Area("/dev/loop0", "7:0", Swap(size_mb=64, byte_ns=400)).bytes_per_s == 2_500_000


def test_a_lab_swaps_beyond_an_end_of_memory() -> None:
    with pytest.raises(VaivenError, match="no host has an end of its memory"):
        topology.parse(SWAPS.replace("memory_mb = 12\n", ""))
