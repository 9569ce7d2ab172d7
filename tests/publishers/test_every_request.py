"""Every request that an empty store plans is answered by the stand-in for its publisher, and what is answered is read."""

from __future__ import annotations

import pytest

from almanac.catalog.load import shipped
from almanac.pipeline.ingest.asking import from_network, plan_of
from almanac.pipeline.ingest.register import Portion
from almanac.pipeline.ingest.worker import all_lacking
from almanac.pipeline.workplace import REAL, Workplace
from tests.publishers.figures import Figures
from tests.publishers.rehearsal import rehearsal
from tests.publishers.rooms import every

START = "2026-11-02T08:00:00+00:00"
FEEDS = [source for source in shipped().sources.values() if source.connector and source.cadence]


def test_every_publisher_has_a_room_and_every_room_says_where_its_rules_are_written():
    rooms = every(Figures())
    assert sorted(source for room in rooms for source in room.sources) == sorted(source.id for source in FEEDS)
    assert all(room.rules.documented for room in rooms)
    hosts = [host for room in rooms for host in room.hosts]
    assert len(set(hosts)) == len(hosts)


@pytest.mark.slow
@pytest.mark.parametrize("keys", [False, True], ids=["without keys", "with keys"])
def test_every_planned_request_is_answered_and_read(tmp_path, monkeypatch, keys):
    with rehearsal(tmp_path / "home", START, monkeypatch.setattr, keys=keys) as (settings, stand_in, _):
        sources = [source for source in FEEDS if not all_lacking(settings, source)]
        requests = {source: plan_of(settings, shipped(), source)[1] for source in sources}
        planned = {request.url for plan in requests.values() for request in plan}
        # A publisher's lists of what is new are asked for by a store that has what they spare it: in a later turn.
        lists = {one.url: source for source, plan in requests.items() for one in plan if one.news_since is not None}
        with Workplace(settings, kind=REAL) as world:
            outcomes = []
            for portion in (Portion.NEWEST, Portion.WHOLE):
                waiting = sources
                while waiting:
                    asked_now = from_network(world, waiting, None, lambda _: None, portion=portion)
                    outcomes += asked_now
                    # What a limit of an hour keeps waiting is asked in the next one.
                    waiting = [shipped().sources[one.source] for one in asked_now if one.later]
                    portion = Portion.OWED
                    stand_in.clock.sleep(3_600 if waiting else 0)
            asked = {_without_key(line.url) for line in stand_in.log}
            assert planned - asked == lists.keys()
            outcomes += from_network(world, set(lists.values()), None, lambda _: None, portion=Portion.NEWEST)
        assert {one.source: one.failed for one in outcomes if one.failed} == {}
        assert [one.source for one in outcomes if one.quarantined_responses] == []
        assert stand_in.broken == []
        statuses = {_without_key(line.url): line.status for line in stand_in.log}
        assert planned <= statuses.keys()
        # Nothing but windows of the past before the publisher's first figure is empty, by its own word for that.
        empty = {url for one in outcomes for url in one.empty}
        assert {url for url, status in statuses.items() if status not in {200, 304}} == empty
        assert len(sources) == len(FEEDS) if keys else len(sources) > len(FEEDS) / 2


def _without_key(url: str) -> str:
    """The address as it is planned."""
    for name in ("api_key", "registrationkey"):
        url = url.replace(f"&{name}={'a' * 32}", "").replace(f"?{name}={'a' * 32}", "")
    return url
