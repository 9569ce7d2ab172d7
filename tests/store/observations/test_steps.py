"""What lists cost, counted in steps of the engine: rows that are wanted are found without passing all others."""

from datetime import date, timedelta
from unittest import mock

import apsw
import pytest

from almanac.domain.observations import Vintage
from almanac.domain.periods import Frequency, Period
from almanac.domain.reference import SeriesSpec
from almanac.store.observations.newest import candidates
from almanac.store.observations.newest.candidates import WantedFreshness
from almanac.store.observations.newest.latest import latest
from almanac.store.observations.period_days import END, PART
from almanac.store.observations.reading import changes, keys, windows
from almanac.store.observations.reading.changes import Changes
from almanac.store.observations.reading.lags import KNOWN_WITHIN, listed
from almanac.store.observations.reading.lists import Lists
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
        mock.patch.multiple(keys, _FEW=100, _TOLD=300, FEW_EVER=250, _FEW_END=30, _ASIDE=80),
        mock.patch.multiple(windows, CHUNK=100, _IN_VAIN=600),
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


def test_what_was_taken_in_before_it_can_have_been_known_is_passed_over(world):
    since = known(date(2022, 12, 1), 0)
    with mock.patch.multiple(keys, _FEW=0, _TOLD=0):  # where few are sorted, no moment is gone through
        taken, rows = page(world, sort="ingested_at", ends_by=date(2023, 6, 1), observed_from=since)
    assert len(rows) == LIMIT
    assert all(row.ingested >= row.known >= since for row in rows)
    # It would be asked of 30,000 moments before which topics they are of.
    assert taken < 4 * MOST


@pytest.mark.parametrize("descending", [False, True])
def test_a_walk_by_intake_does_not_pass_over_what_came_before(world, descending):
    view, after = world.view(), None
    since = known(FIRST, 1)
    with mock.patch.multiple(keys, _FEW=0, _TOLD=0):
        for _ in range(20):
            taken, (rows, after) = steps(
                world,
                lambda after=after: view.page(
                    Selection(observed_from=since), version=view.version, as_of=None, every=False, sort="ingested_at",
                    descending=descending, after=after, limit=LIMIT,
                ),
            )  # fmt: skip
            assert len(rows) == LIMIT
            # Each row has a moment of its own: a thousand were given before the last page.
            assert taken < 3 * MOST


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


def test_what_was_known_long_ago_is_found_cell_by_cell_where_most_of_it_stands(world):
    taken, rows = page(world, observed_to=known(date(2022, 1, 1), 0))
    with mock.patch.object(Lists, "told_whole", return_value=False):
        alone, same = page(world, observed_to=known(date(2022, 1, 1), 0))
    assert rows == same
    assert len(rows) == LIMIT
    assert 3 * taken < alone


@pytest.fixture(scope="module")
def wide():
    """Four hundred topics that ended long ago, and one that goes on."""
    with SmallWorld() as one:
        for number in range(WIDE):
            spec = SeriesSpec(
                source=ALPHA, native="n", indicator=f"level{number:03}", entity="country_aaa", frequency=Frequency.DAILY,
                unit="percent", name="n",
            )  # fmt: skip
            days = [FIRST + timedelta(1_000 * (number == WIDE - 1) + n) for n in range(5)]
            with one.batch("test") as batch:
                batch.replace(
                    batch.series(spec, "raw"),
                    {Period(day, day).key: [Vintage(at := known(day, 2) + 60 * number, 1.0, None, 0, None, at, 1, None, 0)] for day in days},
                )  # fmt: skip
        yield one


WIDE = 400
LATER = FIRST + timedelta(500)


def test_new_periods_without_an_end_are_found_without_all_topics_that_have_none(wide):
    view = wide.view()
    for as_of in (None, known(FIRST, 2_000)):
        taken, rows = page(wide, as_of=as_of, starts_from=LATER)
        assert len(rows) == 5
        assert taken < 6 * WIDE
    taken, (rows, _) = steps(
        wide,
        lambda: Changes(view, Selection(starts_from=LATER), 0, view.version, None).page(
            every=False, descending=False, after=None, limit=LIMIT
        ),
    )
    assert len(rows) == 5
    assert taken < 20 * WIDE  # changes themselves are counted


