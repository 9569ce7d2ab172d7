"""Pages and order: what is joined from pages is the whole list, in the order the documents state."""

import math

import pytest

from .declared import ENDPOINTS, LISTS, REQUIRED
from .test_every_endpoint import get, url

OBSERVATIONS = ["/observations", "/derived-observations", "/observations/vintages"]
LETTERS = {"daily": "D", "weekly": "W", "monthly": "M", "quarterly": "Q", "annual": "A"}
ORDERS = ["asc", "desc"]
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


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("path", LISTS)
def test_joined_pages_are_the_whole(service, path, order):
    """Cursor pagination: the opaque `next_cursor` from meta.pagination is passed back as the cursor query parameter."""
    more = {**REQUIRED.get(path, {}), **({"sources": "all"} if "sources" in ENDPOINTS[path].by_name else {})}
    if ENDPOINTS[path].default_order is not None:
        more["order"] = order
    whole = service.walk(url(service, path), limit=ENDPOINTS[path].max_limit, **more)
    limit = max(1, math.ceil(len(whole) / 40))
    assert service.walk(url(service, path), limit=limit, **more) == whole
    assert whole == service.walk(url(service, path), limit=max(2, len(whole) // 3), **more)


@pytest.mark.parametrize("path", [path for path in LISTS if ENDPOINTS[path].default_order is not None])
def test_descending_is_ascending_reversed(service, path):
    """`desc` turns the whole key."""
    more = {**REQUIRED.get(path, {}), **({"sources": "all"} if "sources" in ENDPOINTS[path].by_name else {})}
    more["limit"] = ENDPOINTS[path].max_limit
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
@pytest.mark.parametrize(
    "more", [{}, {"sources": "all"}, {"as_of": "2026-11-18", "sources": "all"}, {"as_of": "2026-11-19"}]
)
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
