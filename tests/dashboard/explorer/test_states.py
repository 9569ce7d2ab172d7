"""What finding pages say when there is nothing, too much, something else, something withheld, or another day."""

import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

from almanac.pipeline.context import REAL, PipelineContext
from almanac.reports.wording import country
from tests.contract import invented_companies
from tests.support.browser import Browser
from tests.support.service import Service, make_accounts, settings

from .conftest import dashboard

SHUT, SHOWN = "fred:country_usa:high_yield_spread:D", "fred:country_usa:cpi_index_nsa:M"


@pytest.fixture
def look(browser: Callable[..., Browser]) -> Callable[..., str]:
    """The words of a page's main part, with one space between them."""

    def words(path: str, status: int = 200, plan: str = "pro", **query: str) -> str:
        answer = browser(plan).get(path, **query)
        assert answer.status_code == status
        return said(answer.text)

    return words


def said(text: str) -> str:
    main = text[text.index("<main") : text.index("</main>")]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", main)).replace("\xa0", " ").split())


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """Pages of a store that nobody has taken anything into."""
    home: Path = tmp_path_factory.mktemp("empty") / "home"
    with PipelineContext(settings(home), REAL):
        pass
    make_accounts(settings(home))
    service = Service(home)
    one = Browser(dashboard(service))
    one.cookies["almanac"] = "pro"

    def words(path: str) -> str:
        answer = one.get(path)
        assert answer.status_code == 200
        return said(answer.text)

    yield words
    service.close()


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/", "Nothing was taken in yet."), ("/", "No release is known yet."), ("/countries", "0 countries"),
        ("/calendar", "No events between"), ("/search?q=zzqqxx", "Nothing matches “zzqqxx”."),
        ("/companies", "compan"), ("/indicators", "indicators"), ("/sources", "Sources and licences"), ("/rates", "Rates"),
    ],
)  # fmt: skip
def test_an_empty_store_has_all_pages(empty: Callable[[str], str], path: str, sentence: str) -> None:
    assert sentence in empty(path)


# -- search -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "address"),
    [
        (SHOWN, f"/series/{SHOWN}"),
        ("cpiaucns", f"/series/{SHOWN}"),
        ("JPN", "/countries/japan"),
        ("United States", "/countries/united-states"),
    ],
)
def test_the_one_thing_of_a_name_is_gone_to(browser: Callable[..., Browser], words: str, address: str) -> None:
    answer = browser().get("/search", q=words)
    assert (answer.status_code, unquote(answer.headers["location"])) == (303, address)


def test_series_of_companies_are_called_by_the_company(tmp_path: Path) -> None:
    made = invented_companies.companies(6)
    invented_companies.build(tmp_path / "home", made)
    service = Service(tmp_path / "home")
    one = Browser(dashboard(service))
    one.cookies["almanac"] = "pro"
    text = said(one.get("/search", q="net margin").text)
    service.close()
    assert "company_0" not in text
    assert any("net_margin" in company.values for company in made)
    assert all(f"Net margin: {company.name}" in text for company in made if "net_margin" in company.values)


def test_a_code_that_is_a_ticker_too_shows_both(look: Callable[..., str], service: Service) -> None:
    candidates = service.ok("/entities/resolve", alias="USA")["candidates"]
    assert {one["type"] for one in candidates} == {"country", "company"}
    text = look("/search", q="USA")
    assert all(one["name"] in text for one in candidates)


@pytest.mark.parametrize(
    ("words", "place", "indicator"),
    [
        ("10 year treasury", "country_usa", "gov_yield_10y"),
        ("10-year treasuries", "country_usa", "gov_yield_10y"),
        ("JGB 10 year", "country_jpn", "gov_yield_10y"),
        ("treasury slope", "country_usa", "yield_slope_2s10s"),
    ],
)
def test_a_word_of_a_market_means_its_place(
    browser: Callable[..., Browser], words: str, place: str, indicator: str
) -> None:
    """Not those of five other countries: a treasury is of the United States, a JGB of Japan."""
    text = browser().get("/search", q=words, all="1").text
    found = re.findall(r'href="/series/[a-z-]+:(\w+):(\w+):', text)
    assert (place, indicator) in found
    assert {one for one, _ in found} == {place}


def test_suggestions_are_few_and_lead_somewhere(browser: Callable[..., Browser]) -> None:
    assert browser().get("/search.json").json() == []
    offered = browser().get("/search.json", q="inflation").json()
    assert 0 < len(offered) <= 8
    for one in offered:
        assert browser().get(one["href"]).status_code == 200, one


@pytest.mark.parametrize(
    ("words", "whole"),
    [
        ("inflation unit", "inflation united states"),
        ("inflation of unit", "inflation united states"),
        ("uni inflation", "inflation united states"),
        ("10-year jap", "10-year japan"),
    ],
)
def test_a_place_is_known_by_the_beginning_of_its_name(browser: Callable[..., Browser], words: str, whole: str) -> None:
    offered = [
        [one["href"] for one in browser().get("/search.json", q=typed).json() if one["kind"] == "series"]
        for typed in (words, whole)
    ]
    assert offered[0] == offered[1]
    assert offered[0]
    assert all(href in unquote(browser().get("/search", q=words).text) for href in map(unquote, offered[0]))


