"""`meta.warnings`: what was asked in vain is said, on every list that has a filter by name; never what a key may not read."""

import msgspec
import pytest

from almanac.api.contract.records import WarningSchema
from almanac.domain.fragments import shortest

from .declared import ENDPOINTS, LISTS, PATH_VALUES, REQUIRED

#: Parameter → a name that nothing has, and the one that may have been meant.
WRONG = {
    "country": ("untied-states", "united-states"),
    "entity": ("japna", "japan"),
    "entity_id": ("country_zzz", None),
    "indicator": ("gov_yeild_10y", "gov_yield_10y"),
    "indicator_id": ("gov_yeild_10y", "gov_yield_10y"),
    "source_id": ("us-treasury-pra", "us-treasury-par"),
    "provider_id": ("fredd", "fred"),
    "sector": ("Tecnology", "Technology"),
    "industry": ("Electronic Computres", "Electronic Computers"),
}
DERIVED = "/derived-observations"
#: Lists by each of those parameters that they take.
FILTERED = [
    (path, name) for path in LISTS for name in ENDPOINTS[path].by_name if name in WRONG
]  # fmt: skip


def url(path):
    return path.replace("{idOrSlug}", PATH_VALUES.get(path, "")).replace("{scope}", PATH_VALUES.get(path, ""))


def asked(service, path, key="pro", **query):
    return service.get(url(path), key, None, **{**REQUIRED.get(path, {}), **query}).json()


def warnings(service, path, key="pro", **query):
    return asked(service, path, key, **query)["meta"].get("warnings")


def test_every_list_by_name_is_here():
    """Lists with a filter by name: all that take one of these parameters, and no other parameter is a name."""
    assert {path for path, _ in FILTERED} == {
        "/observations", "/observations/latest", "/observations/vintages", "/observations/changes", DERIVED,
        "/indicators/{idOrSlug}/series", "/companies", "/release-summaries", "/screener", "/events",
    }  # fmt: skip


@pytest.mark.parametrize(("path", "name"), FILTERED)
def test_a_name_that_nothing_has(service, path, name):
    """It keeps its empty result, and the answer says so: `{parameter, value, reason, suggestion}`."""
    value, suggestion = WRONG[name]
    if path == DERIVED and name.startswith("indicator"):
        value, suggestion = "yield_slpoe_2s10s", "yield_slope_2s10s"
    body = asked(service, path, **{name: value})
    assert body["data"] == []
    (told,) = body["meta"]["warnings"]
    assert list(told) == ["parameter", "value", "reason", "suggestion"]
    msgspec.convert(told, WarningSchema, strict=True)
    assert (told["parameter"], told["value"], told["suggestion"]) == (name, value, suggestion)


@pytest.mark.parametrize("path", LISTS)
def test_nothing_to_say(service, path):
    """Absent where there is nothing to say."""
    assert "warnings" not in asked(service, path)["meta"]


def test_one_of_several(service):
    """Also for one of several values: the others are answered."""
    body = asked(service, "/observations", country="JPN,atlantis,USA", indicator_id="gov_yield_10y,nonsense", limit=500)
    assert {row["entityId"] for row in body["data"]} == {"country_jpn", "country_usa"}
    told = [(one["parameter"], one["value"], one["reason"]) for one in body["meta"]["warnings"]]
    assert told == [
        ("indicator_id", "nonsense", "names no indicator"), ("country", "atlantis", "names no country or region"),
    ]  # fmt: skip
    # The same on every page, asked once or often.
    first = asked(service, "/observations", country="JPN,atlantis", limit=1)["meta"]
    again = asked(service, "/observations", country="JPN,atlantis", limit=1)["meta"]
    second = asked(service, "/observations", country="JPN,atlantis", limit=1, cursor=first["pagination"]["next_cursor"])
    assert first["warnings"] == again["warnings"] == second["meta"]["warnings"]
    assert len(first["warnings"]) == 1


@pytest.mark.parametrize("name", ["indicator", "indicator_id"])
def test_an_indicator_of_the_other_kind(service, name):
    """A derived indicator on /observations, and the other way round."""
    (told,) = warnings(service, "/observations", **{name: "yield_slope_2s10s"})
    assert (told["parameter"], told["value"]) == (name, "yield_slope_2s10s")
    assert told["reason"] == "is a derived indicator, and this is of raw ones: see /derived-observations"
    (told,) = warnings(service, DERIVED, **{name: "gov_yield_10y"})
    assert told["reason"] == "is a raw indicator, and this is of derived ones: see /observations"
    for path in ("/observations/vintages", "/observations/latest", "/events"):
        assert warnings(service, path, **{name: "yield_slope_2s10s"}) is None
    (told,) = warnings(service, "/observations/latest", kind="raw", **{name: "yield_slope_2s10s"})
    assert told["reason"].startswith("is a derived indicator")


