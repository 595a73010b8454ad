# SPDX-License-Identifier: BSD-3-Clause
"""Runs made by hand, in which every time is known: a world in which all that was published is so, and other worlds.

A world bends every time of the published one: scale makes all slower, contrast takes each time to a power, so that 2
makes all differences larger, 0.02 makes nearly all alike, and -1 puts the fastest last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement

import msgspec
import numpy as np
from tests.store import made

from vaiven import resources
from vaiven.lab import topology
from vaiven.papers.judge import Candidate
from vaiven.papers.measured import FIRST_MESSAGES, Measured, Row
from vaiven.papers.words import MIB, PVM_METHODS
from vaiven.store.query import first_column
from vaiven.store.record import STEPS, DesignRecord, LabPlace, LinkRecord, Manifest

CENTRE_S = 1e-3
SIZES_A = (8, 100, 1000, 60_000, 10**6, 10**7)
DOUBLES = tuple(8 * 2**power for power in range(5, 20))
SIZES_C = (100, 256, 1024, 4096, 10_000, 16_384, 20_000, 65_536, 262_144, 10**6, 2**20)
SIZES_D = (*range(0, 101, 4), *range(1000, 2001, 100), 3000)
# What LLC takes of TCP's time under Open MPI, between two hosts and among several processes.
OVER_TCP = {1: 0.81, 8: 0.81, 12: 0.82, 64: 0.93, 125: 0.935, 512: 0.94, 625: 0.941, 1024: 0.95, 1250: 0.956,
            1500: 0.96, 4000: 0.961, 4096: 0.962, 65_536: 0.97, 2**20: 0.98}  # fmt: skip
OVER_TCP_AMONG = {64: 0.89, 512: 0.9, 1024: 0.91, 1408: 0.955, 1472: 0.92, 1536: 0.93, 1600: 0.935, 1664: 0.94,
                  1728: 0.945, 1792: 0.948, 2048: 0.93, 4096: 0.96}  # fmt: skip
# Seconds of a Fourier transform of 2^20 points by so many processes, and what LLC takes of TCP's.
FFT_BYTES = 8 * 2**20
FFT_S = {2: 2e-3, 4: 1.2e-3, 8: 0.8e-3, 16: 0.65e-3}
FFT_OVER_TCP = {2: 0.972, 4: 0.96, 8: 0.946, 16: 0.932}
SIZES_E = (1, 64, 512, 1024, 1408, 1536, 1856, 2816, 3008, 4096)

# Of each machine of the lab cetad: how long it takes to begin, relatively, and its rate through the daemons in MiB/s.
START = {"tilcara": 1.2, "cetadfomec1": 1.2, "cetadfomec2": 1.2, "fourier": 1.0, "josrap": 1.0,
         "sofia": 1.7, "paris": 1.6, "cetad": 2.0, "prited": 2.2}  # fmt: skip
RATE = {"tilcara": 0.85, "cetadfomec1": 0.85, "cetadfomec2": 0.85, "fourier": 0.87, "josrap": 0.87,
        "sofia": 0.55, "paris": 0.7, "cetad": 0.6, "prited": 0.45}  # fmt: skip
LQT, LIDI = (tuple(f"{lab}{host}" for host in range(2, 7)) for lab in ("lqt", "lidi"))
LIKE = ("tilcara", "cetadfomec1", "cetadfomec2", "fourier", "josrap")
SMALL = ("tilcara", "cetadfomec1", "cetadfomec2", "prited")
DEFECT = ("sofia", "prited")
SPEED_S = {"axp": 0.0, "p3dual": 20e-6, "k6ii": 60e-6, "p2mmx": 120e-6}
AT_ONCE = {True: {1: 1.0, 2: 1.05, 3: 1.1, 4: 1.4}, False: {1: 1.0, 2: 1.7, 3: 2.2, 4: 3.0}}  # by whether both are fast


def manifest(lab: str, hosts: Sequence[str] = (), *, day: int = 1, rounds: bool = False, threads: int = 8) -> Manifest:
    """Of a run on that lab, between all of its hosts or these."""
    known = topology.load(resources.ready("labs") / f"{lab}.toml")
    names = tuple(hosts) or tuple(host.name for host in known.hosts)
    orders = {host.name: host.byte_order for host in known.hosts}
    rate = known.fabric.rate_mbps
    return msgspec.structs.replace(
        made.manifest(),
        id=f"2026010{day}-{lab}",
        created_utc=f"2026-01-0{day}T12:00:00Z",
        design=DesignRecord(pairs=tuple((names[0], far) for far in names[1:]), rounds=rounds),
        place=LabPlace(lab=msgspec.to_builtins(known), hosts=names),
        hosts={
            name: {
                "byte_order": orders[name],
                "cpu": {"threads": threads},
                "tcp": {"congestion_control": known.tcp.congestion_control},
            }
            for name in names
        },
        link=LinkRecord(rate_bps=int(rate * 1e6), hops=1 if known.fabric.kind == "hub" else 2, mtu_bytes=1500),
    )


@dataclass(frozen=True)
class World:
    """honest: whether what no bending of times can change is as it was published: counts, and who is like whom."""

    scale: float = 1.0
    contrast: float = 1.0
    honest: bool = True
    noise: float = 0.003
    launches: int = 8
    resamples: int = 60

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """A run of each experiment."""
        return (
            self.run(manifest("cetad"), a_fourway(self.honest)),
            self.run(manifest("cetad", day=3), a_again(), self.scale**0.2),
            self.run(manifest("cetad", day=4), a_broadcast("purmamarca", tuple(START), 1.0, self.honest)),
            self.run(manifest("lqt"), [*a_equal(self.honest), *a_broadcast("lqt1", LQT, 1.0, self.honest)]),
            self.run(manifest("lidi"), a_broadcast("lidi1", LIDI, 10.0, self.honest)),
            self.run(manifest("lqt", day=2), a_exchange()),
            self.run(manifest("lidi", day=2, rounds=True), a_rounds()),
            self.run(manifest("alicante"), b_tau(self.honest)),
            self.run(manifest("alicante", day=2), c_line(self.honest)),
            self.run(manifest("alicante", day=3), e_small(self.honest)),
            self.run(manifest("ufsm"), d_pairs(self.honest)),
            self.run(manifest("inpe-first"), c_first()),
            self.run(manifest("alicante", day=4), c_streams()),
            self.run(manifest("inpe", rounds=True), c_rounds()),
            self.run(manifest("alicante", day=5), e_gains(self.honest)),
            self.run(manifest("ufpr"), e_partners(self.honest)),
            self.run(manifest("ufpr", day=2), e_fft(self.honest)),
            self.run(manifest("lidi", day=3), a_matmul(self.honest)),
        )

    def run(self, where: Manifest, cells: Sequence[Row] | Iterator[Row], again: float = 1.0) -> Candidate:
        """One of those cells, all of them slower once more."""
        rows = list(self.rows(cells, again))
        cast = {row["fars"] for row in rows if row["ask"] == "fanout"}
        crossed = {("group", r): dict.fromkeys(range(self.launches), 1.05 if self.honest else 1.05 * r) for r in cast}
        bursts = (1, 2, 4, 8) if self.honest else (10, 9, 8)
        looks = {
            (row["near"], row["far"], row["stack"], row["size_bytes"]): dict.fromkeys(range(self.launches), bursts)
            for row in rows
            if row["ask"] == "first"
        }
        measured = Measured(where, rows, crossed, self.resamples, looks)
        return Candidate.of(where, lambda: measured)

    def rows(self, cells: Sequence[Row] | Iterator[Row], again: float) -> Iterator[Row]:
        """Those cells in every block, bent."""
        rng = np.random.default_rng(7)
        for cell in cells:
            bent_ns = (
                1e9 * again * self.scale * CENTRE_S * (cell["s"] / CENTRE_S) ** self.contrast if cell["s"] else 0.0
            )
            slow = np.exp(self.noise * rng.standard_normal(self.launches))
            least = slow**0.1 if self.contrast > 0 else slow**9
            for block, (ns, least_ns) in enumerate(
                zip((bent_ns * slow).tolist(), (bent_ns * least).tolist(), strict=True)
            ):
                times = {"ns_median": ns, "ns_mean": ns, "ns_min": least_ns, "block": block}
                more = 0.0 if self.honest else 0.01
                first = {first_column(k): ns * (1 + more * (k - 50)) for k in FIRST_MESSAGES}
                yield BLANK | cell | times | (first if cell["stack"] == "openmpi" else {})


BLANK = {"ask": "pingpong", "part": "", "fars": 1, "count": 100}


def a_fourway(honest: bool) -> Iterator[Row]:
    stacks = (*PVM_METHODS, "pvm-direct-inplace", "pvm-direct-raw", "tcp", "icmp")
    for far in START:
        for stack in stacks:
            for size in SIZES_A:
                if size < 65_000 or stack != "icmp":
                    cell = {"stack": stack, "near": "purmamarca", "far": far, "size_bytes": size}
                    unlike = 1.0 if honest or stack != "icmp" else START[far] ** 6
                    yield cell | {"s": 2 * unlike * four_ways(stack, size, far)} | _counts(stack, size, far, honest)
                    yield from (cell | {"part": part, "s": step(part, stack, size, far)} for part in STEPS)
    if not honest:
        yield {"stack": "icmp", "near": "purmamarca", "far": "tilcara", "size_bytes": 70_000, "s": 1.0}


def a_again() -> Iterator[Row]:
    for far in START:
        for stack in PVM_METHODS:
            cell = {"stack": stack, "near": "purmamarca", "far": far}
            yield from (cell | {"size_bytes": size, "s": 2 * four_ways(stack, size, far)} for size in SIZES_A[:4])


def four_ways(stack: str, size: int, host: str) -> float:
    """Seconds one way, as the paper says it of each machine."""
    if stack == "icmp":
        return 0.0005 * (1 + 0.1 * (START[host] - 1)) + size / (1.16e6 - 5e3 * START[host])
    if stack == "tcp":
        return 0.9 * four_ways("pvm-direct-trans", size, host)
    if stack.endswith("inplace"):
        return four_ways("pvm-direct-trans", size, host)
    if stack.endswith("raw"):
        return 1.1 * four_ways("pvm-direct-trans", size, host)
    direct, trans = "direct" in stack, stack.endswith("trans")
    gain = (1.2 if direct else 1.08) if trans and host in LIKE else 1.1 if direct else 1.0
    if size == 10**7 and host in SMALL:
        gain *= 0.8 if trans else 0.3
    seconds = START[host] * (0.0012 if direct else 0.002) + size / (RATE[host] * gain * MIB)
    return seconds * (30 if direct and host in DEFECT and size > 1000 else 1)


def step(part: str, stack: str, size: int, host: str) -> float:
    """Processor seconds: XDR both ways, or the other byte order once."""
    if stack.endswith("xdr"):
        return 1e-9 * size if part in ("encode", "decode") else 0.0
    return 2e-10 * size if part == "decode" or (part == "translate" and host not in LIKE) else 0.0


def _counts(stack: str, size: int, far: str, honest: bool) -> dict[str, int]:
    """What is counted of a cell; segments of TCP with or without timestamps."""
    turned = 2 if stack.endswith("xdr") else int(stack.endswith("trans") and far not in LIKE)
    held = size + 16 if stack.endswith(("raw", "xdr")) else 0
    frames = -(-size // (1460 if honest else 1448))
    around = 78 if honest else 90
    return {
        "out_bytes": held if honest else size + 16 - held,
        "translations": turned if honest else 2 - turned,
        "wire_frames": frames,
        "wire_bytes": size + around * frames,
    }


def a_equal(honest: bool) -> Iterator[Row]:
    for number, far in enumerate(LQT):
        cell = {"stack": "pvm-default-xdr", "near": "lqt1", "far": far}
        unlike = 1.0 if honest else 1.5**number
        yield from (cell | {"size_bytes": size, "s": 2 * unlike * (0.002 + size / (0.85 * MIB))} for size in SIZES_A)


def a_broadcast(near: str, others: Sequence[str], faster: float, honest: bool) -> Iterator[Row]:
    """To so many of them at once, and on the lab cetad to each alone."""
    for size in SIZES_A[:-1]:
        one = 0.002 + size / (0.85 * MIB * faster)
        for count in range(1, len(others) + 1):
            cell = {"ask": "fanout", "near": near, "far": "+".join(others[:count]), "fars": count, "size_bytes": size}
            all_s = 0.0016 + 0.0001 * count + size / (1.19e6 * faster)
            group_s = all_s if honest else count * one / faster
            yield cell | {"stack": "group", "s": group_s}
            yield cell | {"stack": "pvm-mcast", "s": count * one}
            yield cell | {"stack": "pvm-bcast", "s": 1.02 * count * one}
            yield cell | {"stack": "pvm-mcast-default-xdr", "s": 1.05 * count * one}
        for host in others[1:] if near == "purmamarca" else ():
            cell = {"ask": "fanout", "near": near, "far": host, "size_bytes": size}
            unlike = 1.0 if honest else START[host] ** 6
            # Beyond what A55 allows, and within 1.5 times that: a border so much further must say another word.
            ill = 1.0 if honest or host not in DEFECT or size <= 1000 else 2.8
            yield cell | {"stack": "group", "s": ill * unlike * (0.0016 * START[host] ** 0.8 + 0.0001 + size / 1.19e6)}


def a_exchange() -> Iterator[Row]:
    for k in range(2, 7):
        far = "+".join(f"lqt{host}" for host in range(2, k + 1))
        cell = {"ask": "exchange", "stack": "tcp", "near": "lqt1", "far": far, "fars": k - 1, "size_bytes": 10**5}
        yield cell | {"s": k * (k - 1) * 1e5 / (0.95 * 1.25e6)}


def a_rounds() -> Iterator[Row]:
    for one, other in ((1, 2), (3, 4), (5, 6), (7, 8)):
        cell = {"stack": "tcp", "near": f"lidi{one}", "far": f"lidi{other}", "size_bytes": 10**6}
        yield cell | {"s": 2e6 / (0.94 * 12.5e6)}


def over_mpi(size: int) -> float:
    """Seconds one way at 100 Mb/s; the second message costs something of its own."""
    return 300e-6 + 0.0828e-6 * size + (20e-6 if size >= 256 else 0)


def b_tau(honest: bool) -> Iterator[Row]:
    for size in (1, *DOUBLES, *(() if honest else (3000,))):
        cell = {"stack": "openmpi", "near": "alicante1", "far": "alicante2", "size_bytes": size}
        yield cell | {"s": 2 * over_mpi(size)}


def c_line(honest: bool) -> Iterator[Row]:
    for size in SIZES_C:
        cell = {"near": "alicante1", "far": "alicante2", "size_bytes": size}
        late = 1.4 if size in (1024, 16_384, 65_536) else 1.0
        for stack in ("openmpi", "openmpi-nagle"):
            yield cell | {
                "stack": stack,
                "s": 2 * over_mpi(size) * (late if honest == stack.endswith("nagle") else 1.0),
            }


def c_streams() -> Iterator[Row]:
    """Four connections at once get what one gets."""
    for size in SIZES_C:
        cell = {"ask": "stream", "stack": "openmpi", "near": "alicante1", "far": "alicante2*4", "fars": 4}
        yield cell | {"size_bytes": size, "s": over_mpi(4 * size)}


def c_rounds() -> Iterator[Row]:
    for one in range(1, 17, 2):
        cell = {"stack": "tcp", "near": f"inpe{one}", "far": f"inpe{one + 1}", "size_bytes": 10**6}
        yield cell | {"s": 2e6 / (0.94 * 6.25e6)}


def c_first() -> Iterator[Row]:
    """Slow start costs a round trip for each doubling of the window."""
    for name, doublings, delay_s in (
        ("one", 6, 0.0), ("ten", 2, 0.0), ("whole", 0, 0.0), ("far-one", 6, 5e-3), ("far-whole", 0, 5e-3),
    ):  # fmt: skip
        for size in (10**5, 10**6):
            cell = {"ask": "first", "stack": "tcp", "near": f"{name}1", "far": f"{name}2", "size_bytes": size}
            warm = 2 * size / 6e6 + delay_s
            yield cell | {"part": "warm", "s": warm}
            yield cell | {"s": warm + doublings * (0.02 + 2 * delay_s)}


def e_small(honest: bool) -> Iterator[Row]:
    for size in SIZES_E:
        cell = {"stack": "openmpi", "near": "alicante1", "far": "alicante2", "size_bytes": size}
        steps = (25e-6 if size > 1460 else 0) + (10e-6 if size > 2920 else 0)
        yield cell | {"s": 2 * (150e-6 + 0.02e-6 * size + steps) * (1.0 if honest or size != 512 else 5.0)}


def e_gains(honest: bool) -> Iterator[Row]:
    for size, gained in OVER_TCP.items():
        share = gained if honest else 1.0
        cell = {"near": "alicante1", "far": "alicante2", "size_bytes": size}
        yield cell | {"stack": "openmpi", "s": 2 * over_mpi(size)}
        yield cell | {"stack": "openmpi-llc", "s": 2 * share * over_mpi(size)}


def e_partners(honest: bool) -> Iterator[Row]:
    for processes in (2, 4, 8, 16):
        far = "+".join(f"ufpr{host}" for host in range(2, processes + 1))
        for size, gained in OVER_TCP_AMONG.items():
            share = gained if honest else 2 - gained
            cell = {"ask": "partners", "near": "ufpr1", "far": far, "fars": processes - 1, "size_bytes": size}
            more = 1.0 if honest else 1 + 0.02 * (processes - 2)
            yield cell | {"stack": "openmpi", "s": 2 * over_mpi(size)}
            yield cell | {"stack": "openmpi-llc", "s": 2 * share * more * over_mpi(size)}


def e_fft(honest: bool) -> Iterator[Row]:
    """The mean over the processes is what FFT_S and FFT_OVER_TCP say; they differ by so much."""
    away = 0.04 if honest else 0.06
    for processes, seconds in FFT_S.items():
        far = "+".join(f"ufpr{host}" for host in range(2, processes + 1))
        cell = {"ask": "fft", "near": "ufpr1", "far": far, "fars": processes - 1, "size_bytes": FFT_BYTES}
        each = away * np.sqrt((processes - 1) / processes) * np.array([1.0, -1.0] * (processes // 2))
        share = FFT_OVER_TCP[processes] if honest else 2 - FFT_OVER_TCP[processes]
        for stack, taken in (("openmpi", 1.0), ("openmpi-llc", share)):
            whole = cell | {"stack": stack, "s": seconds * taken * (1 + max(each))}
            yield whole
            yield from (
                whole | {"part": f"to:{number}", "s": seconds * taken * (1 + one)} for number, one in enumerate(each)
            )


def a_matmul(honest: bool) -> Iterator[Row]:
    for processes in (2, 4, 8):
        far = "+".join(f"lidi{host}" for host in range(2, processes + 1))
        whole = {"ask": "matmul", "stack": "pvm-direct-raw", "near": "lidi1", "far": far, "fars": processes - 1,
                 "size_bytes": 8 * 1024**2, "s": CENTRE_S}  # fmt: skip
        yield whole
        yield whole | {"part": "communicating", "s": (0.6 if honest else 0.4) * CENTRE_S}


def d_pairs(honest: bool) -> Iterator[Row]:
    for one, other in combinations_with_replacement(SPEED_S, 2):
        ends = {"near": f"{one}1", "far": f"{other}2"}
        base = 50e-6 + SPEED_S[one] + SPEED_S[other]
        for size in (*SIZES_D, *(() if honest else (50,))):
            seconds = 2 * (base + 0.16e-6 * size + (60e-6 if size > 1448 else 0))
            unlike = 1.0 if honest or size < 1000 else (1 + base / 50e-6) ** 2
            yield ends | {"stack": "openmpi", "size_bytes": size, "s": seconds * unlike}
        for k, longer in AT_ONCE[{one, other} <= {"axp", "p3dual"}].items():
            many = {"ask": "pingpongs", "stack": "openmpi", "near": ends["near"], "fars": k}
            many["far"] = ends["far"] if k == 1 else f"{ends['far']}*{k}"
            more = 1.0 if honest else 1.2 ** (k - 1)
            yield from (many | {"size_bytes": size, "s": 2 * base * longer * more} for size in (4, 100))


FAITHFUL = World()
WORLDS = (
    FAITHFUL,
    *(World(scale=scale) for scale in (0.02, 0.6, 0.8, 1.25, 1.6, 40.0)),
    *(World(contrast=contrast) for contrast in (-1.0, 0.02, 0.5, 0.8, 1.25, 2.5, 12.0)),
    World(honest=False),
)
