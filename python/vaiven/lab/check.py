# SPDX-License-Identifier: BSD-3-Clause
"""Proves that a fabric is what it says: measures it with vaiven-probe, calibrates it, and names the class it earned.

timed: every row is within its limit. paced: the rows about throughput are. free: frames arrive. Limits are, of
ping-pongs of lone frames, 2 us or 2 % of the wire, beyond what the same take on a free lab; one way, of single frames
15 us, of full ones and trains 3 % at 10 Mb/s and below, 4 % above. Rows without a limit are printed all the same. Slow
hosts are made fast and faults are suspended while it measures: what is checked is the wire.

How early doors must open on this machine is looked for first. It stays in force, and is kept for labs to come, if the
fabric earns its class with it; else the lab goes on with what it had.

The limits are as narrow as a few microseconds, and a machine that does other things meanwhile moves by more. So single
frames are looked at again and again between the rows. A fabric that fails, but would not if every time were allowed
what these looks differ by, is not decided: the machine moved, and nothing is said of the fabric.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from vaiven.child import Child
from vaiven.errors import VaivenError
from vaiven.lab import calibration, capture, exits, fabric, faults, lone, oneway, slow
from vaiven.lab import lab as labs
from vaiven.lab.hosts import LabHost
from vaiven.lab.lab import Lab
from vaiven.lab.lone import Lone
from vaiven.lab.oneway import Talk, Trains
from vaiven.lab.topology import FabricClass

Verdict = Literal["ok", "off", "not claimed"]

SLOW_MBPS = 10.0  # up to this rate
LIMIT_SLOW = 0.03
LIMIT_FAST = 0.04
LIMIT_SHORT_NS = 15_000.0
LIMIT_PACED = 0.05
SHARE_MIN = 0.99  # of the line that three senders to one must fill
PING_BYTES = 60_000
SHORT, MIDDLE, FULL = 18, 500, 1472  # payload of UDP: frames of 60, 542 and 1514 bytes
LLC_SHORT, LLC_MIDDLE, LLC_FULL = 27, 509, 1481  # the same frames over 802.3 and LLC
PIECE_BYTES = 700  # two of them are what a careless fabric melts into one datagram
_TRIES = 4
_PACED_TRAIN = 5000  # beside it the bucket's own content is little


@dataclass(frozen=True, kw_only=True)
class Row:
    """One thing that was measured. unit: "ns", "share" (of what is expected) or "frames".

    error: median - expected, in that unit. limit: what the error may be at most, to both sides; None: not claimed.
    throughput: it says something about rates, not about single frames.
    """

    what: str
    unit: str
    expected: float
    median: float
    p95: float
    limit: float | None
    throughput: bool = False

    @property
    def error(self) -> float:
        return self.median - self.expected

    @property
    def verdict(self) -> Verdict:
        return self.allowing(0)

    def allowing(self, moved_ns: int) -> Verdict:
        """The verdict if a time may be off by that much more, because the machine moved."""
        if self.limit is None:
            return "not claimed"
        allowed = self.limit + (moved_ns if self.unit == "ns" else 0)
        return "ok" if abs(self.error) <= allowed else "off"


@dataclass(frozen=True, kw_only=True)
class CheckReport:
    """earned: the class that the fabric proved, None if not even frames arrive. frames_per_s: of 60 bytes, through the
    whole lab at once. door_ns: how early its doors opened while it was measured; error_ns: by how much 19 of 20
    launches of lone frames were off at most; trains_ns: by how much trains were at the worst (all three timed only).
    kept_in: the file that now has these for labs to come; None if the class was not earned. moved_ns: by how much
    single frames came earlier or later at other times of it."""

    instance: str
    said: FabricClass
    earned: FabricClass | None
    rate_mbps: float | None
    hosts: int
    rows: tuple[Row, ...]
    frames_per_s: float
    door_ns: int | None
    error_ns: int | None
    trains_ns: int | None
    moved_ns: int
    kept_in: str | None = None

    @property
    def passed(self) -> bool:
        """Whether it is what it says it is."""
        return self.earned == self.said

    @property
    def decided(self) -> bool:
        """Whether something can be said at all: it passed, or it fails by more than this machine moved."""
        return self.passed or _earned(self.said, self.rows, self.moved_ns) != self.said

    def as_json(self) -> dict[str, Any]:
        """Plain values, units last in each name as in every record."""
        rows = [asdict(row) | {"error": row.error, "verdict": row.verdict} for row in self.rows]
        return asdict(self) | {"rows": rows, "passed": self.passed, "decided": self.decided}


@dataclass(frozen=True)
class _Effort:
    calibrating: int  # launches
    launches: int
    singles: int
    trains: int
    train: int
    pings: int


_WHOLE = _Effort(calibrating=6, launches=20, singles=60, trains=12, train=50, pings=12)
_QUICK = _Effort(calibrating=2, launches=4, singles=30, trains=5, train=30, pings=5)
_PINGPONGS = 24  # of a launch


def run(lab: Lab, *, quick: bool = False, say: Callable[[Row], None] = lambda _: None) -> CheckReport:
    """Checks a lab that is up and idle; it takes up to a minute, quick about ten seconds. `say` gets each row at once.

    Raises VaivenError: "check-failed" (a probe could not measure), "too-few-hosts", "bad-state", those of the fabric.
    """
    if len(lab.hosts) < 2:
        raise VaivenError(f"the lab {lab.instance} has one host", "a check needs two", code="too-few-hosts")
    check = _Check(lab, _QUICK if quick else _WHOLE)
    said = lab.topology.fabric.fabric_class
    rows: list[Row] = []
    with wire_alone(lab):
        door_ns = check.calibrate() if said == "timed" else None
        for row in {"timed": check.timed, "paced": check.paced, "free": check.free}[said]():
            rows.append(row)
            say(row)
    report = CheckReport(
        instance=lab.instance,
        said=said,
        earned=_earned(said, rows),
        rate_mbps=lab.topology.fabric.rate_mbps,
        hosts=len(lab.hosts),
        rows=tuple(rows),
        frames_per_s=check.frames_per_s,
        door_ns=door_ns,
        error_ns=check.error_ns,
        trains_ns=_trains_ns(rows) if said == "timed" else None,
        moved_ns=check.moved_ns,
    )
    # Of one that did not pass, the numbers say more about what else this machine did.
    return _kept(lab, report) if report.passed else report


def _kept(lab: Lab, report: CheckReport) -> CheckReport:
    """Keeps what a check learned that the fabric passed, and brings its doors into force."""
    calibration.store_frames_per_s(lab.topology, report.frames_per_s)
    if report.door_ns is not None and report.error_ns is not None and report.trains_ns is not None:
        found = calibration.found_now(report.door_ns, report.error_ns, report.trains_ns)
        calibration.store(lab.topology.fabric, found)
        fabric.set_doors(labs.recalibrated(lab, found), report.door_ns)
    return replace(report, kept_in=str(calibration.path()))


def _earned(said: FabricClass, rows: Sequence[Row], moved_ns: int = 0) -> FabricClass | None:
    """The best class, no better than what it says, all of whose rows are good, if times may be off by moved_ns more."""
    bad = [row for row in rows if row.allowing(moved_ns) == "off"]
    if not bad:
        return said
    if said == "timed" and not any(row.throughput for row in bad):
        return "paced"
    arrived = all(row.median > 0 for row in rows)
    return "free" if arrived and said != "free" else None


@contextmanager
def wire_alone(lab: Lab) -> Iterator[None]:
    """Without the faults and the slowness of its hosts. At the end its doors are as they were, whatever was tried."""
    faults.suspend(lab)
    slow.suspend(lab)
    try:
        yield
    finally:
        slow.resume(lab)
        if lab.topology.fabric.fabric_class == "timed":
            fabric.set_doors(lab, lab.calibration.door_ns)
        faults.apply(lab)


class _Check:
    def __init__(self, lab: Lab, effort: _Effort) -> None:
        self.lab = lab
        self.effort = effort
        self.frames_per_s = 0.0
        self.error_ns: int | None = None
        self._shifts_ns: list[int] = []  # how late single frames were whenever they were looked at
        fabric_ = lab.topology.fabric
        self.is_hub = fabric_.kind == "hub"
        self.is_slow = (fabric_.rate_mbps or 0) <= SLOW_MBPS
        self.limit = LIMIT_SLOW if self.is_slow else LIMIT_FAST
        # A box in the cable costs time even when it is set to nothing, so plain hosts go first.
        self.hosts = sorted(lab.hosts, key=lambda host: host.spec.is_slow)
        self.pair = [Talk(near=self.hosts[0], far=(self.hosts[1],))]

    @property
    def moved_ns(self) -> int:
        """How much single frames moved while the rows were measured."""
        return max(self._shifts_ns) - min(self._shifts_ns) if self._shifts_ns else 0

    # What is measured ---------------------------------------------------------------------------------------------

    def calibrate(self) -> int:
        """Finds how early doors must open for ping-pongs to take their time, and lets them: in ns."""
        door_ns = self.lab.calibration.door_ns
        door_ns += _best_shift([_pingpong(one) for one in self._lone(self.effort.calibrating)])
        door_ns = min(max(0, door_ns), calibration.door_max_ns(self.lab.topology.fabric))
        fabric.set_doors(self.lab, door_ns)
        return door_ns

    def timed(self) -> Iterator[Row]:
        dropped = _softnet_drops()
        yield from self._pingpongs()
        yield from self._look()
        yield from self._singles("eth", (LLC_SHORT, LLC_MIDDLE, LLC_FULL))
        yield self._train("udp", FULL)
        yield self._train("eth", LLC_FULL)
        yield self._train("udp", FULL, segment=True)
        yield self._pieces()
        self._look()
        yield from self._one_to_all()
        self._look()
        yield self._dropped()
        if len(self.hosts) >= 4:
            yield self._two_at_once()
            yield self._three_to_one()
        yield self._ping()
        yield from self._captures()
        if self.is_hub:
            yield self._crossings()
        self._look()
        self._carry()
        yield Row(what="frames dropped by this machine", unit="frames", expected=0, p95=0, limit=0,
                  median=_softnet_drops() - dropped)  # fmt: skip

    def paced(self) -> Iterator[Row]:
        """A token bucket lets the first frames through at once, so a long train counts, between its ends.

        Only batches are claimed: at such rates a machine cannot send its frames one by one.
        """
        for how, segment in (("one by one", False), ("by UDP_SEGMENT", True)):
            got = self._ask(self.pair, "udp", [FULL], train=_PACED_TRAIN, segment=segment)[0][0]
            taken = [last - first for first, last in zip(got.first_ns, got.last_ns, strict=False)]
            expected = got.wire_ns - got.wire_first_ns
            limit = LIMIT_PACED * expected if segment else None
            yield self._row(f"{_PACED_TRAIN} x 1514 B {how}, first to last", taken, expected, limit, throughput=True)
        self._carry()

    def free(self) -> Iterator[Row]:
        got = self._ask(self.pair, "udp", [FULL], train=self.effort.train)[0][0]
        came = 1 - got.lost / (got.count * got.train)
        yield Row(what="frames that arrive", unit="share", expected=1, median=came, p95=came, limit=0.01)
        self._carry()

    # Rows ---------------------------------------------------------------------------------------------------------

    def _singles(self, stack: str, sizes: Sequence[int]) -> list[Row]:
        records = self._ask(self.pair, stack, sizes, samples=self.effort.singles)[0]
        return [self._single(record, frame, _NAMES[stack]) for record, frame in zip(records, _FRAMES, strict=True)]

    def _pingpongs(self) -> Iterator[Row]:
        found = self._lone(self.effort.launches)
        self.error_ns = round(max(lone.p95([abs(error) for error in one.errors_ns]) for one in found))
        yield from map(_pingpong, found)

    def _lone(self, launches: int) -> list[Lone]:
        near, far = self.hosts[:2]
        return lone.measure(near, far, self.lab.topology, ["udp"], _FRAMES, launches=launches, samples=_PINGPONGS)

    def _look(self) -> list[Row]:
        """Single frames, the first time or again."""
        rows = self._singles("udp", (SHORT, MIDDLE, FULL))
        self._shifts_ns.append(_best_shift(rows))
        return rows

    def _single(self, record: Trains, frame_bytes: int, name: str) -> Row:
        limit = self._limit(frame_bytes, record.wire_ns)
        return self._row(f"{frame_bytes} B, {name}", record.last_ns, record.wire_ns, limit)

    def _limit(self, frame_bytes: int, wire_ns: float) -> float:
        return self.limit * wire_ns if frame_bytes == _FRAMES[-1] else max(LIMIT_SHORT_NS, self.limit * wire_ns)

    def _train(self, stack: str, size: int, *, segment: bool = False) -> Row:
        record = self._ask(self.pair, stack, [size], train=self.effort.train, segment=segment)[0][0]
        how = "by UDP_SEGMENT" if segment else _NAMES[stack]
        return self._of_train(f"{record.train} x 1514 B, {how}", record)

    def _of_train(self, what: str, record: Trains) -> Row:
        return self._row(what, record.last_ns, record.wire_ns, self.limit * record.wire_ns, throughput=True)

    def _pieces(self) -> Row:
        """Two short datagrams from one call must arrive as two."""
        record = self._ask(self.pair, "udp", [PIECE_BYTES], train=2, segment=True)[0][0]
        came = 2 - record.lost / record.count
        return Row(
            what="2 x 742 B by UDP_SEGMENT, that come", unit="frames", expected=2, median=came, p95=came, limit=0
        )

    def _one_to_all(self) -> Iterator[Row]:
        """The worst receiver's row stands for all."""
        talk = [Talk(near=self.hosts[0], far=tuple(self.hosts[1:]))]
        receivers = len(self.hosts) - 1
        single = self._ask(talk, "udp", [FULL], samples=self.effort.singles)[0]
        limit = self._limit(1514, single[0].wire_ns)
        yield _worst(
            self._row(f"1514 B to all {receivers}, the last", one.last_ns, one.wire_ns, limit) for one in single
        )
        for stack, size in (("udp", FULL), ("eth", LLC_FULL)):
            got = self._ask(talk, stack, [size], train=self.effort.train)[0]
            what = f"{self.effort.train} x 1514 B to all {receivers}, {_NAMES[stack]}"
            yield _worst(self._of_train(what, one) for one in got)

    def _dropped(self) -> Row:
        """What the fabric lost, or could not hold back, of frames that no queue was too short for: its own counts."""
        wrong = sum(row[why] for row in exits.tallies(self.lab) if row["type"] == "exit"
                    for why in ("full", "oversize", "unshaped"))  # fmt: skip
        return Row(what="frames dropped or not held back", unit="frames", expected=0, median=wrong, p95=wrong, limit=0,
                   throughput=True)  # fmt: skip

    def _two_at_once(self) -> Row:
        """Two pairs: on a hub they share the time, on a switch neither notices the other."""
        one, two, three, four = self.hosts[:4]
        talks = [Talk(near=one, far=(two,)), Talk(near=three, far=(four,))]
        got = [cells[0] for cells in self._ask(talks, "udp", [FULL], train=self.effort.train, idle_ms=self._idle(1))]
        if not self.is_hub:
            return _worst(self._of_train(f"{each.train} x 1514 B, two pairs at once", each) for each in got)
        # One of the two trains of a beat ends when both are over; which one is chance.
        ends = _upper([ns for each in got for ns in each.last_ns], 2)
        expected = sum(each.wire_ns for each in got)
        what = f"2 x {self.effort.train} x 1514 B, two senders at once"
        return self._row(what, ends, expected, self.limit * expected, throughput=True)

    def _three_to_one(self) -> Row:
        """The share of the receiver's line that is filled when three times as much is sent.

        Senders that were not started between the same two beats spoil a try: they show more than the line carries, or
        less than the fabric does.
        """
        shares = [self._share_of_three()]
        while not max(shares) >= SHARE_MIN and len(shares) < _TRIES:
            shares += [self._share_of_three()]
        return Row(what="3 to 1, of the line", unit="share", expected=1, median=max(shares), p95=max(shares),
                   limit=1 - SHARE_MIN, throughput=True)  # fmt: skip

    def _share_of_three(self) -> float:
        talks = [Talk(near=near, far=(self.hosts[0],)) for near in self.hosts[1:4]]
        train = self.effort.train if self.is_hub else self._long_train()
        asked = self._ask(talks, "udp", [FULL], train=train, samples=3, idle_ms=300 + self._idle(2, train))
        got = [cells[0] for cells in asked]
        ends_ns = [ns for each in got for ns in each.last_ns]
        if not ends_ns:
            return 0.0
        came = sum(each.count * each.train - each.lost for each in got) / got[0].count
        end_ns = statistics.median(_upper(ends_ns, 3))
        share = came * got[0].frame_ns / (end_ns - got[0].wire_first_ns + got[0].frame_ns)
        return share if share <= 2 - SHARE_MIN else 0.0

    def _ping(self) -> Row:
        near, far = self.hosts[:2]
        rtt_ns, wire_ns = oneway.ping(near, far, self.lab.topology, PING_BYTES, self.effort.pings)
        return self._row(f"ping -s {PING_BYTES}, there and back", rtt_ns, 2 * wire_ns, self.limit * 2 * wire_ns)

    def _captures(self) -> Iterator[Row]:
        """A capture in a host sees each frame once: as many as the interface counted, none longer than a frame.

        A frame that crosses just when capture and count begin or end is in one of them only: then it is tried again.
        """
        near, far = self.hosts[:2]
        for _ in range(_TRIES):
            with _Capture(near) as sent, _Capture(far) as received:
                self._ask(self.pair, "udp", [FULL], train=self.effort.train, samples=3)
            if (sent.seen["out"], received.seen["in"]) == (sent.counted["tx_packets"], received.counted["rx_packets"]):
                break
        for name, seen, counted in (("sent", sent.seen["out"], sent.counted["tx_packets"]),
                                    ("received", received.seen["in"], received.counted["rx_packets"])):  # fmt: skip
            yield Row(what=f"captured of the frames {name}", unit="frames", expected=counted, median=seen, p95=seen,
                      limit=0)  # fmt: skip
        longest = max(sent.seen["longest_bytes"], received.seen["longest_bytes"])
        yield Row(what="the longest frame captured, bytes", unit="frames", expected=1514, median=longest, p95=longest,
                  limit=0)  # fmt: skip

    def _crossings(self) -> Row:
        """How often the hub was taken for each frame sent while one host sent to all.

        The two counts are not read at one instant: what a host says between them spoils a try.
        """
        talk = [Talk(near=self.hosts[0], far=tuple(self.hosts[1:]))]
        for _ in range(_TRIES):
            before = self._hub_frames()
            with _Counters(self.hosts) as counters:
                self._ask(talk, "udp", [FULL], train=self.effort.train, samples=2)
            crossed = (self._hub_frames() - before) / counters.counted["tx_packets"]
            if crossed == 1:
                break
        return Row(what=f"crossings of the hub per frame, to all {len(self.hosts) - 1}", unit="share", expected=1,
                   median=crossed, p95=crossed, limit=0, throughput=True)  # fmt: skip

    def _carry(self) -> None:
        """How many short frames all hosts together get through, each sending to its neighbour."""
        halves = [Talk(near=a, far=(b,)) for a, b in zip(self.hosts[::2], self.hosts[1::2], strict=False)]
        train = 200
        idle_ms = self._idle(4, train, fabric.FRAME_MIN_BYTES)
        asked = self._ask(halves, "udp", [SHORT], train=train, samples=self.effort.trains, idle_ms=idle_ms)
        lasts = [ns for cells in asked for ns in cells[0].last_ns]
        came = sum(cells[0].count * train - cells[0].lost for cells in asked) / self.effort.trains
        self.frames_per_s = came * 1e9 / statistics.median(_upper(lasts, 4)) if lasts else 0.0

    # Means --------------------------------------------------------------------------------------------------------

    def _ask(self, talks: Sequence[Talk], stack: str, sizes: Sequence[int], *, samples: int | None = None,
             train: int = 1, segment: bool = False, idle_ms: int = 0) -> list[list[Trains]]:  # fmt: skip
        return oneway.ask(talks, self.lab.topology, stack, sizes, samples=samples or self.effort.trains, train=train,
                          segment=segment, idle_ms=idle_ms)  # fmt: skip

    def _row(
        self, what: str, times_ns: Sequence[float], expected: float, limit: float | None, *, throughput: bool = False
    ) -> Row:
        if not times_ns:
            raise VaivenError(f"nothing arrives: {what}", "is the lab up and idle?", code="check-failed")
        return Row(what=what, unit="ns", expected=expected, median=statistics.median(times_ns), p95=lone.p95(times_ns),
                   limit=limit, throughput=throughput)  # fmt: skip

    def _idle(self, times: int, train: int | None = None, frame_bytes: int = 1514) -> int:
        """ms between trains that leave room for that many more of them, and for senders to be started between two."""
        frame_ms = 0.0
        if self.lab.topology.fabric.rate_mbps is not None:
            frame_ms = fabric.byte_ns(self.lab.topology.fabric) * (frame_bytes + fabric.FRAME_MORE_BYTES) * 1e-6
        return 100 + round(times * (train or self.effort.train) * frame_ms)

    def _long_train(self) -> int:
        """Frames that more than fill any queue on the way: three times what an output may hold."""
        return 3 * self.lab.topology.fabric.queue_frames

    def _hub_frames(self) -> int:
        return int(next(row["frames"] for row in exits.tallies(self.lab) if row.get("interface") == fabric.HUB))


