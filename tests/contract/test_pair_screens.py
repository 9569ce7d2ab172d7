"""Clauses between two fields, against plain Python over what was made up and over what is served."""

from __future__ import annotations

import itertools
import math
import operator
import random
from datetime import date
from types import SimpleNamespace

import numpy as np
import pytest

from almanac.api.endpoints.screeners.aligned_columns import AlignedColumn
from almanac.api.endpoints.screeners.pairs import comparable
from almanac.domain.periods import Period
from almanac.domain.times import wire_time
from almanac.reports.filter_text import Clause, Field
from almanac.store.observations.newest.columns import Column
from tests.support import past_worlds
from tests.support.service import Service
from tests.support.withholding import withhold
from tests.support.worlds import once

from .invented_companies import FIELDS, unit_of
from .test_equity_screener import MADE, NOW, made_up, months_before, reading, screen, seconds, statement
from .test_rights import DERIVED, RAW

__all__ = ["made_up", "screen"]

VERBS = {"gt": operator.gt, "lt": operator.lt, "gte": operator.ge, "lte": operator.le, "eq": operator.eq}
#: Ratios, of which one is withheld for some companies, and money.
PAIRS = [("net_margin", "return_on_assets"), ("revenue_growth_yoy", "current_ratio"), ("total_assets", "revenue_ttm")]
MOMENTS = [NOW, seconds("2026-03-01"), seconds("2025-08-15"), seconds("2024-02-01")]
#: A few series and companies of the simulated world.
LAST = date(2026, 11, 19)
DAYS = [None, "2025-08-15", "2023-03-01", "2019-06-30"]


@pytest.fixture(scope="module")
def small(tmp_path_factory, worker_id):
    def make(folder):
        pages = (
            past_worlds.economy_pages(LAST, past_worlds.in_small_world),
            past_worlds.company_pages(LAST, past_worlds.SMALL_FILERS),
        )
        past_worlds.load(folder / "home", LAST, *pages).close()

    made = once(tmp_path_factory, worker_id, "contract-small-world", make, copied=False)
    one = Service(made / "home", more={"NOW": "2026-11-20T04:00:00Z", "REQUEST_SECONDS": "120"})
    yield one
    one.close()


@pytest.mark.parametrize("currencies", [None, "USD|EUR|JPY"])
@pytest.mark.parametrize("at", MOMENTS)
@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_companies_by_two_numbers_as_known_at_a_moment(screen, left, right, at, currencies):
    """Both as known at the moment, of one period, in one unit; without a clause on the currency money is in dollars."""
    moment = {} if at == NOW else {"as_of": wire_time(at)}
    more = "" if currencies is None else f",currency:in:{currencies}"
    some, apart = {}, set()
    for company in MADE:
        pair = [
            reading(company, name, at, dollars=currencies is None, first=months_before(at)) for name in (left, right)
        ]
        if None in pair or statement(company, at) is None:
            continue
        (value, quarter, when), (other, of, since) = pair
        if quarter != of:
            apart.add(company.entity)
        elif currencies is None or company.currency is not None:
            some[company.entity] = (value, other, wire_time(max(when, since)))
    found = 0
    for verb, holds in VERBS.items():
        clause = f"{left}:{verb}:@{right}"
        body = screen.get("/equity-screener", filter=clause + more, limit=200, **moment).json()
        told = {row["entityId"]: (row["values"][left], row["values"][right], row["observedAt"]) for row in body["data"]}
        assert told == {entity: one for entity, one in some.items() if holds(one[0], one[1])}, clause
        found += len(told)
        warned = [one["reason"] for one in body["meta"].get("warnings", []) if one["value"] == clause]
        if currencies is None or FIELDS[left] is not None:
            count = len(apart)
            many = "company" if count == 1 else "companies"
            said = f"leaves out {count} {many} whose two readings are of periods that end on different days"
            assert warned == ([said] if count else [])
    assert found or at == MOMENTS[-1]


