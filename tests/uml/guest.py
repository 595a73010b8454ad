# SPDX-License-Identifier: BSD-3-Clause
"""A Linux kernel of its own, as a process (user-mode-linux), with a cable to the switch of a lab.

It is there for its LLC type 2, which the kernel of this machine may lack. guest.c is its only program and its manual.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import stat
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from talker import PATIENCE_S, Pending, Talker

from vaiven.lab.lab import Lab

PROGRAM = "linux.uml"
MODULES = Path("/usr/lib/uml/modules")
TAPS = ("guest0", "guest1")  # the ends at the switch of its interfaces vec0 and vec1
_HERE = Path(__file__).parent


_FLAGS = ["-O2", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE"]


class Kit(NamedTuple):
    """What a guest is made of. initramfs: its file system; preload: what linux.uml needs on new processors."""

    initramfs: Path
    preload: Path


def build(into: Path, files: Mapping[str, Path]) -> Kit:
    """Makes the initramfs of guest.c, a static program, since there is no library in the guest, and those files."""
    kit = Kit(into / "initramfs", into / "xstate.so")
    init = into / "init"
    subprocess.run(["cc", *_FLAGS, "-static", "-o", init, _HERE / "guest.c"], check=True)
    subprocess.run(["cc", *_FLAGS, "-shared", "-fPIC", "-o", kit.preload, _HERE / "xstate.c"], check=True)
    modules = {f"{name}.ko": module(name) for name in ("llc", "llc2")}
    kit.initramfs.write_bytes(archive({"init": init, **modules, **files}))
    return kit


def module(name: str) -> Path:
    """A module of the guest's kernel."""
    (found,) = MODULES.rglob(f"{name}.ko")
    return found


def archive(files: Mapping[str, Path]) -> bytes:
    """An initramfs (Linux: Documentation/driver-api/early-userspace/buffer-format.rst) with these files."""
    # Standard output of init needs the console before /dev is mounted.
    entries = [_entry("dev", stat.S_IFDIR | 0o755), _entry("dev/console", stat.S_IFCHR | 0o600, device=(5, 1))]
    entries += [
        _entry(name, stat.S_IFREG | stat.S_IMODE(path.stat().st_mode), path.read_bytes())
        for name, path in files.items()
    ]
    return b"".join([*entries, _entry("TRAILER!!!", 0)])


def _entry(name: str, mode: int, data: bytes = b"", device: tuple[int, int] = (0, 0)) -> bytes:
    """One file in the "newc" format: thirteen numbers of eight hex digits, name and data padded to four bytes."""
    numbers = [0, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name) + 1, 0]
    head = b"070701" + b"".join(b"%08X" % number for number in numbers) + name.encode() + b"\0"
    return _padded(head) + _padded(data)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)


class Guest(Talker):
    """A guest that is up. Its interfaces vec0 and vec1 have the addresses and macs of hosts with the next numbers.

    Two, because Ethernet brings no frame back to its sender. Sockets of LLC are bound to the first.
    """

    def __init__(self, lab: Lab, kit: Kit, directory: Path) -> None:
        numbers = range(len(lab.hosts) + 1, len(lab.hosts) + 1 + len(TAPS))
        self.addresses = [f"10.1.0.{number}" for number in numbers]
        self.macs = [f"02:76:76:00:00:{number:02x}" for number in numbers]
        self.mac = self.macs[0]
        self._lab, self._console = lab, directory / "console"
        for tap in TAPS:
            _on_switch(lab, "tuntap", "add", "dev", tap, "mode", "tap")
            _on_switch(lab, "link", "set", "dev", tap, "master", "br0", "up")
        ours, theirs = socket.socketpair()
        with theirs, open(self._console, "wb") as console:
            environment = ["env", f"TMPDIR={directory}", f"LD_PRELOAD={kit.preload}"]
            command = [*environment, PROGRAM, *_options(kit, theirs.fileno())]
            self._process = subprocess.Popen(
                lab.switch.argv(command),
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # it ends its whole process group
            )
        lines = ours.makefile("rwb", buffering=0)
        ours.close()
        super().__init__(lines, lines, self._last_words)
        self.release = self._ready()
        for number in (1, 0):  # sockets are bound to the last
            self.ask("up", f"vec{number}", self.macs[number], lab.topology.fabric.mtu, self.addresses[number])

    def _ready(self) -> str:
        word, release = self.hear().text().split()
        assert word == "ready"
        return release

    def run(self, program: str, *arguments: object) -> Pending:
        """Starts a program of the initramfs beside everything else."""
        return self.start("run", program, *arguments)

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """It is kept from running meanwhile, as by a machine with much else to do."""
        pid = self._process.pid  # of nsenter, whose only child it is
        (kernel,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        os.kill(int(kernel), signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(int(kernel), signal.SIGCONT)
            os.kill(pid, signal.SIGCONT)  # it stops with its child

    def _last_words(self) -> str:
        return "the console of the guest says: " + self._console.read_text(errors="replace")[-2000:]

    def close(self) -> None:
        """Switches it off; if it does not listen any more, by force."""
        with contextlib.suppress(AssertionError):
            self.say("poweroff")
        try:
            self._process.wait(PATIENCE_S)
        finally:
            self._process.kill()
            self._process.wait()
            self._lines.close()


def _options(kit: Kit, serial: int) -> list[str]:
    """The command line of the guest's kernel; its first serial line is that descriptor of the process."""
    return [
        "mem=128M",
        f"initrd={kit.initramfs}",
        "root=/dev/ram0",
        "rw",
        "quiet",
        "panic=-1",
        "con=null",
        "con0=null,fd:1",
        f"ssl0=fd:{serial},fd:{serial}",
        *(f"vec{number}:transport=tap,ifname={tap},depth=64" for number, tap in enumerate(TAPS)),
    ]


def _on_switch(lab: Lab, *words: str) -> None:
    subprocess.run(lab.switch.argv(["ip", *words]), check=True)
