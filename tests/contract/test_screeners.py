"""The macro screener, against plain Python over what /observations/latest serves."""

import random
from datetime import date

import msgspec
import pytest

from almanac.api.endpoints.screeners.screeners import ScreenerRow
from almanac.api.endpoints.screeners.screening import ScreenerFilters
from tests.support.invented_mirror import treasury_value

from .test_pages import arrive
from .test_rights import DERIVED, NO_CONSENT, RAW, assert_nothing_leaks

PATH = "/screener"
VERBS = ["gt", "lt", "gte", "lte", "eq", "in"]


class Served:
    """What a service serves of the latest readings, under a plan and at a moment."""

    def __init__(self, service, key="pro", **moment):
        self.rows = {}
        for row in service.walk("/observations/latest", key, limit=500, **moment):
            slug = row["indicatorId"].removeprefix("indicator_")
            self.rows.setdefault(slug, {})[row["entityId"]] = row
        self.fields = [field["field"] for field in service.ok("/screener/filters")["fields"]]
        self.countries = {c["id"]: c for c in service.walk("/countries", limit=500)}

    def value(self, field, entity, fresh):
        row = self.rows.get(field, {}).get(entity)
        if row is None or (fresh and row["freshnessStatus"] != "fresh"):
            return None
        return row["valueNumeric"]

    def expected(self, clauses, country=None, fresh=False):
        """Rows that a screen must give, in order."""
        found = []
        for entity, record in sorted(self.countries.items(), key=lambda one: (one[1]["name"], one[0])):
            if country is not None and country not in (record["isoAlpha3"], record["isoAlpha2"], *record["aliases"]):
                continue
            if all(passes(self.value(field, entity, fresh), verb, given) for field, verb, given in clauses):
                names = dict.fromkeys(field for field, _, _ in clauses)
                found.append((entity, record["name"], [self.match(field, entity) for field in names]))
        return found

    def match(self, field, entity):
        row = self.rows[field][entity]
        return {
            "field": field, "value": self.value(field, entity, fresh=False), "unit": row["unit"], "currency": row["metadata"].get("currency"), "periodEnd": row["periodEnd"],
            "observedAt": row["observedAt"], "freshnessStatus": row["freshnessStatus"], "seriesId": row["metadata"]["seriesId"],
        }  # fmt: skip

    def clauses(self, rng):
        """One to three clauses about values that are there, and now and then about a field that has none."""
        clauses = []
        shared = [slug for slug, rows in self.rows.items() if len(rows) > 1]
        for _ in range(rng.choice([1, 1, 2, 3])):
            field = rng.choice(shared * 4 + [*self.rows, rng.choice(self.fields)])
            values = [v for row in self.rows.get(field, {}).values() if (v := row["valueNumeric"]) is not None] or [0.5]
            verb = rng.choice(VERBS)
            given = [rng.choice(values) + rng.choice([0, 0, 0, -0.5, 0.5]) for _ in range(rng.randint(1, 4))]
            clauses.append((field, verb, given if verb == "in" else given[:1]))
        return clauses


def passes(value, verb, given):
    if value is None:
        return False
    return {
        "gt": value > given[0], "lt": value < given[0], "gte": value >= given[0], "lte": value <= given[0],
        "eq": value == given[0], "in": value in given,
    }[verb]  # fmt: skip


def written(clauses):
    return ",".join(f"{field}:{verb}:{'|'.join(map(str, given))}" for field, verb, given in clauses)


def shown(rows):
    return [(row["entityId"], row["name"], row["matches"]) for row in rows]


def check(service, served, rng, count, key="pro", **moment):
    """Random screens; how many of them matched something."""
    matched = 0
    for _ in range(count):
        clauses = served.clauses(rng)
        fresh, country = rng.random() < 0.3, rng.choice([None] * 6 + ["USA", "JPN", "US"])
        query = {"filter": written(clauses), **moment}
        query |= {"freshness": "fresh"} if fresh else {}
        query |= {"country": country} if country else {}
        body = service.get(PATH, key, None, **query, limit=500).json()
        whole = served.expected(clauses, country, fresh)
        assert shown(body["data"]) == whole, query
        assert body["meta"]["pagination"]["total"] == len(whole)
        matched += bool(whole)
    return matched