_NAMES = {"udp": "UDP", "eth": "802.3 and LLC"}
_FRAMES = (60, 542, 1514)


class _Counters:
    """What the interfaces of some hosts counted while the `with` block ran."""

    def __init__(self, hosts: Sequence[LabHost]) -> None:
        self._hosts = hosts
        self.counted: dict[str, int] = {}

    def __enter__(self) -> _Counters:
        self._before = self._read()
        return self

    def __exit__(self, *_: object) -> None:
        after = self._read()
        self.counted = {name: after[name] - self._before[name] for name in after}

    def _read(self) -> dict[str, int]:
        totals = {"tx_packets": 0, "rx_packets": 0}
        for host in self._hosts:
            with host.namespace.netlink() as netlink:
                link = netlink.get_links(exits.index(netlink, host.interface))[0]
            for name in totals:
                totals[name] += link.get_attr("IFLA_STATS64")[name]
        return totals


class _Capture(_Counters):
    """What a capture on a host saw meanwhile."""

    def __init__(self, host: LabHost) -> None:
        super().__init__([host])
        self.seen: dict[str, int] = {}
        self._host = host

    def __enter__(self) -> _Capture:
        argv = self._host.argv([sys.executable, "-IS", str(Path(capture.__file__)), self._host.interface])
        self._child = Child(argv)
        if self._child.hear() != "ready":
            self._child.close()
            raise VaivenError(f"cannot capture on {self._host.full_name}", code="check-failed")
        super().__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        with self._child:
            self._child.end_input()
            self.seen = json.loads(self._child.rest())


