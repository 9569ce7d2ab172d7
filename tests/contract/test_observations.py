"""GET /observations, /observations/latest, /observations/vintages: values, times, statuses."""

import re
from contextlib import closing
from datetime import date, timedelta
from urllib.parse import parse_qsl

import pytest

from tests.support.invented_mirror import (
    ARCHIVE_FETCH,
    COPY_10Y,
    CORRECTED,
    CORRECTED_DAY,
    MOF_DAYS,
    MONTHS,
    REVISED_MONTH,
    TREASURY_DAYS,
    WITHDRAWN_DAY,
    WITHDRAWN_MONTH,
    jobless,
    mof_value,
    price,
    released,
    treasury_value,
)
from tests.support.service import Service, copy

from .declared import ENDPOINTS, PATH_VALUES, REQUIRED
from .digits import long_numbers
from .test_rates import SCOPES


def by_day(rows):
    return {date.fromisoformat(row["periodEnd"][:10]): row for row in rows}


def test_values_as_published(service):
    """Values as their publishers stated them; without filters /observations lists all."""
    rows = by_day(service.walk("/observations", indicator="gov_yield_10y", country="USA"))
    expected = {day: treasury_value("BC_10YEAR", day) for day in TREASURY_DAYS}
    expected |= {CORRECTED_DAY: CORRECTED, WITHDRAWN_DAY: COPY_10Y[WITHDRAWN_DAY]}
    assert {day: row["valueNumeric"] for day, row in rows.items()} == expected
    japan = by_day(service.walk("/observations", indicator="gov_yield_30y", country="JP"))
    assert {day: row["valueNumeric"] for day, row in japan.items()} == {day: mof_value(30, day) for day in MOF_DAYS}
    prices = service.walk("/observations", indicator="cpi_index_nsa")
    assert [row["valueNumeric"] for row in prices] == [price(m) for m in MONTHS if m != WITHDRAWN_MONTH]
    assert len(service.walk("/observations", limit=500, sources="all")) == service.ok("/coverage")["observations"]


def test_a_whole_row(service):
    """The fields of an observation."""
    (row,) = service.ok("/observations", indicator="unemployment_rate", period="2026-10")
    assert {key: value for key, value in row.items() if key != "id"} == {
        "entityId": "country_usa", "indicatorId": "indicator_unemployment_rate", "sourceId": "fred", "providerId": "fred",
        "valueNumeric": jobless(date(2026, 10, 1)), "valueText": None, "unit": "percent", "frequency": "monthly",
        "periodStart": "2026-10-01T00:00:00Z", "periodEnd": "2026-10-31T00:00:00Z", "observedAt": "2026-11-12T23:59:59Z",
        "releasedAt": "2026-11-12T23:59:59Z", "ingestedAt": ARCHIVE_FETCH, "revisionStatus": "initial",
        "sourceUrl": "https://fred.stlouisfed.org/series/UNRATE",
        "attribution": "Source: U.S. Bureau of Labor Statistics, via FRED®", "freshnessStatus": "fresh",
        "metadata": {
            "seriesId": "fred:country_usa:unemployment_rate:M", "nativeId": "UNRATE", "seasonalAdjustment": "SA", "releasePrecision": "day",
        },
        "rights": {
            "exposure": "public", "redistributable": True, "valueWithheld": False, "reason": None,
            "license": "Public domain: citation requested", "licenseClass": "consent", "attribution": "Source: U.S. Bureau of Labor Statistics, via FRED®",
        },
    }  # fmt: skip


