"""Where a list mixes kinds of rows, a key reads those of its scopes, and is told that others were left out."""

import pytest

from tests.support.service import Service

from . import invented_companies

MIXED = ("/observations/latest", "/observations/vintages", "/observations/changes")


@pytest.fixture(scope="module")
def companies(tmp_path_factory):
    """Invented companies with readings of their measures, all derived."""
    home = tmp_path_factory.mktemp("scopes") / "home"
    invented_companies.build(home, invented_companies.companies(5))
    opened = Service(home)
    yield opened
    opened.close()


def listed(service, path, key, **parameters):
    if path == "/observations/changes":
        parameters = {"since": 0, **parameters}
    rows = service.walk(path, key, limit=500, **parameters)
    warnings = service.get(path, key, None, **parameters).json()["meta"].get("warnings", [])
    return rows, [(one["parameter"], one["value"]) for one in warnings]


@pytest.mark.parametrize("path", MIXED)
def test_derived_rows_want_their_scope(service, path):
    every, said = listed(service, path, "pro")
    derived = [row for row in every if row.get("derivedFrom")]
    assert derived
    assert said == []
    rows, said = listed(service, path, "macro:read")
    assert [row["id"] for row in rows] == [row["id"] for row in every if row not in derived]
    assert said == [("scope", "companies:read"), ("scope", "analytics:read")]
    # A question that can have no such rows is not told of them.
    assert listed(service, path, "macro:read", country="USA")[1] == [("scope", "analytics:read")]


def test_a_kind_that_the_key_may_not_read_gives_no_rows(service):
    rows, said = listed(service, "/observations/latest", "macro:read", kind="derived", country="USA")
    assert (rows, said) == ([], [("scope", "analytics:read")])
    assert listed(service, "/observations/latest", "pro", kind="derived", country="USA")[0]


@pytest.mark.parametrize("path", ["/derived-observations", *MIXED])
def test_rows_of_companies_want_their_scope(companies, path):
    every = {row["id"]: row["entityId"] for row in listed(companies, path, "pro")[0]}
    one = next(entity for entity in every.values() if entity.startswith("company_"))
    key = "analytics:read" if path == "/derived-observations" else "macro:read"
    rows, said = listed(companies, path, key)
    assert not [row for row in rows if row["entityId"].startswith("company_")]
    assert ("scope", "companies:read") in said
    assert ("scope", "companies:read") in listed(companies, path, key, entity_id=one)[1]


@pytest.mark.parametrize("path", ["/observations", *MIXED])
def test_no_rows_are_said_to_be_left_out_where_none_are(companies, service, path):
    """Of derived rows it is said where a named indicator is derived, of companies where one has series of theirs."""
    raw, derived = "gov_yield_10y", "yield_slope_2s10s"
    for name in ("indicator", "indicator_id"):
        rows, said = listed(service, path, "macro:read", **{name: raw})
        assert (len(rows) > 0, said) == (True, [])
    assert listed(service, path, "macro:read", indicator="nothing")[1] == [("indicator", "nothing")]
    kinds = [] if path == "/observations" else [("scope", "analytics:read")]
    assert listed(service, path, "macro:read", indicator_id=f"{raw},{derived}")[1][-1:] == (
        kinds or [("indicator_id", derived)]
    )
    # Of these companies' all is derived: a list of raw rows leaves none of them out.
    said = listed(companies, path, "macro:read", indicator="net_margin")[1]
    assert said == [("scope", "companies:read"), *kinds] if kinds else said == [("indicator", "net_margin")]


def test_derived_observations_without_companies_say_nothing_of_them(companies, service):
    path = "/derived-observations"
    assert listed(service, path, "analytics:read", indicator="yield_slope_2s10s")[1] == []
    assert listed(companies, path, "analytics:read", indicator="net_margin")[1] == [("scope", "companies:read")]


def test_a_list_of_readings_of_one_kind_says_nothing_of_the_other(service):
    found = listed(service, "/observations/latest", "macro:read", kind="raw", indicator="gov_yield_10y")
    assert (len(found[0]) > 0, found[1]) == (True, [])


SERIES = "/indicators/{}/series"


def test_series_want_the_scopes_of_their_rows(service, companies):
    """A list by path for macro:read: companies' series want companies:read too, derived ones analytics:read."""
    assert service.walk(SERIES.format("yield_slope_2s10s"))
    assert listed(service, SERIES.format("yield_slope_2s10s"), "macro:read") == ([], [("scope", "analytics:read")])
    rows, said = listed(service, SERIES.format("gov_yield_10y"), "macro:read")
    assert (rows, said) == (service.walk(SERIES.format("gov_yield_10y")), [])
    path = SERIES.format("net_margin")
    assert companies.walk(path)
    both = [("scope", "companies:read"), ("scope", "analytics:read")]
    assert listed(companies, path, "macro:read") == ([], both)
    assert listed(companies, path, "macro:read", country="USA") == ([], both[1:])


def test_names_of_companies_with_data_want_their_scope(companies, service):
    path = "/derived-indicators/net_margin/entities"
    assert {row["entityId"][:8] for row in companies.walk(path)} == {"company_"}
    assert listed(companies, path, "analytics:read") == ([], [("scope", "companies:read")])
    path = "/derived-indicators/yield_slope_2s10s/entities"
    assert listed(service, path, "analytics:read") == (service.walk(path), [])


def test_events_are_for_their_own_scope_whomever_they_are_about(service):
    """An event is a record of its own, and no row of a company: no other scope is asked for."""
    every, said = listed(service, "/events", "events:read", category="issuer_filing")
    assert (every, said) == (service.walk("/events", category="issuer_filing"), [])
    assert {row["entityId"][:8] for row in every} == {"company_"}


def test_provenance_of_a_row_of_another_scope_is_refused(service, companies):
    """Its id says nothing of its value, so that it may be told that there is such a row."""
    raw = service.ok("/observations", country="USA", limit=1)[0]["id"]
    assert service.ok(f"/observations/{raw}/provenance", "macro:read")["observation"]["id"] == raw
    derived = service.ok("/derived-observations", country="USA", limit=1)[0]
    rows = companies.walk("/observations/latest", limit=500)
    of_company = next(row for row in rows if row["entityId"].startswith("company_"))
    for world, row, scope in ((service, derived, "analytics:read"), (companies, of_company, "companies:read")):
        assert world.ok(f"/observations/{row['id']}/provenance")["observation"]["id"] == row["id"]
        told = world.error(f"/observations/{row['id']}/provenance", 403, "macro:read")
        assert told["details"] == {"scope": scope}
