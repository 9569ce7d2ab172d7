"""Withheld values: the row keeps its place and says why, on every path; and nothing leaks sideways."""

import re
from datetime import date

import msgspec
import pytest

from almanac.domain.periods import Period
from almanac.domain.rights import Exposure
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.ingest.ingest import Arrival, Ingest
from almanac.store.engine.data_schema import set_meta
from almanac.store.observations.ids import observation_id
from tests.support.filed_company import ENTITY, FACTS_URL, INDEX_URL, facts, index
from tests.support.invented_mirror import DAILY, SECRETS
from tests.support.service import Service, make_accounts, settings

from . import invented_companies
from .declared import ENDPOINTS, LISTS, REQUIRED
from .test_every_endpoint import url

RAW, DERIVED = "high_yield_spread", "high_yield_spread_change_1m"
LISTED = ["/observations", "/observations/vintages", "/observations/latest"]
WHY = "The owner of the data, ICE Data Indices, LLC, requires its own approval before values are passed on."
#: Every secret number, and every difference of two of them.
NUMBERS = [v for v in SECRETS.values() if v % 1] + [b - a for a in SECRETS.values() for b in SECRETS.values() if b > a]


def assert_nothing_leaks(text):
    """None of the numbers stands in a text as a value."""
    seen = {float(number) for number in re.findall(r"-?[0-9]+\.[0-9]+", text)}
    assert not [one for one in seen for number in NUMBERS if abs(one - number) < 1e-9 and len(f"{one:.10g}") > 4]


def test_the_check_for_leaks_can_fail():
    """It finds a value, and a change, and takes nothing else for one."""
    for text in ('{"valueNumeric":7.137}', "above 2.603 ago"):
        with pytest.raises(AssertionError):
            assert_nothing_leaks(text)
    assert_nothing_leaks('{"valueNumeric":2.0547945205479534}')


def withheld(row):
    assert (row["valueNumeric"], row["valueText"]) == (None, None)
    rights = row["rights"]
    assert (rights["exposure"], rights["redistributable"], rights["valueWithheld"]) == ("restricted", False, True)
    assert WHY in rights["reason"]
    assert rights["license"] == "Copyrighted: pre-approval required"
    assert "ICE Data Indices" in rights["attribution"]
    return row


@pytest.mark.parametrize("key", ["free", "pro", "enterprise"])
@pytest.mark.parametrize("path", LISTED)
def test_rows_keep_their_place(service, path, key):
    """Rows from non-redistributable sources come back without a value regardless of plan, and state why."""
    rows = service.walk(path, key, indicator=RAW)
    assert len(rows) == (1 if path.endswith("latest") else len(DAILY))
    for row in rows:
        withheld(row)
        assert row["rights"]["reason"] == WHY
        assert row["periodEnd"][:10] in {day.isoformat() for day in DAILY}
        assert row["observedAt"] == "2026-11-19T08:00:00Z"


@pytest.mark.parametrize("path", ["/derived-observations", "/observations/vintages", "/observations/latest"])
def test_rights_flow_through_lineage(service, path):
    """A derived value takes the strictest rights of its inputs."""
    rows = service.walk(path, indicator=DERIVED)
    assert len(rows) == (1 if path.endswith("latest") else 13)
    for row in rows:
        withheld(row)
        assert row["derivedFrom"] == ["fred:country_usa:high_yield_spread:D"]
        assert row["rights"]["reason"] == f"computed from series whose values may not be redistributed (fred:country_usa:high_yield_spread:D: {WHY})"  # fmt: skip


def test_public_rows_say_so(service):
    """A public row has `redistributable: true, valueWithheld: false, reason: null`."""
    for row in service.walk("/observations", limit=500, sources="all"):
        secret = row["indicatorId"] == f"indicator_{RAW}"
        assert (row["valueNumeric"] is None) == secret
        if not secret:
            rights = row["rights"]
            assert (rights["exposure"], rights["redistributable"], rights["valueWithheld"], rights["reason"]) == ("public", True, False, None)  # fmt: skip


