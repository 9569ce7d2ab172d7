"""The preferred row of a cell: by the rights of each row and the order of sources at the version asked, in any order of a list."""

from collections.abc import Iterator
from typing import Any

import pytest

from almanac.domain.observations import Vintage
from almanac.domain.periods import Period
from almanac.store.observations.reading import pages as reading
from almanac.store.observations.reading.pages import read_page
from almanac.store.observations.reading.query import SORTS, ObservationFilter, ObservationQuery
from almanac.store.observations.reading.reader import View
from tests.support.small_world import ALPHA, BETA, DAY_SECONDS, GAMMA, START, SmallWorld, spec

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


def preferred(view: View, indicator: str, sort: str, **more: Any) -> list[tuple[int, float | None]]:
    """Which value is shown of each month, by month."""
    asked = {"version": view.version, "as_of": None, "every": False, "descending": False, "after": None, "limit": 99}
    rows, _ = read_page(
        view, ObservationQuery(ObservationFilter(indicators=(indicator,)), sort=sort, **{**asked, **more})
    )
    return sorted((MONTHS.index(row.period), row.value) for row in rows)


@pytest.mark.parametrize("sort", sorted(SORTS))
def test_a_row_yields_by_its_own_lineage_whatever_others_of_its_series_say(world: SmallWorld, sort: str) -> None:
    """Of the same two series it is this one in one cell and that one in another; each cell has one row."""
    write(world, ALPHA, "derived", {0: [(1.0, ALPHA)], 1: [(2.0, GAMMA)], 2: [(3.0, GAMMA)], 3: [(4.0, ALPHA)]}, 1)
    write(world, BETA, "derived", {0: [(1.5, BETA)], 1: [(2.5, BETA)], 2: [(3.5, GAMMA)], 3: [(4.5, BETA)]}, 2)
    assert preferred(world.view(), "level_yoy", sort) == [(0, 1.0), (1, 2.5), (2, 3.0), (3, 4.0)]


@pytest.mark.parametrize("sort", sorted(SORTS))
def test_a_series_that_is_shut_in_part_stands_first_where_it_may_be_sent(world: SmallWorld, sort: str) -> None:
    write(world, ALPHA, "derived", {0: [(1.0, ALPHA)], 1: [(2.0, GAMMA)]}, 1)
    write(world, BETA, "derived", {0: [(1.5, BETA)], 1: [(2.5, BETA)]}, 2)
    assert preferred(world.view(), "level_yoy", sort) == [(0, 1.0), (1, 2.5)]


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
    view = world.view()
    rows, _ = read_page(
        view,
        ObservationQuery(
            ObservationFilter(),
            version=view.version,
            as_of=None,
            every=False,
            sort=sort,
            descending=False,
            after=None,
            limit=9,
            history=True,
        ),
    )
    assert [row.value for row in rows] == [1.5, 1.75]


@pytest.mark.parametrize("sort", sorted(SORTS))
def test_what_is_shown_as_of_a_day_does_not_yield_to_what_came_later(world: SmallWorld, sort: str) -> None:
    write(world, BETA, "raw", {0: [(1.5, "")], 1: [(2.5, "")]}, 1)
    write(world, ALPHA, "raw", {0: [(1.0, "")], 1: [(2.0, ""), (None, "")]}, 3)
    for day, shown in ((2, [1.5, 2.5]), (3, [1.0, 2.0]), (4, [1.0, 2.5])):
        found = preferred(world.view(), "level", sort, as_of=START + day * DAY_SECONDS)
        assert found == list(enumerate(shown))


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
            rows, after = read_page(
                view,
                ObservationQuery(
                    ObservationFilter(kind="raw"),
                    version=view.version,
                    as_of=None,
                    every=False,
                    sort="topic",
                    descending=descending,
                    after=after,
                    limit=limit,
                ),
            )
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
    view, found, after = world.view(), list[Any](), None
    for _ in range(2 // limit or 1):
        rows, after = read_page(
            view,
            ObservationQuery(
                ObservationFilter(),
                version=view.version,
                as_of=None,
                every=False,
                sort="topic",
                descending=descending,
                after=after,
                limit=limit,
            ),
        )
        found += [row.value for row in rows]
    assert (found, after) == ([1.0, 2.0][:: -1 if descending else 1], None)
