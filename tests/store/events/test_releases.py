"""Vintages that releases and events are read from."""

from datetime import date, timedelta

from almanac.domain.observations import Vintage
from almanac.domain.periods import Period
from almanac.store.events import releases
from tests.support.small_world import ALPHA, START, SmallWorld, spec

DAY = 86_400
DAYS = [Period(day, day).key for day in (date(2025, 1, 1) + timedelta(n) for n in range(4))]


def test_those_of_several_cells_are_those_of_each():
    with SmallWorld() as world:
        asked = []
        for number in range(3):
            with world.batch("test") as batch:
                batch.replace(
                    batch.series(spec(ALPHA, f"level{number}", letter="D"), "raw"),
                    {
                        key: [
                            Vintage(at := START + (place + again) * DAY, float(again), None, 0, at, at, 1, None, 0)
                            for again in range(number + 1)
                        ]
                        for place, key in enumerate(DAYS)
                    },
                )
        view = world.view()
        for series, topic in world.db.execute("SELECT series, topic FROM series ORDER BY series"):
            asked += [(topic, series, low, high) for low in DAYS for high in DAYS]
        asked.append((asked[0][0], asked[-1][1], DAYS[0], DAYS[-1]))  # of another topic
        for version in (view.version - 1, view.version):
            for by in (START, START + 2 * DAY, START + 9 * DAY):
                found = releases.known_each(view, asked, version, by)
                assert found == [
                    releases.known(view, topic, series, (low, high), version, by) for topic, series, low, high in asked
                ]
        assert any(found)
        assert sum(map(len, found)) > sum(map(len, releases.known_each(view, asked, view.version, START + DAY)))
        assert releases.known_each(view, [], view.version, START) == []
