"""The search box: what is called so before what only shares letters, large economies first, and nothing for nonsense."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from almanac.dashboard.explorer.places import by_size
from tests.support.browser import Browser
from tests.support.service import Service


def offered(browser: Callable[..., Browser], words: str) -> list[tuple[str, str]]:
    return [(one["kind"], one["href"]) for one in browser().get("/search.json", q=words).json()]


@pytest.mark.parametrize("words", ["fed funds", "Fed funds rate", "FED FUNDS"])
def test_fed_funds_are_the_target_range_and_the_rate_of_the_united_states(
    browser: Callable[..., Browser], words: str
) -> None:
    found = offered(browser, words)
    assert found[0] == ("series", "/series/fred:country_usa:policy_rate_upper:D")
    assert {"/indicators/policy_rate_upper", "/indicators/policy_rate_lower", "/indicators/overnight_rate"} <= {
        href for kind, href in found if kind == "indicator"
    }


@pytest.mark.parametrize("words", ["fed funds", "yield", "government yield", "rate", "SONIA"])
def test_the_box_finds_what_the_interface_finds(browser: Callable[..., Browser], service: Service, words: str) -> None:
    """In its order, but those first that there are values of."""
    told = service.ok("/indicators", q=words, sort="relevance", limit=500)
    slugs = [row["slug"] for row in sorted(told, key=lambda row: not row["entityCount"])][:10]
    page = browser().get("/search", q=words, all="1").text
    assert re.findall(r'href="/indicators/(\w+)"', page.split('id="indicators"')[1])[: len(slugs)] == slugs


def test_an_indicator_comes_before_the_countries_that_begin_like_it(browser: Callable[..., Browser]) -> None:
    kinds = [kind for kind, _ in offered(browser, "un")]
    assert kinds.index("indicator") < kinds.index("country")
    # What only mentions the letters comes after them.
    assert offered(browser, "jap")[0] == ("country", "/countries/japan")


def test_a_small_word_that_is_a_thing_is_no_ticker(browser: Callable[..., Browser]) -> None:
    """`gold` is the price of gold, whichever company has it for a ticker."""
    assert ("indicator", "/indicators/gold_price") in offered(browser, "gold")
    assert browser().get("/search", q="gold").status_code == 200


@pytest.mark.parametrize("words", ["zzqq xxyy", "waldo", "wall futures", "qwertz"])
def test_nonsense_gives_nothing(browser: Callable[..., Browser], words: str) -> None:
    text = browser().get("/search", q=words).text
    assert "Nothing matches" in text
    assert "Did you mean" not in text
    assert offered(browser, words) == []


def test_a_slip_in_one_word_is_mended(browser: Callable[..., Browser]) -> None:
    assert (
        '<a href="/search?q=inflation+japan">inflation japan</a>' in browser().get("/search", q="inflatoin japan").text
    )


def test_large_economies_come_first() -> None:
    """By output; the euro area, of which none is published, before all; those of which nothing is known last, as they came."""
    sizes = {"country_a": 1.0, "country_b": 30.0, "country_c": None}
    visit: Any = SimpleNamespace(
        look_up=lambda path, **_: SimpleNamespace(
            data=[{"entityId": one, "valueNumeric": size} for one, size in sizes.items()]
            if path == "/observations/latest"
            else [{"id": one, "ratesScope": one in {"region_e", "country_b"}} for one in (*sizes, "region_e")]
        )
    )
    rows = ["country_z", "country_a", "country_c", "region_e", "country_b"]
    assert by_size(visit, rows, str) == ["region_e", "country_b", "country_a", "country_z", "country_c"]
