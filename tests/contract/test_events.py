"""Official events."""

from datetime import datetime

import pytest

from almanac.catalog.releases import shipped
from almanac.domain.events import CATEGORIES
from tests.support.invented_mirror import FREE_FROM

from .filed import ACCESSIONS, ACME, BOLT, QUARTER, YEAR

PATH = "/events"
ACME_ID, BOLT_ID = f"company_{ACME:010d}", f"company_{BOLT:010d}"


#: Types of the events that the tests of releases are about (test_releases.py); here are those of `filed`.
ELSEWHERE = {"policy_meeting", "policy_rate_change", *(release.type for release in shipped())}


def ours(rows):
    return [row for row in rows if row["type"] not in ELSEWHERE]


def titles(service, key="pro", **query):
    return [row["title"] for row in ours(service.walk(PATH, key, limit=50, **query))]


ALL = [
    "Auction", "Consumer prices", "Bolt Bank Corp: change of auditor", "Acme Widgets Inc.: 10-Q", "Policy meeting", "Acme Widgets Inc.: 10-K",
    "Acme Widgets Inc.: 10-Q",
]  # fmt: skip


def test_lists_official_events(service):
    """Lists official events, newest first (`order` defaults to desc)."""
    rows = service.walk(PATH, limit=500)
    times = [row["occurredAt"] for row in rows]
    assert times == sorted(times, reverse=True)
    rows = ours(rows)
    assert [row["title"] for row in rows] == ALL == titles(service)
    assert titles(service, order="asc") == ALL[::-1]
    release = rows[1]
    assert release == {
        "id": release["id"], "category": "macro_release", "type": "release", "title": "Consumer prices", "status": "released",
        "occurredAt": "2026-11-13T13:30:00Z", "timePrecision": "minute", "timeZone": "America/New_York", "entityId": None,
        "country": "country_usa", "indicatorId": "indicator_cpi_index", "period": "2026-10", "actual": 2.5, "revisedActual": None, "previous": 2,
        "revisedPrevious": 2.1, "unit": "percent", "currency": None, "form": None, "accession": None, "url": None, "sourceId": "fred", "providerId": "fred",
        "observedAt": "2026-11-13T13:30:00Z", "rights": release["rights"],
    }  # fmt: skip
    assert (release["rights"]["redistributable"], release["rights"]["reason"]) == (True, None)
    filing = rows[3]
    assert (filing["form"], filing["accession"], filing["entityId"], filing["country"], filing["url"]) == (
        "10-Q", ACCESSIONS[QUARTER], ACME_ID, "country_usa", f"https://archive.example/{ACCESSIONS[QUARTER]}",
    )  # fmt: skip
    assert rows[2]["country"] == "country_jpn"  # the domicile of its company
    assert (rows[0]["timePrecision"], rows[0]["status"], rows[0]["occurredAt"]) == (
        "day",
        "tentative",
        "2026-12-01T00:00:00Z",
    )


@pytest.mark.parametrize("category", CATEGORIES)
def test_category(service, category):
    """Category filter, one of: macro_release, central_bank, issuer_filing, issuer_disclosure, regulator_notice, corporate_action, other."""
    rows = service.walk(PATH, category=category.upper())
    assert rows == [row for row in service.walk(PATH) if row["category"] == category]
    assert bool(rows) == (category not in {"regulator_notice", "corporate_action"})


def test_a_wrong_category(service):
    """A value that is none of them is 400 and names them."""
    assert service.error(PATH, 400, category="weather")["details"]["allowed"] == list(CATEGORIES)


@pytest.mark.parametrize("name", ["indicator", "indicator_id"])
def test_indicator(service, name):
    """An alias of the indicator_id filter. It accepts a canonical field name, a storage indicator id or an indicator slug."""
    for value in ("cpi_index", "indicator_cpi_index", "CPI_INDEX", "INDICATOR_cpi_index"):
        assert titles(service, **{name: value}) == ["Consumer prices"]


def test_an_unknown_indicator(service):
    """A value matching none of these returns an empty result (it is never ignored). An empty value is rejected with 400."""
    for value in (
        "nothing_like_it",
        "cpi_indexes",
        "indicator_",
        "gov_yield_10y",
        "*",
        "%",
        "cpi_index'--",
        "0",
        "null",
    ):
        assert titles(service, indicator=value) == []
    assert titles(service, indicator_id="nothing,cpi_index") == ["Consumer prices"]
    # Both given: union.
    assert titles(service, indicator="cpi_index", indicator_id="nothing") == ["Consumer prices"]
    for name in ("indicator", "indicator_id"):
        for empty in ("", " ", "\t"):
            error = service.error(PATH, 400, **{name: empty})
            assert error["message"].startswith(f"'{name}' ")
            assert error["details"]["reason"] == "empty"


