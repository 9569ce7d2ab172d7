"""
Lists page by page: whatever is asked of whatever store, pages joined are the one list, of the version the first page was of,
though rows arrive, orders change and rights are given between two pages.

What the list is, is told plainly: read cell by cell with all rows and in one page, what lies within the bounds on knowledge, sorted.
"""

from datetime import date, timedelta
from itertools import groupby
from unittest import mock

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from almanac.api.formats.columns import Table
from almanac.api.formats.csv_writer import CsvWriter
from almanac.api.rows.observation_columns import observation_columns
from almanac.api.rows.redaction import DerivedObservation, Redaction
from almanac.domain.observations import DAY, FINAL, UNKNOWN, ReportedValue, Vintage
from almanac.domain.periods import Frequency, Period
from almanac.domain.reference import SeriesSpec
from almanac.store.observations.reading import pages, query
from almanac.store.observations.reading.pages import find_rows, read_page, row_of
from almanac.store.observations.reading.query import NULLABLE, SORTS, ObservationFilter, ObservationQuery
from tests.laws.test_lists import NOW, consents, expected_order, orders
from tests.support.generators import histories
from tests.support.generators import responses as ordinary
from tests.support.small_world import ALPHA, BETA, DAY_SECONDS, DAYS, GAMMA, MONTHS, START, SmallWorld, sent, shown

# -- stores -------------------------------------------------------------------------------------------------------------

#: Besides the usual periods: forecasts, an instant, and years among the months, which end with one of them.
AHEAD = [Period.parse(text).key for text in ("2025-03", "2025-04", "2026-01", "2024", "2025-Q1")]
INSTANT = Period(None, date(2025, 2, 15)).key
SERIES = [
    (ALPHA, "level.aaa", [*MONTHS, *AHEAD, INSTANT]),
    (ALPHA, "level.bbb", [*MONTHS, *AHEAD]),
    (GAMMA, "level.bbb", [*MONTHS, *AHEAD]),
    (ALPHA, "jobless.aaa", [*MONTHS, *AHEAD, INSTANT]),
    (BETA, "jobless.bbb", [*MONTHS, *AHEAD]),
    (BETA, "policy.aaa", DAYS),
    (GAMMA, "policy.bbb", DAYS),
    (ALPHA, "yield_5y.aaa", DAYS),
]
_KNOWN = st.integers(-3, 7).map(lambda days: START + days * DAY_SECONDS)


@st.composite
def statements(draw, periods):
    """Numbers, texts that must be escaped, withdrawals, releases and notes."""
    known = draw(st.none() | _KNOWN)
    text = draw(st.sampled_from([None, None, None, 'a "b"\\\n\x01\x04', "ä€, \u2028"]))
    return ReportedValue(
        draw(st.sampled_from(periods)),
        None if text else draw(st.sampled_from([None, None, None, 1.0, 2.0, -0.1, 1e21, 4.0])),
        known,
        draw(st.sampled_from([None, known])),
        draw(st.sampled_from([0, 0, FINAL, UNKNOWN, DAY])),
        text,
        note=draw(st.sampled_from([None, None, '{"weeks":4}', '{"said":"\\u0002ü"}'])),
    )


@st.composite
def responses(draw):
    source, native, periods = draw(st.sampled_from(SERIES))
    lines = draw(st.lists(statements(periods), max_size=9))
    if draw(st.integers(0, 2)):
        first = draw(st.none() | _KNOWN)
        lines = [ReportedValue(key, 1.0 + place % 3, first) for place, key in enumerate(periods)] + lines[:3]
    return sent(source, draw(st.integers(0, 5)), (native, lines, None))


#: Mostly one series or a few, so that most pages are of one topic.
few_series = st.lists(responses(), min_size=3, max_size=9)

LAST = date(2025, 3, 1)
#: Days from first to last; None: an instant. Usual ones and odd ones.
LENGTHS = (0, 6, 30, 91, 364, 370, 1, 400, 4_000, None)
PERIODS = [
    Period(None if length is None else end - timedelta(length), end).key
    for end in (LAST, LAST + timedelta(1), LAST + timedelta(6), LAST + timedelta(370), LAST + timedelta(400))
    for length in LENGTHS
]
SPECS = [
    SeriesSpec(source=source, native="n", indicator=slug, entity=f"country_{country}", frequency=letter, unit="percent", name="n")
    for slug in ("level", "policy")
    for letter in (Frequency.MONTHLY, Frequency.DAILY)
    for country in ("aaa", "bbb")
    for source in (ALPHA, BETA)
]  # fmt: skip
times = st.integers(0, 3).map(lambda day: START + day * DAY_SECONDS)
stated = st.tuples(st.sampled_from(range(len(SPECS))), st.sampled_from(PERIODS), times, st.none() | times, times)
written = st.lists(stated, min_size=1, max_size=25)


