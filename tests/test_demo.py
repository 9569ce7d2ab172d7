"""`make run`: what it has loaded before it answers, and what a second run leaves as it is."""

import pytest

from almanac import demo
from almanac.config import Settings
from almanac.pipeline.world import SIMULATED, World

TENORS = (
    "SELECT count(*) FROM series JOIN topic USING(topic) WHERE entity = ? AND indicator LIKE 'gov_yield_%' AND rows > 0"
)


@pytest.fixture
def settings(tmp_path):
    # So early that there is little to load.
    return Settings(home=tmp_path, now="2016-03-01T12:00:00Z", processes=1)


def test_the_curves_are_there_before_it_answers_and_a_second_run_adds_nothing(settings):
    said = []
    first = demo.prepare(settings, said.append)
    assert first.settings.home == settings.home / "demo"
    assert first.password is not None
    with World(first.settings, kind=SIMULATED) as world:
        assert world.db.execute(TENORS, ("country_usa",)).get > 8
        # The economies and the companies follow, while it answers.
        assert world.db.execute("SELECT count(*) FROM topic WHERE indicator = 'cpi_index'").get == 0
        vintages = world.db.execute("SELECT count(*) FROM vintages").get
        assert vintages > 1_000
    again = demo.prepare(settings, said.append)
    assert (again.password, again.key != first.key) == (None, True)
    with World(first.settings, kind=SIMULATED) as world:
        assert world.db.execute("SELECT count(*) FROM vintages").get == vintages
    assert said[1].endswith(" simulated payloads read.")
    assert said[3] == "0 simulated payloads read."