def test_other_filters(service):
    """`country` (of a company's event the domicile), `entity`, `entity_id`, `source_id`, `provider_id`, `status`."""
    every = service.walk(PATH)
    for query, keep in (
        ({"country": "USA"}, lambda r: r["country"] == "country_usa"), ({"country": "japan"}, lambda r: r["country"] == "country_jpn"),
        ({"country": "DE"}, lambda r: False), ({"country": "nowhere"}, lambda r: False),
        ({"entity": "acme-widgets-inc"}, lambda r: r["entityId"] == ACME_ID), ({"entity_id": BOLT_ID}, lambda r: r["entityId"] == BOLT_ID),
        ({"entity": ACME_ID, "entity_id": BOLT_ID}, lambda r: False), ({"entity": ACME_ID, "entity_id": "acme-widgets-inc"}, lambda r: r["entityId"] == ACME_ID),
        ({"entity": "nobody"}, lambda r: False), ({"source_id": "sec"}, lambda r: r["sourceId"] == "sec"),
        ({"provider_id": "mof"}, lambda r: r["providerId"] == "mof"), ({"status": "tentative"}, lambda r: r["status"] == "tentative"),
        ({"type": "policy_meeting"}, lambda r: r["type"] == "policy_meeting"), ({"type": "RELEASE, auction"}, lambda r: r["type"] in {"release", "auction"}),
        ({"type": "no_such"}, lambda r: False), ({"form": "10-q"}, lambda r: r["form"] == "10-Q"),
        ({"form": "10-K,10-Q", "entity": ACME_ID}, lambda r: r["form"] in {"10-K", "10-Q"}), ({"form": "10"}, lambda r: False),
        ({"status": "released", "category": "issuer_filing", "country": "US"}, lambda r: r["entityId"] == ACME_ID),
    ):  # fmt: skip
        assert service.walk(PATH, limit=3, **query) == [row for row in every if keep(row)], query


def test_time_range(service):
    """`start_date`, `end_date` on occurredAt, both ends inclusive."""
    assert titles(service, start_date="2026-11-13T13:30:00Z") == ["Auction", "Consumer prices"]
    assert titles(service, start_date="2026-11-13T13:30:01Z") == ["Auction"]
    assert titles(service, start_date="2026-11-05", end_date="2026-11-05") == ["Bolt Bank Corp: change of auditor"]
    assert titles(service, end_date="2023-12-31") == ["Acme Widgets Inc.: 10-Q"]
    assert (
        service.error(PATH, 400, start_date="2026-02-01", end_date="2026-01-01")["details"]["reason"]
        == "start_after_end"
    )


def test_as_of(service):
    """The latest state known on or before the moment; an event that was moved is one event, with one id."""

    def prices(as_of):
        rows = service.walk(PATH, indicator="cpi_index", as_of=as_of)
        return [(row["occurredAt"][:10], row["status"], row["actual"], row["observedAt"]) for row in rows]

    assert prices("2026-08-31") == []
    assert prices("2026-09-01T00:00:00Z") == [("2026-11-10", "scheduled", None, "2026-09-01T00:00:00Z")]
    assert prices("2026-11-05") == [("2026-11-13", "rescheduled", None, "2026-11-01T00:00:00Z")]
    assert prices("2026-11-13T13:30:00Z") == [("2026-11-13", "released", 2.5, "2026-11-13T13:30:00Z")]
    ids = {
        row["id"]
        for day in ("2026-10-10", "2026-11-05", "2026-11-20")
        for row in service.walk(PATH, indicator="cpi_index", as_of=day)
    }
    assert len(ids) == 1
    for row in service.walk(PATH):
        # A row's own time returns the row.
        day = row["occurredAt"][:10]
        assert row in service.walk(PATH, as_of=row["observedAt"], start_date=day, end_date=day)


def test_the_window_of_a_plan(service):
    """History is counted on `occurredAt`: the list is clipped, a request wholly before it is 403."""
    assert titles(service, "free") == [
        title for title, row in zip(ALL, ours(service.walk(PATH)), strict=True) if row["occurredAt"][:10] >= FREE_FROM
    ]
    assert len(titles(service, "free")) == len(ALL) - 1
    assert service.get(PATH, "free").headers["x-history-from"] == FREE_FROM
    assert service.error(PATH, 403, "free", end_date="2023-12-31")["details"]["parameter"] == "end_date"
    assert service.error(PATH, 403, "free", as_of="2023-12-31")["details"]["parameter"] == "as_of"