def test_random_screens_of_the_simulated_world(sandbox):
    """Screens entities by macro indicator values: 150 random filters against what is served."""
    assert check(sandbox, Served(sandbox), random.Random(1), 150) > 60


@pytest.mark.parametrize("key", ["pro", "free"])
@pytest.mark.parametrize("as_of", [None, "2024-11-25", "2025-11-14", "2026-10-14", "2026-11-18T23:45:00Z"])
def test_random_screens_as_of(service, as_of, key):
    """The same at past moments, with revisions, withdrawals, forecasts and a withheld source; under a plan with a window too."""
    moment = {} if as_of is None else {"as_of": as_of}
    assert check(service, Served(service, key, **moment), random.Random(2), 30, key, **moment) >= 3


def test_the_row(service):
    """Row: entityId, name, country, matches[{field, value, unit, periodEnd, observedAt, freshnessStatus, seriesId}]."""
    rows = service.walk(PATH, filter="gov_yield_10y:gt:0, yield_slope_2s10s:gt:-9")
    for row in rows:
        msgspec.convert(row, ScreenerRow, strict=True)
        assert list(row) == ["entityId", "name", "country", "matches"]
    assert [(row["country"], [m["field"] for m in row["matches"]]) for row in rows] == [
        ("JPN", ["gov_yield_10y", "yield_slope_2s10s"]), ("USA", ["gov_yield_10y", "yield_slope_2s10s"]),
    ]  # fmt: skip
    assert rows[1]["matches"][0] == {
        "field": "gov_yield_10y", "value": treasury_value("BC_10YEAR", date(2026, 11, 19)), "unit": "percent", "currency": None, "periodEnd": "2026-11-19T00:00:00Z",
        "observedAt": "2026-11-19T23:59:59Z", "freshnessStatus": "fresh", "seriesId": "us-treasury-par:country_usa:gov_yield_10y:D",
    }  # fmt: skip


def test_a_field_goes_by_slug_id_or_alias(service):
    """A field may be slug, `indicator_` id or alias; raw and derived both; the answer uses the slug."""
    rows = service.walk(PATH, filter="gov_yield_10y:gt:0")
    (record,) = [i for i in service.walk("/indicators", limit=500) if i["slug"] == "gov_yield_10y"]
    for name in ("GOV_YIELD_10Y", "indicator_gov_yield_10y", *record["aliases"]):
        assert service.walk(PATH, filter=f"{name}:gt:0") == rows


@pytest.mark.parametrize(
    ("country", "entities"),
    [
        ("USA", ["country_usa"]), ("us", ["country_usa"]), ("JPN", ["country_jpn"]), ("DEU", []), ("ZZZ", []),
        ("united-states", ["country_usa"]),
    ],
)  # fmt: skip
def test_one_country(service, country, entities):
    """Country restriction: a single country as an ISO code; an unknown one is an empty list, never unfiltered data."""
    rows = service.walk(PATH, filter="gov_yield_10y:gt:0", country=country)
    assert [row["entityId"] for row in rows] == entities


def test_several_countries_are_refused(service):
    """A single country: a list of them is an error, not an empty answer."""
    error = service.error(PATH, 400, filter="gov_yield_10y:gt:0", country="USA,JPN")
    assert error["message"].startswith("'country' ")


def test_freshness(own):
    """Freshness restriction: the single allowed value is `fresh`; only fresh (non-stale) latest readings are considered."""
    own.data_now = 1_798_800_000  # 2027-01-01T10:40:00Z: a month and more after the last daily values
    served = Served(own)
    seen = set()
    for slug, rows in served.rows.items():
        clauses = [(slug, "gt", [-1e300])]
        found = shown(own.walk(PATH, filter=written(clauses), freshness="fresh"))
        assert found == served.expected(clauses, fresh=True)
        seen |= {(len(found) > 0, row["freshnessStatus"]) for row in rows.values() if row["valueNumeric"] is not None}
    assert seen == {(True, "fresh"), (False, "stale")}
    error = own.error(PATH, 400, filter="gov_yield_10y:gt:0", freshness="stale")
    assert error["details"]["allowed"] == ["fresh"]


