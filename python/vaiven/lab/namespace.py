# SPDX-License-Identifier: BSD-3-Clause
"""One machine's worth of namespaces, held by one process: it ends, and net, uts, ipc, mount and pid end with it.

Only the kernel's own objects are used: no names in /run/netns, no bind mounts outside. What is not held by a living
holder does not exist, so nothing can be left behind. A holder is `unshare` (the guard) with holder.sh as its child;
when either dies, so does the other.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import msgspec

from vaiven import child
from vaiven.child import Child
from vaiven.errors import VaivenError

if TYPE_CHECKING:
    from pyroute2 import IPRoute

_HOLDER = Path(__file__).with_name("holder.sh")
_CLONE_NEWNET = 0x40000000  # <linux/sched.h>
_CLONE_NEWTIME = 0x00000080  # <linux/sched.h>
_END_S = 10.0  # how long a killed process may take to be gone
_LOOK_S = 0.1  # between two looks for what keeps it

# What runs first inside: $1 is the working directory, then cgroup.procs files to join, "--", and the command. The
# command gets SIGTERM when the nsenter that waits for it dies, so ending what the caller sees ends what it started.
_ENTER = (
    'cd "$1" 2>/dev/null || cd /; shift; '
    'while [ "$1" != -- ]; do echo 0 >"$1" || exit 126; shift; done; shift; '
    'exec setpriv --pdeathsig TERM -- "$@"'
)
# Runs argv[4:] in a new time namespace, argv[1] s and argv[2] ns ahead. Offsets must stand before a process is in it,
# so `unshare --monotonic`, which takes whole seconds only, cannot be used. argv[3] is CLONE_NEWTIME.
_OFFSET = (
    "import ctypes, os, sys\n"
    "if ctypes.CDLL(None).unshare(int(sys.argv[3])) != 0: sys.exit('this kernel has no time namespaces')\n"
    "offset = ' '.join(sys.argv[1:3])\n"
    "with open('/proc/self/timens_offsets', 'w') as file: file.write(f'monotonic {offset}\\nboottime {offset}\\n')\n"
    "os.execvp(sys.argv[4], sys.argv[4:])\n"
)
# Hands a netlink socket of the namespace it runs in to the process at the other end of descriptor argv[1].
_HAND_OVER = (
    "import socket, sys\n"
    "made = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 0)\n"
    "socket.send_fds(socket.socket(fileno=int(sys.argv[1])), [b'.'], [made.fileno()])\n"
)


class Namespace(msgspec.Struct, frozen=True, kw_only=True):
    """A held set of namespaces.

    pid: of the holder, as this process sees it. started_ticks: when it started, in clock ticks since boot; with it a
    process number that was used again is not mistaken for the holder. owns_user: the namespaces lie in a user
    namespace. owns_time: there is a time namespace too. joins: cgroup.procs files that each command enters first.
    """

    pid: int
    started_ticks: int
    owns_user: bool = False
    owns_time: bool = False
    joins: tuple[str, ...] = ()

    def argv(self, command: Sequence[str]) -> list[str]:
        """The argument vector that runs `command` inside, in the caller's working directory, arguments verbatim."""
        return self._enter([], command)

    def become(self, command: Sequence[str]) -> NoReturn:
        """Replaces this process by `command` inside, for a person at a terminal.

        An interrupt from the keyboard is for the command alone: the nsenter that waits for it must survive it, or a
        `ping` would be ended before it prints its summary.
        """
        for number in (signal.SIGINT, signal.SIGQUIT):
            signal.signal(number, signal.SIG_IGN)
        argv = self._enter(["env", "--default-signal=INT,QUIT"], command)
        sys.stdout.flush()
        with _programs():
            os.execvp(argv[0], argv)

    def _enter(self, first: list[str], command: Sequence[str]) -> list[str]:
        try:
            directory = os.getcwd()
        except FileNotFoundError:
            directory = "/"
        enter = self._nsenter("--net", "--uts", "--ipc", "--mount", "--pid", *(["--time"] if self.owns_time else []))
        return [*enter, *first, "sh", "-c", _ENTER, "sh", directory, *self.joins, "--", *command]

    def netlink(self) -> IPRoute:
        """A netlink connection to the network of this namespace. The caller closes it; until then the network lives.

        A netlink socket stays where it was made. As root a thread goes there to make one; inside a user namespace
        only a process can, and hands it over. Raises VaivenError ("lab-broken") if the holder is gone.
        """
        from pyroute2 import IPRoute

        if not self.alive():
            raise VaivenError(f"the holder {self.pid} of a host is gone", "take the lab down", code="lab-broken")
        return IPRoute(use_socket=self._handed_over() if self.owns_user else self._made_there())

    def alive(self) -> bool:
        """Whether the holder is there, and is the one that was started."""
        return _status(self.pid)[2] == self.started_ticks != 0

    def _nsenter(self, *kinds: str) -> list[str]:
        user = ["--user", "--preserve-credentials"] if self.owns_user else []
        return ["nsenter", "--target", str(self.pid), *user, *kinds, "--"]

    def _made_there(self) -> socket.socket:
        with ThreadPoolExecutor(1) as visitor:
            return visitor.submit(self._visit).result()

    def _visit(self) -> socket.socket:
        """Makes a netlink socket there. The thread that ran this is in the other namespace for good."""
        with open(f"/proc/{self.pid}/ns/net") as there:
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.setns(there.fileno(), _CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), f"setns to the network of process {self.pid}")
        return socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 0)

    def _handed_over(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            maker = [*self._nsenter("--net"), sys.executable, "-IS", "-c", _HAND_OVER, str(theirs.fileno())]
            made = child.call(maker, lent=[theirs.fileno()])
            if made.status != 0:
                raise OSError(f"no netlink socket of process {self.pid}: {made.complaint}")
            _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
        return socket.socket(fileno=descriptors[0])


class Nursery:
    """Holders that are started together. On leaving the `with` block all are killed, unless `keep` was called.

    Should this process be killed, its end of their pipes closes and they end by themselves.
    """

    def __init__(self) -> None:
        self._guards: dict[str, Child] = {}
        self._namespaces: dict[str, Namespace] = {}
        self._kept = False

    def __enter__(self) -> Nursery:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._kept:
            end(namespace for namespace in self._namespaces.values() if namespace.pid)
            for guard in self._guards.values():
                guard.close(0)

    def start(
        self,
        name: str,
        hostname: str,
        hosts_file: Path,
        *,
        new_user: bool = False,
        inside: Namespace | None = None,
        clock_offset_ms: int = 0,
        joins: tuple[str, ...] = (),
    ) -> None:
        """Starts a holder called `name` and does not wait for it. Raises VaivenError ("no-program", "bad-offset").

        new_user: in a new user namespace. inside: in the user namespace of that one, if it has one.
        """
        flags = ["--net", "--uts", "--ipc", "--mount", "--pid", "--fork", "--kill-child=SIGKILL"]
        user = ["--user", "--map-root-user"] if new_user else []
        command = ["unshare", *user, *flags, "sh", str(_HOLDER), name, hostname, str(hosts_file)]
        if clock_offset_ms:
            _check_offset(name, clock_offset_ms)
            seconds, rest_ms = divmod(clock_offset_ms, 1000)
            offset = [str(seconds), str(rest_ms * 1_000_000), str(_CLONE_NEWTIME)]
            command = [sys.executable, "-IS", "-c", _OFFSET, *offset, *command]
        if inside is not None and inside.owns_user:
            command = [*inside._nsenter(), *command]
        with _programs():
            self._guards[name] = Child(command, cwd="/")
        in_user = new_user or (inside is not None and inside.owns_user)
        self._namespaces[name] = Namespace(
            pid=0, started_ticks=0, owns_user=in_user, owns_time=clock_offset_ms != 0, joins=joins
        )

    def ready(self, name: str) -> Namespace:
        """Waits until that holder has its namespaces. Raises VaivenError ("no-namespace") with the reason."""
        namespace, guard = self._namespaces[name], self._guards[name]
        if namespace.pid == 0:
            line = guard.hear()
            if not line:
                raise _failure(name, guard.complaint(), namespace.owns_user)
            pid = int(line)
            namespace = msgspec.structs.replace(namespace, pid=pid, started_ticks=_status(pid)[2])
            self._namespaces[name] = namespace
        return namespace

    def keep(self, *, bound: bool = False) -> None:
        """Lets the holders live on: without this process, or, `bound`, as long as it lives."""
        for guard in self._guards.values():
            if not bound:
                guard.tell("keep")  # one that was killed from outside meanwhile does not hear it: `alive` tells
                guard.let_go()
            _children[guard.pid] = guard
        self._kept = True


_children: dict[int, Child] = {}  # guards that this process started and kept: it must bury them


def holders(hosts_file: Path) -> list[Namespace]:
    """The living holders that were started with that hosts file, whoever started them: found by their command lines."""
    statuses = {int(path.name): _status(int(path.name)) for path in Path("/proc").iterdir() if path.name.isdigit()}
    guards = {pid for pid, (name, _, _) in statuses.items() if name == "unshare" and _is_guard(pid, hosts_file)}
    return [
        Namespace(pid=pid, started_ticks=started_ticks)
        for pid, (_, parent, started_ticks) in statuses.items()
        if parent in guards
    ]


def _is_guard(pid: int, hosts_file: Path) -> bool:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return os.fsencode(_HOLDER.name) in [os.path.basename(word) for word in words] and os.fsencode(hosts_file) in words


def end(namespaces: Iterable[Namespace]) -> None:
    """Kills holders, and with them every process inside; returns when they are gone. Those that are gone are fine.

    Raises VaivenError ("no-end") when one is still there after ten seconds.
    """
    with contextlib.ExitStack() as closing:
        doomed: dict[int, int] = {}  # process number -> descriptor
        for namespace in namespaces:
            holder = _open_process(namespace.pid, closing)
            if holder is None or not namespace.alive():
                continue
            guard = _status(namespace.pid)[1]
            doomed[namespace.pid] = holder
            if _status(guard)[0] == "unshare" and (descriptor := _open_process(guard, closing)) is not None:
                doomed[guard] = descriptor
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(holder, signal.SIGKILL)
        _wait_gone(doomed)
        for pid in doomed:
            if pid in _children:
                _children.pop(pid).close()


def _wait_gone(doomed: dict[int, int]) -> None:
    deadline = time.monotonic() + _END_S
    for pid, descriptor in doomed.items():
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)  # readable: the process has ended
        while not poll.poll(_LOOK_S * 1000):
            if time.monotonic() > deadline:
                raise VaivenError(f"process {pid} does not end", f"see /proc/{pid}/stack", code="no-end")
            if os.getpid() == 1:
                _bury_orphans()


