"""Withheld values: the row keeps its place and says why, on every path; and nothing leaks sideways."""

import re
from datetime import date

import pytest

from almanac.domain.periods import Period
from almanac.store.engine import sqlite
from almanac.store.observations.ids import observation_id
from tests.support.invented_mirror import DAILY, SECRETS

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
        queries += [{"indicator": RAW, "sources": "all"}] if "sources" in names else []
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
            sqlite.set_meta(world.db, "reference", str(batch.version))
            batch.touch()
        return [(r["sourceId"], r["rights"]["valueWithheld"]) for r in own.ok("/observations", **query)]

    assert prefer_fred() == [("fred", False)]
    assert prefer_fred(**NO_CONSENT) == [("us-treasury-par", False)]


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
