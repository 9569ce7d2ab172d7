"""A cursor pins the data; rights are never pinned; and a cursor is refused only for a reason."""

from datetime import UTC, datetime

import pytest

from almanac.store.engine import sqlite
from tests.support.invented_mirror import (
    CORRECTED,
    CORRECTED_DAY,
    TREASURY,
    TREASURY_DAYS,
    WITHDRAWN_DAY,
    treasury_file,
    treasury_value,
)

from .test_rights import NO_CONSENT

URL = f"{TREASURY}?data=daily_treasury_yield_curve&field_tdr_date_value="


def seconds(text):
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


def arrive(own):
    """New vintages: the year of 2026 with every 10-year yield changed, now; that of 2025 changed and back-dated."""
    days = [d for d in TREASURY_DAYS if d.year == 2026]
    own.ingest("us-treasury-par", URL + "2026", treasury_file(days, dict.fromkeys(days, 9.25)), seconds("2026-11-20T11:00:00"), "application/xml")  # fmt: skip
    days = [d for d in TREASURY_DAYS if d.year == 2025][2:]
    own.ingest("us-treasury-par", URL + "2025", treasury_file(days, dict.fromkeys(days, 8.75)), seconds("2026-01-01T06:00:00"), "application/xml")  # fmt: skip


WALKS = [
    ("/observations", {"indicator_id": "gov_yield_2y,gov_yield_10y"}),
    ("/observations", {"indicator_id": "gov_yield_10y", "sources": "all", "order": "desc"}),
    ("/observations", {"indicator_id": "gov_yield_10y", "sort": "observed_at"}),
    ("/observations", {"indicator_id": "gov_yield_10y", "sort": "ingested_at", "order": "desc", "sources": "all"}),
    ("/observations", {"indicator_id": "gov_yield_10y", "as_of": "2026-11-20"}),
    ("/derived-observations", {"indicator_id": "yield_slope_2s10s,yield_10y_change_1y"}),
    ("/derived-observations", {"sort": "period_end", "order": "desc", "as_of": "2026-11-19"}),
    ("/observations/vintages", {"indicator_id": "gov_yield_10y", "sources": "all"}),
    ("/observations/changes", {"since": "0", "indicator_id": "gov_yield_10y", "sources": "all"}),
    ("/observations/latest", {"country": "USA"}),
]


