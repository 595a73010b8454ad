# SPDX-License-Identifier: BSD-3-Clause
"""A program that does what it is told, line by line, and answers each line: the guest, or our engine beside it."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import BinaryIO

PATIENCE_S = 180.0  # a bound for machines with much else to do, not an expectation


class Refused(Exception):
    """An answer "failed ERRNO TEXT": number is the errno."""

    def __init__(self, line: str, text: str) -> None:
        super().__init__(f"{line}: {text}")
        self.number = int(text.split()[0])


class Pending:
    """A line that was said and whose answer is still to come. output: what came before it, of `run`."""

    def __init__(self, talker: Talker, line: str, answers: queue.Queue[str | None]) -> None:
        self._talker, self._line, self._answers = talker, line, answers
        self.output: list[str] = []

    def next_output(self) -> str:
        """Waits for one more line that the program of a `run` printed."""
        text = self._next()
        assert text.startswith("| "), f"{self._line}: {text}"
        self.output.append(text[2:])
        return text[2:]

    def text(self) -> str:
        """Waits for one line as it is."""
        return self._next()

    def answer(self) -> list[str]:
        """Waits for the answer: its words behind "ok". Raises Refused."""
        while (text := self._next()).startswith("| "):
            self.output.append(text[2:])
        verdict, _, rest = text.partition(" ")
        if verdict == "failed":
            raise Refused(self._line, rest)
        assert verdict == "ok", f"{self._line}: {text}"
        return rest.split()

    def _next(self) -> str:
        try:
            text = self._answers.get(timeout=PATIENCE_S)
        except queue.Empty:
            raise AssertionError(f"no answer to {self._line!r}; {self._talker.last_words()}") from None
        if text is None:
            self._answers.put(None)
            raise AssertionError(f"it ended before it answered {self._line!r}; {self._talker.last_words()}")
        return text


class Talker:
    """One line at a time, and any number of `start`ed ones beside it.

    last_words: what to say about the other end when it does not answer.
    """

    def __init__(self, answers: BinaryIO, lines: BinaryIO, last_words: Callable[[], str]) -> None:
        self._from, self._lines, self.last_words = answers, lines, last_words
        self._answers: dict[str, queue.Queue[str | None]] = {"": queue.Queue()}
        self._ended = False
        self._lock = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def ask(self, *words: object) -> list[str]:
        """Says a line, waits for its answer, returns the words behind "ok"."""
        return self.say(*words).answer()

    def say(self, *words: object) -> Pending:
        """Says a line and does not wait."""
        return self._say("", " ".join(map(str, words)))

    def start(self, *words: object) -> Pending:
        """Says a line whose work goes on beside that of others."""
        with self._lock:
            tag = f"#{len(self._answers)}"
            self._answers[tag] = queue.Queue()
            if self._ended:
                self._answers[tag].put(None)
        return self._say(tag, f"start {tag} " + " ".join(map(str, words)))

    def hear(self) -> Pending:
        """Waits for what comes unasked."""
        return Pending(self, "(nothing)", self._answers[""])

    def _say(self, tag: str, line: str) -> Pending:
        try:
            self._lines.write(line.encode() + b"\n")
            self._lines.flush()
        except OSError:
            raise AssertionError(f"it has ended; {self.last_words()}") from None
        return Pending(self, line, self._answers[tag])

    def _read(self) -> None:
        try:
            for line in self._from:
                text = line.decode(errors="replace").strip("\r\n")
                first, _, rest = text.partition(" ")
                if first in self._answers and first:
                    self._answers[first].put(rest)
                else:
                    self._answers[""].put(text)
        except (OSError, ValueError):
            pass
        with self._lock:
            self._ended = True
            for answers in self._answers.values():
                answers.put(None)
