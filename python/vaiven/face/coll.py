# SPDX-License-Identifier: BSD-3-Clause
"""Collective operations of `Group`, as libvaiven takes them (include/vaiven/coll.h): kinds, reductions, types."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Literal

Kind = Literal["barrier", "broadcast", "allgather", "gather", "scatter", "reduce", "allreduce"]
Reduction = Literal["sum", "product", "min", "max", "and", "or", "xor"]

_KINDS: tuple[Kind, ...] = ("barrier", "broadcast", "allgather", "gather", "scatter", "reduce", "allreduce")
_REDUCTIONS: tuple[Reduction, ...] = ("sum", "product", "min", "max", "and", "or", "xor")
_ALL_GIVE, _ALL_GET = ("allgather", "gather", "reduce", "allreduce"), ("broadcast", "allgather", "scatter", "allreduce")

# enum vv_data_type, by what a buffer says of its items and how long one is.
_TYPES = {
    "int": {1: 2, 2: 4, 4: 6, 8: 8}, "unsigned": {1: 3, 2: 5, 4: 7, 8: 9}, "real": {4: 10, 8: 11},
    "complex": {8: 12, 16: 13}, "char": {1: 1},
}  # fmt: skip
_FORMATS = {
    **dict.fromkeys("bhilqn", "int"), **dict.fromkeys("BHILQN", "unsigned"), **dict.fromkeys("fd", "real"),
    "Zf": "complex", "Zd": "complex", "c": "char", "?": "unsigned",
}  # fmt: skip


class Part(ctypes.Structure):
    """struct vv_coll_part."""

    _fields_ = (("first", ctypes.c_size_t), ("count", ctypes.c_size_t))


class Call(ctypes.Structure):
    """struct vv_coll_call."""

    _fields_ = (
        ("size_bytes", ctypes.c_size_t), ("kind", ctypes.c_int), ("root", ctypes.c_uint32), ("given", ctypes.c_void_p),
        ("result", ctypes.c_void_p), ("count", ctypes.c_size_t), ("type", ctypes.c_int), ("op", ctypes.c_int),
        ("parts", ctypes.POINTER(Part)),
    )  # fmt: skip


def gives(kind: Kind, is_root: bool) -> bool:
    """Whether that rank gives numbers."""
    return kind in _ALL_GIVE or (is_root and kind != "barrier")


def gets(kind: Kind, is_root: bool) -> bool:
    """Whether that rank gets numbers."""
    return kind in _ALL_GET or (is_root and kind != "barrier")


def items(buffer: Any) -> tuple[int, int]:
    """The type of a buffer's items, as libvaiven counts types, and how many there are. BufferError: no numbers."""
    view = memoryview(buffer)
    family = _FORMATS.get(view.format.lstrip("@=<>") if view.format else "", "")
    found = _TYPES.get(family, {}).get(view.itemsize)
    if found is None:
        raise BufferError(f"items of format {view.format!r} and {view.itemsize} bytes are no numbers that can travel")
    return found, view.nbytes // view.itemsize


def lengths(kind: Kind, count: int, ranks: int, rank: int, counts: Sequence[int] | None) -> tuple[int, int]:
    """How many numbers a rank gives, and gets, if it does. ValueError: not as many counts as ranks."""
    if counts is not None and len(counts) != ranks:
        raise ValueError(f"a group of {ranks} ranks has as many counts, and these are {len(counts)}")
    own, whole = (counts[rank], sum(counts)) if counts is not None else (count, ranks * count)
    if kind in ("allgather", "gather"):
        return own, whole
    return (whole, own) if kind == "scatter" else (count, count)


def call(kind: Kind, root: int, op: Reduction, count: int, type_: int, counts: Sequence[int] | None) -> Call:
    """The call, but for its buffers. counts: numbers of each rank's part, one behind the other."""
    made = Call(
        size_bytes=ctypes.sizeof(Call), kind=1 + _KINDS.index(kind), root=root, count=count, type=type_,
        op=1 + _REDUCTIONS.index(op),
    )  # fmt: skip
    if counts is not None:
        firsts = [sum(counts[:i]) for i in range(len(counts))]
        made.parts = (Part * len(counts))(*(Part(*both) for both in zip(firsts, counts, strict=True)))
    return made