def test_a_period_before_the_window_has_no_numbers(own):
    """Numbers that an event states itself are bounded by the plan too, by the end of the period they are of."""
    from almanac.domain.events import EventState, event_id
    from almanac.store.events import events

    known = int(datetime.fromisoformat("2024-12-10T12:00:00+00:00").timestamp())
    fields = {
        "known_at": known, "occurred_at": known, "precision": "minute", "time_zone": "UTC", "category": "macro_release", "type": "stated",
        "status": "released", "source": "us-treasury-par", "country": "country_usa", "indicator": "cpi_index", "actual": 2.5,
        "revised_actual": 2.6, "previous": 2.25, "revised_previous": 2.0, "unit": "percent",
    }  # fmt: skip
    with own.world() as world, world.batch("test") as batch:
        batch.touch()
        events.put(world.db, batch.version, [
            EventState(event=event_id("us-treasury-par", "stated", month), title=month, period=month, **fields)
            for month in ("2024-10", "2024-11", "2024-12")
        ])  # fmt: skip

    def told(plan):
        rows = own.walk(PATH, plan, limit=50, indicator="cpi_index", start_date="2024-12-10", end_date="2024-12-10")
        return {row["title"]: (row["actual"], row["revisedActual"], row["previous"], row["revisedPrevious"], row["unit"]) for row in rows}  # fmt: skip

    whole = (2.5, 2.6, 2.25, 2, "percent")
    assert told("pro") == dict.fromkeys(("2024-10", "2024-11", "2024-12"), whole)
    # November ends inside the window, October before it.
    assert told("free") == {
        "2024-10": (None, None, None, None, "percent"),
        "2024-11": (2.5, 2.6, None, None, "percent"),
        "2024-12": whole,
    }


def test_numbers_of_a_withheld_source(own):
    """Rights of the event's source: the reading keeps its place, numbers null, with `rights`."""
    closed = type(own)(
        own.home,
        {"SOURCES__FRED__CONSENT__BY": "", "SOURCES__FRED__CONSENT__ON": "", "SOURCES__FRED__CONSENT__REFERENCE": ""},
    )
    with closed.world(
        SOURCES__FRED__CONSENT__BY="", SOURCES__FRED__CONSENT__ON="", SOURCES__FRED__CONSENT__REFERENCE=""
    ):
        pass  # opening it writes the rights as they are now
    (row,) = closed.walk(PATH, indicator="cpi_index")
    assert (row["actual"], row["previous"], row["revisedPrevious"], row["unit"]) == (None, None, None, "percent")
    assert (row["rights"]["valueWithheld"], row["rights"]["redistributable"]) == (True, False)
    assert "consent" in row["rights"]["reason"]
    assert row["title"] == "Consumer prices"
    closed.close()


def test_a_walk_sees_one_state(own):
    """A cursor pins the data: states that arrive between two pages neither shift, repeat nor lose a row."""
    from almanac.domain.events import EventState, event_id
    from almanac.store.events import events

    first = own.get(PATH, "pro", None, limit=100).json()
    late = int(datetime.fromisoformat("2026-11-19T12:00:00+00:00").timestamp())
    with own.world() as world, world.batch("test") as batch:
        batch.touch()
        fields = {
            "precision": "minute",
            "time_zone": "UTC",
            "category": "other",
            "type": "x",
            "status": "released",
            "source": "sec",
        }
        events.put(world.db, batch.version, [
            EventState(event=event_id("sec", "new"), known_at=late, occurred_at=1_700_000_000, title="New", **fields),
            EventState(event=event_id("sec", ACCESSIONS[YEAR]), known_at=late, occurred_at=1_600_000_000, title="Moved", **fields),
        ])  # fmt: skip
    rows, cursor = first["data"], first["meta"]["pagination"]["next_cursor"]
    while cursor is not None:
        page = own.get(PATH, "pro", None, limit=100, cursor=cursor).json()
        rows += page["data"]
        cursor = page["meta"]["pagination"]["next_cursor"]
    assert [row["title"] for row in ours(rows)] == ALL
    assert set(titles(own)) == {*ALL, "New", "Moved"} - {"Acme Widgets Inc.: 10-K"}
