"""The preferred row of a cell: by the rights of each row and the order of sources at the version asked, in any order of a list."""

import gc
import heapq
import weakref
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import apsw
import pytest

from almanac.domain.observations import ReportedValue, Vintage
from almanac.domain.periods import Period
from almanac.domain.rights import Exposure
from almanac.store.engine import opening
from almanac.store.engine.data_schema import meta, set_meta
from almanac.store.engine.deadline import Deadline, deadline_scope
from almanac.store.engine.errors import StoppedError
from almanac.store.engine.opening import Place
from almanac.store.engine.protocol import Database
from almanac.store.log.payloads import PayloadRef
from almanac.store.observations.reading import lookup, metadata
from almanac.store.observations.reading import pages as reading
from almanac.store.observations.reading.pages import ObservationRow, read_page
from almanac.store.observations.reading.query import SORTS, ObservationFilter, ObservationQuery
from almanac.store.observations.reading.reader import Reader, View
from almanac.store.observations.writing.vintages import SeriesClaim
from tests.support.places import on_each_engine, placed
from tests.support.small_world import ALPHA, BETA, DAY_SECONDS, GAMMA, MIXED, START, SmallWorld, spec

MONTHS = [Period.parse(f"2025-{month:02}").key for month in (1, 2, 3, 4)]


@pytest.fixture
def world() -> Iterator[SmallWorld]:
    with SmallWorld() as opened:
        yield opened


