"""What lists cost, counted in steps of the engine: rows that are wanted are found without passing all others."""

from datetime import date, timedelta
from unittest import mock

import apsw
import pytest

from almanac.domain.observations import Vintage
from almanac.domain.periods import Frequency, Period
from almanac.domain.reference import SeriesSpec
from almanac.store.observations.period_days import END, PART
from almanac.store.observations.reading import changes, keys, walks
from almanac.store.observations.reading.changes import Changes
from almanac.store.observations.reading.lags import KNOWN_WITHIN, listed
from almanac.store.observations.reading.selection import Selection
from tests.support.small_world import ALPHA, BETA, SmallWorld

pytestmark = pytest.mark.sqlite  # it counts that engine's steps

DAY = 86_400
FIRST = date(2010, 1, 1)
TOPICS, PERIODS = 24, 1_200
LIMIT = 50


def known(day, days):
    return (day.toordinal() + days - date(1970, 1, 1).toordinal()) * DAY


def vintages(number, revised):
    """Values of days, known two days later; of a few periods one more vintage, years later."""
    target = {}
    for n in range(PERIODS):
        day = FIRST + timedelta(4 * n)
        at = known(day, 2) + number
        target[Period(day, day).key] = [Vintage(at, float(n), None, 0, at, at, 1, None, 0)]
    for n in range(revised):
        day = FIRST + timedelta(4 * n)
        at = known(day, 4_000) + number
        target[Period(day, day).key].append(Vintage(at, float(n) + 0.5, None, 0, at, at, 1, None, 0))
    return target


@pytest.fixture(scope="module")
def world():
    """Thirty thousand values of thirteen years, of one source a few years, and one value that was known long before its period."""
    with SmallWorld() as one:
        for number in range(TOPICS):
            spec = SeriesSpec(
                source=ALPHA, native="n", indicator=f"level{number:02}", entity="country_aaa", frequency=Frequency.DAILY,
                unit="percent", name="n",
            )  # fmt: skip
            with one.batch("test") as batch:
                batch.replace(batch.series(spec, "raw"), vintages(number, 2))
        rare = SeriesSpec(
            source=BETA, native="n", indicator="rare", entity="country_bbb", frequency=Frequency.ANNUAL, unit="percent",
            name="n",
        )  # fmt: skip
        with one.batch("test") as batch:
            years = [Period(date(year, 1, 1), date(year, 12, 31)) for year in range(2012, 2016)]
            batch.replace(
                batch.series(rare, "raw"),
                {year.key: [Vintage(at := known(year.end, 40), 1.0, None, 0, at, at, 1, None, 0)] for year in years},
            )
        ahead = SeriesSpec(
            source=ALPHA, native="n", indicator="zz_ahead", entity="country_bbb", frequency=Frequency.MONTHLY,
            unit="percent", name="n",
        )  # fmt: skip
        with one.batch("test") as batch:
            at = known(date(2012, 5, 1), 0)
            month = Period(date(2040, 1, 1), date(2040, 1, 31))
            batch.replace(batch.series(ahead, "raw"), {month.key: [Vintage(at, 1.0, None, 0, at, at, 1, None, 0)]})
        yield one


@pytest.fixture(autouse=True)
def small():
    """What counts as few is a hundredth here, as the world is."""
    with (
        mock.patch.multiple(keys, _FEW=100, _TOLD=300, _SORTED=250, _FEW_END=30, _ASIDE=80),
        mock.patch.multiple(walks, _CHUNK=100, _IN_VAIN=600),
        mock.patch.multiple(changes, _NEAR=300),
    ):
        yield