@pytest.mark.parametrize(("path", "query"), WALKS)
def test_a_walk_is_pinned(own, path, query):
    """New vintages arriving between two pages, back-dated ones too, neither shift, repeat nor lose a row."""
    whole = own.walk(path, limit=500, **query)
    version = own.ok("/coverage")["dataVersion"]
    limit = max(1, len(whole) // 4)
    first = own.get(path, limit=limit, **query).json()
    rows, page = first["data"], first["meta"]["pagination"]
    arrive(own)
    while page["has_more"]:
        answer = own.get(path, limit=limit, cursor=page["next_cursor"], **query)
        assert answer.status_code == 200
        assert answer.headers["x-data-version"] == str(version)
        rows, page = rows + answer.json()["data"], answer.json()["meta"]["pagination"]
    assert rows == whole
    assert own.ok("/coverage")["dataVersion"] > version
    assert own.walk(path, limit=500, **query) != whole


def test_time_moves_between_pages(own):
    """The first page fixes T = now, also for the bare date of today, freshness and the latest reading."""
    query = {"as_of": "2026-11-20", "country": "USA"}
    whole = own.walk("/observations/latest", **query)
    first = own.get("/observations/latest", limit=5, **query).json()
    own.data_now = seconds("2026-11-20T23:00:00")
    arrive(own)
    rest = own.get("/observations/latest", limit=500, cursor=first["meta"]["pagination"]["next_cursor"], **query).json()
    assert first["data"] + rest["data"] == whole


def test_today_is_pinned_to_the_first_page(own):
    """The bare date of today means the moment of the first page, however late on that day the others are asked for."""
    query = {"as_of": "2026-11-20", "indicator": "gov_yield_10y", "country": "USA", "period": "2026-11"}
    own.data_now = seconds("2026-11-20T00:30:00")
    whole = own.walk("/observations", **query)
    first = own.get("/observations", limit=4, **query).json()
    own.data_now = seconds("2026-11-20T12:00:00")
    rest = own.get("/observations", cursor=first["meta"]["pagination"]["next_cursor"], **query).json()["data"]
    assert first["data"] + rest == whole
    # The correction came at 01:00: it is no part of that walk, but of one that begins now.
    found = [
        [r["valueNumeric"] for r in rows if r["periodEnd"][:10] == f"{CORRECTED_DAY}"]
        for rows in (whole, own.walk("/observations", **query))
    ]
    assert found == [[treasury_value("BC_10YEAR", CORRECTED_DAY)], [CORRECTED]]


def test_rights_are_not_pinned(own):
    """Rights are never pinned: the place of a cell in a pinned walk never moves, its value is masked at once."""
    query = {"indicator": "unemployment_rate"}
    whole = own.walk("/observations", **query)
    first = own.get("/observations", limit=10, **query).json()
    with own.world(**NO_CONSENT):
        pass
    rest = own.get("/observations", cursor=first["meta"]["pagination"]["next_cursor"], **query).json()["data"]
    assert [r["periodEnd"] for r in first["data"] + rest] == [r["periodEnd"] for r in whole]
    assert all(r["valueNumeric"] is not None for r in first["data"])
    assert all(r["valueNumeric"] is None and r["rights"]["valueWithheld"] for r in rest)


def test_the_source_of_a_cell_may_change_with_rights(own):
    """Which source fills a pinned cell is decided by the order at the pinned version and the rights now."""
    query = {"indicator": "gov_yield_10y", "country": "USA", "sort": "period_end"}
    whole = own.walk("/observations", **query)
    assert [r["sourceId"] for r in whole if r["periodEnd"][:10] == WITHDRAWN_DAY.isoformat()] == ["fred"]
    first = own.get("/observations", limit=20, **query).json()
    with own.world(**NO_CONSENT):
        pass
    rest = own.get("/observations", cursor=first["meta"]["pagination"]["next_cursor"], **query).json()["data"]
    assert [r["periodEnd"] for r in first["data"] + rest] == [r["periodEnd"] for r in whole]


def test_revocation_is_not_pinned(own):
    """Plan and revocation are never pinned."""
    cursor = own.get("/observations", limit=10).json()["meta"]["pagination"]["next_cursor"]
    own.accounts.set_plan("pro@example.org", "free", own.settings.plans)
    clipped = own.ok("/observations", cursor=cursor, limit=500)
    assert {r["periodEnd"][:10] >= "2024-11-20" for r in clipped} == {True}
    own.accounts.revoke(own.keys["pro"], now=int(own.real_now))
    assert own.get("/observations", cursor=cursor).status_code == 401


def refused(service, path, reason, **query):
    error = service.error(path, 400, **query)
    assert error["message"].startswith("'cursor' ")
    assert (error["details"]["parameter"], error["details"]["reason"]) == ("cursor", reason)


def test_forged(service):
    """A cursor that is forged is refused: signed and opaque."""
    good = service.get("/observations", limit=3).json()["meta"]["pagination"]["next_cursor"]
    assert service.get("/observations", cursor=good).status_code == 200
    for bad in (good[:-1], good + "A", "A" + good, good.swapcase(), good[:20] + ("A" if good[20] != "A" else "B") + good[21:], "x", good + "=", "é", "a" * 4096):  # fmt: skip
        refused(service, "/observations", "forged", cursor=bad)
    refused(service, "/observations", "range", cursor="a" * 5000)


def test_a_cursor_belongs_to_its_query(service):
    """Bound to endpoint, filters, sort, order; page size may change between pages."""
    query = {"country": "USA", "sort": "period_end", "order": "desc"}
    cursor = service.get("/observations", limit=3, **query).json()["meta"]["pagination"]["next_cursor"]
    for other in ({"country": "JPN"}, {"sort": "topic"}, {"order": "asc"}, {"sources": "all"}, {"as_of": "2026-11-01"}):
        refused(service, "/observations", "other_query", cursor=cursor, **{**query, **other})
    refused(service, "/observations", "other_query", cursor=cursor)
    refused(service, "/derived-observations", "other_query", cursor=cursor, **query)
    for limit in (1, 7, 500):
        assert len(service.ok("/observations", cursor=cursor, limit=limit, **query)) == limit
    path = service.get("/indicators/gov_yield_10y/series", limit=1).json()["meta"]["pagination"]["next_cursor"]
    refused(service, "/indicators/gov_yield_2y/series", "other_query", cursor=path)


def test_another_account_may_use_it(service):
    """A cursor carries no right: each account sees through it what it may see."""
    cursor = service.get("/observations", limit=3).json()["meta"]["pagination"]["next_cursor"]
    assert service.get("/observations", "free", cursor=cursor).status_code == 200


def test_expired(own):
    """They expire after 7 days (setting)."""
    cursor = own.get("/observations", limit=3).json()["meta"]["pagination"]["next_cursor"]
    issued = own.real_now
    own.real_now = issued + 7 * 86_400 - 1
    assert own.get("/observations", cursor=cursor).status_code == 200
    own.real_now = issued + 7 * 86_400 + 1
    refused(own, "/observations", "expired", cursor=cursor)


def test_a_rebuild_ends_every_walk(own):
    """After a rebuild a cursor has expired: the rows it was pinned to are no more."""
    cursor = own.get("/observations", limit=3).json()["meta"]["pagination"]["next_cursor"]
    with own.world() as world, world.db.transaction():
        sqlite.set_meta(world.db, "epoch", "another")
    refused(own, "/observations", "expired", cursor=cursor)


def test_the_corrected_day_is_there(service):
    """What the walks above rely on: the last file corrected a day and left one out."""
    rows = service.walk(
        "/observations/vintages", indicator="gov_yield_10y", source_id="us-treasury-par", period="2026-11"
    )
    seen = [(r["periodEnd"][8:10], r["revisionStatus"], r["metadata"].get("withdrawn", False)) for r in rows]
    assert [s for s in seen if s[0] == f"{CORRECTED_DAY.day}"] == [("17", "initial", False), ("17", "revised", False)]
    assert [s for s in seen if s[0] == f"{WITHDRAWN_DAY.day}"] == [("12", "initial", False), ("12", "revised", True)]


def test_a_page_asked_before_is_as_fresh_as_one_asked_first(own):
    """The same request under the same data version gives the same data; a new one, or other rights, holds at once."""
    query = {"indicator": "unemployment_rate", "limit": 5}
    first, again = own.get("/observations", **query), own.get("/observations", **query)
    assert first.json()["data"] == again.json()["data"]
    assert first.headers["etag"] == again.headers["etag"]
    assert first.json()["requestId"] != again.json()["requestId"]
    with own.world(**NO_CONSENT):
        pass
    assert all(row["rights"]["valueWithheld"] for row in own.ok("/observations", **query))
    with own.world():
        pass
    assert own.get("/observations", **query).json()["data"] == first.json()["data"]
    assert own.get("/observations", "free", **query).json()["data"] != first.json()["data"]
