"""What is told from what was found before, as long as it would be found again, is the same as by looking anew."""

import contextlib
from datetime import date
from unittest import mock

import msgspec
import pytest

from almanac.api.endpoints.reference import reference
from almanac.store.engine import opening
from almanac.store.observations import specs
from almanac.store.observations.writing.numbering import SpecNumbers
from almanac.store.summary import figures
from tests.support import postgres
from tests.support.invented_mirror import TREASURY_DAYS, treasury_file
from tests.support.service import Service

from .test_pages import URL, seconds

PATHS = ("/sources", "/countries", "/indicators", "/release-summaries")
DAY = 86_400


def anew(own):
    """What a service that remembers nothing says."""
    with contextlib.closing(Service(own.home, data_now=own.data_now)) as other:
        return [other.walk(path, limit=500) for path in PATHS]


def told(own):
    return [own.walk(path, limit=500) for path in PATHS]


def test_what_is_remembered_is_what_would_be_found_after_the_clock_an_ingest_and_a_reading(own):
    seen, days = [told(own)], [day for day in TREASURY_DAYS if day.year == 2026]
    assert seen[-1] == anew(own)
    own.data_now = own.settings.clock() + 30 * DAY  # freshness follows the clock
    seen.append(told(own))
    assert seen[-1] == anew(own) != seen[0]
    own.ingest("us-treasury-par", URL + "2026", treasury_file([*days, date(2026, 11, 27)]), seconds("2026-11-28T11:00:00"), "application/xml", now="2026-11-28T12:00:00Z")  # fmt: skip
    own.data_now = seconds("2026-11-28T12:00:00")
    seen.append(told(own))
    assert seen[-1] == anew(own) != seen[1]
    with own.world() as world, world.db.transaction():  # no data version: nothing new was in the answer
        world.db.execute("UPDATE source_state SET failures = 1, last_error = 'x' WHERE source = 'us-treasury-par'")
    seen.append(told(own))
    assert seen[-1] == anew(own) != seen[2]


def fresh(own):
    return {one["id"]: one["freshnessStatus"] for one in own.walk("/sources")}["us-treasury-par"]


def test_a_series_judged_by_its_reading_follows_it_without_a_data_version(own):
    # Written past the catalogue, which would put the series right again.
    with contextlib.closing(opening.connect(own.settings.home / "data.db")) as db:
        for number, name in list(db.execute("SELECT series, id FROM series WHERE source = 'us-treasury-par'")):
            spec = msgspec.structs.replace(specs.of(db, name), judged_by_fetch=True)
            (spec_number,) = SpecNumbers(db).put([msgspec.structs.replace(spec, entity="")])
            db.execute("UPDATE series SET spec = ? WHERE series = ?", (spec_number, number))
        own.data_now = own.settings.clock() + 60 * DAY
        assert fresh(own) == "stale"
        db.execute("UPDATE source_state SET fetched_at = ? WHERE source = 'us-treasury-par'", (own.data_now,))
    assert fresh(own) == "fresh"
    assert told(own) == anew(own)


@pytest.mark.parametrize(("path", "name"), [("/sources", "by_source"), ("/countries", "indicators_of_entities")])
def test_it_is_found_once_for_all_who_ask(own, path, name):
    with mock.patch.object(figures, name, wraps=getattr(figures, name)) as counted:
        for _ in range(3):
            own.ok(path, limit=3)
        assert counted.call_count == 1
        own.data_now = own.settings.clock() + DAY
        own.ok(path, limit=3)
        assert counted.call_count == 2


def test_few_states_are_remembered():
    view = mock.Mock(shared={})
    view.execute.return_value = []
    with mock.patch.object(reference, "_HELD", 2):
        for version in range(5):
            reference.remembered(mock.Mock(version=version, at=0, params={}, view=view), lambda *_: object())
    (kept,) = (kept for name, kept in view.shared.items() if name == "standing")
    assert len(kept) <= 2


@pytest.mark.parametrize(("more", "where"), [({}, "thread"), ({"as_of": "2026-01-31"}, "heavy")])
def test_a_screen_of_another_day_or_version_is_a_heavy_one(own, more, where):
    assert own.where("/equity-screener", filter="score:gt:1", **more) == where


@pytest.mark.parametrize(
    ("path", "query", "where"),
    [
        ("/events", {}, "loop"),
        ("/events", {"limit": "500", "as_of": "2026-01-31"}, "thread"),
        ("/events", {"type": "consumer_prices"}, "heavy"),
        ("/observations/latest", {"country": "USA", "indicator": "gov_yield_10y", "as_of": "2026-01-31"}, "loop"),
        ("/observations/latest", {"country": "USA"}, "loop"),
        ("/observations/latest", {"country": "USA", "freshness": "fresh"}, "thread"),
        ("/observations/latest", {"freshness": "fresh"}, "heavy"),
    ],
)
def test_only_what_takes_few_milliseconds_is_answered_in_the_event_loop(own, path, query, where):
    # A server is never waited for in the loop.
    assert own.where(path, **query) == ("thread" if where == "loop" and postgres.ENGINE == "postgres" else where)


def test_a_further_page_of_a_screen_is_a_heavy_one(own):
    """Its columns are those of the version that the walk is pinned to."""
    (screener,) = (one for one in own.endpoints if one.path == "/equity-screener")
    assert screener.cost({"as_of": None, "cursor": "of-a-walk"}) == "heavy"


@pytest.mark.parametrize(
    ("days", "expected"),
    [(0, ("fresh", {"fresh"})), (100, ("stale", {"fresh", "stale"})), (700, ("stale", {"stale"}))],
)
def test_a_country_is_as_fresh_as_half_of_its_indicators(own, days, expected):
    """One living series keeps no country fresh whose other numbers are years old."""
    own.data_now = own.settings.clock() + days * DAY
    words = {}
    for row in own.walk("/observations/latest", limit=500):
        if not row["entityId"].startswith("company_"):
            words.setdefault(row["entityId"], []).append(row["freshnessStatus"])
    told = {one["id"]: one["freshnessStatus"] for one in own.walk("/countries", limit=500, has_data="true")}
    assert told == {
        name: "fresh" if "fresh" in every and every.count("fresh") >= every.count("stale") else "stale"
        for name, every in words.items()
    }
    for name, status in told.items():
        assert own.ok(f"/countries/{name}")["freshnessStatus"] == status
    assert (told["country_usa"], set(words["country_usa"])) == expected
