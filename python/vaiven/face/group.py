# SPDX-License-Identifier: BSD-3-Clause
"""`group` from Python: one transmission reaches everybody, whatever has a buffer is sent (include/vaiven/group.h).

libvaiven by ctypes: its thread serves peers while Python computes, and no call holds the interpreter's lock.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Sequence
from ctypes import CFUNCTYPE, POINTER, byref
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Literal, Self

from vaiven import resources
from vaiven.errors import VaivenError
from vaiven.face import coll

Route = Literal["any", "multicast", "broadcast", "unicast"]
Kind = Literal["timeout", "gone", "refused", "wrong", "lacking", "broken"]

_ROUTES: tuple[Route, ...] = ("any", "multicast", "broadcast", "unicast")
_KINDS: tuple[Kind, ...] = ("timeout", "gone", "refused", "wrong", "lacking", "broken")
_KEY_BYTES = 16
_STOPPED, _PENDING = 1, 2
_FOREVER_MS = 2**32 - 1
_NOTICE = CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)
_STOP = CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p)
_EXCHANGE = CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class _Config(ctypes.Structure):
    """struct vv_group_config."""

    _fields_ = (
        ("size_bytes", ctypes.c_size_t), ("ranks", ctypes.c_uint32), ("rank", ctypes.c_uint32),
        ("address", ctypes.c_char_p), ("meeting", ctypes.c_char_p), ("key", ctypes.c_uint8 * _KEY_BYTES),
        ("timeout_ms", ctypes.c_uint32), ("patience_ms", ctypes.c_uint32), ("route", ctypes.c_int),
        ("spin", ctypes.c_bool), ("notice", _NOTICE), ("stop", _STOP), ("exchange", _EXCHANGE),
        ("meanwhile", ctypes.c_void_p), ("context", ctypes.c_void_p),
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
        ("from_environment", ctypes.c_int, (POINTER(_Config), problem)),
        ("open", handle, (POINTER(_Config), problem)),
        ("broadcast", ctypes.c_int, (handle, ctypes.c_uint32, handle, size, problem)),
        ("receive", ctypes.c_int, (handle, ctypes.c_uint32, handle, size, POINTER(size), problem)),
        ("among", handle, (handle, POINTER(ctypes.c_uint32), ctypes.c_uint32, problem)),
        ("begin_broadcast", handle, (handle, ctypes.c_uint32, handle, size, problem)),
        ("begin_receive", handle, (handle, ctypes.c_uint32, handle, size, problem)),
        ("begin_send", handle, (handle, ctypes.c_uint32, handle, size, problem)),
        ("begin_take", handle, (handle, ctypes.c_uint32, handle, size, problem)),
        ("test", ctypes.c_int, (handle, POINTER(size), problem)),
        ("wait", ctypes.c_int, (handle, ctypes.c_uint32, POINTER(size), problem)),
        ("turn", None, (handle,)),
        ("descriptor", ctypes.c_int, (handle, problem)),
        ("route_of", ctypes.c_int, (handle,)),
        ("shared_bps", ctypes.c_uint64, (handle,)),
        ("repairs", None, (handle, POINTER(ctypes.c_uint64), POINTER(ctypes.c_uint64))),
        ("foreign", ctypes.c_uint64, (handle,)),
        ("leave", None, (handle,)),
    ):
        call = getattr(found, f"vv_group_{name}")  # which keeps what is set
        call.restype, call.argtypes = result, arguments
    found.vv_coll_begin.restype, found.vv_coll_begin.argtypes = handle, (handle, POINTER(coll.Call), problem)
    return found


class Group:
    """A process's place in a group: all ranks make the same calls, in the same order.

        with vaiven.Group(ranks=8, rank=rank, address="10.1.0.3", meeting="10.1.0.1:7000", key=key) as group:
            group.broadcast(array)

    address: the own numeric IPv4 address, which says what interface. meeting: an address of rank 0, and a TCP port.
    key: 16 random bytes that all ranks have and nobody else. exchange: instead of both, a way of the caller's that
    gives the records of all ranks, in their order, for this one's: `comm.allgather` of mpi4py. timeout_s: how long to
    wait for the others in the beginning, and at the end. spin: keep the processor while waiting. notice: told, from
    another thread, what is worth knowing and no error. Calls on a group, and on those made of it by `among`, come from
    one thread at a time.

    Raises GroupError (docs/reference/errors.md has the codes), and "no-library" where libvaiven is not installed.
    """

    def __init__(
        self,
        *,
        ranks: int,
        rank: int,
        address: str,
        meeting: str | None = None,
        key: bytes | None = None,
        exchange: Callable[[bytes], Sequence[bytes]] | None = None,
        timeout_s: float = 10,
        route: Route = "any",
        spin: bool = False,
        notice: Callable[[str], None] | None = None,
    ) -> None:
        key = bytes(_KEY_BYTES) if key is None else key
        if len(key) != _KEY_BYTES:
            raise GroupError(f"a key has {_KEY_BYTES} bytes, and this one {len(key)}", code="bad-key", kind="wrong")
        self._set_up(ranks, rank, None)
        self._interrupted: BaseException | None = None
        asked = self._asked()
        next(asked)  # it now stands at a yield, where an exception is caught
        self._callbacks = _NOTICE(partial(_tell, notice)) if notice else _NOTICE(), _STOP(partial(next, asked))
        wrong: list[BaseException] = []  # what the exchange raised
        gather = _EXCHANGE(partial(_exchange, exchange, ranks, wrong)) if exchange else _EXCHANGE()
        config = _Config(
            size_bytes=ctypes.sizeof(_Config), ranks=ranks, rank=rank, address=address.encode(),
            meeting=meeting.encode() if meeting else None, key=(ctypes.c_uint8 * _KEY_BYTES)(*key),
            timeout_ms=round(timeout_s * 1000), route=_ROUTES.index(route), spin=spin, notice=self._callbacks[0],
            stop=self._callbacks[1], exchange=gather,
        )  # fmt: skip
        problem = _Problem()
        self._handle: int | None = _library().vv_group_open(byref(config), byref(problem))
        if not self._handle:
            raise wrong[0] if wrong else _error(problem)

    @classmethod
    def from_environment(cls, **options: Any) -> Self:
        """That of the ranks which `vaiven run --stack group` has started. options: timeout_s, route, spin, notice."""
        config, problem = _Config(size_bytes=ctypes.sizeof(_Config)), _Problem()
        if _library().vv_group_from_environment(byref(config), byref(problem)) != 0:
            raise _error(problem)
        return cls(
            ranks=config.ranks, rank=config.rank, address=config.address.decode(), meeting=config.meeting.decode(),
            key=bytes(config.key), **options,
        )  # fmt: skip

    def _set_up(self, ranks: int, rank: int, first: Group | None) -> None:
        self.ranks, self.rank = ranks, rank
        self._first = first or self
        self._buffer: Any = None  # that libvaiven may still write to
        self._begun: set[Operation] = set()

    def among(self, ranks: Iterable[int]) -> Group:
        """A further group, of some ranks of this one: the i-th of them is its rank i. Each of them calls it with the
        same list, and nobody else does. It shares all that the first group has, and costs one agreement; the first one
        is left last."""
        wanted = [int(rank) for rank in ranks]
        if any(not 0 <= rank < self.ranks for rank in wanted):
            raise GroupError(f"a group of {self.ranks} has no such ranks: {wanted}", code="bad-rank", kind="wrong")
        listed, problem = (ctypes.c_uint32 * len(wanted))(*wanted), _Problem()
        handle = _library().vv_group_among(self._handle, listed, len(wanted), byref(problem))
        if not handle:
            raise _error(problem)
        made = Group.__new__(Group)
        made._set_up(len(wanted), wanted.index(self.rank), self._first)
        made._handle = handle
        return made

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

    def begin_broadcast(self, buffer: Any, root: int = 0) -> Operation:
        """Begins a broadcast, which goes on while the program computes: until it has ended the buffer is the group's.
        Several may be under way; those of one group end in the order in which they were begun."""
        return self._begin("broadcast", buffer, root, writable=self.rank != root)

    def begin_receive(self, buffer: Any, root: int = 0) -> Operation:
        """Begins to take a broadcast of unknown length, as `receive`."""
        return self._begin("receive", buffer, root, writable=True)

    def begin_collective(
        self,
        kind: coll.Kind,
        given: Any = None,
        result: Any = None,
        *,
        root: int = 0,
        op: coll.Reduction = "sum",
        counts: Sequence[int] | None = None,
    ) -> Operation:
        """Begins a collective operation of numbers: `given` and `result` are arrays of one type (numpy's, array.array),
        None where this rank gives or gets nothing. counts: of allgather, gather and scatter, how many numbers the part
        of each rank has, one behind the other; else all parts are alike. Until it has ended both are the group's."""
        is_root = self.rank == root
        gives, gets = coll.gives(kind, is_root), coll.gets(kind, is_root)
        named = given if gives else result
        type_, count = (1, 0) if kind == "barrier" else coll.items(named)
        if kind == "scatter" and gives and counts is None:
            count //= self.ranks
        given_count, result_count = coll.lengths(kind, count, self.ranks, self.rank, counts)
        if gives:
            _check_room(given, type_, given_count)
        if gets:
            _check_room(result, type_, result_count)
        places = (
            _place(given, writable=False) if gives else (None, 0),
            _place(result, writable=True) if gets else (None, 0),
        )
        wanted = coll.call(kind, root, op, count, type_, counts)
        wanted.given, wanted.result = (_address(place[0]) for place in places)
        problem = _Problem()
        handle = _library().vv_coll_begin(self._handle, byref(wanted), byref(problem))
        if not handle:
            raise _error(problem)
        begun = Operation(self, handle, (places, wanted))
        self._begun.add(begun)
        return begun

    def barrier(self) -> None:
        """Ends nowhere before it was begun everywhere."""
        self.begin_collective("barrier").wait()

    def allgather(self, given: Any, result: Any, *, counts: Sequence[int] | None = None) -> None:
        """What rank i gives is part i of everybody's result."""
        self.begin_collective("allgather", given, result, counts=counts).wait()

    def gather(self, given: Any, result: Any = None, *, root: int = 0, counts: Sequence[int] | None = None) -> None:
        """What rank i gives is part i of root's result."""
        self.begin_collective("gather", given, result, root=root, counts=counts).wait()

    def scatter(self, given: Any, result: Any, *, root: int = 0, counts: Sequence[int] | None = None) -> None:
        """Part i of what root gives is the result of rank i."""
        self.begin_collective("scatter", given, result, root=root, counts=counts).wait()

    def reduce(self, given: Any, result: Any = None, *, op: coll.Reduction = "sum", root: int = 0) -> None:
        """What all give, folded in the order of the ranks, is root's result."""
        self.begin_collective("reduce", given, result, root=root, op=op).wait()

    def allreduce(self, given: Any, result: Any, *, op: coll.Reduction = "sum") -> None:
        """What all give, folded in the order of the ranks, is everybody's result: the same bits."""
        self.begin_collective("allreduce", given, result, op=op).wait()

    def begin_send(self, buffer: Any, to: int) -> Operation:
        """Begins a message to one rank: until it has ended the buffer is the group's."""
        return self._begin("send", buffer, to, writable=False)

    def begin_take(self, buffer: Any, source: int) -> Operation:
        """Begins to take the next message of that rank, at most as long as the buffer."""
        return self._begin("take", buffer, source, writable=True)

    def send(self, buffer: Any, to: int) -> None:
        """A message to one rank, over a connection of its own: those of one rank to one arrive in order."""
        self.begin_send(buffer, to).wait()

    def take(self, buffer: Any, source: int) -> int:
        """Takes the next message of that rank; how many bytes it has."""
        begun = self.begin_take(buffer, source)
        begun.wait()
        return begun.size or 0

    def turn(self) -> None:
        """Does what can be done at once for all that was begun in this group and those it is related to."""
        _library().vv_group_turn(self._handle)

    def fileno(self) -> int:
        """A descriptor for select: readable when something that was begun in this group, or in one that it is related
        to, has ended, until the next `test`, `wait` or `turn`."""
        problem = _Problem()
        found = int(_library().vv_group_descriptor(self._handle, byref(problem)))
        if found < 0:
            raise _error(problem)
        return found

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
        for operation in self._begun:
            operation._handle = None  # gone with the group
        _library().vv_group_leave(handle)
        self._begun.clear()
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
            raise self._interruption()
        self._buffer = None
        if ended != 0:
            raise _error(problem)

    def _interruption(self) -> BaseException:
        first = self._first
        interrupted, first._interrupted = first._interrupted, None
        return interrupted or KeyboardInterrupt()

    def _begin(
        self, what: Literal["broadcast", "receive", "send", "take"], buffer: Any, root: int, *, writable: bool
    ) -> Operation:
        place, problem = _place(buffer, writable=writable), _Problem()
        handle = getattr(_library(), f"vv_group_begin_{what}")(self._handle, root, *place, byref(problem))
        if not handle:
            raise _error(problem)
        begun = Operation(self, handle, place)
        self._begun.add(begun)
        return begun

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


class Operation:
    """What was begun: a broadcast, a message, a collective operation. size: of the message, in bytes, when it has
    ended."""

    def __init__(self, group: Group, handle: int, place: tuple[Any, Any]) -> None:
        self.size: int | None = None
        self._group, self._place = group, place
        self._handle: int | None = handle

    def test(self) -> bool:
        """Whether it has ended, after what can be done at once. GroupError if the group has failed."""
        return self._has_ended(lambda *result: _library().vv_group_test(self._handle, *result))

    def wait(self, timeout_s: float | None = None) -> bool:
        """The same, but waits for its end, for so long at most."""
        ms = _FOREVER_MS if timeout_s is None else min(round(timeout_s * 1000), _FOREVER_MS - 1)
        return self._has_ended(lambda *result: _library().vv_group_wait(self._handle, ms, *result))

    def _has_ended(self, call: Callable[..., int]) -> bool:
        if self.size is not None:
            return True
        size, problem = ctypes.c_size_t(), _Problem()
        ended = call(byref(size), byref(problem))
        if ended == _STOPPED:
            raise self._group._interruption()
        if ended == _PENDING:
            return False
        self._handle = None
        self._group._begun.discard(self)
        if ended != 0:
            raise _error(problem)
        self.size = size.value
        return True


def _tell(notice: Callable[[str], None], _: object, text: bytes) -> None:
    notice(text.decode(errors="replace"))


def _exchange(
    exchange: Callable[[bytes], Sequence[bytes]], ranks: int, wrong: list[BaseException],
    _: object, own: int, everybody: int, count: int,
) -> int:  # fmt: skip
    """The exchange of the caller as libvaiven calls it; what it raises is kept."""
    try:
        records = list(exchange(ctypes.string_at(own, count)))
        if [len(record) for record in records] != [count] * ranks:
            raise ValueError(f"an exchange among {ranks} ranks gives as many records of {count} bytes")
        ctypes.memmove(everybody, b"".join(records), count * ranks)
    except BaseException as error:  # raised again, by __init__
        wrong.append(error)
    return len(wrong)


def _error(problem: _Problem) -> GroupError:
    rank = problem.rank if problem.rank >= 0 else None
    text, code = problem.text.decode(errors="replace"), problem.code.decode()
    return GroupError(text, code=code, kind=_KINDS[problem.kind - 1], rank=rank)


def _check_room(buffer: Any, type_: int, wanted: int) -> None:
    """BufferError unless there are so many numbers of that type: libvaiven cannot see how long a buffer is."""
    found, room = coll.items(buffer)
    if found != type_ or room < wanted:
        raise BufferError(f"{wanted} numbers of one type are wanted; a buffer has {room}, or is of another type")


def _address(place: Any) -> int | None:
    """Of what `_place` gives; None where there is nothing."""
    return None if place is None else ctypes.addressof(place)


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
