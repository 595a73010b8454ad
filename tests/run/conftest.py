# SPDX-License-Identifier: BSD-3-Clause
"""A cluster for these tests: three hosts of a lab, each with an sshd of its own, and an ssh that knows them."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.lab.texts import lab_text

from vaiven.lab import lab as labs
from vaiven.lab import topology
from vaiven.lab.lab import Lab

LAB = lab_text("run-test", 3, prefix="node")
SSHD = """\
Port 22
ListenAddress {address}
HostKey {home}/host_key
AuthorizedKeysFile {home}/user_key.pub
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
SetEnv TMPDIR={remote} HOME={home} PATH={home}/bin:{path}
"""
SSH = """\
Host *
  User root
  IdentityFile {home}/user_key
  IdentitiesOnly yes
  UserKnownHostsFile {home}/known_hosts
  GlobalKnownHostsFile none
  StrictHostKeyChecking yes
"""
# sshd wants /run/sshd: each gets a /run that nobody else sees.
START = "mount -t tmpfs none /run && mkdir /run/sshd && exec /usr/sbin/sshd -D -e -f"


@dataclass
class Cluster:
    """lab: with hosts node1..node3. remote: the TMPDIR of all of them. daemons: the sshd of each."""

    lab: Lab
    home: Path
    remote: Path
    daemons: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def command(self, *arguments: str) -> list[str]:
        """What runs `vaiven` on node1."""
        return self.lab.hosts[0].argv([sys.executable, "-m", "vaiven", *arguments])

    def environment(self) -> dict[str, str]:
        """Of that command: the ssh in front knows the keys."""
        return os.environ | {"PATH": f"{self.home}/bin:{os.environ['PATH']}", "SSH_AUTH_SOCK": ""}

    def vaiven(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs `vaiven` on node1, in this directory."""
        return subprocess.run(
            self.command(*arguments), capture_output=True, text=True, timeout=120, check=False, env=self.environment()
        )

    def on(self, name: str, *command: str) -> None:
        """Runs a command of root on that host, without ssh. Fails unless it works."""
        subprocess.run(self.lab.host(name).argv(command), check=True, capture_output=True)

    def deafen(self, name: str) -> None:
        """From now on the switch brings that host no multicast."""
        with self.lab.switch.netlink() as switch:
            (port,) = switch.link_lookup(ifname=self.lab.host(name).port)
            switch.brport("set", index=port, mcast_flood=0)

    def start(self) -> None:
        """Makes the keys and starts the daemons."""
        for key in ("host_key", "user_key"):
            words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.home / key)]
            subprocess.run(words, check=True)
        public = " ".join((self.home / "host_key.pub").read_text().split()[:2])
        known = (f"{host.name},{host.address} {public}\n" for host in self.lab.hosts)
        (self.home / "known_hosts").write_text("".join(known))
        (self.home / "ssh_config").write_text(SSH.format(home=self.home))
        wrapper = self.home / "bin" / "ssh"
        wrapper.parent.mkdir()
        wrapper.write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {self.home}/ssh_config "$@"\n')
        wrapper.chmod(0o755)
        for host in self.lab.hosts:
            config = self.home / f"sshd_{host.name}"
            config.write_text(
                SSHD.format(address=host.address, home=self.home, remote=self.remote, path=os.environ["PATH"])
            )
            command = host.argv(["unshare", "--mount", "sh", "-c", f'{START} "$1"', "sh", str(config)])
            with open(self.home / f"log_{host.name}", "wb") as log:
                self.daemons.append(subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True))
        for host in self.lab.hosts:
            self._until_listening(host.name)

    def _until_listening(self, name: str) -> None:
        deadline = time.monotonic() + 60
        log = self.home / f"log_{name}"
        while b"listening" not in log.read_bytes():
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.02)


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """Three hosts that ssh reaches, for one test that runs in their home. The daemons end with their hosts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VAIVEN_RUNS", raising=False)
    lab = labs.up(topology.parse(LAB), f"run-test-{secrets.token_hex(3)}")
    made = Cluster(lab, tmp_path, tmp_path / "remote")
    made.remote.mkdir()
    try:
        made.start()
        yield made
    finally:
        labs.down(lab)
        for daemon in made.daemons:
            daemon.wait(10)
