"""Reading: a view is one state, a past state can be asked for, and what readers remember follows the writer."""

import asyncio
import threading
from datetime import date, timedelta
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.domain.companies import FiscalPeriod
from almanac.domain.observations import ReportedValue
from almanac.domain.periods import Period, start_of
from almanac.store.engine import opening
from almanac.store.engine.errors import DatabaseError, UnavailableError
from almanac.store.observations.reading.pages import read_page
from almanac.store.observations.reading.query import (
    START_ORDINAL_SQL,
    STARTS_FROM_SQL,
    ObservationFilter,
    ObservationQuery,
    ScanStrategy,
    compile_query,
)
from almanac.store.observations.reading.reader import Reader, View
from tests.support.small_world import ALPHA, BETA, DAY_SECONDS, GAMMA, START, SmallWorld, sent

JANUARY, FEBRUARY, MARCH = (Period.parse(f"2025-{month:02}").key for month in (1, 2, 3))


@pytest.fixture
def world():
    with SmallWorld() as opened:
        yield opened


def level(source, day, *lines, country="aaa"):
    return sent(source, day, (f"level.{country}", [ReportedValue(*line) for line in lines], None))


def cells(rows):
    return [(row.series.spec.source, row.period) for row in rows]


# -- selections ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def filled(world):
    balance = Period(None, date(2025, 2, 15)).key
    world.send(
        [
            level(ALPHA, 1, (JANUARY, 1.0), (FEBRUARY, 2.0), (MARCH, 3.0), (balance, 9.0)),
            level(ALPHA, 1, (JANUARY, 4.0), country="bbb"),
            sent(BETA, 1, ("policy.aaa", [ReportedValue(Period.parse("2025-02-28").key, 5.0)], None)),
        ]
    )
    return world


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        ({}, [1.0, 9.0, 2.0, 3.0, 4.0, 5.0]),
        ({"indicators": ("policy",)}, [5.0]),
        ({"indicators": ("policy", "level")}, [1.0, 9.0, 2.0, 3.0, 4.0, 5.0]),
        ({"indicators": ("aaa", "zzz")}, []),
        ({"indicators": ()}, []),
        ({"entities": ("country_bbb",)}, [4.0]),
        ({"entities": ()}, []),
        ({"sources": frozenset({BETA})}, [5.0]),
        ({"sources": frozenset()}, []),
        ({"frequency": "D"}, [5.0]),
        ({"kind": "derived", "indicators": ("level",)}, []),
        ({"starts_from": date(2025, 2, 1), "indicators": ("level",)}, [9.0, 2.0, 3.0]),
        ({"ends_from": date(2025, 2, 15), "indicators": ("level",)}, [9.0, 2.0, 3.0]),
        ({"ends_by": date(2025, 2, 28), "entities": ("country_aaa",)}, [1.0, 9.0, 2.0, 5.0]),
        ({"ends_by": date(2025, 2, 15), "indicators": ("level",)}, [1.0, 9.0, 4.0]),
        ({"starts_from": date(2025, 2, 2), "ends_from": date(2025, 1, 1)}, [9.0, 3.0, 5.0]),
        ({"starts_from": date(2025, 2, 15), "ends_by": date(2025, 2, 15)}, [9.0]),
        ({"starts_from": date(2025, 2, 16), "indicators": ("level",)}, [3.0]),
    ],
)
@pytest.mark.parametrize("as_of", [None, START + 9 * DAY_SECONDS])
@pytest.mark.parametrize("sort", ["topic", "ingested_at"])
def test_filters(filled, selection, expected, as_of, sort):
    rows = filled.rows(as_of, sort=sort, **{"kind": "raw", **selection})
    assert [row.value for row in rows] == expected


def test_a_selection_that_cannot_match_asks_nothing(world):
    view = world.view()
    world.db.execute("DROP TABLE vintages")
    nothing = ObservationFilter(sources=frozenset())
    asked = {"version": 1, "every": True, "descending": False, "after": None, "limit": 5}
    assert read_page(view, ObservationQuery(nothing, as_of=None, sort="topic", **asked)) == ([], None)
    assert read_page(view, ObservationQuery(nothing, as_of=1, **asked, history=True)) == ([], None)


def test_a_page_that_ends_with_the_list_has_no_next(filled):
    view = filled.view()
    asked = {"version": view.version, "as_of": None, "every": True, "sort": "topic", "descending": False, "after": None}
    assert read_page(view, ObservationQuery(ObservationFilter(kind="raw"), limit=6, **asked))[1] is None
    rows, after = read_page(view, ObservationQuery(ObservationFilter(kind="raw"), limit=5, **asked))
    assert len(rows) == 5
    assert after[:4] == ["level", "country_bbb", "M", JANUARY]


