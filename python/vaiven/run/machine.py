# SPDX-License-Identifier: BSD-3-Clause
"""What a host says about itself, as far as it matters to a measurement: asked by a shell script, read here.

`QUESTIONS` is a POSIX shell script that runs on any host without privileges and changes nothing. Its answer is text:
a line `@ KEY`, then the value, for each fact that the host has (KEY is the file that was read, or a word). What only
drivers know is told by `vaiven-probe inventory`; its line is one more fact, `@ inventory`. Such a text can be kept and
read again, so that a test replays a machine that is not there.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

# Files that a host does not have are left out of its answer.
QUESTIONS = r"""
say() {
  for f in "$@"; do [ -f "$f" ] && [ -r "$f" ] && v=$(cat "$f" 2>/dev/null) && printf '@ %s\n%s\n' "$f" "$v"; done
}
printf '@ uname\n%s\n' "$(uname -srm)"
printf '@ hostname\n%s\n' "$(uname -n)"
printf '@ stat-first\n%s\n' "$(head -n 1 /proc/stat)"
say /proc/loadavg /proc/net/route /proc/self/timerslack_ns
say /proc/sys/net/ipv4/tcp_congestion_control /proc/sys/net/ipv4/tcp_slow_start_after_idle
say /proc/sys/net/ipv4/ping_group_range
say /sys/devices/system/clocksource/clocksource0/*_clocksource
say /sys/devices/system/cpu/online /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor
for s in /sys/devices/system/cpu/cpu0/cpuidle/state*; do say "$s/name" "$s/latency" "$s/disable"; done
for d in /sys/class/net/*; do
  say "$d/flags" "$d/mtu" "$d/speed" "$d/duplex" "$d/bridge/multicast_snooping" "$d/bridge/multicast_querier"
  [ -d "$d/wireless" ] || [ -d "$d/phy80211" ] && printf '@ %s/is\nwireless\n' "$d"
  [ -e "$d/device" ] || printf '@ %s/is\nvirtual\n' "$d"
  [ -e "$d/brport/bridge" ] && printf '@ %s/master\n%s\n' "$d" "$(basename "$(readlink -f "$d/brport/bridge")")"
done
printf '@ groups\n%s\n' "$(id -G)"
printf '@ capabilities\n%s\n' "$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)"
for p in ping ssh; do command -v "$p" >/dev/null 2>&1 && printf '@ program %s\nyes\n' "$p"; done
sleep 1
printf '@ stat-last\n%s\n' "$(head -n 1 /proc/stat)"
"""

_NET = "/sys/class/net/"
_CPU = "/sys/devices/system/cpu/"
_CLOCK = "/sys/devices/system/clocksource/clocksource0/"
_OFFLOADS = {
    "tso": "tcp-segmentation-offload",
    "gso": "generic-segmentation-offload",
    "gro": "generic-receive-offload",
    "lro": "large-receive-offload",
}
CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_ADMIN = 12, 13, 21


@dataclass(frozen=True)
class Interface:
    """A network interface. None: the host does not say (a virtual card has no speed)."""

    name: str
    mtu_bytes: int
    up: bool
    multicast: bool
    speed_mbps: int | None = None
    duplex: str | None = None
    wireless: bool = False
    virtual: bool = False
    master: str | None = None  # the bridge that it is a port of
    snooping: bool | None = None  # a bridge: forwards multicast only where somebody asked for it
    querier: bool | None = None  # a bridge: asks who wants what
    offloads: frozenset[str] | None = None  # work of the protocols that card or driver does: "tso", "gso", "gro", "lro"
    rx_delay_us: int | None = None  # how long the card may keep a frame before it interrupts
    rx_adaptive: bool | None = None  # it chooses that delay itself


@dataclass(frozen=True)
class IdleState:
    """A sleep of the CPU and the time it takes to wake up."""

    name: str
    latency_us: int
    enabled: bool


@dataclass(frozen=True)
class Machine:
    """The facts of one host. None: it does not say."""

    name: str  # as the user wrote it
    hostname: str
    kernel: str  # "Linux 6.1.0 x86_64"
    cpus: int
    governors: tuple[str, ...]  # distinct, sorted; empty where frequency is not ours to choose
    idle_states: tuple[IdleState, ...]
    clock_source: str | None
    clock_sources: tuple[str, ...]
    load_1min: float | None
    steal_share: float | None  # of all CPU time, during the second in which the host was asked
    timer_slack_ns: int | None
    congestion_control: str | None  # of TCP
    slow_start_after_idle: bool | None
    capabilities: int  # effective, a bit per capability
    may_ping: bool  # unprivileged ping sockets are open to the user's groups
    programs: frozenset[str]
    interfaces: tuple[Interface, ...]
    way_out: str | None  # the interface of its default route

    def can(self, capability: int) -> bool:
        """Whether the user has that capability there."""
        return bool(self.capabilities >> capability & 1)

    def interface(self, name: str) -> Interface | None:
        """The interface of that name."""
        return next((i for i in self.interfaces if i.name == name), None)

    def link(self, name: str = "") -> Interface | None:
        """The interface of that name; without a name the way out, or else the only card that is up."""
        if name or self.way_out:
            return self.interface(name or self.way_out or "")
        cards = [i for i in self.interfaces if i.up and i.name != "lo"]
        return cards[0] if len(cards) == 1 else None


def sections(text: str) -> dict[str, str]:
    """The answer to QUESTIONS as KEY -> value."""
    parts = re.split(r"^@ (.+)\n", text, flags=re.MULTILINE)
    return {key: value.strip() for key, value in zip(parts[1::2], parts[2::2], strict=True)}


def read(name: str, text: str) -> Machine:
    """The machine that gave this answer. Facts that are missing or unreadable become None or empty, never an error."""
    said = sections(text)
    slow = said.get("/proc/sys/net/ipv4/tcp_slow_start_after_idle")
    return Machine(
        name=name,
        hostname=said.get("hostname", ""),
        kernel=said.get("uname", ""),
        cpus=_count_cpus(said.get(_CPU + "online", "")),
        governors=tuple(sorted({v for k, v in said.items() if k.endswith("/scaling_governor")})),
        idle_states=_idle_states(said),
        clock_source=said.get(_CLOCK + "current_clocksource"),
        clock_sources=tuple(said.get(_CLOCK + "available_clocksource", "").split()),
        load_1min=_number(said.get("/proc/loadavg", "").split(" ")[0]),
        steal_share=_steal_share(said.get("stat-first", ""), said.get("stat-last", "")),
        timer_slack_ns=_integer(said.get("/proc/self/timerslack_ns")),
        congestion_control=said.get("/proc/sys/net/ipv4/tcp_congestion_control"),
        slow_start_after_idle=None if slow is None else slow != "0",
        capabilities=_hexadecimal(said.get("capabilities")),
        may_ping=_may_ping(said.get("/proc/sys/net/ipv4/ping_group_range", ""), said.get("groups", "")),
        programs=frozenset(k.removeprefix("program ") for k in said if k.startswith("program ")),
        interfaces=_interfaces(said),
        way_out=_way_out(said.get("/proc/net/route", "")),
    )


def _number(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:
        return None


def _integer(text: str | None) -> int | None:
    value = _number(text)
    return None if value is None else int(value)


def _hexadecimal(text: str | None) -> int:
    return int(text, 16) if text and re.fullmatch(r"(0x)?[0-9a-f]+", text) else 0


def _count_cpus(ranges: str) -> int:
    """CPUs in a list such as "0-3,6"; 1 where the host does not say."""
    parts = re.findall(r"(\d+)(?:-(\d+))?", ranges.partition("\n")[0])
    return max(sum(int(last or first) - int(first) + 1 for first, last in parts), 1)


def _idle_states(said: dict[str, str]) -> tuple[IdleState, ...]:
    pattern = re.compile(re.escape(_CPU) + r"cpu0/cpuidle/state(\d+)/name")
    states = sorted(int(found.group(1)) for found in map(pattern.fullmatch, said) if found)
    base = _CPU + "cpu0/cpuidle/state{}/"
    return tuple(
        IdleState(
            name=said[base.format(n) + "name"],
            latency_us=_integer(said.get(base.format(n) + "latency")) or 0,
            enabled=said.get(base.format(n) + "disable", "0") == "0",
        )
        for n in states
    )


def _steal_share(first: str, last: str) -> float | None:
    """The share of `steal`, the eighth column of the cpu line of /proc/stat, between two readings."""
    before, after = ([int(v) for v in re.findall(r"\b\d+", line)[:8]] for line in (first, last))
    if len(before) < 8 or len(after) < 8 or sum(after) <= sum(before):
        return None
    return (after[7] - before[7]) / (sum(after) - sum(before))


def _may_ping(group_range: str, groups: str) -> bool:
    bounds = [int(v) for v in re.findall(r"\d+", group_range)]
    return len(bounds) == 2 and any(bounds[0] <= int(g) <= bounds[1] for g in re.findall(r"\d+", groups))


def _interfaces(said: dict[str, str]) -> tuple[Interface, ...]:
    names = [k.removeprefix(_NET).removesuffix("/mtu") for k in said if k.startswith(_NET) and k.endswith("/mtu")]
    return tuple(_interface(name, said) for name in sorted(names))


def _interface(name: str, said: dict[str, str]) -> Interface:
    def fact(key: str) -> str | None:
        return said.get(f"{_NET}{name}/{key}")

    flags, speed = _hexadecimal(fact("flags")), _integer(fact("speed"))
    card = _card(said, name)
    snooping, querier = fact("bridge/multicast_snooping"), fact("bridge/multicast_querier")
    return Interface(
        name=name,
        mtu_bytes=_integer(fact("mtu")) or 0,
        up=bool(flags & 0x1),
        multicast=bool(flags & 0x1000),
        speed_mbps=speed if speed and speed > 0 else None,
        duplex=fact("duplex") if fact("duplex") in ("half", "full") else None,
        wireless=fact("is") == "wireless",
        virtual=fact("is") == "virtual",
        master=fact("master"),
        snooping=None if snooping is None else snooping == "1",
        querier=None if querier is None else querier == "1",
        offloads=_offloads(card.get("offloads")),
        rx_delay_us=card.get("rx_delay_us"),
        rx_adaptive=card.get("rx_adaptive"),
    )


def _card(said: dict[str, str], name: str) -> dict[str, Any]:
    """What the probe's inventory says about that card."""
    try:
        cards = json.loads(said.get("inventory", "{}")).get("nics", [])
    except ValueError:
        cards = []
    return next((card for card in cards if card.get("name") == name), {})


def _offloads(told: dict[str, bool | None] | None) -> frozenset[str] | None:
    if told is None or all(told.get(name) is None for name in _OFFLOADS.values()):
        return None
    return frozenset(short for short, name in _OFFLOADS.items() if told.get(name))


def _way_out(table: str) -> str | None:
    """The interface of the default route of the least metric in /proc/net/route."""
    rows = re.findall(r"^(\S+)\t0{8}\t[0-9A-F]{8}\t[0-9A-F]+\t\d+\t\d+\t(\d+)\t0{8}\t", table, re.MULTILINE)
    return min(rows, key=lambda row: int(row[1]))[0] if rows else None
