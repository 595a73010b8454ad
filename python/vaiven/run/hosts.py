# SPDX-License-Identifier: BSD-3-Clause
"""A host that can be measured: its addresses, its probe, and how to run a command there.

Commands are argument vectors. `argv` wraps one so that it runs on the host with its arguments verbatim: no shell of
this machine ever sees them, and the remote shell that ssh insists on gets them quoted.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vaiven import child
from vaiven.errors import VaivenError

LOCAL = ("localhost", "127.0.0.1", "::1")

# For a shell there: ends every process that has this in its environment, NAME=VALUE in its own words.
END_ALL_WITH = r"""for environ in $(grep -lszxF "%s" /proc/[0-9]*/environ); do
  process=${environ#/proc/}; kill -9 "${process%%/environ}"
done
"""

Argv = Callable[[Sequence[str]], list[str]]


@dataclass(frozen=True)
class Host:
    """name: as the user called it. address: numeric; probes listen and send there. interface: "" if not known.

    mtu_bytes: of that interface, 0 if not known. rate_mbps: of a lab's links, of which cards know nothing; else 0.
    arch: as `uname -m` says it there. ports: "LO-HI" that may be used, "" for any. probe: the command that is its
    vaiven-probe, an emulator before it if need be. processors: those of this machine, where the host shares them with
    the other hosts of its lab; empty for a machine of its own.
    libraries: the probe of each library that it has ("openmpi"), as `probe`; lacking: why it has not another one.
    files: name -> path of what else of ours was brought to a machine of its own.
    proc_net: where this machine shows the host's /proc/net; None for a machine of its own. here: it runs on this
    machine and sees its files.
    """

    name: str
    address: str
    interface: str
    arch: str
    probe: tuple[str, ...]
    argv: Argv
    ports: str = ""
    mtu_bytes: int = 0
    rate_mbps: float = 0
    processors: tuple[int, ...] = ()
    libraries: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lacking: Mapping[str, VaivenError] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    proc_net: Path | None = None
    here: bool = False

    @property
    def name_elsewhere(self) -> str:
        """What it is called on other machines, where localhost is another one."""
        return self.address if self.name in LOCAL else self.name

    def library_probe(self, name: str) -> tuple[str, ...]:
        """The probe of that library. VaivenError ("no-probe") with why there is none."""
        if name not in self.libraries:
            without = VaivenError(f"{self.name} has no vaiven-probe-{name}", "leave it out of this stack", "no-probe")
            raise self.lacking.get(name, without)
        return self.libraries[name]


def call(name: str, argv: Argv, command: Sequence[str], *, stdin: bytes = b"", timeout_s: float = 20) -> bytes:
    """What `command` prints on the host of that name.

    VaivenError ("host-down") with the command that was tried when it fails or takes longer than timeout_s.
    """
    tried = argv(command)
    try:
        done = child.call(tried, stdin=stdin, within_s=timeout_s)
    except OSError as error:
        raise down(name, tried, error.strerror or str(error)) from error
    if done.status != 0:
        raise down(name, tried, done.complaint.rpartition("\n")[2] or f"exit status {done.status}")
    return done.output


def answers(host: Host) -> VaivenError | None:
    """None if the host still runs commands, else why not."""
    try:
        call(host.name, host.argv, ["true"], timeout_s=10)
    except VaivenError as error:
        return error
    return None


def down(name: str, tried: Sequence[str], why: str) -> VaivenError:
    """The error for a host that does not do what it was asked."""
    over_ssh = f"this must work, and ask nothing: ssh -o BatchMode=yes {name} true"
    remedy = over_ssh if tried[0] == "ssh" else f"tried: {shlex.join(tried)}"
    return VaivenError(f"the host {name} does not answer: {why}", remedy, code="host-down")
