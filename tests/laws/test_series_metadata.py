"""What rows say beside their numbers (adjustment, curve) follows from what is known, never from the way it came to be."""

import copy

import pytest

from almanac.catalog.load import build
from almanac.domain.observations import ReportedValue
from almanac.domain.periods import Period
from almanac.pipeline.operate.rebuild import rebuild, recompute
from almanac.store.observations.reading.changes import read_changes
from almanac.store.observations.reading.query import ObservationFilter, ObservationQuery
from tests.support import small_world
from tests.support.small_world import ALPHA, BETA, GAMMA, MONTHS, SmallWorld, sent

from .test_rebuild import connector

__all__ = ["connector"]

#: Seasonally adjusted prices of two sources, unadjusted ones of the first, unadjusted rates of the second.
ADJUSTMENTS = {("level", ALPHA): "SA", ("level", GAMMA): "SA", ("policy", BETA): "NSA", ("level_nsa", ALPHA): "NSA"}


@pytest.fixture
def world(monkeypatch):
    part = copy.deepcopy(small_world.PART)
    level = next(one for one in part["indicator"] if one["slug"] == "level")
    part["indicator"].append(level | {"slug": "level_nsa"})
    line = next(one for one in part["series"] if (one["indicator"], one["source"]) == ("level", ALPHA))
    part["series"].append(
        line | {"indicator": "level_nsa", "codes": [{"native": "level_nsa.aaa", "name": "level_nsa aaa"}]}
    )
    for one in part["series"]:
        one["seasonal_adjustment"] = ADJUSTMENTS.get((one["indicator"], one["source"]))
    for one in part["derived"]:
        if one["slug"] == "level_yoy":
            one["inputs"] = ["level_nsa|level"]
    monkeypatch.setattr(small_world, "CATALOG", build([part]))
    with SmallWorld() as made:
        yield made


def column(native, numbers, keys=MONTHS):
    return native, [ReportedValue(key, number) for key, number in zip(keys, numbers, strict=True)], None


#: Of the three months that have a year behind them.
LAST_DAYS = [Period.parse(text).key for text in ("2024-12-31", "2025-01-31", "2025-02-28")]
ADJUSTED = sent(ALPHA, 0, column("level.aaa", [100.0, 101.0, 102.0, 103.0, 104.0, 105.0]))
RATES = sent(BETA, 0, column("policy.aaa", [4.0, 3.5, 3.0], LAST_DAYS))
PLAIN = sent(ALPHA, 1, column("level_nsa.aaa", [100.0, 101.0, 102.0, 103.0, 104.0, 105.0]))
#: The rate at the end of the last month, corrected.
NEXT = sent(BETA, 2, column("policy.aaa", [2.75], LAST_DAYS[2:]))


def said(world):
    """Every row that is served, as it goes out."""
    directory = world.view().directory
    return [
        (row.series.id, row.period, row.shown, directory.origins([(row.series.number, row.lineage)])[0].stated, directory.lineage(row.lineage))
        for row in world.rows()
    ]  # fmt: skip


def adjustment(world, indicator):
    found = {
        world.view().directory.origins([(row.series.number, row.lineage)])[0].stated.get("seasonalAdjustment")
        for row in world.rows(indicators=(indicator,))
    }  # fmt: skip
    (one,) = found
    return one


def test_what_is_computed_takes_over_how_its_inputs_are_adjusted_whichever_came_first(world):
    world.send([ADJUSTED, RATES])
    assert (adjustment(world, "level_yoy"), adjustment(world, "real_rate")) == ("SA", None)
    world.send([PLAIN])
    assert (adjustment(world, "level_yoy"), adjustment(world, "real_rate")) == ("NSA", "NSA")
    day_by_day = said(world)
    with SmallWorld() as other:
        other.send([PLAIN, RATES, ADJUSTED], together=True)
        assert said(other) == day_by_day


def test_a_process_that_comes_later_knows_no_more_of_a_series(world):
    world.send([ADJUSTED, RATES])
    world.send([PLAIN])
    before, version = {one[:2]: one for one in said(world)}, world.version
    world.restart()
    world.send([NEXT])
    # The rate of a day moved, and the real rate of its month with it: nothing else counts as changed.
    view = world.view()
    query = ObservationQuery(ObservationFilter(), view.version, None, limit=1_000, every=True)
    rows, _ = read_changes(view, query, version)
    assert {(row.series.spec.indicator, row.period) for row in rows} == {
        ("policy", LAST_DAYS[2]),
        ("real_rate", MONTHS[-1]),
    }
    now = {one[:2]: one for one in said(world)}
    assert {name for name in now if now[name] != before.get(name)} == {(row.series.id, row.period) for row in rows}


def test_days_one_by_one_and_a_rebuild_give_the_same_rows(world, connector):
    for day in ([ADJUSTED, RATES], [PLAIN], [NEXT]):
        world.send(day)
        world.restart()
    day_by_day = said(world)
    rebuild(world, lambda _: None)
    assert said(world) == day_by_day
    # Nothing would come out otherwise if it were computed anew.
    assert recompute(world) == 0
    assert said(world) == day_by_day
