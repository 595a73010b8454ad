# SPDX-License-Identifier: BSD-3-Clause
"""Numbers as people read them: 12.3 µs, 1 KiB, 1.25 MB/s. One place, so that a page, a table and a figure agree.

Times come in ns, sizes in bytes, rates in bytes per second. SI prefixes are powers of ten (MB = 10^6 bytes);
binary prefixes appear only where the size is a power of two. `None` is shown as a dash everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import datetime

from vaiven.stats.estimate import Estimate

DASH = "–"
_NARROW = "\u202f"
_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
_RATES = ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s"))
_BITS = ((1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "b/s"))


def _step(value: float, steps: tuple[tuple[float, str], ...]) -> tuple[float, str]:
    """The prefix that leaves at least one digit before the point (999.6 µs is shown as 1.00 ms)."""
    size = abs(value) * 1.0005
    return next((step for step in steps if size >= step[0]), steps[-1])


def digits(value: float, significant: int = 3) -> str:
    """`value` with so many significant digits, never in exponent form, thousands set apart by a narrow space."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else DASH
    places = significant - 1 - math.floor(math.log10(abs(value)) + 1e-9)
    rounded = round(value, places)
    if rounded and math.floor(math.log10(abs(rounded)) + 1e-9) > math.floor(math.log10(abs(value)) + 1e-9):
        places -= 1
    return f"{rounded:,.{max(0, places)}f}".replace(",", _NARROW).replace("-", "−")


def _with_unit(value: float | None, steps: tuple[tuple[float, str], ...], significant: int) -> str:
    if value is None or not math.isfinite(value):
        return DASH
    scale, unit = _step(value, steps)
    return f"{digits(value / scale, significant)} {unit}"


def time_text(ns: float | None, significant: int = 3) -> str:
    """12 300 ns as "12.3 µs"."""
    return _with_unit(ns, _TIMES, significant)


def tick_text(ns: float) -> str:
    """A round time on an axis: 1 ms, 2.5 µs."""
    scale, unit = _step(ns, _TIMES)
    return f"{ns / scale:.6g} {unit}"


def duration_text(seconds: float) -> str:
    """How long something went on: "94 s" as "1 min 34 s"."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s" if whole else "less than a second"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def minute_text(made: datetime) -> str:
    """When something was made: "2026-01-31 07:51"."""
    return f"{made:%Y-%m-%d %H:%M}"


def rate_text(bytes_per_s: float | None, significant: int = 3) -> str:
    """1 250 000 B/s as "1.25 MB/s" (10^6)."""
    return _with_unit(bytes_per_s, _RATES, significant)


def bits_text(bytes_per_s: float | None, significant: int = 3) -> str:
    """The same rate in bits: 1 250 000 B/s as "10.0 Mb/s"."""
    return _with_unit(None if bytes_per_s is None else 8 * bytes_per_s, _BITS, significant)


def percent_text(share: float | None) -> str:
    """0.254 as "25 %"; one digit after the point below 10 %, and from 99.5 to 100 %, where it tells how near."""
    if share is None or not math.isfinite(share):
        return DASH
    size = round(abs(100 * share), 1)
    places = 1 if (share and size < 10) or 99.5 <= size < 100 else 0
    return f"{100 * share:,.{places}f} %".replace(",", _NARROW).replace("-", "−").replace("−0.0 ", "0.0 ")


def change_text(ratio: float, places: int = 1) -> str:
    """A ratio of times as the change that it is: 1.06 as "+6.0 %", 0.81 as "−19.0 %"."""
    return f"{_signed(ratio, places)} %"


def change_interval_text(ratio: Estimate) -> str:
    """The same with its interval, "+6.0 % (99 %: +5.1 to +7.2 %)"; why there is none, if it was refused."""
    if ratio.value is None or ratio.low is None or ratio.high is None:
        return ratio.refused
    ends = f"{_signed(ratio.low)} to {_signed(ratio.high)} %"
    return f"{change_text(ratio.value)} ({100 * ratio.level:g} %: {ends})"


def _signed(ratio: float, places: int = 1) -> str:
    """By how many percent a ratio is off 1, signed."""
    return f"{100 * (ratio - 1):+.{places}f}".replace("-", "−")


def count_text(count: int) -> str:
    """192000 with its thousands set apart."""
    return f"{count:,}".replace(",", _NARROW)


def size_text(size_bytes: float) -> str:
    """64 as "64 B", 1024 as "1 KiB", 60000 as "60 kB", 1472 as "1472 B": always exact."""
    size = round(size_bytes)
    if size >= 1024 and size & (size - 1) == 0:
        power = min(3, (size.bit_length() - 1) // 10)
        return f"{size >> (10 * power)} {('KiB', 'MiB', 'GiB')[power - 1]}"
    for scale, step, unit in ((10**9, 10**8, "GB"), (10**6, 10**5, "MB"), (10**3, 10**3, "kB")):
        if size >= scale and size % step == 0:
            return f"{size / scale:g} {unit}"
    return f"{size} B" if size < 10_000 else f"{size:,} B".replace(",", _NARROW)


def ranges_text(sizes_bytes: Iterable[int], chosen: Iterable[int]) -> str:
    """Chosen ones of rising sizes in words: neighbours are a range, "8 B to 1 KiB, 64 KiB"."""
    wanted = set(chosen)
    runs: list[list[int]] = []
    before = False
    for size in sizes_bytes:
        if size in wanted:
            if before:
                runs[-1][1] = size
            else:
                runs.append([size, size])
        before = size in wanted
    texts = (size_text(low) if low == high else f"{size_text(low)} to {size_text(high)}" for low, high in runs)
    return ", ".join(texts)


def several_text(names: Sequence[str], most: int) -> str:
    """The first few of many names, and how many more there are."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def _interval(value: float, low: float, high: float, steps: tuple[tuple[float, str], ...]) -> str:
    """Value and interval share unit and decimals, enough of them that the ends of a narrow interval differ."""
    scale, unit = _step(value or max(abs(low), abs(high)), steps)
    value, low, high = value / scale, low / scale, high / scale
    if not all(map(math.isfinite, (value, low, high))):
        return f"{digits(value)} {unit}" if math.isfinite(value) else DASH
    top = max(abs(value), high - low, 1e-12)  # a value near zero needs no more digits than its interval is wide
    wanted = 2 - math.floor(math.log10(top))
    if high > low:
        wanted = max(wanted, min(wanted + 1, -math.floor(math.log10(high - low))))
    places = max(0, min(wanted, 6))
    shown = [f"{x:,.{places}f}".replace(",", _NARROW).replace("-", "−") for x in (value, low, high)]
    return f"{shown[0]} [{shown[1]}, {shown[2]}] {unit}"


