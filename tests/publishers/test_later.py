"""
What a publisher prepares first comes later: that is no failure, and holds nothing else of the source up. What cannot be read is
one, though the publisher answered.
"""

from collections import defaultdict

from almanac.domain.times import DAY_SECONDS
from almanac.pipeline.operate.status import status
from almanac.pipeline.workplace import REAL, Workplace
from almanac.store.log import requests
from tests.publishers import troubles
from tests.publishers.rehearsal import rehearsal
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
        with Workplace(settings, kind=REAL) as world:
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
        with Workplace(settings, kind=REAL) as world:
            owed = [url for url, one in requests.standing(world.db, "rba").items() if one.answered_at is None]
        assert [url.rpartition("/")[2] for url in owed] == ["f2-data.csv"]
        health, reason = _health(settings, "rba")
        assert (health, "cannot be read" in reason) == ("failing", True)
        # The publisher would say the same at once: it is asked again at its next turn, and then all is well.
        assert [line.url for line in stand_in.log].count(owed[0]) == 1
        work(settings, stand_in.clock, end + DAY_SECONDS, ["rba"])
        with Workplace(settings, kind=REAL) as world:
            assert all(one.answered_at is not None for one in requests.standing(world.db, "rba").values())
        assert _health(settings, "rba")[0] == "ok"
        assert [line.url for line in stand_in.log].count(owed[0]) == 2


def _health(settings, source):
    """How the source does, and why."""
    with Workplace(settings, kind=REAL) as world:
        return next((one.health, one.reason) for one in status(world.db, settings.clock()).sources if one.id == source)