@pytest.fixture(autouse=True)
def _one_cell_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a long list the rows of a cell are looked at apart, where a column sorts them apart."""
    monkeypatch.setattr(reading, "_SPARE", 0)


def write(
    world: SmallWorld, source: str, kind: str, rows: dict[int, list[tuple[float | str | None, str]]], day: int
) -> None:
    """States of months of one indicator, day after day, each with the source whose series it was computed from ("": none)."""
    indicator = "level" if kind == "raw" else "level_yoy"

    with world.batch("test") as batch:
        target = {}
        for place, states in rows.items():
            target[MONTHS[place]] = [
                Vintage(at, *parts(value), 0, None, at, 1, None, batch.lineage([spec(of, "level").id]) if of else 0)
                for turn, (value, of) in enumerate(states)
                for at in [START + (day + turn) * DAY_SECONDS]
            ]
            for of in {of for _, of in states if of}:
                batch.series(spec(of, "level"), "raw")
        batch.replace(batch.series(spec(source, indicator), kind), target)


def parts(value: float | str | None) -> tuple[float | None, str | None]:
    """Number and text of a state."""
    return (None, value) if isinstance(value, str) else (value, None)


def page(view: View, asked: ObservationFilter, **more: Any) -> tuple[list[ObservationRow], list[Any] | None]:
    """Return a page of the newest version."""
    return read_page(view, ObservationQuery(asked, **{"version": view.version, "as_of": None, "limit": 99, **more}))


def preferred(view: View, indicator: str, sort: str, **more: Any) -> list[tuple[int, float | None]]:
    """Return the value that is shown of each month, by month."""
    rows, _ = page(view, ObservationFilter(indicators=(indicator,)), sort=sort, **more)
    return sorted((MONTHS.index(row.period), row.value) for row in rows)


@pytest.mark.parametrize("sort", sorted(SORTS))
def test_a_row_yields_by_its_own_lineage_whatever_others_of_its_series_say(world: SmallWorld, sort: str) -> None:
    """Of the same two series it is this one in one cell and that one in another; each cell has one row."""
    write(world, ALPHA, "derived", {0: [(1.0, ALPHA)], 1: [(2.0, GAMMA)], 2: [(3.0, GAMMA)], 3: [(4.0, ALPHA)]}, 1)
    write(world, BETA, "derived", {0: [(1.5, BETA)], 1: [(2.5, BETA)], 2: [(3.5, GAMMA)], 3: [(4.5, BETA)]}, 2)
    assert preferred(world.view(), "level_yoy", sort) == [(0, 1.0), (1, 2.5), (2, 3.0), (3, 4.0)]


@pytest.mark.parametrize("sort", sorted(SORTS))
def test_one_state_of_the_store_tells_the_orders_of_several_versions_apart(world: SmallWorld, sort: str) -> None:
    write(world, ALPHA, "raw", {0: [(1.0, "")]}, 1)
    write(world, BETA, "raw", {0: [(1.5, "")]}, 2)
    pinned = world.version
    world.prefer(BETA, ALPHA)
    view = world.view()
    for _ in range(2):
        assert preferred(view, "level", sort) == [(0, 1.5)]
        assert preferred(view, "level", sort, version=pinned) == [(0, 1.0)]


@pytest.mark.parametrize("sort", sorted(SORTS))
def test_the_history_of_a_cell_is_that_of_the_series_shown_there(world: SmallWorld, sort: str) -> None:
    """The first source took its value back: none of its states is in the preferred history, wherever they stand in the order."""
    write(world, ALPHA, "raw", {0: [(1.0, ""), (None, "")]}, 1)
    write(world, BETA, "raw", {0: [(1.5, ""), (1.75, "")]}, 5)
    rows, _ = page(world.view(), ObservationFilter(), sort=sort, history=True)
    assert [row.value for row in rows] == [1.5, 1.75]


@pytest.mark.parametrize("sort", sorted(SORTS))
def test_what_is_shown_as_of_a_day_does_not_yield_to_what_came_later(world: SmallWorld, sort: str) -> None:
    write(world, BETA, "raw", {0: [(1.5, "")], 1: [(2.5, "")]}, 1)
    write(world, ALPHA, "raw", {0: [(1.0, "")], 1: [(2.0, ""), (None, "")]}, 3)
    for day, shown in ((2, [1.5, 2.5]), (3, [1.0, 2.0]), (4, [1.0, 2.5])):
        values = preferred(world.view(), "level", sort, as_of=START + day * DAY_SECONDS)
        assert values == list(enumerate(shown))


@pytest.mark.parametrize("sort", sorted(SORTS))
def test_a_text_is_as_good_as_a_number(world: SmallWorld, sort: str) -> None:
    write(world, ALPHA, "raw", {0: [("easing", "")]}, 1)
    write(world, BETA, "raw", {0: [(1.5, "")]}, 2)
    assert preferred(world.view(), "level", sort) == [(0, None)]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5])
def test_a_cell_that_is_read_in_two_parts_is_chosen_from_as_a_whole(
    world: SmallWorld, limit: int, descending: bool
) -> None:
    """Whichever of the rivals of a cell is read first: pages joined are the whole, and the last one says that it is."""
    for day, source in enumerate((ALPHA, BETA, GAMMA), 1):
        write(world, source, "raw", {place: [(10.0 * day + place, "")] for place in range(4)}, day)
    world.allow(GAMMA)
    for order, expected in (((GAMMA, BETA, ALPHA), 30.0), ((BETA, ALPHA, GAMMA), 20.0), ((ALPHA, BETA, GAMMA), 10.0)):
        world.prefer(*order)
        view, after = world.view(), None
        pages = []
        while not pages or after is not None:
            rows, after = page(view, ObservationFilter(kind="raw"), descending=descending, after=after, limit=limit)
            pages.append([row.value for row in rows])
        whole = [expected + place for place in range(4)][:: -1 if descending else 1]
        assert pages == [whole[begin : begin + limit] for begin in range(0, 4, limit)]


@pytest.mark.parametrize("limit", [1, 9])
@pytest.mark.parametrize("descending", [False, True])
def test_cells_of_neighbouring_topics_are_two_though_their_period_is_one(
    world: SmallWorld, descending: bool, limit: int
) -> None:
    write(world, ALPHA, "raw", {0: [(1.0, "")]}, 1)
    write(world, ALPHA, "derived", {0: [(2.0, ALPHA)]}, 2)
    view, values, after = world.view(), list[Any](), None
    for _ in range(2 // limit or 1):
        rows, after = page(view, ObservationFilter(), descending=descending, after=after, limit=limit)
        values += [row.value for row in rows]
    assert (values, after) == ([1.0, 2.0][:: -1 if descending else 1], None)


def test_a_cell_is_given_once_though_what_was_shown_there_is_shut_since(world: SmallWorld) -> None:
    for day, source in enumerate((GAMMA, BETA), 1):
        write(world, source, "raw", {place: [(10.0 * day + place, "")] for place in (0, 1)}, day)
    world.allow(GAMMA)
    world.prefer(GAMMA, BETA)
    (first,), after = page(world.view(), ObservationFilter(kind="raw"), limit=1)
    pinned = world.version
    world.allow()
    rows, _ = page(world.view(), ObservationFilter(kind="raw"), version=pinned, after=after)
    assert [first.value, *(row.value for row in rows)] == [10, 21]


# Rights of thousands of rows at once are those of each: of what a row was computed from, with and without its owner's consent.


@pytest.fixture
def mixed_world() -> Iterator[SmallWorld]:
    """Months of one derived series, each computed from a series of another source; that of GAMMA asks for a consent."""
    with SmallWorld() as opened:
        write(opened, MIXED, "derived", {0: [(1.0, ALPHA)], 1: [(2.0, BETA)], 2: [(3.0, GAMMA)]}, 1)
        yield opened


def judged(mixed_world: SmallWorld, *, at_once: bool) -> list[bool]:
    """Of each month, whether its value may not be sent."""
    view = mixed_world.view()
    rows = view.execute(
        "SELECT x.series, x.lineage FROM vintages x JOIN topic t USING(topic) WHERE t.kind = 'derived' ORDER BY x.period"
    ).fetchall()
    if not at_once:
        return [view.directory.row_rights(view.directory.series(series), own).withheld for series, own in rows]
    shut = view.directory.withheld([tuple(row) for row in rows])
    return [tuple(row) in shut for row in rows]


@pytest.mark.parametrize("consents", [(), (GAMMA,), (ALPHA,)])
def test_rows_at_once_are_judged_as_each_is(
    mixed_world: SmallWorld, consents: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "_FEW_LINEAGES", 0)
    mixed_world.allow(*consents)
    assert (
        judged(mixed_world, at_once=True) == judged(mixed_world, at_once=False) == [False, False, GAMMA not in consents]
    )


def test_a_series_as_a_whole_is_as_shut_as_the_strictest_of_its_rows(mixed_world: SmallWorld) -> None:
    """Its sources in order of their names: the one that is shut is neither the first nor alone."""

    def whole() -> tuple[bool, str]:
        view = mixed_world.view()
        number = view.execute("SELECT s.series FROM series s JOIN topic t USING(topic) WHERE t.kind = 'derived'").get
        rights = view.directory.series(number).rights
        return rights.withheld, rights.attribution

    every = "Calculated by Almanac from: Invented by alpha; Invented by beta; Invented by gamma"
    assert whole() == (True, every)
    mixed_world.allow(GAMMA)
    assert whole() == (False, every)


@pytest.mark.parametrize("stricter", list(Exposure))
def test_a_payload_that_stated_anything_stricter_than_its_source_is_told(
    mixed_world: SmallWorld, stricter: Exposure
) -> None:
    """Its rows tell no payload; rows of the same series from another one do."""
    names = ("level", "jobless")
    specs = [spec(ALPHA, name, "country_bbb") for name in names]
    both, alone = (PayloadRef(1 << 40 | place, START, (START, f"{place:064x}")) for place in (1, 2))
    with mixed_world.batch("test") as batch:
        plain, other = (batch.series(series_spec, "raw") for series_spec in specs)
        for payload, stated in ((both, (plain, other)), (alone, (plain,))):
            for series in stated:
                batch.append(payload, [SeriesClaim(series, [ReportedValue(MONTHS[0], 1.0, START)])])
        batch.tighten(other, stricter, "invented")
    view = mixed_world.view()
    series = view.directory.series(plain.number)
    assert lookup.brought_withheld(view, both.number, series) is (stricter is not Exposure.public)
    assert not lookup.brought_withheld(view, alone.number, series)


# Requests that are given up or fail: the next one of their thread reads the newest state, and others of their turn are answered.


pytest_generate_tests = on_each_engine
place = placed("data.db")

WITHOUT_END = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
NAMES = "SELECT k FROM meta ORDER BY k"


@pytest.fixture
def writer(place: Place) -> Iterator[Database]:
    with closing(opening.create(place)) as db:
        yield db


@pytest.fixture
def reader(place: Place, writer: Database) -> Iterator[Reader]:
    with closing(Reader(place)) as opened:
        yield opened


@pytest.fixture
def _uncollected() -> Iterator[None]:
    """What is in a cycle stays."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def write_given_up(db: Database) -> int:
    """A version more. Returns its number."""
    version = int(meta(db, "version") or 0) + 1
    with db.transaction():
        set_meta(db, "version", str(version))
    return version