def test_a_source_that_all_rows_are_of_is_no_condition(wide):
    taken, rows = page(wide, sort="observed_at", descending=True, sources=frozenset({ALPHA}))
    alone, same = page(wide, sort="observed_at", descending=True)
    assert rows == same
    # Each of 2,000 rows would be asked for its source.
    assert taken < alone + 4 * WIDE


def test_changes_known_lately_are_looked_at_as_far_as_a_page_needs_them(wide):
    view = wide.view()
    with mock.patch.multiple(changes, _NEAR=10_000, _AT_ONCE=8, _AT_ONCE_MOST=8):
        taken, (rows, _) = steps(
            wide,
            lambda: Changes(view, Selection(observed_to=known(LATER, 0)), 0, view.version, None).page(
                every=False, descending=False, after=None, limit=10
            ),
        )
    assert [row.series.spec.indicator for row in rows] == ["level000"] * 5 + ["level001"] * 5
    # Less than was noted of all topics would take, were it looked up.
    assert taken < 250 * WIDE


def readings(world, *, view=None, as_of=None, freshness=None, **selection):
    view = view or world.view()
    return steps(
        world,
        lambda: latest(
            view, Selection(**selection), version=view.version, as_of=as_of, descending=False, after=None, limit=LIMIT,
            freshness=freshness,
        )[0],
    )  # fmt: skip


def test_readings_of_a_past_day_are_found_without_all_that_was_known_later(world):
    taken, rows = readings(world, as_of=LONG_AGO)
    assert len(rows) == TOPICS + 1
    assert all(row.known <= LONG_AGO for row in rows)
    # A topic has 900 periods after that day.
    assert taken < 200 * TOPICS


def test_readings_that_nobody_had_by_a_past_day_are_not_looked_for(world):
    taken, rows = readings(world, as_of=known(FIRST, 1))
    assert not rows
    assert taken < 80 * TOPICS


@pytest.mark.parametrize("selection", [{"sources": frozenset({"nobody"})}, {"kind": "derived"}])
@pytest.mark.parametrize("as_of", [None, LONG_AGO])
def test_readings_that_no_series_can_give_are_not_looked_for(world, selection, as_of):
    taken, rows = readings(world, as_of=as_of, **selection)
    assert rows == []
    # All topics were looked at for one of theirs: 60 steps are what is held of the store, read once.
    assert taken < 200


def test_readings_of_a_source_with_few_series_are_found_without_all_other_topics(world):
    taken, rows = readings(world, sources=frozenset({BETA}))
    assert [row.series.source.id for row in rows] == [BETA]
    assert taken < 20 * TOPICS


def test_readings_of_a_freshness_are_remembered_for_a_state_of_the_store(world):
    wanted, view = WantedFreshness("stale", date(2023, 2, 20)), world.view()
    for as_of in (None, known(date(2023, 2, 19), 0)):
        first, rows = readings(world, view=view, as_of=as_of, freshness=wanted)
        again, same = readings(world, view=view, as_of=as_of, freshness=wanted)
        assert rows == same
        assert {row.series.spec.indicator for row in rows} == {"rare"}
        assert first - again > 4 * TOPICS


@pytest.mark.parametrize("as_of", [None, known(FIRST, 2_000)])
@pytest.mark.parametrize("descending", [False, True])
def test_pairs_of_a_freshness_are_judged_as_far_as_a_page_needs_them(wide, as_of, descending):
    def ask(view, limit):
        return steps(
            wide,
            lambda: latest(
                view, Selection(), version=view.version, as_of=as_of, descending=descending, after=None, limit=limit,
                freshness=WantedFreshness("stale", date(2024, 1, 1)),
            )[0],
        )  # fmt: skip

    with mock.patch.multiple(candidates, _CHUNK=4):
        view = wide.view()
        taken, rows = ask(view, 4)
        every, all_rows = ask(view, WIDE)
        assert rows == all_rows[:4]
        assert len(all_rows) == WIDE
        assert ask(wide.view(), WIDE)[1] == all_rows
    # The first few are 32 of 400 pairs at most.
    assert 5 * taken < every


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
