# SPDX-License-Identifier: BSD-3-Clause
"""What the steps of a message take of the processor: encoding, sending, decoding, translating."""

from __future__ import annotations

from dataclasses import dataclass

from vaiven.stats.estimate import Estimate


@dataclass(frozen=True, kw_only=True)
class Steps:
    """One size of one stack. All times are the near host's, medians of launch medians, the steps in CPU time.

    share: of the time one way, what is not sending: encode, decode and translate, by launches. out_bytes, in_bytes:
    what the library holds of a message in buffers of its own, of one that is sent and of one that came. translations:
    how often the near host turns the numbers of these two from one representation into another; None of older runs.
    """

    stack: str
    near: str
    far: str
    size_bytes: int
    encode_ns: float
    send_ns: float
    decode_ns: float
    translate_ns: float
    typical_share: float
    share: Estimate
    out_bytes: int
    in_bytes: int
    translations: int | None


def coding_share(encode_ns: float, decode_ns: float, translate_ns: float, one_way_ns: float) -> float:
    """Which share of the time one way is not the network's but the representation's."""
    return (encode_ns + decode_ns + translate_ns) / one_way_ns
