# SPDX-License-Identifier: BSD-3-Clause
"""Real headless Chromium without a network, and the pages that it opens from files."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.report import made_up

from vaiven.report.files import write_overlay, write_page
from vaiven.results.overlay import overlay
from vaiven.results.results import Results

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page  # a second, which each worker else spends before its first test

FLAGS = [
    "--no-sandbox",
    "--headless",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
NAMES = ("chromium", "chromium-browser", "google-chrome")


@dataclass
class Opened:
    """An open page, and everything it asked for or complained about."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def draw(self, *figures: str) -> None:
        """Scrolls to those figures, by their ids, so that they are drawn."""
        for figure in figures:
            self.page.locator(f"#{figure}").scroll_into_view_if_needed()
            self.page.locator(f"#{figure} .main-svg").first.wait_for()

    def draw_all(self) -> None:
        """The same of every figure in sight."""
        self.draw(*(one.get_attribute("id") for one in self.page.locator("figure.widget").all() if one.is_visible()))

    def put_back(self) -> None:
        """Takes back what a reader did: choices, switches, opened tables, focus, place."""
        self.page.evaluate(PUT_BACK)


PUT_BACK = """() => {
  const changed = (element) => element.dispatchEvent(new Event("change"));
  for (const one of document.querySelectorAll("select")) if (one.selectedIndex) changed((one.selectedIndex = 0, one));
  for (const one of document.querySelectorAll("input")) if (!one.checked) changed((one.checked = true, one));
  document.querySelectorAll("details.numbers, details.hints").forEach((one) => (one.open = false));
  document.activeElement.blur();
  scrollTo(0, 0);
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, NAMES)))
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of two hosts, five stacks, everything known."""
    root = tmp_path_factory.mktemp("plain")
    return write_page(Results(made_up.write_run(root)).findings(), root / "page.html")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of three pairs with hostile names, too few launches, no link, unfinished."""
    root = tmp_path_factory.mktemp("hostile")
    run = made_up.write_run(
        root,
        pairs=((made_up.HOSTILE, "h2"), ("h1", "h3"), ("h2", "h3")),
        stacks=("udp", "eth", "tcp[write=split]"),
        sizes=(1, 64, 4096),
        blocks=5,
        plan_text=made_up.HOSTILE,
        ended=False,
        link=False,
        warnings=(("drift", made_up.HOSTILE),),
    )
    return write_page(Results(run).findings(), root / "page.html")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of one message for many, and nothing else, from a host with a hostile name."""
    root = tmp_path_factory.mktemp("many")
    return write_page(Results(made_up.write_fanout(root, near=made_up.HOSTILE)).findings(), root / "page.html")


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of three runs over each other."""
    root = tmp_path_factory.mktemp("several")
    return write_overlay(overlay(made_up.write_days(root, 3)), root / "page.html")


def opened_by(browser: Browser, path: Path, **options: object) -> Opened:
    """The page in a context of its own, 1280 pixels wide and light; every request but the file itself is refused."""
    settings = {"viewport": {"width": 1280, "height": 900}, "offline": True, "color_scheme": "light"} | options
    opened = Opened(browser.new_context(**settings).new_page())
    opened.page.on("console", lambda message: opened.complaints.append(f"{message.type}: {message.text}"))
    opened.page.on("pageerror", lambda error: opened.complaints.append(f"error: {error}"))
    opened.page.on("dialog", lambda dialog: (opened.complaints.append("dialog"), dialog.dismiss()))
    opened.page.on("request", lambda request: opened.requests.append(request.url))
    opened.page.goto(path.as_uri())
    return opened


@pytest.fixture(scope="module")
def shared(browser: Browser, plain: Path) -> Opened:
    """The plain page, opened and drawn once for all tests that put nothing away for good."""
    opened = opened_by(browser, plain)
    opened.draw_all()
    return opened


@pytest.fixture
def wide(shared: Opened) -> Iterator[Opened]:
    """The shared page as it was when it came."""
    shared.put_back()
    yield shared
    shared.put_back()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Opened]]:
    """open_page(path, **context options) -> Opened, for a test alone."""
    pages = []

    def call(path: Path, **options: object) -> Opened:
        pages.append(opened_by(browser, path, **options))
        return pages[-1]

    yield call
    for opened in pages:
        opened.page.context.close()