# -- past states --------------------------------------------------------------------------------------------------------


def test_a_past_version_is_read_as_it_was(world):
    world.send([level(ALPHA, 3, (JANUARY, 1.0))])
    pinned = world.version
    world.send([level(ALPHA, 5, (JANUARY, 2.0)), level(ALPHA, 1, (JANUARY, 0.5), (FEBRUARY, 7.0))])
    assert [(row.value, row.text) for row in world.rows(version=pinned)] == [(1.0, None)]
    as_then = world.rows(START + 9 * DAY_SECONDS, version=pinned)
    assert [(row.value, row.text) for row in as_then] == [(1.0, None)]
    assert [row.period for row in world.rows(kind="raw")] == [JANUARY, FEBRUARY]


def test_the_order_of_sources_is_that_of_the_version(world):
    world.send([level(ALPHA, 1, (JANUARY, 1.0)), level(BETA, 1, (JANUARY, 2.0))])
    pinned = world.version
    world.prefer(BETA, ALPHA)
    assert cells(world.rows(every=False)) == [(BETA, JANUARY)]
    assert cells(world.rows(every=False, version=pinned)) == [(ALPHA, JANUARY)]
    assert cells(world.rows()) == [(BETA, JANUARY), (ALPHA, JANUARY)]
    assert cells(world.rows(version=pinned, descending=True)) == [(BETA, JANUARY), (ALPHA, JANUARY)]


def test_rights_are_those_of_now_whatever_the_version(world):
    world.send([level(GAMMA, 1, (JANUARY, 1.0)), level(BETA, 1, (JANUARY, 2.0))])
    pinned = world.version
    assert cells(world.rows(every=False)) == [(BETA, JANUARY)]
    world.allow(GAMMA)
    assert cells(world.rows(every=False)) == cells(world.rows(every=False, version=pinned)) == [(GAMMA, JANUARY)]


def test_a_source_filter_narrows_before_the_choice(world):
    world.send([level(ALPHA, 1, (JANUARY, 1.0)), level(BETA, 2, (JANUARY, 2.0))])
    only = {"sources": frozenset({BETA}), "every": False}
    assert cells(world.rows(**only)) == cells(world.rows(sort="observed_at", **only)) == [(BETA, JANUARY)]


def test_a_preferred_row_withdrawn_gives_way(world):
    world.send([level(ALPHA, 1, (JANUARY, 1.0)), level(BETA, 1, (JANUARY, 2.0)), level(ALPHA, 3, (JANUARY, None))])
    for as_of in (None, START + 3 * DAY_SECONDS):
        assert cells(world.rows(as_of, every=False)) == [(BETA, JANUARY)]
    assert cells(world.rows(START + 2 * DAY_SECONDS, every=False)) == [(ALPHA, JANUARY)]