@pytest.mark.parametrize("path", ENDPOINTS)
def test_nothing_leaks_on_any_path(service, path):
    """Only `public` values are sent, whatever the path, sort, filter or moment."""
    queries = [{}]
    if path in LISTS:
        queries += [{"limit": str(ENDPOINTS[path].max_limit)}]
        queries += [{**queries[1], "order": "desc"}] if "order" in ENDPOINTS[path].by_name else []
    names = ENDPOINTS[path].by_name
    if "indicator" in names:
        queries += [{"indicator": RAW}, {"indicator": DERIVED}]
        queries += [{"indicator_id": f"{RAW},{DERIVED}", "as_of": "2026-11-19"}] if "indicator_id" in names else []
        queries += [{"indicator": RAW}] if "sources" in names else []
        queries += [{"indicator": RAW, "sort": "observed_at"}] if "sort" in names and path != "/events" else []
    target = url(service, path)
    for query in queries:
        required = REQUIRED.get(path, {})
        answer = service.get(target, **required, **query)
        assert answer.status_code == 200
        assert_nothing_leaks(answer.text)


def test_nothing_leaks_in_provenance(service):
    """Provenance masks inputs and vintages (`verified` null), as row, vintage and input."""
    for path, indicator in (("/observations", RAW), ("/derived-observations", DERIVED)):
        row = service.walk(path, indicator=indicator)[-1]
        found = service.ok(f"/observations/{row['id']}/provenance")
        assert_nothing_leaks(service.get(f"/observations/{row['id']}/provenance").text)
        withheld(found["observation"])
        assert [withheld(v)["id"] for v in found["vintages"]] == [row["id"]]
        assert found["verified"] is None
        # The hash and the length of a short response would tell which guess at its one value is right.
        assert found["payload"] is None
        assert (found["run"] is None) == (indicator == DERIVED)
        for one in found["inputs"]:
            assert (one["valueNumeric"], one["valueText"], one["valueWithheld"], one["reason"]) == (
                None,
                None,
                True,
                WHY,
            )
        assert len(found["inputs"]) == (2 if indicator == DERIVED else 0)


def test_errors_do_not_leak(service):
    """Nothing leaks through error messages."""
    for query in ({"indicator": RAW, "limit": "0"}, {"indicator": RAW, "sort": "value"}, {"indicator": RAW, "value": "7.137"}):  # fmt: skip
        answer = service.get("/observations", **query)
        assert answer.status_code == 400
        assert_nothing_leaks(answer.text)
    assert "value" not in ENDPOINTS["/observations"].by_name["sort"].names


def test_series_and_sources_state_rights(service):
    """Each series and source states its exposure; figures of a withheld series hold no value."""
    (series,) = service.ok(f"/indicators/{RAW}/series")
    assert (series["rights"]["exposure"], series["rights"]["reason"]) == ("restricted", WHY)
    assert series["observationCount"] == len(DAILY)
    fred = next(s for s in service.walk("/sources") if s["id"] == "fred")
    assert (fred["rights"]["exposure"], fred["rights"]["redistributable"], fred["rights"]["reason"]) == ("public", True, None)  # fmt: skip
    assert fred["rights"]["consent"] == {"by": "someone", "on": "2026-01-02", "reference": "an invented letter"}


NO_CONSENT = {
    "SOURCES__FRED__CONSENT__BY": "",
    "SOURCES__FRED__CONSENT__ON": "",
    "SOURCES__FRED__CONSENT__REFERENCE": "",
}


def test_consent_withdrawn_and_recorded(own):
    """A change of rights is a data version and holds everywhere; the channel without consent hides all values of FRED."""
    before = {path: own.walk(path, limit=500, sources="all") for path in ("/observations", "/derived-observations")}
    version = own.ok("/coverage")["dataVersion"]
    with own.world(**NO_CONSENT):
        pass
    assert own.ok("/coverage")["dataVersion"] == version + 1
    for path, rows in before.items():
        now = own.walk(path, limit=500, sources="all")
        for row, was in zip(now, rows, strict=True):
            assert [row[k] for k in ("sourceId", "indicatorId", "periodEnd", "observedAt")] == [
                was[k] for k in ("sourceId", "indicatorId", "periodEnd", "observedAt")
            ]
            # Whether a value is withheld or not, its row goes by the same id.
            assert row["id"] == was["id"]
            from_fred = any(name.startswith("fred:") for name in (row.get("derivedFrom") or [row["sourceId"] + ":"]))
            assert row["rights"]["valueWithheld"] == from_fred
            if from_fred:
                assert row["valueNumeric"] is None
                assert "written consent" in row["rights"]["reason"] or "ICE" in row["rights"]["reason"]
            else:
                assert {k: v for k, v in row.items() if k != "rights"} == {
                    k: v for k, v in was.items() if k != "rights"
                }
    fred = next(s for s in own.walk("/sources") if s["id"] == "fred")
    assert (fred["rights"]["exposure"], fred["rights"]["consent"]) == ("internal_only", None)
    assert "SOURCES__FRED__CONSENT__BY" in fred["rights"]["reason"]
    with own.world():
        pass
    assert own.ok("/coverage")["dataVersion"] == version + 2
    for path, rows in before.items():
        assert own.walk(path, limit=500, sources="all") == rows


