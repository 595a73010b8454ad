# SPDX-License-Identifier: BSD-3-Clause
"""Can that number be true on that link? A cost per byte, a rate or a latency against what the wire allows.

A cost per unit of data cannot be below the wire's own, and one far above it is more often a slip of units than a
slow machine. The slips are those that people make: a prefix of a thousand, bit for byte, byte for float, MB for MiB,
a round trip not halved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from vaiven.errors import VaivenError
from vaiven.model.notation import inverse
from vaiven.model.units import Dimension, Quantity, scale

SLOW = 30.0  # times the wire's own cost: beyond it no machine of the field is slow enough, a slip is likelier
NEAR = 4.0  # a correction must land within this many times the wire's own cost
ROUNDING = 0.005  # published numbers have two or three digits

_SWAPS = {"bit": "byte", "byte": "bit", "float": "byte", "double": "byte"}


@dataclass(frozen=True)
class Plausibility:
    """The word on one number: "plausible", "faster than the wire", or "slower than any machine explains".

    given, limit: the number and what the wire alone would give, in the unit of the number. correction: the number
    that was likely meant, or None; why: the slip that it mends; text: one sentence for a reader.
    """

    word: str
    given: Quantity
    limit: Quantity
    correction: Quantity | None
    why: str
    text: str

    @property
    def plausible(self) -> bool:
        return self.word == "plausible"


def check_cost(given: Quantity, rate: Quantity, payload_share: float = 1.0) -> Plausibility:
    """A time per data ("ms/byte") or a rate ("MB/s") of long messages, one way, on a link of that rate ("Mb/s").

    payload_share: of the bits on the wire, such as 1460/1538 for TCP in full frames; 1 is the bare wire.
    Raises VaivenError "unlike-units" for anything else, "bad-number" unless both are above zero.
    """
    dimension = scale(given.unit)[1]
    if dimension not in (Dimension(1, -1), Dimension(-1, 1)):
        raise VaivenError(
            f"{given} is neither a time per data nor a rate", "such as us/byte, MB/s", code="unlike-units"
        )
    if not (given.value > 0 and rate.value > 0):
        raise VaivenError(f"{given} on {rate}: both must be above zero", code="bad-number")
    rate = replace(rate, value=rate.value * payload_share)
    ratio = _times_wire(given, rate)
    limit = _wire(given, rate)
    if ratio < 1 - ROUNDING:
        return _flagged("faster than the wire", given, limit, rate)
    if ratio > SLOW:
        return _flagged("slower than any machine explains", given, limit, rate)
    return Plausibility("plausible", given, limit, None, "", f"{given} fits a link of {rate}")


def _flagged(word: str, given: Quantity, limit: Quantity, rate: Quantity) -> Plausibility:
    fits = [(abs(_times_wire(q, rate) - 1), q, why) for q, why in _slips(given) if _fits(q, rate)]
    likeliest, why = min(fits, key=lambda fit: fit[0])[1:] if fits else (None, "")
    meant = _readable(likeliest) if likeliest else None
    return Plausibility(word, given, limit, meant, why, _sentence(given, limit, meant, why))


def _fits(meant: Quantity, rate: Quantity) -> bool:
    return 1 - ROUNDING <= _times_wire(meant, rate) <= NEAR


def _slips(given: Quantity) -> list[tuple[Quantity, str]]:
    """What may have been meant, each with the slip's name."""
    found = [(replace(given, value=given.value * f), w) for f, w in _FACTORS]
    over, under = given.unit.split("/")
    for old, new in ((over, _swapped(over)), (under, _swapped(under))):
        if new:
            meant = f"{new}/{under}" if old == over else f"{over}/{new}"
            found.append((replace(given, unit=meant), f"{old} written for {new}"))
    for binary, decimal in (("Ki", "k"), ("Mi", "M"), ("Gi", "G")):
        if over.startswith(binary):
            found.append((replace(given, unit=given.unit.replace(binary, decimal)), "2^20 taken for 10^6"))
    return found


_FACTORS = (
    (1e-3, "a prefix of 1000"),
    (1e-6, "a prefix of 1000000"),
    (1e3, "a prefix of 1000"),
    (1e6, "a prefix of 1000000"),
    (2.0, "a round trip not halved, or halved twice"),
    (0.5, "a round trip not halved, or halved twice"),
)


def _swapped(unit: str) -> str:
    """The unit that people confuse with this one: bit and byte, Mb and MB; "" for times."""
    if unit in _SWAPS:
        return _SWAPS[unit]
    return unit[:-1] + {"b": "B", "B": "b"}[unit[-1]] if unit[-1] in "bB" else ""


def _times_wire(given: Quantity, rate: Quantity) -> float:
    """The cost of a unit of data over the wire's own."""
    slope = inverse(given) if scale(given.unit)[1] == Dimension(-1, 1) else given
    return slope.to("s/bit").value * rate.to("bit/s").value


def _wire(given: Quantity, rate: Quantity) -> Quantity:
    """What the bare wire gives, in the unit and kind of `given`."""
    factor = _times_wire(given, rate)
    is_rate = scale(given.unit)[1] == Dimension(-1, 1)
    return replace(given, value=given.value * factor if is_rate else given.value / factor)


def _sentence(given: Quantity, limit: Quantity, meant: Quantity | None, why: str) -> str:
    likely = f"; likely {meant} ({why})" if meant else "; no usual slip of units explains it"
    return f"{given} cannot be: the link gives {limit}{likely}"


def _readable(given: Quantity) -> Quantity:
    """As people write it: a time in the largest unit that leaves 0.01 of it, a rate in the largest that leaves 1."""
    over, _, under = given.unit.partition("/")
    is_time = over in ("s", "ms", "us", "ns")
    ladder = ("s", "ms", "us", "ns") if is_time else ("GB", "MB", "kB", "byte")
    if over[-1] == "b" or over[-3:] == "bit":
        ladder = ("Gb", "Mb", "kb", "bit")
    shown = [given.to(f"{unit}/{under}") for unit in ladder]
    return next((q for q in shown if abs(q.value) >= (0.01 if is_time else 1.0)), shown[-1])
