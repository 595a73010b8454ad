# SPDX-License-Identifier: BSD-3-Clause
"""Labs come up whole, keep apart, and leave nothing, whoever is killed and when."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.lab.texts import lab_text

from vaiven.errors import VaivenError
from vaiven.lab import cgroups, fabric, namespace, state, topology
from vaiven.lab import lab as labs

pytestmark = pytest.mark.lab

TWO = lab_text("two", 2)


def holders(state_dir: Path, instance: str) -> list[namespace.Namespace]:
    return namespace.holders(state_dir / instance / "hosts")


def assert_nothing_left(state_dir: Path, instance: str) -> None:
    assert holders(state_dir, instance) == []
    assert not (state_dir / instance).exists()


def until(condition, timeout_s: float = 60) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "did not become true in time"
        time.sleep(0.02)


# Each host is a machine of its own


def test_a_host_has_its_name_addresses_and_neighbours(raise_lab, on) -> None:
    lab = raise_lab(TWO)
    one, two = lab.hosts
    assert (one.full_name, one.interface, one.address, two.address) == ("two/h1", "eth0", "10.1.0.1", "10.1.0.2")
    assert on(one, "hostname").strip() == "h1"
    assert on(one, "getent", "ahostsv4", "h2").split()[0] == two.address
    assert on(one, "getent", "ahostsv6", "h2.ip6").split()[0] == two.address6
    with one.namespace.netlink() as netlink:
        link = netlink.get_links(ifname="eth0")[0]
        addresses = {address.get_attr("IFA_ADDRESS") for address in netlink.get_addr(index=link["index"])}
        neighbours = {n.get_attr("NDA_DST"): n.get_attr("NDA_LLADDR") for n in netlink.get_neighbours(state=0x80)}
    assert link.get_attr("IFLA_ADDRESS") == one.mac
    assert addresses == {one.address, one.address6}
    assert neighbours[two.address] == neighbours[two.address6] == two.mac


def test_hosts_reach_each_other_by_name_and_protocol(raise_lab, on) -> None:
    one, two = raise_lab(TWO).hosts
    assert "1 received" in on(one, "ping", "-c1", "-W2", two.name)
    assert "1 received" in on(two, "ping", "-6", "-c1", "-W2", f"{one.name}.ip6")


def test_hosts_share_no_processes_memory_or_mounts(raise_lab, on) -> None:
    one, two = raise_lab(TWO).hosts
    on(one, "touch", "/dev/shm/mine")
    assert on(two, "ls", "/dev/shm") == "" and not Path("/dev/shm/mine").exists()
    assert on(one, "cat", "/proc/1/comm").strip() in ("sh", "sleep")  # its holder, which only waits in the end
    assert on(one, "ls", "/sys/class/net").split() == ["eth0", "lo"]
    kinds = ("net", "uts", "ipc", "mnt", "pid")
    inodes = [
        {os.readlink(f"/proc/{pid}/ns/{kind}") for kind in kinds} for pid in (one.namespace.pid, two.namespace.pid)
    ]
    ours = {os.readlink(f"/proc/self/ns/{kind}") for kind in kinds}
    assert not inodes[0] & inodes[1] and not (inodes[0] | inodes[1]) & ours


def test_control_groups_stay_visible(raise_lab, on) -> None:
    assert on(raise_lab(TWO).hosts[0], "ls", "/sys/fs/cgroup").split() == sorted(os.listdir("/sys/fs/cgroup"))


def test_arguments_and_directory_arrive_verbatim(raise_lab, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    awkward = ["a b", "$(id)", "`id`", '"', "'", ";", "*", "", "-x", "--help", "--", "A=B", "\\", "é\n"]
    script = "import json, os, sys; print(json.dumps([os.getcwd(), sys.argv[1:]]))"
    host = raise_lab(TWO).hosts[0]
    done = subprocess.run(host.argv([sys.executable, "-c", script, *awkward]), capture_output=True, check=True)
    assert json.loads(done.stdout) == [str(tmp_path), awkward]


def test_a_command_ends_with_whoever_waits_for_it(raise_lab, on) -> None:
    host = raise_lab(TWO).hosts[0]
    running = subprocess.Popen(host.argv(["sleep", "987"]))
    until(lambda: "sleep 987" in on(host, "ps", "-eo", "args").splitlines())  # and not yet what starts it
    running.kill()
    running.wait()
    until(lambda: "sleep 987" not in on(host, "ps", "-eo", "args"))


_UP_AND_DOWN = """
import subprocess, sys
from vaiven.lab import lab, topology
host = lab.up(topology.parse(sys.argv[1])).hosts[0]
with subprocess.Popen(host.argv(["sh", "-c", "echo; exec sleep 60"]), stdout=subprocess.PIPE) as running:
    running.stdout.readline()
    running.kill()
