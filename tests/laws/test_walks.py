"""Lists in the order of a column: the same as sorting everything, for periods of any length and times in any relation."""

from datetime import date, timedelta
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from almanac.domain.observations import Vintage
from almanac.domain.periods import Frequency, Period
from almanac.domain.reference import SeriesSpec
from almanac.store.observations.reading import selection as selecting
from almanac.store.observations.reading import sorted as sorting
from almanac.store.observations.reading.question import Question
from almanac.store.observations.reading.selection import SORTS, Selection
from tests.laws.test_now_and_pages import expected_order
from tests.support.small_world import ALPHA, BETA, START, SmallWorld, shown

FAST = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
DEEP = settings(max_examples=1_500, deadline=None, suppress_health_check=[HealthCheck.too_slow])

LAST = date(2025, 3, 1)
#: Days from first to last; None: an instant. Usual ones and odd ones.
LENGTHS = (0, 6, 30, 91, 364, 370, 1, 400, 4_000, None)
PERIODS = [
    Period(None if length is None else end - timedelta(length), end).key
    for end in (LAST, LAST + timedelta(1), LAST + timedelta(6), LAST + timedelta(370), LAST + timedelta(400))
    for length in LENGTHS
]
SERIES = [
    SeriesSpec(source=source, native="n", indicator=slug, entity=f"country_{country}", frequency=letter, unit="percent", name="n")
    for slug in ("level", "policy")
    for letter in (Frequency.MONTHLY, Frequency.DAILY)
    for country in ("aaa", "bbb")
    for source in (ALPHA, BETA)
]  # fmt: skip
times = st.integers(0, 3).map(lambda day: START + day * 86_400)
stated = st.tuples(st.sampled_from(range(len(SERIES))), st.sampled_from(PERIODS), times, st.none() | times, times)
writes = st.lists(st.lists(stated, min_size=1, max_size=25), min_size=1, max_size=3)
asked = st.fixed_dictionaries(
    {
        "sort": st.sampled_from(sorted(SORTS)),
        "descending": st.booleans(),
        "every": st.booleans(),
        "as_of": st.none() | times,
        "limit": st.integers(1, 4),
        "spare": st.sampled_from([-1, 1, 16]),
        "listed": st.sampled_from([0, 3_000]),
        "filters": st.sampled_from(
            [
                {},
                {"frequency": "M"},
                {"kind": "raw"},
                {"kind": "derived"},
                {"sources": frozenset({ALPHA})},
                {"sources": frozenset({BETA}), "frequency": "D"},
                {"ends_by": LAST},
                {"starts_from": LAST - timedelta(6), "ends_by": LAST + timedelta(6)},
                {"ends_from": LAST, "ends_by": LAST},
            ]
        ),
        "low": st.none() | times,
        "high": st.none() | times,
    }
)


def write(world, lines):
    """One data version: cells that are named have these vintages from now on."""
    with world.batch("test") as batch:
        for number, spec in enumerate(SERIES):
            cells = {}
            for which, period, known, released, ingested in lines:
                if which == number:
                    cells.setdefault(period, {})[known] = Vintage(
                        known, float(known % 7 + len(cells)), None, 0, released, max(known, ingested), 1, None, 0
                    )
            if cells:
                target = {period: [held[at] for at in sorted(held)] for period, held in sorted(cells.items())}
                batch.replace(batch.series(spec, "raw" if spec.indicator == "level" else "derived"), target)


def order(rows, sort, descending):
    """As documented; an instant has no first day."""
    if sort != "period_start":
        return expected_order(rows, sort, descending)
    instants = [row for row in rows if row.period & 16_383 == 16_383]
    there = expected_order([row for row in rows if row not in instants], sort, descending)
    return there + expected_order(instants, "topic", descending)


def check(lines, one):
    with (
        SmallWorld() as world,
        mock.patch.object(sorting, "_SPARE", one["spare"]),
        mock.patch.object(selecting, "LISTED", one["listed"]),
    ):
        write(world, lines[0])
        version = world.version
        whole = world.rows(one["as_of"], every=one["every"], **one["filters"])
        low, high = one["low"], one["high"]
        whole = [row for row in whole if (low is None or row.known >= low) and (high is None or row.known <= high)]
        expected = shown(order(whole, one["sort"], one["descending"]))
        selection = Selection(**one["filters"], observed_from=low, observed_to=high)
        found, after, later = [], None, lines[1:]
        while True:
            rows, after = world.view().read(
                Question(
                    selection,
                    version=version,
                    as_of=one["as_of"],
                    every=one["every"],
                    sort=one["sort"],
                    descending=one["descending"],
                    after=after,
                    limit=one["limit"],
                )
            )
            found += rows
            if after is None:
                break
            if later:  # a walk stays in its version
                write(world, later.pop())
        assert shown(found) == expected


@FAST
@given(writes, asked)
def test_a_list_by_a_column_is_everything_sorted(lines, one):
    check(lines, one)


@pytest.mark.slow
@DEEP
@given(writes, asked)
def test_a_list_by_a_column_is_everything_sorted_deep(lines, one):
    check(lines, one)
