"""Every number on a page is the interface's answer to the request that the page shows: over entities, days and plans."""

import random
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest

from almanac.dashboard.app import Dashboard
from almanac.dashboard.formatting.dates import day, event_title
from tests.contract.conftest import sandbox
from tests.support.invented_mirror import FREE_FROM
from tests.support.page_visitor import dashboard, signed_in
from tests.support.service import Service

from .shown import Shown

__all__ = ["sandbox"]

FIRST, TODAY = date(2023, 1, 1), date(2026, 11, 20)


@pytest.fixture(scope="module")
def app(service: Service) -> Dashboard:
    return dashboard(service)


def days(seed: int, count: int) -> list[str | None]:
    """Today, days on which something of the invented world changed, and any."""
    chance = random.Random(seed)
    span = (TODAY - FIRST).days
    return [
        None,
        "2026-11-18",
        "2026-11-19",
        *((FIRST + timedelta(chance.randrange(span))).isoformat() for _ in range(count)),
    ]


def look(app: Dashboard, path: str, who: str = "ada", status: int = 200, **query: str | None) -> Shown:
    answer = signed_in(app, who).get(path, **{name: value for name, value in query.items() if value is not None})
    assert answer.status_code == status, answer.text
    return Shown(answer.text)


def of(*numbers: Any) -> list[float]:
    """What is told, without what is not there."""
    return [float(one) for one in numbers if one is not None]


def number(text: str) -> int:
    """A count as it is written."""
    return int(text.replace(",", ""))