lab.down_all()
print("gone")
"""


def test_the_first_process_of_a_container_takes_a_lab_down(state_dir: Path) -> None:
    """It gets what has lost its parent on a host, and nobody else buries that."""
    container = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    done = subprocess.run(
        [*container, sys.executable, "-c", _UP_AND_DOWN, TWO], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "gone\n", done.stderr


@pytest.mark.parametrize("mtu", [576, 1500, 9000])
def test_the_mtu_is_the_fabrics(raise_lab, on, mtu) -> None:
    one, two = raise_lab(TWO.replace('class = "free"', f'class = "free"\nmtu = {mtu}')).hosts
    headers = 20 + 8
    assert "1 received" in on(one, "ping", "-c1", "-W2", "-M", "do", "-s", str(mtu - headers), two.address)
    too_long = one.argv(["ping", "-c1", "-W1", "-M", "do", "-s", str(mtu - headers + 1), two.address])
    assert subprocess.run(too_long, capture_output=True, check=False).returncode != 0


def test_no_ipv6_below_its_smallest_mtu_is_said(raise_lab) -> None:
    lab = raise_lab(TWO.replace('class = "free"', 'class = "free"\nmtu = 1279'))
    assert any("IPv6" in warning for warning in lab.warnings)


def test_a_fabric_carries_nothing_that_nobody_sent(raise_lab) -> None:
    lab = raise_lab(TWO)

    def frames() -> list[int]:
        counts = []
        for host in lab.hosts:
            with host.namespace.netlink() as netlink:
                statistics = netlink.get_links(ifname="eth0")[0].get_attr("IFLA_STATS64")
                counts += [statistics["rx_packets"], statistics["tx_packets"]]
        return counts

    # The kernel reports the groups that every host is in some time after it has noticed the carrier.
    deadline = time.monotonic() + 60
    before = None
    while (now := frames()) != before:
        assert time.monotonic() < deadline, "there are frames every two seconds"
        before = now
        time.sleep(2)


# What makes a host unlike others


def test_a_clock_offset_is_in_the_hosts_monotonic_clock(raise_lab) -> None:
    lab = raise_lab(
        TWO + '[[hosts]]\nname = "ahead"\nclock_offset_ms = 2500\n[[hosts]]\nname = "behind"\nclock_offset_ms = -1250\n'
    )
    read = "import time; print(time.clock_gettime_ns(time.CLOCK_MONOTONIC))"
    for name, offset_ns in (("h1", 0), ("ahead", 2_500_000_000), ("behind", -1_250_000_000)):
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        there = int(subprocess.check_output(lab.host(name).argv([sys.executable, "-c", read])))
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        assert before <= there - offset_ns <= after


def test_a_clock_before_its_beginning_is_refused(raise_lab) -> None:
    with pytest.raises(VaivenError, match="has been up for") as refused:
        raise_lab(TWO + f'[[hosts]]\nname = "ancient"\nclock_offset_ms = {-(10**11)}\n')
    assert refused.value.code == "bad-offset" and labs.running() == []


def test_memory_is_limited_for_all_programs_of_a_host(raise_lab) -> None:
    lab = raise_lab(TWO + '[[hosts]]\nname = "small"\nmemory_mb = 32\n')
    assert lab.warnings == ()
    take = "import sys; block = bytearray(int(sys.argv[1])); print(len(block))"

    def takes(name: str, size_bytes: int) -> int:
        command = ["python3", "-IS", "-c", take, str(size_bytes)]
        return subprocess.run(lab.host(name).argv(command), capture_output=True, check=False).returncode

    assert takes("small", 8_000_000) == 0
    assert takes("small", 64_000_000) != 0
    assert takes("h1", 64_000_000) == 0


def test_processor_share_is_limited(raise_lab) -> None:
    lab = raise_lab(TWO + '[[hosts]]\nname = "slow"\ncpu_share = 0.2\n')
    assert lab.warnings == ()
    burn = """
