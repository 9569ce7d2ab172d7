"""The search box: what is called so before what only shares letters, large economies first, and nothing for nonsense."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.support.browser import Browser
from tests.support.service import Service


def offered(browser: Callable[..., Browser], words: str) -> list[tuple[str, str]]:
    return [(one["kind"], one["href"]) for one in browser().get("/search.json", q=words).json()]


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


def test_a_slip_in_one_word_is_mended(browser: Callable[..., Browser]) -> None:
    assert (
        '<a href="/search?q=inflation+japan">inflation japan</a>' in browser().get("/search", q="inflatoin japan").text
    )
