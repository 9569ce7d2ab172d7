"""A country that goes over to another currency: two series, no revision, and growth of either. All numbers are invented."""

import json
from datetime import UTC, datetime

import msgspec
import pytest

from almanac.config import Settings
from almanac.domain.periods import end_of
from almanac.pipeline.ingest.captures import Arrival
from almanac.pipeline.ingest.ingest import Ingest
from almanac.pipeline.operate.rebuild import rebuild
from almanac.pipeline.workplace import Workplace
from almanac.store.observations import specs
from tests.support.treasury_home import values

EURO = "world-bank:country_bgr:nominal_gdp:A"
LEVA = f"{EURO}:bgn"
GROWTH = "world-bank:country_bgr:nominal_gdp_growth_yoy:A"
URL = "https://api.worldbank.org/v2/country/all/indicator/NY.GDP.MKTP.CN?format=json&per_page=20000"


def at(text):
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


def edition(day, unit="", **amounts):
    """An answer of the World Bank of that day: Bulgaria's gross domestic product by year."""
    rows = [
        {
            "indicator": {"id": "NY.GDP.MKTP.CN", "value": "x"},
            "country": {"id": "BG", "value": "Bulgaria"},
            "countryiso3code": "BGR",
            "date": year.removeprefix("y"),
            "value": amount,
            "unit": unit,
            "obs_status": "",
            "decimal": 0,
        }
        for year, amount in amounts.items()
    ]
    head = {"page": 1, "pages": 1, "per_page": 20000, "total": len(rows), "sourceid": "2", "lastupdated": day}
    return Arrival(URL, json.dumps([head, rows]).encode(), "application/json", at(day) + 3_600)


BEFORE, LATER = edition("2025-07-01", y2023=100, y2024=110), edition("2025-12-16", y2023=100, y2024=112)
AFTER = edition("2026-07-01", y2023=50, y2024=57, y2025=68.4)


def take(world, *arrivals):
    outcome = Ingest(world, world.catalog.sources["world-bank"], lambda _: None).run(arrivals)
    assert (outcome.folded, outcome.quarantined) == (len(arrivals), {})


@pytest.fixture
def world(tmp_path):
    with Workplace(Settings(home=tmp_path / "home", now="2026-11-20T12:00:00Z")) as opened:
        yield opened


def growth(world):
    """Every state of the rates of growth: year, the day it was known, the rate, and the series it was computed from."""
    found = world.db.execute(
        "SELECT v.period, v.known_at, v.value, l.inputs FROM vintages v JOIN series s USING (series)"
        " LEFT JOIN lineage l ON l.lineage = coalesce(nullif(v.lineage, 0), s.lineage)"
        " WHERE s.id = ? AND v.to_version = 2147483647 ORDER BY v.period, v.known_at",
        (GROWTH,),
    )
    return [
        (
            end_of(period).year,
            datetime.fromtimestamp(known, UTC).date().isoformat(),
            round(value, 6),
            json.loads(inputs),
        )
        for period, known, value, inputs in found
    ]


STATES = [
    (2024, "2025-07-01", 10.0, [LEVA]),
    (2024, "2025-12-16", 12.0, [LEVA]),
    (2024, "2026-07-01", 14.0, [EURO]),
    (2025, "2026-07-01", 20.0, [EURO]),
]


@pytest.mark.parametrize("order", [(BEFORE, LATER, AFTER), (AFTER, LATER, BEFORE)], ids=["in order", "backwards"])
def test_growth_is_of_either_and_what_was_known_of_it_stays(world, order):
    for arrival in order:
        take(world, arrival)
    assert growth(world) == STATES
    rebuild(world, lambda _: None)
    assert growth(world) == STATES


@pytest.mark.parametrize("order", [(BEFORE, LATER, AFTER), (AFTER, LATER, BEFORE)], ids=["in order", "backwards"])
def test_amounts_before_and_after_are_two_series(world, order):
    take(world, *order)
    assert values(world, LEVA) == [("2023-12-31", 100.0), ("2024-12-31", 110.0), ("2024-12-31", 112.0)]
    assert values(world, EURO) == [("2023-12-31", 50.0), ("2024-12-31", 57.0), ("2025-12-31", 68.4)]


def test_what_an_answer_states_is_its_currency_and_what_nobody_knows_is_named(world):
    take(world, edition("2026-07-01", "Bulgarian Lev", y2023=100), edition("2026-07-02", "shells", y2023=7))
    assert (values(world, LEVA), values(world, EURO)) == ([("2023-12-31", 100.0)], [])
    told = world.db.execute("SELECT name FROM unread").fetchall()
    assert told == [("currency 'shells' of BGR/NY.GDP.MKTP.CN",)]


def test_what_the_catalogue_says_anew_of_a_series_it_says_of_the_one_in_a_former_currency(world):
    take(world, BEFORE)
    named = [one.name for one in specs.in_use(world.db) if one.id == LEVA]
    assert named == ["Bulgaria, gross domestic product in local currency, amounts in BGN"]
    native = "BGR/NY.GDP.MKTP.CN"
    natives = dict(world.catalog.series["world-bank"])
    natives[native] = msgspec.structs.replace(natives[native], name="Output")
    world.catalog = msgspec.structs.replace(world.catalog, series={**world.catalog.series, "world-bank": natives})
    world.sync()
    assert [one.name for one in specs.in_use(world.db) if one.id == LEVA] == ["Output, amounts in BGN"]


def test_an_exchange_rate_in_a_former_currency_is_served_as_such(tmp_path):
    """Kuna per dollar before, euro per dollar after: two series, and no growth across them. All numbers are invented."""
    url = "https://stats.bis.org/api/v2/data/dataflow/BIS/WS_XRU/1.0/M.HR..A?format=csv"
    head = "FREQ,REF_AREA,CURRENCY,COLLECTION,TIME_PERIOD,OBS_VALUE\n"
    rows = ["M,HR,HRK,A,2021-12,6.6", "M,HR,HRK,A,2022-12,7.2", "M,HR,EUR,A,2023-01,0.92", "M,HR,EUR,A,2023-12,0.91"]
    with Workplace(Settings(home=tmp_path / "home", now="2026-11-20T12:00:00Z")) as opened:
        run = Ingest(opened, opened.catalog.sources["bis"], lambda _: None)
        outcome = run.run([Arrival(url, (head + "\n".join(rows)).encode(), "text/csv", at("2026-11-01"))])
        assert (outcome.folded, outcome.quarantined, outcome.unmapped) == (1, {}, {})
        rate = "bis:country_hrv:usd_exchange_rate:M"
        assert values(opened, rate) == [("2023-01-31", 0.92), ("2023-12-31", 0.91)]
        assert values(opened, f"{rate}:hrk") == [("2021-12-31", 6.6), ("2022-12-31", 7.2)]
        assert specs.of(opened.db, f"{rate}:hrk").currency == "HRK"
        grown = opened.db.execute(
            "SELECT count(*) FROM series s JOIN topic t USING(topic) WHERE t.kind = 'derived' AND s.id LIKE '%:hrk'"
        )
        assert grown.get == 0
