# SPDX-License-Identifier: BSD-3-Clause
"""Runs of a network that does not exist: exactly known costs, a known spread, everything from one seed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl
from tests.store.made import changed, vouched

from vaiven.model import frames
from vaiven.store.query import Run, open_run
from vaiven.store.record import (
    Cell,
    CourseRecord,
    DesignRecord,
    End,
    HostsPlace,
    LabPlace,
    LaunchRecord,
    LinkRecord,
    Manifest,
    Record,
)

SIZES = (0, 1, 8, 64, 256, 512, 1024, 1472, 2048, 4096, 8192, 16384, 32768, 65536, 262144, 1048576)
START_NS = {"icmp": 31e3, "eth": 27e3, "udp": 30e3, "tcp": 39e3, "tcp-nagle": 39.4e3}  # one way, beyond the wire
FANOUT_NS = {"raw": 30e3, "group": 60e3, "tcp": 50e3}  # until the last has it, beyond the wire
HOSTILE = "h1</script><script>document.title=\"taken\"</script><img src=x onerror=alert(1)> 'q' $(reboot) $x^2$ &<b>"
PLAN = """title = "What a message costs"
stacks = ["icmp", "eth", "udp", "tcp", "tcp-nagle"]
sizes = ["powers:2^0..2^20"]
"""


def wire_ns(size: int) -> int:
    """UDP's frames at 100 Mb/s over one switch, which is two links."""
    return round(float(frames.wire_ns(frames.Path.UDP, frames.Wire(10**8, 2, 1500), size)))


def write_run(
    root: Path,
    *,
    pairs: Sequence[tuple[str, str]] = (("h1", "h2"),),
    stacks: Sequence[str] = tuple(START_NS),
    sizes: Sequence[int] = SIZES,
    blocks: int = 12,
    samples: int = 60,
    plan_text: str = PLAN,
    ended: bool = True,
    link: bool = True,
    wire_factor: float = 1.0,
    slow_link: tuple[str, str] | None = None,
    warnings: Sequence[tuple[str, str]] = (),
    start_ns: Mapping[str, float] | None = None,
    seed: int = 5,
    spread: float = 0.01,
    batch: int = 1,
    sentinel_change: float | None = None,
    one_way_ns: Mapping[tuple[str, str], float] | None = None,
    jump: tuple[int, float] | None = None,
    hello: Mapping[str, object] | None = None,
    loggp_ns: Mapping[str, float] | None = None,
    cards_bps: int | None = None,
) -> Run:
    """A run directory below `root`, through the store's own writer. Launches differ by 1 %, messages by a tail.

    wire_factor: what the run says of the wire, over the truth. slow_link: the one pair that takes half as long again,
    all others being equal; without it, each pair is a tenth slower than the one before. start_ns: other start-ups of
    some stacks. spread: of launches; none at 0, nor of messages. sentinel_change: each block holds a sentinel, which
    changes by that share over the run; None for no sentinel. one_way_ns: oneway is asked of udp, from and to those.
    jump: (size, ns) that each longer message takes more. hello: what the probe said in every launch.
    loggp_ns: prtt is asked of all stacks, whose o_s, o_r, g, L are those. cards_bps: real hosts, of whose link nobody
    knows more than that their cards say so.
    """
    rng = np.random.default_rng(seed)
    starts = {**START_NS, **(start_ns or {})}
    pair_step = 0.0 if slow_link else 0.1
    manifest = _manifest(pairs, stacks, plan_text, link)
    if cards_bps:
        manifest, wire_factor = _by_cards(manifest, cards_bps), 1e8 / cards_bps
    with Record.create(root, manifest) as record:
        number = 0
        for block in range(blocks):
            for pair, (near, far) in enumerate(pairs):
                for stack in rng.permutation(np.array(stacks, dtype=object)):
                    said = dict(hello or {})
                    launch = _launch(number, block, stack, near, far, hello=said)
                    factor = (1.5 if (near, far) == slow_link else 1 + pair_step * pair) * rng.normal(1, spread)
                    wire, tail = wire_factor if link else 0, 500 * bool(spread)
                    start, (edge, more) = starts.get(stack, 50e3), jump or (max(sizes), 0.0)
                    cells = [
                        _cell(stack, size, factor * (start + more * (size > edge)), samples, wire, rng, tail)
                        for size in sizes
                    ]
                    record.add(launch, [replace(cell, batch=batch) for cell in cells])
                    number += 1
                    if loggp_ns:
                        asked = replace(launch, launch=number, ask="prtt", hello={})
                        record.add(asked, list(_trains(loggp_ns, 1 + spread * rng.standard_normal())))
                        number += 1
            if sentinel_change is not None:
                launch = _launch(number, block, "udp", *pairs[0], sentinel=True)
                factor = 1 + sentinel_change * block / max(1, blocks - 1) + rng.normal(0, 1e-4)
                record.add(launch, [_cell("udp", 64, factor * START_NS["udp"], samples, 0, rng, 0)])
                number += 1
            for (near, far), ns in (one_way_ns or {}).items():
                launch = _launch(number, block, "udp", near, far, ask="oneway")
                cell = _cell("udp", 64, ns * rng.normal(1, spread), samples, 0, rng, 500)
                record.add(launch, [replace(cell, ask="oneway")])
                number += 1
        for code, text in warnings:
            record.warn(code, text)
        if ended:
            record.end(End(reason="done", blocks=blocks, launches=number, failed=0, half_width=0.01, cell="tcp 64 B"))
        return open_run(record.path)