def steps(world, ask):
    """Steps of all statements that something runs."""
    taken = []
    world.db.trace_v2(
        apsw.SQLITE_TRACE_PROFILE, lambda event: taken.append(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"])
    )
    try:
        rows = ask()
    finally:
        world.db.trace_v2(0, None)
    return sum(taken), rows


def page(world, *, as_of=None, sort="topic", descending=False, **selection):
    view = world.view()
    return steps(
        world,
        lambda: view.page(
            Selection(**selection), version=view.version, as_of=as_of, every=False, sort=sort, descending=descending,
            after=None, limit=LIMIT,
        )[0],
    )  # fmt: skip


#: Steps for a row of a page that is found in order, with all that is done once: of 30,000 rows each costs five and more.
MOST = 500 * LIMIT

OLD = date(2013, 1, 1)
LONG_AGO = known(OLD, 0)


@pytest.mark.parametrize("sort", ["observed_at", "released_at"])
@pytest.mark.parametrize("as_of", [None, known(date(2025, 1, 1), 0)])
def test_the_newest_of_old_periods_are_found_without_all_newer_ones(world, sort, as_of):
    taken, rows = page(world, sort=sort, descending=True, ends_by=OLD, as_of=as_of)
    assert len(rows) == LIMIT
    assert [row.known for row in rows] == sorted((row.known for row in rows), reverse=True)
    assert rows[0].known > known(FIRST, 4_000)  # what was revised years later comes first
    assert rows[-1].known < known(OLD, 3)
    assert taken < MOST


@pytest.mark.parametrize("sort", ["observed_at", "released_at"])
def test_the_oldest_of_new_periods_are_found_without_all_older_ones(world, sort):
    taken, rows = page(world, sort=sort, ends_from=date(2020, 1, 1))
    assert len(rows) == LIMIT
    assert rows[0].series.spec.indicator == "zz_ahead"
    assert all(row.known >= known(date(2020, 1, 1), 2) for row in rows[1:])
    assert taken < MOST


@pytest.mark.parametrize("sort", ["period_start", "period_end"])
def test_what_was_known_long_ago_is_found_without_all_later_periods(world, sort):
    taken, rows = page(world, sort=sort, descending=True, as_of=LONG_AGO)
    assert len(rows) == LIMIT
    assert all(row.known <= LONG_AGO for row in rows)
    assert taken < MOST


@pytest.mark.parametrize("sort", ["period_start", "period_end", "observed_at", "released_at", "ingested_at"])
@pytest.mark.parametrize("descending", [False, True])
def test_rows_of_a_source_or_frequency_that_has_few_are_found_by_that(world, sort, descending):
    for few in ({"sources": frozenset({BETA})}, {"frequency": "A"}):
        taken, rows = page(world, sort=sort, descending=descending, **few)
        assert {row.series.source.id for row in rows} == {BETA}
        assert len(rows) == 4
        assert taken < MOST


def test_changes_within_narrow_bounds_are_found_without_all_that_changed(world):
    view = world.view()
    for bounds in (
        {"observed_from": LONG_AGO, "observed_to": LONG_AGO + 3 * DAY},
        {"starts_from": OLD, "ends_by": OLD + timedelta(3)},
    ):
        taken, rows = steps(
            world,
            lambda bounds=bounds: Changes(view, Selection(**bounds), 0, view.version, None).page(
                every=False, descending=False, after=None, limit=LIMIT
            )[0],
        )
        assert 0 < len(rows) <= LIMIT
        assert taken < MOST


@pytest.mark.parametrize("table", ["current", "vintages"])
@pytest.mark.parametrize(
    ("index", "own"),
    [("known", KNOWN_WITHIN), ("end", f"{PART} = s.column1 AND {END} BETWEEN s.column2 AND s.column3")],
)
def test_an_index_is_gone_through_without_a_look_at_the_rows(world, table, index, own):
    sql = (
        f"EXPLAIN SELECT x.topic, x.period, x.series FROM {listed([(0, 0, 0)])} s"
        f" CROSS JOIN {table} x INDEXED BY {table}_{index} WHERE {own} AND x.period > ?"
    )
    opened = {row[3] for row in world.db.execute(sql, (1, 0, 1, 0)) if row[1] == "OpenRead"}
    root = world.db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (f"{table}_{index}",)).get
    assert opened == {root}