def _bury_orphans() -> None:
    """The first process of a container gets those whose parents have died, and without their burial no holder ends. Of
    its own children none is in a namespace of processes below its own."""
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, StopIteration):
            lines = (entry / "status").read_text().splitlines()
            words = next(line for line in lines if line.startswith("NSpid:")).split()
            if len(words) > 2 and "PPid:\t1" in lines:
                os.waitpid(int(entry.name), os.WNOHANG)


def _open_process(pid: int, closing: contextlib.ExitStack) -> int | None:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return None
    closing.callback(os.close, descriptor)
    return descriptor


def _status(pid: int) -> tuple[str, int, int]:
    """(name, parent, start in clock ticks) of a process, from proc(5)'s stat. Empty and zeros if there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return "", 0, 0
    name, _, rest = text.partition("(")[2].rpartition(")")
    fields = rest.split()
    return ("", 0, 0) if fields[0] in "ZX" else (name, int(fields[1]), int(fields[19]))


@contextlib.contextmanager
def _programs() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        what = f"the program {error.filename} is not installed"
        raise VaivenError(what, "apt-get install util-linux", code="no-program") from None


def _check_offset(name: str, clock_offset_ms: int) -> None:
    up_s = int(min(map(time.clock_gettime, (time.CLOCK_MONOTONIC, time.CLOCK_BOOTTIME))))
    if clock_offset_ms < -1000 * up_s:
        raise VaivenError(
            f"the clock of {name} would be {clock_offset_ms} ms ahead, which is before it began",
            f"this machine has been up for {up_s} s, and a kernel's monotonic clock cannot be negative",
            code="bad-offset",
        )


def _failure(name: str, reason: str, in_user: bool) -> VaivenError:
    what = f"cannot make the namespaces of {name}: {reason or 'the holder ended at once'}"
    remedy = (
        "an administrator may have turned user namespaces off: see user.max_user_namespaces, "
        "kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns in `sysctl -a`"
        if in_user
        else "this needs CAP_SYS_ADMIN: in a container, start it with --privileged"
    )
    return VaivenError(what, remedy, code="no-namespace")