def _launch(number: int, block: int, stack: str, near: str, far: str, **more: Any) -> LaunchRecord:
    facts = {"ask": "pingpong", "started_s": 1.5 * number, "took_s": 1.4} | more
    return LaunchRecord(launch=number, block=block, stack=stack, near=near, far=far, **facts)


def write_days(
    root: Path, count: int, *, slower: float = 1.0, seed: int = 1, spread: float = 0.01, **kw: Any
) -> list[Run]:
    """So many short runs of one plan, a day apart, each with luck of its own, as whole runs have it.

    slower: all of them take so many times as long beyond the wire. day: of the first, else 1.
    """
    rng, first = np.random.default_rng(seed), kw.pop("day", 1)
    found = []
    for day in range(first, first + count):
        luck = slower * np.exp(spread * rng.standard_normal())
        usual = {"stacks": ("udp", "tcp"), "sizes": (1, 64, 1472, 65536), "samples": 5, "blocks": 2, "spread": 0.002}
        starts = {stack: START_NS[stack] * luck for stack in ("udp", "tcp")}
        run = write_run(root, **({"seed": 1000 * seed + day, "start_ns": starts} | usual | kw))
        changed(run.path / "manifest.json", created_utc=f"2026-{1 + day // 28:02d}-{1 + day % 28:02d}T00:00:00Z")
        found.append(open_run(run.path))
    return found


def _by_cards(manifest: Manifest, rate_bps: int) -> Manifest:
    """Of real hosts, whose cards alone say what the link is."""
    return msgspec.structs.replace(
        manifest, link=LinkRecord(rate_bps=rate_bps, hops=2, mtu_bytes=1500), place=HostsPlace()
    )


def write_fanout(root: Path, near: str = "h1", blocks: int = 6) -> Run:
    """One message for 1, 2, 4 and 7 hosts, and nothing else: raw and group send it once, tcp to each in turn."""
    rng = np.random.default_rng(5)
    names = [f"h{n}" for n in range(2, 9)]
    manifest = _manifest([(near, name) for name in names], FANOUT_NS, PLAN, link=True)
    courses = [{"stack": stack, "ask": "fanout"} for stack in FANOUT_NS]
    manifest = msgspec.structs.replace(manifest, design=msgspec.structs.replace(manifest.design, courses=courses))
    with Record.create(root, manifest) as record:
        order = [(block, stack, fars) for block in range(blocks) for stack in FANOUT_NS for fars in (1, 2, 4, 7)]
        for number, (block, stack, fars) in enumerate(order):
            far, factor = "+".join(names[:fars]), rng.normal(1, 0.01)
            launch = _launch(number, block, stack, near, far, ask="fanout", fars=fars)
            record.add(launch, [_fanout(stack, size, fars, factor) for size in (8, 1000, 60_000, 1_000_000)])
        record.end(End(reason="done", blocks=blocks, launches=len(order), failed=0, half_width=0.01, cell="tcp 8 B"))
        return open_run(record.path)


def _fanout(stack: str, size: int, fars: int, factor: float) -> Cell:
    wire = wire_ns(size) * (fars if stack == "tcp" else 1)
    ns = [round(factor * (wire + FANOUT_NS[stack]))] * 9
    return Cell(
        ask="fanout",
        size_bytes=size,
        ns=ns,
        warmup=3,
        started_s=1.0,
        wire_frames=1,
        wire_bytes=size,
        wire_ns=wire,
        clock="common",
        clock_error_ns=0,
    )