def vintages(world, *, every=True, descending=False, **selection):
    rows, _ = read_page(
        world.view(),
        ObservationQuery(
            ObservationFilter(**selection),
            version=world.version,
            as_of=1 << 40,
            every=every,
            descending=descending,
            limit=1 << 30,
            history=True,
        ),
    )
    return [(row.series.spec.source, (row.known - START) // DAY_SECONDS, row.withdrawn) for row in rows]


def test_vintages_are_listed_by_source_then_knowledge_with_withdrawals(world):
    world.send([level(BETA, 1, (JANUARY, 2.0)), level(ALPHA, 1, (JANUARY, 1.0)), level(ALPHA, 3, (JANUARY, None))])
    listed_vintages = [(ALPHA, 1, False), (ALPHA, 3, True), (BETA, 1, False)]
    assert vintages(world) == listed_vintages
    assert vintages(world, descending=True) == listed_vintages[::-1]
    # The preferred history is that of the source whose row is shown.
    assert vintages(world, every=False) == [(BETA, 1, False)]
    assert vintages(world, every=False, sources=frozenset({ALPHA})) == listed_vintages[:2]
    assert vintages(world, observed_from=START + 2 * DAY_SECONDS) == [(ALPHA, 3, True)]


def test_a_withdrawn_row_says_so_and_has_an_id_of_its_own(world):
    world.send([level(ALPHA, 1, (JANUARY, 1.0)), level(ALPHA, 3, (JANUARY, None))])
    rows, _ = read_page(
        world.view(),
        ObservationQuery(ObservationFilter(), version=world.version, as_of=1 << 40, every=True, limit=10, history=True),
    )
    assert [row.withdrawn for row in rows] == [False, True]
    assert len({row.id for row in rows}) == 2


# -- freshness ----------------------------------------------------------------------------------------------------------


def test_freshness_is_judged_by_the_newest_period_that_is_no_forecast(world):
    future = Period.parse("2027-01").key
    world.send(
        [
            level(ALPHA, 1, (JANUARY, 1.0)),
            level(ALPHA, 2, (FEBRUARY, 1.0), (future, 2.0)),
            level(ALPHA, 4, (FEBRUARY, None)),
        ]
    )
    view = world.view()
    series = view.directory.series_by_id("alpha:country_aaa:level:M")
    for as_of, expected in (
        (None, JANUARY), (START + 3 * DAY_SECONDS, FEBRUARY), (START + DAY_SECONDS, JANUARY), (START + 4 * DAY_SECONDS, JANUARY),
        (START, None),
    ):  # fmt: skip
        assert view.newest_period(series, world.version, as_of) == expected
    assert view.freshness(series, world.version, None, date(2025, 5, 1)) == "fresh"
    assert view.freshness(series, world.version, None, date(2025, 5, 2)) == "stale"
    assert view.freshness(series, world.version, START, date(2025, 5, 1)) == "unknown"


POLICY = ObservationFilter(indicators=("policy",))


@pytest.fixture
def variants(world):
    """One source with two series of a topic."""
    days = [Period.parse(text).key for text in ("2025-03-04", "2025-03-07")]
    for day, native, value in ((1, "policy.aaa", 1.0), (2, "policy.former", 2.0), (3, "policy.aaa", 3.0)):
        world.send([sent(BETA, day, (native, [ReportedValue(key, value) for key in days], None))])
    return world


def walked(ask):
    """All rows of a list whose pages have one row."""
    rows, after = [], None
    while True:
        page, after = ask(after)
        rows += page
        if after is None:
            return rows


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("as_of", [None, START + 9 * DAY_SECONDS])
@pytest.mark.parametrize("sort", ["topic", "period_end", "observed_at", "released_at"])
def test_pages_may_end_between_two_series_of_one_source(variants, sort, as_of, descending):
    view = variants.view()
    query = {"version": view.version, "as_of": as_of, "every": True, "sort": sort, "descending": descending}
    rows = walked(lambda after: read_page(view, ObservationQuery(POLICY, after=after, limit=1, **query)))
    assert sorted(row.value for row in rows) == [2.0, 2.0, 3.0, 3.0]
    assert rows == read_page(view, ObservationQuery(POLICY, after=None, limit=9, **query))[0]


@pytest.mark.parametrize("descending", [False, True])
def test_vintages_of_two_series_of_one_source_are_all_listed(variants, descending):
    view = variants.view()
    query = {"version": view.version, "as_of": START + 9 * DAY_SECONDS, "every": True, "descending": descending}
    rows = walked(lambda after: read_page(view, ObservationQuery(POLICY, after=after, limit=1, **query, history=True)))
    cell = [1.0, 3.0, 2.0]  # the main series first, each in the order of knowledge
    assert [row.value for row in rows] == (cell * 2)[:: -1 if descending else 1]


# -- the reader of a file -----------------------------------------------------------------------------------------------


@pytest.fixture
def stored(tmp_path, world):
    """The small world in a file, with a reader of its own connection."""
    world.db.close()
    path = tmp_path / "data.db"
    world.db = opening.create(path)
    world.sync()
    world.restart()
    reader = Reader(path)
    yield world, reader
    reader.close()


def listed(view: View):
    return cells(
        read_page(
            view,
            ObservationQuery(ObservationFilter(), version=view.version, as_of=None, limit=9),
        )[0]
    )


def test_a_view_is_one_state_while_the_writer_goes_on(stored):
    world, reader = stored
    world.send([level(ALPHA, 1, (JANUARY, 1.0))])
    with reader.view() as view:
        assert listed(view) == [(ALPHA, JANUARY)]
        world.send([level(ALPHA, 2, (FEBRUARY, 1.0))])
        assert listed(view) == [(ALPHA, JANUARY)]
    with reader.view() as view:
        assert view.version == world.version
        assert listed(view)[:2] == [(ALPHA, JANUARY), (ALPHA, FEBRUARY)]


def test_a_view_is_the_state_at_which_it_was_opened_even_if_nothing_was_read_of_it(stored):
    world, reader = stored
    world.send([level(ALPHA, 1, (JANUARY, 1.0))])
    with reader.view() as view:
        world.send([level(ALPHA, 2, (FEBRUARY, 1.0))])
        assert listed(view) == [(ALPHA, JANUARY)]


def test_what_was_learnt_of_a_state_lasts_until_somebody_writes(stored):
    """A write that is no data version counts: when a source was last asked is read from the store, too."""
    world, reader = stored
    world.send([level(ALPHA, 1, (JANUARY, 1.0))])
    with reader.view() as first:
        pass
    with reader.view() as second:
        assert second is first
    world.db.execute("INSERT INTO unmapped VALUES('alpha', 'x', 1, 1)")
    with reader.view() as third:
        assert third is not first
        assert third.version == first.version
    world.send([level(ALPHA, 2, (FEBRUARY, 1.0))])
    with reader.view() as fourth:
        assert fourth.version == world.version


def test_a_reader_follows_changes_of_rights_and_order(stored):
    world, reader = stored
    world.send([level(GAMMA, 1, (JANUARY, 1.0)), level(BETA, 1, (JANUARY, 2.0))])
    with reader.view() as view:
        assert listed(view) == [(BETA, JANUARY)]
        before = view.directory
    with reader.view() as view:
        assert view.directory is before
    world.allow(GAMMA)
    with reader.view() as view:
        assert listed(view) == [(GAMMA, JANUARY)]
    world.prefer(BETA, GAMMA)
    with reader.view() as view:
        assert listed(view) == [(BETA, JANUARY)]


def test_a_failing_request_ends_its_transaction(stored):
    world, reader = stored
    with pytest.raises(RuntimeError), reader.view():
        raise RuntimeError
    world.send([level(ALPHA, 1, (JANUARY, 1.0))])
    with reader.view() as view:
        assert view.version == world.version


def test_the_requests_of_a_turn_share_a_snapshot(stored):
    world, alone = stored
    reader = Reader(alone._path, by_turns=True)

    def send(version, month):
        world.send([level(ALPHA, version, (month, float(version)))])

    async def turns():
        send(1, JANUARY)
        with reader.view() as view:
            assert listed(view) == [(ALPHA, JANUARY)]
        send(2, FEBRUARY)
        with reader.view() as view:
            assert listed(view) == [(ALPHA, JANUARY)]
        # An error of the database ends it for those that follow, and the end of the turn has nothing left to do.
        with reader.view() as view:
            with pytest.raises(RuntimeError), reader.view():
                raise RuntimeError
            assert view.execute("SELECT max(version) FROM version").get == view.version < world.version
        with pytest.raises(DatabaseError), reader.view():
            raise DatabaseError
        with reader.view() as view:
            assert view.version == world.version
        before = world.version
        send(3, FEBRUARY)
        with reader.view() as view:
            assert view.version == before
        await asyncio.sleep(0)
        with reader.view() as view:
            assert view.version == world.version

    asyncio.run(turns())
    send(4, FEBRUARY)
    with reader.view() as view:  # without an event loop
        assert view.version == world.version
    send(5, FEBRUARY)
    with reader.view() as view:
        assert view.version == world.version
    reader.close()


def test_no_store_is_storage_unavailable(tmp_path):
    with pytest.raises(UnavailableError), Reader(Path(tmp_path / "nothing.db")).view():
        pass


@pytest.mark.parametrize(
    ("descending", "expected"), [(False, [FEBRUARY, JANUARY, MARCH]), (True, [FEBRUARY, MARCH, JANUARY])]
)
@pytest.mark.parametrize("every", [True, False])
def test_a_walk_goes_on_among_the_nulls_without_coming_back_to_the_others(world, descending, expected, every):
    world.send([level(ALPHA, 1, (JANUARY, 1.0), (FEBRUARY, 2.0, START, START), (MARCH, 3.0))])
    walked, after = [], None
    for _ in expected:
        page, after = read_page(world.view(), ObservationQuery(
            ObservationFilter(indicators=("level",)), version=world.version, as_of=None, every=every, sort="released_at",
            descending=descending, after=after, limit=1))  # fmt: skip
        walked += [row.period for row in page]
    assert (walked, after) == (expected, None)


@pytest.mark.sqlite
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("indicators", [None, ("level", "policy")])
def test_several_names_keep_the_order_of_the_index(world, descending, indicators):
    """A page of several entities is read in the order of the list: sorting would read all their rows for each page."""
    asked = ObservationFilter(kind="raw", indicators=indicators, entities=("country_aaa", "country_bbb"))
    sql, values = compile_query(ObservationQuery(asked, 1, None, 9, descending=descending), 9)
    plan = [row[3] for row in world.db.execute(f"EXPLAIN QUERY PLAN {sql}", values)]
    assert plan != []
    assert [step for step in plan if "TEMP B-TREE" in step] == []


def test_what_one_thread_learnt_of_series_another_one_knows(stored):
    world, reader = stored
    world.send([level(ALPHA, 1, (JANUARY, 1.0))])
    number = world.rows()[0].series.number
    with reader.view() as view:
        own = view.directory
        known = own.series(number)
    seen = []

    def look():
        with reader.view() as other:
            seen.extend([other.directory, other.directory.series(number), other.directory.series_by_id(known.id)])

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen[0] is not own
    assert seen[1] is seen[2] is known
    # A new reference version is read anew by all of them.
    world.allow(ALPHA)
    with reader.view() as view:
        assert view.directory.series(number) is not known


# -- how a list is read, told from the question alone -----------------------------------------------------------------


ONE = {"indicators": ("level",), "entities": ("country_aaa",)}
NARROW = {"indicators": ("level",), "entities": ("country_aaa", "country_bbb")}


@pytest.mark.parametrize(
    ("asked", "more", "strategy"),
    [
        ({}, {}, ScanStrategy.CELLS),
        ({}, {"as_of": 5}, ScanStrategy.CELLS),
        ({"frequency": "A"}, {}, ScanStrategy.CELLS),
        ({"sources": frozenset({"a"})}, {}, ScanStrategy.CELLS),
        ({"starts_from": date(2025, 1, 1)}, {}, ScanStrategy.CELLS),
        ({"ends_from": date(2025, 1, 1)}, {}, ScanStrategy.CELLS),  # a plan's window
        ({**NARROW, "frequency": "A"}, {"as_of": 5}, ScanStrategy.CELLS),
        ({}, {"every": True}, ScanStrategy.GROUPS),
        (NARROW, {"history": True, "as_of": 5}, ScanStrategy.GROUPS),
        ({"observed_from": 7}, {}, ScanStrategy.GROUPS),
        ({**NARROW, "observed_to": 7}, {"history": True}, ScanStrategy.GROUPS),
        ({**ONE, "observed_to": 7}, {}, ScanStrategy.GROUPS),
        ({**ONE, "fiscal": FiscalPeriod(2025, None)}, {}, ScanStrategy.GROUPS),
        ({}, {"sort": "released_at"}, ScanStrategy.SORTED),
        (NARROW, {"sort": "period_end", "every": True}, ScanStrategy.SORTED),
        (ONE, {"sort": "period_end", "descending": True}, ScanStrategy.SORTED),
        ({"indicators": ()}, {"sort": "released_at"}, ScanStrategy.SORTED),  # nothing to be read
    ],
)
def test_a_query_has_one_strategy(asked, more, strategy):
    query = ObservationQuery(ObservationFilter(**asked), **{"version": 1, "as_of": None, "limit": 10, **more})
    assert query.strategy is strategy


# -- what a period key says in SQL is what it says in Python ----------------------------------------------------------


DAYS = st.dates(date(1950, 1, 1), date(2100, 1, 1))
PERIODS = st.one_of(
    DAYS.map(lambda end: Period(None, end)),
    st.builds(lambda end, span: Period(end - timedelta(days=span), end), DAYS, st.integers(0, 400) | st.just(16_382)),
)


WIDE = st.builds(
    lambda end, span: Period(None if span is None else end - timedelta(days=span), end),
    st.dates(date(1600, 1, 1), date(2400, 1, 1)),
    st.none() | st.integers(0, 16_382),
)


@given(WIDE)
def test_sql_reads_the_first_day_as_python_does(period):
    ordinal = apsw.Connection(":memory:").execute(f"SELECT {START_ORDINAL_SQL.format('?1')}", (period.key,)).get
    assert ordinal == (None if period.start is None else period.start.toordinal())


@given(PERIODS, DAYS, st.sampled_from([None, -1, 0, 1]))
def test_whether_a_period_starts_on_a_day_or_later(period, day, beside):
    begins = period.start or period.end  # an instant on its only day
    if beside is not None:
        day = begins + timedelta(days=beside)
    expected = begins >= day
    asked = (period.key, day.toordinal())
    sql = f"SELECT {START_ORDINAL_SQL.format('?1')}, {STARTS_FROM_SQL.format('?1', '?2')}"
    ordinal, is_later = apsw.Connection(":memory:").execute(sql, asked).fetchone()
    assert ordinal == (None if period.start is None else period.start.toordinal())
    assert (bool(is_later), start_of(period.key)) == (expected, period.start)
