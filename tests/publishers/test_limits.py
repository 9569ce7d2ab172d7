"""The limits that the catalogue declares are those of the publishers, whatever pace an operator sets for all others."""

import contextlib
from dataclasses import replace

import pytest

from almanac.catalog.load import shipped
from almanac.config import Http, Settings
from almanac.domain.times import DAY_SECONDS
from almanac.pipeline.ingest.asking import plan_of
from almanac.sources.base import Request, limit_of
from almanac.sources.transport.http import FetchFailed
from tests.publishers.clock import SimulatedClock
from tests.publishers.figures import Figures
from tests.publishers.room import Reply
from tests.publishers.rooms import every
from tests.publishers.standin import StandIn, fetcher

ROOMS = [room for room in every(Figures()) if room.rules.limits]
#: As some publishers want to be asked.
AGENT = {"user-agent": "Almanac-Test (invented; a@example.org)"}


@pytest.mark.parametrize("name", [room.name for room in ROOMS])
@pytest.mark.parametrize("with_key", [False, True], ids=["without a key", "with one"])
def test_a_raised_pace_breaks_no_publishers_limit(name, with_key, monkeypatch):
    """One request more than each span allows, as fast as can be: the last one waits, or is left for later."""
    with StandIn(every(Figures()), SimulatedClock("2026-11-02T08:00:00+00:00")) as stand_in:
        room = stand_in.rooms[name]
        monkeypatch.setattr(room, "answer", lambda _: Reply(b"invented"))
        # One that takes minutes to answer would keep its own limit.
        monkeypatch.setattr(room, "rules", replace(room.rules, seconds=0.01))
        source = shipped().sources[room.sources[0]]
        limit = limit_of(source.provider, shipped().providers[source.provider].limit, with_key=with_key)
        assert limit is not None
        keyed = {"registrationkey": "a", "api_key": "a"} if with_key else {}
        rules = room.rules.limits_with_key if with_key and room.rules.limits_with_key else room.rules.limits
        most = max(count for count, _ in rules)
        with fetcher(stand_in)(Http(requests_per_second=10_000, attempts=1, read_timeout=900)) as client:
            for number in range(most + 1):
                request = Request(f"https://{room.hosts[0]}/{number}", secret=keyed, headers=AGENT, limit=limit)
                with contextlib.suppress(FetchFailed):  # left for later
                    client.fetch(request)
        assert stand_in.broken == []
        # As many as are allowed were sent, so that the limit is no stricter than half of it either.
        assert len(stand_in.log) > min(count for count, _ in rules) / 2


def test_a_limit_is_declared_for_each_publisher_that_has_one_and_no_other_waits_for_it():
    catalog = shipped()
    declared = {one.id for one in catalog.providers.values() if one.limit is not None}
    assert {catalog.sources[source].provider for room in ROOMS for source in room.sources} <= declared
    names = {one: limit_of(one, catalog.providers[one].limit, with_key=False).name for one in declared}
    assert len(set(names.values())) == len(names)


def test_who_shuts_out_for_days_or_is_slow_to_answer_is_known_for_it():
    """So that a 403 ends the asking for as long, and an answer that begins after minutes is waited for."""
    catalog = shipped()
    found = {}
    for room in every(Figures()):
        provider = catalog.sources[room.sources[0]].provider
        limit = limit_of(provider, catalog.providers[provider].limit, with_key=False)
        if room.rules.shut_out >= DAY_SECONDS or room.rules.seconds > Http().read_timeout:
            assert limit is not None, room.name
            assert (limit.shut_out or 0.0) >= room.rules.shut_out
            assert max(limit.silence, Http().read_timeout) > room.rules.seconds
            found[room.name] = limit.shut_out
    assert found == {"istat": DAY_SECONDS}


def test_no_address_of_the_imf_names_the_version_of_a_data_set(tmp_path):
    """The newest is meant: a version that is pinned would be an old one a year later."""
    _, plan = plan_of(Settings(home=tmp_path), shipped(), shipped().sources["imf"])
    flows = {request.url.split("/data/")[1].split("/")[0] for request in plan}
    assert {"IMF.RES,WEO", "IMF.RES,PCPS"} <= flows
    assert all(flow.count(",") == 1 for flow in flows)
