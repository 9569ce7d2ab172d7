"""
What people come for, done in a real browser at the width of a phone and of a desk, each in at most five presses.

A press is a link, a button or a choice in a list; what is typed is not one, and Enter is. All begin on the first page.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from .conftest import WIDTHS, Served, Visitor

MOST = 5

pytestmark = [pytest.mark.slow, pytest.mark.browser]


class Hand:
    """Somebody at the first page who counts what they press."""

    def __init__(self, page: Any, base: str) -> None:
        self.page, self.base, self.presses = page, base, 0

    def press(self, what: Any) -> None:
        what.click()
        self.presses += 1
        self.page.wait_for_load_state("networkidle")

    def link(self, name: str) -> None:
        """Press the first link of this name that is on screen."""
        self.press(self.page.get_by_role("link", name=name, exact=True).locator("visible=true").first)

    def search(self, words: str) -> None:
        """Type into the one box and press Enter."""
        self.page.fill("#search", words)
        self.page.locator("#search").press("Enter")
        self.presses += 1
        self.page.wait_for_load_state("networkidle")

    def part(self, name: str) -> None:
        """Go to a part of the site: on a phone it is behind the menu."""
        menu = self.page.locator("summary", has_text="Menu")
        if menu.is_visible():
            self.press(menu)
        self.link(name)

    def choose(self, where: Any, option: str) -> None:
        """Choose from a list."""
        where.select_option(option)
        self.presses += 1

    def done(self) -> int:
        """How many presses it took; the page must fit the screen."""
        assert self.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        return self.presses


@pytest.fixture(params=WIDTHS)
def hand(request: pytest.FixtureRequest, visitor: Callable[..., Visitor]) -> Hand:
    one = visitor("pro", request.param)
    one.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    one.go("/")
    return Hand(one.page, one.base)


def core_inflation(hand: Hand) -> str:
    """Find core inflation of the United States: the number."""
    hand.search("us core inflation")
    hand.link("Core consumer price inflation: United States")
    return hand.page.locator(".figures .big .number").inner_text()


def german_gdp(hand: Hand) -> str:
    """What was known of German GDP on the first of May 2024: the sentence."""
    hand.search("german gdp")
    hand.link("Real GDP growth: Germany")
    hand.page.fill("input[name=as_of]", "2024-05-01")
    hand.press(hand.page.get_by_role("button", name="Show").first)
    return hand.page.locator("[data-part=known]").inner_text()


def strong_companies(hand: Hand) -> list[str]:
    """Which companies have an F-Score of eight or more: their names."""
    hand.part("Screeners")
    hand.link("Equity screener")
    row = hand.page.locator(".filter").first
    hand.choose(row.locator("select").first, "piotroski_f")
    row.locator("input").fill("8")
    hand.press(hand.page.locator("button.primary", has_text="Apply"))
    return hand.page.locator("#results tbody th").all_inner_texts()


def why_withheld(hand: Hand) -> str:
    """Why a value is withheld: what the page says of its licence."""
    hand.search("consumer confidence us")
    hand.link("Consumer confidence: United States")
    hand.press(hand.page.get_by_role("link", name="Read the licence").first)
    return hand.page.locator("main").inner_text()


def key_and_curl(hand: Hand) -> str:
    """Make a key and copy the request to paste: what the clipboard holds."""
    hand.part("Keys")
    hand.page.fill("#create input[name=name]", "Pasted")
    hand.press(hand.page.get_by_role("button", name="Create key"))
    hand.press(hand.page.get_by_role("button", name="Copy the request"))
    return hand.page.evaluate("navigator.clipboard.readText()")


def test_times_stand_in_the_readers_zone_too(
    served: Served, chromium: Any, cookies: dict[str, list[dict[str, str]]]
) -> None:
    seen = []
    for zone, script in (("Asia/Kolkata", True), ("UTC", True), ("Asia/Kolkata", False)):
        context = chromium.new_context(timezone_id=zone, java_script_enabled=script)
        context.add_cookies(cookies["pro"])
        page = context.new_page()
        page.goto(served.dashboard + "/calendar?from=2026-11-01&category=issuer_filing")
        time = page.locator("time[data-clock]").first
        at = datetime.fromisoformat(time.get_attribute("datetime"))
        assert time.inner_text() == f"{at:%H:%M}"
        below = time.locator("xpath=following-sibling::small[contains(., 'GMT')]")
        seen.append((below.inner_text() if below.count() else "", time.get_attribute("title")))
        context.close()
    there = at.astimezone(ZoneInfo("Asia/Kolkata"))
    own = f"{there:%H:%M} GMT+5:30" if there.date() == at.date() else f"{there:%a %H:%M} GMT+5:30"
    assert seen == [(own, f"{at:%H:%M} UTC"), ("", None), ("", None)]


def test_paper_says_when_it_was_printed(hand: Hand) -> None:
    hand.page.emulate_media(media="print")
    foot = hand.page.locator(".printed")
    assert re.search(r"/, read \d{4}-\d\d-\d\d, \d\d:\d\d UTC$", foot.inner_text())
    hand.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert re.search(r"/, printed \d{4}-\d\d-\d\d, \d\d:\d\d UTC$", foot.inner_text())


def test_find_core_inflation(hand: Hand) -> None:
    assert re.fullmatch(r"−?\d+\.\d%", core_inflation(hand))
    assert hand.done() <= 2


def test_what_was_known_of_german_gdp(hand: Hand) -> None:
    assert "Known on 1 May 2024: newest quarter 2024 Q1" in german_gdp(hand).replace("\xa0", " ")
    assert hand.done() <= 3


def test_companies_with_a_high_score(hand: Hand) -> None:
    names = strong_companies(hand)
    assert names
    assert hand.done() <= MOST


def test_why_a_value_is_withheld(hand: Hand) -> None:
    assert "redistribution" in why_withheld(hand)
    assert hand.done() <= 3


def test_a_key_and_its_request(hand: Hand) -> None:
    pasted = key_and_curl(hand)
    assert hand.done() <= 4
    found = subprocess.run(["sh", "-c", pasted], capture_output=True, text=True, check=False)
    assert '"observations"' in found.stdout, (pasted, found.stderr)
