# SPDX-License-Identifier: BSD-3-Clause
"""Processors of real hosts that do not fall asleep while something is timed there: what `lab.awake` is to a lab.

The keeper is a shell script, for a host need not have Python: it runs there, over ssh or not, holds
/dev/cpu_dma_latency where that works, else lets a process of the idle class spin on each processor, and ends with its
standard input, which ends with us, however that happens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from vaiven.child import Child
from vaiven.errors import VaivenError
from vaiven.lab.awake import DEVICE, DRIVER, LATENCY, SPINNERS
from vaiven.run.hosts import Host

_WAIT_S = 60  # for the first word of a keeper on a busy host
_END_S = 10
# $1: the driver's file, $2: the device. Says how when it has begun. A spinner looks whether its keeper lives.
_KEEPER = f"""
driver=none
[ -r "$1" ] && read -r driver <"$1"
if [ "${{driver:-none}}" != none ] && [ -w "$2" ]; then
  exec 3>"$2"
  printf '\\000\\000\\000\\000' >&3
  echo '{LATENCY}'
  cat >/dev/null
  exit
fi
for program in chrt taskset; do
  command -v $program >/dev/null || {{ echo "$program is not there" >&2; exit 1; }}
done
allowed=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status | tr , ' ')
spinners=
trap 'kill $spinners 2>/dev/null' EXIT
trap exit HUP INT TERM
for range in $allowed; do
  processor=${{range%-*}}
  while [ "$processor" -le "${{range#*-}}" ]; do
    chrt -i 0 taskset -c "$processor" sh -c '
      while kill -0 "$1"; do n=0; while [ $n -lt 10000 ]; do n=$((n + 1)); done; done' \\
      spinner $$ </dev/null >/dev/null 2>&1 &
    spinners="$spinners $!"
    processor=$((processor + 1))
  done
done
echo '{SPINNERS}'
cat >/dev/null
"""


@contextmanager
def held(members: Iterable[Host], driver: Path = DRIVER, device: Path = DEVICE) -> Iterator[dict[str, str]]:
    """Inside it the processors of these hosts stay awake; yields by what, by name of the host.

    driver, device: where a host says who puts its processors to sleep, and the device that keeps them from it.
    VaivenError ("not-awake") names the host where neither way works.
    """
    with ExitStack() as stack:
        keepers = {host.name: stack.enter_context(_kept(host, driver, device)) for host in members}
        yield {name: _first_word(name, keeper) for name, keeper in keepers.items()}


def text(ways: Mapping[str, str]) -> str:
    """ "/dev/cpu_dma_latency at 0", or who is held by what, where hosts differ; "" of no host."""
    if len(set(ways.values())) < 2:
        return next(iter(ways.values()), "")
    return ", ".join(f"{name} by {way}" for name, way in ways.items())


@contextmanager
def _kept(host: Host, driver: Path, device: Path) -> Iterator[Child]:
    keeper = Child(host.argv(["sh", "-c", _KEEPER, "sh", str(driver), str(device)]))
    try:
        yield keeper
    finally:
        keeper.close(_END_S)


def _first_word(name: str, keeper: Child) -> str:
    """How it holds them. VaivenError ("not-awake")."""
    said = keeper.hear(_WAIT_S)
    if said not in (LATENCY, SPINNERS):
        keeper.end()
        why = keeper.complaint().partition("\n")[0]
        raise VaivenError(
            f"the processors of {name} cannot be held awake: {why or said or f'no word within {_WAIT_S} s'}",
            "install util-linux there, or measure without --awake",
            code="not-awake",
        )
    return said
