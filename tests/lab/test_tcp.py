# SPDX-License-Identifier: BSD-3-Clause
"""How TCP of a lab's hosts sends: what the file says is what their kernels do; this machine's own does not."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from vaiven.errors import VaivenError
from vaiven.lab.hosts import LabHost
from vaiven.lab.lab import Lab

LAB = """
name = "windows"
[fabric]
kind = "switch"
class = "free"
[tcp]
congestion_control = "reno"
initial_window_segments = 3
[[hosts]]
prefix = "like"
count = 2
[[hosts]]
name = "own"
tcp = { initial_window_segments = 1, quick_acks = true, offloads = false }
[[hosts]]
name = "defective"
tcp_defect = "small-window"
"""
# Prints the congestion control and the window of a connection on which nothing was sent yet, to argv[1]; the window is
# the 19th of the numbers behind the first 8 bytes of struct tcp_info, <linux/tcp.h>.
CONNECTED = """
import socket, struct, sys
with socket.create_connection((sys.argv[1], 4321), 10) as made:
    control = made.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\\0").decode()
    info = made.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
print(control, struct.unpack_from("19I", info, 8)[18])
"""
LISTENING = """
import socket
with socket.create_server(("::", 4321), family=socket.AF_INET6, dualstack_ipv6=True) as server:
    print("ready", flush=True)
    while True: server.accept()[0].close()
"""


@pytest.fixture
def listening() -> Iterator[Callable[[LabHost], None]]:
    started: list[subprocess.Popen[str]] = []

    def call(host: LabHost) -> None:
        command = host.argv(["python3", "-c", LISTENING])
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        assert started[-1].stdout and started[-1].stdout.readline() == "ready\n"

    yield call
    for process in started:
        process.terminate()
        process.communicate()


@pytest.mark.lab
def test_connections_begin_as_the_file_says(
    raise_lab: Callable[..., Lab], on: Callable[..., str], listening: Callable[[LabHost], None]
) -> None:
    like, other, own, defective = raise_lab(LAB).hosts
    listening(other)
    for host, said in ((like, "reno 3"), (own, "reno 1"), (defective, "reno 1")):
        for address in (other.address, other.address6):
            assert on(host, "python3", "-c", CONNECTED, address).strip() == said


@pytest.mark.lab
def test_routes_and_cards_are_as_the_file_says(raise_lab: Callable[..., Lab], on: Callable[..., str]) -> None:
    like, _, own, _ = raise_lab(LAB).hosts
    for family in ("-4", "-6"):
        route = on(own, "ip", family, "route", "get", like.address if family == "-4" else like.address6)
        assert "quickack 1" in route and "initcwnd 1" in route
    assert "gso_max_segs 1 " in on(own, "ip", "-details", "link", "show", "eth0")
    assert "gso_max_segs 1 " not in on(like, "ip", "-details", "link", "show", "eth0")


@pytest.mark.lab
def test_the_machine_itself_is_left_as_it_was(raise_lab: Callable[..., Lab]) -> None:
    control = Path("/proc/sys/net/ipv4/tcp_congestion_control")
    before = control.read_text(), Path("/proc/net/route").read_text()
    raise_lab(LAB)
    assert (control.read_text(), Path("/proc/net/route").read_text()) == before


@pytest.mark.lab
def test_a_congestion_control_that_hosts_cannot_have_is_named_and_nothing_is_left(
    raise_lab: Callable[..., Lab], state_dir: Path
) -> None:
    with pytest.raises(VaivenError) as caught:
        raise_lab(LAB.replace("reno", "no-such-one"))
    assert caught.value.code == "no-congestion-control"
    assert "no-such-one" in caught.value.what and "reno" in caught.value.remedy
    assert not list(state_dir.glob("*/lab.json"))