def test_an_indicator_that_no_release_brings(service):
    """A name that is known and selects nothing, whatever is published."""
    (told,) = warnings(service, "/release-summaries", indicator="gov_yield_10y")
    assert told["reason"] == "is an indicator that no release brings"


def test_texts_of_a_screen(service):
    """A text that nothing has in a clause of the equity screener: of `in`, one of several."""
    body = asked(
        service, "/equity-screener", filter='sector:in: TeCnology|financials,Industry:eq:"Nothing, ""At"" all"'
    )
    assert body["data"] == []
    # As they were sent; a text in double quotes is what stands between them.
    assert [tuple(one.values()) for one in body["meta"]["warnings"]] == [
        ("filter", "TeCnology", "is a sector that nothing here has", "Technology"),
        ("filter", 'Nothing, "At" all', "is an industry that nothing here has", None),
    ]  # fmt: skip


def test_numbers_of_a_screen_are_repeated_as_they_were_sent(service):
    """The clause in the client's own words: its field by the name it gave, its number in the digits it gave."""
    told = warnings(service, "/screener", filter="indicator_gov_yield_10y:GT:1.50e15, gov_yield_10y:in:3.9|-1e+9")
    assert [one["value"] for one in told] == ["indicator_gov_yield_10y:GT:1.50e15", "gov_yield_10y:in:-1e+9"]


def test_the_exact_name_of_something_else(service):
    """A name that /entities/resolve finds is suggested by its slug; a company's only to keys that may read companies' names."""
    assert warnings(service, "/observations", entity="JP")[0]["suggestion"] == "japan"
    for _ in range(3):  # pages that are remembered too
        for name in ("ACW", "Acme Widgets Inc."):
            (told,) = warnings(service, "/observations", entity=name)
            assert told["suggestion"] == "acme-widgets-inc"
            (told,) = warnings(service, "/observations", "macro:read", entity=name)
            assert told["suggestion"] is None
            (told,) = warnings(service, "/observations", "macro:read", entity="acme-widgets-icn")
            assert told["suggestion"] is None


def test_withheld_values_are_not_told_of(service):
    """A source, an indicator, an entity whose values may not be sent is a name like any other: nothing is said of it."""
    hidden = [row for row in service.walk("/observations", limit=500) if row["rights"]["valueWithheld"]]
    assert hidden
    one = hidden[0]
    names = {"source_id": one["sourceId"], "indicator": one["indicatorId"], "entity": one["entityId"]}
    body = asked(service, "/observations", **names)
    assert body["data"]
    assert "warnings" not in body["meta"]


def test_a_warning_takes_part_in_the_etag(service):
    """A 304 must not hide that something else is said: the same rows with other words have another tag."""
    tags = {
        service.get("/observations", **query).headers["etag"]
        for query in (
            {"country": "atlantis"}, {"country": "japna"}, {"indicator": "atlantis"}, {"country": "JPN", "entity": "united-states"},
        )
    }  # fmt: skip
    assert len(tags) == 4
    tag = service.get("/observations", country="atlantis").headers["etag"]
    assert service.get("/observations", "pro", {"if-none-match": tag}, country="atlantis").status_code == 304
    assert service.get("/observations", "pro", {"if-none-match": tag}, country="japna").status_code == 200


def test_a_long_value_is_cut(service):
    """A client's own text is repeated up to a hundred characters."""
    (told,) = warnings(service, "/observations", entity="x" * 200)
    assert (len(told["value"]), told["value"][-1]) == (100, "…")


def test_described(service):
    """The description has it: on lists only, and not required."""
    schemas = service.get("/openapi.json").json()["components"]["schemas"]
    for name in ("ListMeta", "CountedListMeta"):
        assert schemas[name]["properties"]["warnings"]["items"] == {"$ref": "#/components/schemas/Warning"}
        assert "warnings" not in schemas[name]["required"]
    assert "warnings" not in schemas["AnswerMeta"]["properties"]
    assert set(schemas["Warning"]["required"]) == {"parameter", "value", "reason", "suggestion"}


