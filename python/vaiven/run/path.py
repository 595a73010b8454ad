# SPDX-License-Identifier: BSD-3-Clause
"""Which path did a launch take, and was it alone on it? Counters of interfaces against what was sent.

A library that quietly uses shared memory, a card that drops, another program on the same wire: all of them give
numbers that look fine. Whether somebody else was on the path is asked of every end, from its first cell to its last,
when all that is there of ours is known: messages, the control connection, headers, acknowledgements, and what was
sent again. How much of that a library may send from end to end, and acknowledge, can only be bounded for an end alone.
So its launch is asked as a whole, too: what comes to one of its hosts has left another, or is a stranger's.
Pure: the text of /proc and what probes tell in, values out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

import msgspec

from vaiven.errors import VaivenError
from vaiven.plan.design import Available

FILES = ("dev", "softnet_stat")  # of /proc/net

_ANOTHER = "another-path"
_SHARE_MIN = 0.5  # segments of one send share their headers until the card cuts them; padding is not counted
FOREIGN_MAX = 0.025  # of the bytes seen at an end: more is somebody else
_FOREIGN_LEAST_BYTES = 2_000  # neighbours are looked up, and networks have a life of their own
_ACK_BYTES = 80  # the largest acknowledgement: of TCP with a block of SACK (RFC 2018)
_DAEMON_ACK_BYTES = 58  # of a daemon of PVM
_DELAYED = 8  # of so many messages that fit a frame one is acknowledged by itself: its answer was late (RFC 1122)
_SEGMENT_BYTES = 1514  # one that is sent again
_FRAME_MIN_BYTES = 60  # cards fill shorter ones, and may count what they filled
_FCS_BYTES = 4  # which some cards count, too
_UNACKNOWLEDGED = ("icmp", "eth", "udp", "raw")
_MULTICAST = ":group"  # of the stacks of libraries, whose frames come to several at once
# What a station of LLC sends again, of ours or of Open MPI's component; who asks the server of PVM's groups.
_UNCOUNTED = ("llc", "openmpi-llc", "pvm-bcast")
# PVM sends headers and fragments by themselves, and its daemons and server of groups answer; ranks of a group say how
# far they are.
_PIECES = {"pvm": 6, "group": 3}
_PIECES_OF_A_PROGRAM = 16  # which meets its receivers and parts from them for each message
_HOME = 1.5  # times a record, where it goes home over ssh, with all that is around it
_HOME_BYTES = 3_000  # and of some records


@dataclass(frozen=True)
class Counters:
    """An interface's counters since it exists; softnet_dropped: frames that the whole machine had no time for."""

    tx_bytes: int
    tx_frames: int
    rx_bytes: int
    rx_frames: int
    rx_dropped: int
    softnet_dropped: int

    def since(self, before: Counters) -> Counters:
        """What was added after `before`."""
        return Counters(*(now - then for now, then in zip(self._all(), before._all(), strict=True)))

    def _all(self) -> tuple[int, ...]:
        return tuple(asdict(self).values())


@dataclass(frozen=True)
class Way:
    """What went one way."""

    bytes: int = 0
    frames: int = 0
    messages: int = 0

    def __add__(self, other: Way) -> Way:
        return Way(self.bytes + other.bytes, self.frames + other.frames, self.messages + other.messages)

    def times(self, count: int) -> Way:
        return Way(self.bytes * count, self.frames * count, self.messages * count)


@dataclass(frozen=True)
class Grown:
    """What a launch added to the counters of its ends. far: None where it is the same machine, or cannot say."""

    near: Counters
    far: Counters | None = None

    @property
    def softnet_dropped(self) -> int:
        return max(end.softnet_dropped for end in (self.near, self.far) if end)


class Both(msgspec.Struct, frozen=True):
    """What an end sent and what it got. messages: 0 where they are not told apart from frames."""

    tx_bytes: int
    tx_frames: int
    rx_bytes: int
    rx_frames: int
    tx_messages: int = 0
    rx_messages: int = 0

    @property
    def ways(self) -> tuple[Way, Way]:
        """That which it sent, and that which it got."""
        return (
            Way(self.tx_bytes, self.tx_frames, self.tx_messages),
            Way(self.rx_bytes, self.rx_frames, self.rx_messages),
        )


