"""The list of latest readings, whose topics are looked at many at once, against the reading of each pair alone."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from almanac.store.observations.reading.latest import frequencies_of, latest, reading
from almanac.store.observations.reading.selection import Selection
from tests.store.observations.test_columns import ENTITIES, changes, forecasts, level
from tests.support.generators import histories
from tests.support.small_world import ALPHA, BETA, GAMMA, SmallWorld

FAST = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
SOURCES = (None, frozenset({ALPHA}), frozenset({BETA, GAMMA}), frozenset({GAMMA}))


def walked(view, selection, *, version, as_of, descending, limit):
    """The whole list, page by page."""
    rows, after = [], None
    while True:
        page, after = latest(
            view, selection, version=version, as_of=as_of, descending=descending, after=after, limit=limit
        )
        rows += page
        if after is None:
            return rows


@FAST
@given(histories, forecasts, changes, st.booleans(), st.integers(1, 4))
def test_the_list_is_the_reading_of_each_pair(responses, ahead, events, descending, limit):
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
                    selection = Selection(sources=sources)
                    alone = [
                        reading(
                            view, selection, *pair, frequencies_of(view, *pair), version=version, as_of=as_of
                        )
                        for pair in pairs
                    ]  # fmt: skip
                    expected = [row for row in alone if row is not None]
                    assert (
                        walked(view, selection, version=version, as_of=as_of, descending=descending, limit=limit)
                        == expected[:: -1 if descending else 1]
                    )
