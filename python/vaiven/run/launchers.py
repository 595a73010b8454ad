# SPDX-License-Identifier: BSD-3-Clause
"""One launch: fresh processes at both ends, a fresh key on their standard input, records as they come.

Whatever happens, when `launch` returns or raises the processes that it started here are gone. A probe on another
machine notices that its standard input has closed and ends by itself.
"""

from __future__ import annotations

import queue
import secrets
import signal
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from vaiven import questions
from vaiven.child import Child
from vaiven.errors import VaivenError
from vaiven.plan.design import Available
from vaiven.plan.order import Launch
from vaiven.plan.schema import Effort, Link, Side
from vaiven.questions import Question
from vaiven.run import mpi, pvm, sides, signals
from vaiven.run.collect import Story, untangled
from vaiven.run.hosts import Host
from vaiven.run.path import Crossed
from vaiven.store.record import Cell, Trace

_START_S = 20.0  # until the far end is ready
_END_S = 5.0  # until the other end has ended too
_GONE = "peer-gone"  # what an end says when the other one has closed without a word
_LINES = 4  # of what a launcher says, for its first words are the cause

OnCell = Callable[[Cell], None]
Heard = queue.SimpleQueue["tuple[End | None, bytes]"]  # lines, and whose; nobody's: end now


@dataclass(frozen=True)
class Outcome:
    """What became of a launch. failure: None when every cell was measured. traces: of connections that were looked at.
    crossed: by end, as far as they told."""

    cells: tuple[Cell, ...]
    hello: dict[str, object]
    warnings: tuple[tuple[str, str], ...]
    failure: VaivenError | None
    traces: tuple[Trace, ...] = ()
    crossed: tuple[Crossed, ...] = ()


@dataclass(frozen=True)
class Setting:
    """What all launches of a run share. run_began_s: time.monotonic() when it began. one_clock: its hosts share one.
    sides: those of the plan."""

    known: dict[str, Available]
    effort: Effort
    link: Link | None
    run_began_s: float
    one_clock: bool = False
    sides: Sequence[Side] = ()

    def side_of(self, work: Launch) -> Side | None:
        """The side on which that is launched; None in a run without."""
        return next((side for side in self.sides if side.name == work.stack.side), None)


def end_now(heard: Heard) -> None:
    """Lets the launch that listens there, in another thread, end with a failure."""
    heard.put((None, b""))


def launch(
    work: Launch, near: Host, fars: Sequence[Host], setting: Setting, on_cell: OnCell, heard: Heard | None = None
) -> Outcome:
    """Carries one launch out, with a far end on each of `fars`; on_cell is called with each cell as it comes.

    heard: a queue of its own, for who may want to `end_now`. Never raises for what the world does.
    """
    heard = heard or queue.SimpleQueue()
    near, *fars = (sides.dressed(host, setting.side_of(work)) for host in (near, *in_pairs(work, near, fars)))
    ends: list[End] = []
    failure: VaivenError | None = None
    try:
        with _members(work, (near, *fars), setting) as (near, *fars), _job(work, near, fars, setting) as job:
            try:
                _start(ends, heard, work, near, fars, setting, job)
                _listen(ends, heard, setting, on_cell)
            finally:
                with signals.shielded():
                    for end in ends:
                        end.stop()
    except VaivenError as error:
        failure = error
    story = ends[-1].story if ends and ends[-1].name == "near" else Story()
    warnings = tuple(warning for end in ends for warning in end.story.warnings)
    crossed = tuple(one for end in ends for one in end.story.crossed)
    failure = failure or missing(work, story)
    return Outcome(tuple(story.cells), story.hello, warnings, failure, tuple(story.traces), crossed)


def in_pairs(work: Launch, near: Host, fars: Sequence[Host]) -> Sequence[Host]:
    """The hosts of all far ends in the order of their pairs, of ping-pongs between two hosts: each but the first, which
    the near end asks, has an end on the near host that asks it."""
    several = questions.ALL[work.ask].several
    if not several or not several.in_pairs or several.counted != "at_once":
        return fars
    return [fars[0], *(host for far in fars[1:] for host in (near, far))]


def _is_in_pairs(question: Question) -> bool:
    """Whether pairs of its ends play ping-pong, each for itself."""
    return bool(question.several and question.several.in_pairs and not question.several.rounds)


def _members(work: Launch, hosts: Sequence[Host], setting: Setting) -> AbstractContextManager[Sequence[Host]]:
    """The hosts, where a library has daemons with these running on them. VaivenError ("no-probe")."""
    if setting.known[work.stack.id].library != "pvm":
        return nullcontext(hosts)
    for host in hosts:
        host.library_probe("pvm")
    return pvm.machine(hosts)


