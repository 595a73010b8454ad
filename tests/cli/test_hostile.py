# SPDX-License-Identifier: BSD-3-Clause
"""Whatever is typed, and whatever somebody's run says: sentences and an exit status, nothing that steers a terminal."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.store.made import cell, launch, manifest

from vaiven import cli, letters
from vaiven.cli import net, parser
from vaiven.cli.status import Status
from vaiven.store.record import End, Record

WORDS = ["", "/dev/null/x", "-3", "1e999", "x" * 5000, "a,,[\x1b[2J", "ünï\udcff"]
STEERING = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eevil\r\x08\x7f"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that somebody sent, who has named everything in it so that a terminal would obey."""
    one = manifest(f"title {STEERING}")
    one.hosts.clear()
    with Record.create(tmp_path_factory.mktemp("runs"), one) as record:
        for number in range(8):
            told = replace(launch(number, f"tcp{STEERING}"), near=f"a{STEERING}", far=f"b{STEERING}", block=number)
            record.add(told, [cell(size, [1000 * size + 7 * number + k for k in range(9)]) for size in (8, 64, 512)])
        record.warn(f"code{STEERING}", f"text {STEERING}")
        record.end(End(reason=f"done{STEERING}", blocks=8, launches=8, failed=0, half_width=0.01, cell=STEERING))
    return record.path


