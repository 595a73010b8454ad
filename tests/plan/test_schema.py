# SPDX-License-Identifier: BSD-3-Clause
"""A plan is a checked value, or one error that says where, what is wrong and what would be right."""

from __future__ import annotations

import tomllib
from pathlib import Path

import jsonschema
import pytest

from vaiven import resources
from vaiven.errors import VaivenError
from vaiven.measuring.plans import preview
from vaiven.plan import schema
from vaiven.plan.schema import Plan, Stop
from vaiven.stats.launches import launches_needed

WHOLE = """\
title = "a; $(touch /tmp/x) <b>"
lab = "lidi"
hosts = ["lidi1", "lidi2", "lidi3"]
stacks = ["icmp", "tcp[write=split]"]
questions = ["pingpong", "connect"]
sizes = [
  8,  # one
  "decades",
]
pairs = [["lidi1", "lidi2"], ["lidi2", "lidi3"]]
seed = 7

[effort]
samples = 50
cell_ms = 20
timeout_ms = 500
launch_s = 30

[stop]
launches_min = 8
launches_max = 16
half_width = 0.05
level = 0.9
looks = [8, 12]

[sentinel]
stack = "tcp"
size_bytes = 1

[[sides]]
name = "before"

[[sides]]
name = "after"
command = 'echo "$HOME"'
environment = { PATH = "/opt/mpi/bin:/usr/bin" }
timeout_s = 5

[link]
rate_bps = 100_000_000
"""


def test_every_field_is_read() -> None:
    plan = schema.parse(WHOLE)
    assert plan.title == "a; $(touch /tmp/x) <b>"
    assert plan.sizes == (8, "decades")
    assert plan.pairs == (("lidi1", "lidi2"), ("lidi2", "lidi3"))
    assert (plan.effort.samples, plan.effort.cell_ms, plan.effort.timeout_ms, plan.effort.launch_s) == (50, 20, 500, 30)
    assert plan.stop.schedule == (8, 12, 16)
    assert plan.link == schema.Link(100_000_000, 2, 1500)
    assert plan.sentinel.stack == "tcp"
    environment = {"PATH": "/opt/mpi/bin:/usr/bin"}
    after = schema.Side(name="after", command='echo "$HOME"', environment=environment, timeout_s=5)
    assert plan.sides == (schema.Side(name="before"), after)
    assert [stack.name for stack in plan.launched] == [
        "icmp@before", "icmp@after", "tcp[write=split]@before", "tcp[write=split]@after"
    ]  # fmt: skip
    assert plan.watched.name == "tcp@before"


def test_an_empty_plan_has_defaults_that_are_valid() -> None:
    assert schema.parse("") == schema.check(Plan())