class Crossed(msgspec.Struct, frozen=True):
    """A "traffic" record: what crossed the interface of an end, from its first cell to its last.

    seen: by the counters of the interface. control: of that the control connections, in whole frames; None: its system
    does not tell. messages: what the end gave to its stack and got from it, in frames without their headers of
    header_bytes; None: not all were counted. resent: segments that TCP of that host sent again. printed_bytes: records
    that it wrote meanwhile.
    """

    end: str
    address: str
    interface: str
    seen: Both
    control: Both | None
    messages: Both | None
    header_bytes: int
    resent: int
    printed_bytes: int = 0


@dataclass(frozen=True)
class Manner:
    """How messages of a stack travel.

    acknowledged: by frames of their own, of ack_bytes at most. pieces: small ones in which a library gives a message
    away, and arranges it. uncounted: what it sends again nobody counts. copies: of one message for all, how many may
    cross the interface of one end. returned: what an end gave comes back to it. real: between real hosts, whose cards
    fill short frames and may count check sequences, and whose records go home over the same interface.

    hosts: of a library that sends from one to one, how many there are, which have all it sends among them; 0: some of
    its frames come to several at once, or it is none.
    """

    acknowledged: bool = False
    ack_bytes: int = _ACK_BYTES
    pieces: int = 1
    uncounted: bool = False
    copies: int = 1
    returned: bool = False
    real: bool = False
    hosts: int = 0


@dataclass(frozen=True)
class Share:
    """Of what crossed the interface of a host, what can be ours at most, and what is certainly not."""

    address: str
    interface: str
    seen_bytes: int
    own_bytes: int
    foreign_bytes: int

    @property
    def shared(self) -> bool:
        return _is_shared(self.foreign_bytes, self.seen_bytes)


def manner(stack: str, known: Available, fars: int, hosts: int, *, real: bool) -> Manner:
    """Of a stack's messages to so many far ends, on so many hosts with the near one: a library that sends to all may do
    so from end to end; what is neither bare nor UDP is acknowledged. Daemons of PVM send again what is late, and tell
    nobody."""
    daemons = known.library == "pvm" and "-default" in stack
    return Manner(
        acknowledged=stack not in _UNACKNOWLEDGED,
        ack_bytes=_DAEMON_ACK_BYTES if daemons else _ACK_BYTES,
        pieces=_PIECES_OF_A_PROGRAM if known.program else _PIECES.get(known.library or stack, 1),
        uncounted=daemons or bool(known.program) or stack.startswith(_UNCOUNTED),
        copies=fars if known.library and known.to_all else 1,
        returned=":scatter" in stack,
        real=real,
        hosts=0 if not known.library or stack.endswith(_MULTICAST) else hosts,
    )


def counters(text: str, interface: str) -> Counters | None:
    """The counters of that interface in those FILES, one after the other; None if it has no such interface."""
    row = re.search(rf"^\s*{re.escape(interface)}:\s*((?:\d+\s+){{15}}\d+)\s*$", text, re.MULTILINE)
    if not row:
        return None
    rx_bytes, rx_frames, _, rx_dropped, *_ = numbers = [int(word) for word in row[1].split()]
    softnet = re.findall(r"^[0-9a-f]{8} ([0-9a-f]{8}) [0-9a-f]{8} ", text, re.MULTILINE)
    return Counters(numbers[8], numbers[9], rx_bytes, rx_frames, rx_dropped, sum(int(word, 16) for word in softnet))


def echoed(near: Crossed, grown: Grown, address: str, interface: str) -> Crossed | None:
    """What the host saw whose kernel answered that near end: all of the launch, in which nothing came but its messages.

    What the near end saw before its first cell is what its stack does to open: it counts as control. None: not known.
    """
    if not grown.far:
        return None
    seen, whole = (Both(*_ways(one)) for one in (grown.far, grown.near))
    opening = [all_of_it - cells for all_of_it, cells in zip(_ways(whole), _ways(near.seen), strict=True)]
    messages = near.messages and msgspec.structs.replace(
        Both(*_crossed_over(_ways(near.messages))),
        tx_messages=near.messages.rx_messages,
        rx_messages=near.messages.tx_messages,
    )
    return Crossed("far", address, interface, seen, Both(*_crossed_over(opening)), messages, near.header_bytes, 0)


def shares(crossed: Sequence[Crossed], manner: Manner, resent: int = 0) -> list[Share]:
    """One for each host whose traffic is known, its ends together. resent: pieces that a stack itself sent again."""
    seen = [one for one in crossed if one.interface != "lo"]  # loopback counts everything twice
    known = [one for one in seen if one.messages and one.control]
    if manner.uncounted and len(known) < len(seen):  # what one sends again only the other can tell
        return []
    again_bytes = max(resent, sum(one.resent for one in crossed)) * _SEGMENT_BYTES
    ends = groupby(sorted(known, key=_place), key=_place)
    beyond = {place: _beyond(list(group), manner, again_bytes) for place, group in ends}
    return [_share(place, beyond, manner) for place in beyond]