def write(world, lines):
    """One data version, past the pipeline: cells that are named have these vintages from now on."""
    with world.batch("test") as batch:
        for number, spec in enumerate(SPECS):
            cells = {}
            for which, period, known, released, ingested in lines:
                if which == number:
                    cells.setdefault(period, {})[known] = Vintage(
                        known, float(known % 7 + len(cells)), None, 0, released, max(known, ingested), 1, None, 0
                    )
            if cells:
                target = {period: [held[at] for at in sorted(held)] for period, held in sorted(cells.items())}
                batch.replace(batch.series(spec, "raw" if spec.indicator == "level" else "derived"), target)


def apply(world, change):
    name, arguments = change
    if name == "write":
        write(world, *arguments)
    else:
        getattr(world, name)(*arguments)


def sending(found):
    return ("send", (found,))


arrivals = st.lists(ordinary() | responses(), min_size=1, max_size=2).map(sending)
writing = written.map(lambda lines: ("write", (lines,)))
#: What there is before the walk, and what happens between two pages of it.
stores = st.one_of(
    st.tuples(histories.map(sending), st.lists(arrivals | orders | consents, max_size=6)),
    st.tuples(few_series.map(sending), st.lists(arrivals | orders | consents, max_size=4)),
    *[st.tuples(writing, st.lists(writing, max_size=2))] * 2,
)

# -- questions ----------------------------------------------------------------------------------------------------------

#: Whose rows take part in the choice among those of a cell.
SOURCES = [{"sources": frozenset(some)} for some in ({ALPHA}, {BETA}, {ALPHA, BETA}, {BETA, GAMMA})]
#: Two at most at a time: of many together nothing is left.
FILTERS = [
    {"kind": "raw"},
    {"kind": "derived"},
    {"indicators": ("level",)},
    {"indicators": ("jobless",)},
    {"indicators": ("policy",)},
    {"indicators": ("jobless", "level", "level_yoy", "policy")},
    {"indicators": ("level", "level_yoy", "misery", "yield_10y")},
    {"indicators": ("nothing",)},
    {"entities": ("country_aaa",)},
    {"entities": ("country_aaa", "country_bbb")},
    *SOURCES,
    {"frequency": "M"},
    {"frequency": "D"},
    {"starts_from": date(2024, 1, 1)},
    {"starts_from": date(2025, 2, 15), "ends_from": date(2025, 1, 1)},
    {"starts_from": LAST - timedelta(6), "ends_by": LAST + timedelta(6)},
    {"ends_by": date(2025, 2, 28)},
    {"ends_by": LAST},
    {"ends_from": date(2024, 12, 1)},
    {"ends_from": date(2025, 2, 16)},
    {"ends_from": LAST, "ends_by": LAST},
]
filters = st.tuples(st.sampled_from([{}] * 10 + FILTERS), st.sampled_from([{}] * 30 + FILTERS + SOURCES * 3)).map(
    lambda both: both[0] | both[1]
)
moments = st.integers(-2, 8).map(lambda day: START + day * DAY_SECONDS)
#: Most questions are of no bounds on knowledge, as most are that people ask.
bounds = st.tuples(st.sampled_from([()] * 7 + [("low",), ("high",), ("low", "high")]), moments, moments).map(
    lambda drawn: dict(zip(drawn[0], drawn[1:], strict=False))
)
COLUMNS = sorted(name for name, column in SORTS.items() if column is not None)


def asked(*sorts, history):
    return st.fixed_dictionaries(
        {
            "filters": filters,
            "as_of": (st.just(NOW) if history else st.none()) | moments,
            "bounds": bounds,
            "sort": st.sampled_from(sorts),
            "descending": st.booleans(),
            "every": st.booleans(),
            "history": st.just(history),
            "limit": st.integers(1, 4) | st.integers(1, 12),
            #: Versions that the first page is older than the newest state: a cursor may be.
            "behind": st.sampled_from([0, 0, 0, 1, 3]),
            #: Fewer rows than a page than are read at once at least: groups go on behind what is read.
            "spare": st.sampled_from([0, 1, 16]),
            "listed": st.sampled_from([0, 3_000]),
        }
    )


#: What may be asked, by the way that it goes.
QUESTIONS = {
    "in the order of the tables": asked("topic", history=False),
    # A value may be missing in some columns: there is more that can go wrong in them.
    "in the order of a column": asked(*COLUMNS, *sorted(NULLABLE), *sorted(NULLABLE), history=False),
    "all states": asked("topic", "observed_at", history=True),
}


def within(rows, one):
    low, high = one["bounds"].get("low"), one["bounds"].get("high")
    return [row for row in rows if (low is None or row.known >= low) and (high is None or row.known <= high)]


def by_column(rows, sort, descending):
    """As documented; an instant has no first day."""
    if sort != "period_start":
        return expected_order(rows, sort, descending)
    instants = [row for row in rows if row.period & 16_383 == 16_383]
    there = expected_order([row for row in rows if row not in instants], sort, descending)
    return there + expected_order(instants, "topic", descending)


