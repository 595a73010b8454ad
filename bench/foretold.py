# SPDX-License-Identifier: BSD-3-Clause
"""Is a run as long as `--dry-run` says? Every ready plan that names where it is measured, the papers' at length quick.

    python bench/foretold.py [--plans A,B] [--runs DIRECTORY]

The time of a whole process, `vaiven measure PLAN` with its page, over what was said of the launches that it then had:
when a run has measured well enough, and what this machine lacks for a part of it, is known when it ends.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
import repeat
from ratio import Ratio

from vaiven import resources
from vaiven.measuring.plans import preview
from vaiven.plan import order
from vaiven.plan.schema import Plan
from vaiven.run.remaining import Remaining
from vaiven.store import query

READY = ("demo", "exchange", "fanout", "partners", "all")  # those of plans/ with a lab of their own
LENGTH = "quick"  # of papers
WITHIN = 2.0


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--plans", default="", help="only these, with commas between")
    options.add_argument("--runs", type=Path, help="where the runs are kept; else they are not")
    given = options.parse_args()
    found = foretold([word for word in given.plans.split(",") if word], given.runs)
    for one in found:
        print(f"| {one.what} | {one.middle:.2f} | {one.goal} | {'yes' if one.holds else '**no**'} |")
    return 0 if all(one.holds for one in found) else 1


def plans() -> list[str]:
    """The ready plans, and those of the papers."""
    return [*READY, *sorted(f"papers/{path.stem}" for path in (resources.ready("plans") / "papers").glob("*.toml"))]


def foretold(only: Sequence[str] = (), runs: Path | None = None) -> list[Ratio]:
    """For each plan what its run took, of what had been said. runs: where they are kept; None: nowhere."""
    with tempfile.TemporaryDirectory() as scratch:
        return [_one(name, runs or Path(scratch)) for name in only or plans()]


def _one(name: str, runs: Path) -> Ratio:
    told_s, took_s = _timed(name, runs)
    print(f"{name}: {told_s:.0f} s said, {took_s:.0f} s taken", file=sys.stderr, flush=True)
    share = took_s / told_s
    what = f"{name}: {took_s:.0f} s measured, over {told_s:.0f} s foretold"
    return Ratio(what, share, share, share, 1, f"1/{WITHIN:g} to {WITHIN:g}", 1 / WITHIN <= share <= WITHIN)


def _timed(name: str, runs: Path) -> tuple[float, float]:
    """Seconds that were said of a run of that plan, and that it took."""
    words = [name, *(["--length", LENGTH] if name.startswith("papers/") else [])]
    command = [str(Path(sys.executable).parent / "vaiven"), "measure", *words, "--dry-run", "--json"]
    said = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    took_s, made = repeat.timed(words, runs, well=(0, 4), page=True)  # 4: not known as well as was wanted
    return of_launches(query.open_run(made), said["least_s"], said["most_s"]), took_s


def of_launches(run: query.Run, least_s: float, most_s: float) -> float:
    """What was said of a run that ended after so many blocks, without the launches that never worked."""
    assert run.end
    plan = msgspec.convert(run.manifest.plan, Plan)
    design, ground = preview(plan)
    done = {one.launch for one in query.launch_records(run)}
    lacking = [one for number in range(run.end.blocks) for one in order.block(design, number) if one.number not in done]
    least, most = plan.stop.schedule[0], plan.stop.launches_max
    blocks_s = least_s + (most_s - least_s) * (run.end.blocks - least) / max(most - least, 1)
    return blocks_s - Remaining(design, plan, ground).left_s(lacking)


if __name__ == "__main__":
    sys.exit(main())
