# SPDX-License-Identifier: BSD-3-Clause
"""What in a machine's set-up spoils a measurement: each check takes facts and gives findings, and does nothing else.

A finding says what is so, what that does to a measurement, and the command that mends it. Severities:
"problem": numbers will be wrong or missing; "caution": they will be worse, or spread more, than the network deserves;
"note": good to know when the numbers are read.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vaiven.lab import kernel
from vaiven.run.machine import CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_ADMIN, Interface, Machine

SEVERITIES = ("problem", "caution", "note")

GOOD_GOVERNORS = {"performance"}
GOOD_CLOCKS = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "tod", "timebase"}
IDLE_LATENCY_US_MAX = 10  # a wake-up slower than this is a visible share of a small message
LOAD_SHARE_MAX = 0.25  # of the CPUs
STEAL_SHARE_MAX = 0.01
RX_DELAY_US_MAX = 5  # a card's interrupt itself costs about as much
TIMER_SLACK_NS_MAX = 50_000  # the kernel's default


@dataclass(frozen=True)
class Finding:
    """Something to know about one host. `remedy` is a command line, or a sentence where no command helps."""

    host: str
    code: str
    severity: str
    what: str
    effect: str
    remedy: str


@dataclass(frozen=True)
class Subject:
    """A machine and the card that its messages take; None: not known which."""

    machine: Machine
    link: Interface | None

    def finding(self, code: str, severity: str, what: str, effect: str, remedy: str) -> Finding:
        return Finding(self.machine.name, code, severity, what, effect, remedy)


def check(subjects: Sequence[Subject]) -> list[Finding]:
    """All findings about these hosts, the gravest first."""
    found = [f for s in subjects for one in _OF_ONE for f in one(s)]
    found += [f for several in _OF_SEVERAL for f in several(subjects)]
    return by_severity(found)


def check_here(machine: Machine) -> list[Finding]:
    """What keeps this machine from raising labs and reaching hosts."""
    return [f for one in _OF_THIS_MACHINE for f in one(Subject(machine, None))]


def by_severity(findings: Sequence[Finding]) -> list[Finding]:
    """The gravest first, otherwise in the given order."""
    return sorted(findings, key=lambda f: SEVERITIES.index(f.severity))


def _governor(s: Subject) -> Iterator[Finding]:
    slow = [g for g in s.machine.governors if g not in GOOD_GOVERNORS]
    if slow:
        yield s.finding(
            "governor",
            "caution",
            f"the CPU frequency follows the load (governor {', '.join(slow)})",
            "small messages are timed on a slow CPU, large ones on a fast one: alpha grows, and knees appear that the"
            " network does not have",
            "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
        )


def _idle_states(s: Subject) -> Iterator[Finding]:
    deep = [i for i in s.machine.idle_states if i.enabled and i.latency_us > IDLE_LATENCY_US_MAX]
    if deep:
        worst = max(deep, key=lambda i: i.latency_us)
        yield s.finding(
            "c-states",
            "caution",
            f"an idle CPU sleeps as deep as {worst.name}, which takes {worst.latency_us} us to wake up from",
            f"a host that waits for a message may add up to {worst.latency_us} us to it, more after longer pauses;"
            " vaiven measure --awake keeps it from that while it measures",
            f"sudo cpupower idle-set -D {IDLE_LATENCY_US_MAX}",
        )


def _clock(s: Subject) -> Iterator[Finding]:
    clock = s.machine.clock_source
    if clock is None or clock in GOOD_CLOCKS:
        return
    better = next((c for c in s.machine.clock_sources if c in GOOD_CLOCKS), None)
    yield s.finding(
        "clock-source",
        "caution",
        f"the clock is {clock}, outside the processor: a reading costs about a microsecond",
        "every timed exchange carries two readings; short ones are timed in batches",
        f"echo {better} | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource"
        if better
        else "the kernel found no better clock here; look for `clocksource` in dmesg",
    )


def _slow_start(s: Subject) -> Iterator[Finding]:
    if s.machine.slow_start_after_idle:
        yield s.finding(
            "slow-start-after-idle",
            "note",
            "TCP forgets its window when a connection was idle for longer than its retransmission timeout",
            "messages beyond ten segments take extra round trips after a pause; messages in a row are not touched",
            "sudo sysctl -w net.ipv4.tcp_slow_start_after_idle=0",
        )


def _load(s: Subject) -> Iterator[Finding]:
    load = s.machine.load_1min
    if load is not None and load > LOAD_SHARE_MAX * s.machine.cpus:
        yield s.finding(
            "load",
            "caution",
            f"{load:.1f} processes were running during the last minute, on {s.machine.cpus} CPUs",
            "a message waits whenever its process waits for a CPU: milliseconds in p99, a wide interval of the median",
            "stop what runs there: ps -eo pcpu,pid,user,args --sort=-pcpu | head",
        )


def _steal(s: Subject) -> Iterator[Finding]:
    share = s.machine.steal_share
    if share is not None and share > STEAL_SHARE_MAX:
        yield s.finding(
            "steal",
            "caution",
            f"the machine under this virtual machine took {100 * share:.0f} % of the CPU time away",
            "the clock runs on while the guest stands still: outliers of milliseconds that the guest cannot mend",
            "give the guest CPUs of its own (pinning, a dedicated host), or measure when the host is quiet",
        )


def _timer_slack(s: Subject) -> Iterator[Finding]:
    slack_ns = s.machine.timer_slack_ns
    if slack_ns is not None and slack_ns > TIMER_SLACK_NS_MAX:
        yield s.finding(
            "timer-slack",
            "caution",
            f"timers may fire up to {slack_ns // 1000} us late (timer slack of the shell; the usual value is 50)",
            "whatever waits with a timeout wakes up late: retransmissions, paced senders, polling libraries",
            "echo 50000 | sudo tee /proc/$$/timerslack_ns",
        )


def _wireless(s: Subject) -> Iterator[Finding]:
    if s.link and s.link.wireless:
        yield s.finding(
            "wireless",
            "problem",
            f"{s.link.name} is a wireless card",
            "its medium is shared, retries by itself and changes its rate: alpha and beta are not properties of it",
            "use a cable, and name its card with --iface",
        )


def _half_duplex(s: Subject) -> Iterator[Finding]:
    if s.link and s.link.duplex == "half":
        yield s.finding(
            "half-duplex",
            "caution",
            f"{s.link.name} speaks half duplex",
            "both directions share the wire: right for a hub, a mismatch (collisions, loss under load) on a switch",
            f"sudo ethtool -s {shlex.quote(s.link.name)} autoneg on",
        )


def _offloads(s: Subject) -> Iterator[Finding]:
    if s.link and s.link.offloads:
        names = sorted(s.link.offloads)
        yield s.finding(
            "offloads",
            "note",
            f"{s.link.name} cuts and joins segments below TCP ({', '.join(names)})",
            "large messages cost less CPU, and the steps at each further frame are smoothed; programs have it so too",
            f"sudo ethtool -K {shlex.quote(s.link.name)} {' '.join(f'{name} off' for name in names)}",
        )


def _coalescing(s: Subject) -> Iterator[Finding]:
    if s.link and (s.link.rx_adaptive or (s.link.rx_delay_us or 0) > RX_DELAY_US_MAX):
        how = "as long as it sees fit" if s.link.rx_adaptive else f"up to {s.link.rx_delay_us} us"
        yield s.finding(
            "coalescing",
            "caution",
            f"{s.link.name} keeps arriving frames {how} before it interrupts",
            "alpha grows by that time at each end, and falls under load: a busy network looks quicker than an idle one",
            f"sudo ethtool -C {shlex.quote(s.link.name)} adaptive-rx off rx-usecs 0",
        )


def _multicast_off(s: Subject) -> Iterator[Finding]:
    if s.link and not s.link.multicast:
        yield s.finding(
            "multicast-off",
            "caution",
            f"{s.link.name} takes no multicast",
            "whatever sends once to many falls back to sending many times",
            f"sudo ip link set dev {shlex.quote(s.link.name)} multicast on",
        )


def _querier(s: Subject) -> Iterator[Finding]:
    for bridge in s.machine.interfaces:
        if bridge.snooping and not bridge.querier:
            yield s.finding(
                "igmp-querier",
                "caution",
                f"the bridge {bridge.name} filters multicast by who asked for it, and asks nobody itself",
                "unless a router asks, members are forgotten and multicast stops minutes after it began",
                f"sudo ip link set dev {shlex.quote(bridge.name)} type bridge mcast_querier 1",
            )


def _privileges(s: Subject) -> Iterator[Finding]:
    if s.machine.can(CAP_NET_RAW):
        return
    yield s.finding(
        "no-raw-sockets",
        "caution",
        "no CAP_NET_RAW: raw Ethernet (stack eth) cannot be measured",
        "icmp is measured through a ping socket"
        if s.machine.may_ping
        else "icmp is measured through the system's ping",
        'sudo setcap cap_net_raw+ep "$(command -v vaiven-probe)"',
    )
    if not s.machine.may_ping and "ping" not in s.machine.programs:
        yield s.finding(
            "no-ping",
            "problem",
            "neither raw sockets, nor ping sockets, nor the program ping",
            "icmp cannot be measured",
            "sudo apt-get install iputils-ping",
        )


def _lab_privileges(s: Subject) -> Iterator[Finding]:
    if not (s.machine.can(CAP_NET_ADMIN) and s.machine.can(CAP_SYS_ADMIN)):
        yield s.finding(
            "free-labs-only",
            "note",
            "not root: a lab has no timed or paced fabric",
            "labs work, at the speed of the machine (class free)",
            "run vaiven as root for the other classes",
        )


def _lab_kernel(s: Subject) -> Iterator[Finding]:
    if kernel.is_old(s.machine.kernel.removeprefix("Linux ")):
        yield s.finding(
            "old-kernel",
            "note",
            f"{s.machine.kernel}: a lab has no timed fabric, nor a paced hub",
            "labs that are free, and paced switches, work",
            f"Linux {'.'.join(map(str, kernel.RELEASE_MIN))} or newer, of Debian 12 that of its backports",
        )


def _ssh(s: Subject) -> Iterator[Finding]:
    if "ssh" not in s.machine.programs:
        yield s.finding(
            "no-ssh",
            "note",
            "the program ssh is missing",
            "from here only this machine and its labs can be measured",
            "sudo apt-get install openssh-client",
        )


def _mtu_mismatch(subjects: Sequence[Subject]) -> Iterator[Finding]:
    mtus = {s.machine.name: s.link.mtu_bytes for s in subjects if s.link}
    if len(set(mtus.values())) < 2:
        return
    common = min(mtus.values())
    told = ", ".join(f"{name} {mtu}" for name, mtu in mtus.items())
    for s in subjects:
        if s.link and s.link.mtu_bytes != common:
            yield s.finding(
                "mtu-mismatch",
                "problem",
                f"the hosts do not agree on the MTU ({told})",
                "frames above the smaller one vanish, or come in pieces one way and whole the other: large messages"
                " hang, and the two directions differ",
                f"sudo ip link set dev {shlex.quote(s.link.name)} mtu {common}",
            )


def _speed_mismatch(subjects: Sequence[Subject]) -> Iterator[Finding]:
    speeds = {s.machine.name: s.link.speed_mbps for s in subjects if s.link and s.link.speed_mbps}
    if len(set(speeds.values())) < 2:
        return
    told = ", ".join(f"{name} {speed}" for name, speed in speeds.items())
    slowest = min(speeds, key=lambda name: speeds[name] or 0)
    subject = next(s for s in subjects if s.machine.name == slowest)
    yield subject.finding(
        "speed-mismatch",
        "caution",
        f"the links have different rates, in Mb/s ({told})",
        "the switch queues what arrives faster than it leaves: the slow link sets beta, the directions may differ",
        f"sudo ethtool -s {shlex.quote(subject.link.name if subject.link else '')} autoneg on",
    )


def _congestion_mismatch(subjects: Sequence[Subject]) -> Iterator[Finding]:
    controls = {s.machine.name: s.machine.congestion_control for s in subjects if s.machine.congestion_control}
    if len(set(controls.values())) < 2:
        return
    told = ", ".join(f"{name} {control}" for name, control in controls.items())
    common = subjects[0].machine.congestion_control or next(iter(controls.values()))
    for s in subjects:
        if s.machine.congestion_control not in (None, common):
            yield s.finding(
                "congestion-mismatch",
                "caution",
                f"TCP of the hosts sends by different rules ({told})",
                "the two directions of a bulk transfer take different times, and so do hosts that are otherwise equal",
                f"sudo sysctl -w net.ipv4.tcp_congestion_control={shlex.quote(common)}",
            )


_OF_ONE = (
    _governor,
    _idle_states,
    _clock,
    _slow_start,
    _load,
    _steal,
    _timer_slack,
    _wireless,
    _half_duplex,
    _coalescing,
    _offloads,
    _multicast_off,
    _querier,
    _privileges,
)
_OF_SEVERAL = (_mtu_mismatch, _speed_mismatch, _congestion_mismatch)
_OF_THIS_MACHINE = (_lab_privileges, _lab_kernel, _ssh)
