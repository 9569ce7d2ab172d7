"""Clauses on changes over one year, against plain Python over what was made up and over what is served."""

from __future__ import annotations

from collections import defaultdict
from datetime import date

import pytest

from almanac.domain.numbers import exact_sum
from almanac.domain.periods import Period, add_months
from almanac.domain.times import wire_time

from .test_equity_screener import MADE, NOW, made_up, months_before, reading, screen, seconds, statement

__all__ = ["made_up", "screen"]

#: Money, a ratio and an amount of a balance sheet.
FIELDS = ("revenue_ttm", "net_margin", "total_assets")


def change(company, field, at):
    """(change, known since) as known at a moment: the latest reading less that of the same quarter a year before."""
    newest = reading(company, field, at, dollars=True, first=months_before(at))
    if newest is None:
        return None
    value, quarter, when = newest
    before = Period.parse(f"{quarter.end.year - 1}-Q{(quarter.end.month - 1) // 3 + 1}")
    # What was known of that quarter alone: nothing later takes its place.
    alone = company._replace(values={field: {q: v for q, v in company.values[field].items() if q == before}})
    earlier = reading(alone, field, at, dollars=True)
    return None if earlier is None else (exact_sum(value, -earlier[0]), max(when, earlier[2]))


@pytest.mark.parametrize("at", [NOW, seconds("2026-03-01"), seconds("2025-08-15"), seconds("2024-02-01")])
@pytest.mark.parametrize("field", FIELDS)
def test_companies_by_the_change_of_a_number_as_known_at_a_moment(screen, field, at):
    """The value known at the moment against that of the period a year before, as known at the same moment; else no value."""
    moment = {} if at == NOW else {"as_of": wire_time(at)}
    name = f"{field}:change_1y"
    some = {}
    for company in MADE:
        found = change(company, field, at)
        if found is not None and statement(company, at) is not None:
            some[company.entity] = found
    for verb, passes in (("lt", lambda x: x < 0), ("gte", lambda x: x >= 0)):
        rows = screen.walk("/equity-screener", filter=f"{name}:{verb}:0", **moment)
        assert {row["entityId"]: (row["values"][name], row["observedAt"]) for row in rows} == {
            entity: (value, wire_time(when)) for entity, (value, when) in some.items() if passes(value)
        }
    assert (at == seconds("2024-02-01")) == (not some)  # nothing was known then of a year before
    # Sorted by it, and told beside: companies without it come last.
    rows = screen.walk(
        "/equity-screener", filter="sector:in:technology|financials|énergie", sort=name, fields=name, **moment
    )
    values = [row["values"].get(name) for row in rows]
    there = [value for value in values if value is not None]
    assert there == sorted(there)
    assert values == [*there, *[None] * (len(values) - len(there))]
    assert len(there) == len(some)


@pytest.mark.parametrize("as_of", [None, "2026-10-14", "2026-03-01"])
def test_places_by_the_change_of_a_reading(service, as_of):
    """Of the series that the latest reading is of: same source, frequency and unit; daily data up to seven days before."""
    moment = {} if as_of is None else {"as_of": as_of}
    checked = 0
    for slug in ("gov_yield_10y", "cpi_index_nsa", "unemployment_rate", "real_gdp", "cpi_inflation_yoy"):
        path = "/observations" if service.ok(f"/indicators/{slug}")["kind"] == "raw" else "/derived-observations"
        history = defaultdict(list)
        for row in service.walk(path, indicator=slug, sources="all", limit=500, **moment):
            if row["valueNumeric"] is not None:
                history[row["metadata"]["seriesId"]].append(row)
        latest = service.ok("/observations/latest", indicator=slug, limit=500, **moment)
        expected = {}
        for row in latest:
            target = add_months(date.fromisoformat(row["periodEnd"][:10]), -12)
            near = [
                (abs((target - day).days), one)
                for one in history[row["metadata"]["seriesId"]]
                if abs((target - (day := date.fromisoformat(one["periodEnd"][:10]))).days)
                <= (7 if row["frequency"] == "daily" else 3)
                and (row["frequency"] != "daily" or day <= target)
            ]
            if near and row["valueNumeric"] is not None:
                before = min(near, key=lambda one: one[0])[1]
                expected[row["entityId"]] = exact_sum(float(row["valueNumeric"]), -float(before["valueNumeric"]))
        name = f"{slug}:change_1y"
        rows = service.walk("/screener", filter=f"{name}:gt:-1e300", **moment)
        told = {row["entityId"]: match["value"] for row in rows for match in row["matches"] if match["field"] == name}
        assert told == expected, slug
        checked += len(expected)
    assert checked > 3


