"""Pages by topic, which stop where a page is full: cases that random histories seldom have."""

from __future__ import annotations

from datetime import date

import msgspec
import pytest

from almanac.api.rows.redaction import Redaction
from almanac.domain.observations import ReportedValue
from almanac.store.observations.reading.newest import read_latest
from almanac.store.observations.reading.pages import read_page
from almanac.store.observations.reading.query import ObservationFilter, ObservationQuery
from tests.laws.test_pages import AHEAD, INSTANT
from tests.support.small_world import ALPHA, BETA, DAY_SECONDS, DAYS, GAMMA, MONTHS, START, SmallWorld, sent


@pytest.fixture
def world():
    with SmallWorld() as opened:
        level = [ReportedValue(key, 1.0 + place) for place, key in enumerate(MONTHS)]
        revised = [ReportedValue(key, 9.0) for key in MONTHS[:3]]
        opened.send(
            [
                sent(ALPHA, 1, ("level.aaa", level, None)),
                sent(ALPHA, 1, ("jobless.aaa", level[:4], None)),
                sent(BETA, 1, ("policy.aaa", [ReportedValue(key, 2.0) for key in DAYS], None)),
                sent(ALPHA, 3, ("level.aaa", revised, None)),
                sent(GAMMA, 1, ("policy.bbb", [ReportedValue(key, 2.0) for key in DAYS], None)),
            ]
        )
        yield opened


def page(world, limit=100, after=None, descending=False, as_of=None, version=None, **selection):
    version = world.version if version is None else version
    asked = ObservationFilter(**selection)
    return read_page(world.view(), ObservationQuery(asked, version, as_of, limit, after, descending=descending))


def values(found):
    """Numbers of a page, in its order."""
    return [row.value for row in found[0]]


LEVEL = {"indicators": ("level",), "entities": ("country_aaa",)}


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ({"ends_from": date(2025, 2, 15)}, [7.0, 6.0]),
        ({"ends_from": date(2025, 2, 16)}, [6.0]),
        ({"ends_by": date(2025, 2, 15)}, [9.0, 9.0, 9.0, 4.0, 5.0, 7.0]),
        ({"ends_by": date(2025, 2, 14)}, [9.0, 9.0, 9.0, 4.0, 5.0]),
        ({"starts_from": date(2025, 1, 1)}, [5.0, 7.0, 6.0]),
        ({"starts_from": date(2025, 2, 1)}, [7.0, 6.0]),
        ({"starts_from": date(2025, 2, 15)}, [7.0]),
        ({"starts_from": date(2025, 2, 16)}, []),
    ],
)
def test_bounds_are_inclusive_days(world, bounds, expected):
    """An instant begins and ends on its only day."""
    world.send([sent(ALPHA, 4, ("level.aaa", [ReportedValue(INSTANT, 7.0)], None))])
    assert values(page(world, **bounds, **LEVEL)) == expected


def test_an_older_version_may_have_had_more_vintages(world):
    """Read the past from the vintages: what has one vintage now had two at the version of the cursor."""
    one, two = START + DAY_SECONDS, START + 3 * DAY_SECONDS
    asked = {"indicators": ("yield_5y",), "as_of": START + 2 * DAY_SECONDS}
    for day, known, value in ((1, one, 1.0), (3, two, 2.0)):
        world.send([sent(ALPHA, day, ("yield_5y.aaa", [ReportedValue(DAYS[0], value, known)], None))])
    pinned = world.version
    world.send([sent(ALPHA, 5, ("yield_5y.aaa", [ReportedValue(DAYS[0], 1.0, two)], None))])
    assert world.db.execute("SELECT rows, vintages FROM series WHERE id LIKE '%yield_5y%'").fetchall() == [(1, 1)]
    assert values(page(world, version=pinned, **asked)) == [1.0]
    # Nor is it left out for what its series came to be known at since.
    assert values(page(world, version=pinned, indicators=("yield_5y",), observed_from=two)) == [2.0]
    world.send([sent(ALPHA, 6, ("yield_5y.aaa", [ReportedValue(DAYS[0], None, one)], None))])
    asked = ObservationQuery(ObservationFilter(indicators=("yield_5y",)), pinned, START + 2 * DAY_SECONDS, 9)
    assert values(read_latest(world.view(), asked)) == [1.0]


def test_of_rivals_the_preferred_one_is_chosen_cell_by_cell(world):
    late = [ReportedValue(MONTHS[0], 3.0), ReportedValue(AHEAD[0], 8.0)]
    world.send([sent(BETA, 4, ("level.aaa", late, None))])
    assert values(page(world, **LEVEL)) == [9.0, 9.0, 9.0, 4.0, 5.0, 6.0, 8.0]
    assert values(page(world, 2, descending=True, **LEVEL)) == [8.0, 6.0]
    pinned = world.version
    world.prefer(BETA, ALPHA, GAMMA)
    assert values(page(world, 2, **LEVEL)) == [3.0, 9.0]
    # A walk goes on by the order of the version that it began with, whichever way it is read.
    for bounds in ({}, {"observed_from": 0}):
        assert values(page(world, version=pinned, **bounds, **LEVEL)) == [9.0, 9.0, 9.0, 4.0, 5.0, 6.0, 8.0]
        assert values(page(world, **bounds, **LEVEL)) == [3.0, 9.0, 9.0, 4.0, 5.0, 6.0, 8.0]
    then = {"as_of": START + 9 * DAY_SECONDS, **LEVEL}
    assert values(page(world, **then)) == [3.0, 9.0, 9.0, 4.0, 5.0, 6.0, 8.0]
    assert values(page(world, 2, descending=True, **then)) == [8.0, 6.0]
    assert values(page(world, as_of=START + 2 * DAY_SECONDS, **LEVEL)) == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert values(page(world, 2, sources=frozenset({ALPHA}), **LEVEL)) == [9.0, 9.0]


def test_a_page_keeps_its_bytes_while_its_rows_stand(world):
    """Another page of the same topic may change, and so may other topics."""

    def written(limit):
        view = world.view()
        rows, _ = page(world, limit, **LEVEL)
        redaction = Redaction(view, view.version, None, date(2025, 4, 1))
        return msgspec.json.encode(redaction.answer([row.found for row in rows], None, lineage=False).rows)

    before = written(2), written(6)
    world.send([sent(ALPHA, 4, ("level.aaa", [ReportedValue(MONTHS[4], 5.5)], None))])
    world.send([sent(ALPHA, 4, ("jobless.aaa", [ReportedValue(MONTHS[0], 5.5)], None))])
    assert written(2) == before[0]
    assert written(6) != before[1]
