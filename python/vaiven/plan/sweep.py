# SPDX-License-Identifier: BSD-3-Clause
"""Size words: what `sizes` of a plan may say, and the message sizes (payload bytes) that it means.

64  "64"  "10^6"  "64k"  "64Ki"  one size, asked for explicitly; k (or K) and M are 10^3 and 10^6, Ki and Mi 2^10 and
                          2^20; "10 kB" and "64 KiB", as sizes are printed, too
"linear:0..100/4"         0, 4, ..., 100
"decades"                 the powers of ten 1..10^6; "decades:8..10^7" adds both ends: 8, 10, 100, ..., 10^7
"powers:2^5..2^19*8"      2^5, 2^6, ..., 2^19 elements of 8 bytes each; without "*8", bytes
"log:8/decade"            8 sizes a decade, evenly on a log scale, 1..10^6; "log:8/decade:64..10^5" within these
"log:8/decade+perturb"    the same, each size moved at random within its step, and every power of two with its
                          neighbours 3 bytes away: sizes that nobody tuned for, beside those that everybody did
"paper-a"                 8, 100, 1000, 60000, 10^6, 10^7
"frames:1500"             around the sizes where one more frame is needed at that MTU: the first four multiples of
                          TCP's segment (MTU - 52) and the largest datagram in one frame (MTU - 28), each
                          {-1, 0, +1}, and the MTU itself
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from vaiven.errors import VaivenError

SIZE_BYTES_MAX = 64 * 2**20
PAPER_A = (8, 100, 1_000, 60_000, 1_000_000, 10_000_000)
_TCP_HEADERS_BYTES = 52  # IPv4 20, TCP 20, the timestamps that Linux always adds 12
_UDP_HEADERS_BYTES = 28
_SIZES_MAX = 2_000  # of one plan: more is a slip of the pen, not an experiment
_FACTORS = {"": 1, "K": 10**3, "M": 10**6, "KI": 2**10, "MI": 2**20}
_NUMBER = r"\d+(?:\^\d+| ?(?:[kKM]i?B?|B))?"


@dataclass(frozen=True)
class Sizes:
    """Message sizes in bytes, ascending, none twice; explicit holds those that were asked for one by one."""

    values: tuple[int, ...]
    explicit: frozenset[int]


@dataclass(frozen=True)
class Limits:
    """What a stack can carry: the smallest and the largest message, in bytes."""

    size_bytes_min: int
    size_bytes_max: int


def expand(words: Sequence[int | str], seed: int) -> Sizes:
    """The sizes that these words mean. `seed` decides the random ones: the same words and seed, the same sizes.

    Raises VaivenError ("bad-size") naming the word that means nothing, or sizes beyond SIZE_BYTES_MAX.
    """
    values: set[int] = set()
    explicit: set[int] = set()
    for word in words:
        found, one_by_one = _meaning(word, seed)
        values.update(found)
        explicit.update(found if one_by_one else ())
    if not values:
        raise VaivenError("no size is asked for", 'for example sizes = [64, "decades"]', code="bad-size")
    if len(values) > _SIZES_MAX:
        raise VaivenError(f"{len(values)} sizes in one plan", f"at most {_SIZES_MAX}", code="bad-size")
    return Sizes(tuple(sorted(values)), frozenset(explicit))


def fit(sizes: Sizes, stack: str, limits: Limits) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(sizes that the stack carries, sizes of sweeps that it does not and that are left out).

    Raises VaivenError ("size-limit") if a size outside the limits was asked for explicitly, or if none is left.
    """
    inside = tuple(size for size in sizes.values if limits.size_bytes_min <= size <= limits.size_bytes_max)
    outside = tuple(size for size in sizes.values if size not in inside)
    asked = [size for size in outside if size in sizes.explicit]
    span = f"{stack} carries {limits.size_bytes_min} to {limits.size_bytes_max} bytes"
    if asked:
        raise VaivenError(f"{span}, not {asked[0]}", "leave that size or that stack out", code="size-limit")
    if not inside:
        raise VaivenError(f"{span}: none of the sizes asked for", "ask for other sizes", code="size-limit")
    return inside, outside


def _meaning(word: int | str, seed: int) -> tuple[Iterable[int], bool]:
    if isinstance(word, int) or re.fullmatch(_NUMBER, word):
        return [_checked(word if isinstance(word, int) else _number(word), word)], True
    for pattern, sizes in _WORDS:
        match = re.fullmatch(pattern, word)
        if match:
            return [_checked(size, word) for size in sizes(match.groupdict(), seed)], False
    raise VaivenError(
        f"{word!r} is not a size nor a size word",
        "words: 64, 10^6, 64k (64000), 64Ki (65536), linear:0..100/4, decades, decades:8..10^7, powers:2^5..2^19*8, "
        "log:8/decade, log:8/decade+perturb, paper-a, frames:1500",
        code="bad-size",
    )


def _checked(size: int, word: int | str) -> int:
    if not 0 <= size <= SIZE_BYTES_MAX:
        raise VaivenError(f"{word!r} means a message of {size} bytes", f"0 to {SIZE_BYTES_MAX} bytes", code="bad-size")
    return size