def test_a_change_is_compared_with_a_number_and_with_a_change(screen):
    """`@field:change_1y` is what a clause on the change has: the same value, known since the same moment."""
    for left, right in (
        ("net_margin", "net_margin:change_1y"),
        ("net_margin:change_1y", "return_on_assets:change_1y"),
        ("net_margin:change_1y", "return_on_assets"),
    ):
        held = {}
        for name in (left, right):
            rows = screen.walk("/equity-screener", filter=f"{name}:gt:-1e300", limit=200)
            held[name] = {row["entityId"]: (row["values"][name], row["periodEnd"]) for row in rows}
        both = held[left].keys() & held[right].keys()
        expected = {
            one for one in both if held[left][one] > held[right][one] and held[left][one][1] == held[right][one][1]
        }
        expected = {one for one in expected if held[left][one][0] > held[right][one][0]}
        rows = screen.walk("/equity-screener", filter=f"{left}:gt:@{right}", limit=200)
        assert {row["entityId"] for row in rows} == expected != set()
        assert all(row["values"][left] > row["values"][right] for row in rows)


def test_every_pair_of_invented_fields_is_compared_or_refused_by_its_units(screen):
    """400 that names both fields and their units where they differ; scores have no unit that another has."""
    kinds = {name: unit_of(name, "USD") for name in FIELDS}
    names = {"usd": "currency", "usd_per_share": "currency_per_share"}
    for left, right in itertools.permutations([*FIELDS, "score"], 2):
        answer = screen.get("/equity-screener", filter=f"{left}:gt:@{right}")
        units = [kinds.get(name) for name in (left, right)]
        if units[0] == units[1] and units[0] is not None:
            assert answer.status_code == 200, (left, right)
            continue
        assert answer.status_code == 400, (left, right)
        error = answer.json()["error"]
        assert error["details"]["reason"] == "unit"
        said = ["a score, without a unit" if one is None else f"in {names.get(one, one)}" for one in units]
        assert error["message"].startswith(f"'filter' has the clause '{left}:gt:@{right}', which compares ")
        assert f"{left} ({said[0]}) with {right} ({said[1]})" in error["message"]


def latest(service, fields, key="pro", **moment):
    """What /observations/latest serves: field → entity → row, of those that have a value that may be shown."""
    found = {field: {} for field in fields}
    for row in service.walk("/observations/latest", key, indicator_id=",".join(fields), limit=500, **moment):
        if row["valueNumeric"] is not None:
            found[row["indicatorId"].removeprefix("indicator_")][row["entityId"]] = row
    return found


def alike(service, path, key="pro"):
    """Pairs of fields in one unit that some have a value of."""
    fields = [one for one in service.ok(f"{path}/filters", key)["fields"] if one["type"] == "number" and one["unit"]]
    there = [one for one in fields if one["entityCount"]]
    return [(a["field"], b["field"]) for a, b in itertools.permutations(there, 2) if a["unit"] == b["unit"]]


@pytest.mark.parametrize(("left", "right"), [("score", "net_margin"), ("net_margin", "score")])
def test_a_score_compares_with_nothing_though_the_other_field_has_no_reading(screen, left, right):
    """On a day before all readings only what has no unit at all is refused."""
    early = {"as_of": "2019-01-01T00:00:00Z"}
    told = screen.error("/equity-screener", 400, filter=f"{left}:lt:@{right}", **early)["message"]
    assert "(a score, without a unit)" in told
    assert "net_margin (of which there is no reading)" in told
    assert screen.ok("/equity-screener", filter="net_margin:lt:@total_assets", **early) == []


@pytest.mark.parametrize("as_of", DAYS)
def test_random_pairs_of_companies_of_the_simulated_world(small, as_of):
    """The rows that have both, filtered by hand: of those that a screen of each finds, with the latest values and their periods."""
    moment = {} if as_of is None else {"as_of": as_of}
    rng, found = random.Random(9), 0
    pairs = alike(small, "/equity-screener")
    assert len(pairs) > 300
    for left, right in rng.sample(pairs, 40):
        rows = latest(small, [left, right], **moment)
        held = [
            {row["entityId"] for row in small.walk("/equity-screener", filter=f"{one}:gt:-1e300", limit=200, **moment)}
            for one in (left, right)
        ]
        expected = {
            entity
            for entity in held[0] & held[1]
            if rows[left][entity]["valueNumeric"] > rows[right][entity]["valueNumeric"]
            and rows[left][entity]["periodEnd"] == rows[right][entity]["periodEnd"]
            and rows[left][entity]["unit"] == rows[right][entity]["unit"]
        }
        screened = small.walk("/equity-screener", filter=f"{left}:gt:@{right}", limit=200, **moment)
        assert {row["entityId"] for row in screened} == expected, (left, right)
        for row in screened:
            assert row["values"] == {
                name: rows[name][row["entityId"]]["valueNumeric"] for name in (left, right)
            }  # the two, and no other
        found += len(expected)
    assert found > 10 or as_of == DAYS[-1]


