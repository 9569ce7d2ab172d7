"""What is said around the publishers' own numbers: nothing withheld hides a public one, no loading is news, no gap a change."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from almanac.pipeline.ingest.mirrored import from_mirror
from almanac.pipeline.workplace import Workplace
from tests.support.browser import Browser
from tests.support.page_visitor import dashboard, signed_in
from tests.support.service import Service, make_accounts, settings

from .files import FOLDER, REAL, mirror

pytestmark = [*REAL, pytest.mark.slow]

#: When the files were looked at by eye, nobody having consented to anything: what needs consent is withheld.
NOW = "2026-11-01T12:00:00Z"
NO_CONSENT = {f"SOURCES__FRED__CONSENT__{name}": "" for name in ("BY", "ON", "REFERENCE")}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    home = tmp_path_factory.mktemp("macro") / "home"
    with Workplace(settings(home, NOW=NOW, **NO_CONSENT)) as place:
        sources = [one for name, one in place.catalog.sources.items() if one.connector and not name.startswith("sec")]
        from_mirror(place, sources, FOLDER, lambda _: None)
    make_accounts(settings(home, NOW=NOW, **NO_CONSENT))
    one = Service(home, more={"NOW": NOW, **NO_CONSENT})
    yield one
    one.close()


@pytest.fixture(scope="module")
def browser(service: Service) -> Browser:
    return signed_in(dashboard(service))


def test_a_newer_withheld_row_hides_no_public_one(service: Service, browser: Browser) -> None:
    """FRED's ten-year yields go on for years after those of the Treasury that are here, and may not be shown."""
    asked = {"indicator": "gov_yield_10y", "country": "USA"}
    (latest,) = service.ok("/observations/latest", **asked)
    assert (latest["sourceId"], latest["valueNumeric"], latest["periodEnd"][:10]) == (
        "us-treasury-par",
        2,
        "2022-03-11",
    )
    every = service.walk("/observations", sources="all", order="desc", limit=500, **asked)
    assert every[0]["rights"]["valueWithheld"]
    assert every[0]["periodEnd"] > latest["periodEnd"]
    curve = {leg["tenor"]: leg["yield"] for leg in service.ok("/rates/USA")["curve"]}
    assert curve["10y"] == latest["valueNumeric"]
    page = browser.get("/rates/USA").text
    (cell,) = re.findall(r'<td[^>]*><a href="/series/([a-z-]+):country_usa:gov_yield_10y:D">.*?</td>', page, re.DOTALL)[
        :1
    ]
    assert cell == "us-treasury-par"


def test_what_is_withheld_is_latest_only_where_nothing_public_is(service: Service) -> None:
    held: dict[tuple[str, str], set[bool]] = {}
    for row in service.walk("/observations", sources="all", limit=500):
        if not row["metadata"].get("forecast"):
            held.setdefault((row["indicatorId"], row["entityId"]), set()).add(row["rights"]["valueWithheld"])
    shut = 0
    for row in service.walk("/observations/latest", limit=500):
        if row["rights"]["valueWithheld"] and (row["indicatorId"], row["entityId"]) in held:
            assert held[row["indicatorId"], row["entityId"]] == {True}, row["metadata"]["seriesId"]
            shut += 1
    assert shut > 3


def test_no_change_is_told_across_years_without_a_reading(service: Service) -> None:
    """The European Central Bank's rate is here of April 2024 and of October 2026, and of no day between."""
    brief = service.ok("/briefs/EUR")
    (rates,) = [one for one in brief["sections"] if one["key"] == "rates"]
    assert "stood at 2.50% on 2 October 2026; this is the first reading since 30 April 2024" in rates["text"]
    (rate,) = [one for one in rates["readings"] if one["indicatorId"] == "indicator_policy_rate"]
    assert (rate["value"], rate["change"]) == (2.5, None)
    # A single reading after years tells nothing of a cycle, nor does any other of these few.
    assert service.ok("/observations/latest", indicator="policy_cycle", country="EUR,GBR,USA") == []


def test_loading_is_no_news_and_nothing_past_is_still_to_come(service: Service) -> None:
    fetched = {row["fetched_at"][:10] for row in mirror()}
    events = service.walk("/events", limit=500)
    told = [one for one in events if one["status"] in {"released", "revised"}]
    assert len(told) > 300
    # Of days on which something was fetched there are those alone that a publisher's calendar has an hour of.
    on_those = [one for one in told if one["occurredAt"][:10] in fetched]
    assert {one["timePrecision"] for one in on_those} <= {"minute"}
    assert {one["occurredAt"] for one in told}.isdisjoint(row["fetched_at"] for row in mirror())
    summaries = service.walk("/release-summaries", limit=200)
    assert len(summaries) > 10
    assert {one["releasedAt"] for one in summaries} <= {one["occurredAt"] for one in told}
    coming = [one for one in events if one["status"] == "scheduled"]
    assert len(coming) > 5
    assert all(one["occurredAt"] > NOW for one in coming)
    # Announced, past, and of whose numbers nothing is here.
    past = [one for one in events if one["status"] == "unknown"]
    assert len(past) > 100
    assert all(one["occurredAt"] < NOW and one["actual"] is None for one in past)


def test_one_value_stands_at_one_place_among_its_ten_years(service: Service) -> None:
    told: dict[tuple[str, str, str], set[float | None]] = {}
    for entity in {row["entityId"] for row in service.walk("/release-summaries", limit=200)}:
        brief = service.ok(f"/briefs/{entity}")
        for one in (one for section in brief["sections"] for one in section["readings"]):
            told.setdefault((entity, one["indicatorId"], one["periodEnd"]), set()).add(one["percentile10y"])
        for summary in brief["recentReleases"]:
            for one in summary["readings"]:
                told.setdefault((entity, one["indicatorId"], summary["periodEnd"]), set()).add(one["percentile10y"])
    assert told
    assert {key: found for key, found in told.items() if len(found) > 1} == {}


def test_a_country_is_not_fresh_by_one_living_series(service: Service) -> None:
    standing = {one["slug"]: one["freshnessStatus"] for one in service.walk("/countries", has_data="true", limit=500)}
    prices = service.ok("/observations/latest", country="USA", freshness="fresh", limit=500)
    assert prices
    assert standing["united-states"] == "stale"