def _job(
    work: Launch, near: Host, fars: Sequence[Host], setting: Setting
) -> AbstractContextManager[Sequence[str] | None]:
    """The command that starts all ends at once, where the launcher of a library must do that; else None."""
    known = setting.known[work.stack.id]
    if not known.ranked:
        return nullcontext()
    side = setting.side_of(work)
    ranks = [_rank(near, near_argv(work, near, (), setting), side)]
    ranks += [_rank(far, far_argv(work, far, setting, place), side) for place, far in enumerate(fars, 1)]
    return mpi.job(known.library, ranks, mpi.manner(work.stack, ranks))


def _rank(host: Host, command: Sequence[str], side: Side | None) -> mpi.Rank:
    """A rank that finds the environment of its side: to another machine a launcher takes little of its own along."""
    return mpi.Rank(host, (*(() if host.here else sides.assigned(side)), *command))


def _start(
    ends: list[End], heard: Heard, work: Launch, near: Host, fars: Sequence[Host],
    setting: Setting, job: Sequence[str] | None,
) -> None:  # fmt: skip
    """Starts the far ends, then the near one, last in `ends`; a job is one process, which speaks for all of them."""
    key = secrets.token_hex(16)
    if job:
        ends.append(End("near", near, job, key, heard, words_between=True))
        return
    peers = [far.address for far in fars]
    if not setting.known[work.stack.id].alone:
        for place, far in enumerate(fars, 1):
            ends.append(End("far", far, far_argv(work, far, setting, place), key, heard))
        peers = [_ready(end, heard) for end in ends]
    ends.append(End("near", near, near_argv(work, near, peers, setting), key, heard))


def far_argv(work: Launch, host: Host, setting: Setting, place: int = 1) -> list[str]:
    """The command of far end number `place`, from 1."""
    ports = ["--port", host.ports] if host.ports else []
    key = [] if setting.known[work.stack.id].ranked else ["--key-stdin"]
    both = _both(work, host, setting, place)
    return [*_probe(work, host, setting), "far", work.stack.id, "--bind", host.address, *ports, *both, *key]


def near_argv(work: Launch, host: Host, peers: Sequence[str], setting: Setting) -> list[str]:
    """The near end's command; peers: "address:port" of each far end, or an address where the kernel answers; none
    where ranks find each other."""
    effort, link, question = setting.effort, setting.link, questions.ALL[work.ask]
    sizes = ["--sizes", ",".join(map(str, work.sizes_bytes))] if question.sizes else []
    wire = ["--rate-bps", link.rate_bps, "--hops", link.hops] if link else []
    if mtu_bytes := link.mtu_bytes if link else host.mtu_bytes:
        wire = ["--mtu", mtu_bytes, *wire]
    ports = ["--port", host.ports] if host.ports else []
    flags = ["--peer", *["--also"] * (len(peers) - 1)]
    to = [] if work.stack.id == "null" else [word for pair in zip(flags, peers, strict=False) for word in pair]
    clock = ["--one-clock"] if setting.one_clock and question.clocks else []
    if question.floods and not setting.one_clock:
        clock = ["--cap-bps", str(round(effort.cap_mbps * 1e6))]
    return [
        *_probe(work, host, setting), "near", work.stack.id, *to, *ports, "--ask", work.ask, *sizes, *clock,
        "--samples", str(effort.samples), "--samples-min", str(effort.samples_min),
        "--cell-ms", str(effort.cell_ms), *map(str, wire),
        *_both(work, host, setting, 0), "--key-stdin",
    ]  # fmt: skip


def _probe(work: Launch, host: Host, setting: Setting) -> tuple[str, ...]:
    """The probe that has this stack, as that host runs it. VaivenError ("no-probe")."""
    library = setting.known[work.stack.id].library
    return host.library_probe(library) if library else host.probe


def _both(work: Launch, host: Host, setting: Setting, place: int) -> list[str]:
    interface = ["--iface", host.interface] if host.interface else []
    timeout = ["--timeout-ms", str(setting.effort.timeout_ms)]
    return [*interface, *timeout, *work.stack.argv, *_pinned(work, host, setting, place)]


def _pinned(work: Launch, host: Host, setting: Setting, place: int) -> list[str]:
    """Where an end runs, on hosts that share processors: else the scheduler's choice is most of what is measured
    (one hop or an interrupt between processors, 8 us or 26). Ends that sleep take turns on one processor, ends that
    spin need one each, and those of a prtt, which keeps its processor between two messages. Several far ends are dealt
    out in turn: were they all on one processor, the last would be the one that it came to last. So are launches that
    run at the same time, and pairs of ends that play ping-pong at the same time."""
    options = dict(work.stack.options)
    if not host.processors or "cpu" in options:
        return []
    question = questions.ALL[work.ask]
    spins = options.get("wait") == "spin" or setting.known[work.stack.id].spins
    apart = spins or question.keeps_processor or question.several
    number = place + 2 * work.beside if apart else work.beside
    if _is_in_pairs(question) and not spins:
        number = place // 2
    return ["--cpu", str(host.processors[-1 - number % len(host.processors)])]


