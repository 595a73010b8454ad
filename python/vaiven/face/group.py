# SPDX-License-Identifier: BSD-3-Clause
"""`group` from Python: one transmission reaches everybody, whatever has a buffer is sent (include/vaiven/group.h).

libvaiven by ctypes: its thread serves peers while Python computes, and no call holds the interpreter's lock.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from ctypes import CFUNCTYPE, POINTER, byref
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Literal, Self

from vaiven import resources
from vaiven.errors import VaivenError

Route = Literal["any", "multicast", "broadcast"]
Kind = Literal["timeout", "gone", "refused", "wrong", "lacking", "broken"]

_ROUTES: tuple[Route, ...] = ("any", "multicast", "broadcast")
_KINDS: tuple[Kind, ...] = ("timeout", "gone", "refused", "wrong", "lacking", "broken")
_KEY_BYTES = 16
_STOPPED = 1
_NOTICE = CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)
_STOP = CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p)


class _Config(ctypes.Structure):
    """struct vv_group_config."""

    _fields_ = (
        ("size_bytes", ctypes.c_size_t), ("ranks", ctypes.c_uint32), ("rank", ctypes.c_uint32),
        ("address", ctypes.c_char_p), ("meeting", ctypes.c_char_p), ("key", ctypes.c_uint8 * _KEY_BYTES),
        ("timeout_ms", ctypes.c_uint32), ("route", ctypes.c_int), ("spin", ctypes.c_bool), ("notice", _NOTICE),
        ("stop", _STOP), ("context", ctypes.c_void_p),
    )  # fmt: skip


class _Problem(ctypes.Structure):
    """struct vv_group_problem."""

    _fields_ = (
        ("kind", ctypes.c_int), ("code", ctypes.c_char_p), ("rank", ctypes.c_int64), ("text", ctypes.c_char * 512),
    )  # fmt: skip


@dataclass
class GroupError(VaivenError):
    """Why a group failed. kind: what a program can decide by. rank: whom it is about, if anybody."""

    kind: Kind = "broken"
    rank: int | None = None


@cache
def _library() -> ctypes.CDLL:
    found = ctypes.CDLL(str(resources.library()))
    handle, size, problem = ctypes.c_void_p, ctypes.c_size_t, POINTER(_Problem)
    for name, result, arguments in (
        ("open", handle, (POINTER(_Config), problem)),
        ("broadcast", ctypes.c_int, (handle, ctypes.c_uint32, handle, size, problem)),
        ("receive", ctypes.c_int, (handle, ctypes.c_uint32, handle, size, POINTER(size), problem)),
        ("route_of", ctypes.c_int, (handle,)),
        ("shared_bps", ctypes.c_uint64, (handle,)),
        ("repairs", None, (handle, POINTER(ctypes.c_uint64), POINTER(ctypes.c_uint64))),
        ("foreign", ctypes.c_uint64, (handle,)),
        ("leave", None, (handle,)),
    ):
        call = getattr(found, f"vv_group_{name}")  # which keeps what is set
        call.restype, call.argtypes = result, arguments
    return found


class Group:
    """A process's place in a group: all ranks make the same calls, in the same order.

        with vaiven.Group(ranks=8, rank=rank, address="10.1.0.3", meeting="10.1.0.1:7000", key=key) as group:
            group.broadcast(array)

    address: the own numeric IPv4 address, which says what interface. meeting: an address of rank 0, and a TCP port.
    key: 16 random bytes that all ranks have and nobody else. timeout_s: how long to wait for the others in the
    beginning, and at the end. spin: keep the processor while waiting. notice: told, from another thread, what is worth
    knowing and no error. Calls on one group come from one thread at a time.

    Raises GroupError (docs/reference/errors.md has the codes), and "no-library" where libvaiven is not installed.
    """

    def __init__(
        self,
        *,
        ranks: int,
        rank: int,
        address: str,
        meeting: str,
        key: bytes,
        timeout_s: float = 10,
        route: Route = "any",
        spin: bool = False,
        notice: Callable[[str], None] | None = None,
    ) -> None:
        if len(key) != _KEY_BYTES:
            raise GroupError(f"a key has {_KEY_BYTES} bytes, and this one {len(key)}", code="bad-key", kind="wrong")
        self.ranks, self.rank = ranks, rank
        self._interrupted: BaseException | None = None
        self._buffer: Any = None  # that libvaiven may still write to
        asked = self._asked()
        next(asked)  # it now stands at a yield, where an exception is caught
        self._callbacks = _NOTICE(partial(_tell, notice)) if notice else _NOTICE(), _STOP(partial(next, asked))
        config = _Config(
            size_bytes=ctypes.sizeof(_Config), ranks=ranks, rank=rank, address=address.encode(),
            meeting=meeting.encode(), key=(ctypes.c_uint8 * _KEY_BYTES)(*key), timeout_ms=round(timeout_s * 1000),
            route=_ROUTES.index(route), spin=spin, notice=self._callbacks[0], stop=self._callbacks[1],
        )  # fmt: skip
        problem = _Problem()
        self._handle: int | None = _library().vv_group_open(byref(config), byref(problem))
        if not self._handle:
            raise _error(problem)

    def broadcast(self, buffer: Any, root: int = 0) -> None:
        """The bytes of root's buffer are in everybody's buffer, which is as long. Any object with a C-contiguous buffer
        will do, such as an array of numpy; at the other ranks one that may be written.
        """
        place = _place(buffer, writable=self.rank != root)
        problem = _Problem()
        self._call(place, partial(_library().vv_group_broadcast, self._handle, root, *place, byref(problem)), problem)

    def receive(self, buffer: Any, root: int = 0) -> int:
        """Takes a broadcast of unknown length, at most as long as the buffer, at a rank that is not the root; how many
        bytes it has."""
        place = _place(buffer, writable=True)
        size, problem = ctypes.c_size_t(), _Problem()
        call = partial(_library().vv_group_receive, self._handle, root, *place, byref(size), byref(problem))
        self._call(place, call, problem)
        return size.value

    @property
    def route(self) -> Route:
        """How datagrams reach everybody."""
        return _ROUTES[_library().vv_group_route_of(self._handle)]

    @property
    def shared_bps(self) -> int | None:
        """The rate of the medium that all ranks share (a hub); None where each has a link of its own."""
        return _library().vv_group_shared_bps(self._handle) or None

    @property
    def repairs(self) -> tuple[int, int]:
        """Datagrams that this rank has sent again for others, and those it asked for itself."""
        given, asked = ctypes.c_uint64(), ctypes.c_uint64()
        _library().vv_group_repairs(self._handle, byref(given), byref(asked))
        return given.value, asked.value

    @property
    def foreign(self) -> int:
        """Datagrams of strangers that came to this rank's ports, and were dropped."""
        return int(_library().vv_group_foreign(self._handle))

    def leave(self) -> None:
        """Waits until nobody needs this rank any more. All ranks call it; a second call does nothing."""
        handle, self._handle = self._handle, None
        _library().vv_group_leave(handle)
        self._buffer = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    def _call(self, place: tuple[Any, int], call: Callable[[], int], problem: _Problem) -> None:
        """Carries out an operation. An exception of a handler of signals (Ctrl-C) ends its wait: leave is left."""
        self._buffer = place
        ended = call()
        if ended == _STOPPED:
            interrupted, self._interrupted = self._interrupted, None
            raise interrupted or KeyboardInterrupt
        self._buffer = None
        if ended != 0:
            raise _error(problem)

    def _asked(self) -> Iterator[bool]:
        """Asked before each wait whether to stop. Python carries out its handlers of signals when this goes on, so
        what they raise is raised at the yield."""
        while True:
            try:
                while True:
                    yield self._interrupted is not None
            except GeneratorExit:
                return
            except BaseException as error:  # raised again, by _call
                self._interrupted = error


def _tell(notice: Callable[[str], None], _: object, text: bytes) -> None:
    notice(text.decode(errors="replace"))


def _error(problem: _Problem) -> GroupError:
    rank = problem.rank if problem.rank >= 0 else None
    text, code = problem.text.decode(errors="replace"), problem.code.decode()
    return GroupError(text, code=code, kind=_KINDS[problem.kind - 1], rank=rank)


def _place(buffer: Any, *, writable: bool) -> tuple[Any, int]:
    """Where a buffer lies, and its length. BufferError unless contiguous, and written to where that is wanted."""
    view = memoryview(buffer)
    if not view.c_contiguous:
        raise BufferError("a broadcast wants a C-contiguous buffer: numpy.ascontiguousarray makes one")
    if view.nbytes == 0:
        return None, 0
    if not view.readonly:
        return (ctypes.c_char * view.nbytes).from_buffer(view), view.nbytes
    if writable:
        raise BufferError("this rank's buffer cannot be written, and a broadcast of another one goes there")
    return ctypes.create_string_buffer(view.tobytes(), view.nbytes), view.nbytes
