"""GET /derived-observations: every parameter, with the values it must give."""

from datetime import date

import pytest

from tests.support.invented_mirror import (
    COPY_2Y,
    COPY_10Y,
    CORRECTED,
    CORRECTED_DAY,
    MONTHS,
    REVISED_MONTH,
    TREASURY_DAYS,
    WITHDRAWN_DAY,
    WITHDRAWN_MONTH,
    jobless,
    mof_value,
    price,
    treasury_value,
)

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


@pytest.mark.parametrize("name", ["country", "entity", "entity_id"])
def test_country_and_entity(service, name):
    """`country` ISO-2/ISO-3/id/slug; `entity`, `entity_id` id or slug; case-insensitive. Unknown: an empty list."""
    spelled = ["country_jpn", "JAPAN", "japan", "Country_JPN"] + (["JP", "jpn", "392"] if name == "country" else [])
    found = [service.walk(PATH, **{name: text}) for text in spelled]
    assert {row["entityId"] for row in found[0]} == {"country_jpn"}
    assert len(found[0]) == 87
    assert all(one == found[0] for one in found)
    for unknown in ("EUR", "region_euro_area", "atlantis", "ZZ", "%"):
        assert service.walk(PATH, **{name: unknown}) == []
    if name != "country":
        assert service.walk(PATH, **{name: "JP"}) == []
    assert service.walk(PATH, **{name: "japan", "country": "USA"} if name != "country" else {name: "japan", "entity": "united-states"}) == []  # fmt: skip


def test_indicator(service):
    """indicator_id: derived indicator id or slug; a comma-separated list is accepted. Both given: union. Aliases too."""
    sahm = service.walk(PATH, indicator="sahm_indicator")
    assert len(sahm) == 35
    for spelled in ("indicator_sahm_indicator", "sahm", "SAHM_RULE", "Sahm_Indicator"):
        assert service.walk(PATH, indicator=spelled) == service.walk(PATH, indicator_id=spelled) == sahm
    several = service.walk(PATH, indicator_id="sahm,misery_index,sahm_indicator")
    assert several == service.walk(PATH, indicator="misery_index", indicator_id="sahm")
    assert [r["indicatorId"] for r in several] == ["indicator_misery_index"] * 33 + ["indicator_sahm_indicator"] * 35
    assert service.walk(PATH, indicator_id="sahm,nonsense") == sahm
    assert service.walk(PATH, indicator="nonsense") == []
    assert service.error(PATH, 400, indicator_id="sahm,,misery_index")["details"]["reason"] == "empty"


def test_kinds_do_not_mix(service):
    """A derived indicator named on /observations gives an empty list, and the other way round."""
    assert service.walk(PATH, indicator="gov_yield_10y") == []
    assert service.walk("/observations", indicator="yield_slope_2s10s") == []
    both = {"indicator_id": "gov_yield_10y,yield_slope_2s10s"}
    assert {r["indicatorId"] for r in service.walk(PATH, **both)} == {"indicator_yield_slope_2s10s"}
    assert {r["indicatorId"] for r in service.walk("/observations", **both)} == {"indicator_gov_yield_10y"}
    assert all("derivedFrom" not in row for row in service.walk("/observations", **both))


def test_sources(service):
    """preferred returns one provider per (entity, indicator, frequency, period); all returns every provider's row."""
    query = {"indicator": "yield_slope_2s10s", "country": "USA"}
    preferred, every = service.walk(PATH, **query), service.walk(PATH, sources="all", **query)
    assert preferred == service.walk(PATH, sources="preferred", **query)
    copied = {stamp(day): pytest.approx(COPY_10Y[day] - COPY_2Y[day]) for day in COPY_10Y}
    assert values(r for r in every if r["sourceId"] == "fred") == copied
    assert values(r for r in every if r["sourceId"] == "us-treasury-par") == slopes()
    # The first source has no value for the day it withdrew: the second one's stands in.
    assert values(preferred) == slopes() | {stamp(WITHDRAWN_DAY): copied[stamp(WITHDRAWN_DAY)]}
    assert {r["periodEnd"] for r in preferred if r["sourceId"] == "fred"} == {stamp(WITHDRAWN_DAY)}
    assert [r["sourceId"] for r in every if r["periodEnd"] == stamp(CORRECTED_DAY)] == ["us-treasury-par", "fred"]


def test_source_and_provider_narrow_before_the_choice(service):
    """`source_id` and `provider_id` narrow the candidates before the choice."""
    query = {"indicator": "yield_slope_2s10s", "country": "USA"}
    copied = {stamp(day): pytest.approx(COPY_10Y[day] - COPY_2Y[day]) for day in COPY_10Y}
    assert values(service.walk(PATH, source_id="fred", **query)) == copied
    assert values(service.walk(PATH, provider_id="FRED", **query)) == copied
    assert values(service.walk(PATH, provider_id="us-treasury", **query)) == slopes()
    for nothing in (
        {"source_id": "fred", "provider_id": "mof"},
        {"source_id": "nonsense"},
        {"provider_id": "nonsense"},
    ):
        assert service.walk(PATH, **nothing) == []


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


