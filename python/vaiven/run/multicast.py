# SPDX-License-Identifier: BSD-3-Clause
"""Does one datagram to a group reach every host? All hosts say their name to a group for some seconds, and listen.

Nothing else finds a switch that swallows multicast: it is decided by equipment that no host can ask. The script below
is run on each host by its own python3, needs no privileges, and sends ten small datagrams a second that no router
forwards (TTL 1, a group of the local scope of RFC 2365).
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from vaiven.run.checks import Finding

# argv: group, port, own card, seconds, the key of this conversation, own name. Standard output: one JSON object.
SCRIPT = r"""
import collections, json, select, socket, struct, sys, time
group, port, card, seconds, key, name = sys.argv[1:]
port, seconds = int(port), float(seconds)
membership = struct.pack("4s4si", socket.inet_aton(group), bytes(4), socket.if_nametoindex(card))  # ip_mreqn
talk = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
talk.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
talk.bind((group, port))
talk.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, membership)
talk.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
try:
    igmp = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_IGMP)
except OSError:
    igmp = None
halves = [collections.Counter(), collections.Counter()]
queries, begin = 0, time.monotonic()
while (passed := time.monotonic() - begin) < seconds:
    talk.sendto(json.dumps([key, name]).encode(), (group, port))
    until = time.monotonic() + 0.1
    while (left := until - time.monotonic()) > 0:
        for heard in select.select([s for s in (talk, igmp) if s], [], [], left)[0]:
            data = heard.recv(2048)
            if heard is igmp:
                queries += data[(data[0] & 15) * 4] == 0x11
                continue
            try:
                said = json.loads(data)
            except ValueError:
                continue
            if isinstance(said, list) and len(said) == 2 and said[0] == key:
                halves[passed > seconds / 2][said[1]] += 1
print(json.dumps({"first": halves[0], "second": halves[1], "queries": queries if igmp else None}))
"""

QUERY_INTERVAL_S = 125  # RFC 3376, 8.2: whoever listens longer than that must have heard a querier


@dataclass(frozen=True)
class Conversation:
    """What all hosts must know: a group and port that nobody else uses, and a key that tells our datagrams."""

    group: str
    port: int
    key: str
    seconds: float

    def argv(self, name: str, card: str) -> list[str]:
        """The command that takes part under that name, on that interface."""
        place = [self.group, str(self.port), card]
        return ["python3", "-c", SCRIPT, *place, str(self.seconds), self.key, name]


@dataclass(frozen=True)
class Heard:
    """What one host heard: datagrams of each host, by halves of the time; IGMP queries, None where it may not know."""

    first: Mapping[str, int]
    second: Mapping[str, int]
    queries: int | None


def convene(seconds: float) -> Conversation:
    """A conversation of that length, in a group drawn by lot."""
    low, high = secrets.randbelow(254) + 1, secrets.randbelow(256)
    return Conversation(f"239.255.{high}.{low}", 20_000 + secrets.randbelow(10_000), secrets.token_hex(16), seconds)


def read(text: str) -> Heard | None:
    """The answer of one host; None if it is no answer."""
    try:
        said = json.loads(text)
        return Heard(said["first"], said["second"], said["queries"])
    except (ValueError, KeyError, TypeError):
        return None


def judge(heard: Mapping[str, Heard | None], seconds: float) -> list[Finding]:
    """Findings of a conversation among these hosts; None: that host took no part."""
    found = [_not_known(host) for host, answer in heard.items() if answer is None]
    present = {host: answer for host, answer in heard.items() if answer is not None}
    for host, answer in present.items():
        others = {
            other: (answer.first.get(other, 0), answer.second.get(other, 0)) for other in present if other != host
        }
        deaf = [other for other, (early, late) in others.items() if not early and not late]
        stopped = [other for other, (early, late) in others.items() if early and not late]
        if deaf:
            found.append(_deaf(host, deaf))
        if stopped:
            found.append(_stopped(host, stopped))
    queries = [answer.queries for answer in present.values() if answer.queries is not None]
    if seconds > QUERY_INTERVAL_S and queries and not any(queries):
        found.append(_no_querier(next(iter(present)), seconds))
    return found


def _not_known(host: str) -> Finding:
    return Finding(
        host, "multicast-unknown", "note", "could not take part in the test of multicast",
        "whether one datagram reaches all hosts is not known", "sudo apt-get install python3",
    )  # fmt: skip


def _deaf(host: str, others: list[str]) -> Finding:
    return Finding(
        host, "multicast-deaf", "caution", f"hears no multicast of {', '.join(others)}",
        "whatever sends once to many fails, or falls back to sending many times",
        "let the switch flood multicast, or give its VLAN an IGMP querier; look for a firewall: sudo nft list ruleset",
    )  # fmt: skip


def _stopped(host: str, others: list[str]) -> Finding:
    return Finding(
        host, "multicast-stops", "caution", f"heard multicast of {', '.join(others)} at first and then no more",
        "a switch forgets who is a member: what works at the start of a program fails minutes later",
        "give the switch's VLAN an IGMP querier, or turn its IGMP snooping off",
    )  # fmt: skip


def _no_querier(host: str, seconds: float) -> Finding:
    return Finding(
        host, "igmp-querier", "caution", f"nobody asked for members of groups in {seconds:.0f} s",
        "a switch that filters multicast will forget the members: it works at first, and stops minutes later",
        "give the switch's VLAN an IGMP querier, or turn its IGMP snooping off",
    )  # fmt: skip
