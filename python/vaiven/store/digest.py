# SPDX-License-Identifier: BSD-3-Clause
"""Digests: a file of a run that is not what was written is seen when it is read.

A JSON document carries the SHA-256 of the rest of it as its first member: take `"sha256":"...",` out, and what is left
has that digest. A file that grows holds one such document on each line. Parts that are no JSON (Parquet) have their
digests in the document of their launch.
"""

from __future__ import annotations

import hashlib

_HEAD, _TAIL = b'{"sha256":"', b'",'
_DIGITS = 64  # of a SHA-256
_BODY = len(_HEAD) + _DIGITS + len(_TAIL)


def of(data: bytes) -> str:
    """The SHA-256 of the bytes, in lower case hex digits."""
    return hashlib.sha256(data).hexdigest()


def sealed(document: bytes) -> bytes:
    """A JSON object that is not empty, with its digest in front."""
    return _HEAD + of(document).encode() + _TAIL + document[1:]


def is_sealed(data: bytes) -> bool:
    """Whether somebody put a digest in front, right or wrong."""
    return data.startswith(_HEAD)


def opened(data: bytes) -> bytes:
    """The object as it was before it was sealed. ValueError if one bit of it is another."""
    document = b"{" + data[_BODY:]
    if sealed(document) != data:
        raise ValueError("its digest is not that of what it holds")
    return document


def lines(data: bytes) -> list[bytes]:
    """The objects of a file that grows; what a crash left of a last line is left out. ValueError as `opened`."""
    *whole, rest = data.split(b"\n")
    if rest and sealed(b"{" + rest[_BODY:-1]) == rest[:-1]:  # no crash puts another byte where the end of a line was
        raise ValueError("its last line ends wrongly")
    return [opened(line) for line in whole]