def unsent_bytes(crossed: Sequence[Crossed], manner: Manner) -> int:
    """What came to the hosts of a launch although none of them had sent it, at least; 0 where that cannot be told.

    What was sent and did not come was lost: that is no stranger's. A card or its kernel may glue together what it
    sends, and cut what it gets: more frames have more headers. So has the little that the near end still sends, and
    gets acknowledged, when it has read its counters.
    """
    hosts = [list(ends) for _, ends in groupby(sorted(crossed, key=_place), key=_place)]
    if not hosts or len(hosts) != manner.hosts or any(one.interface == "lo" or _late(one) for one in crossed):
        return 0
    sent, got = (sum((max((one.seen.ways[n] for one in ends), key=_bytes) for ends in hosts), Way()) for n in (0, 1))
    header_bytes = max(one.header_bytes for one in crossed)
    own_bytes = sent.bytes + header_bytes * max(0, got.frames - sent.frames)
    if manner.real:
        own_bytes += (_FCS_BYTES + max(0, _FRAME_MIN_BYTES - header_bytes)) * got.frames
        own_bytes += sum(map(_home_bytes, hosts))
    return max(0, got.bytes - own_bytes)


def expected_tx_bytes(crossed: Sequence[Crossed]) -> int | None:
    """What the near end's messages are to the counters of its interface, whole frames; None where that is not known."""
    near = next((one for one in crossed if one.end == "near" and one.messages), None)
    return near.messages.tx_bytes + near.header_bytes * near.messages.tx_frames if near and near.messages else None


def findings(
    crossed: Sequence[Crossed], grown: Grown | None = None, manner: Manner = Manner(), resent: int = 0
) -> list[tuple[str, str]]:
    """(code, text) of what is suspicious about the path of a launch."""
    found = list(_strayed(crossed))
    found += [("shared-path", f"{said}: something else is sending too") for said in _shared(crossed, manner, resent)]
    if grown and grown.softnet_dropped > 0:
        found.append(
            ("softnet-drops", f"{grown.softnet_dropped} frames were dropped: this machine is too slow for them")
        )
    return found


def refused(crossed: Sequence[Crossed]) -> VaivenError | None:
    """Why a launch does not count whose library chose the path itself; None if the messages crossed the interface."""
    for _, text in _strayed(crossed):
        remedy = (
            "a library that shares memory between hosts of one machine must be told not to: see hello of the launch"
        )
        return VaivenError(text, remedy, code=_ANOTHER)
    return None


def facts(
    crossed: Sequence[Crossed], grown: Grown | None = None, manner: Manner = Manner(), resent: int = 0
) -> dict[str, Any]:
    """What is recorded of the path of a launch: what it added to the interfaces, and between its first and last cell
    what there was at each end, and of that what can be its own; what none of its hosts had sent, if that is known to be
    anything. {} when nothing is known."""
    near = asdict(grown.near) if grown else {}
    far = {"far": asdict(grown.far)} if grown and grown.far else {}
    ends = [asdict(one) for one in shares(crossed, manner, resent)]
    expected, unsent = expected_tx_bytes(crossed), unsent_bytes(crossed, manner)
    return {**near, **far, **({"expected_tx_bytes": expected} if expected is not None else {}),
            **({"ends": ends} if ends else {}), **({"unsent_bytes": unsent} if unsent else {})}  # fmt: skip


def _ways(one: Both | Counters) -> list[int]:
    return [one.tx_bytes, one.tx_frames, one.rx_bytes, one.rx_frames]


def _crossed_over(ways: Sequence[int]) -> tuple[int, ...]:
    """What one end sends the other gets."""
    return (*ways[2:], *ways[:2])


def _bytes(way: Way) -> int:
    return way.bytes


def _place(one: Crossed) -> tuple[str, str]:
    return one.address, one.interface


def _strayed(crossed: Sequence[Crossed]) -> Iterator[tuple[str, str]]:
    expected = expected_tx_bytes(crossed)
    if expected is None:
        return
    seen = next(one.seen.tx_bytes for one in crossed if one.end == "near" and one.messages)
    if seen < _SHARE_MIN * expected:
        said = f"{seen} bytes left the interface where {expected} were expected"
        yield _ANOTHER, f"{said}: the messages took another path"