def test_page_size_total_and_pages(sandbox):
    """Page size: integer 1 to 500; meta.pagination.total is the full number of matches; cursor: opaque, from next_cursor."""
    query = {"filter": "gov_yield_10y:gt:-100"}
    whole = sandbox.get(PATH, **query).json()
    assert len(whole["data"]) == whole["meta"]["pagination"]["total"] == 7
    assert whole["meta"]["pagination"]["limit"] == 100
    for limit in (1, 2, 3, 7, 500):
        assert sandbox.walk(PATH, limit=limit, **query) == whole["data"]
        assert sandbox.get(PATH, limit=limit, **query).json()["meta"]["pagination"]["total"] == 7
    assert sandbox.error(PATH, 400, limit="501", **query)["details"]["allowed"] == {"minimum": 1, "maximum": 500}


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_sort(service, order):
    """Any field of the filter, or `name`: those lacking the value come last either way, ties by name, then id."""
    served = Served(service)
    query = {"filter": "gov_yield_10y:gt:0", "order": order, "limit": 1}
    by_name = service.walk(PATH, filter=query["filter"], order=order)
    assert (
        by_name
        == service.walk(PATH, sort="Name", **query)
        == sorted(by_name, key=lambda r: r["name"], reverse=order == "desc")
    )
    assert len(by_name) == 2
    lacking = 0
    for field in (
        "gov_yield_10y",
        "yield_slope_2s10s",
        "unemployment_rate",
        "cpi_inflation_yoy",
        "yield_spread_10y_3m",
        "gdp_real_growth_yoy",
    ):
        if field not in served.fields:
            continue
        rows = service.walk(PATH, sort=field.upper(), **query)
        values = {row["entityId"]: served.value(field, row["entityId"], fresh=False) for row in rows}
        there = [row for row in by_name if values[row["entityId"]] is not None]
        there.sort(key=lambda row: values[row["entityId"]], reverse=order == "desc")
        none = [row for row in by_name if values[row["entityId"]] is None]
        assert [row["entityId"] for row in rows] == [row["entityId"] for row in (*there, *none)], field
        lacking += len(none)
        for row in rows:
            names = [
                "gov_yield_10y",
                *([field] if values[row["entityId"]] is not None and field != "gov_yield_10y" else []),
            ]
            assert [served.match(name, row["entityId"]) for name in names] == row["matches"]
    assert lacking > 0


def test_sort_of_a_larger_world(sandbox):
    """The same over seven scopes, page by page, turned and not; a fresh reading only where only fresh ones count."""
    served = Served(sandbox)
    for field in ("gov_yield_2y", "yield_slope_2s10s"):
        for order in ("asc", "desc"):
            rows = sandbox.walk(PATH, filter="gov_yield_10y:gt:-100", sort=field, order=order, limit=2)
            told = [served.value(field, row["entityId"], fresh=False) for row in rows]
            assert told == sorted(told, reverse=order == "desc")
            assert len(told) == len({row["entityId"] for row in rows}) == 7


def test_a_withheld_value_sorts_last(service):
    """Withheld values take no part in sorting, and stand in no match."""
    served = Served(service)
    shut = [
        slug for slug in served.fields
        if slug in served.rows and all(row["rights"]["valueWithheld"] for row in served.rows[slug].values())
    ]  # fmt: skip
    assert shut
    for field in shut:
        for order in ("asc", "desc"):
            rows = service.walk(PATH, filter="gov_yield_10y:gt:0", sort=field, order=order)
            assert [[one["field"] for one in row["matches"]] for row in rows] == [["gov_yield_10y"]] * 2


