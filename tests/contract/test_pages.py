"""
Pages and order, of every list: what is joined from pages is the whole list, in the order the documents state, and of the state
that the first page was of. Rights are never pinned.

How a cursor is written, and what it is refused for, is in `tests/api/contract/test_pages.py`.
"""

import math
from datetime import UTC, datetime

import pytest

from almanac.store.engine.data_schema import set_meta
from tests.support.invented_mirror import (
    CORRECTED,
    CORRECTED_DAY,
    TREASURY,
    TREASURY_DAYS,
    WITHDRAWN_DAY,
    treasury_file,
    treasury_value,
)

from .declared import ENDPOINTS, LISTS, REQUIRED
from .test_every_endpoint import get, url
from .test_rights import NO_CONSENT

OBSERVATIONS = ["/observations", "/derived-observations", "/observations/vintages"]
LETTERS = {"daily": "D", "weekly": "W", "monthly": "M", "quarterly": "Q", "annual": "A"}
ORDERS = ["asc", "desc"]
#: Lists whose records count what there is, which is told as of now: rows stay where they are, and their counts do not.
COUNTING = ["/indicators/{idOrSlug}/series"]
SORTS = {
    "period_start": "periodStart", "period_end": "periodEnd", "observed_at": "observedAt", "released_at": "releasedAt",
    "ingested_at": "ingestedAt",
}  # fmt: skip


def topic_key(row):
    """indicatorId, entityId, frequency letter, periodEnd, periodStart, source order."""
    rank = {"us-treasury-par": 0, "fred": 1, "mof-japan": 2, "almanac-derived": 9}[row["sourceId"]]
    return (
        row["indicatorId"], row["entityId"], LETTERS[row["frequency"]], row["periodEnd"], row["periodStart"], rank,
    )  # fmt: skip


def widest(path):
    """What a list must be asked, and of all sources where it may be."""
    return {**REQUIRED.get(path, {}), **({"sources": "all"} if "sources" in ENDPOINTS[path].by_name else {})}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("path", "more"), [*((path, widest(path)) for path in LISTS), ("/indicators", {"q": "rate", "sort": "relevance"})]
)
def test_joined_pages_are_the_whole(service, path, more, order):
    """Cursor pagination: the opaque `next_cursor` from meta.pagination is passed back as the cursor query parameter."""
    if ENDPOINTS[path].default_order is not None:
        more = more | {"order": order}
    whole = service.walk(url(service, path), limit=ENDPOINTS[path].max_limit, **more)
    assert whole
    limit = max(1, math.ceil(len(whole) / 16))
    assert service.walk(url(service, path), limit=limit, **more) == whole
    assert whole == service.walk(url(service, path), limit=max(2, len(whole) // 3), **more)


@pytest.mark.parametrize(
    ("path", "more"),
    [
        *((path, widest(path)) for path in LISTS if ENDPOINTS[path].default_order is not None),
        ("/indicators", {"q": "rate", "sort": "relevance"}),
    ],
)
def test_descending_is_ascending_reversed(service, path, more):
    """`desc` turns the whole key."""
    more = more | {"limit": ENDPOINTS[path].max_limit}
    up = service.walk(url(service, path), order="asc", **more)
    assert service.walk(url(service, path), order="desc", **more) == up[::-1]


@pytest.mark.parametrize("every", ["preferred", "all"])
@pytest.mark.parametrize("path", OBSERVATIONS)
def test_default_order(service, path, every):
    """Observation lists: by topic, then period, then source; vintages add (observedAt, ingestedAt, id)."""
    rows = service.walk(path, limit=500, sources=every)

    def key(row):
        more = (row["observedAt"], row["ingestedAt"], row["id"]) if path.endswith("vintages") else ()
        return (*topic_key(row), *more)

    keys = [key(row) for row in rows]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("path", OBSERVATIONS[:2])
@pytest.mark.parametrize("more", [{}, {"as_of": "2026-11-18", "sources": "all"}])
def test_sorted_by_a_column(service, path, sort, order, more):
    """`sort`: ties by the default order, `desc` turns the whole key, nulls are last either way."""
    rows = service.walk(path, limit=500, sort=sort, order=order, **more)
    expected = service.walk(path, limit=500, **more)
    field = SORTS[sort]
    known = sorted((r for r in expected if r[field] is not None), key=lambda r: (r[field], topic_key(r)), reverse=order == "desc")  # fmt: skip
    unknown = sorted((r for r in expected if r[field] is None), key=topic_key, reverse=order == "desc")
    assert rows == known + unknown
    if not more.get("as_of"):
        assert service.walk(path, limit=60, sort=sort, order=order, **more) == rows


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("/indicators", "id"), ("/derived-indicators", "id"), ("/providers", "id"), ("/sources", "id"), ("/countries", "name"),
        ("/indicators/gov_yield_10y/series", "id"), ("/derived-indicators/yield_slope_2s10s/entities", "name"),
    ],
)  # fmt: skip
def test_order_of_other_lists(service, path, key):
    """Countries, companies, entities, screeners: by `name`, then id; others: by id. All text in byte order."""
    rows = service.walk(path, limit=500)
    names = [row[key].encode() for row in rows]
    assert names == sorted(names)
    assert len(names) == len(set(names))