def time_interval_text(ns: float, low: float, high: float) -> str:
    """(45200, 44900, 45600) as "45.2 [44.9, 45.6] µs"."""
    return _interval(ns, low, high, _TIMES)


def rate_interval_text(bytes_per_s: float, low: float, high: float) -> str:
    """(11.8e6, 11.7e6, 11.9e6) as "11.8 [11.7, 11.9] MB/s"."""
    return _interval(bytes_per_s, low, high, _RATES)


def size_interval_text(size_bytes: float, low: float, high: float) -> str:
    """A size that was computed, not sent (n_1/2): 3 digits and an interval, in bytes or kB."""
    return _interval(size_bytes, low, high, ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")))


def size_ticks(sizes_bytes: Iterable[int]) -> list[int]:
    """Sizes to mark on a log axis: powers of two, if most of the sizes are, otherwise powers of ten."""
    positive = sorted({size for size in sizes_bytes if size > 0})
    if not positive:
        return []
    binary = sum(size & (size - 1) == 0 for size in positive if size > 2) > len(positive) / 2
    base = 2 if binary else 10
    first = math.floor(math.log(positive[0], base) + 1e-9)
    last = math.ceil(math.log(positive[-1], base) - 1e-9)
    stride = max(1, math.ceil((last - first) / 9))
    if binary and last - first > 9:
        stride = 3
        first -= first % stride
    return [base**power for power in range(first, last + 1, stride)]


def size_labels(sizes_bytes: Sequence[int]) -> list[str]:
    """Sizes as the names of an axis, all in one notation: binary if all large ones are powers of two, else decimal."""
    large = [size for size in sizes_bytes if size >= 1000]
    if all(size & (size - 1) == 0 for size in large):
        return [size_text(size) for size in sizes_bytes]
    steps = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
    found = [next((scale, unit) for scale, unit in steps if size >= scale or scale == 1) for size in sizes_bytes]
    labels = [f"{size / scale:.3g} {unit}" for size, (scale, unit) in zip(sizes_bytes, found, strict=True)]
    return labels if len(set(labels)) == len(labels) else [f"{count_text(size)} B" for size in sizes_bytes]


def time_ticks(low_ns: float, high_ns: float) -> list[float]:
    """Round times to mark on a logarithmic axis between two positive times: about 4 to 10 of them."""
    first, last = math.floor(math.log10(low_ns)), math.ceil(math.log10(high_ns))
    decades = [10.0**power for power in range(first, last + 1)]
    if high_ns / low_ns > 300:
        return decades
    if high_ns / low_ns > 8:
        return [decade * step for decade in decades for step in (1, 2, 5)]
    rough = (high_ns - low_ns) / 6
    decade = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * decade for factor in (1, 2, 5, 10) if factor * decade >= rough)
    return [step * number for number in range(math.ceil(low_ns / step), math.floor(high_ns / step) + 1)]


def estimate_text(estimate: Estimate | None) -> str:
    """An estimate in the unit that people read, with its interval: ns, ns/byte, byte/s, byte. A dash if refused."""
    if estimate is None or estimate.value is None or estimate.low is None or estimate.high is None:
        return DASH
    numbers = (estimate.value, estimate.low, estimate.high)
    if estimate.unit == "ns/byte":
        return _interval(*numbers, ((1.0, "ns/B"),))
    if estimate.unit == "byte/s":
        return rate_interval_text(*numbers)
    return size_interval_text(*numbers) if estimate.unit == "byte" else time_interval_text(*numbers)
