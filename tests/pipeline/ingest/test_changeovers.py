"""A country that goes over to another currency: two series, no revision, and growth of either. All numbers are invented."""

import json
from contextlib import closing
from datetime import UTC, datetime

import msgspec
import pytest

from almanac.config import Settings
from almanac.domain.periods import end_of
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.ingest.ingest import Arrival, Ingest
from almanac.pipeline.operate.rebuild import rebuild
from almanac.store.engine.sqlite import OPEN
from almanac.store.observations import specs
from almanac.store.observations.reading.reader import Reader
from tests.support.service import Service, make_accounts
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
    with PipelineContext(Settings(home=tmp_path / "home", now="2026-11-20T12:00:00Z")) as opened:
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
    with PipelineContext(Settings(home=tmp_path / "home", now="2026-11-20T12:00:00Z")) as opened:
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


# Native codes that continue or repeat one series, folded: which one is heard, whatever the order of arrival.


TEN = "snb:country_che:gov_yield_10y:D"
PORTAL = "https://data.snb.ch/api/cube/{}/data/csv/en"
WAREHOUSE = "https://data.snb.ch/api/warehouse/cube/SNB1A.SNB.NSS.KZS.EID/data/csv/en?dimSel=LAUFZEIT(J10M0)"
DAY = 86_400
#: 2026-10-01, the first payload's day.
START = 1_790_812_800


def cube(name, header, *lines):
    """An invented cube of the Swiss National Bank's shape."""
    rows = ['"CubeId";"' + name + '"', '"PublishingDate";"2026-10-01 14:30"', "", header, *lines]
    return "\n".join(rows).encode("utf-8-sig")


def stopped(*days):
    """The cube that ended in July 2025: (day, yield), the other maturities without a value."""
    names = ["1J", "2J", "3J", "5J", "7J", "20J", "30J"]
    lines = [f'"{day}";"10J0";"{value}"' for day, value in days] + [f'"{days[0][0]}";"{name}";' for name in names]
    return PORTAL.format("rendoblid"), cube("rendoblid", '"Date";"D0";"Value"', *lines)


def warehouse(*days):
    header = '"Date";"LAUFZEIT";"ZEITPUNKT";"frequency";"AGGREGATIONSMETHODE";"Value"'
    lines = [f'"{day}";"J10M0";"A1100";"P1D_L";"ZZ";"{value}"' for day, value in days]
    return WAREHOUSE, cube("SNB1A@SNB.NSS.KZS.EID", header, *lines)


def repeated(*days):
    lines = [f'"{day}";"CHF";"10J";"{value}"' for day, value in days]
    url = PORTAL.format("rendeiduebd") + "?dimSel=D0(CHF),D1(10J)"
    return url, cube("rendeiduebd", '"Date";"D0";"D1";"Value"', *lines)


#: The old cube also names a day of the new one's stretch, and the new one a day of the old one's: neither is heard.
#: The copy leaves out 2026-09-02, which is no withdrawal, and adds 2026-09-03; the warehouse then leaves 2026-09-01 out.
PAYLOADS = [
    stopped(("2025-07-30", 0.25), ("2025-07-31", 0.5), ("2025-08-01", 9)),
    warehouse(("2025-07-31", 9), ("2025-08-01", 0.75), ("2026-09-01", 1), ("2026-09-02", 1.25)),
    repeated(("2025-07-31", 9), ("2025-08-01", 0.75), ("2026-09-01", 1), ("2026-09-03", 1.5)),
    warehouse(("2025-08-01", 0.75), ("2026-09-02", 1.25)),
]
EXPECTED = [
    ("2025-07-30", 0.25),
    ("2025-07-31", 0.5),
    ("2025-08-01", 0.75),
    ("2026-09-01", 1.0),
    ("2026-09-01", None),
    ("2026-09-02", 1.25),
    ("2026-09-03", 1.5),
]


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)])
def test_one_series_comes_out_of_its_codes_in_any_order_of_arrival(tmp_path, order):
    with PipelineContext(Settings(home=tmp_path / "home", now="2026-11-20T12:00:00Z")) as world:
        ingest = Ingest(world, world.catalog.sources["snb"], lambda _: None)
        outcome = ingest.run(
            Arrival(url, body, "text/csv", START + number * DAY)
            for number, (url, body) in ((number, PAYLOADS[number]) for number in order)
        )
        assert (outcome.folded, outcome.quarantined) == (4, {})
        assert values(world, TEN) == EXPECTED
        assert specs.of(world.db, TEN).native == "SNB1A.SNB.NSS.KZS.EID{J10M0,A1100,P1D_L,ZZ}"
        rebuild(world, lambda _: None)
        assert values(world, TEN) == EXPECTED