def test_times(service):
    """A date-only release is knowable at 23:59:59Z of that day; a backfill without release times only from `ingestedAt`."""
    for month, row in zip(MONTHS, service.walk("/observations", indicator="unemployment_rate"), strict=True):
        assert row["observedAt"] == row["releasedAt"] == f"{released(month)}T23:59:59Z"
        assert row["metadata"]["releasePrecision"] == "day"
        assert row["ingestedAt"] == ARCHIVE_FETCH
    for row in service.walk("/observations", indicator="gov_yield_10y", country="JPN"):
        fetched = "2026-11-05T03:00:00Z" if row["periodEnd"] < "2026-11" else "2026-11-19T03:00:00Z"
        assert (row["observedAt"], row["releasedAt"], row["ingestedAt"]) == (fetched, None, fetched)
        assert "releasePrecision" not in row["metadata"]


def test_a_declared_publication_time(service):
    """It counts as stated for a cell's first vintage; later changes are known from their capture; cut to `ingestedAt`."""
    days = by_day(service.walk("/observations", indicator="gov_yield_2y", country="USA", source_id="us-treasury-par"))
    assert days[date(2026, 11, 10)]["observedAt"] == "2026-11-10T23:59:59Z"
    assert days[date(2026, 11, 18)]["observedAt"] == days[date(2026, 11, 18)]["releasedAt"] == "2026-11-18T23:30:00Z"
    (corrected,) = service.ok(
        "/observations", indicator="gov_yield_10y", country="USA", period=CORRECTED_DAY.isoformat()
    )
    assert (corrected["observedAt"], corrected["releasedAt"]) == ("2026-11-20T01:00:00Z", None)


def test_revision_statuses(service):
    """revisionStatus: initial, revised, final, unknown; each as its place and its feed say."""
    months = by_day(service.walk("/observations", indicator="cpi_index_nsa"))
    statuses = {day: row["revisionStatus"] for day, row in months.items()}
    assert statuses.pop(date(2023, 1, 31)) == "unknown"  # where the archive begins, a first release cannot be told
    assert statuses.pop(date(2026, 8, 31)) == "revised"
    assert set(statuses.values()) == {"initial"}
    assert {r["revisionStatus"] for r in service.walk("/observations", indicator="gov_yield_10y", country="JPN")} == {
        "unknown"
    }
    vintages = service.ok("/observations/vintages", indicator="cpi_index_nsa", period="2026-08")
    assert [(v["revisionStatus"], v["valueNumeric"], v["observedAt"]) for v in vintages] == [
        ("initial", price(REVISED_MONTH) - 1, "2026-09-12T23:59:59Z"), ("revised", price(REVISED_MONTH), "2026-10-14T23:59:59Z"),
    ]  # fmt: skip


def test_vintages(service):
    """/observations/vintages: one row per vintage, tombstones too (`metadata.withdrawn: true`)."""
    rows = service.walk("/observations/vintages", limit=500, sources="all")
    assert len(rows) == service.ok("/coverage")["vintages"]
    withdrawn = [r for r in rows if r["metadata"].get("withdrawn")]
    assert all(r["valueNumeric"] is None and r["valueText"] is None for r in withdrawn)
    assert {r["periodEnd"][:10] for r in withdrawn if r["indicatorId"].startswith("indicator_gov_yield")} == {
        "2026-11-12"
    }
    assert {r["periodEnd"][:10] for r in withdrawn if r["indicatorId"] == "indicator_cpi_index_nsa"} == {"2026-03-31"}
    old = service.ok("/observations/vintages", indicator="cpi_index_nsa", period="2026-08", as_of="2026-10-13")
    assert [v["revisionStatus"] for v in old] == ["initial"]
    late = service.ok("/observations/vintages", indicator="cpi_index_nsa", period="2026-08", start_date="2026-10-14")
    assert [v["revisionStatus"] for v in late] == ["revised"]