def cell_of(row):
    return row.series.topic, row.period


def preferred(view, version, cell):
    """The row of a cell that comes first by rights and order."""
    return min(cell, key=lambda row: view.directory.preference_key(row.series.number, row.lineage, version))


def plainly(view, one, version):
    """The list that is asked for: all rows in the order of the tables, those within the bounds, sorted."""
    # Of all states of all series those known by then are told apart here.
    states = one["history"] and one["every"]
    asked = ObservationQuery(
        ObservationFilter(**one["filters"]), version=version, as_of=NOW if states else one["as_of"], every=one["every"] or not one["history"],
        history=one["history"], descending=one["history"] and one["descending"], limit=1 << 30,
    )  # fmt: skip
    rows, place = read_page(view, asked)
    assert place is None
    if not one["every"] and not one["history"]:
        rows = [preferred(view, version, list(cell)) for _, cell in groupby(rows, key=cell_of)]
    rows = [row for row in within(rows, one) if not states or row.known <= one["as_of"]]
    if not one["history"]:
        return by_column(rows, one["sort"], one["descending"])
    if one["sort"] == "observed_at":
        # Stable, so that ties keep the default order.
        rows.sort(key=lambda row: row.known, reverse=one["descending"])
    return rows


def stays(change, one):
    """Whether rows keep their places in a list though this happens: rights choose among the rows of a cell."""
    placed = one["sort"] in {"topic", "period_start", "period_end"} and not one["bounds"] and not one["history"]
    return change[0] != "allow" or placed or one["every"]


def check(store, one):
    """Each page is the piece of the list, at the pinned version and by rights now, that follows the pages before it."""
    first, later = store
    later = [change for change in later if stays(change, one)]
    selection = ObservationFilter(
        **one["filters"], observed_from=one["bounds"].get("low"), observed_to=one["bounds"].get("high")
    )
    with (
        SmallWorld() as world,
        mock.patch.object(pages, "_SPARE", one["spare"]),
        mock.patch.object(query, "LISTED", one["listed"]),
    ):
        apply(world, first)
        pinned = max(world.version - one["behind"], 0)
        shared = {name: one[name] for name in ("as_of", "sort", "descending", "every", "history", "limit")}
        given, after, whole = 0, None, None
        while True:
            view = world.view()
            if whole is None:
                whole = plainly(view, one, pinned)
                event(f"{min(len(whole), 40) // 10} times ten rows or more")
            page, after = read_page(view, ObservationQuery(selection, version=pinned, after=after, **shared))
            piece = whole[given : given + one["limit"]]
            assert shown(page) == shown(piece)
            shape = Redaction(view, pinned, one["as_of"], date(2025, 4, 1))
            answers = [shape.answer([row.found for row in rows], None, lineage=True) for rows in (page, piece)]
            assert answers[0] == answers[1]
            given += len(page)
            assert (after is None) == (given == len(whole))
            if after is None:
                break
            if later:
                apply(world, later.pop())
                whole = None
        check_columns(world.view(), one, pinned, selection)
        if one["history"] and one["every"] and not one["filters"] and not one["bounds"] and one["as_of"] == NOW:
            kept = [(row.series.id, row.period, row.known) for row in plainly(world.view(), one, pinned)]
            assert sorted(kept) == [tuple(row) for row in vintages_at(world, pinned)]


def check_columns(view, one, pinned, selection):
    """Batches of a whole list joined are the list, and as columns they are written as the rows of its pages are."""
    asked = {name: one[name] for name in ("as_of", "sort", "descending", "every", "history", "limit")}
    shape, table = Redaction(view, pinned, one["as_of"], date(2025, 4, 1)), Table(DerivedObservation)
    found, after = [], None
    while True:
        query = ObservationQuery(selection, version=pinned, after=after, **asked)
        batch, after = find_rows(view, query, whole=True)
        found += batch
        if after is None:
            break
    rows = [row_of(view.directory, row) for row in found]
    assert shown(rows) == shown(plainly(view, one, pinned))
    assert [row.found[1:] for row in rows] == [row[1:] for row in found]
    by_row = CsvWriter(table, whole=True).write(shape.answer(found, None, lineage=True).rows, last=True)
    by_column = CsvWriter(table, whole=True).write(observation_columns(shape, DerivedObservation, found), last=True)
    assert by_column == by_row


def vintages_at(world, version):
    return world.db.execute(
        "SELECT s.id, v.period, v.known_at FROM vintages v JOIN series s USING(series)"
        " WHERE v.from_version <= ?1 AND v.to_version > ?1 ORDER BY s.id, v.period, v.known_at",
        (version,),
    )


@pytest.mark.parametrize("kind", QUESTIONS)
@given(stores, st.data())
def test_pages_joined_are_the_list(kind, store, data):
    check(store, data.draw(QUESTIONS[kind]))