def test_a_change_of_a_percentage_is_in_percentage_points(service):
    (row,) = service.ok("/screener", filter="gov_yield_10y:change_1y:gt:-99", country="USA", fields="gov_yield_10y")
    assert [(match["field"], match["unit"]) for match in row["matches"]] == [
        ("gov_yield_10y:change_1y", "percentage_points"), ("gov_yield_10y", "percent"),
    ]  # fmt: skip


def test_a_withheld_series_has_no_change(service):
    """Withheld values take no part in screener filters."""
    assert service.ok("/screener", filter="high_yield_spread:change_1y:gt:-1e300") == []
    rows = service.ok(
        "/screener",
        filter="gov_yield_10y:gt:-99",
        fields="high_yield_spread:change_1y",
        sort="high_yield_spread:change_1y",
    )
    assert all(match["field"] == "gov_yield_10y" for row in rows for match in row["matches"])


@pytest.mark.parametrize(
    ("path", "text", "reason", "said"),
    [
        ("/equity-screener", "sector:change_1y:eq:x", "change", "asks for a change over one year, and sector is a text"),
        ("/equity-screener", "score:change_1y:gt:1", "change", "scores are made among the companies of one moment"),
        ("/equity-screener", "shares_outstanding:change_1y:gt:1", "change", "a split of the shares would change it"),
        ("/equity-screener", "revenue_tm:change_1y:gt:1", "field", "names no field there is ('revenue_tm')"),
        ("/equity-screener", "revenue_ttm:change_1y:above:1", "operator", "it must be one of gt, lt, gte, lte, eq, in"),
        ("/equity-screener", "revenue_ttm:change_1y:gt:abc", "number", "needs a number"),
        ("/equity-screener", "revenue_ttm:change_1y:gt", "operator", "has the operator 'change_1y'"),
        ("/equity-screener", "revenue_ttm:change_2y:gt:1", "syntax", "is not of the form field:operator:value or field:change_1y:operator:value"),
        ("/screener", "gov_yield_10y:change_1y:change_1y:gt:1", "syntax", "is not of the form field:operator:value or"),
    ],
)  # fmt: skip
def test_a_clause_that_cannot_be_read_names_what_is_allowed(screen, service, path, text, reason, said):
    """400 about a filter starts with 'filter' and quotes the offending clause."""
    error = (screen if path == "/equity-screener" else service).error(path, 400, filter=text)
    assert error["message"].startswith("'filter' has the clause '")
    assert said in error["message"]
    assert error["details"]["reason"] == reason


@pytest.mark.parametrize("name", ["score:change_1y", "sector:change_1y", "revenue_ttm:change_9y", "no_such:change_1y"])
def test_what_has_no_change_is_no_column_and_no_order(screen, name):
    for parameter in ("sort", "fields"):
        error = screen.error("/equity-screener", 400, filter="revenue_ttm:gt:0", **{parameter: name})
        assert error["message"].startswith(f"'{parameter}' ")


def test_the_syntax_of_a_change_is_told(screen, service):
    for one, path in ((screen, "/equity-screener/filters"), (service, "/screener/filters")):
        assert "field:change_1y:operator:value asks for the change of a number over one year" in one.ok(path)["syntax"]