def test_a_withheld_row_never_wins(own):
    """A withheld row never wins over a public one; where it stands alone it keeps its place."""
    with own.world(**NO_CONSENT):
        pass
    rows = own.walk("/observations", indicator="gov_yield_10y", country="USA", period="2026-11")
    by_day = {row["periodEnd"][:10]: row for row in rows}
    assert by_day["2026-11-17"]["sourceId"] == "us-treasury-par"
    assert by_day["2026-11-12"]["sourceId"] == "fred"
    assert by_day["2026-11-12"]["valueNumeric"] is None
    every = own.walk("/observations", indicator="gov_yield_10y", country="USA", period="2026-11-17", sources="all")
    assert [(r["sourceId"], r["valueNumeric"] is None) for r in every] == [("us-treasury-par", False), ("fred", True)]


def test_a_withheld_row_never_wins_though_first_in_order(own):
    """Not even where its source is the first in the order of preference."""
    query = {"indicator": "gov_yield_10y", "country": "USA", "period": "2026-11-17"}

    def prefer_fred(**consent):
        with own.world(**consent) as world, world.batch("test") as batch:
            row = ("gov_yield_10y", batch.version, '["fred", "us-treasury-par"]')
            world.db.execute(
                "INSERT INTO preference VALUES(?, ?, ?) ON CONFLICT(indicator, from_version) DO UPDATE SET sources = excluded.sources",
                row,
            )
            set_meta(world.db, "reference", str(batch.version))
            batch.touch()
        return [(r["sourceId"], r["rights"]["valueWithheld"]) for r in own.ok("/observations", **query)]

    assert prefer_fred() == [("fred", False)]
    assert prefer_fred(**NO_CONSENT) == [("us-treasury-par", False)]


def test_no_list_gives_a_unit_to_a_series_whose_publisher_states_another(own):
    """Its numbers are withheld, and the catalogue's unit is not theirs."""
    query = {"indicator": "gov_yield_10y", "country": "USA", "source_id": "fred"}
    paths = ("/indicators/gov_yield_10y/series", "/observations", "/observations/latest", "/observations/vintages")

    def units():
        every = [row for path in paths for row in own.ok(path, **(query if "observations" in path else {}))]
        return {row["unit"] for row in every if row["sourceId"] == "fred"}

    assert units() == {"percent"}
    number = next(row["id"] for row in own.ok(paths[0]) if row["sourceId"] == "fred")
    with own.world() as world, world.batch("test") as batch:
        batch.tighten(batch.existing(number), Exposure.blocked, "another unit")
        batch.touch()
    assert units() == {None}


def test_terms_that_allow_derivatives_do_not_pass_on_what_comes_of_numbers_in_a_wrong_unit(own):
    query = {"indicator": "yield_slope_2s10s", "country": "USA", "sources": "all"}

    def slopes(exposure):
        with own.world() as world, world.batch("test") as batch:
            body = world.db.execute("SELECT body FROM record WHERE kind = 'source' AND id = 'fred'").get
            told = msgspec.json.decode(body)
            told["rights"]["derivativesAllowed"] = True
            world.db.execute(
                "UPDATE record SET body = ? WHERE kind = 'source' AND id = 'fred'",
                (msgspec.json.encode(told).decode(),),
            )
            set_meta(world.db, "reference", str(batch.version))
            batch.tighten(batch.existing("fred:country_usa:gov_yield_10y:D"), exposure, "tightened")
            batch.touch()
        rows = own.walk("/derived-observations", **query)
        return {(row["valueNumeric"] is None, row["rights"]["exposure"]) for row in rows if row["sourceId"] == "fred"}

    assert slopes(Exposure.restricted) == {(False, "public")}
    assert slopes(Exposure.blocked) == {(True, "blocked")}


def test_withheld_yields_in_rates(own):
    """In rates the tenor of a withheld yield is absent, with a note."""
    with own.world() as world, world.batch("test"):
        # Only the copies are left: a withheld yield is then all there is.
        world.db.execute(
            "DELETE FROM vintages WHERE series IN (SELECT series FROM series WHERE source = 'us-treasury-par')"
        )
        world.db.execute("DELETE FROM series WHERE source = 'us-treasury-par'")
    assert [p["tenor"] for p in own.ok("/rates/USA")["curve"]] == ["2y", "10y"]
    with own.world(**NO_CONSENT):
        pass
    rates = own.ok("/rates/USA")
    assert (rates["curve"], rates["spreads"], rates["slopes"]) == ([], [], [])
    notes = [note for note in rates["comparability"] if "may not be shown" in note]
    assert [note[:8] for note in notes] == ["USA 2y: ", "USA 10y:"]
    assert [p["peers"] for p in own.ok("/rates/JPN")["spreads"]] == [[], [], [], []]


