# SPDX-License-Identifier: BSD-3-Clause
"""The page in the hands of a reader: mouse, keys, dark, phone, paper, and a hostile run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.report import made_up

pytestmark = pytest.mark.browser

Open = Callable[..., Any]


@pytest.mark.parametrize("kind", ["plain", "hostile"])
def test_it_opens_from_a_file_without_network_or_complaint(
    kind: str, open_page: Open, request: pytest.FixtureRequest
) -> None:
    path = request.getfixturevalue(kind)
    opened = open_page(path)
    opened.draw_all()
    assert opened.complaints == []
    assert opened.requests == [path.as_uri()]


def test_the_answer_is_on_the_first_screen(plain: Path, open_page: Open) -> None:
    page = open_page(plain).page
    assert "What does a message cost between h1 and h2?" in page.locator("h1").inner_text()
    for place in (".lead", ".tiles"):
        box = page.locator(place).bounding_box()
        assert box["y"] + box["height"] < 900


def test_the_mouse_shows_values(plain: Path, open_page: Open) -> None:
    opened = open_page(plain)
    opened.draw_all()
    page = opened.page
    page.locator("#p1-time .plot").scroll_into_view_if_needed()
    box = page.locator("#p1-time .plot .nsewdrag").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    label = page.locator("#p1-time .hoverlayer .legend")
    label.wait_for()
    text = label.text_content()
    assert "tcp" in text and "µs" in text and "floor" in text and "the wire alone" in text
    assert label.locator(".legendtitletext").text_content().endswith(" B")


def test_keys_walk_through_a_figure_and_say_the_values(plain: Path, open_page: Open) -> None:
    opened = open_page(plain)
    opened.draw_all()
    page = opened.page
    reading = page.locator("#p1-time .reading")
    page.locator("#p1-time .plot").focus()
    page.keyboard.press("ArrowRight")
    assert reading.inner_text().startswith("the wire alone 0 B: 13.4 µs")
    page.keyboard.press("ArrowDown")
    assert reading.inner_text().startswith("icmp 0 B: 45.")
    page.keyboard.press("ArrowRight")
    assert reading.inner_text().startswith("icmp 1 B: ")
    page.keyboard.press("Escape")
    assert reading.inner_text() == ""


def test_everything_is_reached_by_the_tab_key(plain: Path, open_page: Open) -> None:
    opened = open_page(plain)
    opened.draw_all()
    opened.page.evaluate("scrollTo(0, 0); document.activeElement.blur()")
    seen = set()
    for _ in range(80):
        opened.page.keyboard.press("Tab")
        name = "(element) => element.id || element.classList[0] || element.tagName"
        seen.add(opened.page.locator(":focus").evaluate(name) if opened.page.locator(":focus").count() else "")
    assert {"skip", "theme", "scroll", "plot", "SUMMARY", "SELECT", "INPUT", "PRE"} <= seen


def test_a_switch_takes_the_floor_away_and_brings_it_back(plain: Path, open_page: Open) -> None:
    opened = open_page(plain)
    opened.draw_all()
    lines = opened.page.locator("#p1-time .scatterlayer .trace")
    everything = lines.count()
    opened.page.locator("#p1-time [data-role=floor]").uncheck()
    assert lines.count() == everything - len(made_up.START_NS)
    opened.page.locator("#p1-time [data-role=floor]").check()
    assert lines.count() == everything


def test_a_choice_changes_the_figure_and_its_table(plain: Path, open_page: Open) -> None:
    opened = open_page(plain)
    opened.draw_all()
    page = opened.page
    before = page.locator("#p1-spread .xtick").all_text_contents()
    page.locator("#p1-spread [data-choose]").select_option("1 KiB")
    assert page.locator("#p1-spread .xtick").all_text_contents() != before
    page.locator("#p1-spread summary").click()
    shown = [table for table in page.locator("#p1-spread .scroll").all() if table.is_visible()]
    assert len(shown) == 1 and "Messages of 1 KiB" in shown[0].inner_text()


def test_verdicts_are_found_and_open(plain: Path, open_page: Open) -> None:
    page = open_page(plain).page
    page.locator("nav a", has_text="who is faster").click()
    section = page.locator("#p1-verdicts")
    section.locator("td.faster").first.wait_for()
    assert section.locator("li").count() == 10
    assert not section.locator("caption", has_text="icmp against eth").first.is_visible()
    section.locator("summary", has_text="Everything behind").click()
    table = section.locator("details:has-text('Everything behind') .scroll").first
    assert table.is_visible() and "time ratio" in table.inner_text()


def test_launches_of_two_stacks_are_chosen_and_drawn(plain: Path, open_page: Open) -> None:
    page = open_page(plain).page
    page.locator("#p1-races").scroll_into_view_if_needed()
    page.locator("#p1-races .main-svg").first.wait_for()
    page.locator("#p1-races [data-choose]").select_option("udp against tcp")
    assert "launches of udp done" in page.locator("#p1-races .xtitle").text_content()
    page.locator("#p1-races .plot").focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    reading = page.locator("#p1-races .reading").inner_text()
    assert reading.startswith("8 B ") and reading.endswith("% of tcp")


def _paint(page: Any) -> tuple[str, str, str]:
    """(page colour, ink of the words, ink of a figure's axis)."""
    return tuple(
        page.evaluate(
            "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color,"
            " getComputedStyle(document.querySelector('#p1-time .xtick text')).fill]"
        )
    )


def test_dark_and_light_follow_the_system_and_the_button(plain: Path, open_page: Open) -> None:
    light, dark = open_page(plain, color_scheme="light"), open_page(plain, color_scheme="dark")
    for opened in (light, dark):
        opened.draw_all()
    bright, dim = _paint(light.page), _paint(dark.page)
    assert bright[0] == "rgb(255, 255, 255)" and dim[0] == "rgb(23, 29, 36)"
    assert bright[2] == bright[1] and dim[2] == dim[1]
    light.page.locator("#theme").click()
    assert _paint(light.page) == dim
    light.page.locator("#theme").click()
    assert _paint(light.page) == bright


@pytest.mark.parametrize("kind", ["plain", "hostile"])
def test_a_phone_scrolls_only_down(kind: str, open_page: Open, request: pytest.FixtureRequest) -> None:
    opened = open_page(request.getfixturevalue(kind), viewport={"width": 390, "height": 844})
    opened.draw_all()
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_on_paper_it_is_light_open_and_drawn(plain: Path, open_page: Open, tmp_path: Path) -> None:
    opened = open_page(plain, color_scheme="dark")
    page = opened.page
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    assert page.locator(".plot .main-svg").first.is_visible() and _paint(page)[0] == "rgb(255, 255, 255)"
    assert page.locator("figure.widget:not(:has(.main-svg))").count() == 0
    assert not page.locator("#theme").is_visible() and not page.locator("nav").is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert page.locator("details:not([open])").count() > 0 and _paint(page)[0] == "rgb(23, 29, 36)"
    page.pdf(path=str(tmp_path / "page.pdf"))
    assert (tmp_path / "page.pdf").stat().st_size > 50_000


def test_hostile_strings_are_words_and_nothing_else(hostile: Path, open_page: Open) -> None:
    opened = open_page(hostile)
    opened.draw_all()
    page = opened.page
    assert page.title() == "What does a message cost between these 4 hosts?"
    assert page.locator("img").count() == 0 and page.locator("script").count() == 3
    assert made_up.HOSTILE in page.locator("#repeat pre").last.inner_text()
    assert any(made_up.HOSTILE in text for text in page.locator("#hosts-map .ytick").all_text_contents())


def test_a_page_without_scripts_still_has_the_answer_and_the_tables(plain: Path, open_page: Open) -> None:
    page = open_page(plain, java_script_enabled=False).page
    assert "53.4\u00a0µs" in page.locator(".lead").inner_text()
    assert page.locator("#cost table").first.is_visible()
    assert not page.locator("#theme").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_screenshots_can_be_looked_at(plain: Path, open_page: Open, tmp_path: Path, scheme: str, width: int) -> None:
    opened = open_page(plain, color_scheme=scheme, viewport={"width": width, "height": 900})
    opened.draw_all()
    opened.page.evaluate("scrollTo(0, 0)")
    opened.page.screenshot(path=tmp_path / "page.png", full_page=True)
    assert (tmp_path / "page.png").stat().st_size > 20_000


OVERLAPS = """() => [...document.querySelectorAll(".plot")].flatMap((plot) => ["xtick", "ytick"].flatMap((kind) => {
  const texts = [...plot.querySelectorAll(`.${kind} text`)];
  const boxes = texts.map((text) => [text.textContent, text.getBoundingClientRect()]);
  return boxes.flatMap(([a, p], i) => boxes.slice(i + 1)
    .filter(([, q]) => p.left < q.right && q.left < p.right && p.top < q.bottom && q.top < p.bottom)
    .map(([b]) => `${plot.parentElement.id}: ${a} / ${b}`));
}))"""


def test_one_message_for_many_is_drawn_by_size_and_by_receivers(many: Path, open_page: Open) -> None:
    """On a phone, where labels have least room."""
    opened = open_page(many, viewport={"width": 390, "height": 844})
    page = opened.page
    page.locator("nav a", has_text="many at once").click()
    opened.draw_all()
    assert page.locator("#fanout-size .scatterlayer .trace").count() == 4
    page.locator("#fanout-receivers [data-choose]").select_option("8 B")
    page.locator("#fanout-receivers .plot").focus()
    for key in ("ArrowRight", "ArrowUp", "ArrowRight"):
        page.keyboard.press(key)
    assert page.locator("#fanout-receivers .reading").inner_text().startswith("tcp to 2: ")
    assert opened.page.evaluate(OVERLAPS) == [] and opened.complaints == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("#cost").count() == 0


@pytest.mark.parametrize("width", [1280, 390])
def test_no_axis_label_lies_on_another(plain: Path, open_page: Open, width: int) -> None:
    opened = open_page(plain, viewport={"width": width, "height": 900})
    opened.draw_all()
    assert opened.page.evaluate(OVERLAPS) == []