def test_forecasts(service):
    """A row whose period starts after its knowledge time has `metadata.forecast: true` and is never a latest reading."""
    rows = service.walk("/observations", indicator="potential_gdp")
    assert [(r["periodEnd"][:10], r["metadata"].get("forecast", False)) for r in rows] == [
        ("2026-03-31", False), ("2026-06-30", False), ("2026-09-30", False), ("2026-12-31", False),
        ("2027-03-31", True), ("2027-06-30", True), ("2027-09-30", True), ("2027-12-31", True),
    ]  # fmt: skip
    (latest,) = service.ok("/observations/latest", indicator="potential_gdp")
    assert latest["periodEnd"] == "2026-12-31T00:00:00Z"
    (series,) = service.ok("/indicators/potential_gdp/series")
    assert series["lastPeriod"] == "2026-12-31T00:00:00Z"


def test_latest(service):
    """The latest reading: newest `periodEnd` (no forecast), then the higher frequency, then the preferred order."""
    rows = {(r["indicatorId"][10:], r["entityId"]): r for r in service.walk("/observations/latest", limit=500)}
    newest = {}
    for path in ("/observations", "/derived-observations"):
        for row in service.walk(path, limit=500):
            if not row["metadata"].get("forecast"):
                newest[row["indicatorId"][10:], row["entityId"]] = row
    assert rows.keys() == newest.keys()
    for key, row in rows.items():
        assert row["id"] == newest[key]["id"], key
        assert set(row) == set(newest[key]) | {"derivedFrom"}
    assert rows["gov_yield_10y", "country_usa"]["valueNumeric"] == treasury_value("BC_10YEAR", date(2026, 11, 19))


def test_filters_of_latest(service):
    """/observations/latest: filters country, entity, indicator, indicator_id, source_id, provider_id, frequency, freshness, as_of."""
    whole = service.walk("/observations/latest", limit=500)
    for query, keep in (
        ({"kind": "derived"}, lambda r: r["derivedFrom"]), ({"kind": "raw"}, lambda r: not r["derivedFrom"]),
        ({"country": "JPN"}, lambda r: r["entityId"] == "country_jpn"), ({"frequency": "W"}, lambda r: r["frequency"] == "weekly"),
        ({"freshness": "fresh"}, lambda r: r["freshnessStatus"] == "fresh"), ({"freshness": "stale"}, lambda r: r["freshnessStatus"] == "stale"),
        ({"indicator_id": "sahm,unemployment_rate"}, lambda r: r["indicatorId"][10:] in {"sahm_indicator", "unemployment_rate"}),
        ({"provider_id": "mof"}, lambda r: r["providerId"] == "mof"), ({"entity": "atlantis"}, lambda r: False),
        ({"license": "non-commercial"}, lambda r: False),
    ):  # fmt: skip
        assert service.walk("/observations/latest", limit=500, **query) == [r for r in whole if keep(r)], query
    (copied,) = service.ok("/observations/latest", indicator="gov_yield_10y", source_id="fred")
    assert (copied["periodEnd"], copied["valueNumeric"]) == ("2026-11-18T00:00:00Z", COPY_10Y[date(2026, 11, 18)])
    (then,) = service.ok("/observations/latest", indicator="unemployment_rate", as_of="2026-11-11")
    assert then["periodEnd"] == "2026-09-30T00:00:00Z"


def test_freshness(own):
    """`freshnessStatus`, judged at `as_of` (else today), from the newest period against its frequency's allowance."""
    last, start = date(2026, 11, 19), "/observations/latest"
    for days, status in ((1, "fresh"), (10, "fresh"), (11, "stale"), (400, "stale")):
        own.data_now = int((last + timedelta(days) - date(1970, 1, 1)).total_seconds()) + 60
        (row,) = own.ok(start, indicator="gov_yield_2y", country="USA")
        assert row["freshnessStatus"] == status, days
        day = (last + timedelta(days)).isoformat()
        (then,) = own.ok(start, indicator="gov_yield_2y", country="USA", as_of=day)
        assert then["freshnessStatus"] == status
        # As of the day after, that day's own values were the newest: fresh, however long ago it was.
        (back,) = own.ok(start, indicator="gov_yield_2y", country="USA", as_of="2026-11-20")
        assert back["freshnessStatus"] == "fresh"


