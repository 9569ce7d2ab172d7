"""Kept answers: confirmed each time, dropped when rights change, apart by key, and no worse than none."""

import asyncio
import sqlite3
import stat

import httpx2
import pytest

import almanac_client as a
from tests.support.service import CONSENT

from .served import BASE, asked, async_client, client

ASK = {"indicator": "gov_yield_10y", "country": "USA", "page_size": 10}


@pytest.fixture
def cache(tmp_path):
    made = a.Cache(tmp_path / "deep/cache.db")
    yield made
    made.close()


def conditions(almanac):
    return [request.headers.get("if-none-match") is not None for request in asked(almanac)]


def test_a_second_walk_is_confirmed_page_by_page(service, cache):
    almanac = client(service, cache=cache)
    first = almanac.observations.list(**ASK).all()
    pages = len(asked(almanac))
    assert pages > 3
    again = almanac.observations.list(**ASK)
    assert again.all() == first
    assert conditions(almanac) == [False] * pages + [True] * pages
    assert again.data_version == 18
    assert stat.S_IMODE(cache.path.stat().st_mode) == 0o600


def test_awaited_it_is_the_same_file(service, cache):
    first = client(service, cache=cache).observations.list(**ASK).all()
    again = asyncio.run(async_client(service, cache=a.Cache(cache.path, offline=True)).observations.list(**ASK).all())
    assert again == first


def test_what_is_asked_offline_was_asked_before(service, cache):
    rows = client(service, cache=cache).observations.list(**ASK).all()
    offline = a.Cache(cache.path, offline=True)
    almanac = client(service, cache=offline)
    assert almanac.observations.list(**ASK).all() == rows
    with pytest.raises(a.NotCached, match="/coverage"):
        almanac.coverage()
    assert asked(almanac) == []
    offline.close()


def test_another_key_sees_nothing_of_it(service, cache):
    client(service, cache=cache).coverage()
    other = client(service, "free", cache=a.Cache(cache.path, offline=True))
    with pytest.raises(a.NotCached):
        other.coverage()
    content = cache.path.read_bytes() + b"".join(path.read_bytes() for path in cache.path.parent.glob("*-wal"))
    assert service.keys["pro"].encode() not in content


def test_rights_that_changed_hold_at_once(own, cache):
    almanac = client(own, cache=cache)
    ask = {"indicator": "unemployment_rate", "country": "USA"}
    assert all(row.value_numeric is not None for row in almanac.observations.list(**ask))
    with own.world(**dict.fromkeys(CONSENT, "")):
        pass
    rows = almanac.observations.list(**ask).all()
    assert conditions(almanac) == [False, True]
    assert len(rows) > 10
    assert {row.value_numeric for row in rows if row.value_numeric is not None} == set()
    assert {row.rights.value_withheld for row in rows} == {True}


def test_a_kept_first_page_does_not_lead_back_to_an_older_state(cache):
    """Its cursor is bound to the version of its day: what later pages have since become would be missed."""
    version = 1
    seen = []

    def answer(request):
        seen.append((request.url.params.get("cursor"), request.headers.get("if-none-match")))
        cursor = request.url.params.get("cursor")
        tag = {None: "first", "v1": "old", "v2": "new"}[cursor]
        if request.headers.get("if-none-match") == tag:
            return httpx2.Response(304, headers={"etag": tag, "x-data-version": str(version)})
        pagination = {"has_more": cursor is None, "next_cursor": f"v{version}" if cursor is None else None}
        body = {"data": [{"entityId": tag, "name": "n"}], "meta": {"pagination": pagination}, "requestId": "r"}
        return httpx2.Response(200, headers={"etag": tag, "x-data-version": str(version)}, json=body)

    http = httpx2.Client(transport=httpx2.MockTransport(answer))
    almanac = a.Almanac(url=BASE, api_key="alm_x", insecure=True, http_client=http, cache=cache)

    def names():
        return [row.entity_id for row in almanac.derived.entities("x")]

    assert names() == ["first", "old"]
    assert names() == ["first", "old"]
    version = 2
    assert names() == ["first", "new"]
    assert seen[4:] == [(None, "first"), (None, None), ("v2", None)]


def test_those_unused_longest_go(service, tmp_path):
    one = a.Cache(tmp_path / "c.db", max_bytes=1_500)
    almanac = client(service, cache=one)
    for country in ("USA", "JPN", "DEU", "FRA", "GBR", "ITA", "CAN", "AUS"):
        almanac.countries.get(country)
        almanac.countries.get("USA")
    with sqlite3.connect(one.path) as db:
        held, size = db.execute("SELECT count(*), sum(size) FROM answer").fetchone()
    db.close()
    assert size <= 1_500
    assert 2 <= held < 8
    one.close()
    offline = a.Cache(one.path, offline=True)
    kept = client(service, cache=offline)
    assert kept.countries.get("USA").id == "country_usa"
    assert kept.countries.get("AUS").id == "country_aus"
    with pytest.raises(a.NotCached):
        kept.countries.get("JPN")
    offline.close()


def test_a_cache_can_be_emptied(service, cache):
    almanac = client(service, cache=cache)
    almanac.coverage()
    cache.clear()
    almanac.coverage()
    assert conditions(almanac) == [False, False]


@pytest.mark.parametrize("content", ["text", "database"])
def test_a_file_of_another_program_is_left_as_it_is(service, tmp_path, content):
    path = tmp_path / "precious"
    if content == "text":
        path.write_text("precious " * 1000)
    else:
        with sqlite3.connect(path) as db:
            db.execute("CREATE TABLE precious (x)")
        db.close()
    before = path.read_bytes()
    with pytest.raises(a.SettingsError, match="left as it is"):
        client(service, cache=a.Cache(path)).coverage()
    assert path.read_bytes() == before


def test_what_cannot_be_kept_is_no_harm(service, tmp_path):
    one = a.Cache(tmp_path / "c.db")
    almanac = client(service, cache=one)
    almanac.coverage()
    one._db.close()
    with pytest.warns(a.CacheWarning, match="cannot be used"):
        almanac.coverage()
    almanac.coverage()  # said once
    with pytest.raises(a.SettingsError, match="max_bytes"):
        a.Cache(tmp_path / "c.db", max_bytes=0)
    with pytest.raises(a.SettingsError, match="there is no cache"):
        client(service, cache=a.Cache(tmp_path / "no.db", offline=True)).coverage()