def test_a_wrong_sort(service):
    """400, with the fields there are and the one that may have been meant."""
    error = service.error(PATH, 400, filter="gov_yield_10y:gt:0", sort="gov_yeild_10y")
    assert error["message"].startswith("'sort' must be a field of the filter or name, not 'gov_yeild_10y'")
    assert error["details"]["suggestion"] == "gov_yield_10y"
    assert error["details"]["allowed"] == [*sorted(Served(service).fields), "name"]
    assert service.error(PATH, 400, filter="gov_yield_10y:gt:0", sort="nam")["details"]["suggestion"] == "name"


@pytest.mark.parametrize(
    ("text", "clause", "reason", "suggestion"),
    [
        ("gov_yield_10y:gt:0,gov_yeild_2y:gt:1", "gov_yeild_2y:gt:1", "field", "gov_yield_2y"),
        ("revenue_ttm:gt:0", "revenue_ttm:gt:0", "field", None),
        ("sector:eq:Technology", "sector:eq:Technology", "field", None),
        ("gov_yield_10y:above:0", "gov_yield_10y:above:0", "operator", None),
        ("gov_yield_10y:gt:4%", "gov_yield_10y:gt:4%", "number", None),
        ("gov_yield_10y:gt:1|2", "gov_yield_10y:gt:1|2", "values", None),
        ("gov_yield_10y:gt:0,", "", "syntax", None),
    ],
)
def test_errors_of_the_filter(service, text, clause, reason, suggestion):
    """400 about a filter starts with `'filter'` and quotes the offending clause; an unknown field comes with the nearest one."""
    error = service.error(PATH, 400, filter=text)
    assert error["message"].startswith("'filter' ")
    assert f"'{clause}'" in error["message"]
    assert (error["details"]["parameter"], error["details"]["reason"]) == ("filter", reason)
    if suggestion:
        assert error["details"]["suggestion"] == suggestion


def test_the_filter_is_required(service):
    """Filter expression (required)."""
    details = service.error(PATH, 400)["details"]
    assert (details["parameter"], details["reason"]) == ("filter", "required")


def test_fields_are_those_of_filters(service):
    """Fields are canonical indicator slugs listed by GET /screener/filters: each takes each operator it lists, and no other."""
    told = service.ok(f"{PATH}/filters")
    msgspec.convert(told, ScreenerFilters, strict=True)
    served = Served(service)
    slugs = [
        i["slug"] for i in service.walk("/indicators", limit=500) if i["screenable"] and i["category"] != "fundamentals"
    ]
    assert [field["field"] for field in told["fields"]] == sorted(slugs)
    assert [one["operator"] for one in told["operators"]] == VERBS
    for field in told["fields"]:
        values = [
            row["valueNumeric"]
            for row in served.rows.get(field["field"], {}).values()
            if row["valueNumeric"] is not None
        ]
        if field["type"] == "number":
            assert (field["min"], field["max"], field["entityCount"]) == (
                min(values, default=None),
                max(values, default=None),
                len(values),
            )
        for verb in VERBS:
            status = service.get(PATH, filter=f"{field['field']}:{verb}:1").status_code
            assert status == (200 if verb in field["operators"] else 400)
    assert service.get(PATH, filter=told["example"]).status_code == 200


# -- plans, rights, cursors ----------------------------------------------------------------------------------------------


def test_before_the_window(service):
    """A request wholly before the plan's window is 403, after the parameters (400)."""
    error = service.error(PATH, 403, "free", filter="gov_yield_10y:gt:0", as_of="2024-11-19")
    assert error["details"] == {"parameter": "as_of", "plan": "free", "historyFrom": "2024-11-20"}
    assert service.get(PATH, filter="gov_yield_10y:gt:0", as_of="2024-11-19").status_code == 200
    assert service.error(PATH, 400, "free", filter="nothing:gt:0", as_of="2024-11-19")["details"]["reason"] == "field"