def test_a_number_far_outside_a_field_s_range_is_warned_of(service):
    """A percentage where a fraction is meant: the warning has the range of what may be seen, and the fraction."""
    field = next(
        one
        for one in service.ok("/screener/filters")["fields"]
        if one["field"] == "gov_yield_10y" and one["max"] is not None
    )
    far = 10 * abs(field["max"]) + 1
    (told,) = warnings(service, "/screener", filter=f"gov_yield_10y:gt:{far}")
    assert (told["parameter"], told["value"].split(":")[:2], told["suggestion"]) == (
        "filter",
        ["gov_yield_10y", "gt"],
        None,
    )
    assert told["reason"].startswith("lies far outside the values of gov_yield_10y here, which are ")
    assert told["reason"].endswith(f" to {shortest(field['max'])}")
    assert warnings(service, "/screener", filter=f"gov_yield_10y:gt:{field['max'] * 1.5}") is None


@pytest.mark.parametrize("path", ["/observations", "/observations/latest", "/observations/vintages"])
def test_an_empty_list_says_what_there_is(service, path):
    """A frequency that is not there, a period beyond what is, a day before anything was known: said, with what there is."""
    named = {"country": "USA", "indicator": "gov_yield_10y"}
    rows = service.walk("/observations", limit=500, **named)
    first, last = (edge(row["periodEnd"][:10] for row in rows) for edge in (min, max))
    (told,) = warnings(service, path, frequency="Q", **named)
    assert told == {
        "parameter": "frequency", "value": "Q", "reason": "there is nothing of this frequency here, but daily (D) rows", "suggestion": None,
    }  # fmt: skip
    (told,) = warnings(service, path, as_of="1990-01-01", **named)
    assert (told["parameter"], told["value"]) == ("as_of", "1990-01-01T23:59:59Z")
    assert told["reason"].startswith("nothing was known by then: what is here is known from ")
    if "period" in ENDPOINTS[path].by_name:
        for name, value, shown in (
            ("period", "2030", "2030"), ("period_start", "2030-01-01", "2030-01-01T00:00:00Z"), ("period_end", "1950-01-01", "1950-01-01T23:59:59Z"),
        ):  # fmt: skip
            (told,) = warnings(service, path, **{name: value}, **named)
            reason = f"no period here lies there: they end from {first} to {last}, daily (D) rows"
            assert (told["parameter"], told["value"], told["reason"]) == (name, shown, reason)
    # Where there is nothing at all, or nothing is named, there is nothing to tell; a gap between values says itself.
    assert warnings(service, path, frequency="Q") is None
    (told,) = warnings(service, path, country="CHE", indicator="gov_yield_10y", frequency="Q")
    assert (told["parameter"], told["value"]) == ("indicator", "gov_yield_10y")


@pytest.mark.parametrize("path", ["/observations", "/observations/latest", "/observations/vintages", DERIVED])
@pytest.mark.parametrize(
    ("query", "held"),
    [
        ({"country": "EU"}, "region_european_union"),
        ({"country": "UK"}, "country_gbr"),
        ({"country": "Deutschland"}, "country_deu"),
        ({"entity": "germany", "frequency": "M", "period": "2020"}, "country_deu"),
        ({"entity_id": "country_deu,country_fra"}, "country_deu, country_fra"),
        (
            {"country": "DEU,FRA,ITA,ESP,NLD,BEL,AUT"},
            "country_aut, country_bel, country_deu, country_esp, country_fra and 2 more",
        ),
        ({"country": "USA", "source_id": "mof-japan"}, "country_usa by mof-japan"),
    ],
    ids=str,
)
def test_places_of_which_nothing_is_held_are_told_so(service, path, query, held):
    """A place that is known is no wrong name: it is the store that has nothing of it."""
    if path == "/observations/latest":
        query = {name: value for name, value in query.items() if name != "period"}
    body = asked(service, path, **query)
    assert body["data"] == []
    (told,) = body["meta"]["warnings"]
    kind = {"/observations": "raw ", DERIVED: "derived "}.get(path, "")
    assert (told["parameter"], told["value"]) == next(iter(query.items()))
    assert told["reason"] == f"no {kind}rows are held of {held}"