@pytest.mark.parametrize("key", ["pro", "free"])
@pytest.mark.parametrize("as_of", [None, "2025-11-14", "2026-10-14", "2026-11-18T23:45:00Z"])
@pytest.mark.parametrize("world", ["service", "sandbox", "small"])
def test_random_pairs_of_places(request, world, as_of, key):
    """The same of countries and regions, whose two periods may differ; each has its own series in the row."""
    one = request.getfixturevalue(world)
    moment = {} if as_of is None else {"as_of": as_of}
    rng, found = random.Random(11), 0
    pairs = alike(one, "/screener", key)
    for left, right in rng.sample(pairs, min(30, len(pairs))):
        verb = rng.choice(list(VERBS))
        rows = latest(one, [left, right], key, **moment)
        expected = {
            entity
            for entity in rows[left].keys() & rows[right].keys()
            if VERBS[verb](rows[left][entity]["valueNumeric"], rows[right][entity]["valueNumeric"])
            and rows[left][entity]["unit"] == rows[right][entity]["unit"]
            and rows[left][entity]["metadata"].get("currency") == rows[right][entity]["metadata"].get("currency")
        }
        screened = one.walk("/screener", key, filter=f"{left}:{verb}:@{right}", limit=500, **moment)
        assert {row["entityId"] for row in screened} == expected
        for row in screened:
            assert [
                (match["field"], match["value"], match["seriesId"], match["periodEnd"]) for match in row["matches"]
            ] == [
                (name, told["valueNumeric"], told["metadata"]["seriesId"], told["periodEnd"])
                for name in (left, right)
                for told in [rows[name][row["entityId"]]]
            ]
        found += len(expected)
    assert found or as_of is not None or not pairs


def test_units_of_places_that_differ_are_refused_by_name(service):
    error = service.error("/screener", 400, filter="gov_yield_10y:gt:@real_gdp")
    assert error["details"]["reason"] == "unit"
    assert "compares gov_yield_10y (in percent) with real_gdp (in usd_billions)" in error["message"]
    # A change of a percentage is in points, and is no percentage.
    error = service.error("/screener", 400, filter="gov_yield_10y:gt:@gov_yield_10y:change_1y")
    assert "(in percent) with gov_yield_10y:change_1y (in percentage_points)" in error["message"]


def column(units, ends, values):
    """A column of one reading for each of as many rows; NaN where its value may not be shown."""
    count, names = len(values), tuple(dict.fromkeys(units))
    made = Column(
        np.arange(count, dtype=np.int32), np.array(values, dtype=np.float64), (None,) * count,
        np.array([names.index(one) for one in units], dtype=np.int16), names,
        np.array([Period.parse(one).key for one in ends], dtype=np.int64), np.zeros(count, dtype=np.int64),
        np.zeros(count, dtype=np.int64), np.isnan(values), np.zeros(count, dtype=np.int8),
    )  # fmt: skip
    return AlignedColumn.of(made, made.entities)


def test_a_change_of_a_percentage_is_compared_with_points(service):
    for right in ("yield_slope_2s10s", "yield_10y_change_1y"):
        held = [
            {
                row["entityId"]: row["matches"][0]["value"]
                for row in service.walk("/screener", filter=f"{one}:gt:-1e300")
            }
            for one in ("gov_yield_10y:change_1y", right)
        ]
        expected = {entity for entity in held[0].keys() & held[1].keys() if held[0][entity] <= held[1][entity]}
        rows = service.walk("/screener", filter=f"gov_yield_10y:change_1y:lte:@{right}")
        assert {row["entityId"] for row in rows} == expected != set()