import time
begin_s, used_s = time.monotonic(), time.process_time()
while time.monotonic() < begin_s + 1: pass
print((time.process_time() - used_s) / (time.monotonic() - begin_s))
"""
    share = float(subprocess.check_output(lab.host("slow").argv(["python3", "-IS", "-c", burn])))
    assert 0 < share < 0.3


def test_a_limit_that_cannot_be_is_said(raise_lab, monkeypatch) -> None:
    monkeypatch.setattr(cgroups, "mounted", dict)
    lab = raise_lab(TWO + '[[hosts]]\nname = "small"\nmemory_mb = 32\n')
    assert any("small: its memory is not limited" in warning for warning in lab.warnings)


def test_a_big_endian_host_runs_foreign_programs(raise_lab) -> None:
    lab = raise_lab(TWO + '[[hosts]]\nname = "big"\nbyte_order = "big"\n')
    assert lab.host("h1").emulator == () and lab.host("h1").arch == os.uname().machine
    expected = ("s390x", ("qemu-s390x-static",)) if sys.byteorder == "little" else (os.uname().machine, ())
    assert (lab.host("big").arch, lab.host("big").emulator) == expected


# Several labs


def echoes_heard(snmp: str) -> int:
    names, values = (line.split() for line in snmp.splitlines() if line.startswith("Icmp:"))
    return int(values[names.index("InEchos")])


def test_two_labs_of_the_same_hosts_keep_apart(raise_lab, on) -> None:
    one, two = raise_lab(TWO), raise_lab(TWO, "other")
    assert one.hosts[0].address == two.hosts[0].address
    assert two.hosts[0].full_name == "other/h1"
    on(one.hosts[0], "ping", "-c5", "-i0.01", "-W2", "h2")
    assert [echoes_heard(on(lab.hosts[1], "cat", "/proc/net/snmp")) for lab in (one, two)] == [5, 0]
    labs.down(one)
    assert labs.find("other").problems() == ()


def test_a_name_that_is_up_is_refused(raise_lab, state_dir) -> None:
    lab = raise_lab(TWO)
    with pytest.raises(VaivenError) as caught:
        raise_lab(TWO)
    assert caught.value.code == "lab-exists" and "lab down two" in caught.value.remedy
    assert labs.find("two") == lab


@pytest.mark.parametrize("instance", ["../x", "a b", "A", "$(id)", ".", "x" * 65])
def test_an_instance_name_cannot_leave_its_place(raise_lab, instance) -> None:
    with pytest.raises(VaivenError) as caught:
        raise_lab(TWO, instance)
    assert caught.value.code == "bad-instance"


# Nothing is left

COUNT = """
import contextlib, json, os, sys, time
from pathlib import Path
from vaiven.lab import lab as labs, topology

def everything():
    pids = [name for name in os.listdir("/proc") if name.isdigit()]
    spaces = set()
    for pid in pids:
        with contextlib.suppress(OSError):  # it ends just now
            spaces |= {os.readlink(f"/proc/{pid}/ns/{kind}") for kind in os.listdir(f"/proc/{pid}/ns")}
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    groups = [str(path) for path in Path("/sys/fs/cgroup").glob(f"**/vaiven-*-{sys.argv[2]}")]
    files = [str(path) for path in Path(os.environ["VAIVEN_STATE_DIR"]).glob("**/*")]
    links = os.listdir("/sys/class/net")
    kept = dict(pids=pids, spaces=sorted(spaces), mounts=sorted(mounts), groups=groups, files=files)
    return kept | dict(links=sorted(links))

lab = topology.parse(sys.argv[1])
labs.down(labs.up(lab))  # what is loaded once is loaded
before = None
while (now := everything()) != before:  # until what was killed has ended
    before = now
    time.sleep(0.5)
raised = labs.up(lab)
during = everything()
labs.down(raised)
for _ in range(19):
    labs.down(labs.up(lab))
deadline = time.monotonic() + 60
while (after := everything()) != before and time.monotonic() < deadline:
    time.sleep(0.05)
