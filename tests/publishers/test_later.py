"""What a publisher prepares first comes later: that is no failure, and holds nothing else of the source up."""

from __future__ import annotations

from collections import defaultdict

from almanac.pipeline.workplace import REAL, Workplace
from almanac.store.log import requests
from tests.publishers.rehearsal import rehearsal
from tests.publishers.test_rehearsed_month import START, at, work


def test_large_extractions_of_eurostat_come_later_and_the_rest_at_once(tmp_path, monkeypatch):
    with rehearsal(tmp_path / "home", START, monkeypatch.setattr, keys=False) as (settings, stand_in, _):
        said = work(settings, stand_in.clock, at(START) + 480, ["eurostat"])
        # Asked again meanwhile, they still wait: nothing else came, and it does well all the same.
        statuses = [line.status for line in stand_in.log]
        assert statuses[-2:] == [413, 413]
        assert _error(settings) is None
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
        assert _error(settings) is None
        assert stand_in.broken == []


def _error(settings):
    """What is wrong with the source, None for nothing."""
    with Workplace(settings, kind=REAL) as world:
        return world.db.execute("SELECT last_error FROM source_state WHERE source = 'eurostat'").get
