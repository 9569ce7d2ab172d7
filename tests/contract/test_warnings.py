"""`meta.warnings`: what was asked in vain is said, on every list that has a filter by name; never what a key may not read."""

import msgspec
import pytest

from almanac.api.contract.records import WarningSchema

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


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/observations", {"country": "USA", "indicator": "gov_yield_10y", "frequency": "Q"}),
        ("/observations", {"country": "USA", "indicator": "gov_yield_10y", "period": "2030"}),
        ("/observations", {"country": "USA", "source_id": "mof-japan"}),
        ("/observations/latest", {"country": "JPN", "indicator": "unemployment_rate"}),
        ("/observations/vintages", {"country": "USA", "indicator": "gov_yield_10y", "as_of": "1990-01-01"}),
        (DERIVED, {"country": "EU"}),
        ("/events", {"country": "EU"}),
        ("/release-summaries", {"indicator": "gov_yield_10y"}),
        ("/companies", {"country": "EU"}),
        ("/indicators/gov_yield_10y/series", {"country": "EU"}),
        ("/rates/usa/history", {"as_of": "1990-01-01"}),
        ("/screener", {"filter": "gov_yield_10y:gt:1e15", "country": "EU"}),
    ],
    ids=str,
)
def test_an_empty_list_of_known_names_needs_no_words(service, path, query):
    body = service.get(path, "pro", None, **query).json()
    assert (body["data"], body["meta"].get("warnings")) == ([], None)


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