@pytest.mark.parametrize(
    ("text", "line", "what", "remedy"),
    [
        ('title = "x"\nszies = [8]', 2, "no key 'szies'", "sizes"),
        ("[stop]\nlaunches_mx = 3", 2, "no key 'launches_mx'", "launches_max"),
        ("title = 'x'\n\nseed = 1.5", 3, "seed = 1.5", "a whole number"),
        ('seed = "1"', 1, "seed = '1'", "a whole number"),
        ('[stop]\nlevel = 0.5\nhalf_width = "wide"', 3, "half_width", "a number"),
        ("questions = ['pingpon']", 1, "'pingpon'", "pingpong"),
        ('stacks = [\n "tcp",\n "tcp[write=slpit]",\n]', 3, "slpit", "split"),
        ('sizes = [\n 8,\n "decadse"\n]', 3, "decadse", "decades"),
        ('sizes = ["$(touch /tmp/owned)"]', 1, "touch", "decades"),
        ("sizes = [68_000_000]", 1, "68000000", "67108864"),
        ('stacks = ["tcp", "udp", "tcp"]', 1, "tcp stands there twice", "once"),
        ('lab = "x"\nhosts = ["a", "a"]', 2, "a stands there twice", "once"),
        ("seed = 1\n[stop]\nlaunches_min = 9\nlaunches_max = 8", 2, "launches_min is 9", "not be above"),
        ("[stop]\nlaunches_min = 3\nlaunches_max = 3", 1, "never give an interval", "launches_max = 6"),
        ("[stop]\nlaunches_min = 6\nlaunches_max = 6\nlevel = 0.99", 1, "never give an interval", "launches_max = 8"),
        ("[refine]\n[stop]\nlaunches_min = 8\nlaunches_max = 15", 1, "too few of 15", "launches_max = 16"),
        ("[refine]\nsizes = 3", 2, "no key 'sizes'", "sizes_max"),
        ("[link]\nhops = 1", 1, "rate_bps", "bits per second"),
        ("a = 1\na = 2", 2, "not TOML", "toml"),
        ('sentinel.stack = "x y"', 1, "is not a stack", "tcp"),
        ('stacks = ["tcp@after"]', 1, "'tcp@after' is not a stack", "tcp"),
        ('[[sides]]\nname = "a"', 1, "the side a is alone", "two or more"),
        ('[[sides]]\nname = "a"\n[[sides]]\nname = "a"', 1, "the side a stands there twice", "once"),
        ('[[sides]]\nname = "a b"\n[[sides]]\nname = "c"', 2, "'a b'", "a-z, 0-9"),
        ('[[sides]]\nname = "a\\n"\n[[sides]]\nname = "c"', 2, "name", "a-z, 0-9"),
        ('[[sides]]\nname = "a"\ncommand = "x\\u0000"\n[[sides]]\nname = "b"', 1, "NUL", "leave it out"),
        ('[[sides]]\nname = "a"\nenvironment = {"A B" = ""}\n[[sides]]\nname = "b"', 1, "'A B'", "letters"),
        ('[[sides]]\nname = "a"\nenvironment = {A = "\\u0000"}\n[[sides]]\nname = "b"', 1, "NUL", "leave it out"),
        ('[[sides]]\nname = "a"\ntimeout_s = 0\n[[sides]]\nname = "b"', 3, "timeout_s", "at least 1"),
    ],
)
def test_a_mistake_names_its_line_and_its_remedy(text: str, line: int, what: str, remedy: str) -> None:
    with pytest.raises(VaivenError) as caught:
        schema.parse(text, "my plan.toml")
    assert caught.value.where == f"my plan.toml:{line}"
    assert what in caught.value.what
    assert remedy in caught.value.remedy


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(VaivenError, match=r"no\.toml"):
        schema.load(tmp_path / "no.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(VaivenError, match="UTF-8"):
        schema.load(tmp_path / "binary.toml")


def test_looks_are_scheduled_and_share_the_level() -> None:
    stop = Stop(launches_min=8, launches_max=32, level=0.95)
    assert stop.schedule == (8, 12, 16, 20, 24, 32)
    assert stop.level_per_look == pytest.approx(1 - 0.05 / 6)
    assert Stop(launches_min=6, launches_max=6).schedule == (6,)
    assert Stop(launches_min=7, launches_max=10, looks=(6, 8, 50)).schedule == (8, 10)


@pytest.mark.parametrize(("level", "launches"), [(0.95, 6), (0.99, 8), (0.75, 3), (0.5, 2)])
def test_the_fewest_launches_of_a_level(level: float, launches: int) -> None:
    assert launches_needed(level) == launches


def test_the_json_schema_takes_what_the_parser_takes_and_refuses_what_it_refuses() -> None:
    checker = jsonschema.Draft202012Validator(schema.json_schema())
    checker.validate(tomllib.loads(WHOLE))
    for text in ("szies = [8]", 'seed = "1"', "questions = ['pingpon']", "[stop]\nlevel = 2"):
        assert not checker.is_valid(tomllib.loads(text))


@pytest.mark.parametrize("path", sorted(resources.ready("plans").rglob("*.toml")), ids=lambda path: path.stem)
def test_ready_plans_are_valid(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their words, and what becomes of them with the stacks that are here; nothing was measured of this machine."""
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path))
    plan, text = schema.load(path)
    assert plan.title
    assert schema.parse(text, path.name) == plan
    if plan.lab or plan.hosts:
        assert preview(plan)[0].courses


def test_there_are_ready_plans() -> None:
    assert {"demo", "ladder"} <= {path.stem for path in resources.ready("plans").glob("*.toml")}
