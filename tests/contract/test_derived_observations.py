"""GET /derived-observations: every parameter, with the values it must give."""

from datetime import date

import pytest

from tests.support.invented_mirror import (
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