def test_etag_and_rows_do_not_depend_on_a_withheld_value(own):
    """Weak `ETag` over data as this account sees them: what is masked is the same whatever the value was."""
    one = own.get("/observations", indicator=RAW)
    ours = "WHERE series = (SELECT series FROM series WHERE id = 'fred:country_usa:high_yield_spread:D')"
    with own.world() as world, world.batch("test"):
        assert world.db.update(f"UPDATE vintages SET value = 99.5 {ours}", ()) == len(DAILY)
    other = own.get("/observations", indicator=RAW)
    assert other.headers["etag"] == one.headers["etag"]
    assert other.json()["data"] == one.json()["data"]


def test_the_id_of_a_withheld_row_tells_nothing_of_its_value(service):
    """Nothing leaks sideways: an id follows from series, period and knowledge time, whatever the value is, and leads to the row."""
    rows = service.walk("/observations", indicator=RAW)
    known = 1_795_075_200  # 2026-11-19T08:00:00Z
    for row in rows:
        day = date.fromisoformat(row["periodEnd"][:10])
        assert row["id"] == observation_id(row["metadata"]["seriesId"], Period(day, day).key, known)
        found = service.ok(f"/observations/{row['id']}/provenance")
        assert (withheld(found["observation"])["id"], found["payload"]) == (row["id"], None)


def test_a_response_that_states_a_withheld_series_too_goes_without_its_hash(own):
    """All other values of such a response are sent: its hash and length would tell which guess at the one withheld is right."""
    (row,) = own.ok("/observations", indicator="gov_yield_10y", source_id="us-treasury-par", period="2026-11-16")
    (other,) = own.ok("/observations", indicator="unemployment_rate", limit=1)
    assert own.ok(f"/observations/{row['id']}/provenance")["payload"] is not None
    shut = "us-treasury-par:country_usa:gov_yield_2y:D"
    with own.world() as world, world.batch("test"):
        world.db.execute("UPDATE series SET exposure = 2, reason = 'Invented.' WHERE id = ?", (shut,))
    found = own.ok(f"/observations/{row['id']}/provenance")
    assert (found["payload"], found["observation"]["valueNumeric"]) == (None, row["valueNumeric"])
    assert found["run"] is not None
    assert own.ok(f"/observations/{other['id']}/provenance")["payload"] is not None


# -- where a list mixes kinds of rows, a key reads those of its scopes, and is told that others were left out ---------


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


# No number of a filing leaves by any path about companies, once the source of filings may not be passed on.


NOW = "2024-06-15T12:00:00Z"
WHY_OF_COMPANY_RIGHTS = "An invented reason."
SECTOR = "sector:eq:Industrials"
COMPANY = f"/companies/{ENTITY}"
#: Paths that tell of companies' numbers; each tells some while the source is open.
ASKED = [
    (f"{COMPANY}/financials", {"limit": "100"}),
    (f"{COMPANY}/financials", {"as_of": "2024-03-01"}),
    (f"{COMPANY}/profile", {}),
    ("/companies", {"sort": "score", "order": "desc"}),
    ("/equity-screener", {"filter": SECTOR, "sort": "revenue_ttm"}),
    ("/equity-screener", {"filter": f"{SECTOR},net_margin:gt:-1e9"}),
    ("/equity-screener", {"filter": SECTOR, "sort": "total_assets", "as_of": "2024-03-01"}),
    ("/equity-screener/filters", {}),
    ("/observations", {"entity": ENTITY, "limit": "500"}),
    ("/observations/latest", {"entity": ENTITY, "limit": "500"}),
    ("/observations/vintages", {"entity": ENTITY, "limit": "500"}),
    ("/derived-observations", {"entity": ENTITY, "limit": "500"}),
]
#: Numbers that are no values: of the calendar, and how much there is of something.
PLAIN = {"fiscalYear", "calendarYear", "calendarQuarter", "scoreCoverage", "entityCount"}


