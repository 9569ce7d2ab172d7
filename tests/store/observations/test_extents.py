"""What is held at most of a kind, frequency and source: as the table has it, and what follows for periods asked for."""

from datetime import date
from itertools import product

import pytest

from almanac.domain.observations import Vintage
from almanac.domain.periods import LONGEST, Frequency, Period
from almanac.domain.reference import SeriesSpec
from almanac.store.observations.reading.selection import Selection
from almanac.store.observations.reading.wanted_keys import Extents, reachable
from tests.support.small_world import ALPHA, BETA, START, SmallWorld

INSTANT = Period(None, date(2020, 12, 31))
YEAR, SHORT = Period(date(2020, 1, 1), date(2020, 12, 31)), Period(date(2021, 1, 1), date(2021, 6, 30))
MONTH = Period(date(2021, 2, 1), date(2021, 2, 28))
#: Series by source, entity, frequency and kind, with their periods: some have instants only, some instants and others.
SERIES = (
    (ALPHA, "level", "country_aaa", Frequency.ANNUAL, "raw", [YEAR]),
    (ALPHA, "stock", "country_aaa", Frequency.ANNUAL, "raw", [INSTANT]),
    (ALPHA, "level", "country_bbb", Frequency.MONTHLY, "raw", [MONTH]),
    (BETA, "stock", "company_0000000001", Frequency.ANNUAL, "raw", [INSTANT]),
    (BETA, "ratio", "company_0000000001", Frequency.ANNUAL, "derived", [INSTANT, YEAR, SHORT]),
)


@pytest.fixture(scope="module")
def world():
    with SmallWorld() as one:
        for number, (source, indicator, entity, frequency, kind, periods) in enumerate(SERIES):
            spec = SeriesSpec(
                source=source, native="n", indicator=indicator, entity=entity, frequency=frequency, unit="percent", name="n",
            )  # fmt: skip
            at = START + number
            with one.batch("test") as batch:
                batch.replace(
                    batch.series(spec, kind),
                    {
                        one.key: [Vintage(at, 1.0, None, 0, at if number % 2 else None, at, 1, None, 0)]
                        for one in periods
                    },
                )
        yield one


def told(db, selection, at_once):
    """The same, as the database puts it together."""
    where, values = ["TRUE"], []
    for column, value in (("kind", selection.kind), ("frequency", selection.frequency), ("at_once", at_once)):
        if value is not None:
            where.append(f"{column} = ?")
            values.append(value)
    for name in (("company = 0", not selection.companies), ("company = 1", not selection.countries)):
        where += [name[0]] if name[1] else []
    if selection.sources is not None:
        where.append(f"source IN ({', '.join('?' * len(selection.sources))})")
        values += selection.sources
    return db.execute(
        "SELECT min(low), max(high), sum(vintages), min(first_day), max(ahead), min(first_known), max(last_known),"
        f" min(shortest), max(longest) FROM extent WHERE {' AND '.join(where)}",
        values,
    ).fetchone()


def test_it_is_what_the_table_says(world):
    extents = Extents(world.db)
    asked = product(
        (None, "raw", "derived"), (None, "A", "M"), (None, frozenset({ALPHA}), frozenset({BETA})), (True, False),
        (True, False), (None, True, False),
    )  # fmt: skip
    seen = set()
    for kind, frequency, sources, companies, countries, at_once in asked:
        selection = Selection(kind=kind, frequency=frequency, sources=sources, companies=companies, countries=countries)
        row = told(world.db, selection, at_once)
        found = extents.of(selection, at_once=at_once)
        if row[0] is None or not (companies or countries):
            assert not found.vintages
        else:
            assert found == row
            seen.add(found)
        assert extents.of(selection, at_once=at_once) is found  # remembered
    assert len(seen) > 5


def test_how_far_ahead_is_told_by_frequency_and_for_companies_apart(world):
    rows = world.db.execute("SELECT frequency, company, max(ahead) FROM extent GROUP BY frequency, company")
    assert Extents(world.db).ahead() == {(frequency, bool(company)): ahead for frequency, company, ahead in rows}


def test_an_instant_is_no_short_period(world):
    extents = Extents(world.db)
    of_years = extents.of(Selection(kind="raw", frequency="A", companies=False))
    assert (of_years.shortest, of_years.longest) == (365, 365)
    instants = extents.of(Selection(kind="raw", frequency="A", countries=False))
    assert (instants.shortest, instants.longest) == (LONGEST, -1)
    mixed = extents.of(Selection(kind="derived"))
    assert (mixed.shortest, mixed.longest) == (180, 365)


def test_periods_that_begin_on_a_day_or_later_end_as_much_later_as_the_shortest_there_is(world):
    extents = Extents(world.db)
    for kind, ends_from in (("raw", date(2021, 1, 28)), ("derived", date(2021, 6, 30))):
        found = reachable(
            extents, Selection(kind=kind, starts_from=date(2021, 1, 1), indicators=("level", "ratio")), None
        )
        assert found.ends_from == ends_from
    # Nothing ends after the last day there is.
    last = reachable(extents, Selection(starts_from=date.max, indicators=("level",)), None)
    assert last.ends_from == date.max
    view = world.view()
    rows, _ = view.page(
        Selection(starts_from=date(2021, 1, 1)), version=view.version, as_of=None, every=False, sort="observed_at",
        descending=False, after=None, limit=9,
    )  # fmt: skip
    assert [row.period for row in rows] == [MONTH.key, SHORT.key]
