"""The list of latest readings, whose topics are looked at many at once, against the reading of each pair alone."""

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from almanac.store.observations.reading.newest import WantedFreshness, read_latest, reading
from almanac.store.observations.reading.query import ObservationFilter, ObservationQuery
from tests.store.observations.test_columns import ENTITIES, changes, forecasts, level
from tests.support.generators import histories
from tests.support.small_world import ALPHA, BETA, GAMMA, START, SmallWorld

SOURCES = (None, frozenset({ALPHA}), frozenset({BETA, GAMMA}), frozenset({GAMMA}))

#: Of periods and of when rows became known. The first is what a plan sees of them.
BOUNDS = (
    {"ends_from": date(2025, 2, 1)},
    {"ends_from": date(2025, 2, 28)},
    {},
    {"ends_by": date(2025, 2, 28)},
    {"starts_from": date(2025, 2, 1)},
    {"observed_to": START + 86_400},
)

#: Of which readings those of a freshness are asked for.
FILTERS = (
    {},
    {"sources": frozenset({ALPHA})},
    {"sources": frozenset({BETA, GAMMA})},
    {"frequency": "D"},
    {"kind": "derived"},
    {"indicators": ("level", "policy")},
    {"ends_by": date(2025, 2, 28)},
)


def walked(view, selection, *, accept=lambda _: True, freshness=None, **place):
    """The whole list, page by page."""
    rows, after = [], None
    while True:
        page, after = read_latest(view, ObservationQuery(selection, after=after, **place), accept, freshness)
        rows += page
        if after is None:
            return rows


@given(
    histories,
    forecasts,
    st.booleans(),
    st.integers(1, 4),
    st.sampled_from(FILTERS),
)
def test_those_of_a_freshness_are_found_without_the_others(responses, ahead, descending, limit, filters):
    """The list is that of all readings, tested one by one."""
    selection = ObservationFilter(**filters)
    with SmallWorld() as world:
        world.send([*responses, *(level(source, day, *lines) for source, day, lines in ahead)])
        view = world.view()
        for as_of in (None, *world.moments()[1::4]):
            today = date(2025, 4, 10) if as_of is None else date.fromtimestamp(as_of) + timedelta(20)
            place = {"version": view.version, "as_of": as_of, "descending": descending}
            every = walked(view, selection, **place, limit=limit)
            for status in ("fresh", "stale", "unknown"):

                def accept(series, as_of=as_of, today=today, status=status):
                    return view.freshness(series, view.version, as_of, today) == status

                found = walked(
                    view, selection, **place, limit=limit, accept=accept, freshness=WantedFreshness(status, today)
                )
                assert found == [row for row in every if accept(row.series)]


@given(histories, forecasts, changes, st.booleans(), st.integers(1, 4), st.sampled_from(BOUNDS))
def test_the_list_is_the_reading_of_each_pair(responses, ahead, events, descending, limit, bounds):
    with SmallWorld() as world:
        world.send([*responses, *(level(source, day, *lines) for source, day, lines in ahead)])
        before = world.version
        for name, arguments in events:
            getattr(world, name)(*arguments)
        view = world.view()
        pairs = [(one, entity) for one in sorted(world.catalog.indicators) for entity in ENTITIES]
        for version in {before, world.version}:
            for as_of in (None, *world.moments()[::3]):
                for sources in SOURCES:
                    selection = ObservationFilter(sources=sources, **bounds)
                    alone = [
                        reading(
                            view, selection, *pair, version=version, as_of=as_of
                        )
                        for pair in pairs
                    ]  # fmt: skip
                    expected = [row for row in alone if row is not None]
                    assert (
                        walked(view, selection, version=version, as_of=as_of, descending=descending, limit=limit)
                        == expected[:: -1 if descending else 1]
                    )
