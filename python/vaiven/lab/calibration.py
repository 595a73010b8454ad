# SPDX-License-Identifier: BSD-3-Clause
"""What `vaiven lab check` learned of this machine, kept for labs to come, and what was tried of labs never checked.

How early doors must open, and by how much lone frames are off even so, by kind and rate of the fabric; how many frames
a second a lab can carry, by those and the number of hosts. All of it is learned only from checks by which the fabric
earned its class. Where none did, a run tries a few ping-pongs first (`lab.tuning`), and what they found is kept, too.

One file for all checks, in $VAIVEN_STATE_DIR/vaiven or the user's cache, and one for all trials, always in the cache.
Their content comes from outside: what is damaged or beyond its bounds counts as never checked, and `trouble` says so.
"""

from __future__ import annotations

import contextlib
import datetime
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Meta

from vaiven.errors import VaivenError
from vaiven.lab import state

if TYPE_CHECKING:
    from vaiven.lab.topology import Fabric, Topology

DOOR_DEFAULT_NS = 1_000  # what software of a timed fabric takes beyond that of a free one, on a machine never checked
DOOR_MAX_NS = 10_000  # more is no software: something else is wrong
_UTC = "%Y-%m-%dT%H:%M:%SZ"
_SHORT_BYTES = 84  # the shortest frame on the wire, with preamble, check sequence and gap


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """How a timed lab keeps the time of lone frames.

    door_ns: so much before their instant its doors let them out. error_ns: by how much they are off even so, 19 of 20
    launches at the worst of what was tried; None where nobody knows. trains_ns: by how much the last frame of a train
    is, at the worst of what was tried; None as before. checked_utc: when that was found, or empty. by: a check by which
    the fabric earned its class, or a trial of two seconds before a run, after which error_ns is None, too, where other
    work left too few launches. in_time: whether its frames were; a check that earns a class says yes.
    """

    door_ns: Annotated[int, Meta(ge=0)] = DOOR_DEFAULT_NS
    error_ns: Annotated[int, Meta(ge=0)] | None = None
    trains_ns: Annotated[int, Meta(ge=0)] | None = None
    checked_utc: Annotated[str, Meta(pattern=r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)?\Z")] = ""
    by: Literal["check", "trial"] = "check"
    in_time: bool = True


class _Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the file holds under one key."""

    calibration: Calibration | None = None
    frames_per_s: Annotated[float, Meta(gt=0)] | None = None


def known(fabric: Fabric) -> Calibration:
    """The calibration of labs of that kind and rate: as last earned here, else as tried."""
    for found in (_entry(path(), _fabric_key(fabric)).calibration, tried(fabric)):
        if found is not None and found.error_ns is not None and _is_possible(found, fabric):
            return found
    return Calibration(door_ns=min(DOOR_DEFAULT_NS, door_max_ns(fabric)))


def tried(fabric: Fabric) -> Calibration | None:
    """What the last trial of labs of that kind and rate found here, even if that was nothing; None: there was none."""
    found = _entry(trials_path(), _fabric_key(fabric)).calibration
    return found if found is not None and found.by == "trial" and _is_possible(found, fabric) else None


def found_now(door_ns: int, error_ns: int, trains_ns: int) -> Calibration:
    """What a check finds at this moment."""
    return Calibration(door_ns=door_ns, error_ns=error_ns, trains_ns=trains_ns, checked_utc=_now())


def tried_now(door_ns: int, error_ns: int | None, *, in_time: bool) -> Calibration:
    """What a trial finds at this moment."""
    return Calibration(door_ns=door_ns, error_ns=error_ns, checked_utc=_now(), by="trial", in_time=in_time)


def age_s(calibration: Calibration) -> float:
    """How long ago that was found; infinite of a date that is none, negative where the clock was set back since."""
    try:
        found = datetime.datetime.strptime(calibration.checked_utc, _UTC).replace(tzinfo=datetime.UTC)
    except ValueError:
        return math.inf
    return (datetime.datetime.now(datetime.UTC) - found).total_seconds()


def door_max_ns(fabric: Fabric) -> int:
    """How early doors can rightly open: by less than the shortest frame takes, which else came before it left."""
    if fabric.rate_mbps is None:
        return DOOR_MAX_NS
    return min(DOOR_MAX_NS, max(0, round(8e3 * _SHORT_BYTES / fabric.rate_mbps) - 1))


def trouble(fabric: Fabric) -> str:
    """Why what the file says of labs of that kind and rate is not believed; empty if it is, or says nothing."""
    try:
        found = _decoded(_all(path()).get(_fabric_key(fabric), msgspec.Raw(b"{}"))).calibration
    except msgspec.MsgspecError as error:
        return f"the calibration in {path()} is ignored: {error}"
    if found is None or _is_possible(found, fabric):
        return ""
    return (
        f"the calibration in {path()} is ignored: doors {found.door_ns / 1000:g} us early, where up to "
        f"{door_max_ns(fabric) / 1000:g} us can be right (vaiven lab check --forget removes it)"
    )


def store(fabric: Fabric, calibration: Calibration) -> None:
    """Remembers it for labs of that kind and rate. Raises VaivenError ("bad-state")."""
    where, key = path() if calibration.by == "check" else trials_path(), _fabric_key(fabric)
    _store(where, key, msgspec.structs.replace(_entry(where, key), calibration=calibration))


def frames_per_s(topology: Topology) -> float | None:
    """How many short frames a second a lab like this one carried when it last earned its class; None: never checked."""
    return _entry(path(), _lab_key(topology)).frames_per_s


def store_frames_per_s(topology: Topology, frames: float) -> None:
    """Remembers it for labs of that kind and rate with as many hosts. Raises VaivenError ("bad-state")."""
    where, key = path(), _lab_key(topology)
    _store(where, key, msgspec.structs.replace(_entry(where, key), frames_per_s=frames))


def path() -> Path:
    """The file of checks. Raises VaivenError ("bad-state") if it would lie where others may write."""
    if os.environ.get("VAIVEN_STATE_DIR"):
        return state.directory() / "calibration.json"
    return _cache() / "calibration.json"


def trials_path() -> Path:
    """The file of trials."""
    return _cache() / "trials.json"


def forget() -> bool:
    """Removes both files; False if there was none. Raises VaivenError ("bad-state")."""
    found = False
    for one in (path(), trials_path()):
        try:
            one.unlink()
            found = True
        except FileNotFoundError:
            pass
        except OSError as error:
            raise VaivenError(f"cannot remove {one}: {error.strerror}", "look what it is", code="bad-state") from None
    return found


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vaiven"


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).strftime(_UTC)


def _is_possible(calibration: Calibration, fabric: Fabric) -> bool:
    is_whole = calibration.error_ns is not None or calibration.by == "trial"
    return calibration.checked_utc != "" and is_whole and calibration.door_ns <= door_max_ns(fabric)


def _fabric_key(fabric: Fabric) -> str:
    return f"{os.uname().nodename} {os.uname().release} {fabric.kind} {fabric.rate_mbps or 0:g}"


def _lab_key(topology: Topology) -> str:
    return f"{_fabric_key(topology.fabric)} {len(topology.hosts)}"


def _all(where: Path) -> dict[str, msgspec.Raw]:
    """Every entry, undecoded. Raises msgspec.MsgspecError."""
    try:
        content = where.read_bytes()
    except OSError:
        return {}
    return msgspec.json.decode(content, type=dict[str, msgspec.Raw])


def _decoded(entry: msgspec.Raw) -> _Entry:
    return msgspec.json.decode(entry, type=_Entry)


def _entry(where: Path, key: str) -> _Entry:
    with contextlib.suppress(msgspec.MsgspecError, KeyError):
        return _decoded(_all(where)[key])
    return _Entry()


def _store(where: Path, key: str, entry: _Entry) -> None:
    everything: dict[str, msgspec.Raw] = {}
    with contextlib.suppress(msgspec.MsgspecError):
        everything = _all(where)
    everything[key] = msgspec.Raw(msgspec.json.encode(entry))
    new = where.with_suffix(f".{os.getpid()}")
    try:
        state.make_directory(new.parent)
        with new.open("xb") as file:  # "x" follows no link that waits there
            file.write(msgspec.json.encode(everything))
        new.rename(where)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise VaivenError(f"cannot write {where}: {error.strerror}", "set VAIVEN_STATE_DIR", code="bad-state") from None