@pytest.mark.parametrize("one_day", [True, False])
def test_readings_that_are_on_no_one_footing_are_counted_where_both_may_be_shown(one_day):
    """Another currency, another period: left out, and said of those alone of which both values are there."""
    left = column(["usd"] * 3 + ["eur"] * 4, ["2025"] * 7, [1, 2, 3, 4, math.nan, 6, 7])
    right = column(["usd"] * 7, ["2025", "2024", "2024", "2025", "2025", "2025", "2024"], [0, 0, math.nan, 0, 0, 0, 0])
    field = {name: Field(name, text=False) for name in ("debt", "cash")}
    clause = Clause(field["cash"], "gt", (), "Cash:GT", against=field["debt"])
    wanted = np.array([True] * 5 + [False, True])
    warned = []
    ctx = SimpleNamespace(warn=lambda *said: warned.append(said))
    found = comparable(
        ctx,
        [clause],
        {"cash": left, "debt": right},
        lambda _, one: one.units(),
        wanted,
        ("firm", "firms"),
        one_day=one_day,
    )
    assert found.tolist() == [True, not one_day, not one_day, False, False, False, False]
    said = "leaves out {} whose two readings are {}".format
    units = ("filter", "Cash:GT:@debt", said("2 firms", "in different units or currencies"))
    ends = ("filter", "Cash:GT:@debt", said("1 firm", "of periods that end on different days"))
    assert warned == ([units, ends] if one_day else [units])


@pytest.mark.parametrize("field", [RAW, DERIVED])
def test_a_withheld_field_is_no_value_on_either_side(service, field):
    """Withheld values take no part in screener filters, and nothing tells how they compare: no row, no count, no warning."""
    other = "yield_slope_2s10s"
    # The United States has one of what it is compared with.
    assert service.ok("/screener", filter=f"{other}:gt:-1e9,yield_slope_5s30s:gt:-1e9", country="USA")
    for verb in VERBS:
        for moment in ({}, {"as_of": "2026-11-20"}, {"country": "USA"}):
            for text in (f"{field}:{verb}:@{other}", f"{other}:{verb}:@{field}"):
                body = service.get("/screener", filter=text, **moment).json()
                assert (body["data"], body["meta"]["pagination"]["total"]) == ([], 0)
                warned = [one["reason"] for one in body["meta"].get("warnings", [])]
                assert warned == ([f"has no reading of {field} that may be shown"] if "country" in moment else [])


def test_withheld_margins_are_no_values_of_companies(screen):
    shut = {company.entity for company in MADE if company.shut}
    for verb in VERBS:
        for left, right in (("net_margin", "current_ratio"), ("current_ratio", "net_margin")):
            rows = screen.walk("/equity-screener", filter=f"{left}:{verb}:@{right}", limit=200)
            assert not shut & {row["entityId"] for row in rows}
            for secret in (f"{left}:{verb}:@secret_margin", f"secret_margin:{verb}:@{right}"):
                body = screen.get("/equity-screener", filter=secret).json()
                assert (body["data"], body["meta"]["pagination"]["total"]) == ([], 0)
                assert not [one for one in body["meta"].get("warnings", []) if "leaves out" in one["reason"]]


def test_a_twin_whose_withheld_values_differ_says_the_same(own):
    """Whatever a withheld value is, nothing about a comparison with it follows from it."""
    other = "yield_slope_2s10s"
    asked = [
        {"filter": text, **more}
        for field in (RAW, DERIVED)
        for verb in VERBS
        for text in (f"{field}:{verb}:@{other}", f"{other}:{verb}:@{field}", f"{field}:change_1y:{verb}:@{other}")
        for more in ({}, {"as_of": "2026-11-20"}, {"country": "USA"}, {"fields": "gov_yield_2y", "sort": field})
    ]

    def told(service):
        answers = [service.get("/screener", **one).json() for one in asked]
        for one in answers:
            del one["requestId"], one["meta"]["requestId"], one["meta"]["request_id"]
        return answers

    before = told(own)
    with own.world() as world:
        topics = "SELECT topic FROM topic WHERE indicator IN (?, ?)"
        wanted = (RAW, DERIVED)
        rows = world.db.execute(f"SELECT count(*) FROM vintages WHERE topic IN ({topics})", wanted).get
        assert rows
        world.db.execute(f"UPDATE vintages SET value = -9 - value WHERE topic IN ({topics})", wanted)
    twin = Service(own.home)
    assert told(twin) == before
    twin.close()