@pytest.mark.parametrize("path", ["/observations", "/observations/vintages", "/derived-observations"])
def test_rows_by_what_their_licence_asks_for(service, path):
    """`license`: open, attribution, non-commercial, consent; it narrows the candidates, as the class of each row says."""
    whole = service.walk(path, limit=500, sources="all")
    classes = {row["rights"]["licenseClass"] for row in whole}
    assert {"open", "attribution", "consent"} >= classes >= {"open", "consent"}
    for wanted in ("open", "attribution", "consent", "open,attribution", "CONSENT,open"):
        kept = [row for row in whole if row["rights"]["licenseClass"] in wanted.lower().split(",")]
        assert service.walk(path, limit=500, sources="all", license=wanted) == kept
    assert service.walk(path, limit=500, sources="all", license="open", source_id="fred") == []
    preferred = service.walk(path, limit=500, license="consent", indicator="gov_yield_10y")
    assert {row["sourceId"] for row in preferred} <= {"fred"}
    refused = service.error(path, 400, license="free")
    assert refused["details"]["allowed"] == ["open", "attribution", "non-commercial", "consent"]


@pytest.mark.parametrize("path", ["/observations", "/observations/vintages", "/derived-observations"])
def test_filters_are_the_same_everywhere(service, path):
    """`GET /observations` takes the same parameters as /derived-observations; vintages take its filters."""
    from .declared import ENDPOINTS

    document = [
        "limit",
        "cursor",
        "sort",
        "order",
        "country",
        "entity",
        "entity_id",
        "indicator_id",
        "indicator",
        "source_id",
        "provider_id",
        "license",
        "frequency",
        "period",
        "period_start",
        "period_end",
        "start_date",
        "end_date",
        "as_of",
        "sources",
    ]
    assert set(ENDPOINTS[path].by_name) == set(document)


@pytest.mark.parametrize(
    ("target", "long"),
    [
        ("/observations", False),
        ("/observations?country=USA&indicator=cpi_index&frequency=M&period=2026", False),
        ("/observations?sort=period_end&order=desc", True),
        ("/observations?sort=period_end&country=USA", True),
        ("/observations?sort=released_at&country=USA&indicator=cpi_index", False),
        ("/observations?sort=released_at&country=USA,DEU&indicator=cpi_index", True),
        ("/observations?start_date=2026-11-01&entity=united-states&indicator_id=cpi_index", False),
        ("/observations?period=FY2025&entity=united-states&indicator_id=cpi_index", True),
        ("/observations?sort=released_at", True),
        ("/observations?start_date=2026-11-01", True),
        ("/derived-observations?end_date=2026-11-01", True),
        ("/observations/vintages", False),
        ("/observations/vintages?start_date=2026-11-01", True),
        ("/observations?sort=period_end&frequency=A", True),
        ("/observations?sort=period_end&start_date=2026-11-01", True),
        ("/observations?sort=observed_at&source_id=fred", True),
        ("/derived-observations?sort=observed_at&provider_id=mof", True),
        ("/observations?sort=observed_at&period=2026", True),
        ("/observations/vintages?sort=observed_at&order=desc", True),
        ("/observations/latest", False),
        ("/observations/latest?freshness=unknown", True),
        ("/observations/latest?source_id=fred", True),
        ("/observations/latest?freshness=unknown&country=USA", False),
    ],
)
def test_what_may_take_long_holds_nobody_up(service, target, long):
    """A request that sorts, or reads far more rows than it gives, runs in a thread; others go on meanwhile."""
    path, _, query = target.partition("?")
    assert (service.where(path, limit=77, **dict(parse_qsl(query))) == "heavy") is long


