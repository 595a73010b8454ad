# SPDX-License-Identifier: BSD-3-Clause
"""What better broadcasts are worth to a program: apps/matmul, which multiplies matrices, and what a language model that
is spread over hosts sends for each token."""

from __future__ import annotations

import json
import random
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import jobs
from jobs import SERVED
from ratio import Ratio, anchor, ratio, within

from vaiven import questions, resources
from vaiven.run.place import Place

LAB, N = "hub8", 720  # panels of 518400 B: eight of C's 720 rows of doubles each
SIZES = (100_000, 1_000_000)  # of the broadcasts that alpha and beta are from
SAMPLES, TIMES = 8, 2
OVER_DEFAULT_MOST = 1 / 5  # of communication, over Open MPI's own choice
FORETOLD_MARGIN = 0.10
TOKENS_LAB, TOKENS_HOSTS, TOKENS = "lidi", (4, 8), 5
LIBVAIVEN = "group"  # the program of that library
MESH = "openmpi, TCP mesh"


def record(where: Place, stack: str, words: Sequence[str]) -> Mapping[str, Any]:
    """What vaiven-matmul says at its end, on that stack."""
    command = [str(resources.program(questions.MATMUL_PROGRAM.executable(stack))), *words]
    said = jobs.of_group(where, command) if stack == LIBVAIVEN else jobs.job(where, stack, command)
    found = json.loads(said)
    if found.get("wrong"):
        raise RuntimeError(f"{stack}: {found['wrong']} numbers were wrong")
    return found


def _line(where: Place, stack: str) -> tuple[float, float]:
    """(alpha in ns, beta in ns a byte) of a broadcast from the first host to all others."""
    small, large = SIZES
    took = jobs.fanout_ns(where, stack, SIZES, SAMPLES)
    beta = (took[large] - took[small]) / (large - small)
    return max(0.0, took[small] - beta * small), beta


def products(rounds: int, seed: int) -> list[Ratio]:
    """A product on `hub8`: what is communicated, over the same with Open MPI's own broadcasts, and over what was
    foretold from broadcasts alone in the same round."""
    order, found, foretold = random.Random(seed), defaultdict(list), defaultdict(list)
    words = ["--n", str(N), "--equal", "--times", str(TIMES)]
    with jobs.hosts(LAB) as where:
        for _ in range(rounds):
            took = {}
            for stack in order.sample([*SERVED, "openmpi"], len(SERVED) + 1):
                alpha, beta = _line(where, stack) if stack in SERVED else (0.0, 0.0)
                costs = ["--alpha-ns", f"{alpha:.0f}", "--beta-ns-per-byte", f"{beta:.6f}"]
                said = record(where, stack, [*words, *costs])
                took[stack] = statistics.median(said["communicating_ns"])
                foretold[stack].append((took[stack], said["predicted_ns"]))
            for stack in SERVED:
                found[stack].append((took[stack], took["openmpi"]))
    what = f"{LAB}: communication of a product of {N} x {N}, {{}}"
    return [
        *(ratio(what.format(f"{stack} / Open MPI's own"), found[stack], OVER_DEFAULT_MOST) for stack in SERVED),
        *(within(what.format(f"{stack} / foretold"), foretold[stack], 1, FORETOLD_MARGIN) for stack in SERVED),
    ]


def tokens(rounds: int, seed: int) -> list[Ratio]:
    """ms a token, of 64 layers, on 4 and 8 hosts of `lidi`: over a message from each to each other one."""
    rows = []
    ways = {"openmpi": "openmpi", "openmpi:group": "openmpi:group", LIBVAIVEN: LIBVAIVEN, MESH: "openmpi"}
    for count in TOKENS_HOSTS:
        order, spent = random.Random(seed), defaultdict(list)
        with jobs.hosts(TOKENS_LAB, count) as where:
            for _ in range(rounds):
                for way in order.sample(list(ways), len(ways)):
                    words = ["--tokens", str(TOKENS), *["--mesh"] * (way == MESH)]
                    said = record(where, ways[way], words)
                    spent[way].append(statistics.median(said["token_ns"]) / 1e6)
        mesh = spent.pop(MESH)
        for way, took in spent.items():
            what = f"{TOKENS_LAB}, {count} hosts: a token, {way} ({statistics.median(took):.1f} ms) / "
            what += f"{MESH} ({statistics.median(mesh):.1f} ms)"
            pairs = list(zip(took, mesh, strict=True))
            rows.append(anchor(what, pairs, None))
    return rows