@pytest.fixture
def filer(tmp_path):
    chosen = settings(tmp_path / "home", NOW=NOW)
    with PipelineContext(chosen) as world:
        run = Ingest(world, world.catalog.sources["sec"], lambda _: None)
        outcome = run.run(
            [Arrival(url, body, "application/json", None) for url, body in ((INDEX_URL, index()), (FACTS_URL, facts()))]
        )
        assert (outcome.folded, outcome.quarantined, outcome.failed) == (2, {}, {})
    make_accounts(chosen)
    opened = Service(chosen.home, {"NOW": NOW})
    yield opened
    opened.close()


def shut(filer):
    """The source of filings, restricted: nothing of it and nothing made of it may be passed on."""
    with filer.world() as world, world.batch("test") as batch:
        batch.touch()
        told = msgspec.json.decode(world.db.execute("SELECT body FROM record WHERE kind = 'source' AND id = 'sec'").get)
        told["rights"] |= {"exposure": 2, "reason": WHY_OF_COMPANY_RIGHTS, "derivativesAllowed": False}
        world.db.execute(
            "UPDATE record SET body = ? WHERE kind = 'source' AND id = 'sec'", (msgspec.json.encode(told).decode(),)
        )
        set_meta(world.db, "reference", str(batch.version))


def values(told, name=""):
    """Every number in an answer that may be a value, and every text that says why there is none."""
    if isinstance(told, dict):
        for key, one in told.items():
            yield from values(one, key)
    elif isinstance(told, list):
        for one in told:
            yield from values(one, name)
    elif isinstance(told, (int, float)) and not isinstance(told, bool) and name not in PLAIN:
        yield name, told


def test_no_number_of_a_filing_is_told(filer):
    for path, query in ASKED:
        answer = filer.get(path, **query)
        assert list(values(answer.json()["data"])) != []
        assert WHY_OF_COMPANY_RIGHTS not in answer.text
    shut(filer)
    for path, query in ASKED:
        answer = filer.get(path, **query)
        assert list(values(answer.json()["data"])) == [], path
        # 470 of revenue, restated income of 44, total assets of 1,000: in no text either, such as what a check says.
        assert not {"470", "1,000", "44"} & set(answer.text.replace(":", " ").replace('"', " ").split()), path


def test_a_screen_does_not_tell_by_order_or_count(filer):
    screen = "/equity-screener"
    assert filer.get(screen, filter="net_margin:gt:0").json()["meta"]["pagination"]["total"] == 1
    shut(filer)
    for operator in ("gt:-1e300", "lt:1e300"):
        assert filer.get(screen, filter=f"net_margin:{operator}").json()["meta"]["pagination"]["total"] == 0
    (row,) = filer.ok(screen, filter=SECTOR, sort="revenue_ttm")
    assert row["values"] == {"sector": "Industrials"}


def test_provenance_tells_no_number(filer):
    (row, *_) = filer.ok("/derived-observations", entity=ENTITY, indicator="net_income", frequency="A")
    path = f"/observations/{row['id']}/provenance"
    assert filer.ok(path)["verified"] is True
    (raw, *_) = filer.ok("/observations", entity=ENTITY, indicator="us_gaap_net_income_loss")
    shut(filer)
    rows = filer.ok("/derived-observations", entity=ENTITY, indicator="net_income", frequency="A")
    for one in (*rows, *filer.ok("/observations", entity=ENTITY, indicator="us_gaap_net_income_loss")):
        found = filer.ok(f"/observations/{one['id']}/provenance")
        assert list(values({key: found[key] for key in ("observation", "vintages", "inputs", "payload")})) == []
        assert found["verified"] is None
    # A withheld row has an id that says nothing of its value.
    assert filer.get(path).status_code == 404 or list(values(filer.ok(path)["observation"])) == []
    assert raw["valueNumeric"] is not None


def test_facts_want_the_scope_of_companies(filer):
    """Raw series and rows of companies, for a key that reads `macro:read` alone: left out, and it is said so."""
    said = [{"parameter": "scope", "value": "companies:read", "suggestion": None,
             "reason": "rows of companies are left out: the key may not read them"}]  # fmt: skip
    fact = "us_gaap_net_income_loss"
    for path, query in ((f"/indicators/{fact}/series", {}), ("/observations", {"indicator": fact})):
        assert filer.walk(path, **query)
        found = filer.get(path, "macro:read", None, **query).json()
        assert (found["data"], found["meta"]["warnings"]) == ([], said)
        found = filer.get(path, "macro:read", None, country="USA", **query).json()
        # Not that rows were left out: there are none of a country.
        assert (found["data"], said[0] in found["meta"].get("warnings", [])) == ([], False)