@pytest.mark.parametrize(
    ("path", "query"), [("/observations", {"sort": "released_at"}), ("/observations/changes", {"since": 0})]
)
def test_what_was_answered_a_moment_ago_takes_no_thread(own, path, query):
    """The dearest answer is kept like any page: who asks for it again takes nobody's place."""
    remote = isinstance(own.settings.data_place, str)  # the event loop waits for no server
    assert [own.where(path, **query) for _ in range(2)] == ["heavy", "heavy" if remote else "loop"]


def test_what_is_too_broad_is_refused_with_how_to_narrow_it(built, tmp_path):
    """Above ALMANAC_SORT_ROWS vintages meant a list in another order is 400 `too_broad`, judged on the first page."""
    home = copy(built, tmp_path / "home")
    with closing(Service(home)) as wide, closing(Service(home, {"SORT_ROWS": "40"})) as narrow:
        refused = narrow.error("/observations", 400, sort="observed_at", country="USA")
        assert refused["details"]["parameter"] == "sort"
        assert refused["details"]["reason"] == "too_broad"
        assert refused["details"]["rows"] > refused["details"]["allowed"] == 40
        assert refused["details"]["narrowBy"][0] == "indicator_id"
        assert "country" not in refused["details"]["narrowBy"]
        for path in ("/observations", "/derived-observations", "/observations/vintages"):
            bounded = narrow.error(path, 400, start_date="1990-01-01")
            assert (bounded["details"]["parameter"], bounded["details"]["reason"]) == ("start_date", "too_broad")
        changed = narrow.error("/observations/changes", 400, since=0, end_date="2026-01-01")
        assert changed["details"]["parameter"] == "end_date"
        assert narrow.ok("/observations", limit=500)
        first = wide.get("/observations", sort="observed_at", limit=10).json()
        cursor = first["meta"]["pagination"]["next_cursor"]
        assert narrow.ok("/observations", sort="observed_at", limit=10, cursor=cursor)


# -- gET /derived-observations: every parameter, with the values it must give -----------------------------------------


PATH = "/derived-observations"
DAYS = [day for day in TREASURY_DAYS if day != WITHDRAWN_DAY]


def stamp(day):
    return f"{day}T00:00:00Z"


def last_day(month):
    return (month.replace(day=28) + (date(2000, 1, 5) - date(2000, 1, 1))).replace(day=1) - (date(2000, 1, 2) - date(2000, 1, 1))  # fmt: skip


def values(rows):
    return {row["periodEnd"]: row["valueNumeric"] for row in rows}


def inflation(month, base=price):
    return 100 * (base(month) / price(month.replace(year=month.year - 1)) - 1)


def slopes():
    ten = {day: treasury_value("BC_10YEAR", day) for day in DAYS} | {CORRECTED_DAY: CORRECTED}
    return {stamp(day): pytest.approx(ten[day] - treasury_value("BC_2YEAR", day)) for day in DAYS}


def inflations():
    return {
        stamp(last_day(m)): pytest.approx(inflation(m)) for m in MONTHS if m.year > 2023 and m != WITHDRAWN_MONTH
    }  # fmt: skip


def test_values_and_lineage(service):
    """Lists observations of derived indicators; derivedFrom: ids of the input series the value was computed from."""
    rows = service.walk(PATH, indicator_id="yield_slope_2s10s", source_id="us-treasury-par")
    assert values(rows) == slopes()
    assert {tuple(row["derivedFrom"]) for row in rows} == {
        ("us-treasury-par:country_usa:gov_yield_10y:D", "us-treasury-par:country_usa:gov_yield_2y:D")
    }
    row = rows[0]
    assert {key: row[key] for key in row if key not in {"id", "valueNumeric", "derivedFrom", "rights", "attribution"}} == {
        "entityId": "country_usa", "indicatorId": "indicator_yield_slope_2s10s", "sourceId": "us-treasury-par",
        "providerId": "us-treasury", "valueText": None, "unit": "percentage_points", "frequency": "daily",
        "periodStart": "2023-11-13T00:00:00Z", "periodEnd": "2023-11-13T00:00:00Z", "observedAt": "2023-11-13T23:59:59Z",
        "releasedAt": "2023-11-13T23:59:59Z", "ingestedAt": "2024-01-02T06:00:00Z", "revisionStatus": "initial",
        "sourceUrl": row["sourceUrl"], "freshnessStatus": "fresh", "metadata": row["metadata"],
    }  # fmt: skip
    assert row["rights"]["valueWithheld"] is False