print(json.dumps([before, during, after]))
"""


@pytest.mark.slow
def test_twenty_labs_leave_nothing(state_dir, tmp_path) -> None:
    """Counted in a process namespace of its own, where nothing but this test is seen."""
    limited = f"limited{os.getpid()}"
    text = TWO + f'[[hosts]]\nname = "{limited}"\nmemory_mb = 64\ncpu_share = 0.5\nclock_offset_ms = 10\n'
    alone = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--net"]
    script = [sys.executable, "-c", COUNT, text, limited]
    done = subprocess.run([*alone, *script], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    before, during, after = json.loads(done.stdout)
    assert after == before
    assert len(during["pids"]) > len(before["pids"]) + 3 and during["groups"] and during["files"]


@pytest.mark.parametrize("trouble", [VaivenError("no fabric today"), KeyboardInterrupt()])
def test_a_lab_that_cannot_be_raised_leaves_nothing(raise_lab, state_dir, monkeypatch, trouble) -> None:
    def refuse(lab) -> None:
        assert len(holders(state_dir, "two")) == 3
        raise trouble

    monkeypatch.setattr(fabric, "raise_fabric", refuse)
    with pytest.raises(type(trouble)):
        raise_lab(TWO)
    assert_nothing_left(state_dir, "two")


def test_a_kernel_that_refuses_is_quoted(raise_lab, state_dir, monkeypatch) -> None:
    def lay_a_cable_twice(lab) -> None:
        with lab.switch.netlink() as netlink:
            netlink.link("add", ifname=lab.hosts[0].port, kind="bridge")

    monkeypatch.setattr(fabric, "raise_fabric", lay_a_cable_twice)
    with pytest.raises(VaivenError) as caught:
        raise_lab(TWO)
    assert caught.value.code == "no-network" and "File exists" in caught.value.what
    assert_nothing_left(state_dir, "two")


def test_a_full_disk_leaves_nothing(state_dir) -> None:
    def no_byte_may_be_written() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    command = [sys.executable, "-m", "vaiven", "lab", "up", "free"]
    done = subprocess.run(command, preexec_fn=no_byte_may_be_written, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "cannot write" in done.stderr and "Traceback" not in done.stderr
    assert_nothing_left(state_dir, "free")


def test_a_missing_program_is_named_with_its_package(state_dir, vaiven, tmp_path) -> None:
    done = vaiven("lab", "up", "free", env=os.environ | {"PATH": str(tmp_path)})
    assert done.returncode == 1 and "unshare is not installed" in done.stderr and "util-linux" in done.stderr
    assert_nothing_left(state_dir, "free")


KILL_AT = """
import importlib, os, sys
from vaiven.lab import lab as labs, topology

module, _, path = sys.argv[2].partition(":")
owner = importlib.import_module(module)
*classes, name = path.split(".")
for step in classes:
    owner = getattr(owner, step)
calls = 0
original = getattr(owner, name)

def fatal(*arguments, **named):
    global calls
    calls += 1
    if calls == int(sys.argv[3]):
        os.kill(os.getpid(), 9)
    return original(*arguments, **named)