def read(reader: Reader) -> int:
    with reader.view() as view:
        return view.version


def names(view: View) -> Iterator[Any]:
    yield from view.scan(NAMES)


def broken_off(view: View) -> list[Any]:
    """A walk of two, in the midst of whose rows nobody waits any more."""

    def without_end() -> Iterator[Any]:
        for name in names(view):
            yield name
            yield from view.execute(WITHOUT_END).fetchall()

    return list(heapq.merge(names(view), without_end()))


@pytest.mark.usefixtures("_uncollected")
def test_after_a_walk_that_was_broken_off_the_newest_state_is_read(reader: Reader, writer: Database) -> None:
    read(reader)
    connection = reader._here.connection
    for _ in range(2):
        with pytest.raises(StoppedError) as stopped, deadline_scope(Deadline(0.05)), reader.view() as view:
            broken_off(view)
        version = write_given_up(writer)
        assert read(reader) == version
        assert stopped.value.__cause__ is not None, "the engine ended it, and somebody knows of it still"
        assert reader._here.connection is connection, "its rows were let go of"


@pytest.mark.usefixtures("_uncollected")
def test_an_error_is_gone_when_nobody_knows_of_it(reader: Reader) -> None:
    errors: list[weakref.ref[BaseException]] = []
    for opened in (reader.view, opening.faults):
        try:
            with opened():
                raise apsw.InterruptError("as if")
        except StoppedError as error:
            errors.append(weakref.ref(error))
    assert [error() for error in errors] == [None, None]


def test_rows_that_are_still_being_read_keep_no_later_reader_from_the_newest_state(
    reader: Reader, writer: Database
) -> None:
    with reader.view() as view:
        rows = names(view)
        assert next(rows) is not None
    version = write_given_up(writer)
    assert read(reader) == version
    rows.close()