def test_formulas_over_periods(service):
    """Formulas look inputs up by reference period; a missing period gives no value, not a shifted one."""
    assert values(service.walk(PATH, indicator="cpi_inflation_yoy")) == inflations()
    misery = service.walk(PATH, indicator="misery_index")
    assert values(misery) == {
        stamp(last_day(m)): pytest.approx(jobless(m) + inflation(m))
        for m in MONTHS
        if m.year > 2023 and m != WITHDRAWN_MONTH
    }
    spread = service.walk(PATH, indicator="sovereign_spread_10y_usa", period="2026-11-18")
    assert [(r["valueNumeric"], r["sourceId"], r["providerId"]) for r in spread] == [
        (
            pytest.approx(mof_value(10, date(2026, 11, 18)) - treasury_value("BC_10YEAR", date(2026, 11, 18))),
            "almanac-derived",
            "almanac",
        )  # fmt: skip
    ]
    assert spread[0]["derivedFrom"] == ["mof-japan:country_jpn:gov_yield_10y:D", "us-treasury-par:country_usa:gov_yield_10y:D"]  # fmt: skip


def test_kinds_do_not_mix(service):
    """A derived indicator named on /observations gives an empty list, and the other way round."""
    assert service.walk(PATH, indicator="gov_yield_10y") == []
    assert service.walk("/observations", indicator="yield_slope_2s10s") == []
    both = {"indicator_id": "gov_yield_10y,yield_slope_2s10s"}
    assert {r["indicatorId"] for r in service.walk(PATH, **both)} == {"indicator_yield_slope_2s10s"}
    assert {r["indicatorId"] for r in service.walk("/observations", **both)} == {"indicator_gov_yield_10y"}
    assert all("derivedFrom" not in row for row in service.walk("/observations", **both))


def test_as_of_prefers_what_was_known(service):
    """`sources=preferred`: the first in order that has a value for that cell **under the same as_of**."""
    query = {"indicator": "yield_slope_2s10s", "country": "USA", "period": WITHDRAWN_DAY.isoformat()}
    before = service.ok(PATH, as_of="2026-11-20T00:59:59Z", **query)
    after = service.ok(PATH, as_of="2026-11-20T01:00:00Z", **query)
    assert [(r["sourceId"], r["valueNumeric"]) for r in before] == [
        (
            "us-treasury-par",
            pytest.approx(treasury_value("BC_10YEAR", WITHDRAWN_DAY) - treasury_value("BC_2YEAR", WITHDRAWN_DAY)),
        )  # fmt: skip
    ]
    assert [r["sourceId"] for r in after] == ["fred"]


def test_dates_never_make_an_older_vintage_appear(service):
    """`start_date` and `end_date` test the row that `as_of` and the choice gave, they never make an older vintage appear."""
    query = {"indicator": "cpi_inflation_yoy", "period": "2026-08"}
    assert service.walk(PATH, end_date="2026-10-13", **query) == []
    (old,) = service.walk(PATH, as_of="2026-10-13", end_date="2026-10-13", **query)
    assert old["valueNumeric"] == pytest.approx(inflation(REVISED_MONTH, lambda m: price(m) - 1))
    assert service.walk(PATH, as_of="2026-10-13", start_date="2026-09-13", **query) == []