@pytest.mark.parametrize(
    ("path", "query", "reason"),
    [
        ("/events", {"country": "EU"}, "no events are known of region_european_union"),
        ("/events", {"entity": "japna-", "country": "EU"}, None),
        ("/events", {"entity_id": "country_che", "category": "central_bank"}, "no events are known of country_che"),
        ("/release-summaries", {"country": "Schweiz"}, "no releases are known of country_che"),
        ("/companies", {"country": "EU"}, "no company has its domicile in region_european_union"),
        ("/indicators/gov_yield_10y/series", {"country": "EU"}, "there is no series of gov_yield_10y for region_european_union"),
        (
            "/indicators/gov_yield_10y/series",
            {"entity": "germany", "frequency": "D"},
            "there is no series of gov_yield_10y for country_deu",
        ),
    ],
    ids=str,
)  # fmt: skip
def test_so_does_every_other_list_of_places(service, path, query, reason):
    body = service.get(path, "pro", None, **query).json()
    assert body["data"] == []
    if reason is None:  # a name that means nothing was said already
        assert [one["reason"] for one in body["meta"]["warnings"]] == ["names no entity"]
        return
    name, value = next(iter(query.items()))
    assert body["meta"]["warnings"] == [{"parameter": name, "value": value, "reason": reason, "suggestion": None}]


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/events", {"country": "USA", "start_date": "2050-01-01"}),
        ("/release-summaries", {"country": "USA", "end_date": "1950-01-01"}),
        ("/indicators/gov_yield_10y/series", {"country": "USA", "frequency": "A"}),
    ],
    ids=str,
)
def test_of_a_place_that_has_something_it_is_not_said(service, path, query):
    body = service.get(path, "pro", None, **query).json()
    assert (body["data"], body["meta"].get("warnings")) == ([], None)


def test_the_history_of_rates_says_why_it_is_empty(service):
    (told,) = warnings(service, "/rates/{scope}/history", as_of="1990-01-01")
    assert told["parameter"] == "as_of"
    (told,) = warnings(service, "/rates/{scope}/history", start_date="1950-01-01", end_date="1950-02-01")
    assert told["parameter"] == "start_date"


def test_a_bound_that_all_values_keep_is_none_to_warn_of(service):
    """`lt` far above all values leaves them all: the clause did what it says."""
    far = 10 * max(row["valueNumeric"] for row in service.ok("/observations/latest", indicator="gov_yield_10y")) + 1
    assert warnings(service, "/screener", filter=f"gov_yield_10y:lt:{far}") is None
    assert service.ok("/screener", filter=f"gov_yield_10y:lt:{far}")
    (told,) = warnings(service, "/screener", filter=f"gov_yield_10y:gt:{far}")
    assert told["parameter"] == "filter"


#: Lists whose `start_date` and `end_date` bound `observedAt`: those with bounds on periods beside them.
KNOWN_BOUNDS = [path for path in LISTS if {"start_date", "period_start"} <= set(ENDPOINTS[path].by_name)]


@pytest.mark.parametrize("path", KNOWN_BOUNDS)
def test_bounds_on_knowledge_times_are_said_to_be_such(service, path):
    """`start_date=2026-01-01` gives rows about earlier years too: said, with the bound on periods, unless one or `as_of` is given."""
    given = {"start_date": "2026-01-01", "end_date": "2026-10-31"}
    for query, name, value, meant in (
        (given, "start_date", "2026-01-01T00:00:00Z", "period_start"),
        ({"end_date": "2026-10-31"}, "end_date", "2026-10-31T23:59:59Z", "period_end"),
    ):
        (told,) = warnings(service, path, **query)
        assert (told["parameter"], told["value"], told["suggestion"]) == (name, value, meant)
        assert "observedAt" in told["reason"]
    for bound in (
        {"as_of": "2026-10-31"},
        {"period": "2026"},
        {"period_start": "2025-01-01"},
        {"period_end": "2026-10-31"},
    ):
        assert warnings(service, path, **given, **bound) is None


def test_an_empty_list_says_why_before_it_says_what_bounds_knowledge_times(service):
    told = warnings(service, "/observations", country="EU", start_date="2026-01-01")
    assert [one["parameter"] for one in told] == ["country", "start_date"]


@pytest.mark.parametrize("path", ["/events", "/release-summaries", "/rates/{scope}/history"])
def test_bounds_on_days_are_not_warned_of(service, path):
    assert warnings(service, path, start_date="2026-01-01", end_date="2026-10-31") is None


@pytest.mark.parametrize(
    ("path", "name", "meant"),
    [
        *((path, name, "period_start") for path in KNOWN_BOUNDS for name in ("start", "from", "startPeriod")),
        *((path, name, "period_end") for path in KNOWN_BOUNDS for name in ("end", "to", "until")),
        ("/events", "from", "start_date"),
        ("/release-summaries", "until", "end_date"),
        ("/rates/{scope}/history", "start", "start_date"),
        ("/observations", "source", "source_id"),
        ("/events", "provider", "provider_id"),
    ],
)
def test_a_parameter_of_another_name_is_answered_with_the_one_that_is_meant(service, path, name, meant):
    """A bound on days never with `start_date` where that bounds knowledge times."""
    error = service.error(url(path), 400, **{**REQUIRED.get(path, {}), name: "2026-01-01"})
    assert (error["details"]["parameter"], error["details"]["suggestion"]) == (name, meant)
    assert error["message"].endswith(f"did you mean '{meant}'?")