setattr(owner, name, fatal)
labs.up(topology.parse(sys.argv[1]))
"""
POINTS = [
    ("vaiven.lab.lab:_populate", 1, 0),
    ("vaiven.lab.limits:create", 2, 0),
    ("vaiven.lab.lab:Nursery.ready", 2, 0),
    ("vaiven.lab.state:write", 2, 0),
    ("vaiven.lab.state:write", 3, 0),
    ("vaiven.lab.lab:_wire", 1, 0),
    ("vaiven.lab.lab:_address", 2, 0),
    ("vaiven.lab.fabric:raise_fabric", 1, 0),
    ("vaiven.lab.lab:Nursery.keep", 1, 0),
    ("vaiven.lab.state:write", 4, 4),
]


def killed_at(point: str, call: int, text: str = TWO) -> None:
    """Raises the lab in a process that is killed at that call of that function."""
    done = subprocess.run([sys.executable, "-c", KILL_AT, text, point, str(call)], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr


@pytest.mark.parametrize(("point", "call", "holders_left"), POINTS)
def test_killed_while_raising(state_dir, point, call, holders_left) -> None:
    """Killed before its holders were let go, it takes them along; killed after, `down` finds them."""
    text = TWO + '[[hosts]]\nname = "limited"\nmemory_mb = 64\n'
    killed_at(point, call, text)
    until(lambda: len(holders(state_dir, "two")) == holders_left)
    (status,) = labs.running()
    assert status.instance == "two" and status.problems == ("it was not raised to the end",) and not status.busy
    assert status.ended == (holders_left == 0)
    with pytest.raises(VaivenError) as caught:
        labs.find("two")
    assert (caught.value.code, caught.value.remedy.partition(",")[0]) == (
        ("lab-ended", "vaiven lab up raises it again") if status.ended else ("lab-broken", "vaiven lab down two")
    )
    labs.down("two")
    assert_nothing_left(state_dir, "two")
    assert not list(Path("/sys/fs/cgroup").glob(f"*/vaiven-{labs._owner(state_dir / 'two')}-*"))


def test_what_ended_labs_left_is_swept_by_the_next_up(raise_lab, state_dir) -> None:
    limited = '[[hosts]]\nname = "limited"\nmemory_mb = 64\n'
    killed_at("vaiven.lab.fabric:raise_fabric", 1, TWO + limited)
    killed_at("vaiven.lab.state:write", 4, lab_text("halfway", 2))  # its holders live on: it is broken, not ended
    until(lambda: holders(state_dir, "two") == [])
    until(lambda: len(holders(state_dir, "halfway")) == 3)
    raise_lab(lab_text("other", 2))
    assert [status.instance for status in labs.running()] == ["halfway", "other"]
    assert_nothing_left(state_dir, "two")
    assert not list(Path("/sys/fs/cgroup").glob(f"*/vaiven-{labs._owner(state_dir / 'two')}-*"))
    assert len(holders(state_dir, "halfway")) == 3


def test_an_ended_lab_is_listed_as_such_and_is_no_error(vaiven, state_dir) -> None:
    killed_at("vaiven.lab.fabric:raise_fabric", 1)
    until(lambda: holders(state_dir, "two") == [])
    listed = vaiven("lab", "list", env=os.environ | {"COLUMNS": "200"})
    assert listed.returncode == 0 and "ended: it was not raised to the end" in listed.stdout
    assert vaiven("lab", "down", "two").returncode == 0
    assert_nothing_left(state_dir, "two")


def test_an_ended_lab_is_raised_again_under_its_name(raise_lab, state_dir) -> None:
    killed_at("vaiven.lab.fabric:raise_fabric", 1)
    until(lambda: holders(state_dir, "two") == [])
    assert raise_lab(TWO).problems() == ()


def test_a_sweep_spares_what_is_held_or_lives_where_it_cannot_see(raise_lab, state_dir) -> None:
    for name in ("elsewhere", "held"):
        with state.reserved(name):
            pass  # killed before its first holder
    (state_dir / "elsewhere" / state.MARK).write_text("pid:[1]\n")
    with state.held("held"):
        raise_lab(TWO)
    assert [status.instance for status in labs.running()] == ["elsewhere", "held", "two"]
    assert not labs.running()[0].ended and labs.running()[1].ended


def test_killed_before_its_mark_a_directory_is_nobodys(state_dir, raise_lab, monkeypatch) -> None:
    monkeypatch.setattr(state, "_PATIENCE_S", 0.05)
    killed_at("vaiven.lab.state:write", 1)
    assert labs.running() == [] and labs.down_all() == []
    with pytest.raises(VaivenError) as caught:
        raise_lab(TWO)
    assert caught.value.code == "bad-state" and f"{state_dir / 'two'} is in the way" in caught.value.what
    assert list(state_dir.iterdir()) == [state_dir / "two"]


BOUND = """
import os, sys
from vaiven.lab import lab as labs, topology