@pytest.mark.parametrize(
    "words", [("D", "daily"), ("M", "monthly"), ("Q", "quarterly"), ("W", "weekly"), ("A", "annual")]
)
def test_frequency(service, words):
    """`frequency` A S Q M W D or the words."""
    expected = [r for r in service.walk(PATH, limit=500) if r["frequency"] == words[1]]
    assert len(expected) == {"D": 277, "M": 136, "Q": 9, "W": 0, "A": 0}[words[0]]
    for word in (*words, words[0].lower(), words[1].upper()):
        assert service.walk(PATH, frequency=word) == expected
    error = service.error(PATH, 400, frequency="hourly")
    assert error["message"].startswith("'frequency' must be one of ")


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        ("2026", "2026-01-31", "2026-10-31"), ("2026-Q3", "2026-07-31", "2026-09-30"), ("2026-q2", "2026-04-30", "2026-06-30"),
        ("2026-10", "2026-10-31", "2026-10-31"), ("2026-10-31", None, None), ("2022", None, None),
    ],
)  # fmt: skip
def test_period(service, asked, first, last):
    """`period` `2026`, `2026-10`, `2026-Q3`, `2026-10-31`: reference periods lying inside it."""
    rows = service.walk(PATH, indicator="sahm_indicator", period=asked)
    ends = [row["periodEnd"][:10] for row in rows]
    whole = [row["periodEnd"][:10] for row in service.walk(PATH, indicator="sahm_indicator")]
    assert ends == ([end for end in whole if first <= end <= last] if first else [])
    assert bool(ends) == bool(first)


def test_period_of_a_day(service):
    """A day lies inside its day, its month, its quarter; a quarter not inside a month."""
    for asked, number in (("2026-11-18", 1), ("2026-11", 14), ("2026-Q4", 16), ("2026", 16)):
        assert len(service.walk(PATH, indicator="yield_slope_2s10s", country="USA", period=asked)) == number
    assert service.walk(PATH, indicator="gdp_growth_yoy", period="2026-03") == []
    assert len(service.walk(PATH, indicator="gdp_growth_yoy", period="2026-Q1")) == 1
    for bad in ("2026-13", "26", "2026-Q5", "2026-02-30", "2026/10", "0000"):
        assert service.error(PATH, 400, period=bad)["details"]["parameter"] == "period"


def test_period_start_and_end(service):
    """`period_start` periods starting on or after; `period_end` periods ending on or before."""
    query = {"indicator": "sahm_indicator"}
    whole = service.walk(PATH, **query)
    for start, first in (("2026-08-01", "2026-08-01"), ("2026-08-02", "2026-09-01"), ("2026-08-01T00:00:00Z", "2026-08-01"),
                         ("2026-08-01T00:00:01Z", "2026-09-01"), ("2026-07-31T20:00:00-04:00", "2026-08-01")):  # fmt: skip
        assert service.walk(PATH, period_start=start, **query) == [r for r in whole if r["periodStart"][:10] >= first]
    for end, last in (("2026-08-31", "2026-08-31"), ("2026-08-30", "2026-07-31"), ("2026-08-31T00:00:00Z", "2026-08-31"),
                      ("2026-08-30T23:59:59Z", "2026-07-31"), ("2026-08-31T01:00:00+02:00", "2026-07-31")):  # fmt: skip
        assert service.walk(PATH, period_end=end, **query) == [r for r in whole if r["periodEnd"][:10] <= last]
    both = service.walk(PATH, period_start="2026-05-01", period_end="2026-06-30", **query)
    assert [r["periodEnd"][:10] for r in both] == ["2026-05-31", "2026-06-30"]
    error = service.error(PATH, 400, period_start="2026-07-01", period_end="2026-06-30")
    assert (error["message"], error["details"]["reason"]) == ("'period_start' is after 'period_end'", "start_after_end")


def test_start_and_end_date(service):
    """`start_date`, `end_date` bound `observedAt`, both ends inclusive; a bare date is its first second and its last."""
    query = {"indicator": "cpi_inflation_yoy"}
    whole = service.walk(PATH, **query)
    assert [r["periodEnd"][:10] for r in whole if r["observedAt"] == "2026-10-12T23:59:59Z"] == ["2026-09-30"]
    for name, text, keep in (
        ("start_date", "2026-10-12", lambda at: at >= "2026-10-12T00:00:00Z"),
        ("start_date", "2026-10-12T23:59:59Z", lambda at: at >= "2026-10-12T23:59:59Z"),
        ("start_date", "2026-10-13", lambda at: at >= "2026-10-13T00:00:00Z"),
        ("end_date", "2026-10-12", lambda at: at <= "2026-10-12T23:59:59Z"),
        ("end_date", "2026-10-12T23:59:58Z", lambda at: at < "2026-10-12T23:59:59Z"),
    ):
        assert service.walk(PATH, **query, **{name: text}) == [r for r in whole if keep(r["observedAt"])]
    assert (
        service.error(PATH, 400, start_date="2026-07-02", end_date="2026-07-01")["details"]["reason"]
        == "start_after_end"
    )


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


def test_as_of_in_the_future(service):
    """An instant later than now + 60 s → 400; the bare date of today is now."""
    assert service.ok(PATH, as_of="2026-11-20T12:01:00Z") == service.ok(PATH, as_of="2026-11-20")
    for late in ("2026-11-20T12:01:01Z", "2026-11-21", "9999-12-31"):
        error = service.error(PATH, 400, as_of=late)
        assert (error["message"], error["details"]["reason"]) == ("'as_of' lies in the future", "future")
    for bad in ("yesterday", "2026-11-20T12:00:00", "2026-02-30", "20261120", "1763640000"):
        assert service.error(PATH, 400, as_of=bad)["details"]["reason"] == "type"


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


def test_sort_is_checked(service):
    """sort: sort field; an unknown one is refused with the nearest."""
    error = service.error(PATH, 400, sort="period_ends")
    assert error["details"]["allowed"] == ["topic", "period_start", "period_end", "observed_at", "released_at", "ingested_at"]  # fmt: skip
    assert error["details"]["suggestion"] == "period_end"
    assert service.walk(PATH, sort="topic") == service.walk(PATH)