def _shared(crossed: Sequence[Crossed], manner: Manner, resent: int) -> Iterator[str]:
    """What says that a stranger was there: at a host, or, where none of them alone can tell, at all together."""
    at_hosts = [one for one in shares(crossed, manner, resent) if one.shared]
    for one in at_hosts:
        said = f"{one.seen_bytes} bytes crossed {one.interface} of {one.address} while cells were measured"
        yield f"{said}, {one.foreign_bytes} of them at least were not ours"
    unsent = unsent_bytes(crossed, manner)
    if not unsent or at_hosts:
        return
    seen = {_place(one): sum(way.bytes for way in one.seen.ways) for one in crossed}
    if _is_shared(unsent, min(seen.values())):  # to which of them it came nobody knows
        said = f"{sum(seen.values())} bytes crossed the interfaces of {len(seen)} hosts while cells were measured"
        yield f"{said}, {unsent} of them at least came to these and were sent by none of them"


def _is_shared(foreign_bytes: int, seen_bytes: float) -> bool:
    return foreign_bytes > max(FOREIGN_MAX * seen_bytes, _FOREIGN_LEAST_BYTES)


def _late(one: Crossed) -> bool:
    """Whether its counters lack some of what it certainly sent or got: there are cards that tell them once a second."""
    ways = zip(one.seen.ways, one.messages.ways if one.messages else (), strict=False)
    return any(seen.bytes < messages.bytes for seen, messages in ways)


def _home_bytes(ends: Sequence[Crossed]) -> int:
    """What records of these ends of a host are at most, that go home over the same interface."""
    return _HOME_BYTES + round(_HOME * sum(one.printed_bytes for one in ends))


@dataclass(frozen=True)
class _Beyond:
    """What was seen at a host's interface, and by how much what it sent and got is more than can be its own."""

    seen_bytes: int
    tx_bytes: int
    rx_bytes: int


def _share(place: tuple[str, str], beyond: Mapping[tuple[str, str], _Beyond], manner: Manner) -> Share:
    """Where nobody counts what is sent again, what left one of our ends and came to another is no stranger's; nor is
    what left one and came nowhere, for it was lost, and therefore sent again."""
    own = beyond[place]
    foreign_bytes = own.tx_bytes + own.rx_bytes
    if manner.uncounted:
        others_sent = sum(one.tx_bytes for other, one in beyond.items() if other != place)
        foreign_bytes = max(0, own.rx_bytes - others_sent)
    return Share(*place, own.seen_bytes, own.seen_bytes - foreign_bytes, foreign_bytes)


def _beyond(ends: Sequence[Crossed], manner: Manner, again_bytes: int) -> _Beyond:
    """Of ends that share an interface. Their counters were read at almost the same time: the most of them counts."""
    header_bytes = max(one.header_bytes for one in ends)
    sent, got = (sum((one.messages.ways[n] for one in ends if one.messages), Way()) for n in (0, 1))
    sent += max(sent, got, key=_bytes).times(manner.copies - 1)  # what it sends on
    got += sent.times(int(manner.returned))
    home_bytes = _home_bytes(ends)
    seen_bytes, beyond = 0, []
    for number, mine, other in ((0, sent, got), (1, got, sent)):
        seen = max((one.seen.ways[number] for one in ends), key=_bytes)
        control = sum((one.control.ways[number] for one in ends if one.control), Way())
        framed_bytes = _framed_bytes(seen.frames - control.frames, mine, other, header_bytes, manner)
        own_bytes = control.bytes + mine.bytes + framed_bytes + again_bytes + (home_bytes if manner.real else 0)
        beyond.append(max(0, seen.bytes - own_bytes))
        seen_bytes += seen.bytes
    return _Beyond(seen_bytes, *beyond)


def _framed_bytes(frames: int, mine: Way, other: Way, header_bytes: int, manner: Manner) -> int:
    """What headers and acknowledgements are at most, of so many frames that were seen of one way: a card or its kernel
    cuts messages into frames, or glues them together, so that there may be fewer than messages would take.

    other: what went the other way, each message of which is acknowledged by one of mine or by a frame of its own.
    """
    data = max(0, min(frames, mine.frames))
    more = (manner.pieces - 1) * max(mine.messages, other.messages)
    if manner.acknowledged:
        more += max(0, other.frames - mine.messages) + mine.messages // _DELAYED + _DELAYED
    acks = min(max(0, frames - data), more)
    framed = header_bytes * data + manner.ack_bytes * acks
    if not manner.real:
        return framed
    short_bytes = _FRAME_MIN_BYTES * (data + acks) - framed - mine.bytes
    return framed + max(0, short_bytes) + _FCS_BYTES * (data + acks)