def verbs(run: Path) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Every verb -> words with which it does something short. Labs that are not up, hosts that are not asked."""
    last = (str(run),)
    return {
        ("measure",): ("demo", "--dry-run"),
        ("stacks",): (),
        ("run",): ("--stack", "openmpi"),
        ("plan", "schema"): (),
        ("plan", "list"): (),
        ("plan", "check"): ("demo",),
        ("plan", "show"): ("demo",),
        ("runs",): ("--runs", str(run.parent)),
        ("export", "csv"): last,
        ("export", "markdown"): last,
        ("export", "schema"): (),
        ("model",): last,
        ("compare",): last,
        ("history",): ("test", "--runs", str(run.parent)),
        ("report",): last,
        ("reproduce",): ("--run", str(run)),
        ("plausible",): ("93 MB/s", "100 Mb/s"),
        ("lab", "up"): ("nosuch",),
        ("lab", "down"): ("nosuch",),
        ("lab", "list"): (),
        ("lab", "show"): ("demo",),
        ("lab", "check"): ("nosuch",),
        ("lab", "run"): ("nosuch/x", "--", "true"),
        ("lab", "shell"): ("nosuch/x",),
        ("doctor",): ("--json",),
        ("completion",): ("bash",),
    }


def options(verb: tuple[str, ...]) -> Iterator[str]:
    """The options of a verb that take a value, but hosts."""
    app = parser.app
    for word in verb:
        app = app[word]
    for argument in app.assemble_argument_collection():
        takes_value = argument.field_info.is_keyword and argument.hint is not bool and argument.names
        if takes_value and argument.names[0] != "--hosts":  # they would be asked
            yield argument.names[0]


def ended(words: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    """The exit status of the command."""
    monkeypatch.setattr(sys, "argv", ["vaiven", *words])
    with pytest.raises(SystemExit) as caught:
        cli.start()
    return caught.value.code or 0


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A place where a mistake costs nothing."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("VAIVEN_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_every_verb_is_tried() -> None:
    tried = {verb[0] for verb in verbs(Path("x"))}
    assert tried == set(cli.VERBS)
    for name in ("lab", "plan", "export"):
        subs = {word for word in parser.app[name] if not word.startswith("-")}
        assert {verb[1] for verb in verbs(Path("x")) if verb[0] == name} == subs


@pytest.fixture
def faults(
    run: Path, nowhere: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> Callable[..., list]:
    """The command lines, of these, that are met with a fault of ours, and what was said of the last ones."""

    def found(tried: Iterable[list[str]]) -> list:
        statuses = {tuple(words): ended(words, monkeypatch) for words in tried}
        said = capsys.readouterr()
        met = [words for words, status in statuses.items() if status == Status.FAULT]
        return [*met, said.err[-3000:]] if met or "Traceback" in said.err + said.out else []

    return found


every_verb = pytest.mark.parametrize("verb", verbs(Path("x")), ids=" ".join)


@every_verb
def test_no_word_is_met_with_a_fault(verb: tuple[str, ...], run: Path, faults: Callable[..., list]) -> None:
    """Each word behind each verb, and one of them, another each time, behind each of its options."""
    usual = [*verb, *verbs(run)[verb]]
    tried = [[*verb, word] for word in WORDS if verb != ("doctor",)]  # a word is a host there, and would be asked
    tried += [[*usual, *one] for one in zip(options(verb), itertools.cycle(WORDS), strict=False)]
    assert faults([usual, *tried]) == []


@pytest.mark.slow
@every_verb
def test_no_option_meets_a_word_with_a_fault(verb: tuple[str, ...], run: Path, faults: Callable[..., list]) -> None:
    usual = [*verb, *verbs(run)[verb]]
    assert faults([*usual, option, word] for option in options(verb) for word in WORDS) == []


def test_a_run_of_somebody_else_says_nothing_to_the_terminal(run: Path, vaiven, tmp_path: Path) -> None:
    for words in (["runs", "--runs", str(run.parent)], ["model", str(run)], ["model", str(run), "--by-size"],
                  ["compare", str(run)], ["compare", str(run), str(run)],
                  ["history", "test", "--runs", str(run.parent)], ["reproduce", "--run", str(run), "--every"],
                  ["report", str(run), "--svg", "svg"], ["export", "markdown", str(run)],
                  ["model", str(run), "--stack", STEERING]):  # fmt: skip
        done = vaiven(*words, cwd=tmp_path)
        steering = [c for c in done.stdout + done.stderr if unicodedata.category(c) in ("Cc", "Cf") and c != "\n"]
        assert steering == [] and done.stdout + done.stderr, words
    assert "\\x1b]0;owned" in vaiven("runs", "--runs", str(run.parent)).stdout


def test_printable_text_stays_as_it_is() -> None:
    text = "α ≤ 100 µs, 日本, n½: tab-less\nnew line 🙂"
    assert letters.printable(text) == text
    assert letters.printable("a\tb\x1b\x9b\u202e\ud800") == "a\\tb\\x1b\\x9b\\u202e\\ud800"


@pytest.mark.typed
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_of_few_letters_gets_words(encoding: str, run: Path, tmp_path: Path) -> None:
    for words in (["--help"], ["model", run], ["stacks"], ["measure", "\u202e"], ["compare", run]):
        done = subprocess.run(
            [sys.executable, "-m", "vaiven", *words], env=os.environ | {"PYTHONIOENCODING": encoding},
            capture_output=True, text=True, encoding=encoding, timeout=120, check=False, cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode in (0, Status.WORLD) and done.stdout + done.stderr, words
        if words[0] == "model" and encoding == "ascii":
            assert "alpha" in done.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["export", "csv", "RUN", "--output", "/proc/x"], "/proc/x"),
        (["export", "csv", "RUN", "--output", "/dev/null/x"], "/dev/null/x"),
        (["report", "RUN", "--svg", "/dev/null/x"], "/dev/null/x"),
        (["measure", "--lab", "free", "--sizes", "x"], "--sizes"),
        (["runs", "--runs", "/etc/passwd"], "/etc/passwd"),
        (["compare", ""], "no run ''"),
        (["compare", "RUN", "RUN", "RUN"], "3 runs were named, and two can be compared"),
        (["doctor", "--listen-s", "-1"], "--listen-s"),
        (["plan", "show", "demo", "--blocks", "-1"], "--blocks"),
        (["measure", "demo", "--dry-run", "--launches", "-3"], "--launches"),
    ],
)
def test_what_cannot_be_is_refused_with_its_name(
    vaiven, run: Path, tmp_path: Path, words: list[str], says: str
) -> None:
    done = vaiven(*[str(run) if word == "RUN" else word for word in words], cwd=tmp_path)
    assert done.returncode in (Status.WORLD, Status.USAGE) and done.stdout == ""
    first, *rest = re.sub("^warning: .*\n", "", done.stderr, flags=re.M).splitlines()  # of fonts without such glyphs
    assert first.startswith("vaiven: ") and says in first and not list(tmp_path.iterdir()), done.stderr
    assert "fault" not in first and "`int`" not in first and all(line.startswith("  ") for line in rest)


@pytest.mark.parametrize(
    ("words", "says"),
    [(["--verson"], "did you mean --version?"), (["messure"], "did you mean measure?"),
     (["measure", "--quikc"], "--quick"), (["xyz"], "vaiven --help"), (["measure", "--seed"], "--seed"),
     (["runs", "--frobnicate"], "--frobnicate")],
)  # fmt: skip
def test_a_slip_is_answered_in_the_one_style_of_all_errors(vaiven, words: list[str], says: str) -> None:
    done = vaiven(*words)
    assert done.returncode == Status.USAGE and done.stderr.startswith("vaiven: ") and says in done.stderr
    assert "╭" not in done.stderr


def test_help_is_a_verb_too(vaiven) -> None:
    assert vaiven("help").stdout == vaiven("--help").stdout
    assert vaiven("help", "runs").stdout == vaiven("runs", "--help").stdout


def test_a_fault_is_a_sentence_and_a_file_that_tells_the_rest(
    nowhere: None, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    def broken() -> None:
        raise ZeroDivisionError("a\nb")

    assert net.caught(broken) == Status.FAULT
    said = capsys.readouterr().err
    first, second = said.splitlines()
    assert first == "vaiven: this is a fault of vaiven: ZeroDivisionError: a"
    told = Path(re.search(r"\S+vaiven-fault-\S+", second)[0])
    assert "in broken" in told.read_text() and told.stat().st_mode & 0o077 == 0


def test_what_the_system_refuses_names_the_file_and_the_reason(capsys: pytest.CaptureFixture) -> None:
    assert net.caught(Path("/nosuch/file").read_bytes) == Status.WORLD
    assert capsys.readouterr().err == "vaiven: /nosuch/file: No such file or directory\n"


@pytest.mark.typed
def test_output_that_nobody_reads_is_no_error(tmp_path: Path) -> None:
    for closed in (">&-", "2>&-", "| true"):
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", f'"$0" -m vaiven stacks {closed}', sys.executable],
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode in (0, Status.WORLD, net.NO_READER) and "Traceback" not in done.stderr, closed
