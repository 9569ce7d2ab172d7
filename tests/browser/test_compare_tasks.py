"""Comparing in a real browser: five places on one chart with a past day, by keyboard and by pointer, wide and narrow, light and dark."""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import openpyxl
import pytest

from .conftest import DESK, PHONE, Visitor

pytestmark = [pytest.mark.slow, pytest.mark.browser]

PLACES = ("United States", "Japan", "United Kingdom", "Canada", "Australia")
WORDS = "gov_yield_10y usa japan uk canada australia"


def quiet(page: Any) -> None:
    page.wait_for_load_state("networkidle")


def plain(text: str) -> str:
    return text.replace("\xa0", " ")


@pytest.mark.parametrize(("width", "scheme"), [(DESK, "light"), (PHONE, "dark")])
def test_five_places_on_one_chart_with_a_past_day(visitor: Callable[..., Visitor], width: int, scheme: str) -> None:
    one = visitor("pro", width, scheme=scheme)
    one.go("/")
    page = one.page
    page.fill("#search", WORDS)
    page.locator("#search").press("Enter")
    page.wait_for_url("**/compare?**")
    quiet(page)
    ends = page.locator("svg.chart:visible text.end").all_inner_texts()
    assert len(ends) == len(PLACES)
    boxes = sorted(
        (box["y"], box["height"]) for box in [end.bounding_box() for end in page.locator("svg.chart:visible text.end").all()]
    )  # fmt: skip
    assert all(above + height <= below + 1 for (above, height), (below, _) in pairwise(boxes))
    # The plot stands on the first screen of a desk.
    plot = page.locator("svg.chart:visible").bounding_box()
    assert width == PHONE or plot["y"] + plot["height"] <= 900
    # A line of a past day, by the keyboard alone.
    page.locator("#known-1").focus()
    page.keyboard.type("2026-10-30")
    page.keyboard.press("Enter")
    page.wait_for_url("**known=1:2026-10-30**")
    page.locator("label[for=on-1]", has_text="known on").wait_for()
    assert plain(page.locator("label[for=on-1]").inner_text()) == "United States, known on 30 Oct 2026"
    assert page.evaluate("document.activeElement.id") == "known-1"
    # One is ticked off: the address and the table follow, and the box keeps the focus.
    page.locator("#on-5").focus()
    page.keyboard.press("Space")
    page.wait_for_url("**off=5**")
    page.wait_for_function("() => document.querySelectorAll('#table thead th').length === 5")
    assert page.evaluate("document.activeElement.id") == "on-5"
    page.go_back()
    page.wait_for_function("() => document.querySelectorAll('#table thead th').length === 6")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


@pytest.mark.parametrize("width", [DESK, PHONE])
def test_values_are_read_by_keys_and_by_pointer(visitor: Callable[..., Visitor], width: int) -> None:
    one = visitor("pro", width)
    one.go("/compare?indicator=gov_yield_10y&entities=usa,jpn,gbr")
    page = one.page
    quiet(page)
    plot = page.locator("[data-chart]")
    plot.focus()
    page.keyboard.press("End")
    readout = page.locator(".readout")
    page.wait_for_function("() => document.querySelector('.readout').textContent")
    told = plain(readout.inner_text())
    assert re.fullmatch(r"United States, \d+ \w{3} 2026: \d\.\d\d%, known since \d+ \w{3} 2026", told)
    page.keyboard.press("ArrowDown")
    page.wait_for_function("() => document.querySelector('.readout').textContent.startsWith('Japan')")
    # The words stand within the chart, and do not widen the page.
    box, chart = page.locator(".mark-words").bounding_box(), plot.bounding_box()
    assert chart["x"] - 1 <= box["x"]
    assert box["x"] + box["width"] <= chart["x"] + chart["width"] + 1
    page.keyboard.press("Escape")
    page.wait_for_function("() => !document.querySelector('.readout').textContent")
    page.mouse.move(chart["x"] + chart["width"] * 0.4, chart["y"] + chart["height"] * 0.3)
    page.wait_for_function("() => document.querySelector('.readout').textContent")
    beside = page.locator(".beside li").all_inner_texts()
    assert beside  # a holiday of one place is a day without it
    assert all(re.fullmatch(r"(United States|Japan|United Kingdom): \d\.\d\d%", line) for line in beside)


def test_a_spreadsheet_and_a_picture_are_saved(visitor: Callable[..., Visitor]) -> None:
    one = visitor("pro")
    one.go("/compare?indicator=gov_yield_10y&entities=usa,jpn&show=change")
    page = one.page
    found = {}
    for name in ("XLSX", "SVG"):
        with page.expect_download() as waiting:
            page.get_by_role("link", name=name).click()
        found[name] = waiting.value.path().read_bytes()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="PNG").click()
    png = waiting.value.path().read_bytes()
    # Twice as wide and as high as the picture says of itself.
    size = re.search(rb'viewBox="0 0 (\d+) (\d+)" width', found["SVG"])
    assert size is not None
    assert (png[:8], struct.unpack(">2I", png[16:24])) == (
        b"\x89PNG\r\n\x1a\n",
        tuple(2 * int(one) for one in size.groups()),
    )
    book = openpyxl.load_workbook(io.BytesIO(found["XLSX"]))
    assert book.sheetnames == ["Data", "About"]
    row = next(book["Data"].iter_rows(min_row=2, values_only=True))
    assert row[1].year == 2026
    assert isinstance(row[3], int | float)
    labels = [cell for (cell,) in book["About"].iter_rows(max_col=1, values_only=True) if cell]
    assert labels[:5] == ["Title", "As of", "Shown", "How computed", "Address"]
    assert b"Computed here from" in found["SVG"]


def test_it_is_whole_without_script(visitor: Callable[..., Visitor]) -> None:
    one = visitor("pro", script=False)
    one.go("/compare?indicator=gov_yield_10y&entities=usa,jpn")
    page = one.page
    page.uncheck("#on-2")
    page.fill("#known-1", "2026-10-30")
    page.get_by_role("button", name="Draw").click()
    assert page.url.endswith("/compare?indicator=gov_yield_10y&entities=usa,jpn&off=2&known=1:2026-10-30")
    assert page.locator("svg.chart:visible text.end").count() == 1
    assert page.locator("#table tbody tr").count() > 10