def _number(text: str) -> int:
    """ "64", "10^6", "64Ki" or "64 KiB"; anything absurd stops here, before it becomes a number of a million digits."""
    written = re.fullmatch(r"([\d^]+) ?(\w*)", text)
    assert written, "only what sizes are made of comes here"
    text, unit = written.groups()
    base, _, exponent = text.partition("^")
    if len(base) > 12 or len(exponent) > 2:
        raise VaivenError(f"{text} bytes is too large", f"at most {SIZE_BYTES_MAX} bytes", code="bad-size")
    return int(int(base) ** int(exponent or 1)) * _FACTORS[unit.upper().removesuffix("B")]


def _span(parts: dict[str, str | None], low: int, high: int) -> tuple[int, int]:
    """The word's "A..B" or the default; VaivenError if it is empty."""
    if parts.get("low") is not None:
        low, high = _number(str(parts["low"])), _number(str(parts["high"]))
    if low > high:
        raise VaivenError(f"the range {low}..{high} is empty", f"{high}..{low}", code="bad-size")
    return low, min(high, SIZE_BYTES_MAX + 1)


def _linear(parts: dict[str, str | None], _seed: int) -> Iterable[int]:
    low, high = _span(parts, 0, 0)
    step = _number(str(parts["step"]))
    if step < 1 or (high - low) // step >= _SIZES_MAX:
        raise VaivenError(f"a step of {step} from {low} to {high}", f"at most {_SIZES_MAX} sizes", code="bad-size")
    return range(low, high + 1, step)


def _decades(parts: dict[str, str | None], _seed: int) -> Iterable[int]:
    low, high = _span(parts, 1, 10**6)
    inner = [10**e for e in range(9) if low < 10**e < high]
    return [low, *inner, high]


def _powers(parts: dict[str, str | None], _seed: int) -> Iterable[int]:
    base, first, base_last, last = (int(str(parts[key])) for key in ("base", "first", "base_last", "last"))
    if base != base_last or base < 2 or first > last:
        raise VaivenError(
            f"powers of {base} up to a power of {base_last}, exponents {first} to {last}",
            "one base of at least 2, and exponents that go up: powers:2^5..2^19",
            code="bad-size",
        )
    element = _number(parts["element"] or "1")
    return (base**exponent * element for exponent in range(first, last + 1))


def _log(parts: dict[str, str | None], seed: int) -> Iterable[int]:
    low, high = _span(parts, 1, 10**6)
    per_decade = int(str(parts["count"]))
    if not 1 <= per_decade <= 100 or low < 1:
        raise VaivenError(f"{per_decade} sizes a decade from {low}", "1 to 100 a decade, from 1 byte", code="bad-size")
    steps = max(1, round(math.log10(high / low) * per_decade))
    at = [step / steps for step in range(steps + 1)]
    if parts["perturb"]:
        at = [0.0, *_moved(at[1:-1], 1 / steps, seed), 1.0]
    grid = {round(low * (high / low) ** share) for share in at}
    return grid | (_beside_powers(low, high) if parts["perturb"] else set())


def _moved(at: list[float], step: float, seed: int) -> list[float]:
    """Each place moved at random by less than half a step, so that their order stays."""
    rng = random.Random(f"sizes/{seed}")
    return [place + (rng.random() - 0.5) * step for place in at]


def _beside_powers(low: int, high: int, away: int = 3) -> set[int]:
    near = (2**e + side for e in range(27) for side in (-away, 0, away))
    return {size for size in near if low <= size <= high}


def _frames(parts: dict[str, str | None], _seed: int) -> Iterable[int]:
    mtu = int(str(parts["mtu"]))
    if not 576 <= mtu <= 65535:
        raise VaivenError(f"an MTU of {mtu} bytes", "576 to 65535", code="bad-size")
    edges = [count * (mtu - _TCP_HEADERS_BYTES) for count in range(1, 5)] + [mtu - _UDP_HEADERS_BYTES]
    return [mtu, *(edge + side for edge in edges for side in (-1, 0, 1))]


_RANGE = rf"(?P<low>{_NUMBER})\.\.(?P<high>{_NUMBER})"
_WORDS: list[tuple[str, Callable[[dict[str, str | None], int], Iterable[int]]]] = [
    (rf"linear:{_RANGE}/(?P<step>{_NUMBER})", _linear),
    (rf"decades(?::{_RANGE})?", _decades),
    (
        rf"powers:(?P<base>\d{{1,3}})\^(?P<first>\d{{1,2}})\.\.(?P<base_last>\d{{1,3}})\^(?P<last>\d{{1,2}})"
        rf"(?:\*(?P<element>{_NUMBER}))?",
        _powers,
    ),
    (rf"log:(?P<count>\d{{1,3}})/decade(?::{_RANGE})?(?P<perturb>\+perturb)?", _log),
    (r"paper-a", lambda _parts, _seed: PAPER_A),
    (r"frames:(?P<mtu>\d{1,5})", _frames),
]
