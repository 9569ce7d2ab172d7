"""Lists by periodEnd over all topics: the index is in parts by topic, and the parts are merged into one order."""

import pytest

from almanac.domain.observations import ReportedValue
from almanac.domain.periods import Period, end_of
from almanac.store.observations.reading.selection import Selection
from tests.support.small_world import ALPHA, BETA, DAY_SECONDS, START, SmallWorld, sent, shown

DAYS = [Period.parse(f"2025-03-{day:02}").key for day in range(1, 29)]
MONTHS = [Period.parse(text).key for text in ("2025-01", "2025-02", "2025-03", "2025-04")]


@pytest.fixture
def world():
    with SmallWorld() as opened:
        lines = {
            "level.aaa": (ALPHA, MONTHS[::-1], 7),
            "level.bbb": (ALPHA, MONTHS[1:], 40),
            "policy.aaa": (BETA, DAYS[::2], 200),
            "yield_2y.aaa": (BETA, DAYS[::3], 61),
            "yield_5y.aaa": (ALPHA, DAYS[1::2], 127),
            "yield_10y.bbb": (BETA, DAYS[5:9], 250),
        }
        for native, (source, periods, before) in lines.items():
            # A topic that nobody uses makes the next one's number, and thereby its part, what we want.
            opened.db.execute("INSERT OR IGNORE INTO topic VALUES(?, 'unused', ?, 'M', 'raw')", (before, native))
            for day, more in ((1, 0.0), (5, 1.0)):
                some = periods if not more else periods[::2]
                opened.send([sent(source, day, (native, [ReportedValue(key, 1.0 + more) for key in some], None))])
        yield opened


def in_order(rows, *, descending):
    """As documented: by the end of the period, then by the places of the default order."""
    return sorted(
        rows,
        key=lambda row: (end_of(row.period), row.series.spec.indicator, row.series.spec.entity,
                         row.series.spec.frequency.value, row.period),
        reverse=descending,
    )  # fmt: skip


def test_the_topics_here_are_in_several_parts(world):
    parts = [row[0] for row in world.db.execute("SELECT DISTINCT topic >> 3 & 15 FROM current ORDER BY 1")]
    assert len(parts) >= 4, parts


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("as_of", [None, START + 2 * DAY_SECONDS])
@pytest.mark.parametrize("limit", [1, 7, 100])
def test_pages_joined_are_the_whole_in_order(world, descending, as_of, limit):
    expected = in_order(world.rows(as_of), descending=descending)
    assert len({row.series.topic for row in expected}) >= 6
    view = world.view()
    found, place = [], None
    while True:
        rows, place = view.page(
            Selection(), version=view.version, as_of=as_of, every=True, sort="period_end", descending=descending,
            after=place, limit=limit,
        )  # fmt: skip
        found += rows
        if place is None:
            break
        assert len(rows) == limit
    assert shown(found) == shown(expected)


@pytest.mark.sqlite
@pytest.mark.parametrize("table", ["current", "vintages"])
def test_each_part_gives_its_rows_in_order_without_sorting_them_all(world, table):
    plan = world.db.execute(
        f"EXPLAIN QUERY PLAN SELECT (x.period >> 14) FROM {table} x INDEXED BY {table}_end CROSS JOIN topic t"
        " ON t.topic = x.topic WHERE (x.topic >> 3 & 15) = ? ORDER BY (x.period >> 14), t.indicator",
        (1,),
    )
    steps = [row[3] for row in plan]
    assert (
        f"USING INDEX {table}_end (<expr>=?)" in steps[0] or f"USING COVERING INDEX {table}_end (<expr>=?)" in steps[0]
    )
    assert "LAST TERM OF ORDER BY" in steps[-1]
