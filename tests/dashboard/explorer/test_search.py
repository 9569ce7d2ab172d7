"""The search box: what is called so before what only shares letters, large economies first, and nothing for nonsense."""

import re
from collections.abc import Callable

import pytest

from almanac.load_state import noted
from tests.contract.test_rights import NO_CONSENT
from tests.support.browser import Browser
from tests.support.page_visitor import dashboard, signed_in
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


# -- while something is loaded every page says what, to those who are signed in; afterwards none does -----------------


def test_pages_say_what_is_still_loading(browser, service):
    one, stranger = browser("pro"), browser("nobody")
    assert "Still loading" not in one.get("/").text
    with noted(service.settings.home, "the simulated world") as note:
        shown = one.get("/").text
        assert "Still loading the simulated world. Until then pages may lack what is yet to come." in shown
        note("pages, 1,200 of 9,000 <b>")
        assert "Still loading the simulated world: pages, 1,200 of 9,000 &lt;b&gt;. Until" in one.get("/sources").text
        assert "Still loading" not in stranger.get("/signin").text
    assert "Still loading" not in one.get("/sources").text


# -- what an operator has to set to show values is on pages for operators alone ---------------------------------------


PAGES = (
    "/", "/rates", "/rates/USA", "/rates/JPN", "/sources", "/sources/fred", "/screeners/macro/fields", "/countries/united-states",
    "/indicators/gov_yield_10y", "/series/fred:country_usa:cpi_index_nsa:M", "/search?q=inflation&all=1",
)  # fmt: skip


def test_names_of_settings_are_for_operators(own: Service) -> None:
    with own.world(**NO_CONSENT):
        pass  # FRED withheld, with a reason that says which settings would lift it
    app = dashboard(own)
    reader, operator = signed_in(app), signed_in(app, "op")
    told = 0
    for path in PAGES:
        text, whole = reader.get(path).text, operator.get(path).text
        assert "ALMANAC_SOURCES" not in text, path
        told += "ALMANAC_SOURCES" in whole
    assert told >= 2