def lose(run: Run, stack: str, size_bytes: int) -> Run:
    """The run with every message of that cell lost, as if it had been written so."""
    for part in sorted((run.path / "samples").iterdir()):
        table = pl.read_parquet(part)
        hit = (pl.col("stack") == stack) & (pl.col("size_bytes") == size_bytes)
        table.with_columns(ns=pl.when(~hit).then(pl.col("ns"))).write_parquet(part)
        vouched(run.path, int(part.stem))
    return open_run(run.path)


def _cell(
    stack: str, size: int, start_ns: float, samples: int, wire: float, rng: np.random.Generator, tail_ns: float
) -> Cell:
    one_way = start_ns + wire_ns(size)
    count = int(frames.frame_limits(frames.Path.UDP, 1500).frames(size))
    ns: list[int | None] = [round(2 * value) for value in one_way + tail_ns * rng.gamma(2, 1, samples)]
    if size == max(SIZES) and stack == "udp":
        ns[3] = None
    return Cell(
        ask="pingpong",
        size_bytes=size,
        batch=1,
        ns=ns,
        lost=sum(one is None for one in ns),
        late=0,
        corrupt=0,
        warmup=128,
        warm=True,
        started_s=1.0,
        cpu_near_ns=9100.0,
        cpu_far_ns=None if stack == "icmp" else 8800.0,
        wire_frames=count if wire else None,
        wire_bytes=max(84 * count, size + 8 + 58 * count) if wire else None,
        wire_ns=round(wire * wire_ns(size)) if wire else None,
    )


def _trains(ns: Mapping[str, float], factor: float) -> Iterator[Cell]:
    """The five parts of a prtt, trains of 10, of some sizes: each byte adds 1 ns to o_s, 0.5 to o_r, 80 to the gap."""
    for size in (1, 64, 512, 1024):
        send, receive, gap = ns["o_s"] + size, ns["o_r"] + size / 2, ns["g"] + 80 * size
        one, apart = 2 * (ns["L"] + send + receive), 4 * (ns["L"] + gap)
        parts = {
            "one": one,
            "burst": one + 9 * gap,
            "spaced": one + 9 * (apart + send),
            "send": send,
            "receive": receive,
        }
        for part, value in parts.items():
            batch, times = 1 if part in ("one", "receive") else 10, [round(factor * value)] * 5
            gap_ns = round(apart) if part == "spaced" else None
            yield Cell(
                ask="prtt", size_bytes=size, batch=batch, ns=times, warmup=10, started_s=1.0, part=part, gap_ns=gap_ns
            )


def _manifest(pairs: Sequence[tuple[str, str]], stacks: Sequence[str], plan_text: str, link: bool) -> Manifest:
    names = dict.fromkeys(host for pair in pairs for host in pair)
    cpu = {"model": "Example", "hz": 3_000_000_000, "caches": [{"level": 1, "size_bytes": 49152}]}
    offloads = {"tcp-segmentation-offload": True, "generic-receive-offload": False}
    card = {"name": "eth0", "speed_bps": 100_000_000, "offloads": offloads}
    sockets = {"send_bytes": 212992, "tcp_send_bytes": 16384, "tcp_receive_bytes": 131072}
    inventory = {"type": "inventory", "cpu": cpu, "memory_bytes": 8 * 2**30, "load_milli": 5370}
    inventory |= {"sockets": sockets, "nics": [card], "interface": "eth0"}
    return Manifest(
        title="What a message costs",
        plan_name="demo.toml",
        plan_text=plan_text,
        plan={"seed": 7},
        design=DesignRecord(seed=7, courses=tuple(CourseRecord(stack=stack) for stack in stacks), pairs=tuple(pairs)),
        place=LabPlace(lab={"name": "demo", "fabric": {"kind": "switch", "class": "timed"}}),
        hosts={name: {"address": "10.1.0.1", **inventory} for name in [*names, "idle"]},
        link=LinkRecord(rate_bps=100_000_000, hops=2, mtu_bytes=1500) if link else None,
        versions={"vaiven": "0.1.0"},
        environment={"python": "3.11", "arguments": ["measure", "demo", "--seed", "7"]},
    )
