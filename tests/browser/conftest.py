# SPDX-License-Identifier: BSD-3-Clause
"""Real headless Chromium without a network, and the pages that it opens from files."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from tests.report import made_up

from vaiven.cli.report import write_page

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

    def draw_all(self) -> None:
        """Scrolls through the page, so that every figure in sight is drawn."""
        for figure in self.page.locator("figure.widget").all():
            if figure.is_visible():
                figure.scroll_into_view_if_needed()
                figure.locator(".main-svg").first.wait_for()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, NAMES)))
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of two hosts, five stacks, everything known."""
    root = tmp_path_factory.mktemp("plain")
    return write_page(made_up.write_run(root), root / "page.html")


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
    return write_page(run, root / "page.html")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of one message for many, and nothing else, from a host with a hostile name."""
    root = tmp_path_factory.mktemp("many")
    return write_page(made_up.write_fanout(root, near=made_up.HOSTILE), root / "page.html")


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Opened]]:
    """open_page(path, **context options) -> Opened; every request but the file itself is recorded and refused."""
    contexts = []

    def call(path: Path, **options: object) -> Opened:
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}, "offline": True} | options))
        contexts.append(context)
        opened = Opened(context.new_page())
        opened.page.on("console", lambda message: opened.complaints.append(f"{message.type}: {message.text}"))
        opened.page.on("pageerror", lambda error: opened.complaints.append(f"error: {error}"))
        opened.page.on("dialog", lambda dialog: (opened.complaints.append("dialog"), dialog.dismiss()))
        opened.page.on("request", lambda request: opened.requests.append(request.url))
        opened.page.goto(path.as_uri())
        return opened

    yield call
    for context in contexts:
        context.close()