# A series on its present base beside the same on a former one: never mixed, and the present one counts. All is invented.


INDEX = "eurostat:country_deu:industrial_production_index:M"
GROWTH_OF_VARIANTS = "eurostat:country_deu:industrial_production_growth_yoy:M"
MONTHS = ["2025-08", "2026-08"]


def variant_cube(base, first, second, flag=None, *, months=MONTHS, updated="2026-09-30T11:00:00+0200"):
    """Industrial production of Germany in two months a year apart, as Eurostat sends it."""
    codes = {"freq": "M", "indic_bt": "PRD", "nace_r2": "B-D", "s_adj": "SCA", "unit": base, "geo": "DE"}
    body = {
        "version": "2.0",
        "class": "dataset",
        "updated": updated,
        "id": [*codes, "time"],
        "size": [1, 1, 1, 1, 1, 1, 2],
        "value": {"0": first, "1": second},
        "status": {"1": flag} if flag else {},
        "dimension": {name: {"category": {"index": [code]}} for name, code in codes.items()}
        | {"time": {"category": {"index": months}}},
        "extension": {"id": "STS_INPR_M"},
    }
    url = f"https://ec.europa.eu/eurostat/api/dissemination/sdmx/2.1/data/STS_INPR_M/M.PRD.B-D.SCA.{base}.?format=JSON"
    return url, json.dumps(body).encode()


FORMER, PRESENT = variant_cube("I15", 80, 88), variant_cube("I21", 100, 101, "p")


def take_variant(world, *payloads, start=START):
    outcome = Ingest(world, world.catalog.sources["eurostat"], lambda _: None).run(
        Arrival(url, body, "application/json", start + number * DAY) for number, (url, body) in enumerate(payloads)
    )
    assert (outcome.folded, outcome.quarantined, outcome.unmapped) == (len(payloads), {}, {})


def variant_growth(world):
    return [(period, round(value, 9)) for period, value in values(world, GROWTH_OF_VARIANTS) if value is not None]


def test_a_former_base_alone_gives_growth_and_none_once_the_present_one_is_there(world):
    take_variant(world, FORMER)
    assert values(world, f"{INDEX}:former-i15") == [("2025-08-31", 80.0), ("2026-08-31", 88.0)]
    assert variant_growth(world) == [("2026-08-31", 10.0)]
    take_variant(world, PRESENT, start=START + DAY)
    assert values(world, INDEX) == [("2025-08-31", 100.0), ("2026-08-31", 101.0)]
    assert variant_growth(world)[-1] == ("2026-08-31", 1.0)


@pytest.mark.parametrize("order", [(FORMER, PRESENT), (PRESENT, FORMER)], ids=["former first", "present first"])
def test_growth_is_of_the_present_base_whatever_came_first(world, order):
    take_variant(world, *order)
    assert variant_growth(world)[-1] == ("2026-08-31", 1.0)
    rebuild(world, lambda _: None)
    assert variant_growth(world)[-1] == ("2026-08-31", 1.0)


def test_flags_and_the_stamp_are_served_beside_the_value_and_date_nothing(world):
    take_variant(world, PRESENT)
    rows = world.db.execute(
        "SELECT v.known_at, v.ingested_at, (SELECT n.body FROM note n WHERE n.note = v.note) FROM vintages v JOIN series s USING (series) WHERE s.id = ?"
        " ORDER BY v.period",
        (INDEX,),
    ).fetchall()
    # Published on 30 September at 9:00 UTC, known from the fetch a day later.
    assert rows == [
        (START, START, '{"basis":"2021=100","publishedAt":"2026-09-30T09:00:00Z"}'),
        (START, START, '{"basis":"2021=100","flags":["p"],"publishedAt":"2026-09-30T09:00:00Z"}'),
    ]
    # The same number without the flag is a new state, also of what is computed of it; the same again is none.
    take_variant(world, variant_cube("I21", 100, 101), start=START + 30 * DAY)
    take_variant(world, variant_cube("I21", 100, 101, updated="2026-11-02T11:00:00+0100"), start=START + 31 * DAY)
    assert values(world, INDEX) == [("2025-08-31", 100.0), ("2026-08-31", 101.0), ("2026-08-31", 101.0)]
    assert variant_growth(world) == [("2026-08-31", 1.0)] * 2


