# SPDX-License-Identifier: BSD-3-Clause
"""A stack as a plan names it: an id with its options, `tcp` or `tcp[write=split,wait=spin]`; on a side `tcp@after`.

Options are part of the identity, and so is the side of a plan: two stacks that differ in one are measured, stored and
shown as two.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from vaiven.errors import VaivenError

# option -> (the values it takes, or None for a number; its default, which is not written in the name)
OPTIONS: dict[str, tuple[tuple[str, ...] | None, str]] = {
    "write": (("one", "split", "writev"), "one"),
    "wait": (("block", "spin"), "block"),
    "buffers": (("hot", "cold"), "hot"),
    "acks": (("kernel", "quick", "delayed"), "kernel"),
    "to": (("broadcast", "multicast", "each"), "broadcast"),
    "idle_ms": (None, "0"),
    "cpu": (None, ""),
}
# A side of a plan (plan.schema), as it is called in the names of stacks.
SIDE = r"[a-z0-9][a-z0-9._-]{0,31}"
_OVER_TCP = ("tcp", "openmpi", "mpich", "pvm-direct")
# What the null stack shall do is programmed: null[alpha_ns=50000,beta_ns=0.08,knee=4096:20000].
_PROGRAM = rf"(?!(?:{'|'.join(OPTIONS)})=)[A-Za-z_]{{1,20}}=[0-9.:]{{1,60}}"


@dataclass(frozen=True)
class Stack:
    """id: "tcp". options: those that are not the default, in the order of OPTIONS. side: of the plan, or ""."""

    id: str
    options: tuple[tuple[str, str], ...] = ()
    side: str = ""

    @property
    def name(self) -> str:
        """The one way to write this stack: "tcp[write=split]", on a side "tcp[write=split]@after"."""
        inside = ",".join(f"{key}={value}" for key, value in self.options)
        options = f"[{inside}]" if inside else ""
        return f"{self.id}{options}@{self.side}" if self.side else f"{self.id}{options}"

    @property
    def argv(self) -> list[str]:
        """The probe's arguments for the options: ["--write", "split"]."""
        words = [word for key, value in self.options if key in OPTIONS for word in (_flag(key), value)]
        program = ",".join(f"{key}={value}" for key, value in self.options if key not in OPTIONS)
        return [*words, "--null", program] if program else words


def parse(text: str) -> Stack:
    """The stack that `text` asks for, on no side. VaivenError ("bad-stack"): there is no such form, option or value."""
    match = re.fullmatch(r"([a-z][a-z0-9-]*(?::[a-z][a-z-]*)?)(?:\[([^\[\]]*)\])?", text)
    if not match:
        raise _bad(f"{text!r} is not a stack", "for example tcp, or tcp[write=split,wait=spin]")
    parts = [part.strip() for part in (match[2] or "").split(",") if part]
    program = [part for part in parts if match[1] == "null" and re.fullmatch(_PROGRAM, part)]
    options = dict(_option(part, text) for part in parts if part not in program)
    kept = [(key, options[key]) for key in OPTIONS if options.get(key, OPTIONS[key][1]) != OPTIONS[key][1]]
    return Stack(match[1], (*kept, *((part.split("=")[0], part.split("=")[1]) for part in program)))


def named(name: str) -> Stack:
    """The stack that is called so in a run, where it may have a side. VaivenError ("bad-stack")."""
    text, at, side = name.partition("@")
    if at and not re.fullmatch(SIDE, side):
        raise _bad(f"{name!r} is on no side", "for example tcp@after")
    return replace(parse(text), side=side)


def opposed(one: str, other: str) -> bool:
    """Whether a run holds these two against each other, by their names: a stack on two sides; without sides any two."""
    (first, _, side), (second, _, another) = (name.partition("@") for name in (one, other))
    return first == second or not (side or another)


def over_tcp(name: str) -> bool:
    """Whether the messages of a stack that is called so travel over TCP."""
    return name.startswith(_OVER_TCP) and name != "openmpi-llc" and not name.endswith(":group")


def nearest(name: str, known: Iterable[str]) -> str:
    """ "did you mean ...?" for a name that is not known, or the list of those that are."""
    known = sorted(known)
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"did you mean {close[0]}?" if close else "one of: " + ", ".join(known)


def _flag(option: str) -> str:
    return f"--{option.replace('_', '-')}"


def _option(part: str, text: str) -> tuple[str, str]:
    key, _, value = (word.strip() for word in part.partition("="))
    if key not in OPTIONS:
        raise _bad(f"{text!r}: no option {key!r}", nearest(key, OPTIONS))
    values = OPTIONS[key][0]
    if values is None and not re.fullmatch(r"\d{1,6}", value):
        raise _bad(f"{text!r}: {key} is {value!r}", "a whole number")
    if values is not None and value not in values:
        raise _bad(f"{text!r}: {key} is {value!r}", "one of: " + ", ".join(values))
    return key, value if values is not None else str(int(value))


def _bad(what: str, remedy: str) -> VaivenError:
    return VaivenError(what, remedy, code="bad-stack")