def test_rights_hold_at_once(own):
    query = {"filter": "gov_yield_10y:gt:@gov_yield_2y"}
    before = {row["entityId"] for row in own.walk("/screener", **query)}
    assert "country_jpn" in before
    withhold(own, "mof-japan")
    assert {row["entityId"] for row in own.walk("/screener", **query)} == before - {"country_jpn"}


@pytest.mark.parametrize(
    ("path", "text", "reason", "said"),
    [
        ("/equity-screener", "net_margin:gt:@", "field", "names no field there is ('')"),
        ("/equity-screener", "net_margin:gt:@currnt_ratio", "field", "names no field there is ('currnt_ratio')"),
        ("/equity-screener", "net_margin:in:@current_ratio", "operator", "between two fields it must be one of gt, lt, gte, lte, eq"),
        ("/equity-screener", "net_margin:in:1|@current_ratio", "number", "needs a number"),
        ("/equity-screener", "net_margin:gt:@sector", "compare", "compares the number net_margin with sector, which is a text"),
        ("/equity-screener", "sector:eq:@industry", "compare", "compares the text sector with a field, and only numbers are compared"),
        ("/equity-screener", "net_margin:gt:@NET_MARGIN", "compare", "compares net_margin with itself"),
        ("/equity-screener", "net_margin:gt:current_ratio", "number", "a field in place of a number begins with @"),
        ("/equity-screener", "net_margin:gt:@current_ratio:change_2y", "syntax", "is not of the form field:operator:value or"),
        ("/equity-screener", "net_margin:gt:@score:change_1y", "change", "scores are made among the companies of one moment"),
        ("/screener", "gov_yield_10y:gt:@gov_yeld_2y", "field", "names no field there is ('gov_yeld_2y')"),
        ("/screener", "gov_yield_10y:gt:@net_margin", "field", "names no field there is ('net_margin')"),
    ],
)  # fmt: skip
def test_a_pair_that_cannot_be_read_names_what_is_allowed(screen, service, path, text, reason, said):
    """400 about a filter starts with 'filter' and quotes the offending clause; an unknown field comes with the nearest one."""
    error = (screen if path == "/equity-screener" else service).error(path, 400, filter=text)
    assert error["message"].startswith(f"'filter' has the clause '{text}', which ")
    assert said in error["message"]
    assert error["details"]["reason"] == reason
    if "curr" in text and reason == "field":
        assert error["details"]["suggestion"] == "current_ratio"
    if "yeld" in text:
        assert error["details"]["suggestion"] == "gov_yield_2y"


def test_a_field_of_a_pair_goes_by_slug_id_or_alias(screen):
    """A field may be slug, `indicator_` id or alias; the answer uses the slug."""
    rows = screen.walk("/equity-screener", filter="total_assets:gt:@revenue_ttm", limit=200)
    assert rows
    for name in ("REVENUE_TTM", "indicator_revenue_ttm", "Sales", " revenue_ttm "):
        assert screen.walk("/equity-screener", filter=f"total_assets:gt:@{name}", limit=200) == rows


def test_a_walk_over_a_pair_joins_to_the_whole(screen):
    query = {"filter": "current_ratio:gte:@net_margin", "sort": "net_margin"}
    whole = screen.get("/equity-screener", **query, limit=200).json()
    assert len(whole["data"]) == whole["meta"]["pagination"]["total"] > 10
    assert screen.walk("/equity-screener", limit=3, **query) == whole["data"]


def test_the_syntax_of_a_pair_is_told(screen, service):
    for one, path in ((screen, "/equity-screener/filters"), (service, "/screener/filters")):
        assert "compares the latest values of two fields of one unit" in one.ok(path)["syntax"]