class End:
    """One end: its process, and a thread that puts its lines in the queue; b"" is the end of them."""

    def __init__(
        self, name: str, host: Host, command: Sequence[str], key: str, heard: Heard, *,
        words_between: bool = False, program: str = "",
    ) -> None:  # fmt: skip
        """key: the line that it is told, if any. words_between: it may print lines that are no records, which are kept
        as what it said at last. program: what runs there, where that is no probe of ours."""
        self.name = name
        self._title = program or f"the {name} probe"
        self.host = host
        self.story = Story()
        self.open = True
        self._words_between = words_between
        try:
            self._child = Child(host.argv(command))
        except OSError as error:
            raise VaivenError(f"{host.name}: cannot start {self._title}: {error.strerror}", code="no-start") from error
        self._reader = threading.Thread(target=self._read, args=(heard,), daemon=True)
        self._reader.start()
        if key:
            self._child.tell(key)

    def _read(self, heard: Heard) -> None:
        for line in untangled(self._child.lines()) if self._words_between else self._child.lines():
            if self._words_between and not line.startswith(b"{"):
                self._child.complain(line)
            else:
                heard.put((self, line))
        heard.put((self, b""))

    def failed(self) -> bool:
        """Whether it has ended otherwise than well; whoever asks has heard that it says no more."""
        return self._child.wait(_END_S) != 0

    def killed(self) -> bool:
        """Whether a signal has ended it; whoever asks has heard that it has gone."""
        return (self._child.wait(_END_S) or 0) < 0

    def silence(self) -> VaivenError:
        """Why it ended without a word of its own."""
        status = self._child.wait() or 0
        said = self._child.complaint().splitlines()
        said = [line.strip() for line in said if line.strip(" -=|\t")]  # launchers frame what they say
        if not said and status == -signal.SIGKILL:
            said = ["the kernel does that where memory runs out: was there enough?"]
        how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        return VaivenError(
            f"{self._title} on {self.host.name} {how}",
            " ".join(said[:_LINES] if self._words_between else said[-1:]),
            code="probe-gone",
        )

    def stop(self, patience_s: float = 0.0) -> None:
        """Ends it, gently where there is time: at the end of its input it goes by itself, or else, where it is given
        that time, when it is asked to."""
        if patience_s and self._child.wait(0) is None:
            self._child.terminate()
            self._child.wait(patience_s)
        self._child.end(0.5)
        self._child.kill()  # what it has started itself, such as nsenter's child, is left of its session
        self._reader.join(1.0)
        if not self._reader.is_alive():  # else something that left its session still has the other end
            self._child.let_go()


def _ready(far: End, heard: Heard) -> str:
    """Waits until the far end is ready; "address:port" of it."""
    deadline_s = time.monotonic() + _START_S
    while not far.story.ready:
        hear(heard, deadline_s, f"the far probe on {far.host.name} is not ready after {_START_S:g} s", 0.0)
        if far.story.error:
            raise far.story.error
        if not far.open:
            raise far.silence()
    address, port = str(far.story.ready.get("address", "")), far.story.ready.get("port")
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _listen(ends: list[End], heard: Heard, setting: Setting, on_cell: OnCell) -> None:
    """Takes the records of both ends until both are done."""
    near = ends[-1]
    deadline_s = time.monotonic() + setting.effort.launch_s
    began_s = time.monotonic() - setting.run_began_s
    while near.open:
        cell = hear(heard, deadline_s, f"the launch takes longer than launch_s = {setting.effort.launch_s}", began_s)
        if cell:
            began_s = time.monotonic() - setting.run_began_s
            on_cell(cell)
    failed = next((end.story.error for end in reversed(ends) if end.story.error), None)
    if failed:
        raise _cause(ends, failed)
    if not near.story.bye:
        raise near.silence()
    deadline_s = time.monotonic() + _END_S
    while any(end.open for end in ends):
        hear(heard, deadline_s, "a far probe does not end", began_s)
    failed = next((end.story.error for end in ends if end.story.error), None)
    if failed:
        raise failed


def _cause(ends: Sequence[End], failed: VaivenError) -> VaivenError:
    """Where the near end heard no more than that the other one had gone: what killed that."""
    killed = (end for end in ends[:-1] if failed.code == _GONE and end.killed())
    return next((end.silence() for end in killed), failed)


def hear(heard: Heard, deadline_s: float, late: str, began_s: float) -> Cell | None:
    """Takes the next line of either end. VaivenError ("too-long") with the text `late` at the deadline."""
    try:
        end, line = heard.get(timeout=max(0.0, deadline_s - time.monotonic()))
    except queue.Empty:
        raise VaivenError(late, "see launch_s of the plan", code="too-long") from None
    if end is None:
        raise VaivenError("the launch was ended", code="interrupted")
    if line:
        return end.story.hear(line, began_s)
    end.open = False
    return None


def missing(work: Launch, story: Story) -> VaivenError | None:
    """A launch that said bye but left cells out."""
    wanted = set(work.sizes_bytes)
    left = sorted(wanted - {cell.size_bytes for cell in story.cells})
    return VaivenError(f"no cell for {', '.join(map(str, left))} bytes", code="no-cell") if left else None
