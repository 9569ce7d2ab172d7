"""What a publisher prepares first comes later: that is no failure, and holds nothing else of the source up. What cannot be read is
one, though the publisher answered."""

import contextlib
from collections import defaultdict
from dataclasses import replace

import pytest

from almanac.catalog.load import shipped
from almanac.config import Http, Settings
from almanac.domain.times import DAY_SECONDS
from almanac.pipeline.context import REAL, PipelineContext
from almanac.pipeline.ingest.asking import plan_of
from almanac.pipeline.operate.status import status
from almanac.sources.base import Request, limit_of
from almanac.sources.transport.http import FetchFailed
from almanac.store.log import requests
from tests.publishers import troubles
from tests.publishers.clock import SimulatedClock
from tests.publishers.figures import Figures
from tests.publishers.rehearsal import rehearsal
from tests.publishers.room import Reply
from tests.publishers.rooms import every
from tests.publishers.standin import StandIn, fetcher
from tests.publishers.test_rehearsed_month import START, at, work


def test_large_extractions_of_eurostat_come_later_and_the_rest_at_once(tmp_path, monkeypatch):
    with rehearsal(tmp_path / "home", START, monkeypatch.setattr, keys=False) as (settings, stand_in, _):
        said = work(settings, stand_in.clock, at(START) + 480, ["eurostat"])
        # Asked again meanwhile, they still wait: nothing else came, and it does well all the same.
        statuses = [line.status for line in stand_in.log]
        assert statuses[-2:] == [413, 413]
        assert _health(settings, "eurostat") == ("ok", None)
        # Until before its next turn.
        said += work(settings, stand_in.clock, at(START) + 3_000, ["eurostat"])
        answers = defaultdict(list)
        for line in stand_in.log:
            answers[line.url].append(line.status)
        prepared = {url for url, statuses in answers.items() if 413 in statuses}
        # Whole histories of months, each asked for after pauses that grow until its answer is there.
        assert 5 < len(prepared) < len(answers) / 2
        assert {answers[url][-1] for url in prepared} == {200}
        assert max(map(len, answers.values())) <= 4
        # All others were answered before any of those was asked again, and once.
        assert {tuple(answers[url]) for url in answers.keys() - prepared} <= {(200,), (404,)}
        assert len({line.url for line in stand_in.log[: len(answers)]}) == len(answers)
        # They wait, in those words; nothing failed, and the source does well.
        assert {line.split()[1].rstrip(":") for line in said if line.startswith("later ")} == prepared
        assert not [line for line in said if line.startswith("failed")]
        assert [line for line in said if line.startswith("eurostat:") and f"{len(prepared)} wait, and come at " in line]
        with PipelineContext(settings, kind=REAL) as world:
            standing = requests.standing(world.db, "eurostat")
            assert all(one.answered_at is not None for one in standing.values())
            assert len(standing) == len(answers)
        assert _health(settings, "eurostat") == ("ok", None)
        assert stand_in.broken == []


def test_an_answer_that_cannot_be_read_is_owed_until_the_next_turn_and_the_source_fails(tmp_path, monkeypatch):
    with rehearsal(tmp_path / "home", START, monkeypatch.setattr, keys=False) as (settings, stand_in, _):
        end = at(START) + 3_600
        busy = troubles.altered("rba", "f2-data.csv", 0, end, lambda _: b"<html>Down for maintenance</html>")
        stand_in.trouble.append(busy)
        work(settings, stand_in.clock, end, ["rba"])
        with PipelineContext(settings, kind=REAL) as world:
            owed = [url for url, one in requests.standing(world.db, "rba").items() if one.answered_at is None]
        assert [url.rpartition("/")[2] for url in owed] == ["f2-data.csv"]
        health, reason = _health(settings, "rba")
        assert (health, "cannot be read" in reason) == ("failing", True)
        # The publisher would say the same at once: it is asked again at its next turn, and then all is well.
        assert [line.url for line in stand_in.log].count(owed[0]) == 1
        work(settings, stand_in.clock, end + DAY_SECONDS, ["rba"])
        with PipelineContext(settings, kind=REAL) as world:
            assert all(one.answered_at is not None for one in requests.standing(world.db, "rba").values())
        assert _health(settings, "rba")[0] == "ok"
        assert [line.url for line in stand_in.log].count(owed[0]) == 2


def _health(settings, source):
    """How the source does, and why."""
    with PipelineContext(settings, kind=REAL) as world:
        return next((one.health, one.reason) for one in status(world.db, settings.clock()).sources if one.id == source)


# The limits that the catalogue declares are those of the publishers, whatever pace an operator sets for all others.


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
