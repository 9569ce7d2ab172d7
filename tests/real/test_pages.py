"""Pages over the publishers' own files: gaps of years stay gaps, what is old is told as old, and no page denies what is held."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import pytest

from almanac.pipeline.ingest.mirrored import from_mirror
from almanac.pipeline.workplace import Workplace
from tests.support.browser import Browser
from tests.support.page_visitor import dashboard, signed_in
from tests.support.service import Service, make_accounts, settings

from .files import FOLDER, REAL

pytestmark = [*REAL, pytest.mark.slow]

#: When the files were looked at by eye; and three sources that between them have gaps, an end long ago, and a newest month.
NOW = "2026-11-01T12:00:00Z"
SOURCES = ("us-treasury-par", "bls", "rba")
YIELDS = "us-treasury-par:country_usa:gov_yield_10y:D"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    home = tmp_path_factory.mktemp("pages") / "home"
    with Workplace(settings(home, NOW=NOW)) as place:
        from_mirror(place, [place.catalog.sources[name] for name in SOURCES], FOLDER, lambda _: None)
    make_accounts(settings(home, NOW=NOW))
    one = Service(home, more={"NOW": NOW})
    yield one
    one.close()


@pytest.fixture(scope="module")
def browser(service: Service) -> Browser:
    return signed_in(dashboard(service))


def look(browser: Browser, path: str, **query: str) -> str:
    answer = browser.get(path, **query)
    assert answer.status_code == 200, answer.text
    return answer.text


def test_a_line_is_not_drawn_through_years_that_nobody_has(service: Service, browser: Browser) -> None:
    rows = service.walk("/observations", indicator="gov_yield_10y", country="USA")
    years = sorted({int(row["periodEnd"][:4]) for row in rows})
    assert any(after - before > 3 for before, after in itertools.pairwise(years))
    runs = 1 + sum(after - before > 1 for before, after in itertools.pairwise(years))
    text = look(browser, f"/series/{YIELDS}", **{"from": "all"})
    drawing = text.partition('<svg class="chart wide"')[2].partition("</svg>")[0]
    (line,) = re.findall(r'<path class="line c1" d="([^"]+)"', drawing)
    assert line.count("M") >= runs
    points = browser.get(f"/series/{YIELDS}/points.json", **{"from": "all"}).json()
    assert points["values"].count(None) >= runs - 1
    assert len([value for value in points["values"] if value is not None]) == len(rows)


def test_what_ended_years_ago_is_not_ranked_beside_what_is_new(service: Service, browser: Browser) -> None:
    told = service.ok("/observations/latest", indicator="gov_yield_10y", limit=500)
    stale = {row["entityId"] for row in told if row["freshnessStatus"] == "stale"}
    assert {"country_usa", "country_aus"} <= stale
    text = look(browser, "/indicators/gov_yield_10y")
    drawn = re.findall(r'<path class="(\w+)" d="[^"]+"><title>([^:]+): ([^<]+)<', text)
    assert {kind for kind, name, _ in drawn if name in {"United States", "Australia"}} == {"old"}
    assert all("stale" in words for kind, _, words in drawn if kind == "old")
    rows = re.findall(r'name="entities" value="([^"]+)".*?</tr>', text, re.DOTALL)
    assert set(rows) == {row["entityId"] for row in told}


def test_the_map_of_economies_colours_nothing_old(service: Service, browser: Browser) -> None:
    text = look(browser, "/countries", section="rates")
    table = text.partition('id="heat"')[2].partition("</table>")[0]
    brief = service.ok("/briefs/united-states")
    readings = [reading for one in brief["sections"] if one["key"] == "rates" for reading in one["readings"]]
    assert readings
    row = next(part for part in table.split("<tr>") if "United States" in part)
    assert row.count("<small>stale</small>") == sum(one["freshnessStatus"] == "stale" for one in readings)
    assert not re.search(r'<td class="p\d"[^>]*>.*?stale', row)


@pytest.mark.parametrize("place", ["united-states", "australia"])
def test_a_country_has_a_line_for_what_is_held(service: Service, browser: Browser, place: str) -> None:
    text = look(browser, f"/countries/{place}")
    brief = service.ok(f"/briefs/{place}")
    held = service.ok("/observations/latest", entity_id=brief["entityId"], limit=500)
    assert len(held) > 3
    for row in held:
        assert f"/series/{row['metadata']['seriesId']}" in text
    assert text.count('class="spark"') > len(held) // 2


def test_every_page_of_what_is_held_can_be_opened(service: Service, browser: Browser) -> None:
    for row in service.walk("/indicators"):
        if row["entityCount"] and row["category"] != "fundamentals":
            text = look(browser, f"/indicators/{row['slug']}")
            assert "Latest readings" in text