def plain(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("country", ["united-states", "japan", "euro-area"])
def test_a_brief(app: Dashboard, service: Service, country: str) -> None:
    filled = 0
    for as_of in days(len(country), 6):
        page = look(app, f"/countries/{country}", as_of=as_of)
        (brief,) = page.told(service, f"/briefs/{country}")
        assert ([("as_of" in params) for path, params in page.asked if "briefs" in path]) == [as_of is not None]
        assert plain(brief["headline"]) in page.words
        for section in brief["sections"]:
            # Of a section without readings the page tells what is held beside them, in words of its own.
            assert plain(section["text"]) in page.words or not section["readings"]
            rows = page.table(section["key"])
            assert len(rows) == len(section["readings"])
            for cells, told in zip(rows, section["readings"], strict=True):
                name, _, value, previous, change, _, ends, percentile, rank = cells
                assert name.text == plain(told["name"])
                assert value.values == of(told["value"])
                assert previous.values == of(told["previous"])
                assert (change.text == "") == (told["change"] is None)
                assert ends.text == plain(day(told["periodEnd"]))
                assert percentile.text == ("" if told["percentile10y"] is None else f"{told['percentile10y']:.0f}")
                assert rank.text == (f"{told['peerRank']} of {told['peerCount']}" if told["peerRank"] else "")
                filled += len(value.values)
        (held,) = page.told(service, "/observations/latest")
        assert {f"/series/{row['metadata']['seriesId']}" for row in held} <= {
            urlsplit(link).path for link in page.links("held")
        }
        assert len(page.values) == sum(
            len(of(r["value"], r["previous"])) for s in brief["sections"] for r in s["readings"]
        ) + sum(len(of(None if row["rights"]["valueWithheld"] else row["valueNumeric"])) for row in held)
        assert [row[0].text for row in page.table("next")] == [
            plain(event_title(one["title"])) for one in brief["upcomingEvents"][:5]
        ]
        assert [row[1].text for row in page.table("releases")] == [
            plain(one["headline"]) for one in brief["recentReleases"][:5]
        ]
    assert filled > 10 or country == "euro-area"


def test_each_indicator(app: Dashboard, service: Service) -> None:
    served = [row["slug"] for row in service.walk("/indicators", limit=500) if row["entityCount"]]
    chance, filled = random.Random(14), 0
    assert len(served) > 20
    for slug in served:
        for as_of in [None, *chance.sample(days(14, 12)[1:], 2)]:
            page = look(app, f"/indicators/{slug}", as_of=as_of)
            (rows,) = page.told(service, "/observations/latest")
            (record,) = page.told(service, f"/indicators/{slug}")
            # The highest stands first, whatever order the interface tells them in.
            table = [(cells[1].values, cells[5].text, cells[6].text) for cells in page.table("latest")]
            told = [(of(row["valueNumeric"]), plain(day(row["observedAt"])), row["sourceId"]) for row in rows]
            assert sorted(table, key=str) == sorted(told, key=str)
            series = "" if as_of else f" Series {record['seriesCount']:,}"
            assert f"Entities {len(rows):,}{series}" in page.words
            filled += len(page.values)
    assert filled > 50


@pytest.mark.parametrize("who", ["ada", "free"])
def test_the_calendar(app: Dashboard, service: Service, who: str) -> None:
    chance, filled = random.Random(who), 0
    plan = "pro" if who == "ada" else "free"
    for _ in range(24):
        since = FIRST if who == "ada" else date.fromisoformat(FREE_FROM)
        first = since + timedelta(chance.randrange((TODAY - since).days))
        as_of = chance.choice([None, None, *days(7, 3)[1:]]) if who == "ada" else None
        category = chance.choice([None, None, "macro_release", "issuer_filing"])
        country = chance.choice([None, None, "USA", "JPN"])
        query = {"from": first.isoformat(), "as_of": as_of, "category": category, "country": country}
        page = look(app, "/calendar", who, **query)
        told = page.told(service, "/events", plan)[0]
        by_day: dict[str, list[Any]] = {}
        for row in told:
            by_day.setdefault(row["occurredAt"][:10], []).append(row)
        for name, rows in by_day.items():
            for cells, row in zip(page.table(f"day-{name}"), rows, strict=True):
                assert plain(event_title(row["title"])) in cells[1].text
                assert cells[2].values == of(row["actual"], row["revisedActual"])
                moved = row["revisedPrevious"] is not None and row["revisedPrevious"] != row["previous"]
                assert cells[3].values == of(row["previous"], row["revisedPrevious"] if moved else None)
                assert cells[5].text == row["status"]
        assert len(page.values) == sum(
            len(row[2].values + row[3].values) for name in by_day for row in page.table(f"day-{name}")
        )
        filled += len(page.values)
    assert filled


WORDS = [
    "yield",
    "10y yield usa",
    "cpi usa",
    "prices japan",
    "unemployment united states",
    "gdp",
    "acme",
    "bolt",
    "widgets",
    "spread usa",
    "japan",
]


@pytest.mark.parametrize("who", ["ada", "free"])
def test_what_is_found(app: Dashboard, service: Service, who: str) -> None:
    filled, companies = 0, 0
    plan = "pro" if who == "ada" else "free"
    for words in WORDS:
        page = look(app, "/search", who, q=words, all="1")
        if page.table("series"):
            rows = {row["metadata"]["seriesId"]: row for row in page.told(service, "/observations/latest", plan)[0]}
            for cells, href in zip(
                page.table("series"), page.main.xpath(".//*[@id='series']//tbody//th/a/@href"), strict=True
            ):
                row = rows[href.removeprefix("/series/")]
                assert cells[1].values == of(row["valueNumeric"])
                assert cells[4].text == row["sourceId"]
                filled += 1
        if page.table("indicators"):
            rows = {row["name"]: row for told in page.told(service, "/indicators", plan) for row in told}
            for cells in page.table("indicators"):
                (count,) = [
                    row["entityCount"]
                    for name, row in rows.items()
                    if cells[0].text.startswith(plain(name)) and plain(row["description"]) in cells[0].text
                ]
                assert number(cells[2].text) == count
        if page.table("companies") and any(path == "/companies" for path, _ in page.asked):
            for cells, row in zip(page.table("companies"), page.told(service, "/companies", plan)[0], strict=True):
                assert (cells[0].text, cells[1].text, cells[2].text) == (
                    row["name"],
                    row["ticker"] or "",
                    row["sector"] or "",
                )
                assert cells[3].values == of(row["score"])
                companies += 1
    assert filled > 8
    assert companies


def test_words_that_name_a_company_and_something_of_it(app: Dashboard) -> None:
    page = look(app, "/search", q="acme widgets revenue")
    assert [cells[0].text for cells in page.table("companies")] == ["Acme Widgets Inc."]


def test_the_countries(app: Dashboard, service: Service, sandbox: Service) -> None:
    for of_app, world in ((app, service), (dashboard(sandbox), sandbox)):
        page = look(of_app, "/countries")
        (rows,) = page.told(world, "/countries")
        assert rows
        assert [
            (cells[0].text, cells[1].text, number(cells[4].text), cells[5].text) for cells in page.table("list")
        ] == [(row["name"], row["isoAlpha3"] or "", row["indicatorCount"], row["freshnessStatus"]) for row in rows]


def test_the_heat_map_is_of_the_briefs(app: Dashboard, service: Service, sandbox: Service) -> None:
    """Each cell is the reading of that economy's own brief of the same day, in every section of the map."""
    filled = 0
    for of_app, world in ((app, service), (dashboard(sandbox), sandbox)):
        places = {row["name"]: row["slug"] for row in world.walk("/countries", has_data=True)}
        for section in (None, "inflation", "rates"):
            for as_of in days(3, 2):
                page = look(of_app, "/countries", section=section, as_of=as_of)
                seen = {}
                for cells in page.table("heat"):
                    asked = {} if as_of is None else {"as_of": as_of}
                    brief = world.ok(f"/briefs/{places[cells[0].text]}", **asked)
                    told = [reading for one in brief["sections"] for reading in one["readings"]
                            if section in (None, one["key"]) and reading["value"] is not None]  # fmt: skip
                    seen[cells[0].text] = [value for cell in cells for value in cell.values]
                    assert set(seen[cells[0].text]) <= {float(reading["value"]) for reading in told}
                    if section is not None:
                        assert sorted(seen[cells[0].text]) == sorted(float(reading["value"]) for reading in told)
                    filled += len(seen[cells[0].text])
    assert filled > 50


def test_the_sources_and_each_of_them(app: Dashboard, service: Service) -> None:
    page = look(app, "/sources")
    (rows,) = page.told(service, "/sources")
    shown = {cells[0].text: cells for cells in page.table("list")}
    assert len(shown) == len(rows) > 3
    for row in rows:
        (cells,) = [cells for name, cells in shown.items() if name.startswith(plain(row["name"])) and cells[2].text == plain(row["license"])
                    and number(cells[4].text) == row["seriesCount"]]  # fmt: skip
        assert cells[3].text == row["health"].replace("_", " ")
        assert cells[5].text == (plain(day(row["lastSuccessAt"])) if row["lastSuccessAt"] else "")
        one = look(app, f"/sources/{row['id']}")
        assert f"Series {row['seriesCount']:,}" in one.words
        if row["firstPeriod"]:
            assert plain(f"Periods {day(row['firstPeriod'])} to {day(row['lastPeriod'])}") in one.words
        assert plain(row["license"]) in one.words


@pytest.mark.parametrize("who", ["ada", "free"])
def test_the_first_page(app: Dashboard, service: Service, who: str) -> None:
    plan = "pro" if who == "ada" else "free"
    page = look(app, "/?since=2026-10-25", who)
    (releases, *_) = page.told(service, "/release-summaries", plan)
    assert [cells[1].text for cells in page.table("releases")] == [plain(row["headline"]) for row in releases[:12]]
    assert releases
    (events,) = page.told(service, "/events", plan)
    assert [cells[0].text for cells in page.table("coming")] == [plain(event_title(row["title"])) for row in events]


@pytest.mark.parametrize("who", ["ada", "free"])
def test_figures_of_the_store_stand_with_its_sources(app: Dashboard, service: Service, who: str) -> None:
    page, plan = look(app, "/sources", who), "pro" if who == "ada" else "free"
    (told,) = page.told(service, "/coverage", plan)
    for label, count in (
        ("Series", told["series"]), ("Countries and regions", told["countries"] + told["regions"]), ("Companies", told["companies"]),
        ("Vintages", told["vintages"]),
    ):  # fmt: skip
        assert f"{label} {count:,}" in page.words
    (sources,) = page.told(service, "/sources", plan)
    assert (
        f"{told['observations']:,} observations and {told['derivedObservations']:,} computed from them, from {told['sources']} of "
        f"{len(sources)} sources" in page.words
    )
