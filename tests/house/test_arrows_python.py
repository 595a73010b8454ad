# SPDX-License-Identifier: BSD-3-Clause
"""Who may import whom in python/vaiven (contracts in pyproject.toml), and who may start a process."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.house.conftest import parsed

STARTERS = {"lab", "run"}
_START = re.compile(r"(asyncio\.)?create_subprocess_\w+|os\.(system|popen|fork\w*|exec\w+|spawn\w+|posix_spawnp?)")
_RUN_FILES = re.compile(r"\.parquet$|^manifest\.json$|^end\.json$|^(warnings|refined)\.jsonl$")

# One bad import for every contract: (words of its name, the file that breaks it, the import).
BROKEN = [
    ("face > measuring > run", "run", "vaiven.measuring"),
    ("face > measuring > run", "lab", "vaiven.run"),
    ("face > measuring > run", "plan", "vaiven.store"),
    ("face > report > plot", "model", "vaiven.plot"),
    ("face > report > plot", "stats", "vaiven.model"),
    ("face > report > plot", "face", "vaiven.cli"),
    ("papers > results", "results", "vaiven.report"),
    ("papers > results", "results", "vaiven.papers"),
    ("papers > results", "store", "vaiven.results"),
    ("draw nothing", "results", "rich"),
    ("draw nothing", "papers", "vaiven.run"),
    ("they open no run", "report", "vaiven.store"),
    ("they open no run", "plot", "vaiven.run"),
    ("nothing of ours", "model", "vaiven.store"),
    ("nothing of ours", "stats", "vaiven.resources"),
    ("without numpy or models", "plan", "scipy"),
    ("the tests' oracle", "stats", "scipy"),
    ("does not draw", "run", "vaiven.report"),
    ("starts processes", "run", "subprocess"),
    ("starts processes", "store", "multiprocessing"),
    ("have children", "cli", "vaiven.child"),
    ("changes the system", "run", "pyroute2"),
    ("data frames", "report", "polars"),
]


def lint(root: Path, package: Path) -> tuple[int, str]:
    """import-linter over the package directory with the contracts of pyproject.toml: (status, report)."""
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--config", root / "pyproject.toml", "--no-cache"],
        capture_output=True, text=True, check=False, cwd=package, env=os.environ | {"PYTHONPATH": str(package)},
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def process_starts(text: str) -> list[str]:
    """Calls by which a module starts a process without importing subprocess."""
    calls = [ast.unparse(node.func) for node in ast.walk(parsed(text)) if isinstance(node, ast.Call)]
    return [call for call in calls if _START.fullmatch(call)]


def run_file_names(text: str) -> list[str]:
    """Names of files of a run directory among the string constants of a module."""
    constants = [node.value for node in ast.walk(parsed(text)) if isinstance(node, ast.Constant)]
    return [value for value in constants if isinstance(value, str) and _RUN_FILES.search(value)]


def _modules(root: Path, allowed: set[str]) -> list[Path]:
    package = root / "python/vaiven"
    return [p for p in package.rglob("*.py") if p.relative_to(package).parts[0] not in allowed]


def test_imports_follow_the_arrows(root: Path) -> None:
    status, report = lint(root, root / "python")
    assert status == 0, report


@pytest.fixture(scope="module")
def broken(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What import-linter says of a tree that is empty but for every bad import: the broken contract -> its report."""
    tree = tmp_path_factory.mktemp("tree")
    for directory in (root / "python/vaiven").iterdir():
        if directory.is_dir() and directory.name != "__pycache__":
            (tree / "vaiven" / directory.name).mkdir(parents=True)
            (tree / "vaiven" / directory.name / "__init__.py").touch()
    for module in (root / "python/vaiven").glob("*.py"):
        (tree / "vaiven" / module.name).touch()
    assert lint(root, tree)[0] == 0, "an empty tree breaks no contract"
    for number, (_, room, target) in enumerate(BROKEN):
        (tree / "vaiven" / room / f"bad{number}.py").write_text(f"import {target}\n")
    status, report = lint(root, tree)
    assert status == 1, report
    sections = re.split(r"^([^\n]+)\n-+\n", report.partition("Broken contracts")[2], flags=re.MULTILINE)
    return dict(zip(sections[1::2], sections[2::2], strict=True))


@pytest.mark.parametrize(("number", "contract"), [(number, contract) for number, (contract, _, _) in enumerate(BROKEN)])
def test_a_wrong_import_breaks_its_contract(number: int, contract: str, broken: dict[str, str]) -> None:
    _, room, target = BROKEN[number]
    (section,) = (text for name, text in broken.items() if contract in name)
    assert f"vaiven.{room}.bad{number} -> {target}" in section, broken


def test_every_contract_has_a_bad_example(root: Path) -> None:
    names = re.findall(r'^name = "(.*)"$', (root / "pyproject.toml").read_text().split("[tool.importlinter]")[1], re.M)
    assert len(names) >= 8
    assert [name for name in names if not any(words in name for words, _, _ in BROKEN)] == []


def test_the_contracts_about_one_room_name_all_others(root: Path) -> None:
    contracts = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    children = {
        p.stem for p in (root / "python/vaiven").iterdir() if (p / "__init__.py").is_file() or p.suffix == ".py"
    }
    everybody = {f"vaiven.{child}" for child in children - {"__init__", "__main__"}}
    exempt = {
        "starts processes": {"child"},
        "have children": {"child", *STARTERS},
        "changes the system": {"lab"},
        "data frames": {"face", "results", "store"},
    }
    for words, rooms in exempt.items():
        contract = next(c for c in contracts if words in c["name"])
        assert set(contract["source_modules"]) == everybody - {f"vaiven.{room}" for room in rooms}, contract["name"]


def test_only_lab_and_run_start_processes(root: Path) -> None:
    modules = _modules(root, STARTERS)
    assert modules and [(m.name, call) for m in modules for call in process_starts(m.read_text())] == []


def test_only_store_names_the_files_of_a_run(root: Path) -> None:
    modules = _modules(root, {"store"})
    assert modules and [(m.name, name) for m in modules for name in run_file_names(m.read_text())] == []


def test_a_started_process_is_found() -> None:
    assert process_starts("import os\nos.system('x')\nos.execvp('x', [])\nasyncio.create_subprocess_exec('x')") == [
        "os.system",
        "os.execvp",
        "asyncio.create_subprocess_exec",
    ]
    assert process_starts("import os\nos.path.join('system')\nos.environ.get('x')") == []


def test_a_file_of_a_run_is_found() -> None:
    assert sorted(run_file_names("open(run / 'manifest.json'); x = '1.parquet'")) == ["1.parquet", "manifest.json"]
    assert run_file_names("'lab.toml'") == []