def _pingpong(one: Lone) -> Row:
    what, median = f"{one.frame_bytes} B, ping-pong {lone.WAITS[one.wait]}", statistics.median(one.launches_ns)
    return Row(what=what, unit="ns", expected=one.expected_ns, median=median, p95=lone.p95(one.launches_ns),
               limit=one.limit_ns)  # fmt: skip


def _best_shift(rows: Sequence[Row]) -> int:
    """How many ns earlier frames must come for the largest error, measured in limits, to be smallest."""
    return lone.best_shift([(row.error, row.limit) for row in rows if row.limit is not None])


def _trains_ns(rows: Sequence[Row]) -> int:
    """By how much the last frame of a train came earlier or later than it should, at the worst."""
    return round(max((abs(row.error) for row in rows if row.throughput and row.unit == "ns"), default=0.0))


def _worst(rows: Iterator[Row]) -> Row:
    return max(rows, key=lambda row: abs(row.error))


def _upper(values: Sequence[float], parts: int) -> list[float]:
    """The largest of the values, one part of `parts`, at least one."""
    return sorted(values)[-max(1, len(values) // parts) :]


def _softnet_drops() -> int:
    """Frames that any processor of this machine dropped because too many waited for it, since it started."""
    return sum(int(line.split()[1], 16) for line in Path("/proc/net/softnet_stat").read_text().splitlines())