def test_bounds_are_those_of_the_plan(own):
    """Years later nothing is inside the window: no bounds, no entities; a paid plan still has them."""
    own.data_now = 1_875_000_000  # 2029-06-01
    for key, there in (("free", False), ("pro", True)):
        counts = [field["entityCount"] for field in own.ok(f"{PATH}/filters", key)["fields"]]
        assert (sum(counts) > 0) == there
        assert (own.walk(PATH, key, filter="gov_yield_10y:gt:0") != []) == there


@pytest.mark.parametrize("field", [RAW, DERIVED])
def test_withheld_values_take_no_part(service, field):
    """An entity excluded by a filter on a withheld field is excluded as "no value": whatever is asked, nothing is found."""
    for text in (f"{field}:gt:-1e9", f"{field}:lt:1e9", f"{field}:gte:7.137", f"{field}:in:7|7.137|0.137"):
        for more in ({}, {"as_of": "2026-11-20"}, {"country": "USA"}):
            body = service.get(PATH, filter=text, **more)
            assert (body.json()["data"], body.json()["meta"]["pagination"]["total"]) == ([], 0)
            assert_nothing_leaks(body.text.replace("7.137", ""))
    told = service.get(f"{PATH}/filters")
    assert_nothing_leaks(told.text)
    (one,) = [f for f in told.json()["data"]["fields"] if f["field"] == field]
    assert (one["min"], one["max"], one["entityCount"]) == (None, None, 0)


def test_rights_hold_at_once_and_are_not_pinned(own):
    """A change of rights holds everywhere at once, in a pinned walk too."""
    query = {"filter": "gov_yield_10y:gt:0,unemployment_rate:gt:0"}
    assert [row["entityId"] for row in own.walk(PATH, **query)] == ["country_usa"]
    first = own.get(PATH, filter="gov_yield_10y:gt:0", limit=1).json()
    with own.world(**NO_CONSENT):
        pass
    assert own.walk(PATH, **query) == []
    second = own.get(
        PATH, filter="gov_yield_10y:gt:0", limit=1, cursor=first["meta"]["pagination"]["next_cursor"]
    ).json()
    # The Treasury's own yield is public: FRED's copy of it was never needed.
    assert [row["entityId"] for row in first["data"] + second["data"]] == ["country_jpn", "country_usa"]


def test_a_walk_is_pinned(own):
    """New vintages arriving between two pages, back-dated ones too, neither shift, repeat nor lose a row."""
    query = {"filter": "gov_yield_10y:lt:9", "limit": 1}
    whole = own.walk(PATH, **query)
    first = own.get(PATH, **query).json()
    arrive(own)
    rest = own.get(PATH, **query, cursor=first["meta"]["pagination"]["next_cursor"]).json()
    assert first["data"] + rest["data"] == whole
    assert rest["meta"]["pagination"]["total"] == len(whole) == 2
    # The new yield of the United States is 9.25: a walk that begins now finds one country.
    assert [row["entityId"] for row in own.walk(PATH, **query)] == ["country_jpn"]


def test_further_readings_beside_those_of_the_filter_each_with_its_day(service):
    """`fields`: readings of further fields; a row that has none is not left out."""
    plain = service.ok("/screener", filter="gov_yield_10y:gt:0")
    wide = service.ok("/screener", filter="gov_yield_10y:gt:0", fields="unemployment_rate,gov_yield_2y,name")
    assert [row["entityId"] for row in wide] == [row["entityId"] for row in plain]
    told = {row["entityId"]: {match["field"]: match for match in row["matches"]} for row in wide}
    assert set(told["country_usa"]) == {"gov_yield_10y", "unemployment_rate", "gov_yield_2y"}
    assert "unemployment_rate" not in told["country_jpn"]
    (latest,) = service.ok("/observations/latest", country="USA", indicator="unemployment_rate")
    match = told["country_usa"]["unemployment_rate"]
    assert (match["value"], match["periodEnd"], match["observedAt"]) == (
        latest["valueNumeric"], latest["periodEnd"], latest["observedAt"],
    )  # fmt: skip