def test_a_beginning_of_a_name_takes_no_word_from_indicators(browser: Callable[..., Browser]) -> None:
    whole = browser().get("/search.json", q="retail sales").json()
    assert browser().get("/search.json", q="xxqq jap").json() == []
    assert browser().get("/search.json", q="retail sal").json() == whole


# -- countries ----------------------------------------------------------------------------------------------------------


def test_another_name_of_a_country_leads_to_its_page_with_its_day(browser: Callable[..., Browser]) -> None:
    answer = browser().get("/countries/country_usa", as_of="2026-10-01")
    assert (answer.status_code, answer.headers["location"]) == (301, "/countries/united-states?as_of=2026-10-01")


def test_before_anything_was_known_the_frame_of_a_brief_stays(look: Callable[..., str]) -> None:
    text = look("/countries/united-states", as_of="1990-01-01")
    assert "As known on 1 Jan 1990." in text
    for section in ("Growth", "Inflation", "Labour market", "Interest rates", "External position", "Public finances"):
        assert f"{section} Reading" in text, section
    assert text.count("Nothing of this is held for the United States as known on 1 Jan 1990.") == 6
    # Not that there is nothing at all: from when there is something.
    assert "Nothing of the United States was known here on 1 Jan 1990: its first values were known on" in text


def test_a_country_leads_to_all_its_series(look: Callable[..., str], service: Service) -> None:
    """A brief is of some indicators; what else is held of a place is named where it would say that there is nothing."""
    for slug in ("united-states", "japan", "euro-area"):
        text = look(f"/countries/{slug}")
        brief = service.ok(f"/briefs/{slug}")
        rows = service.ok("/observations/latest", entity_id=brief["entityId"], limit=500)
        categories = {row["id"]: row for row in service.walk("/indicators", limit=500)}
        for section in brief["sections"]:
            held = [row for row in rows if categories[row["indicatorId"]]["category"] == section["key"]]
            if not section["readings"]:
                said_so = (
                    f"held for {country(brief['name'])}: "
                    if held
                    else f"Nothing of this is held for {country(brief['name'])}."
                )
                assert said_so in text, (slug, section["key"])
        for row in rows:
            assert categories[row["indicatorId"]]["name"] in text


# -- calendar -----------------------------------------------------------------------------------------------------------


def test_the_calendar_of_a_past_day_knows_nothing_later(browser: Callable[..., Browser], service: Service) -> None:
    asked = {"start_date": "2026-11-01", "end_date": "2026-11-08", "order": "asc", "limit": 200}
    now, then = (service.ok("/events", **asked, **more) for more in ({}, {"as_of": "2026-11-05"}))
    assert [one["actual"] for one in then] != [one["actual"] for one in now]
    text = browser().get("/calendar", **{"from": "2026-11-01", "as_of": "2026-11-05"}).text
    known = {row["title"] for row in then}
    assert known
    assert all(html.escape(one, quote=False) in text for one in known)
    assert not any(row["title"] in text for row in now if row["title"] not in known)


# -- indicators and sources ---------------------------------------------------------------------------------------------


def test_an_indicator_before_anything_was_known(browser: Callable[..., Browser], look: Callable[..., str]) -> None:
    assert "As known on 1 Jan 2000." in look("/indicators/cpi_index_nsa", as_of="2000-01-01")
    text = browser().get("/indicators/cpi_index_nsa", as_of="2000-01-01").text
    assert 'class="none"' in text
    assert "data-value" not in text[text.index("<tbody") : text.index("</tbody>")]


def test_each_source_says_whether_its_values_are_shown(look: Callable[..., str], service: Service) -> None:
    sources = service.ok("/sources", limit=500)
    assert {one["rights"]["redistributable"] for one in sources} == {True, False}
    for one in sources:
        text = look(f"/sources/{one['id']}")
        assert one["name"] in text
        assert ("Withheld." in text) != one["rights"]["redistributable"], one["id"]


def test_late_sources_stand_first_among_all(own: Service) -> None:
    later = Service(own.home, {"NOW": "2027-03-01T12:00:00Z"})
    sources = later.ok("/sources", limit=500)
    late = [one["name"] for one in sources if one["health"] in {"late", "failing"}]
    browser = Browser(dashboard(later))
    browser.cookies["almanac"] = "pro"
    text = browser.get("/sources").text
    later.close()
    well = [text.index(one["name"]) for one in sources if one["health"] == "ok"]
    assert late
    assert well
    assert all(text.index(name) < min(well) for name in late)


# -- plans --------------------------------------------------------------------------------------------------------------
