# SPDX-License-Identifier: BSD-3-Clause
"""The page in the hands of a reader: mouse, keys, dark, phone, paper, no scripts, and a hostile run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.report import made_up

pytestmark = pytest.mark.browser

Open = Callable[..., Any]
PHONE = {"viewport": {"width": 390, "height": 844}}

OVERLAPS = """() => [...document.querySelectorAll(".plot")].flatMap((plot) => ["xtick", "ytick"].flatMap((kind) => {
  const texts = [...plot.querySelectorAll(`.${kind} text`)];
  const boxes = texts.map((text) => [text.textContent, text.getBoundingClientRect()]);
  return boxes.flatMap(([a, p], i) => boxes.slice(i + 1)
    .filter(([, q]) => p.left < q.right && q.left < p.right && p.top < q.bottom && q.top < p.bottom)
    .map(([b]) => `${plot.parentElement.id}: ${a} / ${b}`));
}))"""

# Tables that paper would cut off.
BEYOND = """() => [...document.querySelectorAll("table")].filter((one) =>
  one.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map((one) => one.textContent)"""
A4 = {"width": 688, "height": 1000}  # between margins of 14 mm

# Figures whose buttons lie on their legend.
COVERED = """() => [...document.querySelectorAll(".plot")].filter((plot) => {
  const boxes = [".modebar-group", ".legend"].map((one) => plot.querySelector(one)?.getBoundingClientRect());
  if (boxes.some((box) => !box || !box.width)) return false;
  const [p, q] = boxes;
  return p.left < q.right && q.left < p.right && p.top < q.bottom && q.top < p.bottom;
}).map((plot) => plot.parentElement.id)"""


def test_it_opens_from_a_file_without_network_or_complaint(wide: Any, plain: Path) -> None:
    assert wide.complaints == []
    assert wide.requests == [plain.as_uri()]


def test_the_answer_is_on_the_first_screen(wide: Any) -> None:
    page = wide.page
    assert "What does a message cost between h1 and h2?" in page.locator("h1").inner_text()
    for place in (".lead", ".tiles"):
        box = page.locator(place).bounding_box()
        assert box["y"] + box["height"] < 900


def test_the_mouse_shows_values(wide: Any) -> None:
    page = wide.page
    page.locator("#p1-time .plot").scroll_into_view_if_needed()
    page.locator("#p1-time [data-choose]").select_option("time")
    box = page.locator("#p1-time .plot .nsewdrag").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    label = page.locator("#p1-time .hoverlayer .legend")
    label.wait_for()
    text = label.text_content()
    assert "tcp" in text and "µs" in text and "floor" in text and "the wire alone" in text
    assert label.locator(".legendtitletext").text_content().endswith(" B")


def test_keys_walk_through_a_figure_and_say_the_values(wide: Any) -> None:
    page = wide.page
    reading = page.locator("#p1-time .reading")
    page.locator("#p1-time .plot").focus()
    page.keyboard.press("ArrowRight")
    assert reading.inner_text().startswith("icmp 0 B: 3.")
    page.locator("#p1-time [data-choose]").select_option("time")
    page.locator("#p1-time .plot").focus()
    page.keyboard.press("ArrowRight")
    assert reading.inner_text().startswith("the wire alone 0 B: 13.4 µs")
    page.keyboard.press("ArrowDown")
    assert reading.inner_text().startswith("icmp 0 B: 45.")
    page.keyboard.press("ArrowRight")
    assert reading.inner_text().startswith("icmp 1 B: ")
    page.keyboard.press("Escape")
    assert reading.inner_text() == ""


def test_everything_is_reached_by_the_tab_key(wide: Any) -> None:
    seen = set()
    for _ in range(80):
        wide.page.keyboard.press("Tab")
        name = "document.activeElement.id || document.activeElement.classList[0] || document.activeElement.tagName"
        seen.add(wide.page.evaluate(name))
    assert {"skip", "theme", "scroll", "plot", "SUMMARY", "SELECT", "INPUT", "PRE"} <= seen


@pytest.mark.parametrize("choice", ["times the wire", "time"])
def test_switches_take_floor_and_wire_away_and_bring_them_back(wide: Any, choice: str) -> None:
    """In every picture of the figure."""
    page = wide.page
    page.locator("#p1-time [data-choose]").select_option(choice)
    for role, count in (("floor", len(made_up.START_NS)), ("wire", 1 if choice == "times the wire" else 2)):
        drawn = f"(plot) => plot._fullData.filter((one) => one.visible === true && one.meta.role === '{role}').length"
        assert page.locator("#p1-time .plot").evaluate(drawn) == count
        page.locator(f"#p1-time [data-role={role}]").uncheck()
        assert page.locator("#p1-time .plot").evaluate(drawn) == 0
        page.locator(f"#p1-time [data-role={role}]").check()
        assert page.locator("#p1-time .plot").evaluate(drawn) == count


def test_a_choice_changes_the_figure_and_its_table(wide: Any) -> None:
    page = wide.page
    before = page.locator("#p1-spread .xtick").all_text_contents()
    page.locator("#p1-spread [data-choose]").select_option("1 KiB")
    assert page.locator("#p1-spread .xtick").all_text_contents() != before
    page.locator("#p1-spread summary").first.click()
    shown = [table for table in page.locator("#p1-spread .scroll").all() if table.is_visible()]
    assert len(shown) == 1 and "Messages of 1 KiB" in shown[0].inner_text()


def test_a_virtual_lan_is_called_one_above_the_answer(wide: Any) -> None:
    page = wide.page
    said = page.locator(".where").inner_text()
    assert said.startswith("On a virtual LAN of one machine, not on a real network: lab demo, switch, timed")
    assert said.endswith("Its frames take their true time.") and "100\u00a0Mb/s" in said
    page.locator("#cost summary", has_text="What the columns mean").first.click()
    assert "median over launches" in page.locator("#cost .hints").first.inner_text()


def test_verdicts_are_found_and_open(wide: Any) -> None:
    page = wide.page
    page.locator("nav a", has_text="who is faster").click()
    section = page.locator("#p1-verdicts")
    section.locator("td.faster").first.wait_for()
    assert section.locator("li").count() == 10
    assert not section.locator("caption", has_text="icmp against eth").first.is_visible()
    section.locator("summary", has_text="Everything behind").click()
    table = section.locator("details:has-text('Everything behind') .scroll").first
    assert table.is_visible() and "time ratio" in table.inner_text()


def test_no_axis_label_lies_on_another_and_no_button_on_a_legend(wide: Any) -> None:
    assert wide.page.evaluate(OVERLAPS) == []
    assert wide.page.locator(".modebar-group").first.bounding_box()["width"] > 0 and wide.page.evaluate(COVERED) == []


def test_what_a_legend_hides_is_hidden_in_every_figure_until_a_legend_shows_it(plain: Path, open_page: Open) -> None:
    opened = open_page(plain)
    opened.draw("p1-time", "p1-rate", "p1-spread")
    page = opened.page
    gone = "(plot) => plot.data.filter((one) => one.visible === 'legendonly').map((one) => one.name)"
    page.locator("#p1-time .legendtoggle").nth(2).click()
    page.locator("#p1-rate .traces[style*='opacity: 0.5']").first.wait_for()
    assert page.locator("#p1-rate .plot").evaluate(gone) == ["eth", "eth floor"]
    assert page.locator("#p1-spread .plot").evaluate(gone) == ["eth"]
    page.locator("#p1-time [data-choose]").select_option("time")
    assert page.locator("#p1-time .plot").evaluate(gone) == ["eth", "eth floor"]
    page.locator("#p1-spread .legendtoggle").nth(1).click()
    page.locator("#p1-rate .traces[style*='opacity: 0.5']").first.wait_for(state="detached")
    assert page.locator("#p1-time .plot").evaluate(gone) == []


def _paint(page: Any) -> tuple[str, str, str]:
    """(page colour, ink of the words, ink of a figure's axis)."""
    return tuple(
        page.evaluate(
            "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color,"
            " getComputedStyle(document.querySelector('#p1-time .xtick text')).fill]"
        )
    )


def test_dark_and_light_follow_the_system_and_the_button_even_after_a_reload(plain: Path, open_page: Open) -> None:
    light, dark = open_page(plain), open_page(plain, color_scheme="dark")
    for opened in (light, dark):
        opened.draw("p1-time")
    bright, dim = _paint(light.page), _paint(dark.page)
    assert bright[0] == "rgb(255, 255, 255)" and dim[0] == "rgb(23, 29, 36)"
    assert bright[2] == bright[1] and dim[2] == dim[1]
    light.page.locator("#theme").click()
    assert _paint(light.page) == dim
    light.page.locator("#theme").click()
    assert _paint(light.page) == bright
    light.page.locator("#theme").click()
    light.page.reload()
    assert light.page.evaluate("getComputedStyle(document.body).backgroundColor") == dim[0]


def test_a_phone_scrolls_only_down_and_reads_every_label(plain: Path, open_page: Open) -> None:
    opened = open_page(plain, **PHONE)
    opened.draw_all()
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert opened.page.evaluate(OVERLAPS) == [] and opened.page.evaluate(COVERED) == []


def test_hostile_strings_are_words_and_nothing_else(hostile: Path, open_page: Open) -> None:
    """On a phone, where they have least room."""
    opened = open_page(hostile, **PHONE)
    opened.draw_all()
    page = opened.page
    assert opened.complaints == [] and opened.requests == [hostile.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.title() == "What does a message cost between these 4 hosts?"
    assert page.locator("img").count() == 0 and page.locator("script").count() == 4
    assert made_up.HOSTILE in page.locator("#repeat pre").last.inner_text()
    assert any(made_up.HOSTILE in text for text in page.locator("#hosts-map .ytick").all_text_contents())


def test_on_paper_it_is_light_and_drawn_with_the_tables_that_are_open(plain: Path, open_page: Open) -> None:
    opened = open_page(plain, color_scheme="dark")
    page = opened.page
    opened.draw("p1-rate")
    page.locator("#p1-rate summary").first.click()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".plot .main-svg").first.is_visible() and _paint(page)[0] == "rgb(255, 255, 255)"
    assert page.locator("figure.widget:not(:has(.main-svg))").count() == 0
    for plot in page.locator(".plot").all():
        drawn, room = plot.locator(".main-svg").first.bounding_box(), plot.bounding_box()
        assert drawn["height"] <= room["height"] + 1 and drawn["width"] <= room["width"] + 1
    assert page.evaluate(OVERLAPS) == []
    page.set_viewport_size(A4)
    assert page.evaluate(BEYOND) == []
    tables = [one.get_attribute("aria-label") for one in page.locator(".scroll").all() if one.is_visible()]
    assert len(tables) == 5 and "Rate by size (MB = 10⁶ bytes)" in tables
    assert not page.locator("#theme").is_visible() and not page.locator("nav").is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert _paint(page)[0] == "rgb(23, 29, 36)"


STILLS = """() => [...document.querySelectorAll("figure.widget")].map((one) => {
  const box = one.querySelector(".still svg").getBoundingClientRect();
  return box.width > 300 && box.height > 150 && !one.querySelector(".plot").getBoundingClientRect().height;
})"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_without_scripts_has_answer_tables_and_still_pictures(plain: Path, open_page: Open, scheme: str) -> None:
    page = open_page(plain, java_script_enabled=False, color_scheme=scheme).page
    assert "53.4\u00a0µs" in page.locator(".lead").inner_text()
    assert page.locator("#cost table").first.is_visible()
    assert not page.locator("#theme").is_visible() and not page.locator(".controls").first.is_visible()
    assert page.evaluate(STILLS) == [True] * 5
    inks = [one.evaluate("(e) => getComputedStyle(e).fill") for one in page.locator("#p1-time .still text").all()]
    assert set(inks) == {page.evaluate("getComputedStyle(document.body).color")}


def test_where_nothing_unpacks_the_library_the_still_pictures_stay(
    plain: Path, open_page: Open, tmp_path: Path
) -> None:
    """A browser that is too old."""
    old = tmp_path / "old.html"
    old.write_text(plain.read_text().replace('id="library">', 'id="library">not packed'))
    opened = open_page(old)
    opened.page.locator("#theme").wait_for()
    assert opened.page.evaluate(STILLS) == [True] * 5 and opened.complaints == []
    assert not opened.page.locator(".controls").first.is_visible()


def test_one_message_for_many_is_drawn_by_size_and_by_receivers(many: Path, open_page: Open) -> None:
    """On a phone, where labels have least room."""
    opened = open_page(many, **PHONE)
    page = opened.page
    page.locator("nav a", has_text="many at once").click()
    opened.draw_all()
    assert page.locator("#fanout-size .scatterlayer .trace").count() == 5
    page.locator("#fanout-receivers [data-choose]").select_option("8 B")
    page.locator("#fanout-receivers .plot").focus()
    for key in ("ArrowRight", "ArrowUp", "ArrowRight"):
        page.keyboard.press(key)
    assert page.locator("#fanout-receivers .reading").inner_text().startswith("tcp to 2: ")
    assert opened.page.evaluate(OVERLAPS) == [] and opened.complaints == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("#cost").count() == 0


RUNS = ["2026-01-02", "2026-01-03", "2026-01-04"]


@pytest.mark.slow
def test_several_runs_are_one_page_whose_legends_hide_a_run_in_every_figure(several: Path, open_page: Open) -> None:
    opened = open_page(several)
    page = opened.page
    assert "in 3 runs?" in page.locator("h1").inner_text() and "virtual LAN" in page.locator(".where").inner_text()
    opened.draw_all()
    shown = "(plot) => plot.data.filter((one) => one.meta.role === 'typical').map((one) => [one.name, one.visible])"
    assert [name for name, _ in page.locator("#stack-1 .plot").evaluate(shown)] == RUNS
    page.locator("#stack-1 .legendtoggle").nth(2).click()
    page.locator("#stack-2 .traces[style*='opacity: 0.5']").first.wait_for()
    hidden = [name for name, visible in page.locator("#stack-2 .plot").evaluate(shown) if visible == "legendonly"]
    assert hidden == [RUNS[1]]
    page.locator("#by-date [data-choose]").select_option("64 B")
    page.locator("#by-date .plot").focus()
    page.keyboard.press("ArrowRight")
    assert "2026-01-02 00:00: " in page.locator("#by-date .reading").inner_text()
    assert opened.complaints == [] and opened.requests == [several.as_uri()]


@pytest.mark.slow
def test_several_runs_on_a_phone_on_paper_and_without_scripts(several: Path, open_page: Open) -> None:
    opened = open_page(several, **PHONE)
    page = opened.page
    opened.draw_all()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate(OVERLAPS) == [] and page.evaluate(COVERED) == []
    page.emulate_media(media="print")
    page.set_viewport_size(A4)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("figure.widget:not(:has(.main-svg))").count() == 0 and page.evaluate(OVERLAPS) == []
    assert page.evaluate(BEYOND) == []
    still = open_page(several, java_script_enabled=False).page
    assert still.evaluate(STILLS) == [True] * 3
    inside = still.locator("#by-date .still text").all_text_contents()
    assert set(RUNS) <= set(inside) and "slower (+) or faster (−), %" in inside