def test_as_of(service):
    """as_of: point-in-time cutoff. For each series and reference period, the latest vintage known by then."""
    query = {"indicator": "cpi_inflation_yoy", "period": "2026-08"}
    first, second = inflation(REVISED_MONTH, lambda m: price(m) - 1), inflation(REVISED_MONTH)
    for moment, value, status in (
        ("2026-09-12", first, "initial"), ("2026-09-12T23:59:59Z", first, "initial"), ("2026-10-13", first, "initial"),
        ("2026-10-14T23:59:58Z", first, "initial"), ("2026-10-14T23:59:59Z", second, "revised"),
        ("2026-10-15T01:59:59+02:00", second, "revised"), ("2026-10-14", second, "revised"), ("2026-11-20", second, "revised"),
    ):  # fmt: skip
        rows = service.ok(PATH, as_of=moment, **query)
        assert [(r["valueNumeric"], r["revisionStatus"]) for r in rows] == [(pytest.approx(value), status)], moment
    for moment in ("2026-09-11", "2026-09-12T23:59:58Z", "2020-01-01"):
        assert service.ok(PATH, as_of=moment, **query) == []
    (row,) = service.ok(PATH, **query)
    assert service.ok(PATH, as_of=row["observedAt"], **query) == [row]


def test_as_of_of_a_withdrawn_value(service):
    """Absent if none, or a tombstone: where nothing can be computed any more, the derived value is withdrawn too."""
    for indicator in ("cpi_inflation_yoy", "misery_index"):
        query = {"indicator": indicator, "period": "2026-03"}
        assert len(service.ok(PATH, as_of="2026-06-10", **query)) == 1
        assert service.ok(PATH, as_of="2026-06-11", **query) == []
        assert service.ok(PATH, **query) == []


def test_every_as_of_agrees_with_vintages(service):
    """No `as_of`: the same with T = now; a row's own `observedAt` returns that row."""
    states = service.walk("/observations/vintages", sources="all", limit=500, indicator="cpi_inflation_yoy")
    for moment in sorted({r["observedAt"] for r in states})[-12:]:
        known = {}
        for row in states:
            if row["observedAt"] <= moment:
                known[row["periodEnd"]] = row
        expected = [r["id"] for _, r in sorted(known.items()) if not r["metadata"].get("withdrawn")]
        found = service.walk(PATH, as_of=moment, sources="all", limit=500, indicator="cpi_inflation_yoy")
        assert [r["id"] for r in found] == expected
    assert service.walk(PATH, as_of="2026-11-20T12:00:00Z") == service.walk(PATH)


# No answer shows the noise of binary fractions. The invented publishers print at most six digits, companies whole amounts.


def test_what_counts_as_long():
    assert long_numbers('{"a": [0.6900000000000004, 123456789012345, 0.000123456789012, 1.0], "b": -148.00000000000006}') == [
        "0.6900000000000004", "-148.00000000000006",
    ]  # fmt: skip


@pytest.mark.parametrize("path", sorted(ENDPOINTS.keys() - {"/observations/{id}/provenance", "/llms.txt"}))
def test_no_number_has_more_than_twelve_significant_digits(service, path):
    target = re.sub(r"\{\w+\}", PATH_VALUES.get(path, ""), path)
    paging = {"limit": 200} if ENDPOINTS[path].kind == "list" else {}
    answer = service.get(target, "pro", None, **REQUIRED.get(path, {}), **paging)
    assert answer.status_code == 200, answer.text
    assert long_numbers(answer.text) == []


@pytest.mark.parametrize("scope", SCOPES)
def test_no_spread_of_the_simulated_yields_has_either(sandbox, scope):
    assert long_numbers(sandbox.get(f"/rates/{scope}").text) == []


def test_recomputing_a_rounded_value_gives_it_again(service):
    rows = service.ok("/derived-observations", limit=40) + service.ok("/derived-observations", limit=40, order="desc")
    assert {row["unit"] for row in rows} >= {"percentage_points"}
    for row in rows:
        assert service.ok(f"/observations/{row['id']}/provenance")["verified"] is True, row