def test_order_of_latest(service):
    """Latest readings: by indicator, then entity, one each."""
    keys = [(r["indicatorId"], r["entityId"]) for r in service.walk("/observations/latest", limit=500)]
    assert keys == sorted(keys)
    assert len(keys) == len(set(keys))


def test_pagination_of_pages(service):
    """The cursor that was used; whether more results follow; an empty page has has_more false and next_cursor null."""
    first = get(service, "/countries", limit=3).json()["meta"]["pagination"]
    assert (first["cursor"], first["has_more"]) == (None, True)
    second = get(service, "/countries", limit=4, cursor=first["next_cursor"]).json()
    assert second["meta"]["pagination"]["cursor"] == first["next_cursor"]
    assert [r["id"] for r in second["data"]] == [r["id"] for r in service.walk("/countries", limit=500)[3:7]]
    empty = get(service, "/observations", country="XKX").json()
    assert empty["data"] == []
    assert empty["meta"]["pagination"] == {"limit": 100, "cursor": None, "next_cursor": None, "has_more": False}


@pytest.mark.parametrize("path", LISTS)
def test_total_only_for_screeners(service, path):
    """total: stated for the two screeners only."""
    assert ("total" in get(service, path).json()["meta"]["pagination"]) == (path in {"/screener", "/equity-screener"})


def test_the_same_request_gives_the_same_bytes(service, own):
    """The same request under the same plan, data version and UTC day gives the same `data`, byte for byte, in any worker."""
    for path in ("/observations", "/derived-observations", "/observations/latest", "/sources", "/indicators"):
        one, other = (s.get(path, limit=500).content for s in (service, own))
        assert one.split(b',"meta":')[0] == other.split(b',"meta":')[0]


# -- walks while data and rights change ----------------------------------------------------------------------------------

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


def test_walks_are_pinned(own):
    """New vintages arriving between two pages, back-dated ones too, neither shift, repeat nor lose a row of any list."""
    asked = [*((url(own, path), {**REQUIRED.get(path, {}), "limit": ENDPOINTS[path].max_limit}) for path in LISTS)]
    asked += [(path, {**query, "limit": 500}) for path, query in WALKS]
    wholes = [own.walk(path, **query) for path, query in asked]
    version = own.ok("/coverage")["dataVersion"]
    limits = [max(1, len(whole) // 4) for whole in wholes]
    begun = [
        own.get(path, **query | {"limit": limit}).json() for (path, query), limit in zip(asked, limits, strict=True)
    ]
    arrive(own)
    assert own.ok("/coverage")["dataVersion"] > version
    moved, counting = 0, {url(own, path) for path in COUNTING}
    for (path, query), whole, limit, first in zip(asked, wholes, limits, begun, strict=True):
        rows, page = first["data"], first["meta"]["pagination"]
        while page["has_more"]:
            answer = own.get(path, **query | {"limit": limit, "cursor": page["next_cursor"]})
            assert answer.status_code == 200, answer.text
            assert answer.headers["x-data-version"] == str(version)
            rows, page = rows + answer.json()["data"], answer.json()["meta"]["pagination"]
        if path in counting:
            rows, whole = ([row["id"] for row in some] for some in (rows, whole))
        assert rows == whole, (path, query)
        moved += own.walk(path, **query) != whole
    assert moved >= len(WALKS)


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


def test_another_account_may_use_it(service):
    """A cursor carries no right: each account sees through it what it may see."""
    cursor = service.get("/observations", limit=3).json()["meta"]["pagination"]["next_cursor"]
    assert service.get("/observations", "free", cursor=cursor).status_code == 200


def test_a_rebuild_ends_every_walk(own):
    """After a rebuild a cursor has expired: the rows it was pinned to are no more."""
    cursor = own.get("/observations", limit=3).json()["meta"]["pagination"]["next_cursor"]
    with own.world() as world, world.db.transaction():
        set_meta(world.db, "epoch", "another")
    error = own.error("/observations", 400, cursor=cursor)
    assert (error["details"]["parameter"], error["details"]["reason"]) == ("cursor", "expired")


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