def test_a_release_was_out_when_its_message_was_published_however_late_that_was_read(world):
    """What is computed is released by what its inputs came in. A first load is no release of the day of loading."""
    released = (
        "SELECT period, occurred_at, known_at FROM event WHERE type = 'industrial_production' AND status = 'released'"
        f" AND to_version = {OPEN}"
    )
    take_variant(world, PRESENT)
    assert list(world.db.execute(released)) == []
    later = variant_cube("I21", 104, 105, months=["2025-09", "2026-09"], updated="2026-11-13T11:00:00+0100")
    take_variant(world, later, start=START + 48 * DAY)
    # Published on 13 November at 10:00 UTC, read on 18 November.
    out = 1_794_564_000
    assert list(world.db.execute(released)) == [("2026-09", out, START + 48 * DAY)]
    rebuild(world, lambda _: None)
    assert list(world.db.execute(released)) == [("2026-09", out, START + 48 * DAY)]


def test_a_change_of_base_is_no_revision(world):
    """One quarter under two versions of the structure of Australian prices, at one address: two series, one vintage each."""
    url = "https://data.api.abs.gov.au/rest/data/ABS,CPI/1.10001.10.50.Q?format=csv"
    head = "DATAFLOW,MEASURE,INDEX,TSEST,REGION,FREQ,TIME_PERIOD,OBS_VALUE\n"
    run = Ingest(world, world.catalog.sources["abs"], lambda _: None)
    run.run(
        Arrival(
            url, f"{head}ABS:CPI({version}),1,10001,10,50,Q,2026-Q1,{value}\n".encode(), "text/csv", START + day * DAY
        )
        for day, (version, value) in enumerate([("1.1.0", 150.5), ("2.0.0", 104.51), ("1.1.0", 150.5)])
    )
    assert run.outcome.quarantined == {}
    sql = (
        "SELECT s.id, v.value FROM vintages v JOIN series s USING(topic, series)"
        " JOIN topic t USING(topic) WHERE t.indicator = 'cpi_index' ORDER BY s.id"
    )
    assert list(world.db.execute(sql)) == [
        ("abs:country_aus:cpi_index:Q", 104.51),
        ("abs:country_aus:cpi_index:Q:former-2011-12", 150.5),
    ]


# What an index is 100 in, and whose prices a volume counts in, is kept with each value as it was published. All is invented.


DAY_OF_BASES, START_OF_BASES = 86_400, 1_790_812_800  # 2026-10-01
CPI = "world-bank:country_afg:cpi_index:A"
GROWTH_OF_BASES = "world-bank:country_afg:cpi_inflation_yoy:A"


def take_base(world, source, *payloads):
    outcome = Ingest(world, world.catalog.sources[source], lambda _: None).run(
        Arrival(url, json.dumps(body).encode(), "application/json", START_OF_BASES + number * DAY_OF_BASES)
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
    take_base(
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
    take_base(
        world,
        "world-bank",
        index("2005", {"2010": 150.0, "2011": 165.0}),
        index("2010", {"2011": 110.0, "2012": 121.0}),
    )
    old, new = '{"basis":"2005=100"}', '{"basis":"2010=100"}'
    served = [(150.0, old), (165.0, old), (110.0, new), (121.0, new)]
    assert vintages(world, CPI) == served
    grown = [(10.0, None), (None, '{"reason":"two_bases"}'), (10.0, None)]
    assert [(value and round(value, 9), note) for value, note in vintages(world, GROWTH_OF_BASES)] == grown
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
    take_base(
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
    take_base(
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
    with Reader(world.settings.home / "data.db").view() as view:
        series = view.directory.series_by_id("fred:country_usa:central_bank_assets:W")
    assert series.unit is None
