"""What a period key says in SQL is what it says in Python."""

from datetime import date, timedelta

import apsw
from hypothesis import given
from hypothesis import strategies as st

from almanac.domain.periods import Period, start_of
from almanac.store.observations.reading.query import START_ORDINAL_SQL, STARTS_FROM_SQL

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
    found = apsw.Connection(":memory:").execute(f"SELECT {START_ORDINAL_SQL.format('?1')}", (period.key,)).get
    assert found == (None if period.start is None else period.start.toordinal())


@given(PERIODS, DAYS, st.sampled_from([None, -1, 0, 1]))
def test_whether_a_period_starts_on_a_day_or_later(period, day, beside):
    begins = period.start or period.end  # an instant on its only day
    if beside is not None:
        day = begins + timedelta(days=beside)
    expected = begins >= day
    asked = (period.key, day.toordinal())
    sql = f"SELECT {START_ORDINAL_SQL.format('?1')}, {STARTS_FROM_SQL.format('?1', '?2')}"
    ordinal, found = apsw.Connection(":memory:").execute(sql, asked).fetchone()
    assert ordinal == (None if period.start is None else period.start.toordinal())
    assert (bool(found), start_of(period.key)) == (expected, period.start)
