# SPDX-License-Identifier: BSD-3-Clause
"""What a claim depends on, and in what a run differs from that.

Not what the authors of a paper owned: a claim about a shared medium needs a hub, and no PC of 1999. A run that lacks
something is told so in words, and nothing is said of the claim from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

import msgspec
from msgspec import Meta

from vaiven.questions import PROGRAMS
from vaiven.store.record import LinkRecord, Manifest

SMALL_MB = 32
Kind = Literal["same-order", "other-order", "tcp-sound", "tcp-defect", "small-memory"]
# Questions of several hosts, of whom the first counts, too.
FROM_TWO = ("exchange", "partners", *PROGRAMS)
Question = Literal[
    "pingpong", "steps", "fanout", "exchange", "pingpongs", "first", "stream", "partners", "fft", "matmul"
]
Count = Annotated[int, Meta(ge=1)]


class Needs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"timing": "class"}):
    """Of one run. What is not said does not matter.

    fabric, rate_mbps: of the network. timing (key `class`): "timed", each frame takes its true time, as on a wire.
    hosts: names, or the first parts of numbered ones ("axp" of axp1): each must be there, and "every machine" is these;
    without them it is every host that was measured. kinds: of which there must be a host each. alike: whether the
    hosts are equal machines. hosts_min: others than the first, at least. question, stacks, sizes: must have been
    asked, each size of each stack. receivers, at_once: of a fanout and of what runs at once, at least so many: hosts of
    an exchange, pairs that ping-pong, connections of a stream, processes of a job whose partners play or of a whole
    program, whose sizes are what its problem holds (questions.Program.size_bytes). counts: of hosts or processes at
    once each of these.
    congestion_control: of TCP on every host. samples: in each cell. processors: of the machines together. counters: of
    what crossed the interfaces.
    """

    fabric: Literal["hub", "switch", "any"] = "any"
    rate_mbps: float | None = None
    timing: Literal["timed", "any"] = "timed"
    hosts: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    alike: bool | None = None
    hosts_min: Count = 1
    question: Question = "pingpong"
    stacks: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    receivers: Count | None = None
    at_once: Count | None = None
    counts: tuple[Count, ...] = ()
    samples: Count | None = None
    processors: Count | None = None
    counters: bool = False
    congestion_control: str | None = None


def counts(question: str, fars: Iterable[int]) -> set[int]:
    """How many hosts, or processes, are at it at once where launches of that question have so many far ends."""
    return {far + (question in FROM_TWO) for far in fars}


@dataclass(frozen=True)
class Scene:
    """Where a run was measured, as its manifest says it. None: nobody knows.

    near: the first host. others: the rest, in order. traits: of each host of a lab, as its file has them; of real hosts
    what tells machines apart. models: those that a lab slows down, also where their memory ends, or gives a defect of
    its own making. congestion_controls: of TCP on all of them, None of one that does not say.
    """

    fabric: str | None
    rate_bps: int | None
    timed: bool
    near: str
    others: tuple[str, ...]
    orders: Mapping[str, str | None]
    traits: Mapping[str, Mapping[str, Any]]
    models: frozenset[str]
    processors: int | None
    pairs_at_once: int
    congestion_controls: frozenset[str | None] = frozenset()

    @classmethod
    def of(cls, manifest: Manifest) -> Self:
        lab, link = manifest.lab or {}, manifest.link or LinkRecord()
        fabric = lab.get("fabric") or {}
        pairs = manifest.design.pairs
        traits = {one["name"]: one for one in lab.get("hosts", ())} or {
            name: {"arch": known.get("arch"), "cpu": (known.get("cpu") or {}).get("model")}
            for name, known in manifest.hosts.items()
        }
        near = pairs[0][0] if pairs else ""
        return cls(
            fabric=fabric.get("kind") or (("hub" if link.hops == 1 else "switch") if link.hops else None),
            rate_bps=link.rate_bps,
            timed=fabric.get("class", "timed") == "timed",
            near=near,
            others=tuple(name for name in manifest.hosts if name != near),
            orders={name: known.get("byte_order") for name, known in manifest.hosts.items()},
            traits=traits,
            models=frozenset(name for name, one in traits.items() if _is_model(one, bool(lab.get("swap")))),
            processors=_processors(manifest, bool(lab)),
            pairs_at_once=len({host for pair in pairs for host in pair}) // 2 if manifest.design.rounds else 1,
            congestion_controls=frozenset(
                (known.get("tcp") or {}).get("congestion_control") for known in manifest.hosts.values()
            ),
        )

    def is_kind(self, host: str, kind: Kind) -> bool:
        traits = self.traits.get(host, {})
        same = self.orders.get(host) == self.orders.get(self.near)
        return {
            "same-order": same,
            "other-order": not same,
            "tcp-sound": not traits.get("tcp_defect"),
            "tcp-defect": bool(traits.get("tcp_defect")),
            "small-memory": (traits.get("memory_mb") or SMALL_MB + 1) <= SMALL_MB,
        }[kind]

    def of_kind(self, kind: Kind, hosts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(host for host in hosts if self.is_kind(host, kind))

    @property
    def alike(self) -> bool:
        """Whether all hosts are equal machines."""
        kinds = [
            {key: value for key, value in self.traits.get(host, {}).items() if key not in ("name", "role")}
            | {"order": self.orders.get(host)}
            for host in (self.near, *self.others)
        ]
        return all(kind == kinds[0] for kind in kinds)


def numbered(name: str, host: str) -> bool:
    """Whether that host is the one of that name, or one of the numbered ones that begin with it."""
    return re.fullmatch(re.escape(name) + r"\d*", host) is not None


def differences(needs: Needs, scene: Scene) -> tuple[str, ...]:
    """In what the place of a run is not what a claim needs, one clause each; () where it is."""
    return tuple(_differences(needs, scene))


def _differences(needs: Needs, scene: Scene) -> Iterator[str]:
    if needs.fabric not in ("any", scene.fabric):
        known = f"the network is a {scene.fabric}" if scene.fabric else "hub or switch is not known"
        yield f"{known}, and not a {needs.fabric}"
    if needs.rate_mbps is not None and scene.rate_bps is None:
        yield "the rate of the link is not known"
    elif needs.rate_mbps is not None and scene.rate_bps != round(needs.rate_mbps * 1e6):
        yield f"the link runs at {scene.rate_bps / 1e6:g} Mb/s, and not at {needs.rate_mbps:g}"
    if needs.timing == "timed" and not scene.timed:
        yield "the lab is not timed"
    if needs.congestion_control and scene.congestion_controls != {needs.congestion_control}:
        known = sorted(one for one in scene.congestion_controls if one)
        yield f"TCP runs {', '.join(known) or 'what nobody knows'}, and not {needs.congestion_control} alone"
    yield from _of_hosts(needs, scene)
    if needs.processors and (scene.processors or 0) < needs.processors:
        yield f"{scene.processors or 'no known'} processors of {needs.processors}"


def _of_hosts(needs: Needs, scene: Scene) -> Iterator[str]:
    missing = [name for name in needs.hosts if not any(numbered(name, host) for host in (scene.near, *scene.others))]
    if missing:
        yield f"no host {', '.join(missing)}"
    for kind in needs.kinds:
        if not scene.of_kind(kind, scene.others):
            yield f"no host of the kind {kind}"
    if needs.alike is not None and needs.alike != scene.alike:
        yield "the hosts are equal machines" if scene.alike else "the hosts are unlike machines"
    if len(scene.others) < needs.hosts_min:
        yield f"{len(scene.others)} other hosts of {needs.hosts_min}"


def _is_model(traits: Mapping[str, Any], swaps: bool) -> bool:
    keys = ("frame_us", "byte_ns", "cpu_share", "tcp_defect")
    return any(traits.get(key) for key in keys) or (swaps and traits.get("memory_mb") is not None)


def _processors(manifest: Manifest, lab: bool) -> int | None:
    """Hosts of a lab share those of one machine."""
    each = [(known.get("cpu") or {}).get("threads") for known in manifest.hosts.values()]
    if not each or None in each:
        return None
    return each[0] if lab else sum(each)
