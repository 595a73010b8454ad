# SPDX-License-Identifier: BSD-3-Clause
"""Programs of libvaiven: each rank finds in its environment who it is (vaiven/group.h, vv_group_from_environment).

The key lies on each machine in a file that nobody else may read. A guard waits there for the end of its input, then
ends ranks that are left and takes the file away: that comes too when we are killed.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from vaiven.child import Child
from vaiven.errors import VaivenError
from vaiven.run import hosts, signals
from vaiven.run.hosts import Host

RANKS_MAX = 1024  # VV_GROUP_RANKS_MAX
_PORTS = "20000-29999"  # below those that kernels give to whoever asks for any
_KEY_BYTES = 16

# Reads the key, says where it lies.
_GUARD = r"""trap "" HUP INT; umask 077
f=$(mktemp /tmp/vaiven-key.XXXXXXXX) && read -r key && printf "%s\n" "$key" >"$f" && echo "$f"
cat >/dev/null
rm -f "$f"
"""
_GUARD += hosts.END_ALL_WITH % "VAIVEN_KEY_FILE=$f"


@contextmanager
def job(members: Sequence[Host], count: int, commands: Sequence[Sequence[str]]) -> Iterator[list[list[str]]]:
    """What starts each rank, by its number; ranks are dealt out to the hosts in turn. commands: of each member.

    VaivenError: "too-many-ranks", "host-down" (a host where the key cannot lie).
    """
    if count > RANKS_MAX:
        raise VaivenError(f"a group of {count} ranks", f"it has {RANKS_MAX} at most", code="too-many-ranks")
    dealt = [members[rank % len(members)] for rank in range(count)]
    key, meeting = secrets.token_hex(_KEY_BYTES), f"{dealt[0].address}:{_port(dealt[0])}"
    guards: dict[str, _Guard] = {}
    try:
        for host in dealt:
            if _machine(host) not in guards:
                guards[_machine(host)] = _Guard(host, key)
        yield [
            host.argv([
                "env", f"VAIVEN_RANKS={count}", f"VAIVEN_RANK={rank}", f"VAIVEN_ADDRESS={host.address}",
                f"VAIVEN_MEETING={meeting}", f"VAIVEN_KEY_FILE={guards[_machine(host)].path}",
                *commands[rank % len(members)],
            ])
            for rank, host in enumerate(dealt)
        ]  # fmt: skip
    finally:
        with signals.shielded():
            for guard in guards.values():
                guard.end()


def _machine(host: Host) -> str:
    """Whose files it sees: all hosts of labs see those of this machine."""
    return "" if host.here else host.name


def _port(host: Host) -> int:
    """One by lot, even, for the group takes the next one, too."""
    low, _, high = (host.ports or _PORTS).partition("-")
    return secrets.choice(range(int(low) + int(low) % 2, int(high or low), 2) or [int(low)])


class _Guard:
    """The key on one machine. path: where it lies there."""

    def __init__(self, host: Host, key: str) -> None:
        command = ["sh", "-c", _GUARD]
        argv = command if host.here else host.argv(command)
        self._child = Child(argv)
        self._child.tell(key)
        self.path = self._child.hear()
        if not self.path:
            why = self._child.complaint()
            self.end()
            raise hosts.down(host.name, argv, why or "no place for the key in /tmp")

    def end(self) -> None:
        """The ranks that are left there end, and the file goes."""
        self._child.close()