lab = labs.up(topology.parse(sys.argv[1]), bound=True)
assert labs.find("two") == lab
print("up", flush=True)
sys.stdin.read()
os.kill(os.getpid(), 9)
"""


def test_a_bound_lab_ends_with_its_process(state_dir) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", BOUND, TWO], stdin=pipe, stdout=pipe, text=True) as owner:
        assert owner.stdout.readline() == "up\n"
        assert len(holders(state_dir, "two")) == 3
        owner.stdin.close()
        assert owner.wait(10) == -signal.SIGKILL
    until(lambda: holders(state_dir, "two") == [])
    assert labs.running()[0].problems == ("gone: the switch, h1, h2",)
    labs.down("two")
    assert_nothing_left(state_dir, "two")


def test_a_bound_lab_works_and_is_taken_down_as_any_other(state_dir, on) -> None:
    lab = labs.up(topology.parse(TWO), bound=True)
    assert "1 received" in on(lab.hosts[0], "ping", "-c1", "-W2", "h2")
    labs.down(lab)
    assert_nothing_left(state_dir, "two")


def test_orphans_do_not_end_a_bound_host(state_dir, on) -> None:
    lab = labs.up(topology.parse(TWO), bound=True)
    try:
        host = lab.hosts[0]
        on(host, "sh", "-c", "sleep 0.1 &")  # its parent ends first, so it becomes a child of the holder
        until(lambda: "sleep" not in on(host, "ps", "-eo", "comm="))
        assert lab.problems() == ()
    finally:
        labs.down(lab)


@pytest.mark.parametrize("whom", ["holder", "guard", "switch"])
def test_a_killed_holder_is_named_and_the_rest_taken_down(raise_lab, state_dir, whom) -> None:
    lab = raise_lab(TWO)
    victim = lab.switch if whom == "switch" else lab.hosts[1].namespace
    pid = namespace._status(victim.pid)[1] if whom == "guard" else victim.pid
    os.kill(pid, signal.SIGKILL)
    until(lambda: not victim.alive())
    (status,) = labs.running()
    assert status.problems == ("gone: the switch" if whom == "switch" else "gone: h2",)
    with pytest.raises(VaivenError) as caught:
        labs.find("two")
    assert caught.value.code == "lab-broken"
    labs.down("two")
    assert_nothing_left(state_dir, "two")


def test_a_damaged_record_does_not_keep_a_lab_up(raise_lab, state_dir) -> None:
    raise_lab(TWO)
    for damage in (b"", b"{}", b"\x00\xff", b'{"schema": 99}'):
        (state_dir / "two" / "lab.json").write_bytes(damage)
        assert "unreadable" in labs.running()[0].problems[0]
    assert labs.down_all() == ["two"]
    assert_nothing_left(state_dir, "two")


def test_programs_of_a_host_end_with_its_lab(raise_lab, tmp_path) -> None:
    lab = raise_lab(TWO)
    script = f"trap '' TERM HUP INT; setsid sleep 986 & echo up > {tmp_path}/up; sleep 985"
    running = subprocess.Popen(lab.hosts[0].argv(["sh", "-c", script]))
    until((tmp_path / "up").exists)
    labs.down(lab)
    assert running.wait(5) != 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            assert path.read_bytes() not in (b"sleep\x00986\x00", b"sleep\x00985\x00")


def test_a_lab_in_other_hands_is_left_alone(raise_lab, state_dir, monkeypatch) -> None:
    monkeypatch.setattr(state, "_PATIENCE_S", 0.05)
    raise_lab(TWO)
    with state.held("two"):
        assert labs.running()[0].busy
        for attempt in (lambda: labs.down("two"), lambda: labs.find("two"), labs.down_all):
            with pytest.raises(VaivenError) as caught:
                attempt()
            assert caught.value.code == "lab-busy"
    assert labs.find("two")


def test_what_is_not_up_is_said(state_dir) -> None:
    for attempt in (lambda: labs.down("two"), lambda: labs.find("two"), lambda: labs.find_host("two/h1")):
        with pytest.raises(VaivenError) as caught:
            attempt()
        assert caught.value.code == "no-lab"
    with pytest.raises(VaivenError) as caught:
        labs.find_host("h1")
    assert caught.value.code == "bad-host"


def test_a_process_number_used_again_is_not_the_holder(raise_lab) -> None:
    import msgspec

    here = namespace.Namespace(pid=os.getpid(), started_ticks=namespace._status(os.getpid())[2])
    assert here.alive()
    imposter = msgspec.structs.replace(here, started_ticks=here.started_ticks - 1)
    assert not imposter.alive()
    namespace.end([imposter])  # and does not kill us


def test_of_many_who_raise_the_same_name_one_succeeds(state_dir) -> None:
    script = "import sys; from vaiven.lab import lab as labs, topology; labs.up(topology.parse(sys.argv[1]))"
    racers = [subprocess.Popen([sys.executable, "-c", script, TWO], stderr=subprocess.PIPE) for _ in range(4)]
    errors = [racer.communicate()[1].decode() for racer in racers]
    assert sorted(racer.returncode for racer in racers) == [0, 1, 1, 1]
    assert all("a lab called two is there already" in error for error in errors if error)
    assert labs.find("two").problems() == ()
    assert len(holders(state_dir, "two")) == 3
