"""What an index is 100 in, and whose prices a volume counts in, is kept with each value as it was published. All is invented."""

import json
from contextlib import closing

import pytest

from almanac.config import Settings
from almanac.pipeline.ingest.captures import Arrival
from almanac.pipeline.ingest.ingest import Ingest
from almanac.pipeline.operate.rebuild import rebuild
from almanac.pipeline.workplace import Workplace
from almanac.store.engine.sqlite import OPEN
from almanac.store.observations.reading.reader import Reader
from tests.support.service import Service, make_accounts

DAY, START = 86_400, 1_790_812_800  # 2026-10-01
CPI = "world-bank:country_afg:cpi_index:A"
GROWTH = "world-bank:country_afg:cpi_inflation_yoy:A"


@pytest.fixture
def world(tmp_path):
    with Workplace(Settings(home=tmp_path / "home", now="2026-11-20T12:00:00Z")) as opened:
        yield opened


def take(world, source, *payloads):
    outcome = Ingest(world, world.catalog.sources[source], lambda _: None).run(
        Arrival(url, json.dumps(body).encode(), "application/json", START + number * DAY)
        for number, (url, body) in enumerate(payloads)
    )
    assert (outcome.folded, outcome.quarantined) == (len(payloads), {})


def vintages(world, series):
    """Value and note of every open vintage, by period and knowledge time."""
    return world.db.execute(
        "SELECT v.value, (SELECT n.body FROM note n WHERE n.note = v.note) FROM vintages v JOIN series s USING (series)"
        f" WHERE s.id = ? AND v.to_version = {OPEN} ORDER BY v.period, v.known_at",
        (series,),
    ).fetchall()


def index(base, figures):
    rows = [
        {
            "indicator": {"id": "FP.CPI.TOTL", "value": f"Consumer price index ({base} = 100)"},
            "country": {"id": "AF", "value": "Afghanistan"}, "countryiso3code": "AFG", "date": year, "value": value,
            "unit": "", "obs_status": "", "decimal": 1,
        }
        for year, value in figures.items()
    ]  # fmt: skip
    url = f"https://api.worldbank.org/v2/country/all/indicator/FP.CPI.TOTL?format=json&per_page=20000&date={base}"
    return url, [{"page": 1, "pages": 1, "per_page": 20000, "total": len(rows), "sourceid": "2"}, rows]


def test_a_page_that_joins_two_bases_says_so(world):
    take(
        world,
        "world-bank",
        index("2005", {"2010": 150.0, "2011": 165.0}),
        index("2010", {"2011": 110.0, "2012": 121.0}),
    )
    make_accounts(world.settings)
    with closing(Service(world.settings.home)) as service:
        told = service.get("/observations", country="AFG", indicator="cpi_index").json()["meta"]["warnings"]
        assert [(one["parameter"], one["value"], one["reason"]) for one in told] == [
            (
                "sources",
                "preferred",
                "joins values of cpi_index for country_afg on different bases: 2005=100 and 2010=100",
            )
        ]
        assert (
            "warnings"
            not in service.get("/observations", country="AFG", indicator="cpi_index", period="2012").json()["meta"]
        )
        every = service.get("/observations", country="AFG", indicator="cpi_index", sources="all").json()
        assert "warnings" not in every["meta"]


def test_no_growth_is_computed_across_two_bases(world):
    take(
        world,
        "world-bank",
        index("2005", {"2010": 150.0, "2011": 165.0}),
        index("2010", {"2011": 110.0, "2012": 121.0}),
    )
    old, new = '{"basis":"2005=100"}', '{"basis":"2010=100"}'
    served = [(150.0, old), (165.0, old), (110.0, new), (121.0, new)]
    assert vintages(world, CPI) == served
    grown = [(10.0, None), (None, '{"reason":"two_bases"}'), (10.0, None)]
    assert [(value and round(value, 9), note) for value, note in vintages(world, GROWTH)] == grown
    rebuild(world, lambda _: None)
    assert vintages(world, CPI) == served


def observations(native, *rows):
    listed = [dict(zip(("realtime_start", "realtime_end", "date", "value"), row, strict=True)) for row in rows]
    url = f"https://api.stlouisfed.org/fred/series/observations?file_type=json&series_id={native}"
    return url, {
        "realtime_start": "1776-07-04", "realtime_end": "9999-12-31", "observation_start": "1600-01-01",
        "observation_end": "9999-12-31", "units": "lin", "output_type": 1, "file_type": "json", "order_by": "observation_date",
        "sort_order": "asc", "count": len(rows), "offset": 0, "limit": 100000, "observations": listed,
    }  # fmt: skip


def test_a_vintage_published_before_a_base_does_not_carry_its_label(world):
    ever, last = "9999-12-31", ("2023-09-28", "9999-12-31")
    take(
        world,
        "fred",
        observations(
            "GDPC1",
            ("2023-08-30", "2023-09-27", "2023-04-01", "100"),
            (*last, "2023-04-01", "110"),
            ("2023-07-27", ever, "2023-01-01", "99"),  # the number stayed the same
        ),
    )
    label = '{"priceBasis":"chained 2017 dollars"}'
    assert vintages(world, "fred:country_usa:real_gdp:Q") == [
        (99.0, None),
        (99.0, label),
        (100.0, None),
        (110.0, label),
    ]


def test_a_series_that_is_stated_in_another_unit_is_withheld_with_the_reason(world):
    day = {"realtime_start": "2026-10-01", "realtime_end": "2026-10-01"}
    told = day | {
        "id": "WALCL", "title": "x", "observation_start": "2002-12-18", "observation_end": "2026-09-30",
        "frequency": "Weekly, As of Wednesday", "frequency_short": "W", "units": "Billions of U.S. Dollars", "units_short": "x",
        "seasonal_adjustment": "x", "seasonal_adjustment_short": "NSA", "last_updated": "x", "popularity": 1,
    }  # fmt: skip
    url = "https://api.stlouisfed.org/fred/series?file_type=json&series_id=WALCL"
    take(
        world,
        "fred",
        (url, day | {"seriess": [told]}),
        observations("WALCL", ("2026-10-01", "9999-12-31", "2026-09-23", "6550")),
    )
    exposure, reason = world.db.execute(
        "SELECT exposure, reason FROM series WHERE id = 'fred:country_usa:central_bank_assets:W'"
    ).fetchone()
    assert exposure > 0
    assert reason == "FRED states this series in 'Billions of U.S. Dollars', the catalogue in usd_millions."
    with Reader(world.settings.data_path).view() as view:
        series = view.directory.series_by_id("fred:country_usa:central_bank_assets:W")
    assert series.unit is None
